"""Shape of a run: how many records, iterations, steps a phase, and records an estimate; and how its budget is divided.

Each sequence of releases gets the same share of mu^2. It has noise in proportion to its own sensitivity, so that std /
sensitivity is a constant of the sequence even where the sensitivity follows the iterates; fully adaptive composition
then accounts the run as if the multipliers had been fixed in advance, which they are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpassay.reference.errors import require
from dpassay.reference.noise import Multipliers
from dpassay.reference.tape import LiveTape, Tape


@dataclass(frozen=True)
class Plan:
    """Shape of a run: records, iterations, phase, batch sizes for refreshes (None: all records) and differences."""

    n: int
    steps: int  # T
    phase: int  # q
    batch: int  # N_2 = N_4, b_2 = b_4
    refresh_batch: int | None = None  # N_1 = N_3, b_1 = b_3

    def __post_init__(self) -> None:
        require(self.n >= 2, "n", self.n, "must be at least 2")
        require(self.steps >= 1, "steps", self.steps, "must be at least 1")
        require(self.phase >= 1, "phase", self.phase, "must be at least 1")
        require(1 <= self.batch <= self.n, "batch", self.batch, f"must lie in 1..n = {self.n}")
        require(1 <= self.refresh <= self.n, "refresh_batch", self.refresh_batch, f"must lie in 1..n = {self.n}")

    @property
    def refresh(self) -> int:
        """Records per refresh."""
        return self.n if self.refresh_batch is None else self.refresh_batch


def equal_shares(run: Callable[[Any, Any, Tape], Any], schedule: Any, problem: Any, *labels: str) -> Multipliers:
    """Weights rate * sqrt(count) of the releases that one run of ``schedule`` makes; 1 for ``labels`` it never makes.

    ``rate`` is the sampling rate of their batches (1: all records). The calibrator scales these weights.
    """
    tape = LiveTape(0)
    run(problem, schedule, tape)
    draws, releases = tape.transcript.draws, tape.transcript.releases
    counts = Counter(release.label for release in releases)
    rates = {release.label: math.prod(draws[number].rate for number in release.draws) for release in releases}
    weights = {label: rates[label] * math.sqrt(count) for label, count in counts.items()}
    return Multipliers({label: weights.get(label, 1.0) for label in labels})
