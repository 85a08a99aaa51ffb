"""Cases of the methods that minimax_sosp compares with (Tables 1 and 2), on the steep worst-case neighbours."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

from dpassay.reference.case import Case, Instance, PrivacyClaim
from dpassay.reference.neighbours import Pair
from dpassay.reference.papers import Cite

from . import sto_spider
from .baseline_methods import DP_SGDA, METHODS, Method, Noise, Sizes, drifting
from .experiment import DELTA, EPSILON
from .space import baseline
from .worst_case import sign_flip, steep

RECONSTRUCTION = sto_spider.COMPLETIONS[0]
DRIFT = "the drift limit is so small that every step refreshes: the case that the calibration pays for"
SIZES = {
    "full": Sizes(9, 8, 2, 4, 9, 9, step_x=0.05, step_y=1e-3, drift_limit=1e-12),
    "sampled": Sizes(12, 8, 2, 4, 6, 3, step_x=0.05, step_y=1e-3, drift_limit=1e-12),
}


@lru_cache(maxsize=32)
def _schedule(method: Method, sizes: Sizes, noise: Noise) -> Any:
    return method.schedule(sizes, noise, EPSILON, DELTA)


def _instance(method: Method, name: str, noise: Noise) -> Instance:
    sizes = SIZES[name]
    schedule = _schedule(method, sizes, noise)
    pair = sign_flip(sizes.n, "balanced" if name == "full" else "identical", steep())
    seen = Pair(method.view(pair.here), method.view(pair.there), pair.target, pair.description)
    label = "x" if method.name == DP_SGDA.name else "refresh"  # a worker has a copy of the method
    facts: dict[str, float | int | str] = {
        "n": sizes.n,
        "T": sizes.steps,
        "b1": sizes.refresh_batch,
        "b2": sizes.step_batch,
        "noise multiplier": schedule.noise[label],
    }
    return Instance(method.run, schedule, seen, facts=facts)


_GRID: tuple[tuple[str, Noise], ...] = (("full", "described"), ("full", "exact"))
BASELINES: tuple[Case, ...] = tuple(
    Case(
        id=f"minimax_sosp/{method.name}",
        reading="baseline",
        variant=f"{noise}-{size}",
        title=f"{method.title}, reconstruction",
        cite=method.cite,
        claim=PrivacyClaim(EPSILON, DELTA, Cite("minimax_sosp", "Appendix D")),
        build=partial(_instance, method, size, noise),
        data="signs, one flipped",
        space=partial(baseline, method, noise, EPSILON, DELTA),
        completions=(RECONSTRUCTION, DRIFT) if method.plain is drifting else (RECONSTRUCTION,),
        quick=False,
    )
    for method, size, noise in (
        *((method, size, noise) for method in METHODS for size, noise in _GRID),
        *((method, "sampled", "exact") for method in METHODS),
    )
)
