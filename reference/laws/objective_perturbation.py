"""The minimiser of a randomly perturbed objective: its exact density, by the change of variables of the proof."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import require_at_least, require_positive

from .law import Law

_STEPS = 200  # of Newton's method, with halved steps where the gradient does not shrink
_TINY = 1e-10  # size of the gradient that counts as zero, relative to the noise


@dataclass(frozen=True, eq=False)
class ObjectivePerturbation(Law):
    """``argmin F(w) + b.w`` with ``|b|`` Gamma(dimension, noise_scale) in a uniform direction (Chaudhuri et al. 2011).

    At the minimiser ``b = -grad F(w)``, so the density of w is that of b times ``|det Hessian of F(w)|``. F must be
    strongly convex: only then is there one minimiser for every b, and the map one-to-one.

    Args:
        gradient, hessian: of F (all of the data, regulariser included), functions of w with shape (dimension,).
        noise_scale: of the Gamma law; public.
    """

    gradient: Callable[[Array], Array]
    hessian: Callable[[Array], Array]
    dimension: int
    noise_scale: float
    form = (("dimension", lambda law: law.dimension),)
    public = ("noise_scale",)

    def __post_init__(self) -> None:
        require_at_least(1, self, "dimension")
        require_positive(self, "noise_scale", finite=True)

    def sample(self, rng: np.random.Generator) -> Any:
        """Draw b, then minimise."""
        direction = rng.standard_normal(self.dimension)
        b = direction / np.linalg.norm(direction) * rng.gamma(self.dimension, self.noise_scale)
        return self.minimiser(b)

    def minimiser(self, b: Array) -> Array:
        """Of ``F(w) + b.w``, by Newton's method from zero."""
        w = np.zeros(self.dimension)
        slope = self.gradient(w) + b
        for _ in range(_STEPS):
            size = float(np.linalg.norm(slope))
            if size <= _TINY * self.noise_scale:
                break
            step, length = np.linalg.solve(self.hessian(w), slope), 1.0
            while length > 1e-12:
                new = self.gradient(w - length * step) + b
                if np.linalg.norm(new) < size:
                    break
                length /= 2
            else:
                break
            w, slope = w - length * step, new
        return w

    def log_density(self, value: Any) -> float:
        """Log density of the minimiser."""
        w = np.asarray(value, dtype=float)
        d = self.dimension
        size = float(np.linalg.norm(self.gradient(w)))
        sphere = math.log(2) + d / 2 * math.log(math.pi) - math.lgamma(d / 2)
        radial = -size / self.noise_scale - d * math.log(self.noise_scale) - math.lgamma(d)
        sign, log_volume = np.linalg.slogdet(self.hessian(w))
        return radial - sphere + float(log_volume) if sign > 0 else -math.inf
