"""Right code whose law is not known is refused with its line and a way out; what leaks whatever the law is accused."""

import math
import random

import numpy as np
import pytest

from dpassay.audit import Effort, assay, on_tape, release
from dpassay.audit.plain_numpy.finite import NotFinite, whole_law
from dpassay.audit.plain_numpy.places import NotUnderstood
from dpassay.reference import Pair, PrivacyClaim, Space
from dpassay.reference.errors import BadInput

DELTA = 1e-5
CLAIM = PrivacyClaim(1.0, DELTA)
QUICK = Effort(runs=100, pilot=100, examples=20)
KEYS = Effort(runs=50, pilot=50, examples=10)
ONE = Pair(np.zeros((1, 1)), np.ones((1, 1)), 0)
THREE = Pair(np.array([[0.0], [0.0], [0.0]]), np.array([[1.0], [0.0], [0.0]]), 0)
TWO = Space.matrix(n=(2,), d=(1,))


def in_range(rows, rng):
    """Laplace noise kept to the unit interval by rejection: only the last number is seen."""
    mean = rows.clip(0, 1).mean()
    for _ in range(100):
        noisy = mean + rng.laplace(scale=2 / len(rows))
        if 0 <= noisy <= 1:
            break
    return noisy


def counted(rows, rng):
    keys, counts = np.unique(np.sign(rows[:, 0]), return_counts=True)
    return [(float(key), count + rng.laplace(scale=2.0)) for key, count in zip(keys, counts, strict=True)]


def histogram(rows, rng):
    """Korolova et al. 2009: how many keys there are is private, and those that are rare are not told."""
    return {key: noisy for key, noisy in counted(rows, rng) if noisy > 1 + 2 * np.log(2e5)}


def median(rows, rng, smooth=True):
    """Nissim, Raskhodnikova and Smith 2007: Laplace noise of twice the smooth sensitivity, (1, 1e-5)."""
    x = np.sort(np.clip(rows[:, 0], -1, 1))
    n = len(x)
    padded = np.concatenate([np.full(n + 1, -1.0), x, np.full(n + 1, 1.0)])
    middle, rate = n + 1 + n // 2, 1 / (2 * math.log(2e5))
    local = [
        max(padded[min(middle + t, len(padded) - 1)] - padded[max(middle + t - k - 1, 0)] for t in range(k + 2))
        for k in range(n + 1 if smooth else 1)
    ]
    return padded[middle] + 2 * max(math.exp(-k * rate) * one for k, one in enumerate(local)) * rng.laplace()


def last_point(rows, rng, steps=3, sigma=8.0):
    """Descent on a perturbed objective: the same noise in every gradient."""
    noise, point = rng.normal(scale=sigma, size=rows.shape[1]), np.zeros(rows.shape[1])
    for _ in range(steps):
        point = point - 0.2 * (np.tanh(point - rows).sum(axis=0) + point + noise)
    return point


def mode(rows, rng):
    """The majority, if a noisy lead is large enough: with one record more or less it passes with probability delta."""
    positive = int((rows > 0).sum())
    lead = abs(2 * positive - len(rows)) / 2
    if lead + rng.laplace() > 1 + math.log(1 / (2 * DELTA)):
        return positive * 2 > len(rows)
    return None


def drawn_with_replacement(rows, rng):
    picked = rng.integers(0, len(rows), size=2)
    return rows.clip(-1, 1)[picked].mean(axis=0) + rng.normal(0, 0.5, rows.shape[1])


def first_of_an_order(rows, rng):
    """One of two records, and a claim that counts on it; without a choice it would be an epsilon of 1.07."""
    return rows[rng.permutation(2)[:1]].clip(-1, 1).sum(axis=0) + rng.normal(0, 7.0, rows.shape[1])


def entry_by_entry(rows, rng):
    noise = np.zeros(rows.shape[1])
    for j in range(len(noise)):
        noise[j] = rng.normal(0, 9.7)
    return rows.clip(-1, 1).sum(axis=0) + noise


def heavy_tails(rows, rng):
    return rows.clip(-1, 1).sum() + 9.7 * rng.standard_cauchy()


def over_a_noisy_threshold(rows, rng):
    threshold = 3 + rng.laplace(0, 4)
    return [bool((rows > at).sum() + rng.laplace(0, 8) > threshold) for at in (0.0, 0.5)]


@pytest.mark.some(4)
@pytest.mark.parametrize(
    ("mechanism", "where", "why"),
    [
        (entry_by_entry, ONE, "written somewhere, before it meets the data.*draw it whole"),
        (over_a_noisy_threshold, ONE, "two noisy numbers are compared.*tape.above_threshold"),
        (heavy_tails, ONE, "is counted as known to the adversary"),
        (median, ONE, "has a scale that follows the data"),
        (in_range, TWO, "is compared, more often in some runs"),
        (histogram, TWO, "drawn more often for one of two neighbours"),
        (last_point, Pair(np.array([[0.5], [0.5]]), np.array([[-0.5], [0.5]]), 0), "added to data more than once"),
        (mode, ONE, "whether delta covers it is not known"),
        (drawn_with_replacement, TWO, "chooses among the records"),
        (first_of_an_order, TWO, "chooses among the records"),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_what_has_no_law_here_is_refused_with_a_way_out(mechanism, where, why):
    said = rf"test_refused.py:\d+.*{why}.*release\(label, value\).*dpassay blackbox"
    with pytest.raises(NotUnderstood, match=said):
        assay(mechanism, where, CLAIM, effort=QUICK)


def over_the_size_of_a_batch(rows, rng):
    batch = rows.clip(-1, 1)[rng.random(len(rows)) < 0.5]
    return (batch.sum() + rng.normal()) / len(batch)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_size_of_an_empty_batch_is_named_with_its_line():
    with pytest.raises(BadInput, match=r"test_refused.py:\d+': would be (nan|inf).*empty batch.*public number"):
        assay(over_the_size_of_a_batch, ONE, CLAIM, effort=KEYS)


def every_key(rows, rng):
    return [key for key, noisy in counted(rows, rng) if noisy > -50]


def of_the_local_sensitivity(rows, rng):
    return median(rows, rng, smooth=False)


def of_the_largest(rows, rng):
    return rows[:, 0].sum() + rng.laplace(scale=0.01 + 2 * np.abs(rows[:, 0]).max())


def last_point_and_a_count(rows, rng):
    return last_point(rows, rng), int((rows > 0).sum())


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("mechanism", "where"),
    [(every_key, TWO), (of_the_local_sensitivity, THREE), (of_the_largest, ONE), (last_point_and_a_count, ONE)],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_what_leaks_whatever_the_law_is_accused(mechanism, where):
    assert assay(mechanism, where, CLAIM, effort=KEYS).verdict.failed


# -- what the code means, by its own word ----------------------------------------------------------------------------
def two_noises(rows, rng, said):
    """Noise of 0.8 and 6 on a number that moves by 2: together enough, the first alone is not."""
    noisy = np.clip(rows, -1, 1).sum() + rng.normal(scale=0.8)
    if said:
        noisy = release("sum", noisy)
    return noisy + rng.normal(scale=9.0)


def test_release_says_where_a_sum_is_handed_out():
    pair = Pair(np.ones((1, 1)), -np.ones((1, 1)), 0)
    assert not assay(lambda rows, rng: two_noises(rows, rng, False), pair, CLAIM, effort=QUICK).verdict.failed
    assert assay(lambda rows, rng: two_noises(rows, rng, True), pair, CLAIM, effort=QUICK).verdict.failed
    assert release("sum", 3.0) == 3.0


# -- generators ------------------------------------------------------------------------------------------------------
def test_hidden_randomness_is_refused():
    hidden = np.random.Generator(np.random.PCG64(1))
    with pytest.raises(BadInput, match="different results for the same draws"):
        assay(lambda rows, rng: rows.sum() + hidden.normal(), ONE, CLAIM, effort=QUICK)


def test_a_seed_for_all_is_refused():
    def mechanism(rows):
        np.random.seed(3)  # noqa: NPY002 - the bug
        return rows.sum() + random.gauss(0.0, 5.0)

    with pytest.raises(NotUnderstood, match="fixes the noise of every run"):
        assay(mechanism, ONE, CLAIM, effort=QUICK)


def test_a_large_whole_number_is_not_counted_out():
    """A seed that is drawn has too many values to follow each: neither time nor memory is spent on them."""
    for draw in (lambda rng: rng.integers(2**60), lambda rng: rng.choice(2**60)):
        with pytest.raises(NotFinite):
            whole_law(lambda data, rng, draw=draw: draw(rng), np.zeros((1, 1)), 1e-5)


def test_names_are_as_they_were_afterwards():
    before = np.random.normal, np.random.default_rng, random.gauss, np.zeros

    def mechanism(rows):
        return np.clip(rows, 0, 1).sum() + random.gauss(0, 5.0)

    assert not assay(mechanism, ONE, CLAIM, effort=KEYS).verdict.failed
    assert before == (np.random.normal, np.random.default_rng, random.gauss, np.zeros)
    assert on_tape(lambda rows: rows).__name__ == "<lambda>"
