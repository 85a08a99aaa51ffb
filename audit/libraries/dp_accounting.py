"""dp-accounting: its two accountants against each other, against closed forms, and against our account of a transcript.

An accountant proves an upper bound, so ``claimed`` is its epsilon and ``exact`` what the mechanism costs: a claim that
lies below is wrong. A Gaussian event's noise multiplier is the noise over the largest norm of one record, as its
docstring says; a record that is replaced moves the sum by up to twice that norm.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import optimize, stats

from dpassay.reference.accounting.cost import account
from dpassay.reference.accounting.dp_events import dp_event_of
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.tape import Tape, record

from .exact import Line

DELTA = 1e-5
_MEASURE = f"epsilon at delta {DELTA:g}"


def lines() -> list[Line]:
    """Gaussian, Laplace, Poisson-sampled Gaussian events, and a transcript."""
    import dp_accounting as dp
    from absl import logging

    logging.set_verbosity(logging.ERROR)  # orders that do not converge are left out, which is sound

    return [*_gaussians(dp), *_laplace(dp), *_sampled(dp), *_transcript(dp)]


def _epsilons(dp: Any, event: Any, relation: Relation) -> Iterable[tuple[str, float]]:
    kind = dp.NeighboringRelation.REPLACE_ONE if relation == "replace-one" else dp.NeighboringRelation.ADD_OR_REMOVE_ONE
    for name, make in (("PLD", dp.pld.PLDAccountant), ("RDP", dp.rdp.RdpAccountant)):
        try:
            yield name, float(make(neighboring_relation=kind).compose(event).get_epsilon(DELTA))
        except dp.UnsupportedEventError:
            continue


def _gaussians(dp: Any) -> Iterable[Line]:
    event = dp.SelfComposedDpEvent(dp.GaussianDpEvent(10.0), 100)
    relations: tuple[tuple[Relation, float], ...] = (("add-remove", 1.0), ("replace-one", 2.0))
    for relation, mu in relations:
        for name, claimed in _epsilons(dp, event, relation):
            pair = f"sums that are {mu:g} clipping norms apart"
            yield Line(f"{name}, 100 Gaussians, {relation}", pair, _MEASURE, claimed, gdp_epsilon(mu, DELTA))


def _laplace(dp: Any) -> Iterable[Line]:
    """One release: ``delta(epsilon) = 1 - exp((epsilon - 1 / scale) / 2)``."""
    exact = 0.5 + 2 * math.log1p(-DELTA)
    for name, claimed in _epsilons(dp, dp.LaplaceDpEvent(2.0), "add-remove"):
        yield Line(f"{name}, Laplace, add-remove", "values one apart, scale 2", _MEASURE, claimed, exact)


def _sampled(dp: Any) -> Iterable[Line]:
    """One release of a Poisson batch with rate 0.1 and noise multiplier 1, by quadrature, both directions."""
    event = dp.PoissonSampledDpEvent(0.1, dp.GaussianDpEvent(1.0))
    grid = np.linspace(-12.0, 13.0, 200_001)
    absent = stats.norm.pdf(grid)
    present = 0.9 * absent + 0.1 * stats.norm.pdf(grid - 1)
    exact = max(_epsilon(a, b, grid[1] - grid[0]) for a, b in ((absent, present), (present, absent)))
    for name, claimed in _epsilons(dp, event, "add-remove"):
        text = f"{name}, Poisson-sampled Gaussian, add-remove"
        yield Line(text, "a sum that is 0, or 1 with probability 0.1", _MEASURE, claimed, exact, error=1e-6)


def _epsilon(one: Any, other: Any, step: float) -> float:
    def excess(epsilon: float) -> float:
        return float(np.maximum(one - math.exp(epsilon) * other, 0).sum() * step - DELTA)

    return float(optimize.brentq(excess, 0.0, 20.0)) if excess(0.0) > 0 else 0.0


def _transcript(dp: Any) -> Iterable[Line]:
    """Releases on a tape, as an event, by the PLD accountant; ours is an upper bound of its own kind."""

    def run(tape: Tape) -> None:
        for _ in range(20):
            batch = tape.poisson("batch", 1000, 0.05)
            tape.gaussian("sum", np.zeros(3), std=2.0, sensitivity=2.0, batch=batch)
        tape.gaussian("last", 0.0, std=4.0, sensitivity=1.0)

    transcript = record(run, seed=0)
    ours = account(transcript, "add-remove").epsilon(DELTA)
    for name, claimed in _epsilons(dp, dp_event_of(transcript, "add-remove"), "add-remove"):
        text = f"{name}, the event of a transcript, add-remove"
        # ours rounds up on a grid: it may lie above theirs by that much
        yield Line(text, "21 releases, 20 of them sampled", _MEASURE, claimed, ours, error=1e-3 * ours)
