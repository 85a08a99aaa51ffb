"""Audits that may stop at any time: test martingales on losses, on scores and on black-box outputs.

The wealth of each process is at most 1 in expectation under the claim at every stopping time, so 'stop as soon as it
reaches 1 / alpha' keeps the level alpha (Ville). A process can be written to a checkpoint and continued, and wealths of
independent machines multiply. `session.py` does this from the command line.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from dpassay.audit.blackbox.detect import log_stakes
from dpassay.audit.blackbox.learner import learn_scores
from dpassay.audit.blackbox.outputs import Mechanism, draw
from dpassay.audit.blackbox.table import joined, known_columns, to_table
from dpassay.audit.results import ClaimTest
from dpassay.audit.scores.curve_claim import check_scores, curve_log_wealth
from dpassay.reference.errors import BadInput
from dpassay.reference.guarantee import Guarantee
from dpassay.reference.types import Array

FORMAT = 1  # of the checkpoint


@dataclass
class MeanProcess:
    """Bets that the mean of non-negative variables exceeds `null`: capital prod(1 - c + c x / null).

    With x = W (1 - exp(epsilon - L))_+ from runs drawn under any tilt (weight W = dP/dR) and null = delta this is the
    likelihood audit of (epsilon, delta), one run at a time; no upper bound on x is needed.
    """

    claim: str
    null: float
    bets: Array = field(default_factory=lambda: np.geomspace(0.002, 0.95, 16))
    log_wealths: Array = field(default_factory=lambda: np.zeros(16))
    runs: int = 0
    best: float = 0.0

    def __post_init__(self) -> None:
        if not self.null > 0:
            raise BadInput("null", self.null, "must be positive; at delta = 0 use scores")
        if self.bets.size != self.log_wealths.size:
            self.log_wealths = np.zeros(self.bets.size)

    @staticmethod
    def of_losses(epsilon: float, delta: float) -> MeanProcess:
        """The process that tests (epsilon, delta)-DP from privacy losses; feed it `hockey_stick` values."""
        return MeanProcess(f"({epsilon:g}, {delta:g})-DP", delta)

    def update(self, values: ArrayLike) -> float:
        """Bet on new independent values (in order); returns the current log wealth."""
        x = np.atleast_1d(np.asarray(values, dtype=float))
        if not bool(np.all(x >= 0)):
            raise BadInput("values", x.min(), "must be non-negative numbers")
        steps = np.log1p(self.bets[:, None] * (x[None, :] / self.null - 1))
        path = self.log_wealths[:, None] + np.cumsum(steps, axis=1)
        mixed = logsumexp(path, axis=0) - np.log(self.bets.size)
        self.log_wealths, self.runs = path[:, -1].copy(), self.runs + x.size
        self.best = max(self.best, float(mixed.max()))
        return float(mixed[-1])

    @property
    def log_wealth(self) -> float:
        """Log of the current wealth."""
        return float(logsumexp(self.log_wealths) - np.log(self.bets.size))

    def checkpoint(self) -> str:
        """The state as JSON."""
        state = {"claim": self.claim, "null": self.null, "runs": self.runs, "best": self.best}
        arrays = {"bets": self.bets.tolist(), "log_wealths": self.log_wealths.tolist()}
        return json.dumps({"format": FORMAT, "kind": "mean", **state, **arrays}, sort_keys=True)

    @staticmethod
    def resume(text: str) -> MeanProcess:
        """Continue from a checkpoint."""
        state = _open(text, "mean")
        return MeanProcess(
            str(state["claim"]),
            float(state["null"]),
            np.array(state["bets"], dtype=float),
            np.array(state["log_wealths"], dtype=float),
            int(state["runs"]),
            float(state["best"]),
        )


def hockey_stick(losses: ArrayLike, log_weights: ArrayLike, epsilon: float) -> Array:
    """W (1 - exp(epsilon - L))_+ of each run; its mean under the drawing law is delta(epsilon)."""
    gap = epsilon - np.asarray(losses, dtype=float)
    return np.asarray(np.exp(np.asarray(log_weights, dtype=float)) * -np.expm1(np.minimum(gap, 0.0)))


@dataclass
class CurveProcess:
    """Tests a claimed curve from score pairs that arrive in blocks; each block must be independent of the past.

    A block is judged by bets learned inside it, so the state is one number and machines need not share
    scores.
    """

    claim: str
    log_wealth: float = 0.0
    runs: int = 0
    best: float = 0.0

    def update(self, scores_p: ArrayLike, scores_q: ArrayLike, curve: Guarantee, rng: np.random.Generator) -> float:
        """Multiply by the e-value of one block; returns the current log wealth."""
        if curve.name != self.claim:
            raise BadInput("curve", curve.name, f"this process tests {self.claim}")
        p, q = check_scores(scores_p, "scores_p"), check_scores(scores_q, "scores_q")
        self.log_wealth += curve_log_wealth(rng.permutation(p), rng.permutation(q), curve, at_end=True)
        self.runs, self.best = self.runs + p.size + q.size, max(self.best, self.log_wealth)
        return self.log_wealth

    def checkpoint(self) -> str:
        """The state as JSON."""
        state = {"claim": self.claim, "log_wealth": self.log_wealth, "runs": self.runs, "best": self.best}
        return json.dumps({"format": FORMAT, "kind": "curve", **state}, sort_keys=True)

    @staticmethod
    def resume(text: str) -> CurveProcess:
        """Continue from a checkpoint."""
        state = _open(text, "curve")
        return CurveProcess(str(state["claim"]), float(state["log_wealth"]), int(state["runs"]), float(state["best"]))


def _open(text: str, kind: str) -> dict[str, Any]:
    try:
        state = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInput("checkpoint", text[:40], f"is not JSON: {error}") from error
    if not isinstance(state, dict) or state.get("format") != FORMAT or state.get("kind") != kind:
        raise BadInput("checkpoint", text[:40], f"is not a '{kind}' checkpoint of format {FORMAT}")
    return state


def combine(processes: Sequence[MeanProcess | CurveProcess], confidence: float = 0.95) -> ClaimTest:
    """One verdict from independent machines (different seeds): the current wealths multiply."""
    claims = {process.claim for process in processes}
    if len(claims) != 1:
        raise BadInput("processes", sorted(claims), "must test one and the same claim")
    total = sum(process.log_wealth for process in processes)
    return ClaimTest(
        claim=claims.pop(),
        p_value=float(np.exp(-max(0.0, total))),
        confidence=confidence,
        method=f"product of {len(processes)} independent test martingales",
        runs=sum(process.runs for process in processes),
        evidence={"log_wealths": [process.log_wealth for process in processes]},
    )


def until_refuted(
    process: MeanProcess,
    draw_values: Callable[[int], ArrayLike],
    limit: int,
    confidence: float = 0.95,
    block: int = 64,
) -> ClaimTest:
    """Draw values block by block and stop once the wealth reaches 1 / (1 - confidence), or at `limit` runs."""
    start, needed = time.perf_counter(), -np.log(1 - confidence)
    while process.best < needed and process.runs < limit:
        process.update(draw_values(min(block, limit - process.runs)))
    return ClaimTest(
        claim=process.claim,
        p_value=float(np.exp(-max(0.0, process.best))),
        confidence=confidence,
        method="sequential likelihood betting",
        runs=process.runs,
        seconds=time.perf_counter() - start,
        evidence={"log_wealth": process.log_wealth},
    )


def audit_sequentially(
    mechanism: Mechanism,
    datasets: tuple[Any, Any],
    claim: Guarantee,
    rng: np.random.Generator,
    limit: int = 100_000,
    first: int = 250,
    confidence: float = 0.95,
    low_bits: bool = False,
) -> ClaimTest:
    """Black-box audit that grows: learn on all outputs so far, bet on as many fresh ones, stop when refuted.

    `first` outputs a side only teach; then the sample doubles until the claim falls or `limit` a side is reached.
    """
    start, needed, wealth, best = time.perf_counter(), -np.log(1 - confidence), 0.0, 0.0
    outputs = [draw(mechanism, data, first, rng) for data in datasets]
    known = first
    while best < needed and known < limit:
        size = min(known, limit - known)
        fresh = [draw(mechanism, data, size, rng) for data in datasets]
        outputs = [joined(*sides) for sides in zip(outputs, fresh, strict=True)]
        wealth += _round_log_wealth(*to_table(*outputs), known, claim, rng, low_bits)
        best, known = max(best, wealth), known + size
    return ClaimTest(
        claim=claim.name,
        p_value=float(np.exp(-best)),
        confidence=confidence,
        method="sequential black box",
        runs=2 * known,
        seconds=time.perf_counter() - start,
        evidence={"log_wealth": wealth},
    )


def _round_log_wealth(
    table_p: Array, table_q: Array, known: int, claim: Guarantee, rng: np.random.Generator, low_bits: bool
) -> float:
    """Log e-value of the outputs after the first `known` a side, by what the first ones taught."""
    fresh_p, fresh_q = table_p[known:], table_q[known:]
    past, fresh = known_columns((table_p[:known], table_q[:known]), (fresh_p, fresh_q))
    candidates = learn_scores(past[0], past[1], claim, rng, low_bits)
    return float(logsumexp(log_stakes(candidates, fresh, (fresh_p, fresh_q), claim, rng, at_end=True)))
