"""How the releases of plain code add up for one pair of neighbours."""

import numpy as np
import pytest

from dpassay.audit import Effort, assay, on_tape
from dpassay.audit.certify.certificate import certify
from dpassay.audit.plain_numpy.places import NotUnderstood
from dpassay.reference import Pair, PrivacyClaim, record
from dpassay.reference.findings import Kind
from dpassay.reference.space import Space

from . import styles as s

CLAIM = PrivacyClaim(1.0, 1e-5)
HERE = np.array([[0.5, 0.2], [0.1, -0.3], [-0.4, 0.9]])
PAIR = Pair(HERE, np.vstack([[-0.5, -0.7], HERE[1:]]), 0)


def test_a_random_start_is_known():
    """Read as noise it would be a release of a single record with a noise of 0.1: an epsilon of hundreds."""
    reading = on_tape(s.from_a_random_start).tried([PAIR])
    seen = record(lambda tape: reading(HERE[:1], tape), seed=0)
    assert [one.law.scale for one in seen.releases] == pytest.approx([0.5 * 14.0] * 3)  # the step is a half


def test_one_draw_for_several_records_hides_none_of_them():
    run = on_tape(lambda rows, rng: [abs(float(one)) for one in rng.normal() - rows[:, 0]])
    assert not record(lambda tape: run(HERE, tape), seed=0).releases


def test_numbers_that_differ_by_rounding_are_one():
    run = on_tape(lambda rows, rng: np.array([0.3, 0.1 + 0.2]) * rows[0, 0] + rng.normal())
    assert len(record(lambda tape: run(HERE, tape), seed=0).releases) == 1


# -- one pair ------------------------------------------------------------------------------------------------------
LINE = Space.matrix(n=(1,), d=(1,))
PURE = PrivacyClaim(1.0, 1e-9)
QUICK = Effort(runs=100, pilot=100, examples=30)


def size_and_value(rows, rng, scale=1.6):
    """From -1 to 1 the value moves by 2 and its size by nothing, from 0 to 1 both by 1: 1.5 / scale at most, not 2."""
    value = np.clip(rows[:, 0], -1, 1)
    size = np.abs(value).sum() + rng.laplace(scale=scale)
    return size, value.sum() + rng.laplace(scale=2 * scale)


@pytest.mark.more
def test_movements_of_different_pairs_do_not_add_up():
    found = assay(size_and_value, LINE, PURE, effort=QUICK)
    assert not found.verdict.failed
    assert found.accounted == found.searched.accounted == pytest.approx(1.5 / 1.6, rel=1e-6)


@pytest.mark.more
def test_over_budget_is_said_of_a_pair():
    """With less noise some pair breaks the claim by itself: the witness is one that does, and replays."""

    def louder(rows, rng):
        return size_and_value(rows, rng, 1.4)

    found = assay(louder, LINE, PURE, effort=QUICK)
    assert found.verdict.failed
    (witness,) = [one for one in found.searched.witnesses if one.finding.kind is Kind.OVER_BUDGET]
    here, there = witness.data.rows[0, 0], witness.data.there[0]
    assert (abs(abs(here) - abs(there)) + abs(here - there) / 2) / 1.4 > 1
    assert f"{found.searched.accounted:.4g}" == "1.071"


def seeded_inside(rows, rng):
    return np.clip(rows, -1, 1).sum(0) + np.random.default_rng(7).normal(0, 8.0, rows.shape[1])


def seeded_by_a_draw(rows, rng):
    own = np.random.RandomState(int(rng.integers(2**31)))
    return np.clip(rows, -1, 1).sum(0) + own.normal(0, 16.0, rows.shape[1])


def tells_its_seed(rows, rng):
    seed = int(rng.integers(2**31))
    return np.clip(rows, -1, 1).sum(0) + np.random.default_rng(seed).normal(0, 16.0, rows.shape[1]), seed


def sows_a_seed_twice(rows, rng):
    seed = int(rng.integers(2**31))
    one, two = (np.random.default_rng(seed).normal(0, 16.0, rows.shape[1]) for _ in range(2))
    return np.clip(rows, -1, 1).sum(0) + one, np.clip(rows, 0, 1).sum(0) + two


def certified(run):
    return certify(run, Space.matrix(n=(3,), d=(2,)), delta=CLAIM.delta)


def test_a_seed_that_was_drawn_is_secret_once_and_till_it_is_told():
    found = assay(seeded_by_a_draw, PAIR, CLAIM, effort=QUICK)
    assert not found.verdict.failed and "seed" not in found.why
    assert certified(seeded_by_a_draw).epsilon < CLAIM.epsilon
    for run, why in ((tells_its_seed, "hands out a seed"), (sows_a_seed_twice, "the same noise a second time")):
        with pytest.raises(NotUnderstood, match=why):
            assay(run, PAIR, CLAIM, effort=QUICK)
        assert certified(run).epsilon is None and "seed" in str(certified(run))


def test_a_generator_with_a_fixed_seed_is_named():
    found = assay(seeded_inside, PAIR, CLAIM, effort=QUICK)
    assert found.verdict.failed
    assert found.why.startswith("a generator with a fixed seed is made at test_one_pair.py:")
