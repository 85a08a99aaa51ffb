"""Noise by stability: the learning rates are scikit-learn's, no pair moves further, and a smaller bound is exceeded."""

from __future__ import annotations

import numpy as np
import pytest

from dpassay.audit.libraries import scikit_learn_stable as stable
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Kind
from dpassay.reference.tape import LiveTape

ALPHA = stable.ALPHA


def naive(rows, eta):
    """The passes written anew, in the order of the records."""
    w, n = np.zeros(rows.shape[1] - 1), len(rows)
    for t, rate in enumerate(eta):
        x, y = rows[t % n, :-1], rows[t % n, -1]
        w = w - rate * (ALPHA * w - y * x / (1 + np.exp(y * (x @ w))))
    return w


def rows_of(seed, n, d):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, d))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    return np.column_stack([features, rng.choice([-1.0, 1.0], n)])


@pytest.mark.parametrize(("passes", "constant"), [(1, 0.0), (3, 0.0), (2, 0.5)])
def test_the_rates_are_those_of_the_library(passes, constant):
    """rtol: scikit-learn scales and adds in another order, twenty steps."""
    rows = rows_of(3, 7, 2)
    options = {"learning_rate": "constant", "eta0": constant} if constant else {}
    model = stable.linear_model.SGDClassifier(
        loss="log_loss", alpha=ALPHA, fit_intercept=False, shuffle=False, **options
    )
    for _ in range(passes):
        model.partial_fit(rows[:, :-1], rows[:, -1], classes=[-1.0, 1.0])
    assert model.coef_[0] == pytest.approx(naive(rows, stable.rates(7, passes, ALPHA, constant)), rel=1e-9)


@pytest.mark.parametrize(("passes", "constant"), [(1, 0.0), (3, 0.0), (1, 0.5)])
def test_no_replaced_record_moves_the_end_further(passes, constant):
    bound, eta = stable.sensitivity(5, passes, ALPHA, constant), stable.rates(5, passes, ALPHA, constant)
    furthest = 0.0
    for seed in range(200):
        here = rows_of(seed, 5, 2)
        there = here.copy()
        there[seed % 5] = rows_of(seed + 1000, 1, 2)[0]
        furthest = max(furthest, float(np.linalg.norm(naive(here, eta) - naive(there, eta))))
    assert 0.2 * bound < furthest <= bound


def test_one_pass_at_the_default_rate_costs_no_more_than_the_solution():
    """2 L / (alpha (t0 + n - 1)), beside 2 L / (alpha n)."""
    first = ALPHA**-0.25
    for n in (1, 10, 1000):
        exact = 2 / (ALPHA * (1 / (first * ALPHA) + n - 1))
        assert stable.sensitivity(n, 1, ALPHA, 0.0) == pytest.approx(exact, rel=1e-9)
        assert exact <= 2 / (ALPHA * n)


def test_a_first_rate_that_is_too_large_is_refused():
    with pytest.raises(BadInput, match="no contraction"):
        stable.rates(5, 1, ALPHA, 10.0)


@pytest.mark.slow
def test_the_search_finds_nothing_and_finds_half_the_bound(monkeypatch):
    one = stable.models()[0]
    assert not one.search("replace-one", examples=30).findings
    honest = stable.sensitivity
    monkeypatch.setattr(stable, "sensitivity", lambda *how: honest(*how) / 4)
    found = one.search("replace-one", examples=30)
    assert Kind.SENSITIVITY_EXCEEDED in {finding.kind for finding in found.findings}


def test_a_record_that_is_not_there_has_no_features():
    one = next(one for one in stable.models() if "add-remove" in one.spaces)
    space = one.spaces["add-remove"]
    rows = space.problem(np.array([[0.6, 1.0], [0.0, 0.0]]), {"n": 2, "d": 1})
    assert rows.tolist() == [[0.6, 1.0], [0.0, 1.0]]
    tape = LiveTape(1)
    one.run(rows, tape)
    assert [release.label for release in tape.transcript.releases] == ["output"]
