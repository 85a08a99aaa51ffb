"""Lines of the user's code: releases are named by them, and what is not understood is said with them."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

from dpassay.audit.lockstep.source_lines import file_name
from dpassay.reference.errors import BadInput

_AUDIT = Path(__file__).resolve().parents[1]
_OWN = (str(_AUDIT), str(_AUDIT.parent / "reference"))
_LIBRARIES = ("site-packages", "dist-packages", "lib/python")
WAY_OUT = (
    "say what is released with dpassay.audit.release(label, value), write the mechanism on a tape, or audit its "
    "outputs alone with `dpassay blackbox`"
)


class NotUnderstood(BadInput):
    """Noise is used in a way whose law is not known here; the message names the line and the way out."""


class Doubtful(NotUnderstood):
    """Something was found, and it may come of what the code never said."""


def here() -> str:
    """``file.py:12``: the innermost line that belongs neither to this package nor to a library."""
    frame = sys._getframe(1)
    while frame.f_back is not None and not of_the_code(frame.f_code.co_filename):
        frame = frame.f_back
    return f"{file_name(frame.f_code.co_filename)}:{frame.f_lineno}"


def not_understood(what: str, instead: str) -> NotUnderstood:
    """The error for the line that is being run."""
    return NotUnderstood("noise", here(), f"{what}; {instead}")


@cache  # asked for every frame of every draw
def of_the_code(filename: str) -> bool:
    """Is it a file of the code that is audited, and not of a library or of ourselves?"""
    path = str(Path(filename).resolve())
    return not path.startswith(_OWN) and not any(one in path for one in _LIBRARIES)
