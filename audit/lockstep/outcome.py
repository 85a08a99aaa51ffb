"""What comes out of a lockstep run: loss, weights, movements and findings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpassay.reference.findings import Finding
from dpassay.reference.types import Array

WHOLE = 0.95  # share of what is claimed from which on a query counts as moved by all of it


@dataclass(eq=False)
class Movement:
    """How far the pair moves the queries of one label, against what the algorithm claims they can move.

    A scale, and a claim with it, may follow released values: the release that is kept is the one that used the largest
    share of its own claim. Where nothing is claimed, it is the one that was moved the furthest.

    Args:
        moved: how far that release was moved.
        claimed: its sensitivity.
        joined: twice how far a record that joins a Poisson batch moves a query, over its sensitivity: the largest.
        releases: how many there were.
        whole: how many of them were moved by all that they claim.
    """

    moved: float = 0.0
    claimed: float | None = None
    joined: float = 0.0
    releases: int = 0
    whole: int = 0

    @property
    def share(self) -> float:
        """Moved distance over claimed sensitivity (0 where nothing is claimed)."""
        return self.moved / self.claimed if self.claimed else 0.0

    @property
    def needed(self) -> float:
        """What would have to be claimed, over what is."""
        return max(self.share, self.joined)

    @property
    def rank(self) -> tuple[float, float]:
        """Of two movements the one with the larger rank is kept."""
        return self.share, self.moved

    def with_other(self, other: Movement) -> Movement:
        """The larger of two, in each respect; of equal ones the other; the releases of both."""
        larger = other if other.rank >= self.rank else self
        releases, whole = self.releases + other.releases, self.whole + other.whole
        return Movement(larger.moved, larger.claimed, max(self.joined, other.joined), releases, whole)


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
