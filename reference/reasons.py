"""Why a search may stay short of what a case could do: the fields ``Case.unreached`` and ``Case.attainable``.

Unreached: releases and decisions that no run of the case comes to, by place, ``file.py: the beginning of its line``.
Most are decided by the schedule, which is public and is the same for all data: the other way is taken by another
reading or variant of the catalogue. What is not listed and is not reached by a search is a gap of the search, and said
as one.

Attainable: how far a query can really move, by label, where the declared sensitivity is more. A search that stays below
a declared sensitivity has either missed the worst pair, or there is none that moves the query so far. What is written
here is the second: the largest share there is, and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, exp, pi, sin
from pathlib import Path

from .files import parse_toml, read_text

Reasons = Mapping[str, str]
OTHER_READING = "the schedule decides; the other way is another reading or variant"
_TOLD: dict[str, Reasons] = parse_toml(read_text(Path(__file__).with_suffix(".toml"), "reasons"), "reasons.toml")
CLIPPING, BATCHES = _TOLD["clipping"], _TOLD["batches"]
WHOLE_TREE, ONE_PASS = _TOLD["whole_tree"], _TOLD["one_pass"]
DOUBLE_SPIDER: Reasons = {**CLIPPING, **BATCHES}
RECURSIVE_SPIDER: Reasons = {**CLIPPING, "recursive_spider.py: if schedule.lines.line_16": OTHER_READING}
DP_SPIDER: Reasons = {**CLIPPING, **_TOLD["dp_spider"]}
OUTPUT_PERTURBATION = _TOLD["output_perturbation"]
STEPS = 80  # of a bisection, or of a search by thirds: to the last digit


def sigmoid(value: float) -> float:
    """1 / (1 + exp(-value)); zero far below."""
    return 1.0 / (1.0 + exp(min(-value, 700.0)))


def opposed_logistic(length: float) -> float:
    """Half of the largest |g - g'| of two logistic gradients at a w of this length, for records of norm 1 at most.

    With u = -y x and u' = -y' x' they are sigmoid(<u, w>) u and sigmoid(<u', w>) u'. Two unit vectors at angles s and t
    to w, on both sides of it, differ the most; the maximum lies at s = t, where it is 2 sin(s) sigmoid(|w| cos(s)) (a
    test scans both angles). It grows with |w|, from 1/2 to 1.
    """
    low, high = 0.0, pi / 2
    for _ in range(STEPS):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        first, second = (sin(s) * sigmoid(length * cos(s)) for s in (one, two))
        low, high = (one, high) if first < second else (low, two)
    return sin(high) * sigmoid(length * cos(high))


def reason(label: str, reasons: Reasons) -> str:
    """What is said of a label: under its own name, or under the part before its last slash; empty if nothing is.

    >>> reason("x/3", {"x": "at most 0.98"})
    'at most 0.98'
    """
    return reasons.get(label, reasons.get(label.rpartition("/")[0], ""))
