"""What a change of the reference is, read off its code: an index one off, another value returned, zero, a memory."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .mutants import Mutant, line_of, old_text

ONE_OFF = re.compile(r"[+-] 1\)*\]?( % .*)?$")
TIMES = re.compile(r"(\d[\d.]*(?:e[+-]\d+)?) times\b")  # as fitted factors are called
ROUNDED = 1e-4
NAME = re.compile(r"^[A-Za-z_][\w.]*$")


def one_off(one: Mutant) -> bool:
    """Is an index, or a number that counts, one too large or too small?"""
    return ONE_OFF.search(one.change.text) is not None and old_text(one) in one.change.text


def other_returned(one: Mutant) -> bool:
    """Is another name returned, or the other one of two?"""
    new = one.change.text
    another = new in ("True", "False") or new.startswith("(not ") or NAME.match(new) is not None
    return another and not one.more and line_of(one).lstrip().startswith("return ")


def is_zero(one: Mutant) -> bool:
    """Is a value zero?"""
    return one.change.text.lstrip("(").startswith("0 * (")


def same_twice(found: Sequence[Mutant]) -> bool:
    """Does one name for another do it, and the other one for the first? Then both are the same, and differ by zero."""
    pairs = {(one.file, one.change.line, old_text(one), one.change.text) for one in found if not one.more}
    return any((file, line, new, old) in pairs for file, line, old, new in pairs)


def nearly_one(one: Mutant) -> bool:
    """Is it a factor that rounding explains as well?"""
    found = TIMES.match(one.change.name)
    return found is not None and abs(float(found[1]) - 1) < ROUNDED


def of_the_released(one: Mutant) -> bool:
    """Is something done to values that were released, and to nothing else?"""
    return all("_edit.clipped_again(" in change.text for _, change in one.sites)


def remembers(one: Mutant) -> bool:
    """Does it need more than its text: what was before, or what was released?"""
    return any("_edit." in change.text for _, change in one.sites)
