"""Cases of adaptive_batch for the audit: the stochastic SPIDER on worst-case neighbours, in every printed reading."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import pi

import numpy as np
from numpy.typing import NDArray

from dpassay.reference.case import Case, Instance, PrivacyClaim, bind
from dpassay.reference.cite import Cite
from dpassay.reference.proofs import proofs_of

from .schedule import PRINTED_COMPLETIONS, REPAIRS, Schedule, repaired
from .stochastic_spider import stochastic_spider
from .theorem_schedules import COMPLETIONS, Constants, NoiseSource, schedule
from .worst_case import sign_flip

DELTA, EPSILON, ALPHA, SMALL_ALPHA = 1e-5, 1.0, 0.45, 0.05
ALGORITHM = Cite("adaptive_batch", "Algorithms 1, 3 and 4")
RECORDS = 20_000
CONSTANTS = Constants(RECORDS, 1, EPSILON, DELTA)
PHASES = {"O1": pi / 2, "O2": pi - 0.7, "O3": 0.0}  # O1: gradient one; O2: the first step crosses the wave; O3: Hessian


def _printed(noise: NoiseSource, steps: int, threshold: float = 0.0, alpha: float = ALPHA) -> Schedule:
    """The schedule of the theorem at a given alpha, cut to a few steps; records are taken in index order.

    `threshold` 0 keeps the run in plain descent, a large one starts an escape as soon as line 11 allows it.
    """
    full = schedule(CONSTANTS, noise, alpha=alpha, check_data=False)
    return replace(full, steps=steps, threshold=threshold, order="index")


def _stay(label: str, law: object, step: int) -> NDArray[np.float64]:
    """Dictated gradients zero: the iterate stays, no refresh or early exit cuts an escape short."""
    return np.zeros(1)


def _jump_then_stay(label: str, law: object, step: int) -> NDArray[np.float64]:
    """One step of length 0.8, then none: the first difference keeps its batch in one epoch for the rest of the run."""
    return np.full(1, -0.8) if label == "tree/(1,1)" else np.zeros(1)


LONGEST = {"O1": None, "O2": _jump_then_stay, "O3": _stay}


def _case(variant: str, make: Callable[[], Schedule], target: str = "O1", **changes: object) -> Case:
    """`target` says which oracle reads the changed record first: O1 (record 0), O3 or O2."""

    def build() -> Instance:
        s = make()
        record = {"O1": 0, "O3": s.batch, "O2": 2 * s.batch}[target]
        facts: dict[str, float | int | str] = {
            "n": RECORDS,
            "d": 1,
            "T": s.steps,
            "b": s.batch,
            "Gamma": s.escape_steps,
            "tau": s.escape_limit,
            "sigma_tree": s.tree_std,
            "sigma_t": s.escape_std,
            "record read by": target,
        }
        pair = sign_flip(RECORDS, record, PHASES[target])
        return Instance(bind(stochastic_spider, s), pair, longest=LONGEST[target], facts=facts)

    options: dict[str, object] = {
        "id": "adaptive_batch/stochastic_spider",
        "title": "Stochastic SPIDER with escape (Algorithms 1, 3 and 4)",
        "cite": ALGORITHM,
        "build": build,
        "variant": variant,
        "data": "signs on the line, one flipped",
        "completions": (*COMPLETIONS, "records are taken in index order: the strongest reading of 'draw among unused'"),
    }
    options["proofs"] = proofs_of(str(options["id"]), str(changes["reading"]))
    return Case(**(options | changes))  # type: ignore[arg-type]


def _claim(place: str) -> PrivacyClaim:
    return PrivacyClaim(EPSILON, DELTA, Cite("adaptive_batch", place))


NO_LOG = "sigma_tree = alpha/sqrt(d) has lost the factor log(1/delta) of Lemma 3.14, which Lemma 3.13 asks for"
NO_TREE = "one record enters 1 + log2(Sigma) nodes, each with sensitivity 2 G/b: Lemma 3.13 counts one node and G/b"
NO_ESCAPES = "tau < 1 is charged for less than one escape, yet line 4 lets one start"
BARE_REFRESH = "refresh/bare is released without noise: line 5 sets nabla_t, lines 11 and 17 use it"
POWER_OF_TWO = "NODE(Sigma) covers 1..Sigma - 1 when Sigma is a power of two: the last gradient difference is bare"


def _tree(noise: NoiseSource, steps: int, place: str, known: str, target: str = "O2", quick: bool = True) -> Case:
    name = noise.lower().replace(" ", "-")
    return _case(
        f"{name}-T{steps}-{target}",
        partial(_printed, noise, steps),
        target,
        reading="printed",
        claim=_claim(place),
        known=known,
        quick=quick,
    )


def _bare() -> Schedule:
    return replace(_printed("Theorem 3.17", 5).with_bare_refresh(), order="index")


def _mended(steps: int, threshold: float = 0.0, alpha: float = ALPHA) -> Schedule:
    return repaired(_printed("Lemma 3.13", steps, threshold, alpha), EPSILON, DELTA, epoch_length=steps)


CASES: tuple[Case, ...] = (
    _tree("Theorem 3.17", 7, "Theorem 3.17", NO_LOG),
    _tree("Theorem 3.17", 31, "Theorem 3.17", NO_LOG, "O1", quick=False),
    _tree("Lemma 3.13", 7, "Lemma 3.13", ""),
    _tree("Lemma 3.13", 1023, "Lemma 3.13", NO_TREE, quick=False),
    _tree("Lemma 3.14", 31, "Lemma 3.14", "", quick=False),
    _tree("Theorem 3.17", 2, "Theorem 3.17", POWER_OF_TWO),
    _tree("Theorem 3.17", 8, "Theorem 3.17", POWER_OF_TWO, "O1", quick=False),
    _case(
        "bare-refresh",
        _bare,
        reading="printed",
        claim=_claim("Theorem 3.17"),
        known=BARE_REFRESH,
        completions=(*PRINTED_COMPLETIONS, "line 5 read literally: nabla_t itself is used by lines 11 and 17"),
    ),
    _case(
        "escape",
        partial(_printed, "Lemma 3.13", 60, 1e9, SMALL_ALPHA),
        target="O3",
        reading="printed",
        claim=_claim("Lemma 3.13"),
        known=NO_ESCAPES,
        quick=False,
    ),
    _case("T7", partial(_mended, 7), "O2", reading="repaired", claim=_claim("Theorem 3.17"), repairs=REPAIRS),
    _case("T31", partial(_mended, 31), reading="repaired", claim=_claim("Theorem 3.17"), repairs=REPAIRS, quick=False),
    _case(
        "escape",
        partial(_mended, 60, 1e9, SMALL_ALPHA),
        target="O3",
        reading="repaired",
        claim=_claim("Theorem 3.17"),
        repairs=REPAIRS,
        quick=False,
    ),
)
