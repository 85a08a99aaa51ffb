"""Rows of the audit table for `dp_ftrl`: both readings on the pair that costs the most."""

from __future__ import annotations

from functools import partial

from dpassay.reference.case import Case, Instance, PrivacyClaim, Reading
from dpassay.reference.papers import Cite
from dpassay.reference.reasons import ONE_PASS, WHOLE_TREE

from . import dp_ftrl, worst_case
from .space import CLIP, REGULARISATION, space

EPSILON, DELTA = 1.0, 1e-5
N, D = 31, 2  # a tree of depth five
ALGORITHM = Cite("dp_ftrl", "Algorithm 1")
HALF = "0.5 on the row's own pairs, attained: the declared sensitivity is that of a record that is replaced"
CLAIM = PrivacyClaim(EPSILON, DELTA, Cite("dp_ftrl", "Appendix D"), "add-remove")


def build(reading: Reading, batch: int, n: int = N) -> Instance:
    """DP-FTRL on the worst pair of ``n`` records, ``batch`` records a step."""
    make = dp_ftrl.printed if reading == "printed" else dp_ftrl.repaired
    schedule = make(n, D, EPSILON, DELTA, batch=batch, clip=CLIP, regularisation=REGULARISATION)
    std = schedule.noise.std("tree", 2 * CLIP)
    facts: dict[str, float | int | str] = {
        "n": n, "d": D, "steps": schedule.steps, "nodes of record 0": dp_ftrl.depth(schedule.steps), "std": std,
    }  # fmt: skip
    pair, *others = (worst_case.one_record(n, D, CLIP, first) for first in range(0, n, 2 * batch))  # every other leaf
    return Instance(dp_ftrl.run, schedule, pair, facts=facts, others=others)


def _case(reading: Reading, batch: int, variant: str, quick: bool) -> Case:
    return Case(
        id="dp_ftrl/dp_ftrl",
        reading=reading,
        title="DP-FTRL",
        cite=ALGORITHM,
        claim=CLAIM,
        build=partial(build, reading, batch),
        variant=variant,
        data="worst case",
        completions=dp_ftrl.COMPLETIONS,
        repairs=dp_ftrl.REPAIRS if reading == "repaired" else (),
        space=partial(space, reading, EPSILON, DELTA),
        quick=quick,
        unreached={**WHOLE_TREE, **ONE_PASS},
        attainable={"tree": HALF},
    )


CASES: tuple[Case, ...] = (
    _case("printed", 1, "", True),
    _case("repaired", 1, "", True),
    _case("printed", 4, "batches", False),
    _case("repaired", 4, "batches", False),
)
