"""Where the claims of `second_order_erm` must hold: all data sets of small size, every neighbour, every release.

A record is a feature vector with norm at most 1 and a label. A schedule is made for the sizes: the tolerances are
chosen such that a run takes about `steps` steps, whatever n and d are, so that the noise and the tolerances are of one
order and both ways out of every test are near. With few records and steps they are far above any true gradient: a test
on the gradient before the noise would always end alike, so there are sizes with finer ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy

from dpassay.reference.arrays import Array
from dpassay.reference.problems.erm import ErmProblem
from dpassay.reference.problems.margin_losses import LOSS_A
from dpassay.reference.space import Rows, Sizes, Space

from .common import Accuracy, Reading
from .eigen import Dense, Lanczos
from .subsampled import floor
from .worst_case import BASELINES, DELTA, EPSILON, FILES, LARGE, Decrease, baseline_accuracy, decrease_of

START, HOPE = 6.0, 2.0
FAR_OUT = 3.5  # standard deviations: the noise of f(w0) is hardly ever larger
ONE_PHASE, TWO_PHASES = 6.0, 60.0  # MIN_DEC as printed, in sensitivities of f(w0); f varies more at a warm start
RECORDS = Rows("d", 1.0, labels=(1.0, -1.0))
MANY = 60  # records: the noise is small enough for tolerances that a true gradient, of norm 1 at most, can reach
FINE = 64  # steps: tolerances as fine as that
FULL = {"n": (1, 2, 3, 5, 8, MANY), "d": (1, 2, 3), "steps": (1, 2, 4, FINE)}
LONG = 24  # steps on batches, for the same reason
BATCHES = {"n": (1, 2, 5, 8), "d": (1, 2, 3), "batch": (1, 2, 8), "steps": (1, 3, LONG)}
SMALL_SHARES = {"n": (20, 60), "d": (1, 2, 3), "batch": (1,), "steps": (1, 2)}  # eq. (30) has no noise for larger ones
Landmarks = Mapping[str, Sequence[float]]


def problem(rows: Array, sizes: Sizes) -> ErmProblem:
    """Loss A on features and labels, the last column."""
    return ErmProblem(rows[:, :-1], rows[:, -1], LOSS_A)


def public(sizes: Sizes) -> tuple[ErmProblem, Array]:
    """A problem of these sizes, for its bounds, and the start."""
    n, d = sizes["n"], sizes["d"]
    return ErmProblem(np.zeros((n, d)), np.ones(n), LOSS_A), START * np.eye(d)[0]


def accuracy_for(decrease: Decrease, sizes: Sizes, target: float, margin: float = 1.0) -> Accuracy:
    """Tolerances for which MIN_DEC is `target`, by gradient and by curvature steps alike."""
    k = public(sizes)[0].constants()
    by_gradient = decrease(Accuracy(1.0, LARGE), k.smoothness, k.hessian_lipschitz)
    by_curvature = decrease(Accuracy(LARGE, 1.0), k.smoothness, k.hessian_lipschitz)
    return Accuracy((target / by_gradient) ** 0.5, (target / by_curvature) ** (1 / 3) / margin)


def _about(steps: int, found: Any, decrease: Decrease, sizes: Sizes, coarse: float) -> Any:
    """The schedule with tolerances that fit `steps`; its noise does not depend on them.

    Repaired: T is about `steps`. Printed: a record that moves f(w0) by its sensitivity moves T by steps / coarse.
    """
    if found.reading == "printed":
        target = coarse * found.sensitivity.value / steps
    else:
        risk, start = public(sizes)
        spread = found.noise.sigma_f * found.sensitivity.value
        target = (risk.value_bound(start) + FAR_OUT * spread) / steps
    return replace(found, accuracy=accuracy_for(decrease, sizes, target, getattr(found, "eigen", Dense()).margin))


def schedule_for(
    name: str, reading: Reading, sizes: Sizes, *, epsilon: float = EPSILON, eigen: Lanczos | None = None, **options: Any
) -> Any:
    """The schedule of an algorithm with a bound (6) for these sizes; `options` go to its reading."""
    one = name.removeprefix("two_")
    two, decrease = one != name, decrease_of(one)
    risk, start = public(sizes)
    accuracy = Accuracy(1.0, 1.0)
    if one == "opt_b":  # repaired, T comes from a public bound and decides the noise
        options, target = {**options, "batch": sizes["batch"]}, risk.value_bound(start) / (sizes["steps"] - 0.5)
        accuracy = accuracy_for(decrease, sizes, target)
    found = getattr(FILES[one], reading)(risk, start, accuracy, epsilon, DELTA, **options)
    if eigen is not None:
        found = replace(found, eigen=eigen)
    if (one, reading) != ("opt_b", "repaired"):
        found = _about(sizes["steps"], found, decrease, sizes, TWO_PHASES if two else ONE_PHASE)
    if not two:
        return found
    budget = (epsilon, DELTA) if one == "opt_b" else ()
    return FILES[name].Schedule(found, *budget, HOPE)


def baseline_schedule(name: str, reading: Reading, sizes: Sizes) -> Any:
    """The schedule of a baseline that makes so many steps."""
    risk, start = public(sizes)
    options = {"batch": sizes["batch"]} if "batch" in sizes else {}
    accuracy = baseline_accuracy(name, risk, start, sizes["steps"])
    return getattr(FILES[name], reading)(risk, start, accuracy, EPSILON, DELTA, **options)


def fine_with_many(sizes: Sizes) -> bool:
    """Many records and many steps come together."""
    return (sizes["n"] == MANY) == (sizes["steps"] == FINE)


def no_larger(sizes: Sizes) -> bool:
    """A batch has at most n records; many steps with the largest n of theirs only."""
    return sizes["batch"] <= sizes["n"] and (sizes["steps"] != LONG or sizes["n"] == max(BATCHES["n"]))


def has_noise(epsilon: float, sizes: Sizes) -> bool:
    """Eq. (29) can be met by some noise, for more steps and a quarter of epsilon too (T is random; phase two)."""
    return no_larger(sizes) and floor(2 * sizes["steps"], sizes["batch"] / sizes["n"], DELTA) < epsilon / 4


def landmarks(schedule: Any) -> Landmarks:
    """The tolerances, and the values of f(w0) at which T changes."""
    s = getattr(schedule, "base", schedule)
    found: dict[str, Sequence[float]] = {"gradient": (s.accuracy.gradient,), "hessian": (s.accuracy.curvature,)}
    if getattr(s, "reading", "") == "repaired" and hasattr(s.noise, "sigma_f"):
        margin = s.noise.sigma_f * s.sensitivity.value * float(-scipy.special.ndtri(s.failure))
        found["initial value"] = [k * s.minimum_decrease - margin for k in (1, 2, 4)]
    return found


def space(name: str, reading: Reading, *, small_shares: bool = False, **options: Any) -> Space:
    """The space of a case; `small_shares` for eq. (30), which has no noise for larger ones.

    Args:
        options: of :func:`schedule_for`: another epsilon, Lanczos, a route of the printed schedule.
    """
    baseline = name in BASELINES
    schedule = partial(baseline_schedule if baseline else schedule_for, name, reading, **options)
    if small_shares:
        fits = partial(has_noise, options.get("epsilon", EPSILON))
        return Space(RECORDS, SMALL_SHARES, problem, schedule, fits, landmarks)
    if name.endswith("_b"):
        return Space(RECORDS, BATCHES, problem, schedule, no_larger, landmarks)
    return Space(RECORDS, FULL, problem, schedule, fine_with_many, landmarks)
