"""Lines that compute a clipping bound, and lines that compute what a bound is computed from."""

from __future__ import annotations

import re

from .calls import CLIPPING
from .planting import source

BOUND = re.compile(rf"^\s*\w*({CLIPPING.pattern})\w*\s*=[^=]")  # a line that computes one
NAMES = re.compile(r"(?<![.\w])[A-Za-z_]\w*")  # of variables


def into_a_bound(file: str, line: int, lines: range) -> bool:
    """Does a line of a function on ``lines`` compute a bound, or what another line computes one from?"""
    text = source(file).splitlines()
    known = [one for one in text[lines[0] - 1 : lines[-1]] if BOUND.search(one)]
    names = {name for one in known for name in NAMES.findall(one.partition("=")[2])}
    here = text[line - 1]
    return BOUND.search(here) is not None or (
        "=" in here and not names.isdisjoint(NAMES.findall(here.partition("=")[0]))
    )
