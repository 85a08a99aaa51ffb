"""The checkers of single formulas: each takes a check's table as a statement's file has it, and says what it found."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dpassay.proofs_check.finding import Finding, Verdict
from dpassay.reference.limits import TooLong, limited

from . import consistency, inequality, privacy, rates, tables

TIME_LIMIT = 30.0  # seconds of processor time per check; beyond it the verdict is unknown
CHECKERS: dict[str, Callable[[Mapping[str, Any]], Finding]] = {  # the first of these keys that a table has decides it
    "std": privacy.check, "releases": privacy.counts, "scale": rates.check, "units": consistency.units,
    "places": consistency.same, "steps": consistency.program, "test": tables.check, "below": tables.norms,
    "claim": inequality.check,
}  # fmt: skip


def check(table: Mapping[str, Any]) -> Finding:
    """What its checker finds; one that gives up or runs out of time finds ``unknown``, never a pass."""
    try:
        with limited(TIME_LIMIT), np.errstate(all="ignore"):  # what overflows is no evidence
            return CHECKERS[key_of(table)](table)
    except TooLong:
        return Finding(Verdict.UNKNOWN, f"no decision within {TIME_LIMIT:.0f} s of processor time")
    except (ArithmeticError, ValueError, TypeError, KeyError, NotImplementedError, RecursionError) as error:
        return Finding(Verdict.UNKNOWN, f"checker gave up: {type(error).__name__}: {error}")


def key_of(table: Mapping[str, Any]) -> str:
    """The key that says which checker decides a table."""
    return next((key for key in CHECKERS if key in table), "claim")
