"""A test martingale on privacy losses, which may stop at any time.

Its wealth is at most 1 in expectation under the claim at every stopping time, so 'stop as soon as it reaches 1 / alpha'
keeps the level alpha (Ville). A process can be kept and continued, and wealths of independent machines multiply:
`sequential/session.py` does this from the command line.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from dpassay.audit.results import ClaimTest
from dpassay.reference.arrays import Array
from dpassay.reference.errors import BadInput, require


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

    def state(self) -> dict[str, Any]:
        """What has to be kept so that another process of the same claim can go on."""
        return {"log_wealths": self.log_wealths.tolist(), "runs": self.runs, "best": self.best}

    def go_on(self, state: Mapping[str, Any], where: str) -> None:
        """Continue from a state that was kept.

        Raises:
            BadInput: it is none; `where` says where it comes from.
        """
        names = {"log_wealths", "runs", "best"}
        require(set(state) == names, where, sorted(state), f"must have exactly {', '.join(sorted(names))}")
        wealths, runs, best = state["log_wealths"], state["runs"], state["best"]
        good = isinstance(wealths, list) and len(wealths) == self.bets.size and all(map(is_wealth, wealths))
        require(good, f"{where}: log_wealths", wealths, f"must be {self.bets.size} numbers")
        require(type(runs) is int and 0 <= runs < 2**63, f"{where}: runs", runs, "must lie in 0..2^63 - 1")
        self.log_wealths, self.runs = np.array(wealths, dtype=float), runs
        lowest = max(0.0, self.log_wealth)
        why = f"must be a number of at least {lowest:.6g}, the wealth at the start and at the end"
        require(is_wealth(best) and best >= lowest - 1e-9, f"{where}: best", best, why)
        self.best = float(best)


def is_wealth(value: object) -> bool:
    """A finite logarithm of a wealth."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -1e15 < value < 1e15


def hockey_stick(losses: ArrayLike, log_weights: ArrayLike, epsilon: float) -> Array:
    """W (1 - exp(epsilon - L))_+ of each run; its mean under the drawing law is delta(epsilon)."""
    gap = epsilon - np.asarray(losses, dtype=float)
    return np.asarray(np.exp(np.asarray(log_weights, dtype=float)) * -np.expm1(np.minimum(gap, 0.0)))


def until_refuted(
    process: MeanProcess,
    draw_values: Callable[[int], ArrayLike],
    limit: int,
    confidence: float = 0.95,
    block: int = 64,
    each: Callable[[], None] = lambda: None,
) -> ClaimTest:
    """Draw values block by block and stop once the wealth reaches 1 / (1 - confidence), or at `limit` runs.

    `each` is called after every block, when the process has bet on it.
    """
    start, needed = time.perf_counter(), -np.log(1 - confidence)
    while process.best < needed and process.runs < limit:
        process.update(draw_values(min(block, limit - process.runs)))
        each()
    return ClaimTest(
        claim=process.claim,
        p_value=float(np.exp(-max(0.0, process.best))),
        confidence=confidence,
        method="sequential likelihood betting",
        runs=process.runs,
        seconds=time.perf_counter() - start,
        evidence={"log_wealth": process.log_wealth},
    )
