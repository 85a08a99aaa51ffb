"""Cases of minimax_sosp for the audit: DP-RGDA on worst-case neighbours, printed and repaired, for several sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import sqrt
from typing import Literal

from dpassay.reference.case import Case, Instance, PrivacyClaim
from dpassay.reference.findings import Kind, declare
from dpassay.reference.papers import Cite
from dpassay.reference.reasons import CLIPPING

from . import experiment
from .baseline_cases import BASELINES
from .dp_rgda import COMPLETIONS, REPAIRS, SILENT, Schedule, printed, repaired, run
from .experiment import EXPERIMENT_COMPLETIONS, EXPERIMENT_REPAIRS, experiment_schedule
from .space import BOUNDED, BOX, appendix_b2, clipped_rows, space
from .worst_case import TugOfWar, sign_flip, steep, within_clips

EPSILON, DELTA = 1.0, 1e-5
STEP = 0.05  # eta: every move of x has this length
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


def plain(sizes: Sizes, clip: float = 1.0, ascent: float = 1e-3) -> Schedule:
    """No noise yet; C_u = `clip` and lambda = `ascent`."""
    return Schedule(
        n=sizes.n,
        steps=sizes.steps,
        inner_steps=sizes.inner_steps,
        period=sizes.period,
        refresh_batch=sizes.refresh_batch,
        step_batch=sizes.step_batch,
        descent_step=STEP,
        escape_step=STEP,
        ascent_step=ascent,
        tolerance=1e-12,
        perturbation_radius=STEP,
        escape_threshold=sizes.steps,
        average_movement=1.0,
        clip_refresh=1.0,
        clip_step=clip,
        noise=SILENT,
    )


def as_printed(sizes: Sizes, clip: float = 1.0, ascent: float = 1e-3) -> Schedule:
    """Lines 1 and 2 for the budget."""
    return printed(plain(sizes, clip, ascent), EPSILON, DELTA)


def rows_clipped(sizes: Sizes, constant: int = 1) -> Schedule:
    """The charitable reading: rows are clipped, so 2 C / S holds for all data; c = `constant`."""
    return clipped_rows(plain(sizes), EPSILON, DELTA, constant)


def proportional(sizes: Sizes) -> Schedule:
    """Appendix B.2's noise, proportional to the last inner step."""
    return appendix_b2(plain(sizes), EPSILON, DELTA)


@lru_cache(maxsize=64)
def mended(sizes: Sizes) -> Schedule:
    """The repaired reading."""
    return repaired(plain(sizes), EPSILON, DELTA)


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
    facts: dict[str, float | int | str] = {
        "n": s.n,
        "d": landscape.d,
        "T": s.steps,
        "K": s.inner_steps,
        "q": s.period,
        "S1": s.refresh_batch,
        "S2": s.step_batch,
    }
    return Instance(run, s, pair, facts=facts)


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
ONE_AT_A_TIME = (
    f"at most {BOX / sqrt(2):.3f}, attained: (31) has sqrt(2) for x and y that move at once, which they never do, and "
    f"records of this space, whose gradients all stay below M = 1, are curved by {BOX:g} of L at most"
)
C_EIGHT = "charitable: c = 8 in front of the noise"

_rgda = partial(
    Case,
    id="minimax_sosp/dp_rgda",
    title="DP-RGDA (Algorithms 2 and 3)",
    cite=Cite("minimax_sosp", "Algorithms 2 and 3"),
    claim=PrivacyClaim(EPSILON, DELTA, Cite("minimax_sosp", "Theorem 1")),
    data="signs, one flipped",
    completions=(*COMPLETIONS, NO_ESCAPE),
    quick=False,
    unreached={**CLIPPING, "dp_rgda.py: if not (schedule.restart_at_refresh": "a restart at the refresh is a repair"},
)
_theorem_2 = PrivacyClaim(EPSILON, DELTA, Cite("minimax_sosp", "Theorem 2"))
_appendix_d = PrivacyClaim(experiment.EPSILON, experiment.DELTA, Cite("minimax_sosp", "Appendix D"))

CASES: tuple[Case, ...] = (
    *(  # C_v = 1 and C_u = L eta; no clip acts, so the printed sensitivities hold
        _rgda(
            reading="printed",
            variant=f"algorithm3-{sizes.name}",
            build=partial(
                instance,
                partial(as_printed, sizes, CURVATURE * STEP, BOUNCE),
                within_clips(STEP, CURVATURE, sizes.steps, sizes.d),
            ),
            known=COUNTS if sizes.inner_steps > 1 else COUNTS_AT_ONE,
            declared=TOO_LITTLE,
            space=partial(space, printed, EPSILON, DELTA, BOUNDED),
            quick=sizes is SMALL,
        )
        for sizes in (SMALL, FULL[0], FULL[3], SAMPLED[0])
    ),
    *(
        _rgda(
            reading="printed",
            variant=f"rowclip-{sizes.name}",
            build=partial(instance, partial(rows_clipped, sizes), steep(sizes.d)),
            completions=(*COMPLETIONS, ROW_CLIP, NO_ESCAPE),
            known=COUNTS if sizes.inner_steps > 1 else COUNTS_AT_ONE,
            declared=TOO_LITTLE,
            space=partial(space, clipped_rows, EPSILON, DELTA),
            quick=sizes is FULL[0],
        )
        for sizes in (*FULL, SMALL_SAMPLED, *SAMPLED)
    ),
    *(
        _rgda(
            reading="printed",
            variant=f"rowclip-c8-{sizes.name}",
            build=partial(instance, partial(rows_clipped, sizes, 8), steep(sizes.d)),
            completions=(*COMPLETIONS, ROW_CLIP, NO_ESCAPE, C_EIGHT),
            known=known,
            space=partial(space, partial(clipped_rows, constant=8), EPSILON, DELTA),
            declared=declared,
        )
        for sizes, known, declared in ((FULL[0], "", ()), (MANY_INNER, NO_CONSTANT, TOO_LITTLE))
    ),
    *(
        _rgda(
            reading="printed",
            variant=f"appendixB2-{sizes.name}",
            claim=_theorem_2,
            build=partial(instance, partial(proportional, sizes), within_clips(STEP, CURVATURE, sizes.steps, sizes.d)),
            completions=(*COMPLETIONS, B2_NOISE, NO_ESCAPE),
            known=VANISHES,
            space=partial(space, appendix_b2, EPSILON, DELTA, BOUNDED),
            declared=(*TOO_LITTLE, *declare(*((Kind.BARE_RELEASE, f"step/{one}") for one in "vu"))),
            quick=sizes is SMALL,
            attainable=dict.fromkeys(("step/v", "step/u"), ONE_AT_A_TIME),
        )
        for sizes in (SMALL, FULL[1])
    ),
    *(
        _rgda(
            reading="printed",
            variant=f"mean-clip-{sizes.name}",
            build=partial(instance, partial(as_printed, sizes), steep(sizes.d)),
            known=f"{MEAN_CLIP}; {COUNTS}",
            space=partial(space, printed, EPSILON, DELTA),
            declared=(*TOO_LITTLE, *declare(*((Kind.SENSITIVITY_EXCEEDED, label) for label in LABELS))),
            quick=sizes is SMALL,
        )
        for sizes in (SMALL, FULL[3])
    ),
    *(
        _rgda(
            reading="repaired",
            variant=sizes.name,
            build=partial(instance, partial(mended, sizes), steep(sizes.d)),
            repairs=REPAIRS,
            space=partial(space, repaired, EPSILON, DELTA),
            quick=sizes in (SMALL, SMALL_SAMPLED),
        )
        for sizes in (SMALL, SMALL_SAMPLED, *FULL, *SAMPLED)
    ),
    _rgda(
        reading="printed",
        variant=f"experiment-{APPENDIX_D.name}",
        claim=_appendix_d,
        build=partial(instance, partial(described, "printed"), steep()),
        completions=(*EXPERIMENT_COMPLETIONS, NO_ESCAPE),
        space=partial(space, experiment.as_described, experiment.EPSILON, experiment.DELTA),
    ),
    _rgda(
        reading="repaired",
        variant=f"experiment-{APPENDIX_D.name}",
        claim=_appendix_d,
        build=partial(instance, partial(described, "repaired"), steep()),
        completions=(*EXPERIMENT_COMPLETIONS, NO_ESCAPE),
        repairs=EXPERIMENT_REPAIRS,
        space=partial(space, repaired, experiment.EPSILON, experiment.DELTA),
    ),
    *BASELINES,
)
