"""The one function that judges: every verdict, the order of them, and the exit codes."""

from __future__ import annotations

import math

import pytest

from dpassay.audit.exit_codes import MEANING, described
from dpassay.audit.verdict import ROUNDING, Verdict, joint_exit_code, judge, worst
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


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind.leaks])
def test_every_kind_that_leaks_fails(kind):
    assert judge(claimed=50.0, realised=1.0, power=1.0, accounted=1.0, findings=[finding(kind)]) is Verdict.LEAKS


def test_worst_first():
    assert [verdict.value for verdict in Verdict] == [*FAILED, "certified", "tight", "consistent", "inconclusive"]
    assert worst([Verdict.TIGHT, Verdict.OVER_BUDGET, Verdict.CONSISTENT]) is Verdict.OVER_BUDGET
    assert worst([]) is Verdict.INCONCLUSIVE


def test_a_failure_outweighs_what_is_inconclusive():
    assert [joint_exit_code(codes) for codes in ([0, 3, 1], [3, 0], [0, 0], [])] == [1, 3, 0, 0]


def test_exit_codes_are_described():
    assert all(str(code) in described() for code in MEANING) and set(MEANING) >= {0, 1, 2, 3, 70, 130, 141}
