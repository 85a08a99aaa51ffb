"""A tape that keeps nothing: what an algorithm costs as a plain loop, for benchmarks/speed.py."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpassay.reference.laws.law import Law, as_released
from dpassay.reference.tape import Drawn, Tape
from dpassay.reference.transcript import Draw, RecordDrawer
from dpassay.reference.types import Indices


class Bare(Tape):
    """Noise is drawn and added, as in a plain loop: no law, no claim, no release is made or kept.

    Only the draws of records are noted as on every tape: trees look them up.
    """

    def __init__(self, seed: int):
        super().__init__()
        self._rng = np.random.default_rng(seed)
        self._records = RecordDrawer(self._rng)

    def gaussian(self, label: str, query: ArrayLike, *, std: float, sensitivity: Any, batch: Any = None) -> Any:
        """Query plus noise."""
        exact = np.asarray(query, float)
        return as_released(np.asarray(exact + std * self._rng.standard_normal(exact.shape)))

    def laplace(self, label: str, query: ArrayLike, *, scale: float, sensitivity: Any, batch: Any = None) -> Any:
        """Query plus noise."""
        exact = np.asarray(query, float)
        return as_released(np.asarray(exact + self._rng.laplace(0.0, scale, exact.shape)))

    def release(self, label: str, law: Law, *, sensitivity: Any, batch: Any = None) -> Any:
        """Any other law draws by itself; an above-threshold release evaluates its queries as far as it needs them."""
        return law.sample(self._rng)

    def public(self, label: str, draw: Drawn) -> Any:
        """Drawn."""
        return draw(self._rng)

    secret = public

    def noise(self, label: str, std: float, shape: int | tuple[int, ...] = ()) -> Any:
        """Drawn."""
        return std * self._rng.standard_normal(shape)

    def reveal(self, label: str, value: Any) -> Any:
        """Nothing to do."""
        return value

    def _indices(self, draw: Draw) -> Indices:
        return self._records.indices(draw)

    def _released(self, label: str, law: Law, sensitivity: float | None, draws: tuple[int, ...]) -> Any:
        raise NotImplementedError

    def _value(self, kind: str, label: str, draw: Drawn) -> Any:
        raise NotImplementedError


def milliseconds(calls: dict[str, Callable[[int], object]], at_least: float, rounds: int = 3) -> dict[str, float]:
    """CPU milliseconds a run of each: the smallest of some rounds, all in turn, so that they meet the same machine.

    Args:
        calls: makes so many runs.
        at_least: CPU seconds of each round; a run that takes longer is made once a round.
    """
    counts = {}
    for name, call in calls.items():
        start = process_time()
        call(1)
        counts[name] = max(1, min(10_000, round(at_least / max(1e-6, process_time() - start))))
    best = dict.fromkeys(calls, np.inf)
    for _ in range(rounds):
        for name, call in calls.items():
            start = process_time()
            call(counts[name])
            best[name] = min(best[name], 1e3 * (process_time() - start) / counts[name])
    return best
