"""Numbered statements that have no row of their own, and why."""

from __future__ import annotations

from collections.abc import Mapping

DEFINITION = "a definition: nothing to decide; rows use it as an assumption"
ASSUMPTION = "an assumption: rows carry it in their region; what contradicts it has a row where it is used"
DISPLAY = "a step of a proof by contradiction or induction over random trajectories: no closed form to decide"
CITED = "cited from another paper and used as it stands"


def _each(reason: str, *names: str) -> dict[str, str]:
    return dict.fromkeys(names, reason)


def _eq(reason: str, *numbers: int) -> dict[str, str]:
    return dict.fromkeys((f"eq. ({n})" for n in numbers), reason)


NOT_CHECKABLE: Mapping[str, Mapping[str, str]] = {
    "minimax_sosp": {
        **_each(DEFINITION, "Definition 1", "Definition 2", "Definition 5", "Algorithm 1"),
        **_each(ASSUMPTION, "Assumption 2", "Assumption 3", "Assumption 5"),
        "Theorem 3": "repeats Theorem 1, whose parts have rows (thm1/..., lemma5/..., lemma6/...)",
        "Lemma 2": "the main text's form of Lemma 8, whose parts have rows (lemma8/...)",
        **_each("compares rates with other papers, not proved here", "Remark 1", "Remark 2", "Remark 3"),
        "Figure 1": "curves without printed numbers",
        "Table 2": "measured gradient norms and eigenvalues, which alpha = 0.4251 exceeds by far",
        **_eq("a product under a root is taken apart: it holds by its form alone", 15),
        **_eq("kappa is substituted for L/mu: it holds by its form alone", 48),
        **_eq(DEFINITION, 1, 2, 3, 5, 20, 21, 38),
        **_eq("what the displays around it say has rows (lemma12/..., def3/...)", 4, 7),
        **_eq("the inequality |a + b|^2 <= 2|a|^2 + 2|b|^2", 11, 42),
        **_eq(DISPLAY, 14, 17, 18, 22, 23, 27, 39, 40, 41),
        **_eq("repeats (28) and (29)", 32),
        **_eq("repeats (33) for theta", 34),
        **_eq("the same bound as (45), for theta and gamma", 46, 47),
        **{f"eq. ({n})": f"repeats eq. ({n - 36}) for the population case" for n in range(49, 64)},
    },
    "adaptive_batch": {
        **_each(DEFINITION, "Definition 1.1", "Definition 2.1", "Definition 2.3", "Definition 3.3"),
        "Assumption 3.1": ASSUMPTION,
        "Lemma 2.4": CITED + " (norm-sub-Gaussian Hoeffding inequality; its absolute constant is not given)",
        **_eq("the definition of the stuck region and what it implies: " + DISPLAY, 1, 5),
        **_eq("(2) for the Hessians: the same argument, with the square of the logarithm", 3),
        **_eq("sums Claim 3.6 over the steps", 4),
        **_eq("truncation argument with an unnamed constant C", 6, 7, 8),
        **_eq("union bound over a net with unnamed constants; its order has a row (thmC1/cover)", 10),
    },
    "second_order_erm": {
        **_each(DEFINITION, "Definition 1", "Definition 2", "Definition A.1", "Definition A.2", "Definition A.3",
                "Definition A.4"),
        "Assumption 1": ASSUMPTION,
        "Theorem B.3": "its displays (24) to (26) have rows",
        "Theorem D.5": "repeats Theorem 4",
        **_each(CITED + "; loose, so that a simulation decides nothing", "Lemma B.1", "Lemma B.2"),
        "Proposition A.7": "the noise scale is substituted into the divergence of two Gaussians: it holds by its form",
        "Lemma D.2": "repeats Lemma 6",
        "Corollary D.4": "repeats Corollary 3",
        **_each(CITED, "Proposition A.1", "Proposition A.2", "Proposition A.3", "Proposition B.1"),
        **_eq(DEFINITION, 1, 3, 5, 20, 21),
        **_eq("the queries of the sd/... rows", 13),
        **_eq("the bound that the rows thm1/bar_rho_dominates and thmB5/... speak about", 29),
        **_eq("repeats (9) to (11), (16) and (17)", 32, 33, 34, 38, 39),
        **_eq("the smoothness bounds: " + ASSUMPTION, 35, 36),
    },
    "dro": {
        **_each(DEFINITION, "Definition 2", "Definition 5", "Definition 6", "Definition 7", "Algorithm 1"),
        "Assumption 1": ASSUMPTION + ". ResNet20 with ReLU is not smooth, which no formula of the paper can show",
        "Theorem 2": "the draft of Theorem 7, whose parts have rows",
        "Remark 2": "explains the 1/sqrt(n); used as the charitable reading N_1 = N_3 = n",
        **_each("curves without printed numbers", "Figure 1", "Figure 2", "Figure 3"),
        **_eq("the statement of Proposition 1, whose proof has rows (prop1/...)", 13),
        **_eq("splits a variance by independence: " + DISPLAY, 22),
        **_eq("repeats (43)", 34),
        "Theorem 4": "the form of Theorem 8 in the main text, whose parts have rows (thm8/...)",
        **_eq("a variance under a Lipschitz map: holds by its form alone", 9),
        **_eq("steps of the descent that drop a positive term; (43) and (42) have rows", 39, 40),
        **_eq("(40) rearranged", 41),
    },
    "output_perturbation": {
        **_each(DEFINITION, "Definition 1"),
        **_each(ASSUMPTION, "Assumption 3.1", "Assumption 4.1", "Assumption 4.2"),
        "Lemma 2.1": "parallel and basic composition; used by alg2/parallel and alg45/composition",
        "Lemma 3.6": "drops a term that is not negative; its constants have rows (thm37/...)",
        "Corollary 4.6": "Lemma 4.5 plus L times the stability of the points compared with; no constant to check",
        **_eq(DEFINITION, 1, 2),
        **_eq("the problem and its assumptions, used as the region of rows", 4, 6, 11),
        **_eq("the saddle problem's gap, on which lemma43/... and lemma45/... rest", 12),
        **_eq("K^2 for log(n)^2 in Theorem 4.8", 30),
        **_eq("the stability bound of lemma33/stability", 7),
        **_eq("the two halves of the generalisation bound of lemma43/generalisation", 15, 16),
        **_eq("the decomposition of the duality gap; its constants have rows (thm44/...)", 20),
        **_eq("steps of Lemma 4.7, whose constants have rows (lemma47/...)", 23, 24, 25),
        **_eq("repeats (26) to (30) with the roles of x and y exchanged (Algorithm 5)", 31, 32, 33),
    },
    "dp_ftrl": {},
}  # fmt: skip
"""Paper, statement, reason."""
