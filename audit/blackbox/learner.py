"""Learned scores: candidates fitted on one split, weighted on a second, judged elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dpassay.audit.scores.curve import Curve
from dpassay.audit.scores.curve_claim import curve_log_wealth
from dpassay.reference.types import Array, Indices

from .features import Atoms, Features

Score = Callable[[Array], Array]
ROWS_CAP = 30_000  # a side, for the boosting and logistic fits
KERNEL_ROWS = 4000
CENTRES = 30
FIT_SHARE = 0.7  # of the training tables; the rest chooses the best
COLUMNS = 4  # raw outputs that are scores by themselves
LEAST_WEIGHT = 0.5 / (2 + 3 + COLUMNS + 1 - 1)  # of any candidate: atoms, models, columns, the largest; less the best


@dataclass
class Candidate:
    """A score function with a name and the share of the stake it gets."""

    name: str
    score: Score
    weight: float


def _boosting(x: Array, y: Indices, rng: np.random.Generator) -> Score:
    """Trees on all columns; those that are empty in training (an output seen only later) say nothing."""
    empty = np.isnan(x).all(axis=0)
    model = HistGradientBoostingClassifier(
        max_iter=60,
        max_leaf_nodes=15,
        learning_rate=0.15,
        min_samples_leaf=max(5, len(y) // 2000),
        early_stopping=False,
        random_state=int(rng.integers(2**31)),
    ).fit(np.where(empty, 0.0, x), y)
    return lambda z: np.asarray(model.decision_function(np.where(empty, 0.0, z)))


def _logistic(x: Array, y: Indices) -> Score:
    """On standardised columns and their squares, clipped at five standard deviations."""

    def expand(z: Array) -> Array:
        clipped = np.clip(scale.transform(np.nan_to_num(z)), -5, 5)
        return np.concatenate([clipped, clipped**2], axis=1)

    scale = StandardScaler().fit(np.nan_to_num(x))
    model = make_pipeline(LogisticRegression(C=1.0, max_iter=1000, tol=1e-3)).fit(expand(x), y)
    return lambda z: np.asarray(model.decision_function(expand(z)))


def _kernel(x: Array, y: Indices, rng: np.random.Generator) -> Score:
    """Logistic regression on the Gaussian kernel with a few random rows as centres (Nystroem)."""
    keep = rng.permutation(len(x))[:KERNEL_ROWS]
    scale = StandardScaler().fit(np.nan_to_num(x[keep]))

    def clipped(z: Array) -> Array:
        return np.asarray(np.clip(scale.transform(np.nan_to_num(z)), -5, 5))

    centres = Nystroem(gamma=1 / x.shape[1], n_components=CENTRES, random_state=int(rng.integers(2**31)))
    model = make_pipeline(centres, LogisticRegression(C=1.0, max_iter=200, tol=1e-2))
    if len(keep) < CENTRES or np.unique(y[keep]).size < 2:
        return lambda z: np.zeros(len(z))
    model.fit(clipped(x[keep]), y[keep])
    return lambda z: np.asarray(model.decision_function(clipped(z)))


def _column(column: int, table: Array) -> Array:
    return np.nan_to_num(table[:, column], nan=-1e300)


def _candidates(p: Array, q: Array, rng: np.random.Generator, low_bits: bool) -> list[tuple[str, Score]]:
    """All scores, from richest to plainest."""
    features, atoms = Features.fit(p, q, rng, low_bits), Atoms.fit(p, q)
    few_p, few_q = features.transform(p[:ROWS_CAP]), features.transform(q[:ROWS_CAP])
    x = np.concatenate([few_p, few_q])
    y = np.concatenate([np.zeros(len(few_p), dtype=np.int64), np.ones(len(few_q), dtype=np.int64)])
    boost, logistic = _boosting(x, y, rng), _logistic(x, y)
    kernel = _kernel(x, y, rng.spawn(1)[0])

    def atoms_else(rest: Score) -> Score:
        def score(table: Array) -> Array:
            known = atoms.score(table)
            return np.where(np.isnan(known), rest(features.transform(table)), known)

        return score

    found: list[tuple[str, Score]] = []
    if atoms.codes.size:
        found += [("atoms, else boosting", atoms_else(boost))]
        found += [("atoms, else nothing", lambda t: np.nan_to_num(atoms.score(t)))]
    found += [
        ("boosting", lambda t: boost(features.transform(t))),
        ("logistic", lambda t: logistic(features.transform(t))),
        ("kernel", lambda t: kernel(features.transform(t))),
    ]
    for column in range(min(p.shape[1], COLUMNS)):
        found.append((f"output[{column}]", partial(_column, column)))
    if p.shape[1] > 1:
        found.append(("largest output", lambda t: np.nan_to_num(t, nan=-1e300).max(axis=1)))
    return found


def learn_scores(p: Array, q: Array, claim: Curve, rng: np.random.Generator, low_bits: bool = False) -> list[Candidate]:
    """Fit on 70 % of the training tables; the best against `claim` on the rest gets half of the stake.

    With weights fixed before the test data are seen, the weighted mean of the candidates' wealth is valid.
    """
    cut_p, cut_q = max(1, int(FIT_SHARE * len(p))), max(1, int(FIT_SHARE * len(q)))
    found = _candidates(p[:cut_p], q[:cut_q], rng, low_bits)
    held_p, held_q = p[cut_p:], q[cut_q:]
    wealth = [
        curve_log_wealth(score(held_p), score(held_q), claim) if min(len(held_p), len(held_q)) else 0.0
        for _, score in found
    ]
    best = int(np.argmax(wealth))
    rest = 0.5 / max(1, len(found) - 1)
    weights = [0.5 if i == best else rest for i in range(len(found))] if len(found) > 1 else [1.0]
    return [Candidate(name, score, weight) for (name, score), weight in zip(found, weights, strict=True)]
