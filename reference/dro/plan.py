"""Shape of a run: how many records, iterations, steps a phase, and records an estimate."""

from __future__ import annotations

from dataclasses import dataclass

from dpassay.reference.errors import require


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
