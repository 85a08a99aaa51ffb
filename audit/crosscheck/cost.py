"""What one run of the reference costs: in calls of functions, the same on every machine, and in seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import process_time
from typing import Any

from .making import run_again
from .recording import VectorTape
from .rounding import Run

LIMIT = 0.3  # seconds for one changed run; one of the reference takes a hundredth


def length(run: Run, vector: Mapping[str, Any]) -> int:
    """How many functions one run of the reference calls: what it costs, the same on every machine."""
    with suppress(Exception):
        run_again(run, vector, VectorTape(vector["events"]))  # what is computed once is known then
    count = [0]

    def note(frame: Any, event: str, _: Any) -> None:
        count[0] += event in ("call", "c_call")

    _watched(run, vector, note)
    return max(1, count[0])


def patience(run: Run, vector: Mapping[str, Any]) -> float:
    """Seconds for a changed run: many times what the reference takes, as a solver that does not converge costs all."""
    start = process_time()
    with suppress(Exception):
        run_again(run, vector, VectorTape(vector["events"]))
    return min(LIMIT, 0.02 + 10 * (process_time() - start))


def _watched(run: Run, vector: Mapping[str, Any], note: Callable[[Any, str, Any], None]) -> None:
    """One run of the reference under a profiler."""
    sys.setprofile(note)
    try:
        with suppress(Exception):
            run_again(run, vector, VectorTape(vector["events"]))
    finally:
        sys.setprofile(None)
