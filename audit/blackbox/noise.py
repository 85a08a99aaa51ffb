"""Would noise that is too small have been seen? For mechanisms that add Gaussian or Laplace noise to an answer.

The user declares the noise, or it is recognised: every column looks like an answer of its side plus noise of one scale
on both. Then outputs of the same answers with noise K times smaller are drawn and audited in the same way. They break
the claim if the audited mechanism spends it; what is simulated is said.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import kolmogorov, ndtr

from dpassay.audit.bounds import clopper_pearson_lower
from dpassay.audit.results import ClaimTest, Verdict
from dpassay.audit.verdict import POWER_SHOWN
from dpassay.reference.guarantee import Guarantee
from dpassay.reference.types import Array

from .detect import audit_outputs
from .table import to_table

NOISES = ("gaussian", "laplace")
ROWS, WIDEST = 4000, 64  # outputs a side, and columns, by which noise is recognised
_FAR = 1e150  # squares of larger numbers overflow
DOUBT = 1e-3  # p-value below which a side does not look like this noise (in no column)
SAME_SCALE = 0.15  # relative difference of the scales that is still the same noise
REPETITIONS, MISSES, MOST_OUTPUTS = 24, 1, 20_000
ENOUGH = 14  # simulations that all refute show a power of 0.8 at 95 %


@dataclass(frozen=True)
class Additive:
    """An answer of each side, shape (columns,), and the scale of its noise."""

    noise: str
    answers: tuple[Array, Array]
    scales: Array
    declared: bool

    def draw(self, side: int, size: int, smaller: float, rng: np.random.Generator) -> Array:
        """Outputs with noise so many times smaller."""
        shape = (size, self.scales.size)
        noise = rng.normal(size=shape) if self.noise == "gaussian" else rng.laplace(size=shape)
        return np.asarray(self.answers[side] + noise * self.scales / smaller)


@dataclass(frozen=True)
class Planted:
    """A planted violation that was refuted in `refuted` of `tried` simulations, with so many outputs a side."""

    refuted: int
    tried: int
    outputs: int

    @property
    def at_least(self) -> float:
        """Clopper-Pearson lower limit of the power at 95 %."""
        return power_at_least(self.refuted, self.tried)


@dataclass(frozen=True)
class NoisePower(Planted):
    """What was planted is noise `smaller` times too small."""

    noise: str
    smaller: float

    @property
    def statement(self) -> str:
        """For a terminal."""
        return (
            f"Planted: {self.noise} noise {self.smaller:g} times smaller around the same answers was refuted in "
            f"{self.refuted} of {self.tried} simulations of {self.outputs:,} outputs a side "
            f"(power {self.at_least:.2f} or more)."
        )


def _fitted(noise: str, column: Array) -> tuple[float, float]:
    if noise == "gaussian":
        return float(column.mean()), float(column.std())
    centre = float(np.median(column))
    return centre, float(np.abs(column - centre).mean())


def _looks_like(noise: str, column: Array, centre: float, scale: float) -> bool:
    """By the largest distance of the distribution functions (Kolmogorov), at `DOUBT`."""
    if scale <= 0:
        return False
    units = (np.sort(column) - centre) / scale
    law = ndtr(units) if noise == "gaussian" else 0.5 + 0.5 * np.sign(units) * -np.expm1(-np.abs(units))
    steps = np.arange(column.size + 1) / column.size
    distance = float(np.maximum(law - steps[:-1], steps[1:] - law).max())
    return float(kolmogorov(np.sqrt(column.size) * distance)) > DOUBT


def recognised(outputs_p: Any, outputs_q: Any, declared: str | None = None) -> Additive | None:
    """The noise around the answers, as declared or as it looks; None for everything else."""
    p, q = to_table(outputs_p, outputs_q)
    finite = bool(np.isfinite(p).all() and np.isfinite(q).all())
    if not finite or p.shape[1] > WIDEST or min(len(p), len(q)) < 100:
        return None
    if max(np.abs(p).max(), np.abs(q).max()) > _FAR:
        return None
    for noise in (declared,) if declared else NOISES:
        fits = [[_fitted(noise, side[:, j]) for j in range(p.shape[1])] for side in (p, q)]
        centres, scales = (np.array([[fit[part] for fit in side] for side in fits]) for part in (0, 1))
        alike = bool((np.abs(scales[0] - scales[1]) <= SAME_SCALE * scales.max(axis=0)).all())
        sides = ((p[:ROWS], 0), (q[:ROWS], 1))
        if declared or (
            alike
            and all(
                _looks_like(noise, side[:, j], centres[i, j], scales[i, j])
                for side, i in sides
                for j in range(p.shape[1])
            )
        ):
            return Additive(noise, (centres[0], centres[1]), scales.mean(axis=0), declared is not None)
    return None


def noise_power(
    found: Additive, sizes: tuple[int, int], claim: Guarantee, confidence: float, smaller: float, seed: int
) -> NoisePower:
    """Audits of simulated outputs, until the power is shown or cannot be."""
    few = tuple(min(size, MOST_OUTPUTS) for size in sizes)

    def audit(rng: np.random.Generator) -> ClaimTest:
        p, q = (found.draw(side, few[side], smaller, rng) for side in (0, 1))
        return audit_outputs(p, q, claim, rng, confidence)

    return NoisePower(*repeated(audit, seed), min(few), found.noise, smaller)


def repeated(audit: Callable[[np.random.Generator], ClaimTest], seed: int) -> tuple[int, int]:
    """How many simulations were refuted, and how many there were: until the power is shown, or cannot be."""
    rng, refuted, tried = np.random.default_rng([seed, 67]), 0, 0
    while tried < REPETITIONS and tried - refuted <= MISSES:
        refuted, tried = refuted + (audit(rng).verdict is Verdict.VIOLATED), tried + 1
        if tried >= ENOUGH and power_at_least(refuted, tried) >= POWER_SHOWN:
            break
    return refuted, tried


def power_at_least(refuted: int, tried: int) -> float:
    """Clopper-Pearson lower limit of the power at 95 %; 0 where nothing was tried."""
    return float(clopper_pearson_lower(refuted, tried, 0.05)) if tried else 0.0
