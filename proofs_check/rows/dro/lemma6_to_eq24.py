"""dro: rows of lemma6, eq23, eq24."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import UTILITY, identity, inequality, program, rates, same

from .double_utility_terms import HARD, E, row

ROWS = [
    row(
        "lemma6/sum_of_steps",
        "Lemma 6",
        (
            "the noise of differences, accumulated over a phase: 0 + 1 + ... + (q - 1) = q (q - 1)/2, by the step "
            "from q to q + 1"
        ),
        identity("q*(q - 1)/2 + q == (q + 1)*q/2", "", {"q": "integer [1, 100000]"}),
        severity=UTILITY,
    ),
    row(
        "lemma6/sigma_0",
        "Lemma 6 against its proof",
        "sigma_0 of the lemma is the noise that its proof collects",
        same(
            {
                "lemma": "q*(s2**2 + s3**2) + q*(q - 1)/2*(s2**2 + s4**2)",
                "proof": "q*s1**2 + q*(q - 1)/2*s2**2 + q*s3**2 + q*(q - 1)/2*s4**2",
            },
            "q s1 s2 s3 s4",
        ),
        corrected="sigma_0^2 = q (sigma_1^2 + sigma_3^2) + ...",
        repair="an index slip, sigma_1 for sigma_2",
        saved_by=same(
            {
                "lemma": "q*(s1**2 + s3**2) + q*(q - 1)/2*(s2**2 + s4**2)",
                "proof": "q*s1**2 + q*(q - 1)/2*s2**2 + q*s3**2 + q*(q - 1)/2*s4**2",
            },
            "q s1 s2 s3 s4",
        ),
        garbling="an index 2 for 1 is possible",
    ),
    row(
        "lemma6/dimension",
        "Lemma 6, proof",
        "the noise N(0, sigma_3^2 I_d) adds sigma_3^2 to E|v - grad|^2",
        identity("d*s3**2 == s3**2", "s3", {"d": "integer [1, 1000]"}),
        severity=UTILITY,
        corrected="d sigma_3^2, the mean of a chi-square law with d degrees (and d sigma_4^2)",
        corrected_claim=identity("2*Gamma(d/2 + 1)/Gamma(d/2)*s3**2 == d*s3**2", "s3", {"d": "integer [1, 1000]"}),
        reading="sigma_3^2 stands for the expected squared norm, as the d of the final rate shows",
        saved_by=rates(
            "d*(T/q)*ell/(n*epsilon)**2 == e**(4/3)",
            "n",
            "n d ell epsilon",
            conditions=HARD,
            let={**E, "q": "e**(-2/3)", "T": "e**(-4/3)"},
        ),
    ),
    row(
        "lemma6/alpha_square",
        "Lemma 6 against its proof",
        "(2 q L_2^2/N_2) alpha_t is the proof's q/(8 N_2) at alpha = 1/(4 L_2)",
        same({"lemma": "2*q*L2**2/N2*alpha", "proof": "q/(8*N2)"}, "q L2 N2", let={"alpha": "1/(4*L2)"}),
        corrected="alpha_t^2",
        repair="alpha_t^2",
        saved_by=same({"lemma": "2*q*L2**2/N2*alpha**2", "proof": "q/(8*N2)"}, "q L2 N2", let={"alpha": "1/(4*L2)"}),
        garbling="a lost exponent is possible",
    ),
    row(
        "lemma6/accuracy_name",
        "Lemma 6 against its proof",
        "2 q L_2^2/(n N_2 L_0^2) is the proof's 2 q L_2^2 epsilon^2/(N_2 L_0^2)",
        same(
            {"lemma": "2*q*L2**2/(n*N2*L0**2)", "proof": "2*q*L2**2*epsilon**2/(N2*L0**2)"},
            "q L2 N2 L0 n",
            {"epsilon": "(0, 1]"},
        ),
        corrected="1/n",
        corrected_as_saved=True,
        reading="epsilon is the accuracy 1/sqrt n of the non-private paper",
        saved_by=same(
            {"lemma": "2*q*L2**2/(n*N2*L0**2)", "proof": "2*q*L2**2*epsilon**2/(N2*L0**2)"},
            "q L2 N2 L0 n",
            let={"epsilon": "1/sqrt(n)"},
        ),
        defect="thm7/N1_places",
    ),
    row(
        "lemma6/extra_factor",
        "Lemma 6 against its proof",
        "the sum with (g_t)^2 carries the same factor",
        same({"lemma": "1/(4*L0)", "proof": "1"}, "L0"),
        severity=UTILITY,
        corrected="without 1/(4 L_0): the term q/(8 N_4) is q (2/N_4) L_2^2 alpha^2 of (24) itself",
        corrected_claim=identity("q*(2/N4)*L2**2*alpha**2 == q/(8*N4)", "q N4 L2", let={"alpha": "1/(4*L2)"}),
        degenerate="L_0 = 1/4",
        saved_by=same({"lemma": "1/(4*L0)", "proof": "1"}, "", let={"L0": "1/4"}),
    ),
    row(
        "lemma6/sigma_1_in_first",
        "Lemma 6, last display on g",
        "the summed noise of g has the refresh part q sigma_1^2, which the lemma states",
        same({"lemma": "q*s1**2 + q*(q - 1)/2*s2**2", "proof": "q*(q - 1)/2*s2**2"}, "q s1 s2"),
        corrected="with q sigma_1^2: step t of the phase adds sigma_1^2 + t sigma_2^2",
        corrected_claim=identity(
            "q*s1**2 + q*(q - 1)/2*s2**2 + (s1**2 + q*s2**2) == (q + 1)*s1**2 + (q + 1)*q/2*s2**2",
            "s1 s2",
            {"q": "integer [1, 100000]"},
        ),
        repair="a term forgotten in the display",
        saved_by=same({"lemma": "q*s1**2 + q*(q - 1)/2*s2**2", "proof": "q*s1**2 + q*(q - 1)/2*s2**2"}, "q s1 s2"),
    ),
    row(
        "eq23/two_squares", "eq. (23)", "(a + b)^2 <= 2 a^2 + 2 b^2", inequality("(a + b)**2 <= 2*a**2 + 2*b**2", "a b")
    ),
    row(
        "eq23/move",
        "eq. (23), last step",
        "beta^2 |v|^2 <= 1/(n L_0^2)",
        inequality("x**2 <= 1/(n*L0**2)", "n L0", {"x": "(0, 1/(L0*sqrt(n))]"}),
    ),
    row(
        "eq24/undefined",
        "eq. (24)",
        "s and u_t, which occur in the third and last line, are defined for Algorithm 2",
        program(
            "n N_4 x_t eta_t g_t v_t beta_t L_0 L_1 L_2 D_2", "24c: line3 <- beta_t v_t u_t", "24e: line5 <- n s N_4"
        ),
        corrected="|v_(t-1)| and n N_4",
        repair="letters left over from another version",
        saved_by=program(
            "n N_4 x_t eta_t g_t v_t beta_t L_0 L_1 L_2 D_2",
            "24c: line3 <- beta_t v_t",
            "24e: line5 <- n N_4",
            "lemma6: sum <- line3 line5",
        ),
        garbling="stray letters are possible",
    ),
    row(
        "eq24/constant_places",
        "eq. (24) against the display before (21)",
        "the first constant is the same",
        same({"(24)": "(2/N4)*(4/n)*2", "before (21)": "(2/(n*N4))*2"}, "n N4"),
        corrected=("the smaller one, for line 12's points: (L_0 + L_1 h)^2 beta^2 |v|^2 <= (2 + 2 L_1^2 h^2/L_0^2)/n"),
        corrected_claim=inequality(
            "(L0 + L1*h)**2*m <= (2 + 2*L1**2*h**2/L0**2)/n", "L0 L1 h n", {"m": "(0, 1/(n*L0**2)]"}
        ),
        reading="up to the constant 4",
        saved_by=identity("((2/N4)*(4/n)*2)/((2/(n*N4))*2) == 4", "n N4"),
    ),
    row(
        "eq24/D1_step",
        "Lemma 6, proof",
        "(grad_eta at t + 1)^2 <= 2 h^2 + 2 L_2^2 alpha^2 g^2, and 2 h^2 <= 4 g^2 + 4 (g - h)^2",
        inequality("2*h**2 <= 4*g**2 + 4*(g - h)**2", "", {"g": "[-10, 10]", "h": "[-10, 10]"}),
    ),
    row(
        "eq24/D1_index",
        "Lemma 6, proof, refresh of v",
        "the variance at (x_t, eta_(t+1)) is D_0 + D_1 (grad_eta L(x_t, eta_(t+1)))^2; the first line has eta_t",
        same({"Lemma 2 at (x_t, eta_(t+1))": "D0 + D1*hnext**2", "first line": "D0 + D1*h**2"}, "D0 D1 hnext h"),
        corrected="eta_(t+1): the second line bounds its gradient by that at eta_t and the move L_2 alpha |g|",
        corrected_claim=inequality(
            "D1*hnext**2 <= 2*D1*h**2 + 2*D1*L2**2*alpha**2*g**2", "D1 L2 alpha g h", {"hnext": "[0, h + L2*alpha*g]"}
        ),
        repair="eta_(t+1) was meant",
        saved_by=same(
            {"Lemma 2 at (x_t, eta_(t+1))": "D0 + D1*hnext**2", "first line": "D0 + D1*hnext**2"}, "D0 D1 hnext"
        ),
    ),
]
