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
from dpassay.reference.baselines.protocols import Clipped, Primal, schedule_of
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


@dataclass(frozen=True)
class Method:
    """A method of the tables: its file (run, schedule, calibration), and how it sees a minimax problem."""

    title: str
    cite: Cite
    file: Any
    view: Callable[[Any], Any]

    @property
    def name(self) -> str:
        """That of its file."""
        return str(self.file.__name__).rpartition(".")[2]

    def plain(self, s: Sizes, noise: Multipliers) -> Any:
        """The schedule for these numbers: one clip, and one batch for x and for y."""
        known = {**vars(s), "noise": noise, "step_size": s.step_x, "alternating": False}
        known |= dict.fromkeys(("difference_clip", "clip_x", "clip_y"), s.clip)
        known |= dict.fromkeys(("batch_x", "batch_y"), s.step_batch)
        return schedule_of(self.file, known)

    def schedule(self, sizes: Sizes, noise: Noise, epsilon: float, delta: float) -> Any:
        """With noise by advanced composition ("described") or exact."""
        one = Multipliers(dict.fromkeys(("refresh", "difference", "x", "y"), 1.0))
        schedule = self.plain(sizes, one)
        if noise == "exact":
            return self.file.calibrated(schedule, epsilon, delta)
        dry = sto_spider.costliest(schedule) if isinstance(schedule, sto_spider.Schedule) else schedule
        multiplier = described_multiplier(partial(_seen, self.file.run, self.view), dry, sizes.n, epsilon, delta)
        return replace(schedule, noise=one.scaled(multiplier))


def _seen(run: Callable[..., Any], view: Callable[[Any], Any], problem: Any, schedule: Any, tape: Any) -> Any:
    return run(view(problem), schedule, tape)


_TABLES = Cite("minimax_sosp", "Tables 1 and 2")
DP_SPIDER = Method("DP-SPIDER", Cite("arora2023", "Algorithm 1"), dp_spider, Primal)
STO_SPIDER = Method("Sto-SPIDER", _TABLES, sto_spider, Primal)
ADA_DP_SPIDER = Method("Ada-DP-SPIDER", _TABLES, ada_dp_spider, Primal)
PRIVATE_DIFF = Method("PrivateDiff", _TABLES, private_diff, Clipped)
DP_SGDA = Method("DP-SGDA", Cite("yang2022", "Algorithm 1"), dp_sgda, Clipped)
METHODS = (DP_SPIDER, STO_SPIDER, ADA_DP_SPIDER, PRIVATE_DIFF, DP_SGDA)
