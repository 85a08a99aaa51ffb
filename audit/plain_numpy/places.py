"""Lines of the user's code: releases are named by them, and what is not understood is said with them."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

from dpassay.reference.errors import BadInput

_OWN = str(Path(__file__).resolve().parent)
_LIBRARY = ("numpy", "greenlet")
WAY_OUT = "write the mechanism on a tape, or audit its outputs alone with `dpassay blackbox`"


class NotUnderstood(BadInput):
    """Noise is used in a way whose law is not known here; the message names the line and the way out."""


def here() -> str:
    """``file.py:12``: the innermost line that belongs neither to this folder nor to NumPy."""
    frame = sys._getframe(1)
    while frame is not None and _foreign(frame.f_code.co_filename):
        if frame.f_back is None:
            break
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def not_understood(what: str, instead: str) -> NotUnderstood:
    """The error for the line that is being run."""
    return NotUnderstood("noise", here(), f"{what}; {instead}")


@cache  # asked for every frame of every draw
def _foreign(filename: str) -> bool:
    path = str(Path(filename).resolve())
    return path.startswith(_OWN) or any(f"/{name}/" in path for name in _LIBRARY)
