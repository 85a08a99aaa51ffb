"""How far the queries of `adaptive_batch` really move, where the declared sensitivity is more or hard to reach."""

from __future__ import annotations

from collections.abc import Sequence
from math import sin

from dpassay.reference.reasons import Reasons

from . import space
from .stochastic_spider import Schedule

BELOW = "0 where the record of the row's pair is not below the node; the search tries every leaf of trees of up to four"
EVERY_NODE = "0.99 is attained at every node; not every seed comes upon each of them"


def escape_share(s: Schedule) -> float:
    """The largest movement of a model's gradient in an escape, over its declared ``hessian_sensitivity`` |move|.

    A record is read by one oracle. In O3 it moves H by 2 M/b. In O4 it moves it by the second derivative's change over
    one step of length m, over b_t >= max(1, slope m / eta): on waves of amplitude one the chord 2 sin(m/2), less than
    the rho m that is declared. The chord over max(1, slope m / eta) is largest where b_t begins to grow, m = eta/slope.
    """
    step = s.step_size / s.batch_slope
    chord = 2 * sin(step / 2)
    return max(s.smoothness / s.batch, chord) / max(s.smoothness / s.batch, s.hessian_lipschitz * step)


def of_printed(
    source: str, lengths: Sequence[int], alpha: float = space.ALPHA, records: Sequence[int] = space.PRINTED_RECORDS
) -> Reasons:
    """Of the nodes, and of the escapes, at the printed sizes of the search's space; all but the source as there."""
    tree = (
        "a node declares what its largest leaf does: the record of the row's pair shows less in another leaf, and 0 "
        f"where it is not below the node; the search tries every leaf of trees of up to {max(lengths)}"
    )
    if max(lengths) < 3:
        return {"tree": tree, "escape": "0: an escape starts at t = 1 at the earliest, and moves from then on"}
    sizes = {"n": max(records), "steps": max(lengths), "eager": 2}
    made = {d: space.printed_schedule(source, 1.0, 1e-5, "tree", alpha, {**sizes, "d": d}) for d in (1, 4)}
    shares = ", ".join(f"{escape_share(one):.3f} for d = {d}" for d, one in made.items())
    why = f"at most {shares}, attained: a wave's second derivative moves by the chord of a step, declared is its length"
    rare = "not every seed comes upon a step as long as the longest that needs no larger batch"
    return {"tree": tree, "escape": f"{why}; {rare}"}
