"""Ada-DP-SPIDER (named in minimax_sosp, Tables 1 and 2; reconstruction): Sto-SPIDER with a step drawn from a ball.

The drift rule is that of ``sto_spider``; at a small gradient x is perturbed uniformly within a ball, as in perturbed
gradient descent, and what it did shows after `frozen_steps`.
Guarantee: that of at most T releases of sensitivity 2 C / B. Cite: minimax_sosp, Tables 1 and 2.
"""

from dpassay.reference.baselines.protocols import Path
from dpassay.reference.problems.domains import uniform_ball
from dpassay.reference.problems.interfaces import PerSample
from dpassay.reference.tape import Tape

from . import sto_spider
from .sto_spider import COMPLETIONS, Schedule, calibrated

__all__ = ["COMPLETIONS", "Schedule", "calibrated", "run"]  # SCHEDULE, GRADIENT, CLIP and NOISE are those of sto_spider


def run(problem: PerSample, schedule: Schedule, tape: Tape) -> Path:
    """The last iterate, with the whole path."""
    # STEP
    return sto_spider.run(problem, schedule, tape, kick=uniform_ball)
