"""Models under attack: anything that trains on (x, y) and then gives class probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dpassay.audit.inputs.foreign import foreign_code
from dpassay.reference.arrays import Array, Indices
from dpassay.reference.errors import BadInput, require
from dpassay.reference.problems.models import ClassificationLoss, Model
from dpassay.reference.tape import LiveTape, Tape


class Trained(Protocol):
    """A trained classifier."""

    def probabilities(self, x: Array) -> Array:
        """Class probabilities, shape (rows, classes)."""
        ...


class Trainer(Protocol):
    """Something that trains."""

    def fit(self, x: Array, y: Indices, rng: np.random.Generator) -> Trained:
        """Train on labelled rows; all randomness from `rng`."""
        ...


@dataclass(frozen=True)
class _SklearnModel:
    estimator: Any
    columns: Indices
    classes: int
    name: str

    def probabilities(self, x: Array) -> Array:
        with foreign_code("estimator", self.name):
            seen = np.asarray(self.estimator.predict_proba(x), dtype=float)
        good = seen.shape == (len(x), len(self.columns))
        require(good, "estimator", self.name, f"gives probabilities of shape {seen.shape}, not one for each class")
        require(not bool(np.isnan(seen).any()), "estimator", self.name, "gives NaN for a probability")
        found = np.zeros((len(x), self.classes))
        found[:, self.columns] = seen
        return found


@dataclass(frozen=True)
class SklearnTrainer:
    """Adapter for any scikit-learn estimator with `fit` and `predict_proba`; `make()` gives an untrained one.

    Labels are 0 .. classes - 1; a class that is missing in a training set gets probability 0. What the estimator cannot
    be trained on (no records, one class alone) is bad input: nothing is put in its place.
    """

    make: Callable[[], Any]
    classes: int

    def fit(self, x: Array, y: Indices, rng: np.random.Generator) -> Trained:
        """Train a fresh estimator; every `random_state`, its own and those of its parts, comes from `rng`.

        Raises:
            BadInput: labels that are no classes, or an estimator that fails on these records.
        """
        with foreign_code("estimator", getattr(self.make, "__name__", "estimator")):
            estimator = self.make()
        for method in ("fit", "predict_proba"):
            if not callable(getattr(estimator, method, None)):
                raise BadInput("make", type(estimator).__name__, f"the estimator has no {method}")
        known = np.unique(y)
        good = known.dtype.kind in "iu" and bool(np.isin(known, np.arange(self.classes)).all())
        require(good, "labels", known.tolist(), f"must be classes 0 .. {self.classes - 1}, as integers")
        name = f"{type(estimator).__name__} on {_said(len(x), known)}"
        with foreign_code("estimator", name):
            parameters: dict[str, Any] = getattr(estimator, "get_params", dict)()
            for key in sorted(key for key in parameters if key.rpartition("__")[2] == "random_state"):
                estimator.set_params(**{key: int(rng.integers(2**31))})
            estimator.fit(x, y)
            classes = np.asarray(estimator.classes_, dtype=np.int64)
        return _SklearnModel(estimator, classes, self.classes, name)


def _said(records: int, classes: Indices) -> str:
    if not records:
        return "0 records"
    return f"{records} records of " + (f"class {classes[0]}" if len(classes) == 1 else f"{len(classes)} classes")


class Samples:
    """A classification loss with the names that the algorithms of `reference` use, in parameters counted from `start`.

    Places `loss.n` to `size - 1` are empty: records that stayed out, with zero gradients, so that n is public.
    """

    def __init__(self, loss: ClassificationLoss, size: int | None = None, start: Array | None = None) -> None:
        self.loss, self.n, self.d = loss, loss.n if size is None else size, loss.d
        self.start = np.zeros(self.d) if start is None else start
        require(self.n >= loss.n, "size", self.n, f"must not be below the {loss.n} records")

    def gradients(self, w: Array, indices: Indices) -> Array:
        """Per-record gradients at `start + w`, shape (len(indices), d)."""
        found = np.zeros((len(indices), self.d))
        real = indices < self.loss.n
        found[real] = self.loss.loss_gradients(self.start + w, indices[real])
        return found


@dataclass(frozen=True)
class _NumpyModel:
    model: Model
    parameters: Array

    def probabilities(self, x: Array) -> Array:
        loss = ClassificationLoss(self.model, x, np.zeros(len(x), dtype=np.int64))
        return loss.probabilities(self.parameters)


@dataclass(frozen=True, eq=False)
class ReferenceTrainer:
    """A numpy model of `reference` trained by `run(problem, tape) -> parameters` (say, DP-SGD with its schedule).

    With a public `size`, records that stay out count as zero gradients; `start`: where training begins, shape (d,).
    """

    model: Model
    run: Callable[[Any, Tape], Array]
    size: int | None = None
    start: Array | None = None

    def fit(self, x: Array, y: Indices, rng: np.random.Generator) -> Trained:
        """Train on a live tape seeded from `rng`."""
        problem = Samples(ClassificationLoss(self.model, x, y), self.size, self.start)
        moved = self.run(problem, LiveTape(int(rng.integers(2**31))))
        return _NumpyModel(self.model, problem.start + moved)
