"""The membership-inference experiment of ``dro`` (Section 5, Table 2): trained models and the scores an attacker sees.

One imbalanced pool in the paper's style, and every model is trained on a random half of it. Its non-members are taken
twice: the other half of the pool, which is of the SAME distribution, and a balanced test set, which is not (the paper
does not name its own). The second AUC stands beside that of an attacker who sees only the label and no model at all.

The first models of a game are attacked, each with the last ones as shadow models; no attacked model serves another, so
that given the shadow models the attacked ones are independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpassay.audit.attacks.game import ATTACKS, Game, auc
from dpassay.reference.arrays import Array, Indices
from dpassay.reference.dro.divergences import kl
from dpassay.reference.dro.objective import DualObjective
from dpassay.reference.dro.training import Setting, train
from dpassay.reference.errors import require
from dpassay.reference.problems.imbalanced import (
    Quality,
    Split,
    cifar10_st,
    digits,
    mnist_st,
    quality,
    read_cifar10,
    read_mnist,
)
from dpassay.reference.problems.models import ClassificationLoss, TwoLayerNetwork

HIDDEN = 16
_FLOOR = 1e-12  # of a probability, before logarithms
DELTA_POWER = -1.1  # delta = n^-1.1, Section 5.1
STYLES = ("CIFAR10-ST", "MNIST-ST")
RARE = 12  # records of each rare class: 2 % of the digits would be 3, and half of them trains a model


@dataclass(frozen=True, eq=False)
class Models:
    """Models trained on random halves of one pool.

    Args:
        game: confidences of every model on every record of the pool, and who was trained on what.
        test: confidences (models, t) on the true label of the balanced test records.
        test_labels: shape (t,).
        qualities: metrics of each model on the balanced test set.
        gradient_norms: norm of the gradient of the robust loss inf_eta L(x, eta), KL with lambda = 1, on the members.
    """

    game: Game
    test: Array
    test_labels: Indices
    qualities: tuple[Quality, ...]
    gradient_norms: tuple[float, ...]


def pool(data: Path | None, largest: int = 6_000) -> tuple[str, Array, Indices]:
    """Name, features and labels of scikit-learn's digits, or of the first records of CIFAR-10 or MNIST-like files."""
    if data is None:
        return "digits", *digits()
    batches = sorted(data.glob("data_batch_*.bin"))
    if batches:
        features, labels = read_cifar10(batches[:1])
        return "CIFAR-10", features[:largest], labels[:largest]
    images = sorted(data.glob("train-images*"))
    require(len(images) > 0, "data", str(data), "has neither data_batch_*.bin nor train-images* files")
    features, labels = read_mnist(images[0], images[0].with_name(images[0].name.replace("images-idx3", "labels-idx1")))
    return "IDX images", features[:largest], labels[:largest]


def imbalanced(style: str, features: Array, labels: Indices, seed: int) -> Split:
    """A pool in one of the paper's two styles, with a balanced test set."""
    rng = np.random.default_rng([seed, 0])
    if style == "CIFAR10-ST":
        return cifar10_st(features, labels, rng, RARE)
    return mnist_st(features, labels, rng)


def train_models(method: str, epsilon: float, count: int, seed: int, split: Split) -> Models:
    """Train ``count`` models, each on a random half of ``split``'s training records."""
    rows, masks, tests, qualities, norms = [], [], [], [], []
    for number in range(count):
        rng = np.random.default_rng([seed, 1, number])  # the halves are those of the seed, whatever the method
        mask = np.zeros(split.n, dtype=bool)
        mask[rng.permutation(split.n)[: split.n // 2]] = True
        model = TwoLayerNetwork(split.features.shape[1], HIDDEN, split.classes)
        loss = ClassificationLoss(model, split.features[mask], split.labels[mask])
        start, tape = model.initial(rng), int(rng.integers(2**31))
        parameters = train(method, Setting(loss, epsilon, loss.n**DELTA_POWER, start, tape))
        rows.append(_confidence(loss.probabilities(parameters, split.features), split.labels))
        masks.append(mask)
        unseen = loss.probabilities(parameters, split.test_features)
        tests.append(_confidence(unseen, split.test_labels))
        qualities.append(quality(unseen, split.test_labels))
        robust = DualObjective(loss, kl(), 1.0)
        norms.append(robust.gradient_norm(parameters, robust.best_eta(parameters)))
    confidence = np.array(rows)
    game = Game(confidence, np.array(masks), confidence, split.labels)
    return Models(game, np.array(tests), split.test_labels, tuple(qualities), tuple(norms))


def attack_aucs(models: Models, targets: int, seed: int) -> dict[str, list[float]]:
    """AUC of every attack on the first ``targets`` models; the others are the shadow models."""
    found: dict[str, list[float]] = {name: [] for name in ATTACKS}
    game = models.game
    for target in range(targets):
        keep = [target, *range(targets, game.models)]
        alone = Game(game.confidence[keep], game.member[keep], game.population[keep], game.labels)
        for name, attack in ATTACKS.items():
            scores = attack(alone, 0, np.random.default_rng([seed, 3, target]))
            found[name].append(auc(scores, alone.member[0]))
    return found


def shifted(models: Models, target: int) -> tuple[float, float, list[list[int]]]:
    """AUCs on one model with the balanced test set as non-members: of the confidence attack, and of the label alone.

    And the counts (members, non-members) of each class.
    """
    inside = models.game.member[target]
    mine, labels = models.game.labels[inside], np.concatenate([models.game.labels[inside], models.test_labels])
    scores = np.concatenate([models.game.confidence[target, inside], models.test[target]])
    groups = np.stack([np.bincount(one, minlength=labels.max() + 1) for one in (mine, models.test_labels)], axis=1)
    likeliest = (groups[:, 0] / groups.sum(axis=1))[labels]  # the class sizes are public knowledge in the paper
    member = np.arange(len(labels)) < len(mine)
    return auc(scores, member), auc(likeliest, member), groups.tolist()


def _confidence(probabilities: Array, labels: Indices) -> Array:
    return np.asarray(np.clip(probabilities[np.arange(len(labels)), labels], _FLOOR, 1.0 - _FLOOR))
