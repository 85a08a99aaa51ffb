"""Cases of adaptive_batch for the audit: the stochastic SPIDER on worst-case neighbours, in every printed reading."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import pi, sqrt

import numpy as np

from dpassay.reference.case import Case, Instance, PrivacyClaim
from dpassay.reference.papers import Cite
from dpassay.reference.types import Array

from .schedule import CHARITABLE, REPAIRS, Schedule, repaired
from .stochastic_spider import stochastic_spider
from .theorem_schedules import COMPLETIONS, Constants, NoiseSource, schedule
from .worst_case import Scene, sign_flip

DELTA, EPSILON, RECORDS = 1e-5, 1.0, 20_000
ALGORITHM = Cite("adaptive_batch", "Algorithms 1, 3 and 4")


@dataclass(frozen=True)
class Regime:
    """Dimension, alpha and B. `alpha` None is the accuracy of Theorem 3.17; its privacy does not depend on alpha."""

    dimension: int = 1  # d
    alpha: float | None = None
    gap: float = 1.0  # B, an upper bound: kappa >= B^(1/3) says how soon a refresh forgets a record

    @property
    def constants(self) -> Constants:
        """With G = M = rho = 1."""
        return Constants(RECORDS, self.dimension, EPSILON, DELTA, initial_gap=self.gap)

    @property
    def choice(self) -> str:
        """What is set here and not by Theorem 3.17."""
        return f"alpha = {self.alpha:g}, B = {self.gap:g}: the O(.) of Theorem 3.17 leaves alpha's constant open"


PLAIN, HIGH = Regime(), Regime(dimension=16)  # alpha = 0.12 and 0.13
PATIENT, PATIENT_HIGH = Regime(alpha=0.45, gap=1e5), Regime(16, 0.9, 27e3)  # long epochs
SMALL_STEPS = Regime(alpha=0.45)  # O2 moves further than O1: one record of b_t = 1
LONG_ESCAPES = Regime(alpha=0.03)
FAR = 1e3  # any gradient longer than kappa
EDGE = sqrt(0.03)  # its Xi = sqrt(gamma/rho)


@dataclass(frozen=True)
class Target:
    """Which oracle reads the changed record first, on which waves, and what answers make the costliest run.

    One tree over the run (printed) costs most if a refresh follows step 2^m: the record then leaves the sums in every
    node that starts at 2^m + 1, after it has entered every node that starts at 1. A new tree costs most without one.
    """

    scene: Scene
    costliest: Callable[[int | None, str, object, int], Array]


def _stay(renewal: int | None, label: str, law: object, step: int) -> Array:
    """Dictated gradients next to zero: the iterate stays, and only the one after step `renewal` brings a refresh."""
    return np.full_like(law.query, FAR if label == f"tree/(1,{renewal})" else 1e-9)  # type: ignore[attr-defined]


def _lean(renewal: int | None, label: str, law: object, step: int) -> Array:
    """Escapes go to the edge of the ball in one step and stay there."""
    query: Array = law.query  # type: ignore[attr-defined]
    first = label == "escape/gradient" and float(np.linalg.norm(query)) < 1e-6  # g + H 0
    return np.full_like(query, -0.999 * EDGE if first else 1e-9 if label != "escape/gradient" else 0.0)


def _jump_then_stay(renewal: int | None, label: str, law: object, step: int) -> Array:
    """One step of length 0.8, then as `_stay`: the record of the first difference stays in the sums."""
    return np.full(1, -0.8) if label == "tree/(1,1)" else _stay(renewal, label, law, step)


TARGETS = {
    "O1": Target(Scene(pi / 2), _stay),  # gradient one; the others do not pull: epochs are long
    "O2": Target(Scene(pi - 0.7, -1.0, pi - 0.7), _jump_then_stay),  # the first step crosses the wave
    # Hessian one; the others end the first step where g = 0.75 Xi and H = 1, so that escapes hover there
    "O3": Target(Scene(0.0, 1.0, 0.936), _lean),
}


def _printed(noise: NoiseSource, steps: int, regime: Regime, threshold: float = 0.0) -> Schedule:
    """The schedule of the theorem, cut to a few steps; records are taken in index order.

    `threshold` 0 keeps the run in plain descent, a large one starts an escape as soon as line 11 allows it.
    """
    full = schedule(regime.constants, noise, alpha=regime.alpha, check_data=False)
    return replace(full, steps=steps, threshold=threshold, order="index")


CUT = "cut to T steps; the threshold of line 11 is 0 (no escapes) or so large that an escape starts when it may"
ORDER = "records are taken in index order: the strongest reading of 'draw among unused'"


def _case(variant: str, make: Callable[[], Schedule], target: str, regime: Regime, **changes: object) -> Case:
    """`target` says which oracle reads the changed record first: O1 (record 0), O3 or O2."""

    def build() -> Instance:
        s = make()
        record = {"O1": 0, "O3": s.batch, "O2": 2 * s.batch}[target]
        facts: dict[str, float | int | str] = {
            "n": RECORDS,
            "d": regime.dimension,
            "T": s.steps,
            "b": s.batch,
            "kappa": s.drift_limit,
            "Gamma": s.escape_steps,
            "tau": s.escape_limit,
            "sigma_tree": s.tree_std,
            "sigma_t": s.escape_std,
            "record read by": target,
        }
        pair = sign_flip(RECORDS, record, TARGETS[target].scene, regime.dimension)
        renewal = None if s.refresh == "new tree" else 1 << (s.steps.bit_length() - 1)
        longest = partial(TARGETS[target].costliest, renewal)
        return Instance(stochastic_spider, s, pair, longest=longest, facts=facts)

    options: dict[str, object] = {
        "id": "adaptive_batch/stochastic_spider",
        "title": "Stochastic SPIDER with escape (Algorithms 1, 3 and 4)",
        "cite": ALGORITHM,
        "build": build,
        "variant": variant,
        "data": "signed waves, one flipped",
        "completions": (*COMPLETIONS, CUT, ORDER),
        "quick": False,
    }
    options |= changes
    if regime.alpha is not None:
        options["completions"] = (*options["completions"], regime.choice)  # type: ignore[misc]
    return Case(**options)  # type: ignore[arg-type]


def _claim(place: str) -> PrivacyClaim:
    return PrivacyClaim(EPSILON, DELTA, Cite("adaptive_batch", place))


NO_LOG = "sigma_tree = alpha/sqrt(d) has lost the factor log(1/delta) of Lemma 3.14, which Lemma 3.13 asks for"
NO_TREE = "one record enters 1 + log2(Sigma) nodes, each with sensitivity 2 G/b: Lemma 3.13 counts one node and G/b"
NO_ESCAPES = "tau < 1 is charged for less than one escape, yet line 4 lets one start"
BARE_REFRESH = "refresh/bare is released without noise: line 5 sets nabla_t, lines 11 and 17 use it"
LITERAL = "line 5 read literally: nabla_t itself is used by lines 11 and 17"
POWER_OF_TWO = "NODE(Sigma) covers 1..Sigma - 1 when Sigma is a power of two: the last gradient difference is bare"


def _tree(noise: NoiseSource, steps: int, target: str, regime: Regime, known: str, quick: bool = False) -> Case:
    return _case(
        f"{noise.lower().replace(' ', '-')}-d{regime.dimension}-T{steps}-{target}",
        partial(_printed, noise, steps, regime),
        target,
        regime,
        reading="printed",
        claim=_claim(noise),
        known=known,
        quick=quick,
    )


def _bare() -> Schedule:
    return replace(_printed("Theorem 3.17", 5, PLAIN).with_bare_refresh(), order="index")


def _mended(steps: int, regime: Regime, threshold: float = 0.0) -> Schedule:
    return repaired(_printed("Lemma 3.13", steps, regime, threshold), EPSILON, DELTA, epoch_length=steps)


def _repaired(variant: str, steps: int, target: str, regime: Regime, threshold: float = 0.0, **changes: object) -> Case:
    make = partial(_mended, steps, regime, threshold)
    claim = _claim("Theorem 3.17")
    return _case(variant, make, target, regime, reading="repaired", claim=claim, repairs=REPAIRS, **changes)


CASES: tuple[Case, ...] = (
    _tree("Theorem 3.17", 7, "O1", HIGH, NO_LOG, quick=True),
    _tree("Theorem 3.17", 31, "O1", PLAIN, NO_LOG),
    _tree("Theorem 3.17", 7, "O2", SMALL_STEPS, NO_LOG),
    _tree("Lemma 3.13", 7, "O1", PATIENT, NO_TREE, quick=True),
    _tree("Lemma 3.13", 15, "O1", PATIENT, NO_TREE),
    _tree("Lemma 3.13", 7, "O2", SMALL_STEPS, ""),
    _tree("Lemma 3.14", 7, "O1", HIGH, ""),
    _tree("Theorem 3.17", 2, "O2", SMALL_STEPS, POWER_OF_TWO, quick=True),
    _tree("Theorem 3.17", 8, "O1", HIGH, POWER_OF_TWO),
    _case(
        "bare-refresh",
        _bare,
        "O1",
        PLAIN,
        reading="printed",
        claim=_claim("Theorem 3.17"),
        known=BARE_REFRESH,
        completions=(*(text for text in COMPLETIONS if text != CHARITABLE), LITERAL, CUT, ORDER),
        quick=True,
    ),
    _case(
        "escape",
        partial(_printed, "Lemma 3.13", 90, LONG_ESCAPES, 1e9),
        "O3",
        LONG_ESCAPES,
        reading="printed",
        claim=_claim("Lemma 3.13"),
        known=NO_ESCAPES,
    ),
    _repaired("d1-T7-O1", 7, "O1", PATIENT, quick=True),
    _repaired("d1-T15-O1", 15, "O1", PATIENT),
    _repaired("d16-T7-O1", 7, "O1", PATIENT_HIGH),
    _repaired("escape", 90, "O3", LONG_ESCAPES, 1e9),
)
