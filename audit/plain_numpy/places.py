"""Lines of the user's code: releases are named by them, and what is not understood is said with them."""

import re
import sys

from dpassay.audit.lockstep.source_lines import file_name, trade
from dpassay.reference.errors import BadInput

WAY_OUT = (
    "say what is released with dpassay.audit.release(label, value), write the mechanism on a tape, or audit its "
    "outputs alone with `dpassay blackbox`"
)


class NotUnderstood(BadInput):
    """Noise is used in a way whose law is not known here; the message names the line and the way out."""

    @property
    def of_noise(self) -> frozenset[str]:
        """The lines that draw it, each by itself."""
        return frozenset(re.split(r", | \+ ", str(self.value))) if self.field == "noise" else frozenset()


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


def of_the_code(filename: str) -> bool:
    """Is it a file of the code that is audited, or text that was typed in, and not of a library or of ourselves?"""
    return trade(filename) == "theirs" or filename.startswith("<")
