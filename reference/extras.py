"""Optional dependencies: imported when they are first used, and named in one line where they are missing."""

from importlib import import_module
from typing import Any

from .errors import BadInput

EXTRAS = {  # what `pip install dpassay` leaves out: import name -> extra (pyproject.toml)
    "greenlet": "audit",
    "hypothesis": "audit",
    "jinja2": "audit",
    "joblib": "audit",
    "pydantic": "audit",
    "pydantic_core": "audit",
    "rich": "audit",
    "sklearn": "audit",
    "typer": "audit",
    "diffprivlib": "diffprivlib",
    "jax_privacy": "jax-privacy",
    "matplotlib": "plots",
    "mpmath": "proofs",
    "opacus": "opacus",
    "opendp": "opendp",
    "sympy": "proofs",
}


def installing(extra: str) -> str:
    """The command that installs an extra, in words: there is no release that an index knows."""
    return f'pip install ".[{extra}]" in a clone of dpassay'


def version_of(distribution: str) -> str | None:
    """What is installed; None if it is not."""
    from importlib.metadata import PackageNotFoundError, version  # here: most imports of this package ask for none

    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


class Missing(BadInput):
    """An optional package that this call needs is not installed."""

    def __init__(self, package: str):
        super().__init__("package", package, f"is not installed: {installing(EXTRAS[package])}")


def missing(error: ImportError) -> Missing | None:
    """The one line to say where ``error`` is about an optional package; None where it is about something else."""
    package = (error.name or "").split(".")[0]
    return Missing(package) if isinstance(error, ModuleNotFoundError) and package in EXTRAS else None


def front_door(package: str, homes: dict[str, str], name: str) -> Any:
    """A stable name of a package, imported from the module that holds it (PEP 562: for the package's ``__getattr__``).

    Args:
        homes: name to module, relative to the package.

    Raises:
        AttributeError: the package has no such name.
        Missing: an extra that it needs is not installed.
    """
    if name not in homes:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{package}.{homes[name]}"), name)
    except ModuleNotFoundError as error:
        raise (missing(error) or error) from None


class Later:
    """A module that is imported when one of its attributes is first asked for.

    ``dp_event = Later("dp_accounting.dp_event")`` stands for ``from dp_accounting import dp_event``; for libraries
    that take longer to load than most calls take to run.
    """

    def __init__(self, module: str):
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by copy and inspect: not worth an import
            raise AttributeError(name)
        try:
            return getattr(import_module(self._module), name)
        except ModuleNotFoundError as error:
            raise (missing(error) or error) from None
