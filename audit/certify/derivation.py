"""Where a certificate ends, its lines, what it takes for granted; and which line of the user's code is running."""

from __future__ import annotations

import sys
import sysconfig
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FrameType

import numpy as np
import scipy

from dpassay.audit.lockstep.source_lines import file_name
from dpassay.reference import arrays, space

TRUSTED = (*(str(Path(str(one.__file__)).parent) for one in (np, scipy)), str(Path(__file__).parents[1]))
TRUSTED += (str(arrays.__file__), str(space.__file__), "<frozen", "<string", "<__array_function__")
_TAPE = str(Path("reference") / "tape.py")


class Open(Exception):
    """Private data would decide something, leave, or go through a function without a rule.

    Each is kept in `raised`: code that catches it goes on, and its certificate is open all the same.
    """

    def __init__(self, why: str, leaves: bool = False):
        super().__init__(why)
        self.leaves = leaves
        kept = raised.get()
        if kept is not None:
            kept.append(self)


def refuse(when: object, why: str) -> None:
    """Raises Open where it is so."""
    if when:
        raise Open(why)


class Decides(Open):
    """A branch on private data, or a text of them, which no search follows."""

    def __init__(self, why: str = "private data decides; release it with noise first, or choose by np.where, np.clip"):
        super().__init__(why)


@dataclass(frozen=True)
class Line:
    """One step of a derivation: where, by which rule, what is known of the value there; and the source there."""

    place: str
    rule: str
    says: str
    source: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.rule}: {self.says}"


raised: ContextVar[list[Open] | None] = ContextVar("raised", default=None)


NO_SOURCE = "code that is not followed: it is of another library, its source is not there, or it was made of a text"
#: what runs in the place of code while it is certified, and who certifies it
FOLLOWED: set[CodeType] = set()


#: what does in the name of the code what that asks for
IN_ITS_NAME: set[CodeType] = set()


trace: ContextVar[dict[tuple[str, str], Line] | None] = ContextVar("trace", default=None)
axioms: ContextVar[dict[str, None] | None] = ContextVar("axioms", default=None)


def here() -> str:
    """``file.py:12`` of the user's line that is running."""
    file, number = line_of_user()
    return f"{file_name(file)}:{number}" if file else "?"


def line_of_user() -> tuple[str, int]:
    """The file and the number of the innermost line that is the user's."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if of_user(frame.f_code.co_filename):
            refuse(FOLLOWED and frame.f_code not in FOLLOWED, NO_SOURCE)
            return frame.f_code.co_filename, frame.f_lineno
        frame = None if frame.f_code in FOLLOWED else frame.f_back
    return "", 0


@cache
def of_user(file: str) -> bool:
    """Is it the user's code, or an algorithm's of the reference?"""
    return not (trusted(file) or file.endswith(_TAPE))


@cache
def of_a_library(module: str) -> bool:
    """Is the module Python's own, ours, or one that is installed?"""
    file = str(getattr(sys.modules.get(module), "__file__", None))
    return module.partition(".")[0] in {*sys.stdlib_module_names, "dpassay"} or "-packages" in file


@cache
def trusted(file: str) -> bool:
    """Rules, NumPy, SciPy and Python's own library: what the code calls of them is looked at, and not what they do."""
    return file.startswith(TRUSTED) or (file.startswith(sysconfig.get_path("stdlib")) and "site-packages" not in file)
