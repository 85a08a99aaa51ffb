"""Training runs for the membership-inference experiment (paper ``dro``, Section 5): method, reading, budget -> model.

The schedules share what the paper states (KL divergence, batch 128, delta = n^-1.1) and settings that were chosen once
on digits without privacy accounting for the choice: T, q, steps and thresholds below. The last iterate is what is
attacked. ``lambda_0`` is 0.5 here: with the paper's 1e-3 the inner function exp(loss / lambda) leaves double precision
as soon as a loss exceeds 0.71 (ten classes start at log 10 = 2.3).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import require
from dpassay.reference.problems.models import ClassificationLoss
from dpassay.reference.tape import LiveTape

from . import composite_sgd, composite_spider, double_spider, private_diff, recursive_spider, scdro, sgda
from .constants import Constants, Plan
from .divergences import kl
from .minimax_form import MinimaxProblem
from .objective import CompositionalObjective, DualObjective
from .recursive_spider import AS_PRINTED, DIFFERENCES_ADDED, Lines

BATCH, STEPS, PHASE = 128, 40, 5
FLOOR = 0.5  # lambda_0
LARGEST_TEMPERATURE = 10.0  # without a cap, noise in u makes lambda, and x with it, grow geometrically
CLIP = 2.0


@dataclass(frozen=True)
class Setting:
    """One training run: the data with its loss, the claim, the starting point, the seed of the tape."""

    loss: ClassificationLoss
    epsilon: float
    delta: float
    start: Array
    seed: int

    @property
    def plan(self) -> Plan:
        """T, q and batches of every private method."""
        return Plan(self.loss.n, STEPS, PHASE, min(BATCH, self.loss.n))

    @property
    def log_classes(self) -> float:
        """Loss of the uninformed prediction, where the dual variable starts."""
        return float(np.log(self.loss.probabilities(self.start, self.loss.features[:1]).shape[1]))

    @property
    def dual(self) -> DualObjective:
        """Eq. (3) with the KL divergence."""
        return DualObjective(self.loss, kl(), 1.0)

    @property
    def composed(self) -> CompositionalObjective:
        """Eq. (5), rho = 0.5 as in Section 5.1."""
        return CompositionalObjective(self.loss, 0.5, FLOOR)


def _double(setting: Setting, repaired: bool) -> Array:
    claim = (setting.epsilon, setting.delta)
    if repaired:
        schedule = double_spider.repaired(setting.dual, setting.plan, Constants(), *claim, clip=CLIP, eta_clip=0.5)
    else:
        schedule = double_spider.printed(setting.plan, Constants(), *claim, clip=CLIP)
    schedule = replace(schedule, x_step=0.3, eta_step=0.2, move_cap=2.0)
    schedule = replace(schedule, start_x=setting.start, start_eta=setting.log_classes, last=True)
    return double_spider.run(setting.dual, schedule, LiveTape(setting.seed)).x


def _recursive(setting: Setting, repaired: bool, lines: Lines = AS_PRINTED) -> Array:
    """``DIFFERENCES_ADDED``: charitably, lines 13-14 as the proof uses them, a refresh first, the printed noise."""
    claim, threshold = (setting.epsilon, setting.delta), 5.0 * CLIP
    if repaired:
        schedule = recursive_spider.repaired(
            setting.composed, setting.plan, *claim, clip=threshold, smoothness=20.0, value_clip=20.0, step=1.0
        )
    else:
        schedule = recursive_spider.printed(
            setting.plan, *claim, lines=lines, lipschitz=threshold, smoothness=20.0, value_clip=20.0, step=1.0
        )
    schedule = replace(schedule, start_x=setting.start, largest_temperature=LARGEST_TEMPERATURE, last=True)
    return recursive_spider.run(setting.composed, schedule, LiveTape(setting.seed)).x


def _composite(setting: Setting, method: Any, step: float) -> Array:
    """On z = (x, eta)."""
    schedule = method.calibrated(setting.plan, setting.epsilon, setting.delta, clip=CLIP, step=step)
    start = np.append(setting.start, setting.log_classes)
    found: Array = method.run(setting.dual, replace(schedule, start=start), LiveTape(setting.seed))
    return found[:-1]


def _minimax(setting: Setting, method: Any) -> Array:
    """On eq. (2)."""
    problem = MinimaxProblem(setting.loss)
    schedule = method.calibrated(setting.plan, setting.epsilon, setting.delta, clip=CLIP, x_step=0.3)
    started = replace(schedule, start=(setting.start, problem.begin()[1]))
    found: Array = method.run(problem, started, LiveTape(setting.seed))
    return found


def _non_private(setting: Setting) -> Array:
    size = min(BATCH, setting.loss.n)
    schedule = scdro.Schedule(600, size, step=0.2, momentum=0.9, start_x=setting.start, longest_move=0.3)
    return scdro.run(setting.composed, schedule, LiveTape(setting.seed))[0]


METHODS: dict[str, Callable[[Setting], Array]] = {
    "Double-SPIDER, printed": lambda setting: _double(setting, False),
    "Double-SPIDER, repaired": lambda setting: _double(setting, True),
    "Recursive-SPIDER, printed": lambda setting: _recursive(setting, False),
    "Recursive-SPIDER, printed, differences added": lambda setting: _recursive(setting, False, DIFFERENCES_ADDED),
    "Recursive-SPIDER, repaired": lambda setting: _recursive(setting, True),
    "DP-SGD on z": lambda setting: _composite(setting, composite_sgd, 1.0),
    "DP-SPIDER on z": lambda setting: _composite(setting, composite_spider, 0.3),
    "DP-SGDA": lambda setting: _minimax(setting, sgda),
    "PrivateDiff": lambda setting: _minimax(setting, private_diff),
    "non-private": _non_private,
}
REPAIRED = ("Double-SPIDER, repaired", "Recursive-SPIDER, repaired")
MAIN = tuple(METHODS)[:5]  # the paper's own two, in every reading


def train(method: str, setting: Setting) -> Array:
    """Model parameters, shape (d,)."""
    require(method in METHODS, "method", method, f"must be one of {', '.join(METHODS)}")
    return METHODS[method](setting)
