"""What pyproject.toml cannot say: packages are found in three folders that stand below ``dpassay`` once installed."""

from setuptools import find_packages, setup

FOLDERS = ("reference", "audit", "proofs_check")
FOUND = [name for one in FOLDERS for name in (one, *(f"{one}.{below}" for below in find_packages(one)))]
setup(packages=[f"dpassay.{name}" for name in sorted(FOUND)])
