"""What comes out of a lockstep run: loss, weights, movements and findings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpassay.reference.findings import Finding
from dpassay.reference.types import Array


@dataclass(eq=False)
class Movement:
    """How far the pair moves the queries of one label, against what the algorithm claims they can move.

    ``joined`` is how far a record that joins a Poisson batch moves them: half of what is claimed must cover that.
    """

    moved: float = 0.0
    claimed: float | None = None
    joined: float = 0.0

    @property
    def share(self) -> float:
        """Moved distance over claimed sensitivity (0 where nothing is claimed)."""
        return self.moved / self.claimed if self.claimed else 0.0

    @property
    def needed(self) -> float:
        """What would have to be claimed, over what is."""
        return max(self.share, 2 * self.joined / self.claimed) if self.claimed else 0.0

    def with_other(self, other: Movement) -> Movement:
        """The larger of two, in each respect."""
        larger = max(other, self, key=lambda one: one.moved)
        return Movement(larger.moved, larger.claimed, max(self.joined, other.joined))


@dataclass(eq=False)
class LockstepRun:
    """What one lockstep run showed.

    ``loss`` is the exact privacy loss (``inf`` after a release without noise) of a run that was ``complete``;
    ``log_weights[c]`` is ``log dP_D / dR_c`` for tilt ``c``. ``inexact`` is empty, or says why the loss is only that of
    a stronger adversary (who also sees the batches or the inner randomness).
    """

    loss: float = 0.0
    log_weights: Array = field(default_factory=lambda: np.zeros(1))
    findings: list[Finding] = field(default_factory=list)
    complete: bool = False
    inexact: str = ""
    movements: dict[str, Movement] = field(default_factory=dict)
    output: Any = None
