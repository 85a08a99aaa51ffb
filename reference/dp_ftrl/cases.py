"""Rows of the audit table for `dp_ftrl`: both readings, the pair that costs the most, and where the claim must hold.

Any rows (they are clipped), a record present or taken out; the first record enters the most nodes of the tree.
"""

from functools import partial

import numpy as np

from dpassay.reference.case import Case, Facts, Instance, PrivacyClaim, Reading, facts_of
from dpassay.reference.neighbours import Pair
from dpassay.reference.papers import Cite
from dpassay.reference.problems.linear import LinearLosses
from dpassay.reference.space import Rows, Sizes, Space

from . import dp_ftrl

CLIP, REGULARISATION = 1.0, 2.0
EPSILON, DELTA = 1.0, 1e-5
N, D = 31, 2  # a tree of depth five


def one_record(n: int, d: int, clip: float, target: int = 0) -> Pair[LinearLosses]:
    """On D the target has a gradient of length ``clip``, on D' it is taken out; all others have gradient zero."""
    absent = LinearLosses(np.zeros((n, d)))
    row = np.zeros(d)
    row[0] = clip
    return Pair(absent.replace(target, row), absent, target, f"record {target}: a gradient of length L, or no gradient")


def _schedule(reading: str, epsilon: float, delta: float, sizes: Sizes) -> dp_ftrl.Schedule:
    make = dp_ftrl.printed if reading == "printed" else dp_ftrl.repaired
    return make(
        sizes["n"], sizes["d"], epsilon, delta, batch=sizes["batch"], clip=CLIP, regularisation=REGULARISATION
    )  # fmt: skip


def build(reading: Reading, batch: int, n: int = N) -> Instance:
    """DP-FTRL on the worst pair of ``n`` records, ``batch`` records a step."""
    schedule = _schedule(reading, EPSILON, DELTA, {"n": n, "d": D, "batch": batch})
    std = schedule.noise.std("tree", 2 * CLIP)
    sizes = facts_of(schedule, n="n", d="d", steps="steps")
    facts: Facts = {**sizes, "nodes of record 0": dp_ftrl.depth(schedule.steps), "std": std}
    pair, *others = (one_record(n, D, CLIP, first) for first in range(0, n, 2 * batch))  # every other leaf
    return Instance(dp_ftrl.run, schedule, pair, facts=facts, others=others)


def space(reading: str, epsilon: float, delta: float) -> Space:
    """Rows of any length; n that is no multiple of the batch, a power of two, one less and one more."""
    return Space(
        rows=Rows("d", None),
        sizes={"n": (1, 2, 3, 4, 5, 7, 8), "d": (1, 2), "batch": (1, 2, 3)},
        problem=lambda rows, sizes: LinearLosses(rows),
        schedule=partial(_schedule, reading, epsilon, delta),
        fits=lambda sizes: sizes["batch"] <= sizes["n"],
        relation="add-remove",
        absent=np.zeros(1),
    )


ROWS: tuple[tuple[Reading, int], ...] = (("printed", 1), ("repaired", 1), ("printed", 4), ("repaired", 4))
CASES: tuple[Case, ...] = tuple(
    Case(
        id="dp_ftrl/dp_ftrl",
        reading=reading,
        title="DP-FTRL",
        cite=Cite("dp_ftrl", "Algorithm 1"),
        claim=PrivacyClaim(EPSILON, DELTA, Cite("dp_ftrl", "Appendix D"), "add-remove"),
        build=partial(build, reading, batch),
        variant="" if batch == 1 else "batches",
        data="worst case",
        completions=dp_ftrl.COMPLETIONS,
        repairs=dp_ftrl.REPAIRS if reading == "repaired" else (),
        space=partial(space, reading, EPSILON, DELTA),
        quick=batch == 1,
    )
    for reading, batch in ROWS
)
