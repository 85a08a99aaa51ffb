"""The two formulations that the algorithms minimise, with vectorised per-sample values and gradients: the objective
L(x, eta) of eq. (3) and the compositional KL objective Psi(x, lambda) of eq. (5).
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpassay.reference.arrays import Array, Indices
from dpassay.reference.errors import require, require_positive
from dpassay.reference.problems.interfaces import Seen, Sized

from .divergences import Divergence

LARGEST = 1e100  # of psi*' and of exp(loss / lambda) where they multiply gradients: squares stay finite
_HALVINGS = 100  # of the range of the losses: below one rounding unit


class SampleLoss(Sized, Protocol):
    """A dataset with a loss, all that the robust objectives need; ``indices`` selects records, rows follow it."""

    def losses(self, parameters: Array, indices: Indices | None = None) -> Array:
        """Loss of each selected record, shape (b,)."""
        ...

    def loss_gradients(self, parameters: Array, indices: Indices | None = None) -> Array:
        """Gradient of each selected record's loss, shape (b, d)."""
        ...


@dataclass(frozen=True)
class DualObjective(Seen):
    """L(x, eta) = weight * mean psi*((loss_i(x) - dual_scale * eta) / weight) + dual_scale * eta (eq. (3)).

    ``dual_scale`` is G in the rescaling L(x, eta) = L^(x, G eta) below eq. (3). The paper states the objective in three
    ways that agree only for G = 1 (below eq. (3); the mini-batch definition after Algorithm 2; the proof of Lemma 4).
    """

    data: SampleLoss
    divergence: Divergence
    weight: float  # lambda
    dual_scale: float = 1.0  # G

    def __post_init__(self) -> None:
        require_positive(self, "weight", "dual_scale")

    def _arguments(self, x: Array, eta: float, indices: Indices | None) -> Array:
        return (self.data.losses(x, indices) - self.dual_scale * eta) / self.weight

    def values(self, x: Array, eta: float, indices: Indices | None = None) -> Array:
        """L(x, eta; xi_i) of each selected record, shape (b,)."""
        conjugates = self.divergence.conjugate(self._arguments(x, eta, indices))
        return self.weight * conjugates + self.dual_scale * eta

    def _slopes(self, x: Array, eta: float, indices: Indices | None) -> Array:
        """psi*' of each selected record, capped: where it overflows, a clipped gradient keeps its direction."""
        with np.errstate(over="ignore"):
            slopes = self.divergence.conjugate_derivative(self._arguments(x, eta, indices))
        return np.minimum(slopes, LARGEST)

    def eta_gradients(self, x: Array, eta: float, indices: Indices | None = None) -> Array:
        """Derivative in eta of each selected record, shape (b,), with psi*' capped at 1e100."""
        return self.dual_scale * (1.0 - self._slopes(x, eta, indices))

    def x_gradients(self, x: Array, eta: float, indices: Indices | None = None) -> Array:
        """Gradient in x of each selected record, shape (b, d), with psi*' capped at 1e100."""
        return np.asarray(self._slopes(x, eta, indices)[:, None] * self.data.loss_gradients(x, indices))

    def value(self, x: Array, eta: float) -> float:
        """L(x, eta) over the whole dataset."""
        return float(np.mean(self.values(x, eta)))

    def best_eta(self, x: Array) -> float:
        """The minimiser of L(x, .): where mean psi*'((loss - dual_scale eta) / weight) crosses 1 (not private).

        The mean falls in eta and psi*'(0) = 1, so it crosses between the smallest and the largest loss; bisection
        needs nothing but its sign against 1, also where psi*' overflows.
        """
        losses = self.data.losses(x)
        low, high = float(losses.min()), float(losses.max())
        with np.errstate(over="ignore"):
            for _ in range(_HALVINGS):
                middle = 0.5 * (low + high)
                mean = float(np.mean(self.divergence.conjugate_derivative((losses - middle) / self.weight)))
                low, high = (middle, high) if mean > 1.0 else (low, middle)
        return high / self.dual_scale

    def gradient_norm(self, x: Array, eta: float) -> float:
        """Norm of the full gradient of L in (x, eta), the paper's utility measure."""
        in_x, in_eta = self.x_gradients(x, eta).mean(axis=0), self.eta_gradients(x, eta).mean()
        return float(np.hypot(np.linalg.norm(in_x), in_eta))


@dataclass(frozen=True)
class CompositionalObjective(Seen):
    """Psi(x, lambda) = lambda log(mean exp(loss_i(x) / lambda)) + lambda * radius (eq. (5)).

    f(g1, g2) = g1 log g2 + g1 radius with g = (lambda, mean exp(loss / lambda)); ``temperature`` is lambda,
    ``radius`` is rho, ``floor`` is lambda_0.
    """

    data: SampleLoss
    radius: float = 0.5  # rho
    floor: float = 1e-3  # lambda_0

    def __post_init__(self) -> None:
        require(self.floor > 0, "floor", self.floor, "must be positive: g divides by lambda")
        require(self.radius >= 0, "radius", self.radius, "must not be negative")

    def inner_values(self, x: Array, temperature: float, indices: Indices | None = None) -> Array:
        """g(w; xi_i) = exp(loss_i / lambda), shape (b,); ``inf`` where it overflows: clipping maps it to its bound."""
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(self.data.losses(x, indices) / temperature))

    def inner_x_gradients(self, x: Array, temperature: float, indices: Indices | None = None) -> Array:
        """Gradient in x of g(w; xi_i), shape (b, d), with exp(loss / lambda) capped at 1e100 (direction kept)."""
        scale = np.minimum(self.inner_values(x, temperature, indices), LARGEST) / temperature
        return np.asarray(scale[:, None] * self.data.loss_gradients(x, indices))

    def inner_temperature_gradients(self, x: Array, temperature: float, indices: Indices | None = None) -> Array:
        """Derivative in lambda of g(w; xi_i), -exp(loss / lambda) loss / lambda^2, shape (b,), capped likewise."""
        values = np.minimum(self.inner_values(x, temperature, indices), LARGEST)
        return np.asarray(-values * self.data.losses(x, indices) / temperature**2)
