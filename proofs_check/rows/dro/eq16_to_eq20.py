"""dro: rows of eq16, eq17, eq18, thm7, eq19, eq20."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import UTILITY, budget, identity, inequality, rates, units

from .double_utility_terms import EASY, HARD, REGION, E, row

ROWS = [
    row(
        "eq16/half",
        "eq. (16)",
        "g^2/2 <= h^2 + (g - h)^2",
        inequality("g**2/2 <= h**2 + (g - h)**2", "", {"g": "[-10, 10]", "h": "[-10, 10]"}),
        severity=UTILITY,
    ),
    row(
        "eq17/inner_product",
        "eq. (17)",
        "-h g = -(g^2 + h^2 - (g - h)^2)/2",
        identity("-h*g == -(g**2 + h**2 - (g - h)**2)/2", "g h"),
        severity=UTILITY,
    ),
    row(
        "eq18/young",
        "eq. (18)",
        "a b/2 <= gamma a^2 + b^2/(16 gamma), with a = (L_1 + L_1 L_2 alpha) |g| and b = beta^2 |v|^2",
        inequality("a*b/2 <= gamma*a**2 + b**2/(16*gamma)", "a b gamma"),
        severity=UTILITY,
    ),
    row(
        "thm7/eta_coefficient",
        "Theorem 7, proof",
        "alpha/2 - L_2 alpha^2/2 = 3/(32 L_2) at alpha = 1/(4 L_2)",
        identity("alpha/2 - L2*alpha**2/2 == 3/(32*L2)", "L2", let={"alpha": "1/(4*L2)"}),
        severity=UTILITY,
    ),
    row(
        "thm7/L1_coefficient",
        "Theorem 7, proof",
        "(L_1 + L_1 L_2 alpha)^2 = 25 L_1^2/16 at alpha = 1/(4 L_2)",
        identity("(L1 + L1*L2*alpha)**2 == 25*L1**2/16", "L1 L2", let={"alpha": "1/(4*L2)"}),
        severity=UTILITY,
    ),
    row(
        "thm7/x_coefficient",
        "Theorem 7, proof",
        "beta/2 - L_0 beta^2/2 >= beta/4 for beta <= 1/(2 L_0)",
        inequality("beta/4 <= beta/2 - L0*beta**2/2", "L0", {"beta": "(0, 1/(2*L0)]"}),
        severity=UTILITY,
    ),
    row(
        "thm7/fourth_power",
        "Theorem 7, proof",
        "(beta |v|)^4/(8 gamma) <= 1/(8 gamma n^2 L_0^4) for beta |v| <= 1/(L_0 sqrt n)",
        inequality("x**4/(8*gamma) <= 1/(8*gamma*n**2*L0**4)", "gamma n L0", {"x": "(0, 1/(L0*sqrt(n))]"}),
        severity=UTILITY,
    ),
    row(
        "thm7/gamma_printed",
        "Theorem 7, proof",
        "gamma = 1/(50 L_1) leaves at least 1/(16 L_2) of 3/(32 L_2) - (25/16) gamma L_1^2",
        inequality("1/(16*L2) <= 3/(32*L2) - 25*L1**2/(16*50*L1)", "L1 L2", hints=[{"L1": "2", "L2": "1"}]),
        severity=UTILITY,
        corrected="gamma = 1/(50 L_1^2 L_2)",
        corrected_by="thm7/gamma_corrected",
        condition="L_1 L_2 <= 1",
        saved_by=inequality("1/(16*L2) <= 3/(32*L2) - 25*L1**2/(16*50*L1)", "L2", {"L1": "(0, 1/L2]"}),
        garbling="a lost square is possible; the square alone gives 3/32 L_2 - 1/32, which needs L_2 <= 1",
    ),
    row(
        "thm7/gamma_corrected",
        "Theorem 7, proof, corrected",
        "gamma = 1/(50 L_1^2 L_2) leaves exactly 1/(16 L_2)",
        identity("3/(32*L2) - 25*L1**2/(16*50*L1**2*L2) == 1/(16*L2)", "L1 L2"),
    ),
    row(
        "thm7/gamma_units",
        "Theorem 7, proof",
        "gamma L_1^2 g^2 is a value at gamma = 1/(50 L_1)",
        units("g**2*L1**2/L1 == f", g="v/l", L1="1/l", f="v"),
        severity=UTILITY,
        corrected="gamma = 1/(50 L_1^2 L_2)",
        repair="gamma = 1/(50 L_1^2 L_2)",
        saved_by=units("g**2*L1**2/(L1**2*L2) == f", g="v/l", L1="1/l", L2="v/l**2", f="v"),
        defect="thm7/gamma_printed",
    ),
    row(
        "thm7/fiftieth",
        "Theorem 7, proof",
        "gamma L_1^2 = L_1/50",
        identity("gamma*L1**2 == L1/50", "L1", let={"gamma": "1/(50*L1)"}),
    ),
    row(
        "thm7/fourth_power_small",
        "Theorem 7, proof",
        "7 L_1 T/(n^2 L_0^4), one of the five, is at most T/(6 n c_0) for every n, as the display has it",
        inequality(
            "7*L1/(n**2*L0**4) <= 1/(6*n*c0)", "L1 L0 c0 n", hints=[{"L1": "1", "L0": "1", "c0": "8", "n": "10"}]
        ),
        corrected="needs n >= 42 c_0 L_1/L_0^4",
        corrected_as_saved=True,
        condition="n >= 42 c_0 L_1/L_0^4",
        saved_by=inequality("7*L1/(n**2*L0**4) <= 1/(6*n*c0)", "L1 L0 c0", {"n": "[42*c0*L1/L0**4, inf)"}),
    ),
    row(
        "eq19/collected",
        "eq. (19)",
        "5/(6 n c_0) + 1/(6 n c_0) = 1/(n c_0) <= 1/(32 n L_2)",
        inequality("5/(6*n*c0) + 1/(6*n*c0) <= 1/(32*n*L2)", "n L0 L2", let={"c0": "32*L2 + 8*L0"}),
        severity=UTILITY,
        explain=(
            "c_0 = max(32 L_2, 8 L_0) >= 32 L_2; the row uses the sum, a number at least as large. The maximum is "
            "the next row."
        ),
    ),
    row(
        "eq20/c0",
        "eq. (20)",
        "32 L_2/c_0 <= 1, so (1/(32 L_2)) g^2 <= 1/(c_0 n) gives g^2 <= 1/n",
        inequality("32*L2 <= max(32*L2, 8*L0)", "L0 L2"),
        severity=UTILITY,
    ),
    row(
        "eq20/sigma_squared",
        "after eq. (20)",
        "E g^2 <= 1/n + sigma_1 + q sigma_2^2: sigma_1 and sigma_2^2 have the same units",
        units("s1 + s2**2 == g**2", s1="v/l", s2="v/l", g="v/l"),
        corrected="sigma_1^2",
        repair="sigma_1^2 was meant, as in the next display",
        saved_by=units("s1**2 + s2**2 == g**2", s1="v/l", s2="v/l", g="v/l"),
        garbling="a lost exponent is possible",
    ),
    row(
        "eq20/root_lost",
        "before 'Moreover, we can show'",
        "sqrt(a^2 + s^2) <= a + 3 s^2: the mean of a norm against squared noise levels",
        inequality("sqrt(a**2 + s**2) <= a + 3*s**2", "a s", hints=[{"a": "1/1000", "s": "1/10"}]),
        severity=UTILITY,
        corrected="a + s (roots of the noise levels)",
        repair="sigma_1 + sqrt(q) sigma_2 was meant, as for v two lines later",
        saved_by=inequality("sqrt(a**2 + s**2) <= a + s", "a s"),
        defect="eq20/sigma_squared",
    ),
    row(
        "eq20/norm_of_v",
        "after eq. (20)",
        "beta |v|^2 <= 1/n + sigma^2 with beta |v| = 1/sqrt n gives |v| <= 1/sqrt n + sigma (L_0 = 1)",
        rates("sqrt(n)*(1/n + s**2) <= 1/sqrt(n) + s", "n", "n s", conditions=("s <= 1",)),
        severity=UTILITY,
        corrected="|v| <= 1/sqrt n + sqrt(n) sigma^2",
        corrected_claim=inequality("v <= 1/sqrt(n) + sqrt(n)*s**2", "n s", {"v": "(0, sqrt(n)*(1/n + s**2)]"}),
        condition="sigma <= 1/sqrt n",
        saved_by=rates("sqrt(n)*(1/n + s**2) <= 1/sqrt(n) + s", "n", "n s", conditions=("s <= n**(-1/2)",)),
        explain=(
            "With the cap beta |v| = 1/(L_0 sqrt n) in force, |v| = L_0 sqrt n (beta |v|^2). sigma > 1/sqrt n is "
            "the regime in which the private term matters."
        ),
    ),
    row(
        "thm7/refresh_noise_rate",
        "Theorem 7, last display",
        "with T of the order n (T >= 6 n c_0 ...) the refresh noise d sigma_3^2 = (T/q) e^2 is within 1/n + e^(4/3)",
        rates(
            "T/q*e**2 <= 1/n + e**(4/3)",
            "n",
            "n d ell epsilon",
            conditions=REGION,
            let={**E, "q": "e**(-2/3)", "T": "n"},
        ),
        severity=UTILITY,
        corrected="T of the order e^(-4/3) where e > n^(-3/4)",
        corrected_by="thm7/refresh_noise_hard",
        condition="e <= n^(-3/4), where 1/sqrt n dominates the claim",
        saved_by=rates(
            "T/q*e**2 <= 1/n + e**(4/3)", "n", "n d ell epsilon", conditions=EASY, let={**E, "q": "e**(-2/3)", "T": "n"}
        ),
        explain=(
            "The private term of the claim, e^(2/3), matters only for e > n^(-3/4), and there the proof does "
            "not deliver it: T of the order n comes from the step cap 1/(L_0 sqrt n), which would have to "
            "change too."
        ),
    ),
    row(
        "thm7/refresh_noise_hard",
        "Theorem 7, in the regime e >= n^(-3/4)",
        "with T = e^(-4/3) the refresh noise is e^(4/3)",
        rates(
            "T/q*e**2 == e**(4/3)",
            "n",
            "n d ell epsilon",
            conditions=HARD,
            let={**E, "q": "e**(-2/3)", "T": "e**(-4/3)"},
        ),
        severity=UTILITY,
    ),
    row(
        "thm7/T_in_hard_regime",
        "Theorem 7",
        "T = e^(-4/3) meets the theorem's T >= 6 n c_0 (...)",
        budget("n <= T", "n d ell epsilon", scale="n", conditions=REGION, let={**E, "T": "e**(-4/3)"}),
        severity=UTILITY,
        corrected="for e <= n^(-3/4)",
        corrected_as_saved=True,
        condition="e <= n^(-3/4)",
        saved_by=budget("n <= T", "n d ell epsilon", scale="n", conditions=EASY, let={**E, "T": "e**(-4/3)"}),
        defect="thm7/refresh_noise_rate",
    ),
    row(
        "thm7/q_noise_rate",
        "Theorem 7, last display",
        "with N_4 = n, moves of 1/sqrt n and sigma_4's sqrt(T/q)/n, q d sigma_4^2 is within 1/n + e^(4/3)",
        rates(
            "q*(1/n)*d*ell/epsilon**2*T/(q*n**2) <= 1/n + e**(4/3)",
            "n",
            "n d ell epsilon",
            conditions=EASY,
            let={**E, "q": "e**(-2/3)", "T": "n"},
        ),
        severity=UTILITY,
    ),
    row(
        "thm7/small_N4",
        "Theorem 7, N_4 of the order q",
        "with N_4 = q (the least that the theorem asks for) the same noise is within 1/n + e^(4/3)",
        rates(
            "q*(1/n)*d*ell/epsilon**2*(1/N4)**2 <= 1/n + e**(4/3)",
            "n",
            "n d ell epsilon",
            conditions=REGION,
            let={**E, "q": "e**(-2/3)", "N4": "q"},
        ),
        severity=UTILITY,
        corrected="N_4 = n, even with the noise sqrt(T)/n that privacy needs",
        corrected_claim=rates(
            "q*(1/n)*d*ell/epsilon**2*max(1/N4, sqrt(T)/n)**2 <= 1/n + e**(4/3)",
            "n",
            "n d ell epsilon",
            conditions=REGION,
            let={**E, "q": "e**(-2/3)", "N4": "n", "T": "n"},
        ),
        condition="e <= n^(-3/4)",
        saved_by=rates(
            "q*(1/n)*d*ell/epsilon**2*(1/N4)**2 <= 1/n + e**(4/3)",
            "n",
            "n d ell epsilon",
            conditions=EASY,
            let={**E, "q": "e**(-2/3)", "N4": "q"},
        ),
        defect="thm7/refresh_noise_rate",
    ),
    row(
        "thm7/claimed_places",
        "eq. (4), (15), (21)",
        "the root of 1/n + e^(4/3) is 1/sqrt n + e^(2/3)",
        rates("sqrt(1/n + e**(4/3)) == 1/sqrt(n) + e**(2/3)", "n", "n d ell epsilon", conditions=REGION, let=E),
        severity=UTILITY,
    ),
]
