"""Shape and budget of a run; the constants of Assumptions 1-3, what is made of them, and sizes that theorems ask for.

A batch of Theorem 7 (Algorithm 2), T and q of Theorem 8 (Algorithm 3): computed, not obeyed. Theorem 7 asks for
batches larger than the data set in every regime with G > 0.102, and Theorem 8 can ask for a phase of length zero.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpassay.reference.baselines.protocols import schedule_of
from dpassay.reference.errors import require, require_at_least, require_budget
from dpassay.reference.noise import Multipliers
from dpassay.reference.tape import LiveTape, Tape


@dataclass(frozen=True)
class Plan:
    """Shape of a run: records, iterations, phase, batch sizes for refreshes (None: all records) and differences."""

    n: int
    steps: int  # T
    phase: int  # q
    batch: int  # N_2 = N_4, b_2 = b_4
    refresh_batch: int | None = None  # N_1 = N_3, b_1 = b_3

    def __post_init__(self) -> None:
        require(self.n >= 2, "n", self.n, "must be at least 2")
        require_at_least(1, self, "steps", "phase")
        require(1 <= self.batch <= self.n, "batch", self.batch, f"must lie in 1..n = {self.n}")
        require(1 <= self.refresh <= self.n, "refresh_batch", self.refresh_batch, f"must lie in 1..n = {self.n}")

    @property
    def refresh(self) -> int:
        """Records per refresh."""
        return self.n if self.refresh_batch is None else self.refresh_batch


def equal_shares(run: Callable[[Any, Any, Tape], Any], schedule: Any, problem: Any, *labels: str) -> Multipliers:
    """Weights rate * sqrt(count) of the releases that one run of ``schedule`` makes; 1 for ``labels`` it never makes.

    ``rate`` is the sampling rate of their batches (1: all records). The calibrator scales these weights. Each sequence
    of releases gets the same share of mu^2. It has noise in proportion to its own sensitivity, so that std /
    sensitivity is a constant of the sequence even where the sensitivity follows the iterates; fully adaptive
    composition then accounts the run as if the multipliers had been fixed in advance, which they are.
    """
    tape = LiveTape(0)
    run(problem, schedule, tape)
    draws, releases = tape.transcript.draws, tape.transcript.releases
    counts = Counter(release.label for release in releases)
    rates = {release.label: math.prod(draws[number].rate for number in release.draws) for release in releases}
    weights = {label: rates[label] * math.sqrt(count) for label, count in counts.items()}
    return Multipliers({label: weights.get(label, 1.0) for label in labels})


def shared_equally(file: Any, plan: Plan, problem: Any, epsilon: float, delta: float, clip: float, **more: Any) -> Any:
    """The schedule of a baseline's file, noise by exact accounting: its releases get equal shares of the budget."""
    known = {"n": plan.n, "steps": plan.steps, "period": plan.phase, "refresh_batch": plan.refresh, "noise": file.EQUAL}
    known |= {"step_batch": plan.batch, "batch_x": plan.batch, "batch_y": plan.n}
    known |= {"clip": clip, "clip_x": clip, "difference_clip": 2 * clip, "smoothness": 2.0}
    plain = schedule_of(file, {**known, **more})
    return file.calibrated(plain, epsilon, delta, equal_shares(file.run, plain, problem, *file.EQUAL.by_label))


@dataclass(frozen=True)
class Constants:
    """Constants of Assumptions 1-3: the loss is G-Lipschitz and L-smooth, psi* is M-smooth, |d/deta L| <= sqrt(H)."""

    lipschitz: float = 1.0  # G
    smoothness: float = 1.0  # L
    conjugate_smoothness: float = 1.0  # M
    weight: float = 1.0  # lambda
    eta_bound: float = 1.0  # H

    @property
    def l0_printed(self) -> float:
        """Lemma 1 prints L_0 = G + G^2 M / lambda (G where the units ask for L)."""
        return self.lipschitz + self.l2

    @property
    def l1(self) -> float:
        """L_1 = L / G (Lemma 1)."""
        return self.smoothness / self.lipschitz

    @property
    def l2(self) -> float:
        """L_2 = G^2 M / lambda (Lemma 1)."""
        return self.lipschitz**2 * self.conjugate_smoothness / self.weight

    @property
    def x_rate(self) -> float:
        """L_0 + L_1 sqrt(H), the x-Lipschitz constant of the x-gradient in Theorem 6."""
        return self.l0_printed + self.l1 * math.sqrt(self.eta_bound)


def theorem_seven(n: int, constants: Constants, loss_deviation: float) -> float:
    """N_3 of Theorem 7, records of a refresh of x, with D_0, D_1, D_2 of Lemma 2; ``loss_deviation`` is its sigma.

    N_3 >= 3 c_0 (D_0 + 4 D_1 D_2) n / (2 L_0) with c_0 >= 8 L_0 and D_0 >= 8 G^2, so N_3 >= 96 G^2 n.
    """
    require(n >= 1, "n", n, "must be at least 1")
    require(loss_deviation >= 0, "loss_deviation", loss_deviation, "must not be negative")
    k, l0 = constants, constants.l0_printed
    spread = (k.lipschitz * k.conjugate_smoothness / k.weight * loss_deviation) ** 2
    d0, d1, d2 = 8.0 * k.lipschitz**2 + 10.0 * spread, 8.0, spread  # Lemma 2
    c0 = max(32.0 * k.l2, 8.0 * l0)
    return max(200.0 * d1 * k.l2 / l0, 3.0 * c0 * (d0 + 4.0 * d1 * d2) * n / (2.0 * l0))


def theorem_eight(
    n: int, d: int, epsilon: float, delta: float, *, smoothness: float = 1.0, lipschitz: float = 1.0, gap: float = 1.0
) -> tuple[int, int]:
    """T and q of Theorem 8, ``gap`` its Psi_0; q is floored and may be 0: then the algorithm cannot be run."""
    require_budget(epsilon, delta)
    logs, scale = d * math.log(1.0 / delta), n * epsilon
    first = (gap * smoothness) ** 0.25 * scale / math.sqrt(lipschitz * logs)
    T = max(1, math.floor(max(first ** (4 / 3), scale / math.sqrt(logs))))
    return T, math.floor(scale**2 / (smoothness**2 * T * logs))  # q
