"""The methods that minimax_sosp compares with (Tables 1 and 2): which run, which schedule, which view of a problem.

All are reconstructions: the paper names them and does not print them. Each runs with the privacy rule of Appendix D
(clip every record at C, sensitivity 2 C / B, one noise multiplier for a run) twice: noise by advanced composition (as
described) and exact.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from dpassay.reference.baselines import dp_sgda, dp_spider, private_diff
from dpassay.reference.baselines.protocols import Clipped, Primal
from dpassay.reference.noise import Multipliers
from dpassay.reference.papers import Cite

from . import ada_dp_spider, sto_spider
from .experiment import described_multiplier

Noise = Literal["described", "exact"]


@dataclass(frozen=True)
class Sizes:
    """n, T, K, q, b1, b2, and the steps and thresholds of Appendix D (printed or ours)."""

    n: int
    steps: int
    ascents: int
    period: int
    refresh_batch: int
    step_batch: int
    clip: float = 1.0
    step_x: float = 0.1
    step_y: float = 0.8
    drift_limit: float = 1.0
    tolerance: float = 0.1
    perturbation: float = 0.1
    frozen_steps: int = 50


def spider(s: Sizes, noise: Multipliers) -> dp_spider.Schedule:
    """DP-SPIDER for these sizes."""
    return dp_spider.Schedule(
        s.n, s.steps, s.period, s.refresh_batch, s.step_batch, s.clip, s.clip, s.step_x, noise=noise
    )


def drifting(s: Sizes, noise: Multipliers) -> sto_spider.Schedule:
    """Sto-SPIDER or Ada-DP-SPIDER for these sizes."""
    return sto_spider.Schedule(
        s.n, s.steps, s.refresh_batch, s.step_batch, s.clip, s.step_x, s.drift_limit, s.tolerance, s.perturbation,
        s.frozen_steps, noise,
    )  # fmt: skip


def descent_ascent(s: Sizes, noise: Multipliers) -> dp_sgda.Schedule:
    """DP-SGDA for these sizes."""
    return dp_sgda.Schedule(
        s.n, s.steps, s.step_batch, s.step_batch, s.clip, s.clip, s.step_x, s.step_y, noise, alternating=False
    )


def differences(s: Sizes, noise: Multipliers) -> private_diff.Schedule:
    """PrivateDiff for these sizes."""
    return private_diff.Schedule(
        s.n, s.steps, s.ascents, s.period, s.refresh_batch, s.step_batch, s.step_batch, s.clip, s.clip, s.clip,
        s.step_x, s.step_y, noise,
    )  # fmt: skip


@dataclass(frozen=True)
class Method:
    """A method of the tables: its run, its schedule for sizes, its calibration, and how it sees a minimax problem."""

    name: str
    title: str
    cite: Cite
    run: Callable[..., Any]
    plain: Callable[[Sizes, Multipliers], Any]
    calibrated: Callable[..., Any]
    view: Callable[[Any], Any]

    def schedule(self, sizes: Sizes, noise: Noise, epsilon: float, delta: float) -> Any:
        """With noise by advanced composition ("described") or exact."""
        one = Multipliers(dict.fromkeys(("refresh", "difference", "x", "y"), 1.0))
        schedule = self.plain(sizes, one)
        if noise == "exact":
            return self.calibrated(schedule, epsilon, delta)
        dry = sto_spider.costliest(schedule) if isinstance(schedule, sto_spider.Schedule) else schedule
        multiplier = described_multiplier(partial(_seen, self.run, self.view), dry, sizes.n, epsilon, delta)
        return replace(schedule, noise=one.scaled(multiplier))


def _seen(run: Callable[..., Any], view: Callable[[Any], Any], problem: Any, schedule: Any, tape: Any) -> Any:
    return run(view(problem), schedule, tape)


_TABLES = Cite("minimax_sosp", "Tables 1 and 2")
DP_SPIDER = Method(
    "dp_spider", "DP-SPIDER", Cite("arora2023", "Algorithm 1"), dp_spider.run, spider, dp_spider.calibrated, Primal
)
STO_SPIDER = Method("sto_spider", "Sto-SPIDER", _TABLES, sto_spider.run, drifting, sto_spider.calibrated, Primal)
ADA_DP_SPIDER = Method(
    "ada_dp_spider", "Ada-DP-SPIDER", _TABLES, ada_dp_spider.run, drifting, sto_spider.calibrated, Primal
)
PRIVATE_DIFF = Method(
    "private_diff", "PrivateDiff", _TABLES, private_diff.run, differences, private_diff.calibrated, Clipped
)
DP_SGDA = Method(
    "dp_sgda", "DP-SGDA", Cite("yang2022", "Algorithm 1"), dp_sgda.run, descent_ascent, dp_sgda.calibrated, Clipped
)
METHODS = (DP_SPIDER, STO_SPIDER, ADA_DP_SPIDER, PRIVATE_DIFF, DP_SGDA)
