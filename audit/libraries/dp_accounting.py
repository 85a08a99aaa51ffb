"""dp-accounting: its two accountants against each other and against closed forms.

An accountant proves an upper bound, so ``claimed`` is its epsilon and ``exact`` what the mechanism costs: a claim that
lies below is wrong. A Gaussian event's noise multiplier is the noise over the largest norm of one record, as its
docstring says; a record that is replaced moves the sum by up to twice that norm.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from scipy import stats

from dpassay.audit.plain_numpy.noise_laws import epsilon_of
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.accounting.sampled import Relation

from .exact import Line

DELTA = 1e-5
_MEASURE = f"epsilon at delta {DELTA:g}"


def lines() -> list[Line]:
    """Gaussian and Poisson-sampled Gaussian events."""
    import dp_accounting as dp
    from absl import logging

    logging.set_verbosity(logging.ERROR)  # orders that do not converge are left out, which is sound

    return [*_gaussians(dp), *_sampled(dp)]


def epsilons(dp: Any, event: Any, relation: Relation) -> Iterator[tuple[str, float]]:
    """By each accountant that knows such an event; PLD comes first."""
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
        for name, claimed in epsilons(dp, event, relation):
            pair = f"sums that are {mu:g} clipping norms apart"
            yield Line(f"{name}, 100 Gaussians, {relation}", pair, _MEASURE, claimed, gdp_epsilon(mu, DELTA))


def _sampled(dp: Any) -> Iterable[Line]:
    """One release of a Poisson batch with rate 0.1 and noise multiplier 1, by quadrature, both directions."""
    event = dp.PoissonSampledDpEvent(0.1, dp.GaussianDpEvent(1.0))
    grid = np.linspace(-12.0, 13.0, 200_001)
    absent = stats.norm.pdf(grid)
    present = 0.9 * absent + 0.1 * stats.norm.pdf(grid - 1)
    one, other = (density * (grid[1] - grid[0]) for density in (absent, present))
    exact = max(epsilon_of(one, other, DELTA), epsilon_of(other, one, DELTA))
    for name, claimed in epsilons(dp, event, "add-remove"):
        text = f"{name}, Poisson-sampled Gaussian, add-remove"
        yield Line(text, "a sum that is 0, or 1 with probability 0.1", _MEASURE, claimed, exact, error=1e-6)
