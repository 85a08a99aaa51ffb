"""Is what a change touches computed from released and public values alone? Then it moves no query by itself.

Every number that a function of the problem returns is moved a little, while the released values stay those of the
vector. What a changed expression, or the expression that it replaces, computes then, is the same only if no record
reaches it but through a release.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from .jitter import Jitter
from .mutants import Mutant, values_at
from .planting import source
from .rounding import Run

SIZE = 1e-3  # of the amounts, relative: far above rounding, too little to matter for a bound that is reached
RETURN = "return "


def afterwards(run: Run, vector: Mapping[str, Any], mutant: Mutant) -> bool:
    """Does nothing that the change touches depend on a record beside what was released? False where that is unknown."""
    if mutant.when:
        return False
    old, new = _watched(mutant, before=True), _watched(mutant, before=False)
    return old is not None and new is not None and all(_steady(run, vector, one) for one in (old, new))


def _watched(mutant: Mutant, *, before: bool) -> Mutant | None:
    """The change whose values are noted, or the expression that it replaces; None where either is none."""
    sites = []
    for file, change in mutant.sites:
        text = source(file).encode()[change.first : change.last].decode() if before else change.text
        head = RETURN if text.startswith(RETURN) else ""
        text = text.removeprefix(head)
        try:
            ast.parse(f"f({text})" if text.strip() else "", mode="eval")
        except SyntaxError:
            return None
        sites.append((file, replace(change, text=f"{head}_edit.watched({text})")))
    return replace(mutant, file=sites[0][0], change=sites[0][1], more=tuple(sites[1:]))


def _steady(run: Run, vector: Mapping[str, Any], mutant: Mutant) -> bool:
    jitter = Jitter(SIZE, 7)
    try:
        plain, moved = values_at(run, vector, mutant, None), values_at(run, vector, mutant, jitter)
    except SyntaxError:  # it stands where no value can be noted
        return False
    if not plain or not jitter.largest or len(plain) != len(moved):
        return False
    with suppress(TypeError, ValueError):
        return all(np.array_equal(one, other, equal_nan=True) for one, other in zip(plain, moved, strict=True))
    return False
