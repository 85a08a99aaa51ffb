"""The redirection by itself, on a small library of our own: worlds stay apart, and without a run nothing changes."""

from __future__ import annotations

import random

import numpy as np
import pytest

from dpassay.audit.libraries.model import Model
from dpassay.audit.libraries.pure_loss import LOSS, PureLoss
from dpassay.audit.libraries.redirect import Patch, Patches, current_tape, on_tape, on_the_tape
from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.findings import Kind
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.neighbours import Pair
from dpassay.reference.space import Rows, Space


class Noisy:
    """A mechanism of somebody's library."""

    def __init__(self, epsilon, sensitivity):
        self.epsilon, self.sensitivity = epsilon, sensitivity

    def randomise(self, value):
        return value + random.gauss(0, 1)


def _answer(tape, mech, value):
    return tape.laplace("sum", value, scale=mech.sensitivity / mech.epsilon, sensitivity=mech.sensitivity)


@pytest.fixture
def patches():
    original = Noisy.randomise
    yield Patches(lambda: [Patch(Noisy, "randomise", on_the_tape(_answer))])
    Noisy.randomise = original


def run_of(patches, work):
    return on_tape(patches, work, "work")


def test_worlds_have_their_own_tape_and_no_run_has_none(patches):
    run = run_of(patches, lambda data: {"total": Noisy(1.0, 1.0).randomise(float(np.sum(data)))})
    found = lockstep(run, Pair(np.array([0.0, 1.0]), np.array([0.0, 0.0]), 1), [0])
    assert found.complete and not found.findings and found.movements["sum"].moved == 1.0
    assert current_tape() is None
    random.seed(1)
    assert Noisy(1.0, 1.0).randomise(5.0) == 5.0 + (random.seed(1), random.gauss(0, 1))[1]


def test_what_is_seen_beside_the_releases_is_a_finding(patches):
    run = run_of(patches, lambda data: {"count": len(data), "largest": float(np.max(data))})
    found = lockstep(run, Pair(np.array([0.0, 1.0]), np.array([0.0, 0.0]), 1), [0])
    assert [(one.kind, one.label) for one in found.findings] == [(Kind.REVEALED_VALUE, "largest")]


def _model(patches, epsilon, sensitivity, epsilon_used):
    space = {"replace-one": Space(Rows(1, None, (0.0, 1.0)), {"n": (1, 2)})}
    work = lambda data: {"total": Noisy(epsilon_used, sensitivity).randomise(float(np.sum(data)))}  # noqa: E731
    return Model("sum", run_of(patches, work), epsilon, space)


def test_a_pure_claim_is_held_to_the_loss_of_values_that_are_chosen(patches):
    good = _model(patches, 1.0, 1.0, 1.0).search("replace-one", examples=60)
    assert not good.findings and good.shares[LOSS] == pytest.approx(1.0)
    loud = _model(patches, 1.0, 1.0, 1.3).search("replace-one", examples=60)
    assert [(one.kind, one.label) for one in loud.findings] == [(Kind.VIOLATED, LOSS)]
    assert loud.shares[LOSS] == pytest.approx(1.3) and "1.3" in loud.findings[0].detail


def test_a_wrong_sensitivity_is_found_even_where_the_loss_stays_small(patches):
    found = _model(patches, 1.0, 0.5, 0.4).search("replace-one", examples=60)
    assert [one.kind for one in found.findings] == [Kind.SENSITIVITY_EXCEEDED]


def test_losses_of_impossible_values_say_nothing():
    claim = PrivacyClaim(1.0, 0.0)
    assert PureLoss(claim, "replace-one").hub_type is not None
    assert Laplace(np.array(0.0), 1.0).possible(3.0) == 3.0
