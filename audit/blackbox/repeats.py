"""Exact outputs that come back: a bet on which side they belong to, on all outputs, without a training split.

Under (epsilon, delta)-DP a label given any outputs is guessed with probability at most e^eps / (1 + e^eps) (see
`evidence/label_bets.py`). So the labels of equal outputs may be read one by one: the first says nothing, the next are
guessed to be like most of those before. A branch that skips the noise in one run of ten thousand shows up in twenty
labels.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpassay.audit.evidence.label_bets import labelled, ladder_gains, without
from dpassay.reference.arrays import Array, Bools
from dpassay.reference.guarantee import Guarantee

TARGETS = np.array([0.3, 1.0])  # an output that only one side can give is the usual case
DEPTHS = 250  # at which the wealth is looked at, log-spaced
FOR_ROUNDING, EACH = 1e-9, 2e-15  # of log wealth: more than a sum of logarithms loses, and each label read
CORRUPTED = 0.3  # labels that the chosen (epsilon, delta) of the claim may corrupt, in expectation


def row_hashes(table: Array) -> NDArray[np.uint64]:
    """One number a row, equal for equal rows; a collision only merges two outputs."""
    bits = np.ascontiguousarray(table).view(np.uint64)
    odd = np.random.default_rng(0).integers(2**62, size=(2, table.shape[1]), dtype=np.uint64) * 2 + 1
    with np.errstate(over="ignore"):
        mixed = (bits * odd[0]) ^ ((bits >> np.uint64(29)) * odd[1])
        mixed = mixed * np.uint64(0x9E3779B97F4A7C15)
        return np.asarray((mixed ^ (mixed >> np.uint64(32))).sum(axis=1, dtype=np.uint64))


def guesses(codes: NDArray[np.uint64], of_q: Bools, rng: np.random.Generator, known: int = 0) -> Bools:
    """Was each guess right? Groups of equal outputs, largest first; inside a group in random order.

    The first `known` outputs are past ones, whose labels are no secret: they are read first, and not guessed.
    """
    _, group, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    fresh = np.arange(codes.size) >= known
    order = np.lexsort((rng.random(codes.size), fresh, group, -sizes[group]))
    order = order[sizes[group][order] > 1]
    if not order.size:
        return np.zeros(0, dtype=bool)
    step = np.where(of_q[order], 1, -1)
    before = np.cumsum(step) - step
    start = np.flatnonzero(np.append(True, np.diff(group[order]) != 0))
    balance = before - np.repeat(before[start], np.diff(np.append(start, order.size)))
    return np.asarray((np.sign(balance) == step)[(balance != 0) & fresh[order]])


def chosen_pair(claim: Guarantee, labels: int) -> tuple[float, float]:
    """The pair of the claim that is tested: the smallest epsilon whose delta corrupts next to none of the labels."""
    epsilons, deltas = claim.forward
    cheap = np.flatnonzero(deltas * labels <= CORRUPTED)
    pick = int(cheap[0]) if cheap.size else int(np.argmin(deltas))
    return float(epsilons[pick]), float(deltas[pick])


def repeats_log_wealth(
    p: Array,
    q: Array,
    claim: Guarantee,
    rng: np.random.Generator,
    at_end: bool = False,
    past: tuple[Array, Array] | None = None,
) -> float:
    """Largest log wealth of betting against `claim` on repeated rows of the outputs on D (P) and D' (Q).

    `at_end`: the last one, an e-value that may be multiplied with others.
    `past`: earlier outputs with the same columns: what came back since then is guessed by them.
    """
    size = min(len(p), len(q))
    of_p, of_q = labelled(size, size, rng)
    codes = [without(row_hashes(p), len(p) - of_p, rng), without(row_hashes(q), len(q) - of_q, rng)]
    labels = [np.zeros(of_p, dtype=bool), np.ones(of_q, dtype=bool)]
    known = 0
    if past is not None:
        codes, known = [row_hashes(past[0]), row_hashes(past[1]), *codes], len(past[0]) + len(past[1])
        labels = [np.zeros(len(past[0]), dtype=bool), np.ones(len(past[1]), dtype=bool), *labels]
    right = guesses(np.concatenate(codes), np.concatenate(labels), rng, known)
    if not right.size:
        return 0.0
    epsilon, delta = chosen_pair(claim, of_p + of_q)
    at = np.unique(np.geomspace(1, right.size, DEPTHS).astype(np.int64))[-1 if at_end else 0 :]
    hits = np.cumsum(right)[at - 1].astype(float)
    misses = at - hits
    hit, miss = ladder_gains(np.array([epsilon]), TARGETS)
    costs = np.where(misses[:, None] > 0, misses[:, None] * np.maximum(miss, -1e9), 0.0)  # a miss may cost all
    best = float(logsumexp(hits[:, None] * hit[0] + costs, axis=1).max() - np.log(miss.size))
    corruption = (of_p + of_q) * np.log1p(delta * np.expm1(hit.max()))
    return best - FOR_ROUNDING - EACH * right.size - float(corruption)
