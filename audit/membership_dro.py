"""The membership-inference experiment of ``dro`` (Section 5, Table 2): trained models and the scores an attacker sees.

``same``     every model is trained on a random half of one pool; the other half are its non-members. Models of one
budget
             serve each other as shadow models (who is in whose training set is random and known).
``shifted``  members are an imbalanced training set, non-members a balanced test set: the paper's CIFAR10-ST
construction,
             here on digits. ``detector`` is the AUC of an attacker who sees only the label and no model at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpassay.audit.attacks.game import Game
from dpassay.audit.attacks.membership import ATTACKS, auc
from dpassay.reference.dro.divergences import kl
from dpassay.reference.dro.objective import DualObjective
from dpassay.reference.dro.training import Setting, train
from dpassay.reference.errors import require
from dpassay.reference.problems.image_files import read_cifar10, read_mnist
from dpassay.reference.problems.imbalanced import Split, cifar10_st, digits
from dpassay.reference.problems.metrics import Quality, quality
from dpassay.reference.problems.models import ClassificationLoss, TwoLayerNetwork

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
HIDDEN = 16
_FLOOR = 1e-12  # of a probability, before logarithms
DELTA_POWER = -1.1  # delta = n^-1.1, Section 5.1


@dataclass(frozen=True, eq=False)
class Models:
    """Models trained on random halves of one pool.

    Args:
        game: confidences of every model on every record of the pool, and who was trained on what.
        qualities: metrics of each model on its non-members.
        gradient_norms: norm of the gradient of the robust loss inf_eta L(x, eta), KL with lambda = 1, on the members.
    """

    game: Game
    qualities: tuple[Quality, ...]
    gradient_norms: tuple[float, ...]


@dataclass(frozen=True)
class Shifted:
    """AUCs of one run on shifted members and non-members, with the group counts."""

    confidence: float
    detector: float
    groups: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Pool:
    """Labelled records to draw members and non-members from."""

    name: str
    features: Array
    labels: Indices


def pool(data: Path | None, largest: int = 6_000) -> Pool:
    """scikit-learn's digits, or the first ``largest`` records of CIFAR-10 batches or MNIST-like IDX files in
    ``data``."""
    if data is None:
        return Pool("digits", *digits())
    batches = sorted(data.glob("data_batch_*.bin"))
    if batches:
        features, labels = read_cifar10(batches[:1])
        return Pool("CIFAR-10", features[:largest], labels[:largest])
    images = sorted(data.glob("train-images*"))
    require(len(images) > 0, "data", str(data), "has neither data_batch_*.bin nor train-images* files")
    features, labels = read_mnist(images[0], images[0].with_name(images[0].name.replace("images-idx3", "labels-idx1")))
    return Pool("IDX images", features[:largest], labels[:largest])


def signal(probabilities: Array, labels: Indices) -> Array:
    """Log odds of the true label, shape (n,): monotone in the confidence, and nearly normal (what LiRA models)."""
    true = np.clip(probabilities[np.arange(len(labels)), labels], _FLOOR, 1.0 - _FLOOR)
    return np.asarray(np.log(true) - np.log1p(-true))


def attack_aucs(models: Models, targets: int, seed: int) -> dict[str, list[float]]:
    """AUC of every attack on the first ``targets`` models, the other models of the game being its shadow models."""
    found: dict[str, list[float]] = {}
    for target in range(targets):
        for name, attack in ATTACKS.items():
            scores = attack(models.game, target, np.random.default_rng([seed, 3, target]))
            found.setdefault(name, []).append(auc(scores, models.game.member[target]))
    return found


def same_distribution(
    method: str, epsilon: float, models: int, seed: int, source: Pool, records: int | None = None
) -> Models:
    """Train ``models`` models, each on a random half of the pool (or of the first ``records`` of a shuffle of it)."""
    require(models >= 1, "models", models, "must be at least 1")
    chosen = np.random.default_rng([seed, 0]).permutation(len(source.labels))[:records]
    features, labels = source.features[chosen], source.labels[chosen]
    rows, masks, qualities, norms = [], [], [], []
    for number in range(models):
        rng = np.random.default_rng([seed, 1, number])  # the splits are those of the seed, whatever the method
        mask = np.zeros(len(labels), dtype=bool)
        mask[rng.permutation(len(labels))[: len(labels) // 2]] = True
        parameters, loss = _fit(method, features[mask], labels[mask], epsilon, rng)
        probabilities = loss.probabilities(parameters, features)
        rows.append(np.clip(probabilities[np.arange(len(labels)), labels], _FLOOR, 1.0 - _FLOOR))
        masks.append(mask)
        qualities.append(quality(probabilities[~mask], labels[~mask]))
        robust = DualObjective(loss, kl(), 1.0)
        norms.append(robust.gradient_norm(parameters, robust.best_eta(parameters)))
    confidence = np.array(rows)
    return Models(Game(confidence, np.array(masks), confidence, labels), tuple(qualities), tuple(norms))


def shifted(method: str, epsilon: float, seed: int, source: Pool) -> Shifted:
    """One run in the paper's construction: imbalanced members, balanced non-members."""
    rng = np.random.default_rng([seed, 2])
    split: Split = cifar10_st(source.features, source.labels, rng)
    parameters, loss = _fit(method, split.features, split.labels, epsilon, rng)
    scores = np.concatenate([
        signal(loss.probabilities(parameters), split.labels),
        signal(loss.probabilities(parameters, split.test_features), split.test_labels),
    ])  # fmt: skip
    members = np.arange(len(scores)) < split.n
    rare = np.concatenate([split.labels, split.test_labels]) < split.classes // 2
    counts = tuple((int(np.sum(half & members)), int(np.sum(half & ~members))) for half in (rare, ~rare))
    return Shifted(auc(scores, members), auc(-rare.astype(float), members), counts)


def _fit(
    method: str, features: Array, labels: Indices, epsilon: float, rng: np.random.Generator
) -> tuple[Array, ClassificationLoss]:
    model = TwoLayerNetwork(features.shape[1], HIDDEN, 10)
    loss = ClassificationLoss(model, features, labels)
    start, tape = model.initial(rng), int(rng.integers(2**31))
    return train(method, Setting(loss, epsilon, loss.n**DELTA_POWER, start, tape)), loss
