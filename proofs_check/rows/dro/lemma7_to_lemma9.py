"""dro: rows of lemma7, lemma8, assumption4, lemma9."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import UTILITY, budget, identity, inequality, same

from .recursive_utility_terms import C9, CUBE, K9, LEMMA_7, M9, STORM, row

ROWS = [
    row(
        "lemma7/statement_places",
        "Lemma 7 against its proof",
        "the bound is the same (X, V, U the three squared errors)",
        same({"lemma": "4*LP**2*X + V + U", "proof": "4*LP**2*(X + V + U)"}, "LP X V U"),
        severity=UTILITY,
        corrected="4 L_Psi^2 (X + V + U), for L_Psi^2 = max(L_g^2 L_(grad f)^2 + 1/2, L_f^2)",
        corrected_claim=LEMMA_7,
        repair="a bracket was lost",
        saved_by=same({"lemma": "4*LP**2*(X + V + U)", "proof": "4*LP**2*(X + V + U)"}, "LP X V U"),
        garbling="a lost bracket is possible",
    ),
    row(
        "lemma7/two_terms",
        "Lemma 7, eq. (25)",
        "|a + b|^2 <= 2|a|^2 + 2|b|^2",
        inequality("(a + b)**2 <= 2*a**2 + 2*b**2", "a b"),
    ),
    row(
        "lemma7/log_lipschitz",
        "Lemma 7, proof",
        "|log x - log y| <= |x - y| for x, y >= 1",
        inequality("log(y + t) - log(y) <= t", "", {"y": "[1, 1000]", "t": "[0, 1000]"}),
    ),
    row(
        "lemma7/log_needs_one",
        "Lemma 7, proof, with Algorithm 3",
        "the same for every s_t > 0 that the noise can produce",
        inequality("log(y + t) - log(y) <= t", "", {"y": "(0, 1)", "t": "(0, 1)"}, hints=[{"y": "1/10", "t": "1/10"}]),
        severity=UTILITY,
        corrected="floor s_t at 1",
        corrected_as_saved=True,
        condition="s_t is floored at 1",
        saved_by=inequality("log(y + t) - log(y) <= t", "", {"y": "[1, 1000]", "t": "[0, 1000]"}),
    ),
    row(
        "lemma7/collected",
        "Lemma 7, eq. (25) and (26) without the last term of (26)",
        "2 (2 a X + 2 b Q) + 2 X = (4 a + 2) X + 4 b Q",
        identity("2*(2*a*X + 2*b*Q) + 2*X == (4*a + 2)*X + 4*b*Q", "a b X Q"),
    ),
    row(
        "lemma7/term_twice",
        "Lemma 7, eq. (26)",
        "with the 2|g - s|^2 that (26) repeats, the sum still is (4 a + 2) X + 4 b Q",
        identity("2*(2*a*X + 2*b*Q + 2*X) + 2*X == (4*a + 2)*X + 4*b*Q", "a b X Q"),
        corrected="(26) must not repeat the term of (25)",
        repair="the repeated term is a slip",
        saved_by=identity("2*(2*a*X + 2*b*Q) + 2*X == (4*a + 2)*X + 4*b*Q", "a b X Q"),
    ),
    row(
        "lemma7/square_of_Lf",
        "Lemma 7, eq. (26) against the next display",
        "the constant of |q - grad g|^2 is the same: 2 L_f or 2 L_f^2",
        same({"(26)": "2*Lf", "next display": "2*Lf**2"}, "Lf"),
        corrected="2 L_f^2, as the square of f' <= L_f asks",
        corrected_claim=inequality("2*(f*e)**2 <= 2*Lf**2*e**2", "Lf e", {"f": "[-Lf, Lf]"}),
        repair="a lost exponent",
        saved_by=same({"(26)": "2*Lf**2", "next display": "2*Lf**2"}, "Lf"),
        garbling="a lost exponent is possible",
    ),
    row(
        "lemma7/L_Psi",
        "Lemma 7, last step",
        (
            "4 L_g^2 L_(grad f)^2 + 2 <= 4 L_Psi^2 for the Lipschitz constant L_Psi <= L_f L_g of F, as the proof "
            "defines it"
        ),
        inequality("4*Lg**2*Lh**2 + 2 <= 4*(Lf*Lg)**2", "Lg Lf Lh", hints=[{"Lg": "1", "Lf": "1", "Lh": "1"}]),
        severity=UTILITY,
        corrected="define L_Psi^2 = max(L_g^2 L_(grad f)^2 + 1/2, L_f^2)",
        corrected_by="lemma7/statement_places",
        repair="L_Psi is any constant that is large enough",
        saved_by=inequality("4*Lg**2*Lh**2 + 2 <= 4*LP**2", "Lg Lh", {"LP": "[sqrt(Lg**2*Lh**2 + 1/2), inf)"}),
        explain="The same letter serves as a smoothness constant in (39).",
    ),
    row(
        "lemma8/decomposition",
        "Lemma 8, proof",
        "s' - g' = (1 - b)(s - g) + b (x' - g') + (1 - b)((x' - x) - (g' - g)) for s' = x' + (1 - b)(s - x)",
        STORM,
        severity=UTILITY,
        explain="Holds for the proof's recursion, not for line 16 as printed.",
    ),
    row(
        "lemma8/decomposition_printed",
        "Lemma 8, proof, with line 16 as printed",
        "the same for s' = x' + (1 - b)(s - x')",
        identity(
            "x1 + (1 - b)*(s - x1) - g1 == (1 - b)*(s - g0) + b*(x1 - g1) + (1 - b)*((x1 - x0) - (g1 - g0))",
            "x0 x1 g0 g1 s b",
        ),
        severity=UTILITY,
        corrected="line 16 must subtract the value at w_(t-1)",
        corrected_as_saved=True,
        reading="Lemma 8's recursion",
        saved_by=STORM,
        defect="alg3/storm_recursion",
    ),
    row(
        "lemma8/variance_of_difference",
        "Lemma 8, proof",
        "E(a - m)^2 <= E a^2 with m the mean of a: at two equally likely values",
        inequality(
            "((a - (a + b)/2)**2 + (b - (a + b)/2)**2)/2 <= (a**2 + b**2)/2", "", {"a": "[-10, 10]", "b": "[-10, 10]"}
        ),
    ),
    row(
        "lemma8/statement",
        "Lemma 8 against its proof",
        (
            "2 beta^2 sigma^2 + 2 (1 - beta)^2 L_g^2 D is within 6 beta^2 sigma^2 + 8 (1 - beta)^2 L_Psi^2 D for "
            "L_g <= 2 L_Psi"
        ),
        inequality("2*b**2*s**2 + 2*k*Lg**2*D <= 6*b**2*s**2 + 8*k*LP**2*D", "b s k D LP", {"Lg": "(0, 2*LP]"}),
        explain="k stands for (1 - beta)^2.",
    ),
    row(
        "assumption4/squares",
        "Assumption 4",
        "sigma^2 = max(sigma_g, sigma_(grad g)) is a bound of both variances",
        same({"printed": "max(sg, sn)", "needed": "max(sg**2, sn**2)"}, "sg sn"),
        corrected="max(sigma_g^2, sigma_(grad g)^2)",
        corrected_claim=inequality("max(V, W) <= max(sg**2, sn**2)", "sg sn", {"V": "[0, sg**2]", "W": "[0, sn**2]"}),
        repair="squares were meant",
        saved_by=same({"printed": "max(sg**2, sn**2)", "needed": "max(sg**2, sn**2)"}, "sg sn"),
        garbling="lost exponents are possible",
    ),
    row(
        "lemma9/largest_step",
        "Lemma 9, proof",
        "eta_1 <= 1/(4 L_Psi) with m = max{2 sigma^2, (16 L_Psi^2 k)^2}",
        inequality("eta1 <= 1/(4*LP)", "sigma LP", let=M9, hints=[{"sigma": "1000", "LP": "1"}]),
        severity=UTILITY,
        corrected="m = max{2 sigma^2, (16 L_Psi k)^3}: then eta_1 <= 1/(16 L_Psi)",
        repair="the cube, as in STORM",
        saved_by=inequality("eta1 <= 1/(16*LP)", "sigma LP", let=CUBE),
        explain="k/m^(1/3) with m >= (16 L_Psi k)^3 is at most 1/(16 L_Psi).",
    ),
    row(
        "lemma9/momentum_at_most_one",
        "Lemma 9",
        "beta_1 = c eta_1^2 <= 1",
        budget(
            "c*eta1**2 <= 1", "sigma LP", let={**M9, "c": C9 + " + 130*LP**2"}, hints=[{"sigma": "1000", "LP": "1"}]
        ),
        severity=UTILITY,
        corrected="m = max{2 sigma^2, (16 L_Psi k)^3}: then c eta^2 <= (1/14 + 130)/256",
        repair="the cube in m",
        saved_by=budget("c*eta1**2 <= (1/14 + 130)/256", "sigma LP", let={**CUBE, "c": C9 + " + 130*LP**2"}),
        defect="lemma9/largest_step",
    ),
    row(
        "lemma9/c_value",
        "Lemma 9",
        "sigma^2/(14 L_Psi k^3) = L_Psi^2/14 at k = sigma^(2/3)/L_Psi",
        identity(C9 + " == LP**2/14", "sigma LP", let=K9),
    ),
    row(
        "lemma9/cube_root_concave",
        "Lemma 9, eq. (27), (a)",
        "(x + y)^(1/3) - x^(1/3) <= y x^(-2/3)/3",
        inequality("(x + y)**(1/3) - x**(1/3) <= y*x**(-2/3)/3", "", {"x": "[1, 100]", "y": "[0, 100]"}),
    ),
    row(
        "lemma9/shift",
        "Lemma 9, (b)",
        "m >= 2 sigma^2 gives m + (t - 1) sigma^2 >= m/2 + t sigma^2",
        inequality("m/2 + t*s <= m + (t - 1)*s", "s", {"t": "[1, 1000]", "m": "[2*s, inf)"}),
        explain="s stands for sigma^2.",
    ),
    row(
        "lemma9/half",
        "Lemma 9, eq. (28)",
        "sigma^2/(3k (m/2 + t sigma^2/2)^(2/3)) = 2^(2/3) sigma^2/(3k (m + t sigma^2)^(2/3))",
        identity("s/(3*k*(m/2 + t*s/2)**(2/3)) == 2**(2/3)*s/(3*k*(m + t*s)**(2/3))", "s k m t"),
    ),
    row(
        "lemma9/in_eta",
        "Lemma 9, eq. (29)",
        "2^(2/3) sigma^2/(3k (m + t sigma^2)^(2/3)) = 2^(2/3) sigma^2 eta^2/(3 k^3)",
        identity(
            "2**(2/3)*s/(3*k*(m + t*s)**(2/3)) == 2**(2/3)*s*eta**2/(3*k**3)",
            "s k m t",
            let={"eta": "k/(m + t*s)**(1/3)"},
        ),
    ),
    row("lemma9/seventh", "Lemma 9, eq. (29), (c)", "2^(2/3)/12 <= 1/7", inequality("2**(2/3)/12 <= 1/7")),
    row(
        "lemma9/sigma_lost",
        "Lemma 9, eq. (29)",
        "the middle term 2^(2/3) eta/(12 L_Psi k^3) carries sigma^2 like its neighbours",
        same({"neighbours": "2**(2/3)*s*eta/(12*LP*k**3)", "middle": "2**(2/3)*eta/(12*LP*k**3)"}, "s eta LP k"),
        corrected="with sigma^2: eta_t <= 1/(4 L_Psi) in the term before it",
        corrected_claim=inequality(
            "2**(2/3)*s*eta**2/(3*k**3) <= 2**(2/3)*s*eta/(12*LP*k**3)", "s k LP", {"eta": "(0, 1/(4*LP)]"}
        ),
        repair="sigma^2 was lost",
        saved_by=same(
            {"neighbours": "2**(2/3)*s*eta/(12*LP*k**3)", "middle": "2**(2/3)*s*eta/(12*LP*k**3)"}, "s eta LP k"
        ),
        garbling="a lost factor is possible",
    ),
    row(
        "lemma9/square_of_momentum",
        "Lemma 9, eq. (31)",
        "(1 - c eta^2)^2/eta <= 1/eta - 2 c eta",
        inequality("(1 - c*eta**2)**2/eta <= 1/eta - 2*c*eta", "c", {"eta": "(0, 1/sqrt(c))"}),
        severity=UTILITY,
        corrected="1/eta - c eta, from (1 - beta)^2 <= 1 - beta",
        repair="1/eta - c eta with c doubled",
        saved_by=inequality("(1 - c*eta**2)**2/eta <= 1/eta - c*eta", "c", {"eta": "(0, 1/sqrt(c)]"}),
        explain=(
            "The left side is 1/eta - 2 c eta + c^2 eta^3. c must then be twice as large, and m with it, or "
            "beta_1 would be 1.016."
        ),
    ),
    row(
        "lemma9/c_places",
        "Lemma 9 against the display after (32)",
        "c is the same: 130 L_Psi^2 or 130 L_Psi",
        same({"lemma": C9 + " + 130*LP**2", "display": C9 + " + 130*LP"}, "sigma k LP"),
        severity=UTILITY,
        corrected="130 L_Psi^4, which (32) needs",
        corrected_by="lemma9/260",
        degenerate="L_Psi = 1",
        saved_by=same({"lemma": C9 + " + 130*LP**2", "display": C9 + " + 130*LP"}, "sigma k", let={"LP": "1"}),
    ),
    row(
        "lemma9/c_without_sigma",
        "Lemma 9 against the display after (32)",
        "the first term of c is the same: sigma^2/(14 L_Psi k^3) or 1/(14 L_Psi k^3)",
        same({"lemma": C9, "display": "1/(14*LP*k**3)"}, "sigma k LP"),
        corrected="with sigma^2: twice that is the sigma^2/(7 L_Psi k^3) of (29)",
        corrected_claim=identity("2*(s/(14*LP*k**3)) == s/(7*LP*k**3)", "s LP k"),
        repair="sigma^2 was lost",
        saved_by=same({"lemma": C9, "display": C9}, "sigma k LP"),
        garbling="a lost factor is possible",
        defect="lemma9/sigma_lost",
    ),
    row(
        "lemma9/260",
        "Lemma 9, eq. (32)",
        "sigma^2 eta/(7 L_Psi k^3) - 2 c eta = -260 L_Psi^4 eta with the lemma's c",
        identity(f"{C9}*2*eta - 2*({C9} + 130*LP**2)*eta == -260*LP**4*eta", "sigma k LP eta"),
        severity=UTILITY,
        corrected="c with 130 L_Psi^4",
        repair="c with 130 L_Psi^4",
        saved_by=identity(f"{C9}*2*eta - 2*({C9} + 130*LP**4)*eta == -260*LP**4*eta", "sigma k LP eta"),
    ),
    row(
        "lemma9/260_small_LPsi",
        "Lemma 9, eq. (32)",
        "-260 L_Psi^2 <= -260 L_Psi^4, the inequality that (32) needs, holds for L_Psi <= 1",
        inequality("260*LP**4 <= 260*LP**2", "", {"LP": "(0, 1]"}),
        severity=UTILITY,
    ),
    row(
        "lemma9/sigma_exponent",
        "Lemma 9 against (30) and (38)",
        "the sum has the same power of sigma: sigma^-2 or sigma^2",
        same({"lemma": "6*c**2*eta**3/s", "(30), (38)": "6*c**2*eta**3*s"}, "c eta s"),
        corrected="sigma^2: it is 6 beta_t^2 sigma^2/eta_t (Lemma 8)",
        corrected_claim=identity("6*(c*eta**2)**2*s/eta == 6*c**2*eta**3*s", "c eta s"),
        repair="the minus sign is a slip",
        saved_by=same({"lemma": "6*c**2*eta**3*s", "(30), (38)": "6*c**2*eta**3*s"}, "c eta s"),
        garbling="a stray minus is possible",
    ),
    row(
        "lemma9/eight",
        "Lemma 9, eq. (36)",
        "4/(1 - 2 eta L_Psi) <= 8 for eta L_Psi <= 1/4",
        inequality("4/(1 - 2*x) <= 8", "", {"x": "[0, 1/4]"}),
    ),
    row("lemma9/32", "Lemma 9, eq. (37)", "8 * 4 L_Psi^2 = 32 L_Psi^2", identity("8*(4*LP**2) == 32*LP**2", "LP")),
]
