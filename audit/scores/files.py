"""Files of scores: read as they come from other people, and known again when they are given twice.

Two marks are kept for each side: of the values in their order (with their count, so that a longer file that begins with
them is recognised too), and of the sorted values (so that another order or file format makes no difference). A mark is
only set where chance cannot make two honest files alike: a file of ten zeros looks like any other.
"""

import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field
from scipy.special import bdtr, gammaln

from dpassay.audit.inputs.stored import column_names, load, named_columns
from dpassay.reference.arrays import Array, Bools
from dpassay.reference.errors import BadInput, require

NATS = 25.0  # two honest files coincide with probability exp(-NATS) = 1.4e-11 at most, or they get no mark
UNFAIR = 1e-6  # fair coins are this unequal at most this often: an honest file in a million is refused
SCORE, MEMBER = "score", "member"  # names of columns
COINS = {"0": 0.0, "1": 1.0, "false": 0.0, "true": 1.0, "no": 0.0, "yes": 1.0}
Count = Annotated[int, Field(strict=True, ge=0, lt=2**63)]
Marks = tuple[Annotated[str, Field(pattern=r"^(\d{1,18} in order|sorted): [0-9a-f]{32}$")], ...]  # as they are kept


def marks(scores: Array) -> tuple[str, ...]:
    """The marks of one side, none when its scores say too little to be known again."""
    _, counts = np.unique(scores, return_counts=True)
    in_order = -float((counts * np.log(counts / scores.size)).sum())  # -log of the chance to draw the same again
    ways = float(gammaln(scores.size + 1) - gammaln(counts + 1).sum())
    found = [f"{scores.size} in order: {_digest(scores)}"] if in_order >= NATS else []
    return (*found, f"sorted: {_digest(np.sort(scores))}") if in_order - ways >= NATS else tuple(found)


def seen_before(scores: Array, kept: Collection[str]) -> bool:
    """Is one of the kept marks a mark of these scores, or of their beginning?"""
    if set(marks(scores)) & set(kept):
        return True
    lengths = {int(mark.split()[0]) for mark in kept if " in order: " in mark}
    starts = (f"{size} in order: {_digest(scores[:size])}" for size in lengths if size < scores.size)
    return any(start in kept for start in starts)


def new_marks(named: Sequence[tuple[str, Array]], kept: Collection[str], path: Path) -> tuple[list[str], str]:
    """Marks of these files, and what is to be said of those that have none; BadInput where one was read before."""
    new: list[str] = []
    for name, scores in named:
        known = seen_before(scores, (*kept, *new))
        require(not known, name, f"{scores.size} scores", f"read before, says {path}: give new runs only")
        new += marks(scores)
    plain = [name for name, scores in named if not marks(scores)]
    return new, f" Too alike to be known again, so never give twice: {', '.join(plain)}." if plain else ""


def _digest(scores: Array) -> str:
    """SHA-256 of the values as little-endian doubles; -0.0 counts as 0.0."""
    return hashlib.sha256((scores + 0.0).astype("<f8").tobytes()).hexdigest()[:32]


def read_scores(path: Path) -> Array:
    """One score per line or entry; of a table with a header the column ``score``."""
    table = _numbers(path)
    require(table.shape[1] == 1, str(path), table.shape, "must hold one score a line, or one column named score")
    return np.asarray(table[:, 0])


def read_canaries(path: Path) -> tuple[Array, Bools]:
    """Scores of canaries and the coins that included them, one canary per line.

    Of a table with a header the columns ``score`` and ``member``. Coins that cannot have been fair are refused: a list
    of included canaries alone would otherwise be read as a violation, since all that is guessed to be in is in.
    """
    table = _numbers(path, coins=True)
    why = "needs two columns, SCORE,COIN with coin 0 or 1, or one named score and one member"
    require(table.shape[1] == 2, str(path), table.shape, why)
    good = bool(np.isin(table[:, 1], (0, 1)).all())
    require(good, f"{path}: second column", "other than 0 or 1", "coins are 0 (left out) or 1 (included)")
    inside, count = int(table[:, 1].sum()), len(table)
    chance = 2 * float(bdtr(min(inside, count - inside), count, 0.5))
    counted = f"{inside:,} of {count:,} canaries included"
    require(chance >= UNFAIR, f"{path}: second column", counted, "each must be included by its own fair coin")
    return table[:, 0], table[:, 1].astype(bool)


def _numbers(path: Path, coins: bool = False) -> Array:
    """A file of numbers as a matrix, one row per line or entry."""
    named = named_columns(path, (SCORE, MEMBER))
    lines: Any = None
    if named is not None and SCORE in named:
        why = "has a column 'member': scores of one run, for --one-run alone"
        require(coins or MEMBER not in named, str(path), list(named), why)
        require(not coins or MEMBER in named, str(path), list(named), "needs a column 'member' with 0 or 1")
        members = [COINS.get(str(one).strip().lower(), one) for one in named[MEMBER]] if coins else []
        lines = list(zip(named[SCORE], members, strict=True)) if coins else named[SCORE]
    try:
        table = np.asarray(load(path) if lines is None else lines, dtype=float)
    except BadInput:
        if (names := column_names([path])) is None:
            raise
        raise BadInput(str(path), ", ".join(names), "none of these columns is named score") from None
    except (ValueError, TypeError, OverflowError):
        wrong = next(((number, one) for number, one in enumerate(lines or (), 2) if not _is_numbers(one)), None)
        where, value = (f"{path}: line {wrong[0]}", wrong[1]) if wrong else (str(path), "malformed")
        raise BadInput(where, value, "must be numbers, as many in each line") from None
    table = table[:, None] if table.ndim == 1 else table
    require(table.ndim == 2 and table.size > 0, str(path), table.shape, "must hold at least one line of numbers")
    require(not bool(np.isnan(table).any()), str(path), "NaN", "scores must be comparable")
    return table


def _is_numbers(value: Any) -> bool:
    try:
        np.asarray(value, dtype=float)
    except (ValueError, TypeError, OverflowError):
        return False
    return True
