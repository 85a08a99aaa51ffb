"""dro: where Double-SPIDER clips, and its thresholds."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import (
    PRIVACY,
    inequality,
    privacy,
    program,
    same,
    units,
)

from .privacy_terms import DOUBLE, DP, FOUR, ROOT, RUN, TQ, row

ROWS = [
    row(
        "double_spider/mean_clipped",
        "Algorithm 2, lines 4, 6, 10, 12",
        "clipping the batch mean at C gives sensitivity 2C/N (records of norm up to G)",
        inequality("min(2*G/N, 2*C) <= 2*C/N", "G C", {"N": "[1, 100000]"}, hints=[{"G": "10", "C": "1", "N": "100"}]),
        severity=PRIVACY,
        corrected=(
            "clip each record (as Algorithm 3, lines 7-8, 13-14, does): then one record moves the mean by at most 2 C/N"
        ),
        corrected_claim=inequality(
            "abs(a*min(C/abs(a), 1) - b*min(C/abs(b), 1))/N <= 2*C/N", "C N", {"a": "(-inf, inf)", "b": "(-inf, inf)"}
        ),
        condition="every record's term is within C anyway",
        saved_by=inequality("min(2*G/N, 2*C) <= 2*C/N", "G", {"N": "[1, 100000]", "C": "[G, inf)"}),
        explain="One record of norm G > N C moves the clipped mean from C to -C, N times what the noise is made for.",
    ),
    row(
        "double_spider/mean_clipped_accounted",
        "Algorithm 2, line 4, with Theorem 6",
        (
            "with c = 4 the refreshes of g are (epsilon, delta)-DP when one record's gradient exceeds N C_1 "
            "(sensitivity 2 C_1 of the clipped mean, N_1 = n)"
        ),
        privacy(
            ROOT + "*sqrt(T)/(n*sqrt(q))",
            "2",
            "epsilon",
            "delta",
            "",
            TQ,
            count="k",
            releases={"k": (DOUBLE, "eta/refresh")},
            instances=[{**RUN, "T": "60", "q": "20"}],
            note=FOUR + "; unit C_1",
        ),
        severity=PRIVACY,
        corrected="clip each record: with the sensitivity 2 C_1/n that follows the refreshes are private",
        corrected_claim=privacy(
            ROOT + "*sqrt(T)/(n*sqrt(q))",
            "2/n",
            "epsilon",
            "delta",
            "",
            {**DP, "n": "integer [2, 10000000]", "q": "integer [1, 1000]", "m": "integer [1, 1000]"},
            count="m",
            let={"T": "m*q"},
        ),
        condition="each record is clipped, or no record's gradient exceeds C_1",
        saved_by=privacy(
            ROOT + "*sqrt(T)/(n*sqrt(q))",
            "2/N",
            "epsilon",
            "delta",
            "",
            TQ,
            count="k",
            releases={"k": (DOUBLE, "eta/refresh")},
            instances=[{**RUN, "T": "60", "q": "20"}],
        ),
        defect="double_spider/mean_clipped",
    ),
    row(
        "double_spider/clip_places",
        "Algorithm 2 against Algorithm 3",
        "inferred: both algorithms clip at the same place, so that the sensitivities of what they clip agree",
        same(
            {"Algorithm 3 (each record)": "2*C/N", "Algorithm 2 (the mean)": "min(2*G/N, 2*C)"},
            "C",
            {"N": "[2, 1000]", "G": "[C, inf)"},
        ),
        corrected="each record",
        corrected_by="double_spider/mean_clipped",
        degenerate="G = C",
        saved_by=same(
            {"Algorithm 3 (each record)": "2*C/N", "Algorithm 2 (the mean)": "min(2*G/N, 2*C)"},
            "C",
            {"N": "[2, 1000]"},
            let={"G": "C"},
        ),
        defect="double_spider/mean_clipped",
        ours=True,
    ),
    row(
        "double_spider/norm_bound_of_line_4",
        "Theorem 6, proof",
        "the norm bound of line 4's terms is L_2 = G^2 M/lambda, a gradient",
        units("G**2*M/lam == g", free="M", G="v/l", lam="v", g="v/l"),
        corrected="C_1, the clip of line 4, which no estimate exceeds",
        corrected_claim=inequality("abs(a)*min(C1/abs(a), 1) <= C1", "C1", {"a": "(-inf, inf)"}),
        repair="C_1 was meant",
        saved_by=units("C1 == g", C1="v/l", g="v/l"),
    ),
    row(
        "double_spider/C2_factor_two",
        "Theorem 6, C_2",
        "the sum of the moves in eta and x is at most twice their maximum",
        inequality("a + b <= 2*max(a, b)", "a b"),
        severity=PRIVACY,
        explain="The 2 of C_2 = 2 max{...} is this one; the 2 of replace-one is left to c.",
    ),
    row(
        "double_spider/C2_x_constant",
        "Theorem 6, C_2, against Lemmas 3 and 4",
        "the x-Lipschitz constant of grad_eta L is the same in the theorem and in the lemmas",
        same({"Theorem 6": "G*M/lam", "Lemma 4": "M*G**2/lam"}, "G M lam"),
        severity=PRIVACY,
        corrected="G^2 M/lambda, for L(x, eta) = L^(x, G eta)",
        corrected_by="lemma3/eta_gradient_in_x",
        reading=(
            "eta is not scaled: the derivative -psi*' of (3)'s L^ in eta changes by at most M times G |x - x'|/lambda"
        ),
        saved_by=inequality(
            "abs(M*((l + dl - e)/lam) - M*((l - e)/lam)) <= G*M/lam*r", "G M lam l e r", {"dl": "[-G*r, G*r]"}
        ),
        explain=(
            "With eta scaled and G > 1 the threshold is below the true change, so with the clip of the mean the "
            "sensitivity is larger than the noise assumes."
        ),
    ),
    row(
        "double_spider/C4_eta_constant",
        "Theorem 6, C_4, against Lemma 3, eq. (11)",
        "the eta-Lipschitz constant of grad_x L is the same in the theorem and in the lemma",
        same({"Theorem 6 and Lemma 5": "M*L/lam", "Lemma 3": "G**2*M/lam"}, "G L M lam"),
        severity=PRIVACY,
        corrected="G^2 M/lambda, by |grad loss| <= G",
        corrected_by="lemma3/x_gradient_in_eta",
        condition="G^2 <= L: then the printed threshold is large enough",
        saved_by=inequality("G**2*M/lam <= M*L/lam", "G M lam", {"L": "[G**2, inf)"}),
    ),
    row(
        "double_spider/C4_which_eta_move",
        "Theorem 6, C_4, against Algorithm 2, line 12",
        "a threshold that follows |eta_t - eta_(t-1)| covers line 12, which compares eta_(t+1) with eta_t",
        inequality(
            "a*now <= 2*max(a*before, b*x)",
            "a now before b x",
            hints=[{"a": "1", "now": "1", "before": "1/1000", "b": "1", "x": "1/1000"}],
        ),
        severity=PRIVACY,
        corrected="|eta_(t+1) - eta_t|, as Section 3 says",
        repair="the index is a slip; Section 3 has |eta_(t+1) - eta_t|",
        saved_by=inequality("a*now + b*x <= 2*max(a*now, b*x)", "a now b x"),
    ),
    row(
        "double_spider/H_defined",
        "Theorem 6",
        "H, on which C_4 depends, is defined",
        program("M L lam L_0 L_1 eta x", "thm6: C_4 <- M L lam L_0 L_1 H eta x"),
        severity=PRIVACY,
        corrected="sqrt(H) = H_0 of Proposition 1",
        repair="sqrt(H) = H_0",
        saved_by=program(
            "M L lam L_0 L_1 eta x M S_0", "prop1: H_0 <- M S_0", "thm6: C_4 <- M L lam L_0 L_1 H_0 eta x"
        ),
    ),
    row(
        "double_spider/thresholds_are_public",
        "Theorem 6, C_2 and C_4",
        "thresholds and noise scales are functions of released iterates",
        program(
            "x_0 eta_0 M G L lam H",
            "4: g_0 <- x_0 eta_0",
            "8: eta_1 <- eta_0 g_0",
            "10: v_0 <- x_0 eta_1",
            "14: x_1 <- x_0 v_0",
            "C2: C_2 <- eta_1 eta_0 x_1 x_0 M G lam",
            "C4: C_4 <- eta_1 eta_0 x_1 x_0 M L lam H",
        ),
        severity=PRIVACY,
        explain="Looks like data-dependent noise and is right: g and v are noisy before they are used.",
    ),
]
