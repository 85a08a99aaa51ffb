"""The one function that judges: every verdict, the order of them, exit codes; and results that decide together."""

import math

import pytest

from dpassay.audit.exit_codes import MEANING, described
from dpassay.audit.results import AssumedEstimate, ClaimTest, SoundBound, decide
from dpassay.audit.verdict import ROUNDING, Verdict, joint_exit_code, judge, worst
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Finding, Kind


def finding(kind, given_secrets=False):
    return Finding(kind, "g", 0, "seen", given_secrets)


FAILED = ("violated", "leaks", "overshoots", "over budget")


@pytest.mark.parametrize(
    ("known", "verdict"),
    [
        ({"realised": 1.01}, "violated"),
        ({"refuted": True}, "violated"),
        ({"realised": 1.01, "findings": [finding(Kind.OUTPUT)], "accounted": math.inf}, "violated"),
        ({"realised": 0.95, "findings": [finding(Kind.OUTPUT)], "accounted": 0.9}, "leaks"),
        ({"findings": [finding(Kind.SENSITIVITY_EXCEEDED), finding(Kind.EARLY_END)]}, "leaks"),
        ({"realised": 0.95, "findings": [finding(Kind.SENSITIVITY_EXCEEDED)], "accounted": 2.0}, "overshoots"),
        ({"realised": 0.95, "power": 1.0, "accounted": 0.9}, "overshoots"),
        ({"realised": 0.95, "power": 1.0, "accounted": 0.95 * (1 - ROUNDING / 2)}, "tight"),
        ({"realised": 0.95, "power": 1.0, "accounted": 1.6}, "over budget"),
        ({"realised": 0.95, "power": 1.0, "accounted": math.inf}, "over budget"),
        ({"realised": 0.95, "accounted": 1 + ROUNDING / 2}, "tight"),
        ({"realised": 0.5, "power": 0.8, "accounted": 1.0}, "consistent"),
        ({"realised": 0.5, "power": 0.79, "accounted": 1.0}, "inconclusive"),
        ({"realised": 0.95, "power": 1.0, "untested": "D and D' are the same"}, "inconclusive"),
        ({"realised": 0.95, "power": 1.0, "findings": [finding(Kind.CLAIMED_SENSITIVITY)]}, "inconclusive"),
        ({"realised": 0.95, "power": 1.0, "findings": [finding(Kind.BARE_RELEASE, True)]}, "inconclusive"),
        ({"power": 0.9}, "consistent"),
        ({}, "inconclusive"),
    ],
)
def test_verdicts(known, verdict):
    found = judge(claimed=1.0, **known)
    assert found.value == verdict and found.failed == (verdict in FAILED)
    assert found.exit_code == (1 if verdict in FAILED else 3 if verdict == "inconclusive" else 0)


def test_worst_first_and_every_kind_that_leaks_fails():
    for kind in (kind for kind in Kind if kind.leaks):
        assert judge(claimed=50.0, realised=1.0, power=1.0, accounted=1.0, findings=[finding(kind)]) is Verdict.LEAKS
    assert [verdict.value for verdict in Verdict] == [*FAILED, "certified", "tight", "consistent", "inconclusive"]
    assert worst([Verdict.TIGHT, Verdict.OVER_BUDGET, Verdict.CONSISTENT]) is Verdict.OVER_BUDGET
    assert worst([]) is Verdict.INCONCLUSIVE


def test_a_failure_outweighs_what_is_inconclusive_and_exit_codes_are_described():
    assert [joint_exit_code(codes) for codes in ([0, 3, 1], [3, 0], [0, 0], [])] == [1, 3, 0, 0]
    assert all(str(code) in described() for code in MEANING) and set(MEANING) >= {0, 1, 2, 3, 70, 130, 141}


def _bound(epsilon, claimed=2.0, **more):
    return SoundBound(epsilon=epsilon, delta=1e-5, confidence=0.95, method="test", claimed=claimed, runs=10, **more)


@pytest.mark.parametrize(
    ("epsilon", "claimed", "power", "verdict"),
    [
        (2.1, 2.0, None, "violated"),
        (1.9, 2.0, None, "tight"),
        (0.0, 0.0, None, "inconclusive"),
        (1.0, 2.0, 0.9, "consistent"),
        (99.0, None, 1.0, "inconclusive"),
    ],
)
def test_verdict_of_a_sound_bound(epsilon, claimed, power, verdict):
    assert _bound(epsilon, claimed, power=power).verdict == verdict


def test_an_assumed_estimate_never_decides_and_names_its_assumption():
    about = {"epsilon": 50.0, "delta": 1e-5, "confidence": 0.95, "method": "gdp"}
    estimate = AssumedEstimate(**about, assumption="the curve is Gaussian")
    assert estimate.verdict is Verdict.INCONCLUSIVE and not isinstance(estimate, SoundBound)
    for unsound, name in ((estimate, "AssumedEstimate"), (3.0, "float")):
        with pytest.raises(TypeError, match=name):
            decide([_bound(1.0), unsound])
    with pytest.raises(BadInput, match="assumption"):
        AssumedEstimate(**about, assumption=" ")


def test_results_are_checked():
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
