"""adaptive_batch: rows of lemma316, remark318, thm317, thmC1, lemma311, lemma312, claim36, claim37, alg2."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import UTILITY, budget, identity, inequality, program, rates, same, units

from .utility_terms import ALPHA, REGION, row

ROWS = [
    row(
        "lemma316/kappa_private",
        "B.6, thirdly",
        "B M kappa/gamma^3 with kappa = gamma sqrt(d)/epsilon is n at gamma = sqrt(B M) (sqrt(d)/(n epsilon))^(1/2)",
        identity(
            "B*M*(g*sqrt(d)/epsilon)/g**3 == n", "B M d n epsilon", let={"g": "sqrt(B*M)*sqrt(sqrt(d)/(n*epsilon))"}
        ),
        severity=UTILITY,
    ),
    row(
        "lemma316/hessian_first",
        "B.6, fourthly",
        "B rho kappa/(M gamma^2) = n at gamma = B^(2/3) G^(1/6) sqrt(rho)/(M^(1/3) sqrt n)",
        identity(
            "B*rho*kappa/(M*g**2) == n",
            "B G M n rho",
            let={"kappa": "(B*G*M)**(1/3)", "g": "B**(2/3)*G**(1/6)*sqrt(rho)/(M**(1/3)*sqrt(n))"},
        ),
        severity=UTILITY,
    ),
    row(
        "lemma316/hessian_second",
        "B.6, fourthly",
        "B rho sqrt(d)/(M gamma epsilon) = n at gamma = B rho sqrt(d)/(M n epsilon)",
        identity("B*rho*sqrt(d)/(M*g*epsilon) == n", "B rho d M n epsilon", let={"g": "B*rho*sqrt(d)/(M*n*epsilon)"}),
        severity=UTILITY,
    ),
    row(
        "lemma316/last",
        "B.6, finally",
        "M B/gamma^2 = n at gamma = sqrt(M B/n)",
        identity("M*B/g**2 == n", "M B n", let={"g": "sqrt(M*B)/sqrt(n)"}),
    ),
    row(
        "remark318/rate",
        "Remark 3.18",
        "with constant B, G, M, rho all terms are within (sqrt(d)/(n epsilon))^(1/2) + n^(-1/3)",
        rates(
            "sqrt(e) + n**(-1/3) + n**(-1/2) + e == sqrt(e) + n**(-1/3)",
            "n",
            "n d epsilon",
            conditions=REGION,
            let={"e": "sqrt(d)/(n*epsilon)"},
        ),
        severity=UTILITY,
    ),
    row(
        "thm317/batch_at_most_n",
        "Theorem 3.17",
        "the fixed batch b is at most n",
        budget("b <= n", "n d epsilon", scale="n", conditions=REGION, let=ALPHA),
    ),
    row(
        "thm317/samples_without_escapes",
        "Theorem 3.17",
        (
            "b/(kappa alpha) + sqrt(d)/(alpha^2 epsilon) + kappa/alpha^3 + kappa/alpha^2 + 1/alpha^2 <= n (escapes "
            "not counted)"
        ),
        budget(
            "b/(kappa*alpha) + sqrt(d)/(alpha**2*epsilon) + kappa/alpha**3 + kappa/alpha**2 + 1/alpha**2 <= n",
            "n d epsilon",
            scale="n",
            conditions=REGION,
            let=ALPHA,
        ),
        severity=UTILITY,
    ),
    row(
        "thm317/samples_with_escapes",
        "Theorem 3.17",
        "at the printed tau = alpha^(3/2) the refreshes forced by escapes, b alpha^(-3/2) records, fit into n",
        budget("b*alpha**(-3/2) <= n", "n d epsilon", scale="n", conditions=REGION, let=ALPHA),
        severity=UTILITY,
        corrected="tau = alpha^(-1/2) in place of alpha^(3/2): the claimed rate stands",
        repair="tau = alpha^(-1/2), as privacy allows (lemma314/larger_tau)",
        saved_by=budget("b*alpha**(-3/2)*alpha**(1/2) <= n", "n d epsilon", scale="n", conditions=REGION, let=ALPHA),
        explain=(
            "Each escape ends with count >= tau for tau <= 1, which forces O_1 and O_3; there are up to B/Phi = "
            "alpha^(-3/2) of them."
        ),
        defect="lemma314/tau_below_one",
    ),
    row(
        "thm317/samples_with_larger_tau",
        "Theorem 3.17, corrected",
        "with tau = alpha^(-1/2) the refreshes forced by escapes, b/alpha records, fit into n at the claimed rate",
        budget("b/alpha <= n", "n d epsilon", scale="n", conditions=REGION, let=ALPHA),
        severity=UTILITY,
    ),
    row(
        "thm317/samples_at_weaker_rate",
        "Theorem 3.17, corrected",
        (
            "with the printed tau and alpha = n^(-2/7) + (sqrt(d)/(n epsilon))^(2/5) the refreshes forced by "
            "escapes do fit into n"
        ),
        budget(
            "b*alpha**(-3/2) <= n",
            "n d epsilon",
            scale="n",
            conditions=REGION,
            let={
                "e": "sqrt(d)/(n*epsilon)",
                "alpha": "e**(2/5) + n**(-2/7)",
                "b": "sqrt(d)/(epsilon*alpha) + 1/alpha**2 + sqrt(d)/epsilon + 1/alpha",
            },
        ),
    ),
    row(
        "thmC1/cover",
        "Theorem C.1, proof",
        "2 M r + G sqrt(d/n) with r = sqrt(d/n) is of the order sqrt(d/n)",
        rates("M*r + G*sqrt(d/n) == sqrt(d/n)", "n", "n d M G", constants="M G", let={"r": "sqrt(d/n)"}),
    ),
    row(
        "thmC1/places",
        "Theorem C.1 against the text after it",
        "the generalisation term is sqrt(d/n) in the theorem and sqrt(d)/n in the text",
        same({"theorem": "sqrt(d/n)", "text": "sqrt(d)/n"}, "", {"d": "[1, 1000]", "n": "[2, 1000000]"}),
        severity=UTILITY,
        corrected="sqrt(d/n), from the logarithm d log(R/r) of the number of points",
        corrected_by="thmC1/cover",
        reading="the root covers n",
        saved_by=same({"theorem": "sqrt(d/n)", "text": "sqrt(d)/sqrt(n)"}, "d n"),
        garbling="the extent of the root was lost in rendering",
    ),
    row(
        "lemma311/O4_units",
        "Lemma 3.11, item (4)",
        "the Hessian difference oracle is compared with a Hessian difference: printed is grad F(x_t) - grad F(x_(t-1))",
        units("h == g", h="v/l**2", g="v/l"),
        corrected="the Hessians of F",
        repair="a lost exponent on nabla",
        saved_by=units("h == hF", h="v/l**2", hF="v/l**2"),
        garbling="a lost exponent is likely: the expectation in the same item has it",
    ),
    row(
        "lemma311/gradient_difference_range",
        "B.1",
        "two differences of norm <= M r each differ by at most 2 M r",
        inequality("abs(a - b) <= 2*M*r", "M r", {"a": "[-M*r, M*r]", "b": "[-M*r, M*r]"}),
    ),
    row(
        "lemma312/log_power",
        "Lemma 3.12, eq. (2), B.2",
        (
            "B.2's way: batch means that are nSG(M r sqrt(log)/sqrt(b)) give, by Lemma 2.4, a squared error with "
            "one logarithm"
        ),
        rates("log(T)**2*M**2/b <= log(T)*M**2/b", "T", "T M b", conditions=("b >= 1", "M >= 1"), tilde=False),
        corrected="Lemma 2.4 for the b single samples, each nSG(2 M r/b): one logarithm, and eq. (2) stands",
        corrected_claim=identity("log(T)*(b*(2*M/b)**2) == 4*log(T)*M**2/b", "M b", {"T": "[2, 1000000]"}),
        repair="Lemma 2.4 for the b samples, each nSG(2 M r/b) without a logarithm",
        saved_by=rates("log(T)*(b*(2*M/b)**2) <= log(T)*M**2/b", "T", "T M b", tilde=False),
        explain=(
            "Only the derivation is loose. A bounded vector is norm-sub-Gaussian by itself, so one use of Lemma 2.4 "
            "gives the one logarithm of (2)."
        ),
    ),
    row(
        "claim36/descent",
        "Claim 3.6",
        "smoothness at eta = 1/M with g = grad F - r gives -h^2/2 + r^2/2 (times eta)",
        identity("-h*(h - r) + (h - r)**2/2 == -h**2/2 + r**2/2", "h r"),
        severity=UTILITY,
    ),
    row(
        "claim37/constants",
        "Claim 3.7",
        "2 eta^2 t ((4/eta) D + 20 R + R) <= 8 eta Gamma D + 50 eta^2 t R for t <= Gamma, where D >= 0",
        inequality("2*eta**2*t*(4/eta*D + 20*R + R) <= 8*eta*Gam*D + 50*eta**2*t*R", "eta D R Gam", {"t": "(0, Gam]"}),
        severity=UTILITY,
        explain=(
            "D = F(x_0) - F(x_t), R the sum of squared errors; Claim 3.6 bounds the sum of squared gradients by "
            "(4/eta) D + 20 R. The sign of D: claim37/any_sign."
        ),
    ),
    row(
        "claim37/any_sign",
        "Claim 3.7",
        "the same step where F(x_t) > F(x_0), that is D < 0 (Claim 3.6 gives D >= -5 eta R)",
        inequality(
            "2*eta**2*t*(4/eta*D + 20*R + R) <= 8*eta*Gam*D + 50*eta**2*t*R",
            "eta R Gam",
            {"t": "(0, Gam]", "D": "[-5*eta*R, 0]"},
            hints=[{"eta": "1", "R": "1", "Gam": "10", "t": "1", "D": "-1"}],
        ),
        severity=UTILITY,
        corrected="8 eta t D + 42 eta^2 t R (t in place of Gamma), so that the printed 50 covers it",
        corrected_claim=identity(
            "2*eta**2*t*(4/eta*D + 20*R + R) == 8*eta*t*D + 42*eta**2*t*R", "eta R t", {"D": "[-5*eta*R, inf)"}
        ),
        repair="t in place of Gamma",
        saved_by=inequality(
            "2*eta**2*t*(4/eta*D + 20*R + R) <= 8*eta*t*D + 50*eta**2*t*R", "eta R t", {"D": "[-5*eta*R, inf)"}
        ),
    ),
    row(
        "claim37/first_error",
        "Claim 3.7",
        (
            "the sum of errors from i = 1 covers the first step, x_1 = x_0 - eta g_0, whose error is rho_0 (F = a x "
            "with a small slope, g_0 = g, later gradients exact, t = 1)"
        ),
        inequality(
            "(eta*g)**2 <= 8*eta*Gam*(a*eta*g) + 50*eta**2*0",
            "eta g a",
            {"Gam": "[1, 1000]"},
            hints=[{"eta": "1", "g": "1", "a": "1/100", "Gam": "1"}],
        ),
        severity=UTILITY,
        corrected="the sum starts at i = 0",
        repair="the sum starts at i = 0",
        saved_by=inequality(
            "(eta*g)**2 <= 8*eta*Gam*(a*eta*g) + 50*eta**2*(a - g)**2", "eta g a", {"Gam": "[1, 1000]"}
        ),
        explain="Numbers: g_0 = 1 on F = x/100 moves by 1, and the printed bound is 8/100.",
    ),
    row(
        "alg2/order",
        "Algorithm 2",
        "every variable is written before it is read",
        program(
            "x_0 g H Gamma Xi eta sigma",
            "3: y x_t <- x_0",
            "loop",
            "5: zeta <- sigma",
            "5b: g_t <- g H x_t x_0 zeta",
            "6: x_t <- x_t eta g_t",
            "if",
            "8: y <- x_t Xi x_0",
            "end",
            "end",
            "12: <- y",
        ),
    ),
]
