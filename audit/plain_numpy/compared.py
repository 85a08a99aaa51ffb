"""Comparisons that share a noise variable, as the rounds of a noisy threshold do: the law of each, given those before.

Given the shared noise the answers are independent, so the law of all of them is one integral over it,
``P(answers) = integral of density(z) prod_i P(answer_i | z) dz``, and that of the next answer a ratio of two of these.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import logsumexp

from dpassay.reference.types import Array

from .answers import NoisyAnswer
from .kinds import law_of
from .rounds import Round, SharedAnswer

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)
_TAIL = 1e-18  # mass of the shared noise that is cut off on either side


@dataclass(frozen=True)
class Comparison:
    """``query + sum of coefficient * noise > 0``, by noise variable, and the answer."""

    query: float
    noise: Mapping[int, float]
    answer: bool


def compared(past: Sequence[Comparison], new: Comparison, kinds: Sequence[str]) -> NoisyAnswer | None:
    """The law of the new answer given the past ones, exact up to quadrature; None where they share noise otherwise."""
    common = _shared_by_all([*past, new])
    if common is None:
        return None
    rounds = tuple(_round(one, common, kinds) for one in (*past, new))
    nodes, logs = _nodes(kinds[common], [*past, new], common)
    for one in past:
        logs = logs + _log_probability(one, common, kinds, nodes, one.answer)
    both = np.array([logsumexp(logs + _log_probability(new, common, kinds, nodes, one)) for one in (False, True)])
    told = float(logsumexp(both))  # minus infinity where this side cannot have given the answers so far
    found = both - told if math.isfinite(told) else np.full(2, -math.log(2))
    scale = max(abs(coefficient) for coefficient in new.noise.values())
    return SharedAnswer((False, True), found, "shared", scale, np.array([new.query]), rounds)


def _round(one: Comparison, common: int, kinds: Sequence[str]) -> Round:
    own = next((abs(c) for variable, c in one.noise.items() if variable != common), 0.0)
    laplace = all(kinds[variable] == "laplace" for variable in one.noise)
    return Round(one.query, one.noise[common], own, one.answer, laplace)


def _shared_by_all(comparisons: Sequence[Comparison]) -> int | None:
    """The one variable in all of them; every other must be in one only, and one comparison has one other at most."""
    common = set.intersection(*(set(one.noise) for one in comparisons))
    if not common or any(len(one.noise) > 2 for one in comparisons):
        return None
    found = min(common)
    others = [variable for one in comparisons for variable in one.noise if variable != found]
    return found if len(set(others)) == len(others) else None


def _nodes(kind: str, comparisons: Sequence[Comparison], common: int) -> tuple[Array, Array]:
    """Nodes for the shared noise and the logs of weight times density; pieces end at every kink."""
    law = law_of(kind)
    low, high = float(law.ppf(_TAIL)), float(law.isf(_TAIL))
    kinks = [-one.query / one.noise[common] for one in comparisons]
    inside = {low, high, *(kink for kink in (0.0, *kinks) if low < kink < high)}
    step = min(2.0, *(2 * abs(c / one.noise[common]) for one in comparisons for c in one.noise.values()))
    pieces = [np.linspace(a, b, 2 + min(200, int((b - a) / step))) for a, b in pairwise(sorted(inside))]
    edges = np.unique(np.concatenate(pieces))
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    nodes = (middle[:, None] + half[:, None] * _NODES).ravel()
    weights = (half[:, None] * _WEIGHTS).ravel()
    with np.errstate(divide="ignore"):  # a piece next to no length has no weight
        return nodes, np.log(weights) + law.logpdf(nodes)


def _log_probability(one: Comparison, common: int, kinds: Sequence[str], nodes: Array, answer: bool) -> Array:
    """Log probability of the answer at each value of the shared noise."""
    level = one.query + one.noise[common] * nodes
    rest = [(variable, c) for variable, c in one.noise.items() if variable != common]
    if not rest:
        return np.where((level > 0) == answer, 0.0, -math.inf)
    ((variable, coefficient),) = rest
    law, edge = law_of(kinds[variable]), -level / coefficient
    above = answer == (coefficient > 0)
    found: Array = law.logsf(edge) if above else law.logcdf(edge)
    return found
