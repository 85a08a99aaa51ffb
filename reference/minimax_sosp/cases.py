"""Cases of minimax_sosp for the audit: DP-RGDA on worst-case neighbours, printed and repaired, for several sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from dpassay.reference.case import Case, Instance, PrivacyClaim, bind
from dpassay.reference.cite import Cite

from .calibration import REPAIRS, repaired
from .dp_rgda import dp_rgda
from .schedule import PRINTED_COMPLETIONS, Schedule, algorithm3_noise, appendix_b2_noise
from .theorem_schedules import EXPERIMENT_COMPLETIONS, experiment_schedule
from .worst_case import sign_flip

DELTA = 1e-5
STEP = 0.05  # eta: every move of x has this length
CURVATURE = 0.05  # L where the assumptions hold; differences are then at most L eta
STEEP = {"slope": 1e4, "curvature": 1e9}  # every clip is active, however short the move
THEOREM1 = Cite("minimax_sosp", "Theorem 1")
ALGORITHM = Cite("minimax_sosp", "Algorithms 2 and 3")


@dataclass(frozen=True)
class Sizes:
    """One grid point: n, T, K, q, S1, S2."""

    records: int
    outer_steps: int
    inner_steps: int
    period: int
    refresh_batch: int
    step_batch: int

    @property
    def name(self) -> str:
        """Short and unique."""
        return f"n{self.records}-T{self.outer_steps}-K{self.inner_steps}-q{self.period}-b{self.step_batch}"


def _plain(sizes: Sizes, epsilon: float, rule: Literal["algorithm 3", "appendix B.2"], clip: float) -> Schedule:
    """Escape phases are switched off by a tolerance no gradient meets, so that every run makes all releases."""
    s = sizes
    if rule == "algorithm 3":
        noise = algorithm3_noise(
            epsilon,
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
            epsilon,
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
        ascent_step=1e-3,
        tolerance=1e-12,
        perturbation_radius=STEP,
        escape_threshold=s.outer_steps,
        average_movement=1.0,
        clip_refresh=1.0,
        clip_step=clip,
        noise=noise,
    )


def _case(sizes: Sizes, make: Callable[[], Schedule], epsilon: float, **changes: object) -> Case:
    """A case on the pair that suits the batches: balanced others for full batches, identical ones for sampled."""
    full = sizes.step_batch == sizes.refresh_batch == sizes.records
    curvature = float(changes.pop("curvature", CURVATURE))  # type: ignore[arg-type]
    slope = float(changes.pop("slope", 0.9))  # type: ignore[arg-type]

    def build() -> Instance:
        schedule = make()
        pair = sign_flip(
            sizes.records,
            "balanced" if full else "identical",
            slope=slope,
            curvature=curvature,
            dual_slope=slope,
        )
        facts: dict[str, float | int | str] = {
            "n": sizes.records,
            "T": sizes.outer_steps,
            "K": sizes.inner_steps,
            "q": sizes.period,
            "S1": sizes.refresh_batch,
            "S2": sizes.step_batch,
            "releases": schedule.releases,
            "noise": schedule.noise.name,
        }
        return Instance(bind(dp_rgda, schedule), pair, facts=facts)

    options: dict[str, object] = {
        "id": "minimax_sosp/dp_rgda",
        "title": "DP-RGDA (Algorithms 2 and 3)",
        "cite": ALGORITHM,
        "claim": PrivacyClaim(epsilon, DELTA, THEOREM1),
        "build": build,
        "data": "signs on the line, one flipped",
        "variant": sizes.name,
    }
    return Case(**(options | changes))  # type: ignore[arg-type]


FULL = (Sizes(9, 8, 1, 4, 9, 9), Sizes(9, 8, 5, 4, 9, 9), Sizes(25, 20, 3, 5, 25, 25), Sizes(101, 40, 2, 10, 101, 101))
SAMPLED = (Sizes(9, 9, 2, 3, 9, 3), Sizes(36, 36, 1, 6, 24, 6))
QUICK = (FULL[0], SAMPLED[0])
COUNTS = "K inner steps, both sequences (u and v) and replace-one's factor 2 are missing from the noise"
VANISHES = "step/v is released without noise at k = 0: y_{t,0} = y_{t,-1} while x has moved"
MEAN_CLIP = "clip of the mean: without a bound on single gradients one record moves it by 2 C, not 2 C/S"


def _printed_fixed(sizes: Sizes, quick: bool) -> Case:
    """Algorithm 3's noise; gradients and moves stay inside the clips, so the printed sensitivities hold."""
    make = partial(_plain, sizes, 1.0, "algorithm 3", CURVATURE * STEP)
    slope = 1.0 - 2 * CURVATURE * STEP * (sizes.outer_steps + 1)  # |gradient| <= 1 = C_v on all that can be reached
    return _case(
        sizes,
        make,
        1.0,
        reading="printed",
        variant=f"algorithm3-{sizes.name}",
        completions=PRINTED_COMPLETIONS,
        known=COUNTS,
        slope=slope,
        quick=quick,
    )


def _printed_proportional(sizes: Sizes, quick: bool) -> Case:
    """Appendix B.2's noise, proportional to the last inner step."""
    return _case(
        sizes,
        partial(_plain, sizes, 1.0, "appendix B.2", 1.0),
        1.0,
        reading="printed",
        variant=f"appendixB2-{sizes.name}",
        completions=PRINTED_COMPLETIONS,
        known=VANISHES,
        quick=quick,
    )


def _printed_mean_clip(sizes: Sizes) -> Case:
    """Algorithm 3's noise on gradients larger than the clip."""
    return _case(
        sizes,
        partial(_plain, sizes, 1.0, "algorithm 3", 1.0),
        1.0,
        reading="printed",
        variant=f"mean-clip-{sizes.name}",
        completions=PRINTED_COMPLETIONS,
        known=MEAN_CLIP,
        **STEEP,
    )


def _repaired(sizes: Sizes, quick: bool = True) -> Case:
    return _case(
        sizes,
        lambda: repaired(_plain(sizes, 1.0, "algorithm 3", clip=1.0), 1.0, DELTA),
        1.0,
        reading="repaired",
        completions=PRINTED_COMPLETIONS,
        repairs=REPAIRS,
        **STEEP,
        quick=quick,
    )


def _experiment(repair: bool) -> Case:
    """The experiment's sizes (Appendix D) on the worst-case pair; 4,080 releases per run."""
    sizes = Sizes(400, 400, 5, 10, 200, 50)

    def make() -> Schedule:
        schedule = replace(experiment_schedule(epsilon=2.0, delta=1e-6), tolerance=1e-12, ascent_step=1e-3)
        return repaired(schedule, 2.0, 1e-6) if repair else schedule

    return _case(
        sizes,
        make,
        2.0,
        reading="repaired" if repair else "printed",
        variant="experiment",
        claim=PrivacyClaim(2.0, 1e-6, Cite("minimax_sosp", "Appendix D")),
        completions=EXPERIMENT_COMPLETIONS,
        repairs=REPAIRS if repair else (),
        **STEEP,
        quick=False,
    )


CASES: tuple[Case, ...] = (
    *(_printed_fixed(sizes, quick=sizes in QUICK) for sizes in (*FULL, *SAMPLED)),
    *(_printed_proportional(sizes, quick=sizes in QUICK) for sizes in FULL[:2]),
    _printed_mean_clip(FULL[0]),
    *(_repaired(sizes, quick=sizes in QUICK) for sizes in (*FULL, *SAMPLED)),
    _experiment(repair=False),
    _experiment(repair=True),
)
