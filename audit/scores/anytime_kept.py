"""A lower bound of epsilon that may be looked at as often as one likes while scores come in; kept between commands.

`epsilon_labels` is valid once. Computed anew on growing data, the largest of its answers exceeds the truth far more
often than the level says. Here the labels of each block of fresh scores are read from the extreme ones inwards
(`evidence/label_bets.py`), to depths fixed beforehand, which gives an e-value against each epsilon of a ladder; the
products over blocks are test martingales, so by Ville's inequality the bound, taken at any time and for any reason, is
wrong with probability 1 - confidence at most. Nobody bets twice on the same scores: a file that was read before is
refused (`files.py`).
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike
from pydantic import ConfigDict, Field, TypeAdapter
from scipy.special import logsumexp

from dpassay.audit.evidence.curves import check_scores
from dpassay.audit.evidence.label_bets import LADDER, TARGETS, labelled, ladder_gains, tops, without
from dpassay.audit.plain import checked
from dpassay.audit.results import SoundBound
from dpassay.audit.running.store import read_state, write_state
from dpassay.reference.arrays import Array
from dpassay.reference.errors import require

from .files import Count, Marks, new_marks

STEPS = LADDER[:: 1 + LADDER.size // 400]  # about 400 of them: a bound is at most one step coarser
SHARES = (0.01, 0.03, 0.1, 0.3, 1.0)  # of a block that is read from one end
READINGS = 4  # from either end, high scores guessed to be of D' or of D
WAYS = READINGS * len(SHARES) * TARGETS.size
KIND = "anytime bound of scores"
STREAM = 61
Wealths = list[Annotated[float, Field(strict=True, allow_inf_nan=False)]]


@dataclass
class EpsilonSequence:
    """The bound so far of an audit at `delta`; `update` with blocks of scores that are independent of the past.

    Args:
        delta: in [0, 1).
        confidence: of the whole sequence of bounds.
        seed: of the random order in which scores are read.
    """

    delta: float
    confidence: float = 0.95
    seed: int = 0
    log_wealths: Annotated[
        list[Annotated[Wealths, Field(min_length=WAYS, max_length=WAYS)]],
        Field(min_length=STEPS.size, max_length=STEPS.size),
    ] = field(default_factory=lambda: np.zeros((STEPS.size, WAYS)).tolist())
    peaks: Annotated[Wealths, Field(min_length=STEPS.size, max_length=STEPS.size)] = field(
        default_factory=lambda: [0.0] * STEPS.size
    )
    runs: Count = 0
    blocks: Count = 0
    marks: Marks = ()
    __pydantic_config__ = ConfigDict(extra="forbid")  # as it is read from a checkpoint

    def __post_init__(self) -> None:
        require(0 <= self.delta < 1, "delta", self.delta, "must lie in [0, 1)")
        require(0 < self.confidence < 1, "confidence", self.confidence, "must lie in (0, 1)")

    @property
    def epsilon(self) -> float:
        """The largest epsilon of the ladder below which all have been refuted at some time."""
        refuted = np.array(self.peaks) >= -np.log(1 - self.confidence)
        count = int(refuted.size if refuted.all() else refuted.argmin())
        return float(STEPS[count - 1]) if count else 0.0

    def update(self, scores_p: ArrayLike, scores_q: ArrayLike, rng: np.random.Generator) -> SoundBound:
        """Bet on one block of scores on D (P) and on D' (Q) and return the bound so far."""
        start = time.perf_counter()
        p, q = check_scores(scores_p, "scores_p"), check_scores(scores_q, "scores_q")
        of_p, of_q = labelled(p.size, q.size, rng)
        low, high = np.sort(without(p, p.size - of_p, rng)), np.sort(without(q, q.size - of_q, rng))
        wealths = np.array(self.log_wealths)
        if of_p + of_q:
            wealths += self._gained(low, high, float(np.log(q.size / p.size)), rng)
        self.log_wealths = wealths.tolist()
        self.peaks = np.maximum(self.peaks, logsumexp(wealths, axis=1) - np.log(WAYS)).tolist()
        self.runs, self.blocks = self.runs + p.size + q.size, self.blocks + 1
        return SoundBound(
            epsilon=self.epsilon,
            delta=self.delta,
            confidence=self.confidence,
            method="anytime, labels of extreme scores",
            runs=self.runs,
            seconds=time.perf_counter() - start,
            evidence={"blocks": self.blocks},
        )

    def _gained(self, low: Array, high: Array, log_odds: float, rng: np.random.Generator) -> Array:
        """Log e-values of one block, shape of `log_wealths`: right and wrong guesses at fixed depths."""
        labels = low.size + high.size
        at = np.maximum.accumulate(np.maximum(1, np.round(np.array(SHARES) * labels).astype(np.int64)))
        sides = ((high, low, log_odds), (-low[::-1], -high[::-1], -log_odds))
        swapped = ((low, high, -log_odds), (-high[::-1], -low[::-1], log_odds))
        found = []
        for guessed, other, odds in (*sides, *swapped):
            right = tops(guessed, other, at, rng).astype(float)
            hit, miss = ladder_gains(STEPS + odds, TARGETS)
            wrong = (at - right)[:, None]
            cost = np.where(wrong > 0, wrong * np.maximum(miss, -1e9), 0.0)
            corruption = labels * np.log1p(self.delta * np.expm1(np.maximum(hit.max(axis=1), 0.0)))
            logs = right[None, :, None] * hit[:, None, :] + cost[None] - corruption[:, None, None]
            found.append(logs.reshape(STEPS.size, -1))
        return np.concatenate(found, axis=1)


def grow(
    path: Path, named: Sequence[tuple[str, Array]], delta: float, confidence: float, seed: int
) -> tuple[SoundBound, str]:
    """Bet on one more pair of samples, keep the wealth at `path`; the bound so far, and what is to be said.

    Args:
        path: the checkpoint; begun if there is none.
        named: name and scores of the runs on D and of those on D', none of which were given before.
        delta, confidence, seed: the same in every call.
    """
    before, sequence = read_state(path, KIND), EpsilonSequence(delta, confidence, seed)
    if before is not None:
        sequence = checked(TypeAdapter(EpsilonSequence), before, str(path))
    for name, value in (("delta", delta), ("confidence", confidence), ("seed", seed)):
        found = getattr(sequence, name)
        require(found == value, f"{path}: {name}", found, f"this call has {value!r}")
    new, said = new_marks(named, sequence.marks, path)
    sequence.marks = (*sequence.marks, *new)
    bound = sequence.update(named[0][1], named[1][1], np.random.default_rng([seed, STREAM, sequence.blocks]))
    write_state(path, KIND, asdict(sequence), before)
    return bound, said
