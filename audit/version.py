"""Which version of the package is running, and of what it rests on."""

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

_BELOW = ("numpy", "scipy", "dp-accounting", "hypothesis")  # what may change the last digits of a number


@cache
def installed_version() -> str:
    """Of the package; reports say by which version they were made."""
    try:
        return version("dpassay")
    except PackageNotFoundError:
        return "not installed"


@cache
def versions() -> dict[str, str]:
    """Of the package, of Python, of the libraries that numbers come from; and the system."""
    found = {"dpassay": installed_version(), "Python": platform.python_version()}
    for name in _BELOW:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found | {"system": f"{platform.system()} {platform.machine()}"}
