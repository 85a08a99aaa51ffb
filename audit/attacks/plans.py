"""What an attack is asked to do, checked as a whole: what makes no sense together is refused, nothing is ignored."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.errors import require
from dpassay.reference.guarantee import Guarantee, approx_dp, gdp

from .estimators import DP_SGD, dp_sgd_mu, dp_sgd_schedule, trainer_named

RECORDS = ("none", "mislabelled", "out of distribution")
GRADIENTS = "gradient orthogonal"  # canaries
STARTS = ("usual", "crafted")
MANY, ONE, GRADIENT = "many records", "one record", "gradient canaries"  # the three games
GRADIENT_COUNT, GRADIENT_HIDDEN = 1000, 32  # canaries unless told otherwise, and hidden units so that they find room


@dataclass(frozen=True)
class Plan:
    """What the user asked for; None where the default depends on the rest."""

    estimator: str = DP_SGD
    data: str = "breast cancer"
    candidates: int | None = None
    models: int | None = None
    canaries: str = "none"
    initialisation: str = "usual"
    hidden: int | None = None
    noise_multiplier: float | None = None
    epsilon: float | None = None
    delta: float = 1e-5
    trusted: bool = False  # a file that may run any code is read

    def __post_init__(self) -> None:
        """Refuse what makes no sense together."""
        kinds = (*RECORDS, GRADIENTS)
        require(self.canaries in kinds, "--canaries", self.canaries, f"must be one of {', '.join(kinds)}")
        starts = f"must be {' or '.join(STARTS)}"
        require(self.initialisation in STARTS, "--initialisation", self.initialisation, starts)
        require(0 <= self.delta < 1, "--delta", self.delta, "must lie in [0, 1)")
        good = self.epsilon is None or 0 <= self.epsilon < math.inf
        require(good, "--epsilon", self.epsilon, "must be finite and not negative")
        require(self.hidden is None or 0 <= self.hidden <= 4096, "--hidden", self.hidden, "must lie in 0..4096")
        if self.estimator == DP_SGD:
            dp_sgd_schedule(self.noise)
        else:
            self._check_foreign()
        checks = {MANY: self._check_many, ONE: self._check_one, GRADIENT: self._check_gradients}
        checks[self.game]()

    def _check_foreign(self) -> None:
        trainer_named(self.estimator, 2, self.trusted)
        for option, value in (("--noise-multiplier", self.noise_multiplier), ("--hidden", self.hidden)):
            require(value is None, option, value, f"belongs to {DP_SGD}, not to {self.estimator}")
        gradients, crafted = self.game == GRADIENT, self.crafted
        require(not gradients, "--canaries", self.canaries, f"{self.estimator} shows no gradients, {DP_SGD} does")
        require(not crafted, "--initialisation", "crafted", f"only {DP_SGD} can be told where to start")

    def _check_many(self) -> None:
        require(10 <= self.count <= 10**6, "--candidates", self.candidates, "must be 1, or lie in 10..1e6")
        require(3 <= self.trained <= 10**4, "--models", self.models, "must lie in 3..10000")
        why = "is made for one canary, no start suits many: add --candidates 1"
        require(not self.crafted, "--initialisation", "crafted", why)

    def _check_one(self) -> None:
        require(50 <= self.trained <= 10**5, "--models", self.models, "of one candidate must lie in 50..1e5")
        require(not (self.crafted and self.units), "--hidden", self.hidden, "must be 0 for a crafted initialisation")

    def _check_gradients(self) -> None:
        require(20 <= self.count <= 10**5, "--candidates", self.candidates, "of gradient canaries must lie in 20..1e5")
        require(self.models is None, "--models", self.models, "gradient canaries sit in one run: leave it out")
        why = "changes nothing for gradient canaries, whose gradients are the same from any start: leave it out"
        require(not self.crafted, "--initialisation", "crafted", why)

    @property
    def game(self) -> str:
        """Which of the three games is played."""
        return GRADIENT if self.canaries == GRADIENTS else ONE if self.candidates == 1 else MANY

    @property
    def crafted(self) -> bool:
        """Does training begin where the canary shows best?"""
        return self.initialisation == "crafted"

    @property
    def count(self) -> int:
        """Candidates, or canaries."""
        if self.candidates is not None:
            return self.candidates
        return GRADIENT_COUNT if self.game == GRADIENT else 200

    @property
    def trained(self) -> int:
        """Models that are trained."""
        if self.game == GRADIENT:
            return 1
        return self.models if self.models is not None else 400 if self.game == ONE else 12

    @property
    def noise(self) -> float:
        """The noise multiplier of dp-sgd."""
        return 9.0 if self.noise_multiplier is None else self.noise_multiplier

    @property
    def units(self) -> int:
        """Hidden units of dp-sgd's model."""
        return (GRADIENT_HIDDEN if self.game == GRADIENT else 0) if self.hidden is None else self.hidden

    @property
    def claim(self) -> Guarantee | None:
        """What is audited: the claimed epsilon at delta, or what dp-sgd's accounting says; None: nothing."""
        if self.epsilon is not None:
            return approx_dp(self.epsilon, self.delta)
        return gdp(dp_sgd_mu(self.noise)) if self.estimator == DP_SGD else None

    @property
    def claimed(self) -> float | None:
        """The claim's epsilon at delta, where it has one."""
        if self.epsilon is None and self.estimator == DP_SGD and self.delta > 0:
            return gdp_epsilon(dp_sgd_mu(self.noise), self.delta)
        return self.epsilon
