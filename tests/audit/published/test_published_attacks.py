"""The attacks against their definitions, one record at a time; and the game against models that know nothing."""

import numpy as np
import pytest
from scipy.stats import norm

from dpassay.audit.attacks import game

MODELS, RECORDS, OTHERS = 9, 30, 12


@pytest.fixture(scope="module")
def played():
    """Any confidences: members a little higher."""
    rng = np.random.default_rng(1)
    member = rng.random((MODELS, RECORDS)) < 0.5
    confidence = np.clip(rng.uniform(0.05, 0.8, member.shape) + 0.1 * member, 0.01, 0.99)
    return game.Game(confidence, member, rng.uniform(0.05, 0.95, (MODELS, OTHERS)), np.zeros(RECORDS, dtype=np.int64))


def _pooled_spread(groups):
    """One spread for all records: few shadow models (Carlini et al. 2022, Section VI: global variance)."""
    squares = sum(((group - group.mean()) ** 2).sum() for group in groups if group.size)
    return np.sqrt(squares / sum(max(group.size - 1, 0) for group in groups))


@pytest.mark.parametrize("online", [True, False])
def test_lira_is_the_likelihood_ratio_of_logit_confidences(played, online):
    """log N(phi; in) - log N(phi; out), or off-line the share of 'out' below phi, phi = log(p / (1 - p))."""
    target, phi = 3, np.log(played.confidence / (1 - played.confidence))
    shadows = [k for k in range(MODELS) if k != target]
    inside = [np.array([phi[k, i] for k in shadows if played.member[k, i]]) for i in range(RECORDS)]
    outside = [np.array([phi[k, i] for k in shadows if not played.member[k, i]]) for i in range(RECORDS)]
    assert all(group.size for group in (*inside, *outside))
    expected = []
    for i in range(RECORDS):
        out = norm(outside[i].mean(), _pooled_spread(outside))
        of_in = norm(inside[i].mean(), _pooled_spread(inside))
        seen = phi[target, i]
        expected.append(of_in.logpdf(seen) - out.logpdf(seen) if online else out.logcdf(seen))
    assert game.lira(played, target, online) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.0])
def test_rmia_is_the_share_of_records_that_are_dominated(played, gamma):
    """Pr_z[(p(x|target) / p(x)) / (p(z|target) / p(z)) >= gamma], p(.) the mean over the shadow models."""
    target, shadows, expected = 5, [k for k in range(MODELS) if k != 5], []
    for i in range(RECORDS):
        of_x = played.confidence[target, i] / np.mean([played.confidence[k, i] for k in shadows])
        beaten = 0
        for z in range(OTHERS):
            of_z = played.population[target, z] / np.mean([played.population[k, z] for k in shadows])
            beaten += of_x / of_z >= gamma
        expected.append(beaten / OTHERS)
    assert game.rmia(played, target, gamma) == pytest.approx(expected, abs=1e-7)


def test_no_attack_looks_at_the_coins_it_is_judged_by(played):
    """Turning all coins of the target changes no score."""
    turned = played.member.copy()
    turned[3] = ~turned[3]
    other = game.Game(played.confidence, turned, played.population, played.labels)
    for attack in game.ATTACKS.values():
        scores = [attack(one, 3, np.random.default_rng(0)) for one in (played, other)]
        assert (scores[0] == scores[1]).all()


def _blind(x, y, rng):
    """Knows how many records it was given, and nothing else of them."""
    noise = int(rng.integers(2**31))

    def probabilities(rows):
        drawn = 0.05 * np.random.default_rng(noise).normal(size=len(rows))
        right = np.clip(0.5 + 0.001 * (len(x) - 50) + drawn, 0.01, 0.99)
        return np.column_stack([right, 1 - right])

    return probabilities


@pytest.mark.more
@pytest.mark.parametrize("name", game.ATTACKS)
def test_models_that_know_nothing_give_nothing_away(name):
    """Mean AUC of 30 games with 100 coins each within 0.5 +- 0.04 (four standard errors), seeds 0 to 29."""
    areas = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(110, 2)), rng.integers(0, 2, 110)
        found = game.play(_blind, x[:100], y[:100], 4, rng, population=(x[100:], y[100:]))
        areas.append(game.auc(game.ATTACKS[name](found, 0, rng), found.member[0]))
    assert abs(np.mean(areas) - 0.5) < 0.04
