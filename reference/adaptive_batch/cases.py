"""Cases of adaptive_batch for the audit: the stochastic SPIDER on worst-case neighbours, in every printed reading."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import pi
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.case import Case, Instance, PrivacyClaim, Reading, facts_of
from dpassay.reference.findings import Declared, Kind, declare
from dpassay.reference.papers import Cite
from dpassay.reference.space import Space

from . import space
from .stochastic_spider import CHARITABLE, COMPLETIONS, REPAIRS, Schedule, repaired, run
from .theorems import Constants
from .worst_case import Scene, sign_flip

DELTA, EPSILON, N = 1e-5, 1.0, 20_000


@dataclass(frozen=True)
class Regime:
    """d, alpha, B and n. `alpha` None is the accuracy of Theorem 3.17; its privacy does not depend on alpha."""

    d: int = 1
    alpha: float | None = None
    gap: float = 1.0  # B, an upper bound: kappa >= B^(1/3) says how soon a refresh forgets a record
    n: int = N

    @property
    def constants(self) -> Constants:
        """With G = M = rho = 1."""
        return Constants(self.n, self.d, EPSILON, DELTA, initial_gap=self.gap)

    @property
    def choice(self) -> tuple[str, ...]:
        """What is set here and not by Theorem 3.17."""
        if self.alpha is None:
            return ()
        return (f"alpha = {self.alpha:g}, B = {self.gap:g}: the O(.) of Theorem 3.17 leaves alpha's constant open",)


PLAIN, HIGH = Regime(), Regime(d=16)  # alpha = 0.12 and 0.13
PATIENT, PATIENT_HIGH = Regime(alpha=0.45, gap=1e5), Regime(16, 0.9, 27e3)  # long epochs
SMALL_STEPS = Regime(alpha=0.45)  # O2 moves further than O1: one record of b_t = 1
LITTLE_NOISE = Regime(alpha=0.1)  # and so little that drawn steps stay where the gradient of a wave still grows
LONG_ESCAPES = Regime(alpha=0.03)
STEADY_ESCAPES = Regime(alpha=0.01, n=70_000)  # so little noise beside Xi that escapes stay near the edge
FAR = 1e3  # any gradient longer than kappa


@dataclass(frozen=True)
class Target:
    """Which oracle reads the changed record first, on which waves, and what answers make the costliest run.

    One tree over the run (printed) costs most if a refresh follows step 2^m: the record then leaves the sums in every
    node that starts at 2^m + 1, after it has entered every node that starts at 1. A new tree costs most without one.
    """

    scene: Scene
    costliest: Callable[[Schedule, str, Any, int], Array]


def _stay(s: Schedule, label: str, law: Any, step: int) -> Array:
    """Dictated gradients next to zero: the iterate stays, and only one gradient of the printed tree is far."""
    renewal = None if s.refresh == "new tree" else 1 << (s.steps.bit_length() - 1)
    return np.full_like(law.query, FAR if label == f"tree/(1,{renewal})" else 1e-9)


def _lean(s: Schedule, label: str, law: Any, step: int) -> Array:
    """Escapes go to the edge of the ball in one step and stay there."""
    query: Array = law.query
    first = label == "escape/gradient" and float(np.linalg.norm(query)) < 1e-6  # g + H 0
    return np.full_like(query, -0.999 * s.escape_radius if first else 1e-9 if label != "escape/gradient" else 0.0)


def _jump_then_stay(s: Schedule, label: str, law: Any, step: int) -> Array:
    """One step of length 0.8, then as `_stay`: the record of the first difference stays in the sums."""
    return np.full(1, -0.8) if label == "tree/(1,1)" else _stay(s, label, law, step)


TARGETS = {
    "O1": Target(Scene(pi / 2), _stay),  # gradient one; the others do not pull: epochs are long
    "O2": Target(Scene(pi - 0.7, -1.0, pi - 0.7), _jump_then_stay),  # the first step crosses the wave
    # Hessian one; the others end the first step where g = 0.75 Xi and H = 1, so that escapes hover there
    "O3": Target(Scene(0.0, 1.0, 0.936), _lean),
}
AT_THE_EDGE = Scene(0.0, 1.0, 0.835)  # the same for an alpha of 0.01: g = 0.94 Xi, four times its noise from the edge


@lru_cache(maxsize=64)
def cut(source: str, steps: int, regime: Regime, threshold: float = 0.0) -> Schedule:
    """The schedule of the theorem, cut."""
    return space.cut(regime.constants, source, regime.alpha, steps, threshold)


def bare() -> Schedule:
    """The literal reading of line 5."""
    return replace(cut("Theorem 3.17", 5, PLAIN), refresh="bare")


@lru_cache(maxsize=64)
def mended(steps: int, regime: Regime, threshold: float = 0.0) -> Schedule:
    """The repaired reading of the same sizes."""
    return repaired(cut("Lemma 3.13", steps, regime, threshold), EPSILON, DELTA)


def instance(schedule: Callable[[], Schedule], target: str, scene: Scene | None = None) -> Instance:
    """On the pair where `target` (O1: record 0, O3 or O2) reads the changed record first.

    `scene`: other waves than those on which `target` costs the most.
    """
    s = schedule()
    facts = {
        **facts_of(
            s, n="n", d="d", T="steps", b="batch", kappa="drift_limit", Gamma="escape_steps", tau="escape_limit"
        ),
        "sigma_tree": s.noise.std("tree", s.gradient_sensitivity),
        "sigma_t": s.noise.std("escape", s.hessian_sensitivity * s.escape_radius),
        "record read by": target,
    }
    pair = sign_flip(s.n, {"O1": 0, "O3": s.batch, "O2": 2 * s.batch}[target], scene or TARGETS[target].scene, s.d)
    return Instance(run, s, pair, longest=partial(TARGETS[target].costliest, s), facts=facts)


NO_LOG = "sigma_tree = alpha/sqrt(d) has lost the factor log(1/delta) of Lemma 3.14, which Lemma 3.13 asks for"
NO_TREE = "one record enters 1 + log2(Sigma) nodes, each with sensitivity 2 G/b: Lemma 3.13 counts one node and G/b"
NO_ESCAPES = "tau < 1 is charged for less than one escape, yet line 4 lets one start"
BARE_REFRESH = "refresh/bare is released without noise: line 5 sets nabla_t, lines 11 and 17 use it"
POWER_OF_TWO = "NODE(Sigma) covers 1..Sigma - 1 when Sigma is a power of two: the last gradient difference is bare"

TOO_LITTLE = declare(Kind.VIOLATED, Kind.OVER_BUDGET)


def _bare(label: str) -> tuple[Declared, ...]:
    return declare(Kind.VIOLATED, Kind.OVER_BUDGET, (Kind.BARE_RELEASE, label))


LITERAL = "line 5 read literally: nabla_t itself is used by lines 11 and 17"
CUT = "cut to T steps; the threshold of line 11 is 0 (no escapes) or so large that an escape starts when it may"
ORDER = "records are taken in index order: the strongest reading of 'draw among unused'"
READ = (*COMPLETIONS, CUT, ORDER)
LENGTHS = (3, 7)  # no powers of two, where a printed tree leaves the last value bare: rows of their own show that


def _row(
    reading: Reading,
    variant: str,
    source: str,
    build: Callable[[], Instance],
    where: Callable[[], Space],
    regime: Regime = PLAIN,
    **fields: Any,
) -> Case:
    """One row, held to what this statement claims."""
    return Case(
        "adaptive_batch/stochastic_spider",
        reading,
        "Stochastic SPIDER with escape (Algorithms 1, 3 and 4)",
        Cite("adaptive_batch", "Algorithms 1, 3 and 4"),
        PrivacyClaim(EPSILON, DELTA, Cite("adaptive_batch", source)),
        build,
        variant,
        data="signed waves, one flipped",
        space=where,
        **{"quick": False, "completions": (*READ, *regime.choice), **fields},
    )


def _printed(source: str, *more: Any, lengths: tuple[int, ...] = LENGTHS, **options: Any) -> Callable[[], Space]:
    return partial(space.printed, source, EPSILON, DELTA, lengths, *more, **options)


CASES: tuple[Case, ...] = (
    *(
        _row("printed", f"{source.lower().replace(' ', '-')}-d{regime.d}-T{steps}-{target}", source,
             partial(instance, partial(cut, source, steps, regime), target), _printed(source, lengths=lengths), regime,
             known=known, declared=declared,
             quick=(steps, regime) in ((7, HIGH), (7, PATIENT), (2, SMALL_STEPS)) and bool(known))
        for source, steps, target, regime, known, declared, lengths in (
            ("Theorem 3.17", 7, "O1", HIGH, NO_LOG, TOO_LITTLE, LENGTHS),
            ("Theorem 3.17", 31, "O1", PLAIN, NO_LOG, TOO_LITTLE, LENGTHS),
            ("Theorem 3.17", 7, "O2", SMALL_STEPS, NO_LOG, TOO_LITTLE, LENGTHS),
            # what this pair realises is too close to the claim
            ("Lemma 3.13", 7, "O1", PATIENT, NO_TREE, declare(Kind.OVER_BUDGET), LENGTHS),
            ("Lemma 3.13", 15, "O1", PATIENT, NO_TREE, TOO_LITTLE, LENGTHS),
            ("Lemma 3.14", 7, "O1", HIGH, "", (), LENGTHS),
            ("Theorem 3.17", 2, "O2", SMALL_STEPS, POWER_OF_TWO, _bare("tree/(2,2)"), (2,)),
            ("Theorem 3.17", 8, "O1", HIGH, POWER_OF_TWO, _bare("tree/(8,8)"), (8,)),
        )
    ),
    # at the bottom of all waves, where a gradient changes by the length of a step
    _row("printed", "lemma-3.13-d1-T7-O2", "Lemma 3.13",
         partial(instance, partial(cut, "Lemma 3.13", 7, LITTLE_NOISE), "O2", Scene(0.0, 1.0, 0.0)),
         _printed("Lemma 3.13", alpha=0.1, records=(300, 600)), LITTLE_NOISE),
    _row("printed", "bare-refresh", "Theorem 3.17", partial(instance, bare, "O1"), _printed("Theorem 3.17", "bare"),
         known=BARE_REFRESH, declared=_bare("refresh/bare"), quick=True,
         completions=(*(text for text in COMPLETIONS if text is not CHARITABLE), LITERAL, CUT, ORDER)),
    _row("printed", "escape", "Lemma 3.13", partial(instance, partial(cut, "Lemma 3.13", 90, LONG_ESCAPES, 1e9), "O3"),
         _printed("Lemma 3.13"), LONG_ESCAPES, known=NO_ESCAPES, declared=TOO_LITTLE),
    *(
        _row("repaired", variant, "Theorem 3.17",
             partial(instance, partial(mended, steps, regime, threshold), target, scene),
             partial(space.repaired, EPSILON, DELTA), regime, repairs=REPAIRS, quick=variant == "d1-T7-O1")
        for variant, steps, target, regime, threshold, scene in (
            ("d1-T7-O1", 7, "O1", PATIENT, 0.0, None),
            ("d1-T15-O1", 15, "O1", PATIENT, 0.0, None),
            ("d16-T7-O1", 7, "O1", PATIENT_HIGH, 0.0, None),
            ("escape", 72, "O3", STEADY_ESCAPES, 1e9, AT_THE_EDGE),
        )
    ),
)  # fmt: skip
