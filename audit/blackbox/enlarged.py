"""Would an epsilon K times too large have been seen? For mechanisms whose noise cannot be planted anew.

The event that promised most keeps its share on one side and is made as frequent on the other as a claim with K times
the epsilons lets it be, by leaving out outputs there: none is shown twice, since outputs that repeat are evidence. What
is left is audited in the same way, learning included. It is one violation of that size, around the event that this
audit knows best; one that is hidden in rarer outputs is harder to see.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.audit.results import ClaimTest
from dpassay.reference.guarantee import Guarantee, from_pairs
from dpassay.reference.types import Bools, Indices

from .detect import Detail, audit_in_detail
from .noise import MOST_OUTPUTS, Planted, repeated
from .table import Tables
from .telling import in_words, inside, oriented

LEAST = 100  # outputs that must be left
SPARE = 0.95  # of what could be left, so that the number inside the event may vary


@dataclass(frozen=True)
class EventPower(Planted):
    """What was planted is the event as frequent as an epsilon `larger` times the claim's allows."""

    words: str
    larger: float
    share: float

    @property
    def statement(self) -> str:
        """For a terminal."""
        planted = (
            f"Planted: '{self.words}' as frequent as an epsilon {self.larger:g} times larger allows ({self.share:.1%})"
        )
        if not self.tried:
            return f"{planted}: too few outputs are left for that."
        return (
            f"{planted} was refuted in {self.refuted} of {self.tried} simulations of {self.outputs:,} outputs, as many "
            f"as those at hand give (power {self.at_least:.2f} or more)."
        )


def larger(claim: Guarantee, factor: float) -> Guarantee:
    """The claim with all its epsilons so many times larger; epsilon 0 becomes the factor less 1."""
    pairs = [
        (e * factor if e > 0 else factor - 1, d) for e, d in zip(claim.epsilons, claim.deltas, strict=True) if e >= 0
    ]
    return from_pairs(pairs)


def event_power(
    tables: Tables, detail: Detail, claim: Guarantee, confidence: float, factor: float, seed: int
) -> EventPower:
    """Audits of the outputs at hand with one event made more frequent on one side."""
    one = detail.plainest or detail.candidate
    event, side = oriented(one.event)
    sides = [matrix[:MOST_OUTPUTS] for matrix in tables.matrices(detail.parts.columns)]
    masks = [inside(event, one.score(matrix)) for matrix in sides]
    other = (masks[1 - side].sum() + 0.5) / (masks[1 - side].size + 1)
    now = float(masks[side].mean())
    share = max(now, float(1 - larger(claim, factor).trade_off(np.array([other]))[0]))
    size = _possible(masks[side], share)
    words = in_words(one, event, tables.texts)
    if size < LEAST:
        return EventPower(0, 0, size, words, factor, share)

    def audit(rng: np.random.Generator) -> ClaimTest:
        rows = [rng.permutation(masks[0].size), rng.permutation(masks[1].size)]
        rows[side] = _with_share(masks[side], share, size, rng)
        p, q = (matrix[:MOST_OUTPUTS][chosen] for matrix, chosen in zip((tables.p, tables.q), rows, strict=True))
        return audit_in_detail(Tables(tables.columns, p, q, tables.texts), claim, rng, confidence)[0]

    return EventPower(*repeated(audit, seed), size, words, factor, share)


def _possible(mask: Bools, share: float) -> int:
    """The most outputs with this share inside, without using one twice."""
    within, without = int(mask.sum()), int((~mask).sum())
    sizes = [within / share] if share > 0 else []
    sizes += [without / (1 - share)] if share < 1 else []
    return int(SPARE * min(mask.size, *sizes))


def _with_share(mask: Bools, share: float, size: int, rng: np.random.Generator) -> Indices:
    """Rows, a binomial number of them inside."""
    within, without = rng.permutation(np.flatnonzero(mask)), rng.permutation(np.flatnonzero(~mask))
    count = int(np.clip(rng.binomial(size, share), size - without.size, within.size))
    return np.asarray(rng.permutation(np.concatenate([within[:count], without[: size - count]])))
