"""Cases of minimax_sosp for the audit: DP-RGDA on worst-case neighbours, printed and repaired, for several sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from dpassay.reference.case import Case, Instance, PrivacyClaim
from dpassay.reference.papers import Cite

from . import experiment
from .baseline_cases import BASELINES
from .calibration import EXPERIMENT_REPAIRS, REPAIRS, repaired
from .dp_rgda import dp_rgda
from .experiment import EXPERIMENT_COMPLETIONS, experiment_schedule
from .schedule import PRINTED_COMPLETIONS, Schedule, algorithm3_noise, appendix_b2_noise
from .worst_case import Others, TugOfWar, sign_flip, steep, within_clips

DELTA = 1e-5
STEP = 0.05  # eta: every move of x has this length
CURVATURE = 0.05  # L where the assumptions hold; a move of length eta changes a gradient by L eta at most
BOUNCE = 1e3  # lambda: y jumps across its domain, so that the inner differences are as large as those of x
THEOREM1 = Cite("minimax_sosp", "Theorem 1")
THEOREM2 = Cite("minimax_sosp", "Theorem 2")
ALGORITHM = Cite("minimax_sosp", "Algorithms 2 and 3")
NO_ESCAPE = "the tolerance alpha is so small that no escape phase starts: every run makes all of its releases"


@dataclass(frozen=True)
class Sizes:
    """One grid point: n, T, K, q, S1, S2, d."""

    records: int
    outer_steps: int
    inner_steps: int
    period: int
    refresh_batch: int
    step_batch: int
    dimension: int = 1

    @property
    def name(self) -> str:
        """Short and unique."""
        size = f"n{self.records}-d{self.dimension}"
        return f"{size}-T{self.outer_steps}-K{self.inner_steps}-q{self.period}-b{self.step_batch}"

    @property
    def full(self) -> bool:
        """Every batch is the whole data set."""
        return self.step_batch == self.refresh_batch == self.records


def _plain(sizes: Sizes, rule: Literal["algorithm 3", "appendix B.2"], clip: float, ascent: float) -> Schedule:
    """The printed noise for epsilon = 1 and the sizes, with C_u = `clip` and lambda = `ascent`."""
    s = sizes
    if rule == "algorithm 3":
        noise = algorithm3_noise(
            1.0,
            DELTA,
            records=s.records,
            outer_steps=s.outer_steps,
            period=s.period,
            refresh_batch=s.refresh_batch,
            step_batch=s.step_batch,
            clip_refresh=1.0,
            clip_step=clip,
        )
    else:
        noise = appendix_b2_noise(
            1.0,
            DELTA,
            records=s.records,
            refresh_batch=s.refresh_batch,
            step_batch=s.step_batch,
            lipschitz=1.0,
            smoothness=1.0,
        )
    return Schedule(
        records=s.records,
        outer_steps=s.outer_steps,
        inner_steps=s.inner_steps,
        period=s.period,
        refresh_batch=s.refresh_batch,
        step_batch=s.step_batch,
        descent_step=STEP,
        escape_step=STEP,
        ascent_step=ascent,
        tolerance=1e-12,
        perturbation_radius=STEP,
        escape_threshold=s.outer_steps,
        average_movement=1.0,
        clip_refresh=1.0,
        clip_step=clip,
        noise=noise,
    )


def _case(
    sizes: Sizes, make: Callable[[], Schedule], landscape: TugOfWar, variant: str = "", **changes: object
) -> Case:
    """A case on the pair that suits the batches: balanced others for full batches, identical ones for sampled."""

    def build() -> Instance:
        schedule = make()
        others: Others = "balanced" if sizes.full else "identical"
        pair = sign_flip(sizes.records, others, landscape)
        facts: dict[str, float | int | str] = {
            "n": sizes.records,
            "d": sizes.dimension,
            "T": sizes.outer_steps,
            "K": sizes.inner_steps,
            "q": sizes.period,
            "S1": sizes.refresh_batch,
            "S2": sizes.step_batch,
            "releases": schedule.releases,
            "noise": schedule.noise.name,
        }
        return Instance(dp_rgda, schedule, pair, facts=facts)

    options: dict[str, object] = {
        "id": "minimax_sosp/dp_rgda",
        "title": "DP-RGDA (Algorithms 2 and 3)",
        "cite": ALGORITHM,
        "claim": PrivacyClaim(1.0, DELTA, THEOREM1),
        "build": build,
        "data": "signs, one flipped",
        "completions": (*PRINTED_COMPLETIONS, NO_ESCAPE),
        "variant": f"{variant}-{sizes.name}" if variant else sizes.name,
    }
    return Case(**(options | changes))  # type: ignore[arg-type]


COUNTS = "the noise leaves out the K inner steps, the second sequence (v beside u) and replace-one's factor 2"
NO_CONSTANT = "the K inner steps are missing from the noise: the constant 8, enough for K = 1, is too small here"
ROW_CLIP = "charitable: Algorithm 3 clips every gradient (difference) before it averages, as Appendix D says"
B2_NOISE = "noise of Appendix B.2 in place of lines 1 and 2, with C_1 = C_2 = 1 and M = L = 1"
VANISHES = "step/v is released without noise at k = 0: y_{t,0} = y_{t,-1} while x has moved"
MEAN_CLIP = "clip of the mean: without a bound on single gradients one record moves it by 2 C, not 2 C/S"


def _printed_fixed(sizes: Sizes, quick: bool = False) -> Case:
    """Algorithm 3's noise with C_v = 1 and C_u = L eta; no clip acts, so the printed sensitivities hold."""
    landscape = within_clips(STEP, CURVATURE, sizes.outer_steps, sizes.dimension)
    make = partial(_plain, sizes, "algorithm 3", CURVATURE * STEP, BOUNCE)
    return _case(sizes, make, landscape, "algorithm3", reading="printed", known=COUNTS, quick=quick)


def _printed_row_clip(sizes: Sizes, quick: bool = False, constant: int = 1, known: str = COUNTS) -> Case:
    """Algorithm 3, noise in the charitable reading: rows are clipped, so 2 C / S holds for all data; c = `constant`."""

    def make() -> Schedule:
        schedule = replace(_plain(sizes, "algorithm 3", 1.0, 1e-3), clip_each=True)
        rule = schedule.noise
        stronger = replace(rule, refresh_std=constant * rule.refresh_std, step_std=constant * rule.step_std)
        return schedule.with_noise(stronger)

    completions: tuple[str, ...] = (*PRINTED_COMPLETIONS, ROW_CLIP, NO_ESCAPE)
    variant = "rowclip"
    if constant != 1:
        variant = f"rowclip-c{constant}"
        completions = (*completions, f"charitable: c = {constant} in front of the noise")
    changes = {"reading": "printed", "known": known, "completions": completions, "quick": quick}
    return _case(sizes, make, steep(sizes.dimension), variant, **changes)


def _printed_proportional(sizes: Sizes, quick: bool = False) -> Case:
    """Appendix B.2's noise, proportional to the last inner step."""
    landscape = within_clips(STEP, CURVATURE, sizes.outer_steps, sizes.dimension)
    make = partial(_plain, sizes, "appendix B.2", 1.0, 1e-3)
    changes = {"claim": PrivacyClaim(1.0, DELTA, THEOREM2), "completions": (*PRINTED_COMPLETIONS, B2_NOISE, NO_ESCAPE)}
    return _case(sizes, make, landscape, "appendixB2", reading="printed", known=VANISHES, quick=quick, **changes)


def _printed_mean_clip(sizes: Sizes, quick: bool = False) -> Case:
    """Algorithm 3's noise on gradients larger than the clip."""
    make = partial(_plain, sizes, "algorithm 3", 1.0, 1e-3)
    return _case(sizes, make, steep(sizes.dimension), "mean-clip", reading="printed", known=MEAN_CLIP, quick=quick)


def _repaired(sizes: Sizes, quick: bool = False) -> Case:
    def make() -> Schedule:
        return repaired(_plain(sizes, "algorithm 3", 1.0, 1e-3), 1.0, DELTA)

    return _case(sizes, make, steep(sizes.dimension), reading="repaired", repairs=REPAIRS, quick=quick)


def _experiment(repair: bool) -> Case:
    """The experiment's sizes (Appendix D) on the worst-case pair; 4,080 releases per run as printed."""

    def make() -> Schedule:
        schedule = replace(experiment_schedule(), tolerance=1e-12, ascent_step=1e-3)
        if not repair:
            return schedule
        return repaired(schedule, experiment.EPSILON, experiment.DELTA, EXPERIMENT_REPAIRS)

    return _case(
        Sizes(400, 400, 5, 10, 200, 50),
        make,
        steep(),
        "experiment",
        reading="repaired" if repair else "printed",
        claim=PrivacyClaim(experiment.EPSILON, experiment.DELTA, Cite("minimax_sosp", "Appendix D")),
        completions=(*EXPERIMENT_COMPLETIONS, NO_ESCAPE),
        repairs=EXPERIMENT_REPAIRS if repair else (),
        quick=False,
    )


SMALL, SMALL_SAMPLED = Sizes(9, 3, 2, 3, 9, 9, 2), Sizes(9, 4, 1, 2, 6, 3, 2)
FULL = (
    Sizes(9, 8, 1, 4, 9, 9),
    Sizes(9, 8, 5, 4, 9, 9),
    Sizes(25, 12, 3, 4, 25, 25, 5),
    Sizes(101, 20, 2, 5, 101, 101, 20),
)
SAMPLED = (Sizes(9, 9, 2, 3, 9, 3), Sizes(36, 24, 1, 6, 24, 6, 10))

CASES: tuple[Case, ...] = (
    _printed_fixed(SMALL, quick=True),
    *(_printed_fixed(sizes) for sizes in (FULL[0], FULL[3], SAMPLED[0])),
    _printed_row_clip(FULL[0], quick=True),
    *(_printed_row_clip(sizes) for sizes in (*FULL[1:], SMALL_SAMPLED, *SAMPLED)),
    _printed_row_clip(FULL[0], constant=8, known=""),
    _printed_row_clip(Sizes(9, 1, 50, 1, 9, 9), constant=8, known=NO_CONSTANT),
    _printed_proportional(SMALL, quick=True),
    _printed_proportional(FULL[1]),
    _printed_mean_clip(SMALL, quick=True),
    _printed_mean_clip(FULL[3]),
    *(_repaired(sizes, quick=True) for sizes in (SMALL, SMALL_SAMPLED)),
    *(_repaired(sizes) for sizes in (*FULL, *SAMPLED)),
    _experiment(repair=False),
    _experiment(repair=True),
    *BASELINES,
)
