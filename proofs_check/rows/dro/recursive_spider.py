"""dro: the released values of Recursive-SPIDER, and the privacy proof of Theorem 8."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import (
    PRIVACY,
    UTILITY,
    identity,
    inequality,
    privacy,
    program,
    rates,
    same,
)

from .privacy_terms import DP, FOUR, RECURSIVE, ROOT, RUN, TQ, row

ROWS = [
    row(
        "recursive_spider/sigma_4_batch",
        "Theorem 3, sigma_4",
        "1/b_2 (as printed) covers 1/b_4, the batch of line 14",
        inequality("1/b4 <= 1/b2", "b2 b4"),
        severity=PRIVACY,
        corrected="1/b_4, the batch that is released",
        corrected_claim=privacy(
            ROOT + "*max(1/b, sqrt(T)/n)",
            "2/b",
            "epsilon",
            "delta",
            "",
            {**DP, "T": "integer [1, 10000]", "n": "integer [2, 10000000]", "b": "integer [1, n]"},
            count="T",
            rate="b/n",
            instances=[
                {"epsilon": "1", "delta": "1/100000", "T": "60", "n": "1000", "b": "50"},
                {"epsilon": "1", "delta": "1/100000", "T": "60", "n": "1000", "b": "200"},
            ],
        ),
        condition="b_2 = b_4",
        saved_by=inequality("1/b4 <= 1/b2", "b4", let={"b2": "b4"}),
    ),
    row(
        "recursive_spider/caps_crossed",
        "Algorithm 3, lines 11 and 12",
        "the cap sigma^_4 (batch b_4) that line 11 gives to v covers v's batch b_2",
        inequality("1/b2 <= 1/b4", "b2 b4"),
        severity=PRIVACY,
        corrected="sigma^_2 for v and sigma^_4 for u: each for its own batch",
        corrected_by="recursive_spider/sigma_4_batch",
        condition="b_2 = b_4",
        saved_by=inequality("1/b2 <= 1/b4", "b4", let={"b2": "b4"}),
        garbling="the two hats are crossed in lines 11 and 12",
        defect="recursive_spider/sigma_4_batch",
    ),
    row(
        "recursive_spider/value_noise_order",
        "Theorems 3 and 8, sigma_(s_t)",
        "sqrt(T)/n covers max{1/b, sqrt(T)/n} at b = 1, the single record of line 16",
        rates("max(1, sqrt(T)/n) <= sqrt(T)/n", "n", "n T", conditions=("T >= 1", "T <= n**2", "n >= 1")),
        severity=PRIVACY,
        corrected="max{1, sqrt(T)/n}",
        corrected_by="recursive_spider/value_noise_accounted",
        repair="s is a mean over all n records",
        saved_by=rates("max(1/n, sqrt(T)/n) == sqrt(T)/n", "n", "n T", conditions=("T >= 1",)),
        explain="One record of n is read and its clipped value, not a mean over n, is released.",
    ),
    row(
        "recursive_spider/value_noise_accounted",
        "Theorem 8, sigma_(s_t)",
        "with c = 4 the T values s_t alone are (epsilon, delta)-DP (C_5 = 3, beta = 1/2, count from the transcript)",
        privacy(
            ROOT + "*sqrt(T)/n",
            "beta*(C5 - 1)",
            "epsilon",
            "delta",
            "",
            {**TQ, "beta": "(0, 1]", "C5": "(1, 100]"},
            count="s",
            rate="1/n",
            releases={"s": (RECURSIVE, "value")},
            instances=[{**RUN, "T": "10", "q": "5", "beta": "1/2", "C5": "3"}],
            note=FOUR + "; unit G",
        ),
        severity=PRIVACY,
        corrected="noise of the order beta (C_5 - 1) max{1, sqrt(T)/n}",
        corrected_claim=privacy(
            ROOT + "*beta*(C5 - 1)*max(1, sqrt(T)/n)",
            "beta*(C5 - 1)",
            "epsilon",
            "delta",
            "",
            {**TQ, "beta": "(0, 1]", "C5": "(1, 100]"},
            count="s",
            rate="1/n",
            releases={"s": (RECURSIVE, "value")},
            instances=[
                {**RUN, "T": "10", "q": "5", "beta": "1/2", "C5": "3"},
                {**RUN, "n": "10", "T": "200", "q": "20", "beta": "1/2", "C5": "3"},
            ],
        ),
        repair="s over all n records",
        saved_by=privacy(
            ROOT + "*sqrt(T)/n",
            "2/n",
            "epsilon",
            "delta",
            "",
            TQ,
            count="s",
            releases={"s": (RECURSIVE, "value")},
            instances=[{**RUN, "T": "10", "q": "5"}],
        ),
        explain=(
            "A mixture with weight 1/n on N(beta (C_5 - 1), std^2): hardly ever the target is drawn, but when it "
            "is, it is seen."
        ),
        defect="recursive_spider/value_noise_order",
    ),
    row(
        "recursive_spider/value_sensitivity_printed",
        "Algorithm 3, line 16",
        (
            "as printed the new part of s_t is beta Clip(g): values in [1, C_5] (losses are non-negative) move it "
            "by beta (C_5 - 1)"
        ),
        identity("(C5 + (1 - b)*(s - C5)) - (1 + (1 - b)*(s - 1)) == b*(C5 - 1)", "C5 b s"),
        severity=PRIVACY,
    ),
    row(
        "recursive_spider/value_sensitivity_proof",
        "Lemma 8's recursion",
        "with g(w_t) - (1 - beta) g(w_(t-1)) the new part moves by (2 - beta) (C_5 - 1)",
        identity("(C5 - (1 - b)*1) - (1 - (1 - b)*C5) == (2 - b)*(C5 - 1)", "C5 b"),
        severity=PRIVACY,
    ),
    row(
        "recursive_spider/value_in_proof",
        "Theorem 8, privacy proof",
        "the proof accounts for everything that line 20 returns",
        program("v_refresh v_difference", "20: <- v_refresh v_difference value"),
        severity=PRIVACY,
        corrected=(
            "account for u and s too: five sequences over all records fit with sqrt(5) times the noise of one"
            " (c = 4 sqrt(5))"
        ),
        corrected_claim=privacy(
            "sqrt(5)*" + ROOT + "*sqrt(T)/n",
            "2/n",
            "epsilon",
            "delta",
            "",
            {**DP, "n": "integer [2, 10000000]", "T": "integer [1, 10000]"},
            count="5*T",
        ),
        reading="Theorem 8 does list a noise for s_t",
        saved_by=program(
            "v_refresh v_difference sigma_s", "16: value <- sigma_s", "20: <- v_refresh v_difference value"
        ),
    ),
    row(
        "recursive_spider/gradient_bound",
        "Theorem 8, privacy proof",
        "the terms of lines 7-8 have norm at most G: |grad_x g| = exp(loss/lambda) |grad loss|/lambda <= G",
        inequality(
            "exp(l/lam)*G/lam <= G",
            "G",
            {"l": "[0, 3]", "lam": "[1/10, 1]"},
            hints=[{"G": "1", "l": "1", "lam": "1/2"}],
        ),
        severity=UTILITY,
        corrected="G exp(S/lambda_0)/lambda_0 for losses of at most S",
        corrected_claim=inequality(
            "exp(l/lam)*g/lam <= G*exp(S/lam0)/lam0",
            "G",
            {"S": "(0, 10]", "g": "(0, G]", "l": "[0, S]", "lam0": "[1/10, 10]", "lam": "[lam0, inf)"},
        ),
        explain="Privacy rests on the clip C_1 alone.",
        reading="C_1 = G and privacy rests on the clip",
        saved_by=inequality("min(C1, x) <= G", "x G", let={"C1": "G"}),
    ),
    row(
        "recursive_spider/proof_lines",
        "Theorem 8, privacy proof, against Algorithm 3",
        "the refresh that the proof calls line 12 is line 12",
        same({"proof": "12", "Algorithm 3": "7"}),
        corrected="lines 7-8 and 13-14, which write v and u; line 12 draws noise and line 15 is an end",
        saved_by=program(
            "w_t w_prev S s_t nu_t omega_t kappa_t zeta_t",
            "if",
            "7: v <- w_t S nu_t",
            "8: u <- w_t S omega_t",
            "else",
            "13: v <- w_t w_prev S kappa_t",
            "14: u <- w_t w_prev S zeta_t",
            "end",
            "18: z <- s_t v u",
        ),
        repair="lines 7-8 and 13-14",
    ),
]
