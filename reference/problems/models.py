"""Two classifiers in plain numpy with vectorised per-sample gradients: no autograd, no loops over samples.

Parameters are flat vectors (d,), so that clipping, noise and updates need no structure. A model is a shape
description; :class:`ClassificationLoss` binds it to a dataset and provides ``losses`` and ``loss_gradients``.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy

from dpassay.reference.arrays import Array, Indices
from dpassay.reference.errors import require


class Model(Protocol):
    """A classifier with a flat parameter vector."""

    @property
    def d(self) -> int:
        """Number of parameters."""

    def scores(self, parameters: Array, features: Array) -> Array:
        """Logits, shape (b, classes)."""

    def gradients(self, parameters: Array, features: Array, labels: Indices) -> Array:
        """Per-sample gradient of the cross-entropy, shape (b, d)."""

    def initial(self, rng: np.random.Generator) -> Array:
        """A data-independent starting point, shape (d,)."""


@dataclass(frozen=True)
class SoftmaxRegression:
    """Multinomial logistic regression: logits = features @ W + b, parameters (W row by row, then b)."""

    features: int
    classes: int

    @property
    def d(self) -> int:
        """Number of parameters, (features + 1) * classes."""
        return (self.features + 1) * self.classes

    def scores(self, parameters: Array, features: Array) -> Array:
        """Logits, shape (b, classes)."""
        weights = parameters[: self.features * self.classes].reshape(self.features, self.classes)
        return np.asarray(features @ weights + parameters[self.features * self.classes :])

    def gradients(self, parameters: Array, features: Array, labels: Indices) -> Array:
        """Outer products of each feature vector with its residual, shape (b, d)."""
        residual = _residual(self.scores(parameters, features), labels)
        in_weights = np.einsum("bf,bc->bfc", features, residual).reshape(len(labels), -1)
        return np.concatenate([in_weights, residual], axis=1)

    def initial(self, rng: np.random.Generator) -> Array:
        """Zeros: the problem is convex."""
        return np.zeros(self.d)


@dataclass(frozen=True)
class TwoLayerNetwork:
    """features -> tanh(hidden) -> classes, parameters (W1, b1, W2, b2) flattened in that order."""

    features: int
    hidden: int
    classes: int

    @property
    def d(self) -> int:
        """Number of parameters."""
        return (self.features + 1) * self.hidden + (self.hidden + 1) * self.classes

    def _split(self, parameters: Array) -> tuple[Array, Array, Array, Array]:
        first, second = self.features * self.hidden, self.hidden * self.classes
        ends = np.cumsum([first, self.hidden, second])
        w1, b1, w2, b2 = np.split(parameters, ends)
        return w1.reshape(self.features, self.hidden), b1, w2.reshape(self.hidden, self.classes), b2

    def scores(self, parameters: Array, features: Array) -> Array:
        """Logits, shape (b, classes)."""
        w1, b1, w2, b2 = self._split(parameters)
        return np.asarray(np.tanh(features @ w1 + b1) @ w2 + b2)

    def gradients(self, parameters: Array, features: Array, labels: Indices) -> Array:
        """Back-propagation for all samples at once, shape (b, d)."""
        w1, b1, w2, b2 = self._split(parameters)
        hidden = np.tanh(features @ w1 + b1)
        residual = _residual(hidden @ w2 + b2, labels)
        back = (residual @ w2.T) * (1.0 - hidden**2)
        rows = len(labels)
        in_w1 = np.einsum("bf,bh->bfh", features, back).reshape(rows, -1)
        in_w2 = np.einsum("bh,bc->bhc", hidden, residual).reshape(rows, -1)
        return np.concatenate([in_w1, back, in_w2, residual], axis=1)

    def initial(self, rng: np.random.Generator) -> Array:
        """Gaussian weights with variance ``1 / fan_in``, zero offsets."""
        w1 = rng.normal(size=self.features * self.hidden) / np.sqrt(self.features)
        w2 = rng.normal(size=self.hidden * self.classes) / np.sqrt(self.hidden)
        return np.concatenate([w1, np.zeros(self.hidden), w2, np.zeros(self.classes)])


@dataclass(frozen=True)
class ClassificationLoss:
    """Cross-entropy of ``model`` on (features, labels): shapes (n, f) and (n,). Implements ``SampleLoss``."""

    model: Model
    features: Array
    labels: Indices

    def __post_init__(self) -> None:
        require(self.features.ndim == 2, "features", self.features.shape, "must have shape (n, f)")
        require(self.labels.shape == (len(self.features),), "labels", self.labels.shape, "must have shape (n,)")
        require(bool(np.isfinite(self.features).all()), "features", "nan or inf", "must be finite")

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.labels)

    @property
    def d(self) -> int:
        """Number of parameters."""
        return self.model.d

    def _rows(self, indices: Indices | None) -> tuple[Array, Indices]:
        return (self.features, self.labels) if indices is None else (self.features[indices], self.labels[indices])

    def losses(self, parameters: Array, indices: Indices | None = None) -> Array:
        """Cross-entropy of each selected record, shape (b,), never negative."""
        features, labels = self._rows(indices)
        logs = scipy.special.log_softmax(self.model.scores(parameters, features), axis=1)
        return np.asarray(-logs[np.arange(len(labels)), labels])

    def loss_gradients(self, parameters: Array, indices: Indices | None = None) -> Array:
        """Gradient of each selected record's cross-entropy, shape (b, d)."""
        features, labels = self._rows(indices)
        return self.model.gradients(parameters, features, labels)

    def probabilities(self, parameters: Array, features: Array | None = None) -> Array:
        """Predicted class probabilities, shape (b, classes)."""
        scores = self.model.scores(parameters, self.features if features is None else features)
        return np.asarray(scipy.special.softmax(scores, axis=1))


def _residual(scores: Array, labels: Indices) -> Array:
    residual = np.asarray(scipy.special.softmax(scores, axis=1))
    residual[np.arange(len(labels)), labels] -= 1.0
    return residual
