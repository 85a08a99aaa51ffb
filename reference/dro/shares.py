"""How the budget is divided between the sequences of releases of one run: each gets the same share of mu^2.

Each sequence has noise in proportion to its own sensitivity, so that std / sensitivity is a constant of the sequence
even where the sensitivity follows the iterates; fully adaptive composition then accounts the run as if the multipliers
had been fixed in advance, which they are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

from dpassay.reference.noise import Multipliers
from dpassay.reference.tape import LiveTape, Tape


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
