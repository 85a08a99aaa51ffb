"""What a black-box audit would have seen: violations planted in the outputs that it has just judged.

Two are planted, and what is judged is said:

- a *branch* that shows the dataset in a share of the runs: an output that only one side gives. Its delta is at least
  that share for every epsilon, so it breaks any claim with a smaller delta. When a random share of the outputs is
  replaced, these are exact draws, so no further run is needed. Only the bet on repeated outputs is simulated, which
  gives a lower limit of the audit's power.
- an *event*: the one that promised most keeps its share on one side and is made as frequent on the other as a claim
  with K times the epsilons lets it be, by leaving out outputs there: none is shown twice, since outputs that repeat are
  evidence. What is left is audited as the outputs at hand were, learning included. An event that is hidden in rarer
  outputs is harder to see.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dpassay.audit.bounds import clopper_pearson_lower
from dpassay.audit.results import Verdict
from dpassay.audit.verdict import POWER_SHOWN
from dpassay.reference.arrays import Bools, Indices
from dpassay.reference.guarantee import Guarantee, from_pairs

from .detect import REPEATS_SHARE, Detail, audit_in_detail
from .repeats import repeats_log_wealth, row_hashes
from .table import Tables
from .telling import in_words

REPETITIONS, MISSES = 24, 1  # simulations; a second miss ends them (22 of 24 would not show power 0.8)
ENOUGH = 14  # simulations that all refute show a power of 0.8 at 95 %
MOST_OUTPUTS, MOST_PLANTED = 20_000, 30_000  # outputs a side that are judged anew; in which branches are planted
RUNS = (1_000_000, 300_000, 100_000, 30_000, 10_000, 3000, 1000, 300, 100, 30, 10, 3)  # one in so many shows its side
SHOWN, SIDES = 5, (-1.0, -2.0)  # a share gives at least so many shown sides, or it is not tried; their codes
LEAST = 100  # outputs that must be left of a side where some are left out
SPARE = 0.95  # of what could be left, so that the number inside the event may vary


@dataclass(frozen=True)
class Planted:
    """A planted violation that was refuted in `refuted` of `tried` simulations."""

    what: str  # in words
    refuted: int
    tried: int
    outputs: int  # a side
    runs: int | None = None  # of a branch that is seen with power 0.8 or more: it shows in one of so many

    @property
    def at_least(self) -> float:
        """Clopper-Pearson lower limit of the power at 95 %; 0 where nothing was tried."""
        return float(clopper_pearson_lower(self.refuted, self.tried, 0.05)) if self.tried else 0.0

    @property
    def statement(self) -> str:
        """For a terminal."""
        if not self.tried:
            return f"Planted: {self.what}."
        return (
            f"Planted: {self.what} was refuted in {self.refuted} of {self.tried} simulations of {self.outputs:,} "
            f"outputs a side (power {self.at_least:.2f} or more)."
        )

    @property
    def evidence(self) -> dict[str, object]:
        """Of a branch, for a JSON report."""
        simulated = {"repetitions": self.tried, "refuted": self.refuted, "outputs_a_side": self.outputs}
        return {"one_run_in": self.runs, "power_at_least": self.at_least, "simulated": simulated}


def _repeated(
    what: str, refutes: Callable[[np.random.Generator], bool], outputs: int, seed: tuple[int, int]
) -> Planted:
    """Simulate until the power is shown, or cannot be."""
    rng, found = np.random.default_rng(seed), Planted(what, 0, 0, outputs)
    while found.tried < REPETITIONS and found.tried - found.refuted <= MISSES:
        found = Planted(what, found.refuted + refutes(rng), found.tried + 1, outputs)
        if found.tried >= ENOUGH and found.at_least >= POWER_SHOWN:
            break
    return found


# -- a branch ------------------------------------------------------------------------------------------------------
def branch_power(tables: Tables, claim: Guarantee, confidence: float, seed: int) -> Planted:
    """Plant branches of growing probability in the outputs on D and on D' until they are refuted reliably."""
    p, q = (table[:MOST_PLANTED] for table in (tables.p, tables.q))
    _, codes = np.unique(np.concatenate([row_hashes(p), row_hashes(q)]), return_inverse=True)
    sides = codes[: len(p)].astype(float), codes[len(p) :].astype(float)
    size, needed = min(len(p), len(q)), -np.log((1 - confidence) * REPEATS_SHARE)
    for runs in (one for one in RUNS if size >= SHOWN * one and 1 / one > float(claim.deltas.min())):

        def refutes(rng: np.random.Generator, runs: int = runs) -> bool:
            shown = [
                np.where(rng.random(one.size) < 1 / runs, code, one) for one, code in zip(sides, SIDES, strict=True)
            ]
            return bool(repeats_log_wealth(shown[0][:, None], shown[1][:, None], claim, rng) >= needed)

        found = _repeated(f"a branch that shows the dataset in one run of {runs:,}", refutes, size, (seed, 61))
        if found.at_least >= POWER_SHOWN:
            return replace(found, runs=runs)
    rare = f"not even a branch that shows the dataset in one run of {RUNS[-1]} would be seen reliably"
    return Planted(rare, 0, 0, size)


# -- an event that is too frequent ---------------------------------------------------------------------------------
def larger(claim: Guarantee, factor: float) -> Guarantee:
    """The claim with all its epsilons so many times larger; epsilon 0 becomes the factor less 1."""
    pairs = zip(claim.epsilons, claim.deltas, strict=True)
    return from_pairs([(e * factor if e > 0 else factor - 1, d) for e, d in pairs if e >= 0])


def event_power(
    tables: Tables, detail: Detail, claim: Guarantee, confidence: float, factor: float, seed: int
) -> tuple[Planted, dict[str, object]]:
    """Audits of the outputs at hand with one event made more frequent on one side; and the event, for a report."""
    one = detail.plainest or detail.candidate
    event, side = one.event.oriented
    sides = [matrix[:MOST_OUTPUTS] for matrix in tables.matrices(detail.parts.columns)]
    masks = [event.inside(one.score(matrix)) for matrix in sides]
    other = (masks[1 - side].sum() + 0.5) / (masks[1 - side].size + 1)
    share = max(float(masks[side].mean()), float(1 - larger(claim, factor).trade_off(np.array([other]))[0]))
    size, words = _possible(masks[side], share), in_words(one, event, tables.texts)
    what = f"'{words}' as frequent as an epsilon {factor:g} times larger allows ({share:.1%})"
    seen: dict[str, object] = {"event": words, "epsilon_times": factor, "share": share}
    if size < LEAST:
        return Planted(f"{what}: too few outputs are left for that", 0, 0, size), seen

    def refutes(rng: np.random.Generator) -> bool:
        rows = [rng.permutation(masks[0].size), rng.permutation(masks[1].size)]
        rows[side] = _with_share(masks[side], share, size, rng)
        p, q = (matrix[:MOST_OUTPUTS][chosen] for matrix, chosen in zip((tables.p, tables.q), rows, strict=True))
        found, _ = audit_in_detail(Tables(tables.columns, p, q, tables.texts), claim, rng, confidence)
        return found.verdict is Verdict.VIOLATED

    return _repeated(what, refutes, size, (seed, 67)), seen


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
