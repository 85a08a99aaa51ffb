"""Rows of the audit table for `output_perturbation`: every algorithm on the pair that attains its stability bound."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dpassay.reference.case import Case, Instance, PrivacyClaim, Reading
from dpassay.reference.papers import Cite

from . import algorithm4, algorithm5, instances, real_pairs, worst_pairs
from .budget import Budget
from .instances import BUDGET, HALF, PHASED_SIZE, SIZE

PAPER = "output_perturbation"
DATA = f"worst case, n = {SIZE}"
PHASED = f"worst case, n = {PHASED_SIZE}"
LAZY = f"worst case, n = {SIZE // 8}"
REAL = f"breast cancer, first {real_pairs.RECORDS} records, one replaced"
_PHASES = "K = floor(log2 n), n_bar = floor(n/K), the rest unused; log base 2 because the proof uses mu_K = mu n"
_OPEN = "the noisy output is not projected on the domain: the text adds noise and stops"
_START = "x_0 = 0 (y_0 = 0), as the proof has it"
_PROJECTED = "released points are projected on the domain"
_L = "logs in sigma are natural; the solver's accuracy is met, so the delta kept for failures is not used"
_MISSED = "logs in sigma are natural; the solver misses its accuracy in every run"
_DATA_L = "L is that of the data part (Lemma 3.5): the regularised f is not Lipschitz on R^d"
_EXACT = (
    "noise from the exact Gaussian trade-off at all of delta",
    "solver certified at 1/100 of the printed distance",
)
QUICK = {
    "algorithm1@printed",
    "algorithm1@repaired",
    "algorithm1:early-stop@printed",
    "algorithm2@repaired",
    "algorithm3@repaired",
    "algorithm3:auc@repaired",
    "strongly_concave:as-variance@printed",
}
_SHARP = (
    "sensitivity of the released block alone: L/(n_bar sqrt(mu (mu_k - mu))), "
    "0.71 of Lemma 4.5's in phase 1 and down to half of it"
)
_SHARP_CURVED = (
    "sensitivity of x alone: 2L/(n_bar mu_k) for mu_k <= 2 mu_y (all of Lemma 4.5's for mu_k <= mu_y), "
    "then L/(n_bar sqrt(mu_y (mu_k - mu_y))), down to half of it"
)
_SHARED = (
    "what all records share (coupling, curvature) belongs to the regulariser of Lemma 4.5: L is that of their own terms"
)


def _rows(
    name: str,
    title: str,
    place: str,
    theorem: str,
    build: Callable[[Reading], Instance],
    completions: tuple[str, ...],
    repairs: tuple[str, ...],
    budget: Budget = BUDGET,
    variant: str = "",
    data: str = DATA,
) -> list[Case]:
    claim = PrivacyClaim(budget.epsilon, budget.delta, Cite(PAPER, theorem))
    return [
        Case(
            id=f"{PAPER}/{name}",
            reading=reading,
            title=title,
            cite=Cite(PAPER, place),
            claim=claim,
            build=partial(build, reading),
            variant=variant,
            data=data,
            completions=completions if reading == "printed" else (),
            repairs=repairs if reading == "repaired" else (),
            quick=_key(name, variant, reading) in QUICK,
        )
        for reading in ("printed", "repaired")
    ]


def _key(name: str, variant: str, reading: Reading) -> str:
    return f"{name}{':' + variant if variant else ''}@{reading}"


def _variant(
    name: str,
    variant: str,
    title: str,
    place: str,
    theorem: str,
    build: Any,
    data: str,
    completions: tuple[str, ...] = (),
    known: str = "",
    reading: Reading = "printed",
) -> Case:
    """A variant that exists in one reading only; `completions` of the printed one besides that it is not projected."""
    return Case(
        id=f"{PAPER}/{name}",
        reading=reading,
        variant=variant,
        title=title,
        cite=Cite(PAPER, place),
        claim=PrivacyClaim(BUDGET.epsilon, BUDGET.delta, Cite(PAPER, theorem)),
        build=partial(build, variant, reading),
        data=data,
        completions=(*completions, _OPEN) if reading == "printed" else (),
        repairs=(*_EXACT, _PROJECTED, _DATA_L) if reading == "repaired" else (),
        known=known,
        quick=_key(name, variant, reading) in QUICK,
    )


CASES: tuple[Case, ...] = (
    *_rows(
        "algorithm1",
        "Output perturbation, strongly convex",
        "Algorithm 1",
        "Theorem 3.4",
        partial(instances.first, ""),
        (_L, _OPEN, "L is that of the full f on the domain (Assumption 3.2)"),
        (*_EXACT, _PROJECTED),
    ),
    _variant(
        "algorithm1",
        "worst-solver",
        "Output perturbation with the worst solver that line 1 allows",
        "Algorithm 1, line 1",
        "Theorem 3.4",
        instances.first,
        LAZY,
        (_L, _DATA_L),
    ),
    _variant(
        "algorithm1",
        "early-stop",
        "Output perturbation with a solver that stops early in silence",
        "Algorithm 1, line 1",
        "Theorem 3.4",
        instances.first,
        LAZY,
        (_MISSED, _DATA_L),
        "planted: the solver ends 10 L/(mu n) from the solution and says nothing; line 1 is not checked",
    ),
    _variant(
        "algorithm1",
        "early-stop",
        "The same solver where its point is certified: one step of the certificate mends it",
        "Algorithm 1, line 1",
        "Theorem 3.4",
        instances.first,
        LAZY,
        reading="repaired",
    ),
    *_rows(
        "algorithm1",
        "Output perturbation, logistic regression on real data",
        "Algorithm 1",
        "Theorem 3.4",
        partial(instances.first, "logistic"),
        (_L, _OPEN, "L is that of the full f on the domain (Assumption 3.2)"),
        (*_EXACT, _PROJECTED, "L of the data part alone (Lemma 3.5)"),
        variant="logistic",
        data=REAL,
    ),
    *_rows(
        "algorithm2",
        "Phased output perturbation, convex",
        "Algorithm 2",
        "Theorem 3.7",
        instances.second,
        (_PHASES, _L, _OPEN, _START),
        (*_EXACT, _PROJECTED),
        data=PHASED,
    ),
    *_rows(
        "algorithm3",
        "Output perturbation, strongly-convex-strongly-concave",
        "Algorithm 3",
        "Theorem 4.4",
        partial(instances.third, ""),
        (_L, _OPEN, _SHARED),
        (*_EXACT, _PROJECTED, "(x, y) is one joint release in the metric that Lemma 4.3 bounds; nothing is composed"),
    ),
    *_rows(
        "algorithm3",
        "Output perturbation, AUC maximisation on real data",
        "Algorithm 3",
        "Theorem 4.4",
        partial(instances.third, "auc"),
        (_L, _OPEN, "L is that of the full f on the domain (Assumption 4.2)"),
        (*_EXACT, _PROJECTED, "one joint release", "L of the data part alone (Lemma 4.5)"),
        variant="auc",
        data=REAL,
    ),
    *_rows(
        "algorithm4",
        "Phased output perturbation, convex-concave, primal half",
        "Algorithm 4",
        "Theorem 4.8 (half of the budget)",
        partial(instances.side, algorithm4, worst_pairs.for_algorithm4),
        (_PHASES, _L, _OPEN, _START, _SHARED),
        (*_EXACT, _PROJECTED, _SHARP),
        HALF,
        data=PHASED,
    ),
    *_rows(
        "algorithm5",
        "Phased output perturbation, convex-concave, dual half",
        "Algorithm 5",
        "Theorem 4.8 (half of the budget)",
        partial(instances.side, algorithm5, worst_pairs.for_algorithm5),
        (_PHASES, _L, _OPEN, _START, _SHARED),
        (*_EXACT, _PROJECTED, _SHARP),
        HALF,
        data=PHASED,
    ),
    *_rows(
        "algorithms4and5",
        "Algorithms 4 and 5 composed on one partition",
        "Algorithms 4 and 5",
        "Theorem 4.8",
        instances.both,
        (_PHASES, _L, _OPEN, _START, _SHARED, "both halves use the same partition by index"),
        (*_EXACT, _PROJECTED, _SHARP, "two Gaussians per record, accounted together"),
        data=PHASED,
    ),
    *_rows(
        "strongly_concave",
        "Convex-strongly-concave variant of Algorithm 4",
        "Section 4.3",
        "Corollary 4.9",
        partial(instances.curved, ""),
        (_PHASES, _L, _OPEN, _START, _SHARED, "sigma_k is a standard deviation although the text says variance"),
        (*_EXACT, _PROJECTED, _SHARP_CURVED),
        data=PHASED,
    ),
    _variant(
        "strongly_concave",
        "as-variance",
        "Section 4.3 with the word variance at its word",
        "Section 4.3",
        "Corollary 4.9",
        instances.curved,
        PHASED,
        (_PHASES, _L, _START, _SHARED),
        "sigma_k is called a variance; taken so, the noise is too small as soon as sigma_k > 1",
    ),
)
