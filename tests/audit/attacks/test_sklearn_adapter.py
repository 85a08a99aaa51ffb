"""Estimators of others under attack: what cannot be trained or read is one clear line, and every seed is the game's."""

import json
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from dpassay.audit.attacks import game
from dpassay.audit.attacks.estimators import SklearnTrainer
from dpassay.audit.cli import app
from dpassay.reference.errors import BadInput


def _data(rows=30, classes=2):
    return np.random.default_rng(0).normal(size=(rows, 3)), np.arange(rows) % classes


def _fails(make, x, y, classes=2):
    """The one line that is said of an estimator that cannot be attacked."""
    with pytest.raises(BadInput) as caught:
        SklearnTrainer(make, classes).fit(x, y, np.random.default_rng(0)).probabilities(x)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("make", [LogisticRegression, HistGradientBoostingClassifier, MLPClassifier])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_one_class_alone_is_refused_where_the_estimator_cannot_learn_it(make):
    x, _ = _data()
    assert "30 records of class 1" in _fails(make, x, np.ones(30, dtype=np.int64))


@pytest.mark.parametrize("make", [LogisticRegression, DecisionTreeClassifier, KNeighborsClassifier])
def test_an_empty_training_set_is_refused(make):
    x, y = _data()
    assert "0 records" in _fails(make, x[:0], y[:0])


def test_estimators_that_cannot_be_made_seeded_or_read_are_one_line():
    halves = {"fit": lambda *_: None, "predict_proba": lambda self, x: np.full((len(x), 2), 0.5)}
    assert "division by zero" in _fails(lambda: 1 / 0, *_data())
    assert "classes_" in _fails(type("Bare", (), halves), *_data())


def test_too_few_records_for_the_neighbours():
    x, y = _data(4)
    assert "n_neighbors" in _fails(KNeighborsClassifier, x, y)


@pytest.mark.parametrize("make", [LinearRegression, SVC, lambda: make_pipeline(StandardScaler(), LinearRegression())])
def test_no_probabilities_no_attack(make):
    assert "no predict_proba" in _fails(make, *_data())


@pytest.mark.parametrize("labels", [["a", "b"], [0.0, 0.5], [-1, 1], [0, 2]])
def test_labels_that_are_no_classes_are_refused(labels):
    x, _ = _data()
    assert "0 .. 1" in _fails(DecisionTreeClassifier, x, np.resize(np.array(labels), 30))


def test_probabilities_that_are_none_are_refused():
    class Silent(DecisionTreeClassifier):
        def predict_proba(self, x):
            return np.full((len(x), 2), np.nan)

    assert "NaN" in _fails(Silent, *_data())


def test_a_class_that_is_missing_has_probability_zero():
    x, _ = _data()
    model = SklearnTrainer(LogisticRegression, 4).fit(x, np.arange(30) % 2 * 2, np.random.default_rng(0))
    assert model.probabilities(x).shape == (30, 4) and not model.probabilities(x)[:, [1, 3]].any()


@pytest.mark.parametrize(
    "make",
    [
        lambda: RandomForestClassifier(n_estimators=3),
        lambda: make_pipeline(StandardScaler(), RandomForestClassifier(n_estimators=3)),
        lambda: BaggingClassifier(make_pipeline(StandardScaler(), DecisionTreeClassifier(max_features=1)), 3),
    ],
)
def test_every_random_state_comes_from_the_game(make):
    """Also that of a step of a pipeline: two games of one seed agree"""
    x, y = _data(40)
    games = [game.play(SklearnTrainer(make, 2), x, y, 3, np.random.default_rng(7)) for _ in range(2)]
    assert (games[0].confidence == games[1].confidence).all()


def test_records_and_labels_that_do_not_fit_together():
    x, y = _data()
    for rows, labels in ((x, y[:-1]), (x[:, 0], y), (x, y.astype(float)), (x, -y)):
        with pytest.raises(BadInput, match="candidates"):
            game.play(SklearnTrainer(DecisionTreeClassifier, 2), rows, labels, 3, np.random.default_rng(0))
    with pytest.raises(BadInput, match="population"):
        game.play(
            SklearnTrainer(DecisionTreeClassifier, 2), x, y, 3, np.random.default_rng(0), population=(x[:, :2], y)
        )


def test_classes_with_gaps_are_refused(tmp_path):
    """Class 10^9 without those below would need a table of 10^9 columns."""
    x, y = _data()
    for top in (7, 10**9):
        np.savetxt(tmp_path / "gap.csv", np.column_stack([x, y * top]), delimiter=",")
        words = ["attack", "--estimator", "GaussianNB", "--data", str(tmp_path / "gap.csv"), "--candidates", "10"]
        error = CliRunner().invoke(app, words).exception
        assert isinstance(error, BadInput) and "class 1 is missing" in str(error)


def test_training_that_does_not_converge_is_attacked_without_a_warning_per_model(recwarn):
    words = ["attack", "--estimator", "MLPClassifier", "--candidates", "20", "--models", "3"]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert not [one for one in recwarn if "converge" in str(one.message)]


def test_an_estimator_of_ones_own_and_one_of_a_file(tmp_path, monkeypatch):
    """A pickle is read where it is trusted, and not before."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("estimator_of_mine.py").write_text("from sklearn.naive_bayes import GaussianNB as make\nmade = make()\n")
    joblib.dump(GaussianNB(), "kept.joblib")

    def attacked(*words):
        small = ["--models", "3", "--candidates", "30", "--json"]
        return CliRunner().invoke(app, ["attack", *small, "--estimator", *words])

    numbers = [
        [one["epsilon"] for one in json.loads(attacked(*words.split()).stdout)["results"]]
        for words in ("GaussianNB", "estimator_of_mine:make", "estimator_of_mine:made", "kept.joblib --trusted")
    ]
    assert numbers[1:] == 3 * numbers[:1] != []
    assert "if you trust it" in str(attacked("kept.joblib").exception)
    assert isinstance(attacked("nowhere.joblib", "--trusted").exception, BadInput)
