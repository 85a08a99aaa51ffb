import json

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from dpassay.audit.attacks import canaries, estimators, game
from dpassay.audit.cli import app
from dpassay.audit.scores.one_run import epsilon_one_run
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.baselines import dp_sgd
from dpassay.reference.case import bind
from dpassay.reference.errors import BadInput
from dpassay.reference.problems.linear import LinearLosses
from dpassay.reference.problems.models import SoftmaxRegression


@pytest.fixture(scope="module")
def overfitted():
    """12 deep trees on coin halves of 400 noisy records: members have confidence 1, others often 0."""
    x, y = make_classification(600, 20, n_informative=4, flip_y=0.3, random_state=0)
    trainer = estimators.SklearnTrainer(DecisionTreeClassifier, 2)
    rng = np.random.default_rng(1)
    return game.play(trainer, x[:400], y[:400], 12, rng, population=(x[400:], y[400:]))


@pytest.mark.parametrize("name", game.ATTACKS)
def test_attacks_see_an_overfitted_model(overfitted, name):
    """AUC above 0.6 for each of them (0.63 measured for the plain loss, seed 2)."""
    scores = game.ATTACKS[name](overfitted, 0, np.random.default_rng(2))
    assert scores.shape == (400,)
    assert game.auc(scores, overfitted.member[0]) > 0.6
    assert game.auc(scores, overfitted.member[0]) == pytest.approx(
        roc_auc_score(overfitted.member[0], scores), abs=1e-12
    )


def test_a_sound_bound_from_one_overfitted_model(overfitted):
    """Members are never misclassified by a full tree: epsilon above 1.5 at delta 1e-5 (seed 3)."""
    rng = np.random.default_rng(3)
    bound = game.one_run_bound(overfitted, 0, game.loss_threshold(overfitted, 0), 1e-5, rng)
    assert bound.epsilon > 1.5 and bound.relation == "add-remove"


def test_attacks_on_a_private_model_stay_below_its_epsilon():
    """DP-SGD at epsilon about 1 (add or remove): no attack's sound bound exceeds it (5 attacks, seed 4)."""
    x, y = make_classification(240, 10, flip_y=0.3, random_state=1)
    schedule = dp_sgd.with_multiplier(steps=20, learning_rate=2.0, clip=1.0, noise_multiplier=9.0)
    mu = np.sqrt(20) * 2 / 9.0  # the training set changes size here, so the whole sum may move by 2 clip
    trainer = estimators.ReferenceTrainer(SoftmaxRegression(10, 2), bind(dp_sgd.run, schedule))
    rng = np.random.default_rng(4)
    played = game.play(trainer, x, y, 8, rng)
    for attack in game.ATTACKS.values():
        bound = game.one_run_bound(played, 0, attack(played, 0, rng), 1e-5, rng, confidence=0.99)
        assert bound.epsilon <= gdp_epsilon(mu, 1e-5)


def test_one_candidate_over_many_models():
    """A lookup table that knows its members is refuted from 60 models at epsilon 1 (seed 5)."""
    rng = np.random.default_rng(5)
    member = rng.random((60, 3)) < 0.5
    played = game.Game(np.where(member, 0.9, 0.1), member, np.full((60, 3), 0.5), np.zeros(3, dtype=np.int64))
    scores = np.array([game.loss_threshold(played, k)[1] for k in range(60)])
    assert game.one_candidate_bound(played, 1, scores, 0.0, rng).epsilon > 1.0


def bound_of_canaries(run, base, rows, rng):
    """As `dpassay attack` plays them: one run, half of the canaries in it."""
    return epsilon_one_run(*canaries.gradient_game(run, base, rows, rng), 1e-5, rng, 0.95)


@pytest.mark.parametrize(("noise", "least", "most"), [(0.2, gdp_epsilon(0.5, 1e-5), np.inf), (1e3, 0.0, 0.5)])
def test_a_louder_claim_is_refuted_by_canaries_and_noise_alone_shows_nothing(noise, least, most):
    """With a tenth of the noise the bound exceeds the epsilon of the claimed one (mu = 0.5, 1.99); coins are fair."""
    rng = np.random.default_rng(7)
    rows = canaries.gradient_canaries(500, 600, 1.0, rng)
    schedule = dp_sgd.with_multiplier(steps=1, learning_rate=0.1, clip=1.0, noise_multiplier=noise)
    bound = bound_of_canaries(bind(dp_sgd.run, schedule), LinearLosses(np.zeros((5, 600))), rows, rng)
    assert least <= bound.epsilon <= most


def test_input_canaries():
    rng = np.random.default_rng(9)
    y = rng.integers(0, 3, 200)
    assert not (canaries.mislabelled(y, 3, rng) == y).any()
    x, labels = canaries.out_of_distribution(rng.normal(size=(50, 4)), 7, 3, rng)
    assert x.shape == (7, 4) and set(labels) <= {0, 1, 2}


def test_bad_input(overfitted):
    rng = np.random.default_rng(0)
    with pytest.raises(BadInput, match="count"):
        canaries.gradient_canaries(5, 3, 1.0, rng)
    with pytest.raises(BadInput, match="predict_proba"):
        trainer = estimators.SklearnTrainer(lambda: type("Model", (), {"fit": print})(), 2)
        trainer.fit(np.zeros((2, 1)), np.zeros(2), rng)
    with pytest.raises(BadInput, match="target"):
        game.loss_threshold(overfitted, 99)
    with pytest.raises(BadInput, match="gamma"):
        game.rmia(overfitted, 0, gamma=0.0)


def _attack(*words):
    return CliRunner().invoke(app, ["attack", "--candidates", "150", "--models", "4", *words])


def test_attacks_from_the_command_line(tmp_path):
    """A full tree that learns wrong labels by heart is refuted at epsilon 1; DP-SGD at its own epsilon is not."""
    tree = _attack("--estimator", "DecisionTreeClassifier", "--canaries", "mislabelled", "--epsilon", "1", "--json")
    document = json.loads(tree.output)
    assert tree.exit_code == 1 and len(document["results"]) == len(game.ATTACKS)
    assert max(one["evidence"]["auc"] for one in document["results"]) > 0.8
    assert _attack("--canaries", "out of distribution").exit_code == 3
    rows = np.column_stack([np.random.default_rng(0).normal(size=(200, 3)), np.arange(200) % 3])
    np.savetxt(tmp_path / "own.csv", rows, delimiter=",")
    assert _attack("--estimator", "GaussianNB", "--data", str(tmp_path / "own.csv")).exit_code == 0
