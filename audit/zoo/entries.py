"""The bug zoo: correct and broken mechanisms with a claim and the exact truth of the pair that shows it.

`truth` is the exact epsilon of the pair at `delta` (a proven lower bound of it where `at_least`), so a tester's answer
can be scored without trusting any tester.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld_lib

from dpassay.reference.guarantee import from_pld

from . import laws as law
from .laws import DELTA, EPSILON, INFINITE, Entry, exact_epsilon, gauss, lyu_variant, pure
from .shapes import forms, held_out, shapes


def _additive() -> list[Entry]:
    unit = (0.0, 1.0)
    entries = [
        pure("laplace", law.laplace_noise(1 / EPSILON), unit, EPSILON),
        pure("laplace, noise 10 % too small", law.laplace_noise(0.9 / EPSILON), unit, EPSILON / 0.9),
        pure("laplace, sensitivity halved", law.laplace_noise(0.5 / EPSILON), unit, 2 * EPSILON),
        pure("discrete laplace", law.discrete_laplace(EPSILON), (3, 4), EPSILON),
        pure("randomised response", law.randomised_response(np.e / (1 + np.e)), (0, 1), EPSILON),
        pure("randomised response, wrong rate", law.randomised_response(0.8), (0, 1), float(np.log(4))),
        gauss("gaussian", law.gaussian_noise(1.0), unit, 1.0, 1.0),
        gauss("gaussian, noise 10 % too small", law.gaussian_noise(0.9), unit, 1.0, 1 / 0.9),
        gauss(
            "gaussian, missing sqrt 2",
            law.gaussian_noise(4.84 / np.sqrt(2)),
            unit,
            1 / 4.84,
            np.sqrt(2) / 4.84,
        ),
        gauss("gaussian, variance for std", law.gaussian_noise(0.25), unit, 2.0, 4.0),
        gauss("gaussian, half-normal noise", law.half_normal_noise(1.0), unit, 1.0, INFINITE),
        gauss("gaussian, same seed in each run", law.same_seed(1.0), unit, 1.0, INFINITE),
        pure("laplace, 12-bit uniform", law.coarse_laplace(1 / EPSILON, 12), unit, INFINITE),
        pure("laplace, naive double", law.laplace_noise(1 / EPSILON), unit, INFINITE, low_bits=True),
        pure("laplace on a grid", law.on_a_grid(law.laplace_noise(1), 2**-10), unit, EPSILON, low_bits=True),
    ]
    for probability in (1e-1, 1e-2, 1e-3, 1e-4):
        branch = law.rare_branch(law.laplace_noise(1 / EPSILON), probability)
        entries.append(pure(f"rare branch, probability {probability:g}", branch, unit, INFINITE))
    return entries


def _selection() -> list[Entry]:
    equal, shifted = np.zeros(5), np.ones(5)
    favoured, opposed = np.array([1.0, 0, 0, 0, 0]), np.array([0.0, 1, 1, 1, 1])
    pair = (favoured, opposed)
    weights = [np.exp(EPSILON * a / 2) for a in pair]
    exact = float(np.max(np.abs(np.log(weights[0] / weights[0].sum()) - np.log(weights[1] / weights[1].sum()))))
    good, half = 2 / EPSILON, 1 / EPSILON
    entries = [
        pure("noisy max", law.noisy_max(good, "index"), pair, law.noisy_max_epsilon(good, *pair)),
        pure(
            "noisy max, half the noise",
            law.noisy_max(half, "index"),
            pair,
            law.noisy_max_epsilon(half, *pair),
        ),
        pure("noisy max releases the value", law.noisy_max(good, "value"), (equal, shifted), 2.5 * EPSILON),
        pure("exponential mechanism", law.exponential_mechanism(EPSILON), pair, exact),
    ]
    source = "Lyu, Su and Li 2017, Figure 1"
    tests: dict[int, tuple[int, list[float], list[float]]] = {
        1: (2, [0.0] * 6, [1.0] * 3 + [-1.0] * 3),
        2: (2, [0.0] * 6, [1.0] * 3 + [-1.0] * 3),
        4: (3, [0.0] * 6, [1.0] * 3 + [-1.0] * 3),
        5: (1, [0.0, 1.0], [1.0, 0.0]),
        6: (1, [0.0] * 8, [1.0] * 4 + [-1.0] * 4),
    }
    values = ([0.0] * 7, [1.0] * 6 + [0.0])  # six 'below' then a value v -> -inf: ratio exp(6 epsilon / 2)
    for number in range(1, 7):
        if number == 3:
            third = lyu_variant(3, EPSILON, 1)
            entries.append(pure("sparse vector 3", third, values, 3 * EPSILON, at_least=True, source=source))
            continue
        cutoff, answers, neighbour = tests[number]
        variant = lyu_variant(number, EPSILON, cutoff)
        truth = exact_epsilon(variant, answers, neighbour)
        entries.append(pure(f"sparse vector {number}", variant, (answers, neighbour), truth, source=source))
    return entries


def _aggregation() -> list[Entry]:
    records = ([0.0] * 10, [0.0] * 9 + [100.0])
    batch, std = 8, 0.5
    leaves, root3 = (np.zeros(4), np.array([0.0, 1.0, 0.0, 0.0])), float(np.sqrt(3))
    return [
        pure("clipped mean", law.clipped_mean(0.2 / EPSILON, True), records, 0.5 * EPSILON),
        pure("clip of the mean", law.clipped_mean(0.2 / EPSILON, False), records, 5 * EPSILON),
        gauss("forgotten batch division", law.gaussian_noise(std), (0.0, 2.0), 2 / batch / std, 2 / std),
        gauss("tree", law.tree_gaussian(2.0, False), leaves, root3 / 2, root3 / 2),
        gauss("tree, one node without noise", law.tree_gaussian(2.0, True), leaves, root3 / 2, INFINITE),
        pure("report with a record count", law.leaking_report(1 / EPSILON), ([1.0, 0.0], [1.0]), INFINITE),
    ]


def _composed(std: float, rate: float, steps: int) -> Any:
    one = pld_lib.from_gaussian_mechanism(std, value_discretization_interval=1e-3, sampling_prob=rate)
    return one.self_compose(steps)


def _sampling() -> list[Entry]:
    rate, steps, std, coarse = 0.1, 10, 0.7, 0.3
    pld = _composed(std, rate, steps)
    claim, claimed = from_pld(pld, "Poisson sampled Gaussian, PLD"), float(pld.get_epsilon_for_delta(DELTA))
    once = law.mixture_epsilon(rate, float(np.sqrt(steps)) / std, DELTA)
    doubled = float(_composed(std, 2 * rate, steps).get_epsilon_for_delta(DELTA))
    of_coarse = _composed(coarse, rate, steps)
    large = 0.6  # a third of the Poisson runs never use the record, shuffled runs do
    shuffle_claim = from_pld(of_coarse, "Poisson sampled Gaussian, PLD")
    at_large = float(of_coarse.get_epsilon_for_delta(large))
    shuffled = law.shuffle_epsilon(steps, coarse, large)

    def entry(name: str, q: float, how: str, truth: float) -> Entry:
        return Entry(name, law.sampled_gaussian(q, steps, std, how), 0.0, 1.0, claim, claimed, truth, DELTA)

    shuffler = law.sampled_gaussian(rate, steps, coarse, "shuffle")
    return [
        entry("poisson sampling", rate, "poisson", claimed),
        entry("twice the sampling rate", 2 * rate, "poisson", doubled),
        entry("one sample for all steps", rate, "once", once),
        Entry("shuffling accounted as poisson", shuffler, 0.0, 1.0, shuffle_claim, at_large, shuffled, large, True),
    ]


@cache
def zoo() -> tuple[Entry, ...]:
    """All entries; the correct ones are those with `broken` False."""
    return (*_additive(), *_selection(), *_aggregation(), *_sampling(), *shapes(), *forms(), *held_out())
