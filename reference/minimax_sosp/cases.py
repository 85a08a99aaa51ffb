"""Cases of minimax_sosp for the audit: DP-RGDA on worst-case neighbours, printed and repaired, for several sizes.

The methods that minimax_sosp compares with (Tables 1 and 2) stand on the steep worst-case neighbours.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, Literal

from dpassay.reference.case import Case, Instance, PrivacyClaim, Reading, facts_of
from dpassay.reference.findings import Kind, declare
from dpassay.reference.neighbours import Pair
from dpassay.reference.papers import Cite

from . import experiment, sto_spider
from .baseline_methods import DP_SGDA, METHODS, Method, Noise
from .baseline_methods import Sizes as BaselineSizes
from .dp_rgda import COMPLETIONS, REPAIRS, Schedule, printed, repaired, run
from .experiment import EXPERIMENT_COMPLETIONS, EXPERIMENT_REPAIRS, experiment_schedule
from .space import BOUNDED, STEP, appendix_b2, baseline, clipped_rows, silent, space
from .worst_case import TugOfWar, sign_flip, steep, within_clips

RECONSTRUCTION = sto_spider.COMPLETIONS[0]
DRIFT = "the drift limit is so small that every step refreshes: the case that the calibration pays for"
SIZES = {
    "full": BaselineSizes(9, 8, 2, 4, 9, 9, step_x=0.05, step_y=1e-3, drift_limit=1e-12),
    "sampled": BaselineSizes(12, 8, 2, 4, 6, 3, step_x=0.05, step_y=1e-3, drift_limit=1e-12),
}


@lru_cache(maxsize=32)
def _schedule(method: Method, sizes: BaselineSizes, noise: Noise) -> Any:
    return method.schedule(sizes, noise, experiment.EPSILON, experiment.DELTA)


def _instance(method: Method, name: str, noise: Noise) -> Instance:
    sizes = SIZES[name]
    schedule = _schedule(method, sizes, noise)
    pair = sign_flip(sizes.n, "balanced" if name == "full" else "identical", steep())
    seen = Pair(method.view(pair.here), method.view(pair.there), pair.target, pair.description)
    label = "x" if method.name == DP_SGDA.name else "refresh"  # a worker has a copy of the method
    facts = facts_of(sizes, n="n", T="steps", b1="refresh_batch", b2="step_batch")
    return Instance(method.file.run, schedule, seen, facts={**facts, "noise multiplier": schedule.noise[label]})


_GRID: tuple[tuple[str, Noise], ...] = (("full", "described"), ("full", "exact"))
BASELINES: tuple[Case, ...] = tuple(
    Case(
        id=f"minimax_sosp/{method.name}",
        reading="baseline",
        variant=f"{noise}-{size}",
        title=f"{method.title}, reconstruction",
        cite=method.cite,
        claim=PrivacyClaim(experiment.EPSILON, experiment.DELTA, Cite("minimax_sosp", "Appendix D")),
        build=partial(_instance, method, size, noise),
        data="signs, one flipped",
        space=partial(baseline, method, noise, experiment.EPSILON, experiment.DELTA),
        completions=(RECONSTRUCTION, DRIFT) if method.file.Schedule is sto_spider.Schedule else (RECONSTRUCTION,),
        quick=False,
    )
    for method, size, noise in (
        *((method, size, noise) for method in METHODS for size, noise in _GRID),
        *((method, "sampled", "exact") for method in METHODS),
    )
)


EPSILON, DELTA = 1.0, 1e-5
CURVATURE = 0.05  # L where the assumptions hold; a move of length eta changes a gradient by L eta at most
BOUNCE = 1e3  # lambda: y jumps across its domain, so that the inner differences are as large as those of x


@dataclass(frozen=True)
class Sizes:
    """One grid point: n, T, K, q, S1, S2, d."""

    n: int
    steps: int
    inner_steps: int
    period: int
    refresh_batch: int
    step_batch: int
    d: int = 1

    @property
    def name(self) -> str:
        """Short and unique."""
        return f"n{self.n}-d{self.d}-T{self.steps}-K{self.inner_steps}-q{self.period}-b{self.step_batch}"


SMALL, SMALL_SAMPLED = Sizes(9, 3, 2, 3, 9, 9, 2), Sizes(9, 4, 1, 2, 6, 3, 2)
FULL = (
    Sizes(9, 8, 1, 4, 9, 9),
    Sizes(9, 8, 5, 4, 9, 9),
    Sizes(25, 12, 3, 4, 25, 25, 5),
    Sizes(101, 20, 2, 5, 101, 101, 20),
)
SAMPLED = (Sizes(9, 9, 2, 3, 9, 3), Sizes(36, 24, 1, 6, 24, 6, 10))
MANY_INNER = Sizes(9, 1, 50, 1, 9, 9)
APPENDIX_D = Sizes(400, 400, 5, 10, 200, 50)


@lru_cache(maxsize=64)
def made(make: Callable[..., Schedule], sizes: Sizes, clip: float = 1.0, ascent: float = 1e-3) -> Schedule:
    """A reading for the budget; C_u = `clip` and lambda = `ascent`."""
    fields = {name: value for name, value in vars(sizes).items() if name != "d"}
    fields |= {"escape_threshold": sizes.steps, "ascent_step": ascent, "clip_step": clip}
    plain = silent(**fields, tolerance=1e-12, average_movement=1.0)
    return make(plain, EPSILON, DELTA)


@lru_cache(maxsize=2)
def described(reading: Literal["printed", "repaired"]) -> Schedule:
    """The experiment's schedule (Appendix D); 4,080 releases per run as printed."""
    schedule = replace(experiment_schedule(), tolerance=1e-12, ascent_step=1e-3)
    return schedule if reading == "printed" else repaired(schedule, experiment.EPSILON, experiment.DELTA)


def instance(schedule: Callable[[], Schedule], landscape: TugOfWar) -> Instance:
    """On the pair that suits the batches: balanced others for full batches, identical ones for sampled."""
    s = schedule()
    full = s.refresh_batch == s.step_batch == s.n
    pair = sign_flip(s.n, "balanced" if full else "identical", landscape)
    sizes = facts_of(s, T="steps", K="inner_steps", q="period", S1="refresh_batch", S2="step_batch")
    return Instance(run, s, pair, facts={"n": s.n, "d": landscape.d, **sizes})


COUNTS = "the noise leaves out the K inner steps, the second sequence (v beside u) and replace-one's factor 2"
COUNTS_AT_ONE = "the noise leaves out the second sequence (v beside u), replace-one's factor 2 and a constant"
NO_CONSTANT = "the K inner steps are missing from the noise: the constant 8, enough for K = 1, is too small here"
VANISHES = "step/v (and then step/u) is released without noise at k = 0: y_{t,0} = y_{t,-1} while x has moved"
MEAN_CLIP = "clip of the mean: without a bound on single gradients one record moves it by 2 C, not 2 C/S"

TOO_LITTLE = declare(Kind.VIOLATED, Kind.OVER_BUDGET)
LABELS = ("refresh/v", "refresh/u", "step/v", "step/u")

NO_ESCAPE = "the tolerance alpha is so small that no escape phase starts: every run makes all of its releases"
ROW_CLIP = "charitable: Algorithm 3 clips every gradient (difference) before it averages, as Appendix D says"
B2_NOISE = (
    "noise of Appendix B.2 in place of lines 1 and 2, with C_1 = C_2 = 1 and M = L = 1; the sensitivity of (31) counts "
    "the move of x as well, which (31) leaves out and Assumption 2 has"
)
C_EIGHT = "charitable: c = 8 in front of the noise"


def _count(sizes: Sizes) -> str:
    return COUNTS if sizes.inner_steps > 1 else COUNTS_AT_ONE


def _row(
    reading: Reading,
    variant: str,
    sizes: Sizes,
    make: Callable[..., Schedule],
    landscape: TugOfWar,
    *reads: str,
    shape: tuple[float, ...] = (),
    schedule: Callable[[], Schedule] | None = None,
    bounds: tuple[Any, ...] = (),
    place: str = "Theorem 1",
    noted: tuple[str, ...] = COMPLETIONS,
    **fields: Any,
) -> Case:
    """One row: a reading for these sizes (and `shape`) on the pair of a landscape; `bounds` of the search's space."""
    budget = (experiment.EPSILON, experiment.DELTA) if place == "Appendix D" else (EPSILON, DELTA)
    return Case(
        "minimax_sosp/dp_rgda",
        reading,
        "DP-RGDA (Algorithms 2 and 3)",
        Cite("minimax_sosp", "Algorithms 2 and 3"),
        PrivacyClaim(*budget, Cite("minimax_sosp", place)),
        partial(instance, schedule or partial(made, make, sizes, *shape), landscape),
        variant=variant + sizes.name,
        data="signs, one flipped",
        space=partial(space, make, *budget, *bounds),
        **{"quick": False, "completions": (*noted, *reads, NO_ESCAPE), **fields},
    )


def _inside(sizes: Sizes) -> TugOfWar:
    """No clip acts, so the printed sensitivities hold."""
    return within_clips(STEP, CURVATURE, sizes.steps, sizes.d)


_described = partial(_row, place="Appendix D", noted=EXPERIMENT_COMPLETIONS)
BARE = declare(*((Kind.BARE_RELEASE, f"step/{one}") for one in "vu"))
TOO_FAR = declare(*((Kind.SENSITIVITY_EXCEEDED, label) for label in LABELS))
CASES: tuple[Case, ...] = (
    *(  # C_v = 1 and C_u = L eta
        _row("printed", "algorithm3-", s, printed, _inside(s), shape=(CURVATURE * STEP, BOUNCE), bounds=(BOUNDED,),
             known=_count(s), declared=TOO_LITTLE, quick=s is SMALL)
        for s in (SMALL, FULL[0], FULL[3], SAMPLED[0])
    ),
    *(
        _row("printed", "rowclip-", s, clipped_rows, steep(s.d), ROW_CLIP,
             known=_count(s), declared=TOO_LITTLE, quick=s is FULL[0])
        for s in (*FULL, SMALL_SAMPLED, *SAMPLED)
    ),
    *(
        _row("printed", "rowclip-c8-", s, partial(clipped_rows, constant=8), steep(s.d), known=known,
             declared=declared, completions=(*COMPLETIONS, ROW_CLIP, NO_ESCAPE, C_EIGHT))
        for s, known, declared in ((FULL[0], "", ()), (MANY_INNER, NO_CONSTANT, TOO_LITTLE))
    ),
    *(
        _row("printed", "appendixB2-", s, appendix_b2, _inside(s), B2_NOISE, bounds=(BOUNDED,), place="Theorem 2",
             known=VANISHES, declared=(*TOO_LITTLE, *BARE), quick=s is SMALL)
        for s in (SMALL, FULL[1])
    ),
    *(
        _row("printed", "mean-clip-", s, printed, steep(s.d), known=f"{MEAN_CLIP}; {COUNTS}",
             declared=(*TOO_LITTLE, *TOO_FAR), quick=s is SMALL)
        for s in (SMALL, FULL[3])
    ),
    *(
        _row("repaired", "", s, repaired, steep(s.d), repairs=REPAIRS, quick=s in (SMALL, SMALL_SAMPLED))
        for s in (SMALL, SMALL_SAMPLED, *FULL, *SAMPLED)
    ),
    _described("printed", "experiment-", APPENDIX_D, experiment.as_described, steep(),
               schedule=partial(described, "printed")),
    _described("repaired", "experiment-", APPENDIX_D, repaired, steep(), schedule=partial(described, "repaired"),
               repairs=EXPERIMENT_REPAIRS),
    *BASELINES,
)  # fmt: skip
