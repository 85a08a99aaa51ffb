"""Problems whose functions are a little off, each call by itself: what rounding inside a problem does to a run.

A difference of two gradients loses what both have in common, so moving the records, which moves both gradients alike,
does not show what rounding does to it.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any

import numpy as np

from dpassay.reference.problems.finite_sum import Convex, FiniteSum

FUNCTIONS = (
    "value", "gradient", "hessian", "hessian_vector", "values", "gradients", "hessians", "rows", "mean_operator",
    "gradients_x", "gradients_y", "value_gradients", "losses", "loss_gradients", "eta_gradients", "x_gradients",
    "inner_values", "inner_x_gradients", "inner_temperature_gradients",
)  # fmt: skip


class Jitter:
    """Relative amounts for every number that a function of a problem returns; ``largest`` is the largest of them.

    Args:
        size: of the relative amounts, at most.
        seed: of their draws.
    """

    def __init__(self, size: float, seed: int):
        self._size, self._rng = size, np.random.default_rng(seed)
        self.largest = 0.0

    def __call__(self, value: Any) -> Any:
        """The value, a little off."""
        if isinstance(value, float | np.ndarray):
            found = np.asarray(value, dtype=float)
            with np.errstate(invalid="ignore"):
                self.largest = max(self.largest, float(np.max(np.abs(found), initial=0.0)))
                moved = found * (1 + self._size * self._rng.uniform(-1, 1, found.shape))
            return moved if isinstance(value, np.ndarray) else float(moved)
        return value

    def on(self, problem: Any) -> Any:
        """The problem itself, changed: its functions, and those of its parts, go through this. Give it a fresh one.

        Problems that a solver solves stay: a solver would look for the solution of a function that is never the same.
        """
        if is_dataclass(problem) and not isinstance(problem, type | FiniteSum | Convex):
            for field in fields(problem):
                self.on(getattr(problem, field.name))
            kind = type(problem)
            own = {
                name: self._through(getattr(kind, name)) for name in FUNCTIONS if callable(getattr(kind, name, None))
            }
            if own:
                object.__setattr__(problem, "__class__", type(kind.__name__, (kind,), own))
        return problem

    def _through(self, function: Any) -> Any:
        @wraps(function)
        def off(*positional: Any, **named: Any) -> Any:
            return self(function(*positional, **named))

        return off
