import dataclasses

import pytest

from dpassay.audit.results import AssumedEstimate, ClaimTest, SoundBound, Verdict, decide
from dpassay.reference.errors import BadInput


def _bound(epsilon, claimed=2.0, **more):
    return SoundBound(epsilon=epsilon, delta=1e-5, confidence=0.95, method="test", claimed=claimed, runs=10, **more)


@pytest.mark.parametrize(
    ("epsilon", "claimed", "power", "verdict"),
    [
        (2.1, 2.0, None, Verdict.VIOLATED),
        (2.0, 2.0, None, Verdict.TIGHT),
        (1.9, 2.0, None, Verdict.TIGHT),
        (0.0, 0.0, None, Verdict.INCONCLUSIVE),
        (1.0, 2.0, 0.9, Verdict.CONSISTENT),
        (1.0, 2.0, 0.5, Verdict.INCONCLUSIVE),
        (1.0, 2.0, None, Verdict.INCONCLUSIVE),
        (99.0, None, 1.0, Verdict.INCONCLUSIVE),
    ],
)
def test_verdict_of_a_sound_bound(epsilon, claimed, power, verdict):
    assert _bound(epsilon, claimed, power=power).verdict is verdict


def test_an_assumed_estimate_never_decides():
    estimate = AssumedEstimate(
        epsilon=50.0, delta=1e-5, confidence=0.95, method="gdp", assumption="the curve is Gaussian"
    )
    assert estimate.verdict is Verdict.INCONCLUSIVE
    assert not isinstance(estimate, SoundBound)
    with pytest.raises(TypeError, match="AssumedEstimate"):
        decide([_bound(1.0), estimate])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="float"):
        decide([3.0])  # type: ignore[list-item]


def test_assumption_must_be_named_and_sound_bounds_take_none():
    with pytest.raises(BadInput, match="assumption"):
        AssumedEstimate(epsilon=1, delta=0, confidence=0.95, method="m", assumption=" ")
    with pytest.raises(TypeError):
        SoundBound(epsilon=1, delta=0, confidence=0.95, method="m", assumption="x")  # type: ignore[call-arg]
    assert _bound(1.0).assumption is None


def test_results_are_frozen_and_checked():
    with pytest.raises(dataclasses.FrozenInstanceError):
        _bound(1.0).epsilon = 3.0
    for field, value in (("epsilon", -1.0), ("epsilon", float("nan")), ("delta", 1.5), ("confidence", 1.0)):
        good = {"epsilon": 1.0, "delta": 0.0, "confidence": 0.9, "method": "m"}
        with pytest.raises(BadInput, match=field):
            SoundBound(**{**good, field: value})


def test_claim_test_and_the_join():
    refuted = ClaimTest(claim="mu = 1", p_value=0.01, confidence=0.95, method="curve")
    unseen = ClaimTest(claim="mu = 1", p_value=0.5, confidence=0.95, method="curve", power=0.95)
    assert refuted.verdict is Verdict.VIOLATED and unseen.verdict is Verdict.CONSISTENT
    assert decide([unseen, refuted]) is Verdict.VIOLATED
    assert decide([unseen, _bound(1.95)]) is Verdict.TIGHT
    assert decide([]) is Verdict.INCONCLUSIVE
