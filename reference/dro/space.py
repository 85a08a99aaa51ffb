"""Where the claims of ``dro`` must hold: any finite records where the algorithm clips, small and awkward sizes.

Batches of 1, batches and refreshes on all records or fewer, T = 1, T that is no multiple of q, q beyond T. The noise of
a repaired schedule depends on these sizes alone, so it is made once for all divergences and dimensions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np

from dpassay.reference.arrays import Array, Indices
from dpassay.reference.space import Rows, Sizes, Space, by_sizes, the_numbers

from . import composite_sgd, composite_spider, double_spider, private_diff, recursive_spider, sgda, single_sample
from .constants import Constants, Plan
from .divergences import Divergence, chi_square
from .minimax_form import MinimaxProblem
from .objective import CompositionalObjective, DualObjective, SampleLoss

SHAPES = (  # n, T, q, batch, records a refresh: few of them, because noise for sampled batches takes a second to make
    (2, 1, 1, 2, 2),
    (2, 1, 1, 1, 1),
    (2, 3, 2, 2, 2),
    (3, 3, 1, 3, 3),
    (3, 5, 2, 1, 3),
    (3, 2, 3, 2, 2),
    (5, 5, 3, 5, 5),
    (5, 5, 3, 2, 5),
)
NAMES = ("n", "steps", "phase", "batch", "refresh")
SIZES: Mapping[str, Sequence[int]] = {
    "d": (1, 3),
    **{name: tuple(sorted(set(values))) for name, values in zip(NAMES, zip(*SHAPES, strict=True), strict=True)},
}
ANY = Rows(bound=None, labels=(1.0, -1.0, 0.0, 1e3))  # the algorithm clips; a target of 1000 makes exp(loss) infinite
TEMPERATURE_FLOOR = 0.05  # lambda_0


@dataclass(frozen=True)
class _OfRows:
    """A loss of the rows of a matrix."""

    rows: Array

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.rows)

    def _chosen(self, indices: Indices | None) -> Array:
        return self.rows if indices is None else self.rows[indices]


@dataclass(frozen=True)
class Squares(_OfRows):
    """Losses (<a, x> - b)^2 / 2 of rows (a, b), shape (n, d + 1): never negative, as steep as the rows are long."""

    DERIVED: ClassVar[tuple[str, ...]] = ("n", "d")

    @property
    def d(self) -> int:
        """Number of model parameters."""
        return int(self.rows.shape[1]) - 1

    def losses(self, parameters: Array, indices: Indices | None = None) -> Array:
        """Loss of each selected record, shape (b,)."""
        return np.asarray(0.5 * self._residuals(parameters, indices) ** 2)

    def loss_gradients(self, parameters: Array, indices: Indices | None = None) -> Array:
        """Gradient of each selected record, shape (b, d)."""
        return np.asarray(self._residuals(parameters, indices)[:, None] * self._chosen(indices)[:, :-1])

    def _residuals(self, parameters: Array, indices: Indices | None) -> Array:
        chosen = self._chosen(indices)
        return np.asarray(chosen[:, :-1] @ parameters - chosen[:, -1])


@dataclass(frozen=True)
class Waves(_OfRows):
    """Losses (1 + a sin(2 x_1) + b cos(2 x_1)) / 2 of rows (a, b) in the unit disc, shape (n, 2).

    They keep to the assumptions of the paper: in [0, 1], steep by 1 at most (G = 1), curved by 2 at most (L = 2).
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("n",)

    d: int

    def losses(self, parameters: Array, indices: Indices | None = None) -> Array:
        """Loss of each selected record, shape (b,)."""
        sine, cosine = np.sin(2 * parameters[0]), np.cos(2 * parameters[0])
        return np.asarray(0.5 * (1 + self._chosen(indices) @ np.array([sine, cosine])))

    def loss_gradients(self, parameters: Array, indices: Indices | None = None) -> Array:
        """Gradient of each selected record, shape (b, d)."""
        sine, cosine = np.sin(2 * parameters[0]), np.cos(2 * parameters[0])
        found = np.zeros((len(self._chosen(indices)), self.d))
        found[:, 0] = self._chosen(indices) @ np.array([cosine, -sine])
        return found


def fits(sizes: Sizes) -> bool:
    """One of the shapes."""
    return tuple(sizes[name] for name in NAMES) in SHAPES


def plan(sizes: Sizes) -> Plan:
    """The shape of a run of these sizes."""
    return Plan(sizes["n"], sizes["steps"], sizes["phase"], sizes["batch"], sizes["refresh"])


def dual(divergence: Divergence, rows: Array, sizes: Sizes) -> DualObjective:
    """Eq. (3) with lambda = G = 1."""
    return DualObjective(Squares(rows), divergence, 1.0)


def composed(rows: Array, sizes: Sizes) -> CompositionalObjective:
    """Eq. (5)."""
    return CompositionalObjective(Squares(rows), floor=TEMPERATURE_FLOOR)


def double_printed(epsilon: float, delta: float, divergence: Divergence) -> Space:
    """Algorithm 2 as printed."""

    def schedule(sizes: Sizes) -> double_spider.Schedule:
        return replace(double_spider.printed(plan(sizes), Constants(), epsilon, delta), start_eta=0.5)

    return Space(ANY, SIZES, partial(dual, divergence), schedule, fits, double_landmarks)


def double_assumptions(epsilon: float, delta: float, clip: float, start_eta: float) -> Space:
    """Algorithm 2 as printed on losses that keep to its assumptions; nothing keeps eta bounded, as they ask too."""

    def schedule(sizes: Sizes) -> double_spider.Schedule:
        made = double_spider.printed(plan(sizes), Constants(smoothness=2.0), epsilon, delta, clip=clip)
        return replace(made, start_eta=start_eta)

    return Space(
        Rows(2, 1.0), SIZES, lambda rows, sizes: DualObjective(Waves(rows, sizes["d"]), chi_square(), 1.0), schedule,
        fits, double_landmarks,
    )  # fmt: skip


def double_each_clipped(epsilon: float, delta: float, clip: float, constant: float) -> Space:
    """Algorithm 2, charitable: every record clipped, c larger than 1."""

    def schedule(sizes: Sizes) -> double_spider.Schedule:
        made = double_spider.printed(plan(sizes), Constants(), epsilon, delta, clip=clip, constant=constant)
        return replace(made, clip_mode="each")

    sizes = {"n": (2, 5), "d": (1, 3), "steps": (1, 3, 60), "phase": (2, 60), "batch": (2, 5), "refresh": (2, 5)}
    return Space(
        ANY, sizes, partial(dual, chi_square()), schedule,
        lambda one: one["batch"] == one["refresh"] == one["n"], double_landmarks,
    )  # fmt: skip


def double_repaired(epsilon: float, delta: float, divergence: Divergence, clip: float, start_eta: float) -> Space:
    """Algorithm 2 repaired: clipping alone bounds the sensitivity, whatever the divergence."""

    def schedule(sizes: Sizes) -> double_spider.Schedule:
        return replace(_double_repaired(plan(sizes), epsilon, delta, clip), start_eta=start_eta)

    return Space(ANY, SIZES, partial(dual, divergence), schedule, fits, double_landmarks)


@lru_cache(maxsize=512)  # for all divergences
def _double_repaired(shape: Plan, epsilon: float, delta: float, clip: float) -> double_spider.Schedule:
    template = DualObjective(_no_records(shape.n), chi_square(), 1.0)
    return double_spider.repaired(template, shape, Constants(), epsilon, delta, clip=clip)


def recursive(
    reading: str, epsilon: float, delta: float, lines: recursive_spider.Lines, value_batch: int | None = None
) -> Space:
    """Algorithm 3 as printed, or a variant of its lines; repaired: s over a batch, or over one record."""

    def schedule(shape: Plan) -> recursive_spider.Schedule:
        if reading == "printed":
            return recursive_spider.printed(shape, epsilon, delta, lines=lines, step=0.05)
        template = CompositionalObjective(_no_records(shape.n), floor=TEMPERATURE_FLOOR)
        return recursive_spider.repaired(template, shape, epsilon, delta, lines=lines, value_batch=value_batch)

    return Space(ANY, SIZES, composed, _by_plan(schedule), fits, recursive_landmarks)


def value_alone(reading: str, epsilon: float, delta: float) -> Space:
    """Line 16 alone: one number a record, any finite one."""
    make = single_sample.printed if reading == "printed" else single_sample.repaired
    schedule = by_sizes(lambda sizes: make(sizes["n"], sizes["steps"], epsilon, delta))
    return Space(Rows(1, None), {"n": (1, 2, 3, 8), "steps": (1, 2, 4)}, the_numbers, schedule)


def composite(spider: bool, epsilon: float, delta: float, clip: float) -> Space:
    """DP-SGD and DP-SPIDER on z = (x, eta)."""

    method, landmarks = (composite_spider, _spider_landmarks) if spider else (composite_sgd, None)

    def schedule(shape: Plan) -> Any:
        return method.calibrated(shape, epsilon, delta, clip=clip)

    return Space(ANY, SIZES, partial(dual, chi_square()), _by_plan(schedule), fits, landmarks)


def minimax(differences: bool, epsilon: float, delta: float, clip: float) -> Space:
    """DP-SGDA and PrivateDiff Minimax on eq. (2): losses are clipped at 1, gradients at ``clip``."""

    def schedule(shape: Plan) -> Any:
        if differences:
            return private_diff.calibrated(shape, epsilon, delta, ascents=2, loss_clip=1.0, clip=clip)
        return sgda.calibrated(shape, epsilon, delta, loss_clip=1.0, clip=clip)

    return Space(ANY, SIZES, lambda rows, sizes: MinimaxProblem(Squares(rows)), _by_plan(schedule), fits)


def _by_plan(schedule: Callable[[Plan], Any]) -> Callable[[Sizes], Any]:
    """Made once for each shape of a run."""
    kept = lru_cache(maxsize=512)(schedule)
    return lambda sizes: kept(plan(sizes))


def double_landmarks(schedule: double_spider.Schedule) -> dict[str, Sequence[float]]:
    """Where nothing moves, where beta_t is capped, and where C_2 reaches its cap."""
    capped = schedule.move_cap / schedule.x_step
    threshold, move = schedule.eta_threshold, 2.0 * schedule.eta_threshold.per_eta * schedule.eta_step
    at_cap = (0.0, threshold.cap / move) if np.isfinite(threshold.cap) else (0.0,)
    return {"x/refresh": (0.0, capped), "x/difference": (0.0, capped), "eta/refresh": at_cap, "eta/difference": at_cap}


def recursive_landmarks(schedule: recursive_spider.Schedule) -> dict[str, Sequence[float]]:
    """Where nothing moves, s falls below 1, lambda reaches its floor, a threshold its cap."""
    to_floor = (schedule.start_temperature - TEMPERATURE_FLOOR) / schedule.step
    to_cap = schedule.clip / (schedule.smoothness * schedule.step)
    gradients = {label: (0.0, to_floor, to_cap) for label in recursive_spider.LABELS if label != "value"}
    return {**gradients, "value": (schedule.momentum, 1.0, schedule.value_clip)}


def _spider_landmarks(schedule: Any) -> dict[str, Sequence[float]]:
    """Where nothing moves, and where the threshold of the next difference reaches its cap."""
    at_cap = (0.0, schedule.difference_clip / (schedule.smoothness * schedule.step_size))
    return {"refresh": at_cap, "difference": at_cap}


def _no_records(n: int) -> SampleLoss:
    return Squares(np.zeros((n, 2)))
