"""The membership game: many models, each trained on its own fair-coin half of the candidates.

Every model can play the target while the others are its shadow models. Signals are per model and
candidate, so all
attacks are operations on matrices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.audit.results import SoundBound
from dpassay.audit.scores.labels import epsilon_labels
from dpassay.audit.scores.one_run import epsilon_one_run
from dpassay.reference.arrays import Array, Bools, Indices
from dpassay.reference.errors import BadInput, require

from .targets import Trained, Trainer

_FLOOR = 1e-12  # of a probability, before logarithms


def true_class_probability(model: Trained, x: Array, y: Indices) -> Array:
    """p(y | x) of each row, kept inside (0, 1)."""
    return np.clip(model.probabilities(x)[np.arange(len(y)), y], _FLOOR, 1 - _FLOOR)


@dataclass(frozen=True)
class Game:
    """`confidence[k, i]` = p_k(y_i | x_i), `member[k, i]` = was i in k's training set, and the
    population's.
    """

    confidence: Array
    member: Bools
    population: Array
    labels: Indices

    @property
    def models(self) -> int:
        """How many models were trained."""
        return len(self.confidence)

    def shadows(self, target: int) -> Indices:
        """All models but the target."""
        if not 0 <= target < self.models:
            raise BadInput("target", target, f"must lie in 0..{self.models - 1}")
        return np.delete(np.arange(self.models), target)


def play(
    trainer: Trainer,
    x: Array,
    y: Indices,
    models: int,
    rng: np.random.Generator,
    always: tuple[Array, Indices] | None = None,
    population: tuple[Array, Indices] | None = None,
) -> Game:
    """Train `models` models; each candidate (row of x) joins each by a coin, rows of `always` join all of
    them.
    """
    if models < 1 or len(x) < 1:
        raise BadInput("models, candidates", (models, len(x)), "need at least 1 model and 1 candidate")
    fixed_x, fixed_y = always if always is not None else (x[:0], y[:0])
    other_x, other_y = population if population is not None else (x, y)
    sets = {"candidates": (x, y), "always": (fixed_x, fixed_y), "population": (other_x, other_y)}
    for name, (records, labels) in sets.items():
        _check_labelled(name, records, labels, x.shape[-1])
    member = rng.random((models, len(x))) < 0.5
    confidence, elsewhere = np.empty(member.shape), np.empty((models, len(other_x)))
    for k in range(models):
        chosen = member[k]
        data = np.concatenate([fixed_x, x[chosen]]), np.concatenate([fixed_y, y[chosen]])
        trained = trainer.fit(*data, rng)
        confidence[k] = true_class_probability(trained, x, y)
        elsewhere[k] = true_class_probability(trained, other_x, other_y)
    return Game(confidence, member, elsewhere, y)


def _check_labelled(name: str, x: Array, y: Indices, features: int) -> None:
    shape = (np.shape(x), np.shape(y))
    require(shape == ((len(y), features), (len(x),)), name, shape, "must be (records, features) and one label for each")
    good = np.asarray(y).dtype.kind in "iu" and not bool((np.asarray(y) < 0).any())
    require(good, name, np.asarray(y)[:5].tolist(), "labels must be classes 0, 1, 2, ..., as integers")


def one_run_bound(
    game: Game, target: int, scores: Array, delta: float, rng: np.random.Generator, confidence: float = 0.95
) -> SoundBound:
    """Sound epsilon of the training algorithm from one target model: its coins against an attack's scores."""
    return epsilon_one_run(scores, game.member[target], delta, rng, confidence)


def one_candidate_bound(
    game: Game,
    candidate: int,
    scores: Array,
    delta: float,
    rng: np.random.Generator,
    confidence: float = 0.95,
) -> SoundBound:
    """Sound epsilon from one candidate over all models: `scores[k]` on models without it against models
    with it.

    The scores must not use the membership of other models (the plain loss does not; LiRA does).
    """
    inside = game.member[:, candidate]
    if not 0 < int(inside.sum()) < game.models:
        raise BadInput("candidate", candidate, "is in all or in none of the models")
    return epsilon_labels(scores[~inside], scores[inside], delta, rng, confidence)
