"""Estimators of others under attack: what cannot be trained or read is one clear line, and every seed is the game's."""

import json
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
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
from dpassay.audit.attacks.estimators import sklearn_trainer
from dpassay.audit.cli import app
from dpassay.reference.errors import BadInput


def _data(rows=30, classes=2):
    return np.random.default_rng(0).normal(size=(rows, 3)), np.arange(rows) % classes


class Silent(DecisionTreeClassifier):
    def predict_proba(self, x):
        return np.full((len(x), 2), np.nan)


class Bare:
    def fit(self, x, y):
        return self

    def predict_proba(self, x):
        return np.full((len(x), 2), 0.5)


@pytest.mark.parametrize(
    ("make", "rows", "labels", "why"),
    [
        *[(make, 30, [1, 1], "30 records of class 1") for make in (LogisticRegression, MLPClassifier)],
        *[(make, 0, [0, 1], "0 records") for make in (LogisticRegression, DecisionTreeClassifier)],
        *[(DecisionTreeClassifier, 30, labels, "0 .. 1") for labels in (["a", "b"], [0.0, 0.5], [-1, 1], [0, 2])],
        *[(make, 30, [0, 1], "no predict_proba") for make in (LinearRegression, SVC)],
        (lambda: make_pipeline(StandardScaler(), LinearRegression()), 30, [0, 1], "no predict_proba"),
        (KNeighborsClassifier, 4, [0, 1], "n_neighbors"),
        (lambda: 1 / 0, 30, [0, 1], "division by zero"),
        (Bare, 30, [0, 1], "classes_"),
        (Silent, 30, [0, 1], "NaN"),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_cannot_be_attacked_is_one_line(make, rows, labels, why):
    x, _ = _data(rows)
    with pytest.raises(BadInput) as caught:
        sklearn_trainer(make, 2)(x, np.resize(np.array(labels), rows), np.random.default_rng(0))(x)
    assert why in str(caught.value) and "\n" not in str(caught.value)


def test_a_class_that_is_missing_has_probability_zero():
    x, _ = _data()
    found = sklearn_trainer(LogisticRegression, 4)(x, np.arange(30) % 2 * 2, np.random.default_rng(0))(x)
    assert found.shape == (30, 4) and not found[:, [1, 3]].any()


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
    games = [game.play(sklearn_trainer(make, 2), x, y, 3, np.random.default_rng(7)) for _ in range(2)]
    assert (games[0].confidence == games[1].confidence).all()


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
