"""Which version of the package is running."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def installed_version() -> str:
    """Of the package; reports say by which version they were made."""
    try:
        return version("dpassay")
    except PackageNotFoundError:
        return "not installed"
