"""The metrics of Section 5.1 (paper ``dro``): test accuracy, ROC AUC, F1, and the worst group's accuracy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.reference.errors import require
from dpassay.reference.extras import Later
from dpassay.reference.types import Array, Indices

sklearn_metrics = Later("sklearn.metrics")


@dataclass(frozen=True)
class Quality:
    """All between 0 and 1, larger is better."""

    accuracy: float
    auc: float  # area under the ROC curve; one against the rest, averaged over classes, for more than two
    f1: float  # macro average over the classes
    worst_group: float  # smallest accuracy over the groups


def quality(probabilities: Array, labels: Indices, groups: Indices | None = None) -> Quality:
    """Metrics of predicted probabilities (n, classes) against labels (n,); groups (n,) default to the labels."""
    require(
        probabilities.shape[:1] == labels.shape,
        "labels",
        labels.shape,
        f"probabilities {probabilities.shape}",
    )
    predicted = probabilities.argmax(axis=1)
    classes = probabilities.shape[1]
    if classes == 2:
        auc = sklearn_metrics.roc_auc_score(labels, probabilities[:, 1])
    else:
        auc = sklearn_metrics.roc_auc_score(labels, probabilities, multi_class="ovr", labels=np.arange(classes))
    f1 = sklearn_metrics.f1_score(labels, predicted, average="macro", labels=np.arange(classes), zero_division=0.0)
    hits = predicted == labels
    by_group = labels if groups is None else groups
    worst = min(float(hits[by_group == group].mean()) for group in np.unique(by_group))
    return Quality(float(hits.mean()), float(auc), float(f1), worst)
