"""Stored scores as they come from other people's files: numbers, one row a line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.special import bdtr

from dpassay.audit.inputs.stored import load
from dpassay.reference.errors import BadInput, require
from dpassay.reference.types import Array, Bools

UNFAIR = 1e-6  # fair coins are this unequal at most this often: an honest file in a million is refused


def read_scores(path: Path) -> Array:
    """One score per line or entry."""
    table = _numbers(path)
    require(table.shape[1] == 1, str(path), table.shape, "must hold one score per line")
    return np.asarray(table[:, 0])


def read_canaries(path: Path) -> tuple[Array, Bools]:
    """Scores of canaries and the coins that included them, one canary per line.

    Coins that cannot have been fair are refused: a list of included canaries alone would otherwise be read as a
    violation, since all that is guessed to be in is in.
    """
    table = _numbers(path)
    require(table.shape[1] == 2, str(path), table.shape, "needs two columns: SCORE,COIN with coin 0 or 1")
    good = bool(np.isin(table[:, 1], (0, 1)).all())
    require(good, f"{path}: second column", "other than 0 or 1", "coins are 0 (left out) or 1 (included)")
    inside, count = int(table[:, 1].sum()), len(table)
    chance = 2 * float(bdtr(min(inside, count - inside), count, 0.5))
    counted = f"{inside:,} of {count:,} canaries included"
    require(chance >= UNFAIR, f"{path}: second column", counted, "each must be included by its own fair coin")
    return table[:, 0], table[:, 1].astype(bool)


def _numbers(path: Path) -> Array:
    """A file of numbers as a matrix, one row per line or entry."""
    try:
        table = np.asarray(load(path), dtype=float)
    except (ValueError, TypeError, OverflowError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(str(path), "malformed", "must hold numbers, the same number of them in each line") from None
    table = table[:, None] if table.ndim == 1 else table
    require(table.ndim == 2 and table.size > 0, str(path), table.shape, "must hold at least one line of numbers")
    require(not bool(np.isnan(table).any()), str(path), "NaN", "scores must be comparable")
    return table
