"""The membership game: many models, each trained on its own fair-coin half of the candidates; and attacks on one.

Every model can play the target while the others are its shadow models. Signals are per model and candidate, so all
attacks are operations on matrices: each returns one score per candidate, high ones mean 'member'. Sources: loss
threshold (Yeom et al. 2018), shadow models and the attack classifier (Shokri et al. 2017), LiRA (Carlini et al. 2022,
Algorithm 1 and its off-line form), RMIA (Zarifzadeh et al. 2024, eq. (2)-(4)).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import logit
from scipy.stats import norm
from sklearn.ensemble import HistGradientBoostingClassifier

from dpassay.reference.arrays import Array, Bools, Indices
from dpassay.reference.errors import require

from .estimators import Trainer

SPREAD_FLOOR = 1e-3  # of a standard deviation of logit confidences
_FLOOR = 1e-12  # of a probability, before logarithms
MARGIN = 12.0  # of logits


@dataclass(frozen=True)
class Game:
    """`confidence[k, i]` = p_k(y_i | x_i), `member[k, i]` = was i in k's training set; and the population's."""

    confidence: Array
    member: Bools
    population: Array
    labels: Indices

    def shadows(self, target: int) -> Indices:
        """All models but the target."""
        return np.delete(np.arange(len(self.member)), target)


def play(
    train: Trainer,
    x: Array,
    y: Indices,
    models: int,
    rng: np.random.Generator,
    always: tuple[Array, Indices],
    population: tuple[Array, Indices],
) -> Game:
    """Train `models` models; each candidate (row of x) joins each by a coin, rows of `always` join all of them."""
    member = rng.random((models, len(x))) < 0.5
    confidence, elsewhere = np.empty(member.shape), np.empty((models, len(population[0])))
    for k, chosen in enumerate(member):
        trained = train(np.concatenate([always[0], x[chosen]]), np.concatenate([always[1], y[chosen]]), rng)
        for found, records, labels in ((confidence, x, y), (elsewhere, *population)):
            found[k] = confidence_in(trained(records), labels)
    return Game(confidence, member, elsewhere, y)


def confidence_in(probabilities: Array, labels: Indices) -> Array:
    """Of each record the probability of its own label, away from 0 and 1 before logarithms."""
    return np.asarray(np.clip(probabilities[np.arange(len(labels)), labels], _FLOOR, 1 - _FLOOR))


def loss_threshold(game: Game, target: int) -> Array:
    """Minus the loss: log p(y | x)."""
    return np.asarray(np.log(game.confidence[target]))


def _moments(values: Array, keep: Bools) -> tuple[Array, Array]:
    """Mean per candidate over the kept models, and one spread for all candidates (few models need pooling)."""
    count = keep.sum(axis=0)
    overall = float(values[keep].mean()) if keep.any() else float(values.mean())
    mean = np.where(count > 0, np.where(keep, values, 0.0).sum(axis=0) / np.maximum(count, 1), overall)
    squares = np.where(keep, (values - mean) ** 2, 0.0).sum()
    freedom = max(1, int(np.maximum(count - 1, 0).sum()))
    return mean, np.full(mean.shape, max(SPREAD_FLOOR, float(np.sqrt(squares / freedom))))


def lira(game: Game, target: int, online: bool = True) -> Array:
    """Likelihood ratio of logit confidences between Gaussians fitted on shadow models with and without the record.

    Off-line: only the models without it are used; the score is the log of their Gaussian's lower tail.
    """
    shadows = game.shadows(target)
    values, member = logit(game.confidence[shadows]), game.member[shadows]
    seen = logit(game.confidence[target])
    out_mean, out_spread = _moments(values, ~member)
    if not online:
        return np.asarray(norm.logcdf(seen, out_mean, out_spread))
    in_mean, in_spread = _moments(values, member)
    return np.asarray(norm.logpdf(seen, in_mean, in_spread) - norm.logpdf(seen, out_mean, out_spread))


def rmia(game: Game, target: int) -> Array:
    """Share of population records z with (p(x | target) / p(x)) >= p(z | target) / p(z).

    p(.) is the mean confidence over the shadow models (half of which have x, as in the on-line form).
    """
    shadows = game.shadows(target)
    ratio = game.confidence[target] / game.confidence[shadows].mean(axis=0)
    others = np.sort(game.population[target] / game.population[shadows].mean(axis=0))
    share = np.searchsorted(others, ratio, side="right") / others.size
    return np.asarray(share + 1e-9 * np.log(ratio))  # ties by the ratio itself


def classifier(game: Game, target: int, rng: np.random.Generator) -> Array:
    """An attack classifier trained on the shadow models: confidence, its calibration, and the class."""
    shadows = game.shadows(target)
    values = logit(game.confidence)
    typical = values[shadows].mean(axis=0)

    def table(models: Indices) -> Array:
        rows = [np.column_stack([values[k], values[k] - typical, game.labels]) for k in models]
        return np.concatenate(rows)

    model = HistGradientBoostingClassifier(max_iter=50, random_state=int(rng.integers(2**31)))
    model.fit(table(shadows), game.member[shadows].ravel())
    return np.asarray(model.decision_function(table(np.array([target]))))


ATTACKS: dict[str, Callable[[Game, int, np.random.Generator], Array]] = {
    "loss threshold": lambda game, target, rng: loss_threshold(game, target),
    "LiRA, on-line": lambda game, target, rng: lira(game, target),
    "LiRA, off-line": lambda game, target, rng: lira(game, target, online=False),
    "RMIA": lambda game, target, rng: rmia(game, target),
    "classifier": classifier,
}


def auc(scores: Array, member: Bools) -> float:
    """Area under the ROC curve, ties counted one half."""
    inside, outside = np.sort(scores[member]), scores[~member]
    require(bool(inside.size and outside.size), "member", member.size, "needs members and non-members")
    below = np.searchsorted(inside, outside, side="right") + np.searchsorted(inside, outside, side="left")
    return float((inside.size - 0.5 * below).mean() / inside.size)


# -- canaries: records, gradients and starting points that make membership as visible as the mechanism allows ------
def gradient_canaries(count: int, dimension: int, norm: float, rng: np.random.Generator) -> Array:
    """`count` random orthogonal gradients of the given norm, shape (count, dimension)."""
    return np.asarray(norm * np.linalg.qr(rng.normal(size=(dimension, count)))[0].T)


def mislabelled(y: Indices, classes: int, rng: np.random.Generator) -> Indices:
    """Another label for each record, uniform among the wrong ones."""
    return np.asarray((y + rng.integers(1, classes, y.shape)) % classes)


def crafted_softmax(x: Array, y: Indices, classes: int, canary: Array) -> Array:
    """Parameters of softmax regression with offsets where ordinary records are learned already and the canary is not.

    Least squares, one column a class: where it fits, the true class of each ordinary record leads by MARGIN, so that
    its gradient vanishes like exp(-MARGIN), and all classes of the canary are equal. Shape ((features + 1) * classes,).
    """
    one = np.append(canary, 1.0)
    rows = np.concatenate([np.column_stack([x, np.ones(len(x))]), len(x) * one[None, :]])
    leads = [np.append(np.where(y == c, MARGIN / 2, -MARGIN / 2), 0.0) for c in range(classes)]
    return np.asarray(np.linalg.lstsq(rows, np.column_stack(leads), rcond=None)[0]).ravel()
