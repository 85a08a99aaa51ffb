"""Which version of the package is running, and of what it rests on."""

import platform
from functools import cache

from dpassay.reference.extras import version_of

_BELOW = ("numpy", "scipy", "dp-accounting", "hypothesis")  # what may change the last digits of a number


@cache
def installed_version() -> str:
    """Of the package; reports say by which version they were made."""
    return version_of("dpassay") or "not installed"


@cache
def versions() -> dict[str, str]:
    """Of the package, of Python, of the libraries that numbers come from; and the system."""
    below = {name: version for name in _BELOW if (version := version_of(name))}
    system = f"{platform.system()} {platform.machine()}"
    return {"dpassay": installed_version(), "Python": platform.python_version(), **below, "system": system}
