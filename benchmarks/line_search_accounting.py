"""Where the accounted epsilon of a line search is loose: the bound on its above-threshold releases, or the pair?

    python benchmarks/line_search_accounting.py [--quick] [--write]

The rows `opt_ls:worst` and `two_opt_ls:worst` release Gaussians and some line searches. `accounted` composes a bound on
each search that holds for all queries (`reference/accounting/above_threshold.py`, `hidden_threshold.py`). `worst
places` is what the worst queries can show, found by enumeration: queries at all combinations of places on a grid (in
units of the query noise), each moved up or down by as much as it may be, the exact law of the released index (the
threshold noise integrated, not told), the same search in each release, and the Gaussians, composed exactly. `told` is
the same when the threshold noise is told afterwards; the bound lets the later queries know it before. Between `worst
places` and `accounted` lies what the bound gives away, or what queries chosen along the run could add; between
`audited` and `worst places`, what the pair of the audit does not use: its queries are near the threshold by chance
only.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import keep
import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from dpassay.reference.accounting.parts import Part, epsilon_of
from dpassay.reference.catalogue import CASES
from dpassay.reference.types import Array

ROWS = ("second_order_erm/opt_ls:worst@repaired", "second_order_erm/two_opt_ls:worst@repaired")
DELTA, BINS = 1e-5, 1000
LEVELS = 60  # quantiles of the threshold noise in the enumeration; 120 change the fourth digit
PLACES = (-2.0, -1.0, -0.5, -0.2, 0.0, 0.2, 0.5, 1.0, 2.0, 30.0)  # threshold minus query; the last: never above


def below(x: Array) -> Array:
    """P(Laplace noise < x)."""
    return np.where(x < 0, np.exp(np.minimum(x, 0.0)) / 2, 1 - np.exp(-np.maximum(x, 0.0)) / 2)


def laws(places: Array, noise: float) -> Array:
    """P(index) for each row of places and each level of the threshold noise, None last: (rows, levels, outcomes)."""
    level = (np.arange(LEVELS) + 0.5) / LEVELS
    told = noise * np.where(level < 0.5, np.log(2 * level), -np.log(2 * (1 - level)))
    stays = below(places[:, None, :] + told[None, :, None])
    so_far = np.concatenate([np.ones((*stays.shape[:2], 1)), np.cumprod(stays, axis=2)], axis=2)
    return np.concatenate([so_far[..., :-1] * (1 - stays), so_far[..., -1:]], axis=2) / LEVELS


def pairs(part: Part, told: bool) -> Iterator[tuple[Array, Array]]:
    """Laws on D and on D' for all places, one direction of the movements after the other: (rows, outcomes)."""
    shift = part.size * part.share
    noise = shift / (part.size * (1 - 2 * part.share))  # threshold noise over query noise
    places = np.array(list(itertools.product(PLACES, repeat=part.queries)))
    here = laws(places, noise)
    for signs in itertools.product((-1, 1), repeat=part.queries):
        there = laws(places + shift * part.falls ** np.arange(part.queries) * np.array(signs), noise)
        yield (here.reshape(len(here), -1), there.reshape(len(there), -1)) if told else (here.sum(1), there.sum(1))


def gaussian(epsilons: Array, mu: float) -> Array:
    """delta of mu-GDP at epsilons of any sign; delta is 1e-5 here, so nothing is lost."""
    return np.asarray(ndtr(mu / 2 - epsilons / mu) - np.exp(epsilons) * ndtr(-mu / 2 - epsilons / mu))


def worst(part: Part, told: bool) -> tuple[Array, Array]:
    """Losses and probabilities on D of the places whose loss has the largest mean square: what composes worst."""
    best, found = -1.0, (np.zeros(1), np.ones(1))
    for here, there in pairs(part, told):
        losses = np.log(here / there)
        squares = (here * losses**2).sum(axis=1)
        row = int(squares.argmax())
        if squares[row] > best:
            best, found = float(squares[row]), (losses[row], here[row])
    return found


def binned(losses: Array, law: Array) -> tuple[Array, Array]:
    """At most BINS losses, each rounded down."""
    if len(losses) <= BINS:
        return losses, law
    edges = np.linspace(losses.min(), losses.max(), BINS)
    return edges, np.bincount(np.searchsorted(edges, losses, side="right") - 1, law, BINS)


def shown(searches: list[tuple[Part, int]], mu: float, told: bool) -> float:
    """Epsilon of these searches at their worst places and a Gaussian, exactly: a sum over all outcomes."""
    total, weight = np.zeros(1), np.ones(1)
    for part, count in searches:
        losses, law = binned(*worst(part, told))
        for _ in range(count):
            total, weight = binned(np.add.outer(total, losses).ravel(), np.outer(weight, law).ravel())
    return float(brentq(lambda epsilon: float(weight @ gaussian(epsilon - total, mu)) - DELTA, 0.0, 5.0))


def measure(quick: bool) -> None:
    """Both rows."""
    print("| row | searches | Gaussians alone | worst places | told | accounted | worst places / accounted |")
    print("|---|---|---|---|---|---|---|")
    for case in CASES:
        if case.key not in ROWS[: 1 if quick else 2]:
            continue
        found = case.build().accounted(case.claim.relation)
        parts = found.worst(DELTA)
        gaussians = tuple((part, count) for part, count in parts if part.kind == "gaussian")
        searches = [(part, count) for part, count in parts if part.kind == "above-threshold"]
        mu = math.sqrt(sum(count * part.size**2 for part, count in gaussians))
        alone = epsilon_of(gaussians, "replace-one", DELTA)
        values = [shown(searches, mu, told) for told in (False, True)]
        accounted, asked = found.epsilon(DELTA), sum(count for _, count in searches)
        cells = (alone, *values, accounted, values[0] / accounted)
        print(f"| {case.key} | {asked} | " + " | ".join(f"{one:.4f}" for one in cells) + " |")


if __name__ == "__main__":
    keep.main(__file__, __doc__ or "", measure)
