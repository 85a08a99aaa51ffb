"""diffprivlib as it is: its samplers follow our laws, and the redirected library is searched.

Runs where diffprivlib is installed (it needs scikit-learn < 1.7): ``pip install "dpassay[audit,diffprivlib]"``.
"""

import math

import numpy as np
import pytest
from scipy import stats

dp = pytest.importorskip("diffprivlib", reason="diffprivlib is not installed")

from dpassay.audit.libraries.diffprivlib import LAWS  # noqa: E402
from dpassay.audit.libraries.diffprivlib_models import models, tools  # noqa: E402
from dpassay.audit.libraries.model import LOSS  # noqa: E402
from dpassay.reference.findings import Kind  # noqa: E402
from dpassay.reference.laws.bingham import Bingham  # noqa: E402

M = dp.mechanisms
PAIRS = [["a", "b", 1], ["a", "c", 2], ["b", "c", 2]]
CASES = {  # a law: its mechanism, what that is told, a value, and all values of the law (None: a density)
    "Laplace": ("Laplace", {"epsilon": 0.8, "delta": 0.1, "sensitivity": 1.5}, 0.7, None),
    "LaplaceTruncated": ("LaplaceTruncated", {"epsilon": 1, "sensitivity": 1, "lower": 0, "upper": 2}, 0.7, None),
    "LaplaceFolded": ("LaplaceFolded", {"epsilon": 1, "sensitivity": 1, "lower": 0, "upper": 2}, 0.7, None),
    "LaplaceBoundedDomain": (
        "LaplaceBoundedDomain", {"epsilon": 1, "sensitivity": 1, "lower": 0, "upper": 2}, 0.7, None
    ),
    "Gaussian": ("GaussianAnalytic", {"epsilon": 1, "delta": 0.1, "sensitivity": 1}, 0.7, None),
    "Geometric": ("Geometric", {"epsilon": 0.8, "sensitivity": 2}, 3, range(-200, 200)),
    "GeometricTruncated": ("GeometricTruncated", {"epsilon": 0.8, "lower": 0, "upper": 5}, 3, range(6)),
    "GeometricFolded": ("GeometricFolded", {"epsilon": 0.8, "lower": 0.5, "upper": 5}, 3, range(6)),
    "GaussianDiscrete": ("GaussianDiscrete", {"epsilon": 1, "delta": 0.1}, 3, range(-60, 60)),
    "Exponential": (
        "Exponential", {"epsilon": 1, "sensitivity": 1, "utility": [0, 1, 2], "measure": [1, 2, 1]}, None, range(3)
    ),
    "PermuteAndFlip": ("PermuteAndFlip", {"epsilon": 1, "sensitivity": 1, "utility": [0, 1, 2]}, None, range(3)),
    "ExponentialCategorical": ("ExponentialCategorical", {"epsilon": 1, "utility_list": PAIRS}, "a", "abc"),
    "Binary": ("Binary", {"epsilon": 1, "value0": "a", "value1": "b"}, "a", "ab"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_library_draws_from_our_law(name):
    """3,000 draws, fixed seed: Kolmogorov-Smirnov (a std 10 % off: power 0.9 or more) or chi-square at 1e-3."""
    kind, told, value, support = CASES[name]
    mech = getattr(M, kind)(**told, random_state=np.random.RandomState(5))
    law = LAWS[name](mech, value)
    draws = [mech.randomise(value) if value is not None else mech.randomise() for _ in range(3000)]
    rng = np.random.default_rng(6)
    if support is None:
        own = [law.sample(rng) for _ in range(30_000)]
        assert stats.ks_2samp(draws, own).pvalue > 1e-3
        return
    chances = np.array([math.exp(law.log_density(one)) for one in support]) * len(draws)
    assert chances.sum() == pytest.approx(len(draws), rel=1e-6)
    seen = np.array([draws.count(one) for one in support], dtype=float)
    common = chances > 5
    assert seen.sum() == len(draws)
    assert stats.chisquare(seen[common], chances[common] * seen[common].sum() / chances[common].sum()).pvalue > 1e-3


@pytest.mark.parametrize("matrix", [np.array([[1.0, 0.3], [0.3, -0.5]]), np.diag([1.0, -0.5, 0.4])])
def test_the_bingham_mechanism_draws_from_its_own_law_and_not_from_a_bingham_law(matrix):
    """1,500 draws by Kolmogorov-Smirnov: what it draws is the law that its code comes to, and no Bingham law."""
    mech = M.Bingham(epsilon=6.0, random_state=np.random.RandomState(3))
    rng = np.random.default_rng(4)
    theirs = [float(v @ matrix @ v) for v in (mech.randomise(matrix) for _ in range(1500))]
    law = LAWS["Bingham"](mech, matrix)
    ours = [float(v @ matrix @ v) for v in (law.sample(rng) for _ in range(1500))]
    assert stats.ks_2samp(theirs, ours).pvalue > 1e-3
    named = Bingham(matrix, 6.0 / 4)
    others = [float(v @ matrix @ v) for v in (named.sample(rng) for _ in range(1500))]
    assert stats.ks_2samp(theirs, others).pvalue < 1e-6


def _found(name, relation, examples=40):
    model = next(one for one in [*models(), *tools()] if one.name == name)
    return model.search(relation, examples=examples)


@pytest.mark.parametrize("name", ["mean", "sum", "median", "var"])
def test_tools_that_keep_their_epsilon_under_replace_one(name):
    found = _found(name, "replace-one")
    assert not found.findings and 0.2 < found.shares[LOSS] <= 1 + 1e-9


def test_a_histogram_keeps_it_when_a_record_is_added_and_pays_twice_when_one_is_replaced():
    assert not _found("histogram", "add-remove").findings
    found = _found("histogram", "replace-one")
    assert [one.kind for one in found.findings] == [Kind.VIOLATED]
    assert found.shares[LOSS] == pytest.approx(2.0)


@pytest.mark.slow
def test_labels_and_inertia_of_k_means_come_from_the_data():
    found = {(one.kind, one.label) for one in _found("KMeans", "replace-one").findings}
    assert {(Kind.REVEALED_VALUE, "labels_"), (Kind.REVEALED_VALUE, "inertia_")} <= found


@pytest.mark.slow
def test_the_square_of_linear_regression_is_released_without_noise():
    found = {one.kind for one in _found("LinearRegression, no intercept", "replace-one", 100).findings}
    assert Kind.BARE_RELEASE in found and Kind.SENSITIVITY_EXCEEDED in found
