"""Ceilings against brute force and known mechanisms, p-values against simulated private attackers, the stored table."""

import json
import math

import numpy as np
import pytest
import typer
from scipy.stats import norm
from typer.testing import CliRunner

from dpassay.audit import matching
from dpassay.audit import published as p
from dpassay.audit.commands.published import published
from dpassay.audit.published_dro import table_2
from dpassay.reference.errors import BadInput


@pytest.mark.parametrize("epsilon, delta", [(0.1, 0.0), (1.0, 1e-5), (3.0, 0.01), (0.0, 0.0)])
def test_closed_forms_equal_the_integrated_trade_off(epsilon, delta):
    numeric = p.ceilings(p.dp_trade_off(epsilon, delta), fprs=(0.05,))
    assert numeric.auc == pytest.approx(p.largest_auc(epsilon, delta), abs=1e-6)
    assert numeric.auc >= p.largest_auc(epsilon, delta) - 1e-12  # errs upwards
    assert numeric.balanced_accuracy == pytest.approx(p.largest_balanced_accuracy(epsilon, delta), abs=1e-4)
    assert numeric.balanced_accuracy >= p.largest_balanced_accuracy(epsilon, delta) - 1e-12
    assert numeric.tpr[0.05] == pytest.approx(p.largest_tpr(epsilon, delta, 0.05))


def test_notes_values():
    assert p.largest_auc(0.1, 0.0) == pytest.approx(0.525, abs=5e-4)
    assert p.largest_auc(1.0, 1e-5) == pytest.approx(0.731, abs=5e-4)


def test_gdp_ceilings():
    """AUC Phi(mu / sqrt 2), balanced accuracy Phi(mu / 2)."""
    found = p.ceilings(p.gdp_trade_off(1.3), fprs=(0.01,))
    assert found.auc == pytest.approx(norm.cdf(1.3 / math.sqrt(2)), abs=1e-5)
    assert found.balanced_accuracy == pytest.approx(norm.cdf(0.65), abs=1e-4)
    assert found.tpr[0.01] == pytest.approx(norm.sf(norm.isf(0.01) - 1.3))
    assert p.gdp_from_auc(found.auc) == pytest.approx(1.3, abs=1e-4)


def test_gaussian_pld_recovers_its_gdp_curve():
    """One full-batch release with noise multiplier 1 is 1-GDP (add/remove); the envelope lies just above."""
    found = p.ceilings(p.sampled_gaussian_trade_off(1.0, 1.0, 1), fprs=())
    exact = norm.cdf(1 / math.sqrt(2))
    assert exact <= found.auc <= exact + 1e-3


@pytest.mark.parametrize("metric, fpr", [("auc", None), ("balanced accuracy", None), ("tpr", 0.01)])
def test_implied_epsilon_inverts_the_ceiling(metric, fpr):
    ceiling = {
        "auc": p.largest_auc(1.7, 1e-4),
        "balanced accuracy": p.largest_balanced_accuracy(1.7, 1e-4),
        "tpr": p.largest_tpr(1.7, 1e-4, 0.01),
    }[metric]
    assert p.implied_epsilon(metric, ceiling, 1e-4, fpr) == pytest.approx(1.7, abs=1e-9)
    assert p.implied_epsilon(metric, 0.4 if metric != "tpr" else 0.005, 1e-4, fpr) == 0.0


def randomised_response(rng, pairs, epsilon, trials):
    """AUCs of the strongest epsilon-DP attacker: one bit per pair, scores as dependent as they can be."""
    right = rng.binomial(pairs, 1 / (1 + math.exp(-epsilon)), size=trials)
    return right / pairs


def test_auc_p_value_keeps_its_level_against_the_strongest_private_attacker():
    """20,000 attackers at exactly epsilon = 1, 60 pairs: false alarms at level 0.05 at most 0.05 (seed 11)."""
    aucs = randomised_response(np.random.default_rng(11), 60, 1.0, 20_000)
    values = {auc: matching.auc_p_value(auc, 60, 60, 1.0, 0.0) for auc in np.unique(aucs)}
    alarms = np.mean([values[auc] <= 0.05 for auc in aucs])
    assert 0 < alarms <= 0.05


def test_auc_p_value_has_power():
    """Against epsilon = 1, an attacker with the strength of epsilon = 2 is caught in 500 pairs with power > 0.99."""
    aucs = randomised_response(np.random.default_rng(12), 500, 2.0, 2_000)
    values = {auc: matching.auc_p_value(auc, 500, 500, 1.0, 1e-6) for auc in np.unique(aucs)}
    caught = [values[auc] <= 0.05 for auc in aucs]
    assert np.mean(caught) > 0.99


def test_auc_p_value_on_a_real_random_split():
    """Score = noisy bit per record (add a common model-wide offset): epsilon-DP, so alarms stay below the level (seed
    13)."""
    rng, alarms = np.random.default_rng(13), 0
    for _ in range(400):
        members, others = rng.random(200) < 0.731, rng.random(200) < 0.269
        tpr, fpr = members.mean(), others.mean()
        auc = tpr * (1 - fpr) + 0.5 * (tpr * fpr + (1 - tpr) * (1 - fpr))
        alarms += matching.auc_p_value(auc, 200, 200, 1.0, 0.0) <= 0.05
    assert alarms <= 20


def test_tpr_p_value_rejects_only_what_is_too_good():
    assert matching.tpr_p_value(0.5, 0.001, 5000, 5000, 1.0, 1e-6) < 0.01
    assert matching.tpr_p_value(0.0027, 0.001, 5000, 5000, 1.0, 0.0) == 1.0
    assert matching.tpr_p_value(0.003, 0.001, 5000, 5000, 1.0, 0.0) > 0.05


def test_grouped_p_value_reduces_to_the_plain_one():
    plain = matching.auc_p_value(0.8, 500, 700, 1.0, 0.0)
    assert matching.grouped_auc_p_value(0.8, [(500, 700)], 1.0, 0.0) == pytest.approx(plain)
    assert matching.grouped_auc_p_value(0.99, [(500, 0), (0, 700)], 0.1, 0.0) == 1.0  # shift alone explains all


def test_grouped_ceiling_is_reached_by_a_group_detector():
    """Members 90/10, non-members 10/90 of two groups: telling the group apart gives 0.82 + ties, below the ceiling."""
    groups = [(900, 100), (100, 900)]
    share = matching.exchangeable_share(groups)
    assert share == pytest.approx(0.18)
    detector = 0.81 + 0.5 * share
    assert detector < p.ceiling_under_shift(p.largest_auc(0.1, 0.0), share)
    assert matching.grouped_auc_p_value(detector, groups, 0.1, 0.0) == 1.0
    assert matching.grouped_auc_p_value(0.999, groups, 0.1, 0.0) < 1e-6


def test_table_2_of_dro():
    found = {(cell.algorithm, cell.assessment.result.epsilon): cell.assessment.finding for cell in table_2()}
    assert len(found) == 12
    double = [found["DP Double SPIDER", e] for e in (0.1, 1.0, 3.0, 5.0)]
    assert double == [
        p.Finding.CONTRADICTS, p.Finding.CONTRADICTS, p.Finding.CONTRADICTS_UNLESS_SHIFT, p.Finding.WITHIN,
    ]  # fmt: skip
    recursive = [found["DP Recursive SPIDER", e] for e in (0.1, 1.0, 3.0)]
    assert recursive == [p.Finding.CONTRADICTS, p.Finding.CONTRADICTS_UNLESS_SHIFT, p.Finding.WITHIN]


@pytest.fixture
def command():
    app = typer.Typer()
    app.command()(published)
    return lambda *arguments: CliRunner().invoke(app, list(arguments))


def test_command_line(command):
    counts = ("--members", "5000", "--nonmembers", "5000", "--delta", "1e-5")
    result = command("--auc", "0.97", "--epsilon", "1", *counts, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["finding"] == "contradicts unless shifted"
    assert command("--auc", "0.7", "--epsilon", "1", *counts).exit_code == 0
    assert "DP Recursive SPIDER" in command("--paper", "dro").stdout


@pytest.mark.parametrize(
    "arguments",
    [["--auc", "0.9"], ["--epsilon", "1"], ["--auc", "1.2", "--epsilon", "1"], ["--tpr", "0.1", "--epsilon", "1"]],
)
def test_command_line_refuses(command, arguments):
    assert isinstance(command(*arguments).exception, BadInput)


def test_bad_group():
    with pytest.raises(BadInput, match="groups"):
        matching.exchangeable_share([])


def test_grouped_p_value_keeps_its_level():
    """2,000 attackers at exactly epsilon = 1 who win every pair across groups: alarms at level 0.05 at most 0.05 (seed
    14)."""
    rng, groups = np.random.default_rng(14), [(450, 250), (50, 250)]
    rate, weights = 1 / (1 + math.exp(-1.0)), np.array([0.45, 0.05])
    within = np.array([rng.binomial(250, rate, 2_000) / 250, rng.binomial(50, rate, 2_000) / 50])
    aucs = weights @ within + 0.5
    alarms = np.mean([matching.grouped_auc_p_value(float(auc), groups, 1.0, 0.0) <= 0.05 for auc in aucs])
    assert alarms <= 0.05
