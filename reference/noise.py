"""How much noise a release gets: one rule for all algorithms, ``std = multiplier[label] * sensitivity``.

A repaired schedule holds :class:`Multipliers`; the calibrator scales them. A printed schedule may hold the standard
deviations that the paper prints (:class:`Printed`), which follow no sensitivity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .errors import require


@dataclass(frozen=True)
class Multipliers:
    """Noise multipliers by label: ``std / sensitivity``, fixed before the run even where the sensitivity is not.

    Args:
        by_label: label of a release (or the name of a group of releases) to its noise multiplier, without unit.

    Raises:
        BadInput: a negative multiplier, or a label that has none.

    Example:
        >>> from dpassay.reference import Multipliers
        >>> noise = Multipliers({"gradient": 4.0, "hessian": 8.0})
        >>> noise.std("gradient", sensitivity=0.5), noise.scaled(2.0)["hessian"]
        (2.0, 16.0)

    Source: the noise multiplier of Abadi et al. 2016, one for each kind of release.
    """

    by_label: Mapping[str, float]

    def __post_init__(self) -> None:
        for label, value in self.by_label.items():
            require(value >= 0, f"noise_multiplier ({label})", value, "must not be negative")

    def std(self, label: str, sensitivity: float) -> float:
        """Multiplier times sensitivity: the noise of the releases called ``label`` (a group may share one name)."""
        return self[label] * sensitivity

    def __getitem__(self, label: str) -> float:
        require(label in self.by_label, "label", label, f"has no noise multiplier; known: {', '.join(self.by_label)}")
        return self.by_label[label]

    def scaled(self, factor: float) -> Multipliers:
        """Every multiplier times ``factor``."""
        return Multipliers({label: factor * value for label, value in self.by_label.items()})


@dataclass(frozen=True)
class Printed:
    """Standard deviations as a paper prints them, whatever the sensitivity of the query is."""

    by_label: Mapping[str, float]

    def std(self, label: str, sensitivity: float) -> float:
        """The printed number."""
        require(label in self.by_label, "label", label, f"has no printed noise; known: {', '.join(self.by_label)}")
        return self.by_label[label]


NoiseRule = Multipliers | Printed  # what an algorithm asks at the line that releases something
