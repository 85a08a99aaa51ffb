"""scikit-learn's estimators in the place of Algorithm 1's base solver: what is not the solution is found."""

import numpy as np
import pytest

from dpassay.audit.libraries import scikit_learn as adapter
from dpassay.audit.libraries import scikit_learn_stable as stable
from dpassay.audit.libraries.library import LIBRARIES, Examined, Outcome, Realised
from dpassay.audit.libraries.page import table
from dpassay.audit.lockstep.run import lockstep
from dpassay.audit.search.witness import Searched
from dpassay.reference.case import bind
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Finding, Kind
from dpassay.reference.neighbours import Pair
from dpassay.reference.output_perturbation import algorithm1
from dpassay.reference.tape import LiveTape

MODELS = {one.name: one for one in adapter.models()}
SIDES = np.array([1.0, 1.0]), np.array([-1.0, 1.0])  # (feature, label)
CLASSES = np.array([1.0, -1.0]), np.array([0.0, 1.0])


def seen(name, here, there):
    """Of one run on two data sets that differ in their last record."""
    space = MODELS[name].spaces["replace-one"]
    sizes = {"n": 1, "d": 1}
    pair = Pair(*(space.problem(np.array([row]), sizes) for row in (here, there)), target=0)
    return lockstep(bind(algorithm1.run, space.schedule(sizes)), pair, (1,))


@pytest.mark.parametrize(
    ("name", "rows", "least"),
    [
        ("LogisticRegression, 100,000 records", SIDES, 1.8),
        ("LogisticRegression, intercept", CLASSES, 5.0),
        ("LogisticRegression, balanced", CLASSES, 15.0),
        ("SGDClassifier, 1,000 records, constant rate, in order", SIDES, 1.8),
    ],
)
def test_what_is_not_near_the_solution_moves_too_far(name, rows, least):
    found = seen(name, *rows)
    assert {one.kind for one in found.findings} == {Kind.SENSITIVITY_EXCEEDED}
    assert found.movements["output"].share > least


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("LogisticRegression, 100,000 records, polished", SIDES),
        ("LogisticRegression, liblinear, intercept", CLASSES),
        ("SGDClassifier, the same, polished", SIDES),
    ],
)
def test_what_mends_it_keeps_the_claim(name, rows):
    """At most half of 4L/(mu n): the other half is for the solver's error, which is small here."""
    found = seen(name, *rows)
    assert not found.findings and 0 < found.movements["output"].share <= 0.5


def test_data_that_an_estimator_refuses_are_solved_by_the_base_solver():
    """One class, or features that are nothing beside the regulariser: a refusal would tell the neighbours apart."""
    space = MODELS["LogisticRegression, data of any classes"].spaces["replace-one"]
    sizes, rows = {"n": 2, "d": 1}, np.array([[1.0, 1.0], [1.0, -1.0]])
    schedule = space.schedule(sizes)
    with pytest.raises(ValueError, match="2 classes"):
        bind(algorithm1.run, schedule)(space.problem(np.abs(rows), sizes), LiveTape(1))
    guarded = MODELS["LogisticRegression, sag"].spaces["replace-one"].schedule(sizes)
    for data in (rows, np.abs(rows), rows * [1e-20, 1.0]):
        algorithm1.run(space.problem(data, sizes), guarded, LiveTape(1))


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_the_search_finds_what_is_recorded(name):
    """All rows of the page, with fewer examples."""
    kinds = {one.kind for one in MODELS[name].search("replace-one", examples=30).findings}
    recorded = {one: known.id for known in LIBRARIES["scikit-learn"].known for one in known.models}
    assert bool(kinds) == (name in recorded)


def test_a_model_of_one_relation_that_breaks_its_claim_is_news():
    """It may not hide behind the relation that was not searched, where the claim is for one relation."""
    broken = Searched(shares={}, findings=[Finding(Kind.SENSITIVITY_EXCEEDED, "output", 0, "")])
    for name, either in (("scikit-learn", False), ("diffprivlib", True)):
        examined = Examined(LIBRARIES[name], "0")
        model = MODELS["LogisticRegression, balanced"]
        examined.outcomes.append(Outcome(model, "replace-one", broken, Realised(0.9, 1e-5, None, None, "")))
        assert bool(examined.unaccounted()) is not either
        assert ("not known" in table(examined)) is either


# Noise by stability: the learning rates are scikit-learn's, no pair moves further, and a smaller bound is exceeded.
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
