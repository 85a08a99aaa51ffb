"""Ceilings against brute force and known mechanisms, p-values against simulated private attackers, the stored table."""

import json
import math

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpassay.audit.published import assessment
from dpassay.audit.published.assessment import (
    Finding,
    Published,
    assess,
    ceiling_of,
    ceiling_under_shift,
    implied_epsilon,
    swap_claim,
)
from dpassay.audit.published.dro import table_2
from dpassay.reference.errors import BadInput
from dpassay.reference.guarantee import approx_dp


@pytest.mark.parametrize("epsilon, delta", [(0.1, 0.0), (1.0, 1e-5), (3.0, 0.01), (0.0, 0.0)])
def test_closed_forms_equal_the_integrated_trade_off(epsilon, delta):
    """By the midpoint rule, which errs upwards, and the least sum of errors on a grid."""
    claim, edges = approx_dp(epsilon, delta), np.linspace(0.0, 1.0, 20_001) ** 3
    area = 1 - claim.trade_off((edges[1:] + edges[:-1]) / 2) @ np.diff(edges)
    corner = 1 - 0.5 * np.min(edges + claim.trade_off(edges))
    for metric, found, error in (("auc", area, 1e-6), ("balanced accuracy", corner, 1e-4)):
        assert ceiling_of(metric, epsilon, delta) == pytest.approx(found, abs=error)
    assert ceiling_of("tpr", epsilon, delta, 0.05) == pytest.approx(1 - claim.trade_off(np.array([0.05]))[0], abs=1e-12)


@pytest.mark.parametrize(
    ("seed", "pairs", "epsilon", "trials", "delta", "least", "most"),
    [(11, 60, 1.0, 20_000, 0.0, 1e-9, 0.05), (12, 500, 2.0, 2_000, 1e-6, 0.99, 1.0)],
)
def test_auc_p_value_keeps_its_level_and_has_power(seed, pairs, epsilon, trials, delta, least, most):
    """The strongest epsilon-DP attacker has one bit per pair, scores as dependent as can be; epsilon 1 is claimed."""
    aucs = np.random.default_rng(seed).binomial(pairs, 1 / (1 + math.exp(-epsilon)), size=trials) / pairs
    claim = approx_dp(1.0, delta)
    values = {auc: assess(Published("auc", auc, pairs, pairs), claim).p_value for auc in np.unique(aucs)}
    assert least <= np.mean([values[auc] <= 0.05 for auc in aucs]) <= most


@pytest.mark.parametrize(
    ("tpr", "delta", "least", "most"), [(0.5, 1e-6, 0, 0.01), (0.0027, 0.0, 1, 1), (0.003, 0.0, 0.05, 1)]
)
def test_tpr_p_value_rejects_only_what_is_too_good(tpr, delta, least, most):
    assert least <= assess(Published("tpr", tpr, 5000, 5000, 0.001), approx_dp(1.0, delta)).p_value <= most


def test_one_group_changes_nothing_and_a_group_detector_reaches_the_ceiling_of_two():
    """Members 90/10, non-members 10/90 of two groups: telling the group apart gives 0.82 + ties, below the ceiling."""
    plain = assess(Published("auc", 0.8, 500, 700), approx_dp(1.0)).p_value
    assert assessment.grouped_auc_p_value(0.8, [(500, 700)], 1.0, 0.0) == pytest.approx(plain)
    assert assessment.grouped_auc_p_value(0.99, [(500, 0), (0, 700)], 0.1, 0.0) == 1.0  # shift alone explains all
    assert assessment.grouped_auc_p_value(1.0, [(1, 9)], 0.0, 0.0) == pytest.approx(0.5)  # one member is one guess
    groups = [(900, 100), (100, 900)]
    share = assessment.exchangeable_share(groups)
    assert share == pytest.approx(0.18) and ceiling_under_shift(0.6, 0.5) == pytest.approx(0.8)
    detector = 0.81 + 0.5 * share
    assert detector < ceiling_under_shift(ceiling_of("auc", 0.1, 0.0), share)
    assert assessment.grouped_auc_p_value(detector, groups, 0.1, 0.0) == 1.0
    assert assessment.grouped_auc_p_value(0.999, groups, 0.1, 0.0) < 1e-6
    for wrong in (lambda: ceiling_under_shift(0.6, 1.1), lambda: assessment.matching_p_value(1.1, 0.5, 9, 1.0, 0.0)):
        with pytest.raises(BadInput):
            wrong()


def test_table_2_of_dro():
    found = {(algorithm, one.claim.outermost[0]): one.finding for algorithm, one in table_2()}
    shift, within = Finding.CONTRADICTS_UNLESS_SHIFT, Finding.WITHIN
    assert len(found) == 12
    double = [found["DP Double SPIDER", e] for e in (0.1, 1.0, 3.0, 5.0)]
    assert double == [Finding.CONTRADICTS, Finding.CONTRADICTS, shift, within]
    recursive = [found["DP Recursive SPIDER", e] for e in (0.1, 1.0, 3.0)]
    assert recursive == [Finding.CONTRADICTS, shift, within]


def test_command_line(dpassay):
    """What it refuses: `tests/audit/commands/test_bad_input.py`."""
    claimed = ("published", "--members", 5000, "--nonmembers", 5000, "--delta", 1e-5, "--epsilon", 1)
    code, out, _ = dpassay(*claimed, "--auc", 0.97, "--json")
    assert (code, json.loads(out)["finding"]) == (1, "contradicts unless shifted")
    assert dpassay(*claimed, "--auc", 0.7)[0] == 0
    assert "DP Recursive SPIDER" in dpassay("published", "--paper", "dro")[1]
    found = json.loads(dpassay(*claimed, "--tpr", 1, "--fpr", 0, "--json", "--relation", "add-remove")[1])
    assert found["implied epsilon"] == "infinity"  # a TPR of 1 fits no finite one at FPR 0


def test_a_table_of_results(dpassay, refused, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("epsilon,auc,tpr,fpr,members,nonmembers\n1,0.97,,,500,500\n1,,1,1,50,50")
    code, out, _ = dpassay("published", table, "--json")
    found = [one["finding"] for one in json.loads(out)["cells"]]
    assert code == 1 and found == ["contradicts unless shifted", "within the ceiling"]
    table.write_text("epsilon,auc,members\n1,0.9,500")
    refused(dpassay("published", table), "line 2")


def test_add_remove_claims_are_weakened_for_swaps():
    """AUC 0.83 with 5,000 pairs: impossible at replace-one epsilon 1; add-remove swaps cost 2 epsilon."""
    assert swap_claim(0.5, 1e-9, "replace-one") == (0.5, 1e-9)
    assert swap_claim(0.5, 1e-9, "add-remove") == (1.0, pytest.approx((1 + math.exp(0.5)) * 1e-9))
    printed = Published("auc", 0.83, 5000, 5000)
    assert assess(printed, approx_dp(1.0, 1e-9, "replace-one")).finding is Finding.CONTRADICTS_UNLESS_SHIFT
    assert assess(printed, approx_dp(1.0, 1e-9, "add-remove")).finding is Finding.ABOVE


def test_grouped_p_value_keeps_its_level():
    """2,000 attackers at exactly epsilon = 1 who win every pair across groups: alarms at 5 % at most (seed 14)."""
    rng, groups = np.random.default_rng(14), [(450, 250), (50, 250)]
    rate, weights = 1 / (1 + math.exp(-1.0)), np.array([0.45, 0.05])
    within = np.array([rng.binomial(250, rate, 2_000) / 250, rng.binomial(50, rate, 2_000) / 50])
    aucs = weights @ within + 0.5
    alarms = np.mean([assessment.grouped_auc_p_value(float(auc), groups, 1.0, 0.0) <= 0.05 for auc in aucs])
    assert alarms <= 0.05


values = st.floats(0, 1) | st.floats(-16, -0.1).map(lambda power: 1 - 10.0**power)
deltas = st.just(0.0) | st.floats(-300, -0.1).map(lambda power: 10.0**power)


def truth(metric, value, delta, fpr):
    """Solved for epsilon by hand, to 60 digits; at least 0."""
    with mpmath.workdps(60):
        v, d = mpmath.mpf(value), mpmath.mpf(delta)
        if metric == "tpr":
            quotients = [(v - d, mpmath.mpf(fpr)), (1 - d - mpmath.mpf(fpr), 1 - v)]
        else:
            quotients = [((1 - d) ** 2 - (1 - v) if metric == "auc" else v - d, 1 - v)]
        logs = [mpmath.inf if below == 0 else mpmath.log(above / below) for above, below in quotients if above > below]
        return max([mpmath.mpf(0), *logs])


@settings(max_examples=150)
@given(st.sampled_from(["auc", "balanced accuracy", "tpr"]), values, deltas, st.floats(0, 1))
@example("auc", 1 - 1e-12, 1e-5, 0.0)
def test_an_implied_epsilon_is_rounded_down(metric, value, delta, fpr):
    found, exact = implied_epsilon(metric, value, delta, fpr), truth(metric, value, delta, fpr)
    assert found <= exact
    if math.isfinite(found) and value < 1 - 1e-9 and exact > 1e-3:
        assert found >= exact - 1e-9 or value - delta < 1e-6 or 1 - delta < 1e-6 or 1 - delta - fpr < 1e-6


@settings(max_examples=100)
@given(st.sampled_from(["auc", "balanced accuracy", "tpr"]), st.floats(0, 40), deltas, st.floats(0, 1))
def test_a_ceiling_allows_its_own_epsilon(metric, epsilon, delta, fpr):
    value = max(0.0, ceiling_of(metric, epsilon, delta, fpr) - 8e-16)  # what a ceiling is rounded up by, and more
    assert implied_epsilon(metric, value, delta, fpr) <= epsilon


def test_a_perfect_attack_implies_everything_and_a_coin_nothing():
    for metric, fpr, coin in (("auc", None, 0.5), ("balanced accuracy", None, 0.5), ("tpr", 0.1, 0.1)):
        assert implied_epsilon(metric, 1.0, 0.0, fpr) == math.inf and implied_epsilon(metric, coin, 0.0, fpr) == 0.0
