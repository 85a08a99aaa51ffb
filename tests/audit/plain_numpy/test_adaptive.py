"""Noise whose scale follows released values: right code is not accused, and what is dictated can be drawn."""

import numpy as np
import pytest
from scipy import stats

from dpassay.audit import Effort, assay, on_tape
from dpassay.audit.lockstep.hub import WithinReach
from dpassay.audit.lockstep.run import lockstep, scripted
from dpassay.audit.lockstep.script import Choice, Script
from dpassay.audit.plain_numpy.mechanism import recorded
from dpassay.audit.plain_numpy.places import NotUnderstood
from dpassay.reference import Pair, PrivacyClaim
from dpassay.reference.findings import Kind
from dpassay.reference.space import Space

from . import mechanisms as a

CLAIM = PrivacyClaim(1.65, 1e-5)
ONE = Pair(np.array([[0.0]]), np.array([[-0.7]]), 0)


@pytest.mark.slow  # an audit each, as `dpassay audit` makes it: half a minute
@pytest.mark.parametrize("mechanism", a.RIGHT, ids=lambda f: f.__name__)
def test_right_mechanisms_pass(mechanism):
    found = assay(mechanism, Space.matrix(), CLAIM)
    assert not found.verdict.failed, found.why
    assert found.accounted < 1.5906  # of one Gaussian with mu = 1 / sqrt(6)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", a.WRONG, ids=lambda f: f.__name__)
def test_wrong_mechanisms_fail(mechanism):
    assert assay(mechanism, Space.matrix(), CLAIM).verdict.failed


@pytest.mark.slow
def test_a_bound_that_follows_the_data_is_neither_accused_nor_passed():
    """Exact losses of what was found stay below the claim: what such a scale costs is not known here."""
    with pytest.raises(NotUnderstood, match="has a scale that follows the data"):
        assay(a.the_true_share, Space.matrix(), CLAIM)


@pytest.mark.more
def test_at_one_pair_it_is_accounted_exactly_and_half_the_noise_is_not():
    """A record and its opposite: the sum moves by twice the bound, no count moves: three releases of mu 1/6 and 1/3."""
    pair, effort = Pair(np.array([[1.0]]), np.array([[-1.0]]), 0), Effort(runs=100, pilot=100, examples=20)
    claim = PrivacyClaim(1.65, 1e-5)
    assert not assay(a.descent, pair, claim, effort=effort).verdict.failed
    assert assay(a.half_the_noise, pair, claim, effort=effort).verdict.failed


# -- the largest share, not the largest movement ---------------------------------------------------------------------
def test_a_movement_is_held_against_the_claim_of_its_own_release():
    """Of two releases under one label the one that moves further may need the smaller share of what it claims."""

    def run(value, tape):
        for scale in (1.0, 100.0):
            tape.gaussian("a", value * scale * (1.5 if scale == 1 else 1.0), std=scale, sensitivity=scale)

    for found in (lockstep(run, Pair(0.0, 1.0, 0), [0]), scripted(run, Pair(0.0, 1.0, 0), [0], Script())):
        moved = found.movements["a"]
        assert (moved.moved, moved.claimed, moved.share) == (1.5, 1.0, 1.5)
        assert [one.kind for one in found.findings] == [Kind.SENSITIVITY_EXCEEDED]


# -- within reach ------------------------------------------------------------------------------------------------------
def test_a_bound_that_no_run_comes_to_accuses_nobody():
    """A share 200 of its noise away makes a bound of e^-360, and noise next to none: no run ends there."""

    def run(rows, rng):
        bound = np.exp(-0.3 * (np.mean(np.abs(rows) < 0.5) + rng.normal(scale=6.0)))
        return np.clip(rows, -bound, bound).sum() + rng.normal(scale=12.0 * bound)

    plain = on_tape(run).tried([ONE])
    first = recorded(plain, ONE.here, 0).releases[0].label
    script = Script({first: Choice("norm", size=-360.0, along="axis")})
    assert scripted(plain, ONE, [0], script).findings == []
    bare = scripted(lambda rows, tape: plain(rows, tape), ONE, [0], script)  # the same run, and no hub is named
    assert [one.kind for one in bare.findings] == [Kind.BARE_RELEASE]


@pytest.mark.some(4)
@pytest.mark.parametrize("name", ["normal", "laplace"])
@pytest.mark.parametrize("size", [1, 3, 400])
def test_what_is_dictated_is_never_less_probable_than_said(name, size):
    """Forty huge values of one run: far away, and together at least as probable as e^-700, by scipy's own tails."""
    seen = []

    class Watched(WithinReach):
        def _dictated(self, choice, law, label):
            value = super()._dictated(choice, law, label)
            seen.append(np.ravel(value - law.query) / law.scale)
            return value

    def run(rows, rng):
        return [rows.sum() + getattr(rng, name)(0.0, 2.0, size) for _ in range(40)]

    plain = on_tape(run).tried([ONE])
    plain.hub_type = Watched
    label = recorded(plain, ONE.here, 0).releases[0].label
    scripted(plain, ONE, [0], Script({label: Choice("huge", along="axis")}))
    if name == "normal":
        logs = [stats.chi2.logsf(away @ away, size) for away in seen]
    else:
        logs = [stats.gamma.logsf(np.abs(away).sum(), size) for away in seen]
    assert len(seen) == 40 and sum(logs) > -700.1 and logs[0] == pytest.approx(-350, rel=1e-6)
