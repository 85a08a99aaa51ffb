"""How far the queries of `adaptive_batch` really move, where the declared sensitivity is more or hard to reach."""

from __future__ import annotations

from math import sin

from dpassay.reference.attainable import Reasons

from . import space
from .stochastic_spider import Schedule

BELOW = "0 where the record of the row's pair is not below the node; the search tries every leaf of trees of up to four"
BELOW_PRINTED = BELOW.replace("four", "seven")
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


def of_escapes(source: str, epsilon: float, delta: float) -> Reasons:
    """Of the printed sizes of the search's spaces, where O4 is the oracle that decides."""
    sizes = {"n": space.PRINTED_RECORDS[-1], "steps": 7, "eager": 2}
    made = {d: space.printed_schedule(source, epsilon, delta, "bare", space.ALPHA, {**sizes, "d": d}) for d in (1, 4)}
    shares = ", ".join(f"{escape_share(one):.3f} for d = {d}" for d, one in made.items())
    why = f"at most {shares}, attained: a wave's second derivative moves by the chord of a step, declared is its length"
    return {"escape": f"{why}; not every seed comes upon a step as long as the longest that needs no larger batch"}
