"""Imbalanced training sets with balanced tests, and the metrics of the paper ``dro``, Section 5.1.

``mnist_st``: digits 0-4 against 5-9, the positive class subsampled to a target ratio, the test split balanced.
``cifar10_st``: the last ``keep`` records of each class of the first half of the classes, everything of the other half.
Both take any (features, labels), so the original image files fit too, which are read by path: IDX (MNIST, Fashion-
MNIST) and the CIFAR-10 binary version. Nothing is downloaded. Files ending in ``.gz`` are decompressed on the fly. A
file that is truncated, has the wrong magic number or trailing bytes is refused with the field and the value.
"""

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpassay.reference.arrays import Array, Indices
from dpassay.reference.errors import require
from dpassay.reference.extras import Later
from dpassay.reference.files import contents

Bytes = NDArray[np.uint8]

CIFAR_RECORD = 1 + 32 * 32 * 3  # one label byte, then red, green and blue planes


def read_idx(path: Path | str) -> Bytes:
    """An IDX file of unsigned bytes as an array of the shape its header states."""
    raw = contents(path, "path")
    require(len(raw) >= 4 and raw[:2] == b"\0\0", str(path), raw[:4], "an IDX file starts with two zero bytes")
    require(raw[2] == 0x08, f"{path}: element type", hex(raw[2]), "only unsigned bytes (0x8) are supported")
    dimensions = raw[3]
    start = 4 + 4 * dimensions
    require(1 <= dimensions <= 8, f"{path}: dimensions", dimensions, "must lie in 1..8")
    require(len(raw) >= start, f"{path}: dimensions", dimensions, "header is truncated")
    shape = struct.unpack(f">{dimensions}I", raw[4:start])
    require(min(shape) >= 1, f"{path}: shape", shape, "must hold at least one element")
    expected = start + math.prod(shape)
    require(len(raw) == expected, f"{path}: length", len(raw), f"header {shape} asks for {expected} bytes")
    return np.frombuffer(raw, dtype=np.uint8, offset=start).reshape(shape)


def read_mnist(images: Path | str, labels: Path | str) -> tuple[Array, Indices]:
    """Features (n, pixels) scaled to [0, 1] and labels (n,) from a pair of IDX files."""
    pixels, classes = read_idx(images), read_idx(labels)
    require(pixels.ndim >= 2, f"{images}: dimensions", pixels.ndim, "images need at least two")
    require(classes.shape == pixels.shape[:1], f"{labels}: shape", classes.shape, f"must be {pixels.shape[:1]}")
    return pixels.reshape(len(pixels), -1) / 255.0, classes.astype(np.int64)


def read_cifar10(paths: Sequence[Path | str]) -> tuple[Array, Indices]:
    """Features (n, 3072) scaled to [0, 1] and labels (n,) from CIFAR-10 binary batches, in the order given."""
    require(len(paths) > 0, "paths", paths, "needs at least one file")
    tables = []
    for path in paths:
        raw = contents(path, "path")
        whole = len(raw) > 0 and len(raw) % CIFAR_RECORD == 0
        require(whole, f"{path}: length", len(raw), f"must be a multiple of {CIFAR_RECORD}")
        table = np.frombuffer(raw, dtype=np.uint8).reshape(-1, CIFAR_RECORD)
        require(int(table[:, 0].max()) <= 9, f"{path}: label", int(table[:, 0].max()), "must lie in 0..9")
        tables.append(table)
    records = np.concatenate(tables)
    return records[:, 1:] / 255.0, records[:, 0].astype(np.int64)


datasets = Later("sklearn.datasets")

CIFAR10_KEPT_FRACTION = 100 / 5000  # the paper keeps 100 of CIFAR-10's 5,000 training images per class


@dataclass(frozen=True)
class Split:
    """A training set and a test set: features (n, f), labels (n,)."""

    name: str
    features: Array
    labels: Indices
    test_features: Array
    test_labels: Indices
    classes: int

    @property
    def n(self) -> int:
        """Number of training records."""
        return len(self.labels)


def digits() -> tuple[Array, Indices]:
    """scikit-learn's 8x8 digits: 1,797 records, 64 features in [0, 1], ten classes."""
    data = datasets.load_digits()
    return np.asarray(data.data, dtype=np.float64) / 16.0, np.asarray(data.target, dtype=np.int64)


def mnist_st(
    features: Array, labels: Indices, rng: np.random.Generator, ratio: float = 0.1, test_per_class: int = 150
) -> Split:
    """Labels 0-4 become class 0, 5-9 class 1; positives are subsampled to ``ratio`` of the training set (imratio).

    ``test_per_class`` records of each class are set aside first, drawn at random; the test split is balanced.
    """
    require(0 < ratio <= 0.5, "ratio", ratio, "must lie in (0, 0.5], the paper's imratio")
    binary = (labels >= 5).astype(np.int64)
    test, rest = _set_aside(binary, rng, test_per_class)
    negatives, positives = rest[binary[rest] == 0], rest[binary[rest] == 1]
    wanted = round(ratio / (1.0 - ratio) * len(negatives))
    if wanted > len(positives):  # ratio 0.5 with fewer positives than negatives: shrink the negatives
        negatives = rng.choice(negatives, round((1.0 - ratio) / ratio * len(positives)), replace=False)
        wanted = len(positives)
    require(wanted >= 1, "ratio", ratio, f"keeps no positive record of {len(positives)}")
    train = np.sort(np.concatenate([negatives, rng.choice(positives, wanted, replace=False)]))
    return Split("mnist_st", features[train], binary[train], features[test], binary[test], 2)


def cifar10_st(
    features: Array, labels: Indices, rng: np.random.Generator, keep: int | None = None, test_per_class: int = 30
) -> Split:
    """Keep the last ``keep`` training records of each class in the first half of the classes.

    The paper keeps 100 of 5,000; the default is the same fraction of the smallest training class, at least three.
    """
    classes = int(labels.max()) + 1
    test, rest = _set_aside(labels, rng, test_per_class)
    smallest = min(int(np.sum(labels[rest] == label)) for label in range(classes))
    kept = max(3, round(CIFAR10_KEPT_FRACTION * smallest)) if keep is None else keep
    require(1 <= kept <= smallest, "keep", kept, f"must lie in 1..{smallest}, the smallest training class")
    parts = []
    for label in range(classes):
        members = rest[labels[rest] == label]
        parts.append(members[-kept:] if label < classes // 2 else members)
    train = np.sort(np.concatenate(parts))
    return Split("cifar10_st", features[train], labels[train], features[test], labels[test], classes)


def _set_aside(labels: Indices, rng: np.random.Generator, per_class: int) -> tuple[Indices, Indices]:
    """Indices of a balanced random test set and the rest, both sorted."""
    held = []
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        room = 1 <= per_class < len(members)
        require(room, "test_per_class", per_class, f"class {label} has {len(members)} records")
        held.append(rng.choice(members, per_class, replace=False))
    test = np.sort(np.concatenate(held))
    return test, np.setdiff1d(np.arange(len(labels)), test)


sklearn_metrics = Later("sklearn.metrics")


@dataclass(frozen=True)
class Quality:
    """All between 0 and 1, larger is better."""

    accuracy: float
    auc: float  # area under the ROC curve; one against the rest, averaged over classes, for more than two
    f1: float  # macro average over the classes
    worst_group: float  # smallest accuracy of a class


def quality(probabilities: Array, labels: Indices) -> Quality:
    """Metrics of predicted probabilities (n, classes) against labels (n,)."""
    require(probabilities.shape[:1] == labels.shape, "labels", labels.shape, f"probabilities {probabilities.shape}")
    predicted = probabilities.argmax(axis=1)
    classes = probabilities.shape[1]
    if classes == 2:
        auc = sklearn_metrics.roc_auc_score(labels, probabilities[:, 1])
    else:
        auc = sklearn_metrics.roc_auc_score(labels, probabilities, multi_class="ovr", labels=np.arange(classes))
    f1 = sklearn_metrics.f1_score(labels, predicted, average="macro", labels=np.arange(classes), zero_division=0.0)
    hits = predicted == labels
    worst = min(float(hits[labels == group].mean()) for group in np.unique(labels))
    return Quality(float(hits.mean()), float(auc), float(f1), worst)
