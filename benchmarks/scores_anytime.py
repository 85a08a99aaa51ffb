"""The anytime bound of epsilon over streams of scores with 20 looks each: how often does it ever exceed the truth?

    python benchmarks/scores_anytime.py [--quick] [--write]

2,000 streams a law, 20 blocks of 100 scores a side, level 5 %. Beside it the bound that is valid once, computed anew
from all scores so far at each look (100 streams): what a look after each block does to it. A law that is kept is not
measured again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import audit_figures as figures
import numpy as np
from scipy.special import expit
from scipy.stats import binomtest

from dpassay.audit.scores.anytime import EpsilonSequence
from dpassay.audit.scores.labels import epsilon_labels
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.types import Array

LOOKS, BLOCK, SLACK = 20, 100, 1e-9
HEADER = ("bound", "law", "delta", "true epsilon", "streams", "ever above", "share", "low", "high",
          "median after the first look", "median after the last")  # fmt: skip


@dataclass(frozen=True)
class Law:
    """Scores on D and on D' with their exact epsilon at delta."""

    name: str
    delta: float
    truth: float
    draw: Callable[[np.random.Generator, int], tuple[Array, Array]]


def _response(epsilon: float, delta: float) -> Callable[[np.random.Generator, int], tuple[Array, Array]]:
    """Randomised response that shows the side itself with probability delta: nothing private reveals more."""

    def draw(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        sides = []
        for sign in (-1.0, 1.0):
            answer = np.where(rng.random(size) < expit(epsilon), sign, -sign)
            sides.append(np.where(rng.random(size) < delta, 2 * sign, answer))
        return sides[0], sides[1]

    return draw


LAWS = (
    Law("randomised response", 0.0, 0.5, _response(0.5, 0.0)),
    Law("randomised response that shows the side", 0.01, 1.0, _response(1.0, 0.01)),
    Law("null", 0.0, 0.0, lambda rng, size: (rng.normal(size=size), rng.normal(size=size))),
    Law("Gaussian", 1e-5, gdp_epsilon(1.0, 1e-5), lambda rng, size: (rng.normal(size=size), rng.normal(1, 1, size))),
)


def anytime(law: Law, rng: np.random.Generator) -> Array:
    """The bound after each look of one stream."""
    sequence = EpsilonSequence(law.delta)
    return np.array([sequence.update(*law.draw(rng, BLOCK), rng).epsilon for _ in range(LOOKS)])


def computed_anew(law: Law, rng: np.random.Generator) -> Array:
    """The bound for one look, from all scores so far, at each look."""
    sides, found = (np.zeros(0), np.zeros(0)), []
    for _ in range(LOOKS):
        sides = tuple(np.append(old, new) for old, new in zip(sides, law.draw(rng, BLOCK), strict=True))
        found.append(epsilon_labels(sides[0], sides[1], law.delta, rng).epsilon)
    return np.array(found)


def row(name: str, law: Law, streams: int) -> tuple[object, ...]:
    """How many streams exceed the truth at any look."""
    ask = anytime if name == "anytime" else computed_anew
    found = np.array([ask(law, np.random.default_rng([17, seed])) for seed in range(streams)])
    above = int((found > law.truth + SLACK).any(axis=1).sum())
    interval = binomtest(above, streams).proportion_ci(0.95)
    middle = np.median(found[:, 0]), np.median(found[:, -1])
    counts = (streams, above, above / streams, float(interval.low), float(interval.high))
    return (name, law.name, law.delta, law.truth, *counts, *map(float, middle))


def main() -> None:
    """Print and keep, law by law."""
    chosen = figures.options(__doc__)
    path = figures.RESULTS / "scores_anytime.json"
    kept = json.loads(path.read_text())["rows"] if chosen.write and path.exists() else []
    rows = [tuple(one[name] for name in HEADER) for one in kept]
    for name, streams in (("anytime", 2000), ("for one look, computed anew", 100)):
        for law in LAWS:
            if any(one[:2] == (name, law.name) for one in rows):
                continue
            rows.append(row(name, law, 20 if chosen.quick else streams))
            figures.show(HEADER, rows[-1])
            if chosen.write:
                notes = [f"{LOOKS} looks, {BLOCK} scores a side each; level 5 %, 95 % intervals."]
                figures.write("scores_anytime", "The anytime bound over streams of scores", HEADER, rows, notes)


if __name__ == "__main__":
    main()
