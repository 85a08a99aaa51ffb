"""Where the claims of ``dro`` must hold: any finite records where the algorithm clips, small and awkward sizes.

Batches of 1, batches and refreshes on all records or fewer, T = 1, T that is no multiple of q, q beyond T. The noise of
a repaired schedule depends on these sizes alone, so it is made once for all divergences and dimensions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from dpassay.reference.arrays import Array, Indices
from dpassay.reference.problems.interfaces import OfRecords
from dpassay.reference.space import Rows, Sizes, Space, by_sizes, the_numbers

from . import double_spider, recursive_spider, single_sample
from .constants import Plan
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
LONG = {"n": (2, 5), "d": (1, 3), "steps": (1, 3, 60), "phase": (2, 60), "batch": (2, 5), "refresh": (2, 5)}
TEMPERATURE_FLOOR = 0.05  # lambda_0
Landmarks = Callable[[Any], Mapping[str, Sequence[float]]]


@dataclass(frozen=True)
class _OfRows(OfRecords):
    """A loss of the rows of a matrix."""

    rows: Array

    def _chosen(self, indices: Indices | None) -> Array:
        return self.rows if indices is None else self.rows[indices]


@dataclass(frozen=True)
class Squares(_OfRows):
    """Losses (<a, x> - b)^2 / 2 of rows (a, b), shape (n, d + 1): never negative, as steep as the rows are long."""

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


def game(rows: Array, sizes: Sizes) -> MinimaxProblem:
    """Eq. (2)."""
    return MinimaxProblem(Squares(rows))


def within_assumptions(rows: Array, sizes: Sizes) -> DualObjective:
    """Eq. (3) of losses that keep to its assumptions; nothing keeps eta bounded, as they ask too."""
    return DualObjective(Waves(rows, sizes["d"]), chi_square(), 1.0)


def of_plans(
    problem: Callable[[Array, Sizes], Any], schedule: Callable[[Plan], Any], landmarks: Landmarks | None = None,
    rows: Rows = ANY, sizes: Mapping[str, Sequence[int]] = SIZES, fits: Callable[[Sizes], bool] = fits,
) -> Space:  # fmt: skip
    """Of an algorithm whose schedule, for a shape of a run, is made once."""
    kept = lru_cache(maxsize=512)(schedule)
    return Space(rows, sizes, problem, lambda sizes: kept(plan(sizes)), fits, landmarks)


def on_all(sizes: Sizes) -> bool:
    """No batch leaves a record out."""
    return sizes["batch"] == sizes["refresh"] == sizes["n"]


def value_alone(make: Callable[[int, int], single_sample.Schedule]) -> Space:
    """Line 16 alone: one number a record, any finite one."""
    schedule = by_sizes(lambda sizes: make(sizes["n"], sizes["steps"]))
    return Space(Rows(1, None), {"n": (1, 2, 3, 8), "steps": (1, 2, 4)}, the_numbers, schedule)


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


def spider_landmarks(schedule: Any) -> dict[str, Sequence[float]]:
    """Where nothing moves, and where the threshold of the next difference reaches its cap."""
    at_cap = (0.0, schedule.difference_clip / (schedule.smoothness * schedule.step_size))
    return {"refresh": at_cap, "difference": at_cap}


def no_records(n: int) -> SampleLoss:
    """Of a problem that a schedule is made for: its noise depends on the sizes alone."""
    return Squares(np.zeros((n, 2)))
