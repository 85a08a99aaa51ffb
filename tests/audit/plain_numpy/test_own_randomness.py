"""Randomness that an audit cannot follow ends in a line that says where it is and what to do, and never in a pass."""

from __future__ import annotations

import inspect
import random

import numpy as np
import pytest
from numpy.random import default_rng, normal

from dpassay.audit import Effort, assay
from dpassay.audit.plain_numpy.finite import NotFinite, whole_law
from dpassay.reference import PrivacyClaim, Space
from dpassay.reference.errors import BadInput

CLAIM = PrivacyClaim(0.5, 1e-5)
SPACE = Space.matrix(n=(2, 4), d=(2,))
QUICK = Effort(runs=60, pilot=50, examples=25)
SCALE = 7.0319  # noise over movement for epsilon 0.5 at delta 1e-5


def right_near_the_edge(data, rng):
    return data.mean(axis=0) + rng.normal(0, 1.002 * SCALE * 2 / len(data), data.shape[1])


def wrong_near_the_edge(data, rng):
    return data.mean(axis=0) + rng.normal(0, 0.985 * SCALE * 2 / len(data), data.shape[1])


def right_with_replacement(data, rng):
    picked = rng.choice(len(data), size=2)
    return data[picked].mean(axis=0) + rng.normal(0, 40.0, data.shape[1])


def wrong_with_replacement(data, rng):
    picked = rng.integers(0, len(data), size=2)
    return data[picked].mean(axis=0) + rng.normal(0, 0.5, data.shape[1])


def right_with_projection(data, rng):
    """A public direction from a fixed seed protects nothing and need not: the noise does."""
    direction = default_rng(7).standard_normal(data.shape[1])
    return data.mean(axis=0) @ direction / np.linalg.norm(direction) + rng.normal(0, 40.0)


def wrong_with_its_own(data, rng):
    return data.mean(axis=0) + default_rng().normal(0, 40.0, data.shape[1])


def wrong_with_the_shared_one(data, rng):
    return data.mean(axis=0) + normal(0, 40.0, data.shape[1])  # noqa: NPY002 - the bug


def wrong_with_pythons_own(data, rng):
    return float(data.mean()) + random.gauss(0, 40.0)


def line(mechanism, text):
    """``test_own_randomness.py:12`` of the line that holds this text."""
    source, first = inspect.getsourcelines(mechanism)
    return f"test_own_randomness.py:{first + next(n for n, one in enumerate(source) if text in one)}"


@pytest.mark.parametrize(
    ("mechanism", "maker"),
    [
        (wrong_with_its_own, "np.random.default_rng"),
        (wrong_with_the_shared_one, "np.random.normal"),
        (wrong_with_pythons_own, "random.gauss"),
    ],
)
def test_a_generator_of_its_own_by_any_name_is_refused_with_its_line(mechanism, maker):
    with pytest.raises(BadInput) as refused:
        assay(mechanism, SPACE, CLAIM, effort=QUICK)
    assert f"{maker} at {line(mechanism, maker.rpartition('.')[2])})" in str(refused.value)
    assert "draw from that one" in str(refused.value)


def test_names_are_as_they_were_afterwards():
    with pytest.raises(BadInput):
        assay(wrong_with_the_shared_one, SPACE, CLAIM, effort=QUICK)
    assert normal is np.random.normal and default_rng is np.random.default_rng


@pytest.mark.more
def test_a_choice_with_replacement_passes_without_amplification_or_is_refused():
    found = assay(right_with_replacement, SPACE, CLAIM, effort=QUICK)
    assert not found.verdict.failed
    assert f"{line(right_with_replacement, 'choice')} chooses has no law here" in found.why
    with pytest.raises(BadInput, match=r"with replacement.*replace=False") as refused:
        assay(wrong_with_replacement, SPACE, CLAIM, effort=QUICK)
    assert line(wrong_with_replacement, "integers") in str(refused.value)


def test_a_public_direction_of_a_fixed_seed_is_no_fault():
    assert not assay(right_with_projection, SPACE, CLAIM, effort=QUICK).verdict.failed


@pytest.mark.more
def test_near_the_edge_of_the_budget_right_passes_and_wrong_does_not():
    assert not assay(right_near_the_edge, SPACE, CLAIM, effort=QUICK).verdict.failed
    assert assay(wrong_near_the_edge, SPACE, CLAIM, effort=QUICK).verdict.failed


def test_a_large_whole_number_is_not_counted_out():
    """A seed that is drawn has too many values to follow each: neither time nor memory is spent on them."""
    for draw in (lambda rng: rng.integers(2**60), lambda rng: rng.choice(2**60)):
        with pytest.raises(NotFinite):
            whole_law(lambda data, rng, draw=draw: draw(rng), np.zeros((1, 1)), 1e-5)
