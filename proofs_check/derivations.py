"""What each statement of the papers rests on: other statements, and rows that its citation does not name.

A row belongs to the statements that its place or id names (:mod:`.cited`). ``USES`` adds the edges between
statements, ``PARTS`` rows by prefix (the algorithm whose privacy a theorem claims, displays of its proof).
"""

from __future__ import annotations

from collections.abc import Mapping


def _edges(text: str) -> dict[str, tuple[str, ...]]:
    """``"Theorem 1: Lemma 5, Lemma 6; Lemma 6: Lemma 7"`` as a mapping."""
    pairs = (line.split(":") for line in text.split(";") if line.strip())
    return {name.strip(): tuple(part.strip() for part in parts.split(",")) for name, parts in pairs}


USES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "minimax_sosp": _edges(
        "Theorem 1: Lemma 5, Lemma 6, Lemma 1; Theorem 2: Lemma 8, Lemma 9; Theorem 3: Theorem 1; Lemma 2: Lemma 8;"
        "Lemma 5: Lemma 4; Lemma 4: Lemma 3; Lemma 3: Lemma 1; Lemma 6: Lemma 7; Lemma 9: Lemma 10; Lemma 8: Lemma 12;"
        "Lemma 12: Lemma 11"
    ),
    "adaptive_batch": _edges(
        "Theorem 3.17: Lemma 3.14, Lemma 3.15, Lemma 3.16, Proposition 3.10; Lemma 3.14: Lemma 3.13, Lemma 3.11,"
        "Lemma 3.12; Lemma 3.13: Theorem 2.2; Proposition 3.10: Theorem 3.4, Lemma 3.2; Theorem 3.4: Lemma 3.8,"
        "Lemma 3.9; Lemma 3.8: Claim 3.6, Claim 3.7; Claim 3.7: Claim 3.6; Lemma 3.16: Lemma 3.15;"
        "Lemma 3.12: Theorem 2.5; Remark 3.18: Theorem 3.17"
    ),
    "second_order_erm": _edges(
        "Theorem 1: Proposition A.4, Proposition A.6; Corollary 3: Lemma 2; Theorem 4: Corollary 3, Theorem 1,"
        "Lemma D.6, Lemma D.7; Theorem 5: Proposition A.5, Proposition A.6; Theorem 8: Lemma 6, Lemma 7, Theorem 5;"
        "Lemma D.3: Lemma 6; Theorem B.5: Theorem B.4; Theorem B.8: Theorem B.6, Theorem B.7;"
        "Theorem B.9: Theorem B.8"
    ),
    "dro": _edges(
        "Theorem 1: Theorem 6; Theorem 2: Theorem 7; Theorem 3: Theorem 8; Theorem 4: Theorem 8; Theorem 6: Theorem 5,"
        "Lemma 1, Lemma 3, Lemma 4, Lemma 5; Theorem 7: Lemma 6, Lemma 1, Lemma 2, Proposition 1, Theorem 6;"
        "Theorem 8: Lemma 7, Lemma 8, Lemma 9, Theorem 5; Lemma 9: Lemma 7, Lemma 8"
    ),
    "output_perturbation": _edges(
        "Theorem 3.4: Lemma 3.3, Lemma 3.5; Theorem 3.7: Theorem 3.4, Lemma A.1; Theorem 4.4: Lemma 4.3;"
        "Lemma 4.3: Lemma B.1, Lemma B.2; Theorem 4.8: Lemma 4.5, Lemma 4.7, Lemma A.1; Corollary 4.9: Theorem 4.8"
    ),
}
"""Paper, statement, the statements that its proof uses."""

PARTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "minimax_sosp": {
        "Theorem 1": ("alg2/", "alg3/", "sec4/", "appD/", "eq30/", "eq31/", "assumption1/"),
        "Theorem 2": ("eqB2/",),
        "Lemma 8": ("eq43/", "eq44/", "eq45/", "eq35/", "eq36/", "eq39/"),
        "Lemma 6": ("eq10/", "eq12/", "eq13/", "eq16/"),
    },
    "adaptive_batch": {"Theorem 3.17": ("alg1/", "alg3/"), "Proposition 3.10": ("eq9/",)},
    "second_order_erm": {
        "Theorem 1": ("eq4/", "eq6/", "alg1/", "assumption2/"),
        "Lemma 2": ("eq9/", "eq10/", "eq11/"),
        "Theorem 5": ("alg2/", "alg3/", "sd/"),
        "Theorem 8": ("eq16/", "eq22/"),
        "Theorem B.3": ("eq24/", "eq25/", "eq26/"),
        "Theorem B.5": ("eq30/", "sec33/"),
    },
    "dro": {
        "Theorem 5": ("def1/",),
        "Theorem 6": ("double_spider/", "alg2/"),
        "Theorem 7": ("eq16/", "eq17/", "eq18/", "eq19/", "eq20/"),
        "Lemma 6": ("eq23/", "eq24/"),
        "Theorem 8": ("recursive_spider/", "alg3/", "assumption4/"),
        "Lemma 9": ("eq42/", "eq43/"),
        "Proposition 1": ("eq3/",),
    },
    "output_perturbation": {
        "Theorem 3.4": ("alg1/",),
        "Theorem 3.7": ("alg2/", "eq10/"),
        "Theorem 4.4": ("alg3/",),
        "Theorem 4.8": ("alg4/", "alg45/", "eq26/", "eq27/", "eq28/", "eq29/"),
    },
}
"""Paper, statement, prefixes of rows (without the paper) that decide steps of it."""

SAYS: Mapping[str, frozenset[str]] = {
    "adaptive_batch": frozenset(
        ("thm25/counterexample", "claim37/first_error", "lemma313/sigma_tree", "thm317/tree_privacy")
    ),
    "second_order_erm": frozenset(("thmB7/same_epsilon",)),
    "dro": frozenset(("recursive_spider/value_noise_order", "table1/chi2_conjugate", "table1/kl_cvar_minimum")),
}
"""Rows that are the statement itself, not a step of its proof: where such a row fails, the statement is false."""
