"""Black-box audit of a claimed curve: draw, learn on one part, bet on the rest."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpassay.audit.results import ClaimTest, SoundBound
from dpassay.audit.scores.curve import Curve
from dpassay.audit.scores.curve_claim import curve_log_wealth
from dpassay.audit.scores.labels import epsilon_labels
from dpassay.reference.errors import BadInput
from dpassay.reference.types import Array

from .learner import Candidate, learn_scores
from .outputs import Mechanism, draw, known_columns, to_table
from .repeats import REPEATS_SHARE, repeats_log_wealth

TRAINING_SHARE = 0.4


def _shuffled_split(table: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    if len(table) < 10:
        raise BadInput("outputs", len(table), "a black-box audit needs at least 10 outputs a side")
    mixed = table[rng.permutation(len(table))]
    cut = int(TRAINING_SHARE * len(table))
    return mixed[:cut], mixed[cut:]


def _split(table_p: Array, table_q: Array, rng: np.random.Generator) -> tuple[list[Array], list[Array]]:
    """Training and test tables, each of P and of Q."""
    train_p, test_p = _shuffled_split(table_p, rng)
    train_q, test_q = _shuffled_split(table_q, rng)
    return known_columns((train_p, train_q), (test_p, test_q))


def log_stakes(
    candidates: Sequence[Candidate],
    fresh: Sequence[Array],
    repeated: Sequence[Array],
    claim: Curve,
    rng: np.random.Generator,
    at_end: bool = False,
) -> Array:
    """Log of share times wealth of each candidate on the `fresh` tables, last of the bet on `repeated` outputs.

    `at_end`: e-values, which may be added and multiplied; else the largest over time of each, for a union bound.
    """
    logs = [curve_log_wealth(c.score(fresh[0]), c.score(fresh[1]), claim, at_end) for c in candidates]
    logs.append(repeats_log_wealth(repeated[0], repeated[1], claim, rng, at_end))
    shares = [(1 - REPEATS_SHARE) * c.weight for c in candidates] + [REPEATS_SHARE]
    return np.asarray(np.array(logs) + np.log(shares))


def audit_outputs(
    outputs_p: Any,
    outputs_q: Any,
    claim: Curve,
    rng: np.random.Generator,
    confidence: float = 0.95,
    relation: str = "replace-one",
    low_bits: bool = False,
) -> ClaimTest:
    """Test `claim` on stored outputs of independent runs on D (P) and D' (Q).

    `low_bits` judges the floating-point numbers themselves (every naive sampler fails that); without it the
    low-order bits are not looked at, and the verdict is about the real-valued mechanism.
    """
    start = time.perf_counter()
    table_p, table_q = to_table(outputs_p, outputs_q)
    training, test = _split(table_p, table_q, rng)
    candidates = learn_scores(training[0], training[1], claim, rng, low_bits)
    logs = log_stakes(candidates, test, (table_p, table_q), claim, rng)
    wealth = max(0.0, float(logs.max()))  # a weighted union bound
    best = [*(c.name for c in candidates), "repeated outputs"][int(logs.argmax())]
    return ClaimTest(
        claim=claim.name,
        p_value=float(np.exp(-wealth)),
        confidence=confidence,
        method="black box: learned score, curve betting",
        relation=relation,
        runs=len(table_p) + len(table_q),
        seconds=time.perf_counter() - start,
        evidence={"score": best, "log_wealth": wealth},
    )


def audit_mechanism(
    mechanism: Mechanism,
    dataset_p: Any,
    dataset_q: Any,
    claim: Curve,
    samples: int,
    rng: np.random.Generator,
    confidence: float = 0.95,
    low_bits: bool = False,
) -> ClaimTest:
    """Draw `samples` outputs on each dataset and test `claim`."""
    outputs_p = draw(mechanism, dataset_p, samples, rng)
    outputs_q = draw(mechanism, dataset_q, samples, rng)
    return audit_outputs(outputs_p, outputs_q, claim, rng, confidence, low_bits=low_bits)


def epsilon_of_outputs(
    outputs_p: Any, outputs_q: Any, delta: float, rng: np.random.Generator, confidence: float = 0.95
) -> SoundBound:
    """Sound lower bound of epsilon at `delta` from stored outputs, by the best learned score's labels."""
    start = time.perf_counter()
    table_p, table_q = to_table(outputs_p, outputs_q)
    (train_p, train_q), (test_p, test_q) = _split(table_p, table_q, rng)
    guess = Curve("no privacy loss", np.zeros(1), np.zeros(1))
    best = max(learn_scores(train_p, train_q, guess, rng), key=lambda c: c.weight)
    bound = epsilon_labels(best.score(test_p), best.score(test_q), delta, rng, confidence)
    return SoundBound(
        epsilon=bound.epsilon,
        delta=delta,
        confidence=confidence,
        method="black box: learned score, labels",
        runs=len(table_p) + len(table_q),
        seconds=time.perf_counter() - start,
        evidence={"score": best.name, **bound.evidence},
    )
