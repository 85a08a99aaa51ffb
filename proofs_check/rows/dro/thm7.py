"""dro: rows of thm7."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import UTILITY, budget, identity, inequality, same, units

from .double_utility_terms import FREE, REGION, T7, E, U, row

ROWS = [
    row(
        "thm7/c1_places",
        "Theorem 7 against its proof",
        "c_1 is the same: the first D_2 term with or without N_1",
        same(
            {
                "theorem": "4 + 8*L1**2*D2/(N1*L0**2) + 32*L1**2*D2/(N1*L0**2)",
                "proof": "4 + 8*L1**2*D2/L0**2 + 32*L1**2*D2/(N1*L0**2)",
            },
            "L0 L1 D2 N1",
        ),
        corrected="the proof's, without N_1: it covers the bracket of Lemma 6 (n >= 1, N_2 >= 20 q D_1 L_2/L_0)",
        corrected_claim=inequality(
            (
                "4 + 8*L1**2*D2/L0**2 + 32*L1**2*D2/(N1*L0**2) + 64*q*L1**2*L2**2/(n*N2*L0**4) <= 4 + "
                "8*L1**2*D2/L0**2 + 32*L1**2*D2/(N1*L0**2) + 16*L1**2*L2/(5*D1*L0**3)"
            ),
            "L0 L1 L2 D1 D2 N1 q",
            {"n": "[1, inf)", "N2": "[20*q*D1*L2/L0, inf)"},
        ),
        degenerate="N_1 = 1",
        saved_by=same(
            {
                "theorem": "4 + 8*L1**2*D2/(N1*L0**2) + 32*L1**2*D2/(N1*L0**2)",
                "proof": "4 + 8*L1**2*D2/L0**2 + 32*L1**2*D2/(N1*L0**2)",
            },
            "L0 L1 D2",
            let={"N1": "1"},
        ),
    ),
    row(
        "thm7/c2_places",
        "Theorem 7 against its proof",
        "c_2 is the same: L_1/L_0^3 or L_1/50",
        same(
            {"theorem": "max(1/(8*L2) + L1/L0**3, 1)", "proof": "max(1/(8*L2) + L1/50, 1)"},
            "",
            {"L0": "[1/2, 2]", "L1": "[1, 100]", "L2": "[1/10, 10]"},
        ),
        corrected=(
            "the proof's L_1/50: its coefficient is alpha/2 + gamma L_1^2, at alpha = 1/(4 L_2) and gamma = 1/(50 L_1)"
        ),
        corrected_claim=identity(
            "alpha/2 + gamma*L1**2 == 1/(8*L2) + L1/50", "L1 L2", let={"alpha": "1/(4*L2)", "gamma": "1/(50*L1)"}
        ),
        reading="the proof's, gamma L_1^2 = L_1/50 with its gamma",
        saved_by=identity("1/(8*L2) + gamma*L1**2 == 1/(8*L2) + L1/50", "L1 L2", let={"gamma": "1/(50*L1)"}),
    ),
    row(
        "thm7/c2_units",
        "Theorem 7",
        "the parts of c_2 have the same units",
        units("1/L2 + L1/L0**3 == c", **U, c="l**2/v"),
        severity=UTILITY,
        corrected="gamma L_1^2 with gamma = 1/(50 L_1^2 L_2): 1/(8 L_2) + 1/(50 L_2)",
        repair="gamma = 1/(50 L_1^2 L_2)",
        saved_by=units("1/L2 + L1**2/(L1**2*L2) == c", **U, c="l**2/v"),
        defect="thm7/c2_places",
    ),
    row(
        "thm7/N1_places",
        "Theorem 7 against its proof",
        "N_1 is the same: 1/epsilon^2 or n",
        same({"theorem": "6*D2*c0*c2/epsilon**2", "proof": "n*6*D2*c0*c2"}, "D2 c0 c2 n", {"epsilon": "(0, 1]"}),
        severity=UTILITY,
        corrected="6 n D_2 c_0 c_2",
        corrected_as_saved=True,
        reading="epsilon is the accuracy 1/sqrt(n) of the non-private paper, not the privacy budget",
        saved_by=same(
            {"theorem": "6*D2*c0*c2/epsilon**2", "proof": "n*6*D2*c0*c2"}, "D2 c0 c2 n", let={"epsilon": "1/sqrt(n)"}
        ),
        explain="epsilon is the privacy budget everywhere else in the theorem.",
    ),
    row(
        "thm7/N2_first_places",
        "Theorem 7 against its proof",
        "the first bound of N_2 is the same: L_2 or L_2^2",
        same({"theorem": "20*q*D1*L2/L0", "proof": "20*q*D1*L2**2/L0"}, "q D1 L2 L0"),
        severity=UTILITY,
        corrected="L_2: with it the last term of Lemma 6 is within c_1's 16 L_1^2 L_2/(5 D_1 L_0^3)",
        corrected_claim=inequality(
            "64*q*L1**2*L2**2/(n*N2*L0**4) <= 16*L1**2*L2/(5*D1*L0**3)",
            "L0 L1 L2 D1 q",
            {"n": "[1, inf)", "N2": "[20*q*D1*L2/L0, inf)"},
        ),
        degenerate="L_2 = 1",
        saved_by=same({"theorem": "20*q*D1*L2/L0", "proof": "20*q*D1*L2**2/L0"}, "q D1 L0", let={"L2": "1"}),
    ),
    row(
        "thm7/N2_third_places",
        "Theorem 7 against its proof",
        "the third bound of N_2 is the same: L_1^2 or L_2^2",
        same({"theorem": "12*q*L1**2*c0*c2/L0**2", "proof": "12*q*L2**2*c0*c2/L0**2"}, "q L1 L2 L0 c0 c2"),
        severity=UTILITY,
        corrected="L_2^2, as Lemma 6 has 2 q L_2^2/(n N_2 L_0^2)",
        corrected_by="thm7/N2_covers_noise",
        repair="L_2 was meant in both",
        saved_by=same({"theorem": "12*q*L2**2*c0*c2/L0**2", "proof": "12*q*L2**2*c0*c2/L0**2"}, "q L2 L0 c0 c2"),
        garbling="an index 1 for 2 is possible",
    ),
    row(
        "thm7/N2_covers_noise",
        "Theorem 7, proof",
        "c_2 2 q L_2^2/(n N_2 L_0^2) <= 1/(6 n c_0) at the proof's N_2",
        inequality(
            "c2*2*q*L2**2/(n*N2*L0**2) <= 1/(6*n*c0)", "c0 c2 q L2 L0 n", {"N2": "[12*q*L2**2*c0*c2/L0**2, inf)"}
        ),
        severity=UTILITY,
    ),
    row(
        "thm7/N2_printed_covers_noise",
        "Theorem 7",
        "the same at the theorem's N_2, which has L_1^2",
        inequality(
            "c2*2*q*L2**2/(n*N2*L0**2) <= 1/(6*n*c0)", "c0 c2 q L1 L2 L0 n", {"N2": "[12*q*L1**2*c0*c2/L0**2, inf)"}
        ),
        severity=UTILITY,
        corrected="12 q L_2^2 c_0 c_2/L_0^2",
        repair="L_2 was meant",
        saved_by=inequality(
            "c2*2*q*L2**2/(n*N2*L0**2) <= 1/(6*n*c0)", "c0 c2 q L2 L0 n", {"N2": "[12*q*L2**2*c0*c2/L0**2, inf)"}
        ),
        garbling="an index 1 for 2 is possible",
        defect="thm7/N2_third_places",
    ),
    row(
        "thm7/N3_covers_noise",
        "Theorem 7, proof",
        "(D_0 + 4 D_1 D_2)/(4 L_0 N_3) <= 1/(6 n c_0) at the printed N_3",
        inequality("D/(4*L0*N3) <= 1/(6*n*c0)", "D L0 n c0", {"N3": "[3*c0*n*D/(2*L0), inf)"}),
        severity=UTILITY,
        explain="D stands for D_0 + 4 D_1 D_2.",
    ),
    row(
        "thm7/N1_covers_noise",
        "Theorem 7, proof",
        "c_2 D_2/N_1 <= 1/(6 n c_0) at the proof's N_1",
        inequality("c2*D2/N1 <= 1/(6*n*c0)", "c2 D2 n c0", {"N1": "[6*n*D2*c0*c2, inf)"}),
        severity=UTILITY,
    ),
    row(
        "thm7/N4_covers_noise",
        "Theorem 7, proof",
        "q c_1/(n N_4 L_0) <= 1/(6 n c_0) at N_4 >= 6 q c_1 c_0/L_0",
        inequality("q*c1/(n*N4*L0) <= 1/(6*n*c0)", "q c1 n L0 c0", {"N4": "[6*q*c1*c0/L0, inf)"}),
        severity=UTILITY,
    ),
    row(
        "thm7/N3_at_most_n",
        "Theorem 7",
        "N_3 >= 3 c_0 (D_0 + 4 D_1 D_2) n/(2 L_0) can be met by a batch of at most n",
        budget(
            "3*c0*(D0 + 4*8*D2)*n/(2*L0) <= n",
            "M lam s n",
            {"G": "[1/9, 1000]"},
            let=T7,
            hints=[{"M": "1", "lam": "1", "s": "1/10", "n": "1000", "G": "1"}],
        ),
        severity=UTILITY,
        corrected="N_3 = n suffices (the whole data set has no sampling error)",
        repair="N_3 = n, as Remark 2 says: the variance of a mean without replacement vanishes",
        saved_by=identity("(n - N3)/(N3*(n - 1)) == 0", "", {"n": "integer [2, 100000]"}, let={"N3": "n"}),
        explain="c_0 >= 8 L_0 and D_0 >= 8 G^2 make N_3 >= 96 G^2 n, more than n for G > 0.103.",
    ),
    row(
        "thm7/N3_lower_bound",
        "Theorem 7",
        "N_3 is at least 96 G^2 n",
        inequality("96*G**2*n <= 3*max(32*L2, 8*L0)*(8*G**2 + x)*n/(2*L0)", "G n L0 L2 x"),
        severity=UTILITY,
    ),
    row(
        "thm7/N3_units",
        "Theorem 7",
        "N_3 is a pure number",
        units("L0*D0*n/L0 == N3", free=FREE, L0="v/l**2", D0="v**2/l**2"),
        severity=UTILITY,
        corrected="3 c_0 (D_0 + 4 D_1 D_2)/(2 L_0 alpha^2) with a gradient alpha",
        corrected_claim=units(
            "L0*(D0 + D1*D2)/(L0*a**2) == N3", free="D1 N3", a="v/l", L0="v/l**2", D0="v**2/l**2", D2="v**2/l**2"
        ),
        reading="the accuracy 1/n stands for a squared gradient",
        saved_by=units("L0*D0*n/L0 == N3", free="D1 q N3", n="l**2/v**2", L0="v/l**2", D0="v**2/l**2"),
        defect="thm7/N3_at_most_n",
    ),
    row(
        "thm7/N2_at_most_n",
        "Theorem 7",
        "N_2 of the order q = e^(-2/3) is at most n",
        budget("q <= n", "n d ell epsilon", scale="n", conditions=REGION, let={**E, "q": "e**(-2/3)"}),
    ),
    row(
        "thm7/q_at_least_one",
        "Theorem 7",
        "q = e^(-2/3) is at least 1",
        budget("1 <= q", "n d ell epsilon", scale="n", conditions=REGION, let={**E, "q": "e**(-2/3)"}),
    ),
    row(
        "thm7/T_at_least_q",
        "Theorem 7",
        "T >= 6 n c_0 (...) is at least q",
        budget("q <= T", "n d ell epsilon", scale="n", conditions=REGION, let={**E, "q": "e**(-2/3)", "T": "n"}),
    ),
    row(
        "thm7/step_places",
        "Theorem 7 against its proof",
        "the step bound is the same: 1/(2 L_0 + L_1 sqrt H) or 1/(2 L_0)",
        same({"theorem": "1/(2*L0 + L1*sqrt(H))", "proof": "1/(2*L0)"}, "L0 L1 H"),
        corrected="the theorem's, which is smaller",
        corrected_as_saved=True,
        reading="the theorem's step is within the proof's bound",
        saved_by=inequality("1/(2*L0 + L1*sqrt(H)) <= 1/(2*L0)", "L0 L1 H"),
    ),
    row(
        "thm7/step_units",
        "Theorem 7",
        "1/(L_0 sqrt n |v|) is a step (length^2 per value) like 1/L_0",
        units("1/(L0*v) == s", L0="v/l**2", v="v/l", s="l**2/v"),
        severity=UTILITY,
        corrected="alpha/(L_0 |v|) with a gradient alpha in place of 1/sqrt n",
        corrected_as_saved=True,
        reading="1/sqrt n stands for a gradient",
        saved_by=units("a/(L0*v) == s", a="v/l", L0="v/l**2", v="v/l", s="l**2/v"),
    ),
    row(
        "thm7/c3_units",
        "Theorem 7",
        "the terms of c_3 have the same units (1 and 2 L_0 L_2 D_2/L_2)",
        units("1 + L2/L0 + L0*L2*D2/L2 == c", free="D1", c="1", **U),
        corrected=(
            "33 L_1^2/(5 L_0 L_2) and D_1 L_0/(15 L_2^2) in place of 33 L_2^2/(5 L_0 L_2) and L_1^2/(15 "
            "L_2^3): then c_3 covers the coefficient of 1/n in the display before (21)"
        ),
        corrected_claim=inequality(
            "1 + a + 4*L0/(5*L2) + 8*L0*L2*D2/(5*L2) + b/(15*L2) <= c3",
            "L0 L1 L2 D1 D2",
            let={
                "a": "D1*L0/L2 + 33*L1**2/(5*L0*L2) + L2/(40*L0)",
                "b": "4*D1*L0/(5*L2) + 32*L1**2/(5*L0*L2)",
                ("c3"): (
                    "1 + L2/(10*L0) + (L0*D1 + L0 + 2*L0*L2*D2)/L2 + 33*L1**2/(5*L0*L2) + D1*L0/(15*L2**2) + "
                    "L1**2/(2*L0*L2**2)"
                ),
            },
        ),
        explain=(
            "No reading makes the units agree: the display itself adds 1 and L_0 D_2. What is printed does "
            "not cover it either, at L_0 = L_2 = 1 and large L_1."
        ),
    ),
]
