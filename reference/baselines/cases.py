"""Cases of DP-SGD: full batch on real data with an input canary, and the worst pair of each kind of sampling.

The claims must hold for any finite rows (they are clipped) and all kinds of batches.
"""

from functools import partial
from typing import Literal

import numpy as np

from dpassay.reference.case import Case, Instance, PrivacyClaim
from dpassay.reference.errors import require
from dpassay.reference.neighbours import Pair
from dpassay.reference.noise import Multipliers
from dpassay.reference.papers import Cite
from dpassay.reference.problems import real_data
from dpassay.reference.problems.erm import ErmProblem
from dpassay.reference.problems.linear import LinearLosses
from dpassay.reference.problems.margin_losses import LOSS_A
from dpassay.reference.space import Rows, Sizes, Space, by_sizes

from . import dp_sgd
from .dp_sgd import calibrated, run, with_multiplier

Batches = Literal["full", "fixed", "poisson"]


def space(batches: Batches, epsilon: float, delta: float) -> Space:
    """Batches of one, n that is no multiple of the batch, one step and several; each record has a constant gradient."""
    sizes = {"n": (1, 3, 5), "d": (1, 3), "steps": (1, 3)}
    return Space(
        rows=Rows("d", None),
        sizes=sizes if batches == "full" else {**sizes, "n": (1, 3, 8), "batch": (1, 2, 5)},
        problem=lambda rows, sizes: LinearLosses(rows),
        schedule=by_sizes(_schedule, batches == "poisson", epsilon, delta),
        fits=lambda sizes: sizes.get("batch", 0) < sizes["n"],
    )


def _schedule(poisson: bool, epsilon: float, delta: float, sizes: Sizes) -> dp_sgd.Schedule:
    silent = dp_sgd.Schedule(sizes["steps"], 0.1, 1.0, Multipliers({"gradient": 0.0}), sizes.get("batch"), poisson)
    return dp_sgd.calibrated(silent, sizes["n"], epsilon, delta)


_ABADI = Cite("abadi2016", "Algorithm 1")
DELTA = 1e-5
_CANARY = 50.0  # length of the canary's only feature: its gradient is clipped while its margin is below 4


def full_batch(data: str, records: int, epsilon: float, delta: float, steps: int) -> Instance:
    """Logistic regression on the first records of a real set.

    Record 0 is a canary with a feature that no other record has, label + or -. The canary's clipped gradients differ
    by the whole ``2 clip``: the pair attains the sensitivity.
    """
    loaders = {"breast cancer": real_data.breast_cancer, "digits": real_data.digits}
    require(data in loaders, "data", data, f"must be one of {', '.join(loaders)}")
    features, labels = (array[:records] for array in loaders[data]())
    columns = np.column_stack([features, np.zeros(len(features))])
    problem = ErmProblem(columns, labels, LOSS_A, feature_bound=_CANARY)
    canary = np.zeros(problem.d)
    canary[-1] = _CANARY
    schedule = calibrated(with_multiplier(steps, 0.01, 1.0, 1.0), problem.n, epsilon, delta)
    std = schedule.noise.std("gradient", 2 * schedule.clip) / problem.n
    pair = Pair(problem.replace(0, canary, 1.0), problem.replace(0, canary, -1.0), 0, "record 0: canary, label + or -")
    return Instance(run, schedule, pair, facts={"n": problem.n, "d": problem.d, "steps": steps, "std": std})


def sampled(n: int, batch_size: int, noise_multiplier: float, steps: int, poisson: bool) -> Instance:
    """All other records pull one way; record 0 pulls the other way on D, and as they do on D' (against zero: Poisson).

    The batch then matters through record 0 alone, so the mixture likelihood is exact.
    """
    problem = LinearLosses(np.full((n, 1), 0.0 if poisson else -1.0))  # +1 against -1, others zero: Poisson's analysis
    schedule = with_multiplier(steps, 0.1, 1.0, noise_multiplier, batch_size, poisson)
    here, there = (problem.replace(0, np.full(1, sign)) for sign in (1.0, -1.0))
    pair = Pair(here, there, 0, "record 0 against all others, or with them")
    facts = {"n": n, "batch": batch_size, "noise multiplier": noise_multiplier, "steps": steps}
    return Instance(run, schedule, pair, facts=dict(facts))


_ROWS: tuple[tuple[str, str, float, Batches, str, partial[Instance]], ...] = (
    ("full-batch", "full batch", 2.0, "full", "breast cancer + canary",
     partial(full_batch, "breast cancer", 569, 2.0, DELTA, 10)),
    ("digits", "full batch", 1.0, "full", "digits + canary", partial(full_batch, "digits", 360, 1.0, DELTA, 5)),
    # claims: the accountant's epsilon of these schedules, rounded up
    ("fixed-size", "batches of 10 in 100", 2.44, "fixed", "worst case", partial(sampled, 100, 10, 2.5, 20, False)),
    ("poisson", "Poisson batches", 2.04, "poisson", "worst case", partial(sampled, 100, 10, 1.8, 20, True)),
)  # fmt: skip

CASES: tuple[Case, ...] = tuple(
    Case(
        id="baselines/dp_sgd",
        reading="baseline",
        title=f"DP-SGD, {batches}",
        cite=_ABADI,
        claim=PrivacyClaim(epsilon, DELTA, _ABADI),
        build=build,
        variant=variant,
        data=data,
        space=partial(space, kind, epsilon, DELTA),
    )
    for variant, batches, epsilon, kind, data, build in _ROWS
)
