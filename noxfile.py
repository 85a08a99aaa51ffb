"""The fast tests on every supported Python, and with the lowest declared version of every dependency.

`make versions` runs all of it with `nox`, in an environment of its own; `build/nox/bin/nox -s lowest` runs one. A
Python that is not installed is named as skipped, not passed over in silence. What a run said is written to
`docs/versions.md`, also when tests fail.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import nox

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
JOBS = "2"
USED = ("audit", "proofs", "plots")  # the extras whose lowest versions are tried
nox.options.default_venv_backend = "venv"
nox.options.reuse_existing_virtualenvs = False
nox.options.error_on_missing_interpreters = False


def _test(session: nox.Session, dependencies: str) -> None:
    session.env.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    jobs = session.posargs[0] if session.posargs else JOBS
    report = f"build/versions/{session.name}.xml"
    words = ("-q", "-n", jobs, "--dist", "loadfile", "-m", "not slow", "-p", "no:cacheprovider", "--junitxml", report)
    words += ("--ignore", "tests/house/test_versions.py")  # it holds the page that is written below
    try:
        session.run("python", "-m", "pytest", *words)
    finally:
        session.run("python", "docs/versions.py", "--session", dependencies, "--junit", report)


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The fast tests with the newest versions of all dependencies."""
    session.install("--editable", ".[dev]")
    _test(session, "newest")


@nox.session(python=PYTHONS[0])
def lowest(session: nox.Session) -> None:
    """The fast tests with the lowest declared versions."""
    constraints = Path("build/versions/lowest.txt")  # not session.create_tmp(): the tests' folders would go there
    constraints.parent.mkdir(parents=True, exist_ok=True)
    constraints.write_text("\n".join(_lowest()) + "\n", encoding="utf-8")
    session.install("--editable", ".[dev]", "--constraint", str(constraints))
    session.run("python", "-m", "pip", "list", "--format=freeze", silent=False)
    _test(session, "lowest")


def _lowest() -> list[str]:
    """``name==X`` for each ``name>=X`` that a user needs: the tools of developers and of the pages may be newer."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [one for name, extra in project["optional-dependencies"].items() if name in USED for one in extra]
    found = [re.fullmatch(r"([\w.-]+)>=([\w.]+)", one) for one in [*project["dependencies"], *extras]]
    return sorted({f"{one[1]}=={one[2]}" for one in found if one})
