"""dro: rows of thm8, thm4."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import UTILITY, budget, rates, same, units

from .recursive_utility_terms import FULL_VALUES, REGION, T8, E, N, U, row

ROWS = [
    row(
        "thm8/steps_units",
        "Theorem 8, T",
        "(Psi_0 L)^(1/4)/sqrt(G) is a pure number",
        units("(Psi0*L)**(1/4)*n/sqrt(G*d) == one", free="one n d", **U),
        severity=UTILITY,
    ),
    row(
        "thm8/batch_units",
        "Theorem 8, b_2",
        "both terms of b_2 are pure numbers",
        units("max(G*n/sqrt(Psi0*L*d), (G*n*d)**(1/3)/(L*Psi0)**(1/6)) == one", free="one n d", **U),
        severity=UTILITY,
    ),
    row(
        "thm8/phase_units",
        "Theorem 8, q",
        "n^2 epsilon^2/(L^2 T d log(1/delta)) is a pure number",
        units("n**2/(L**2*T*d) == q", free="n d T q", **U),
        severity=UTILITY,
        corrected="without L^2: T is a pure number",
        repair="without L^2, as the units ask",
        saved_by=units("n**2/((Psi0*L)**(1/3)*n**(4/3)/(G*d)**(2/3)*d) == q", free="n d q", **U),
    ),
    row(
        "thm8/smallest_n_first_units",
        "Theorem 8, first condition on n",
        "(G epsilon)^2/(Psi_0 L d log(1/delta)) is a pure number",
        units("G**2*epsilon**2/(Psi0*L*d) == n", free="n d epsilon", **U),
    ),
    row(
        "thm8/smallest_n_second_units",
        "Theorem 8, condition on n",
        "sqrt(L Psi_0/G) is a pure number",
        units("sqrt(L*Psi0/G) == one", free="one", **U),
        corrected="sqrt(L Psi_0)/G",
        corrected_as_saved=True,
        reading="the root covers L Psi_0 only",
        saved_by=units("sqrt(L*Psi0)/G == one", free="one", **U),
        garbling="the extent of the root may be lost in rendering; the plain text repeats it twice",
    ),
    row(
        "thm8/smallest_n_places",
        "Theorem 8",
        "the two conditions on n agree: (G epsilon)^2 or (L_0)^2 in the numerator",
        same({"first": "(G*epsilon)**2", "second": "L0**2"}, "G L0", {"epsilon": "(0, 1]"}),
        corrected="(G epsilon)^2, which makes it a pure number",
        corrected_by="thm8/smallest_n_first_units",
        explain="L_0 is a Lipschitz constant in the cited paper and a smoothness constant here.",
        reading="L_0 is the cited paper's name of G epsilon",
        saved_by=same(
            {"first": "(G*epsilon)**2", "second": "L0**2"}, "G", {"epsilon": "(0, 1]"}, let={"L0": "G*epsilon"}
        ),
    ),
    row(
        "thm8/bound_units",
        "Theorem 8, bound",
        "(sqrt(Psi_0 L G))^(2/3) is a gradient",
        units("(Psi0*L*G)**(1/3) == g", g="v/l", **U),
        severity=UTILITY,
    ),
    row(
        "thm8/q_at_least_one",
        "Theorem 8, q",
        "q = floor(n^2 epsilon^2/(L^2 T d log(1/delta))) is at least 1, G = Psi_0 = 1",
        budget(
            "1 <= n**2*epsilon**2/(L**2*T*D)",
            "",
            {"n": "[100, 1000000]", "epsilon": "[1/100, 1]", "D": "[1, 1000]", "L": "[1, 100]"},
            conditions=("D <= n*epsilon",),
            let={"T": "max((L**(1/4)*n*epsilon/sqrt(D))**(4/3), n*epsilon/sqrt(D))"},
            hints=[{"n": "1000", "epsilon": "1", "D": "100", "L": "10"}],
        ),
        severity=UTILITY,
        corrected=(
            "q without L^2, and n epsilon >= sqrt(L d log(1/delta)), the second condition on n with the logarithm"
        ),
        corrected_claim=budget(
            "1 <= n**2*epsilon**2/(T*D)",
            "",
            {"n": "[100, 1000000]", "epsilon": "[1/100, 1]", "D": "[1, 1000]", "L": "[1, 100]"},
            conditions=("L*D <= n**2*epsilon**2",),
            let={"T": "max((L**(1/4)*n*epsilon/sqrt(D))**(4/3), n*epsilon/sqrt(D))"},
        ),
        condition="L a constant, in the order",
        saved_by=budget("1 <= q", N, scale="n", conditions=REGION, let=T8),
        explain="D stands for d log(1/delta). A phase of length zero cannot be run.",
    ),
    row(
        "thm8/q_order",
        "Theorem 8, q",
        "q is of the order e^(-2/3), as in Theorem 7",
        rates("q == e**(-2/3)", "n", N, conditions=REGION, let=T8),
        severity=UTILITY,
    ),
    row(
        "thm8/T_first_term",
        "Theorem 8, T",
        "the first term of T, e^(-4/3), is the larger one",
        rates("1/e <= e**(-4/3)", "n", N, conditions=REGION, let=E),
    ),
    row("thm8/T_at_least_q", "Theorem 8", "T >= q", budget("q <= T", N, scale="n", conditions=REGION, let=T8)),
    row(
        "thm8/b2_at_most_n",
        "Theorem 8",
        "b_2 <= n",
        budget("b2 <= n", N, scale="n", conditions=("d >= 1", "ell >= 1", "epsilon <= 1"), let=T8),
        corrected="for d log(1/delta) <= n^2 epsilon^2",
        explain="At d = 100, n = 20, delta = 1e-6 and constants 1, b_2 = 30.",
        corrected_as_saved=True,
        condition="d log(1/delta) <= n^2 epsilon^2, below which the rate says nothing",
        saved_by=budget("b2 <= n", N, scale="n", conditions=REGION, let=T8),
    ),
    row(
        "thm8/refresh_noise",
        "Theorem 8, tau_1",
        "tau_1^2 = T A_d^2/q is e^(4/3)",
        rates("T*e**2/q == e**(4/3)", "n", N, conditions=REGION, let=T8),
        severity=UTILITY,
    ),
    row(
        "thm8/difference_noise",
        "Theorem 8, tau_2",
        "q tau_2^2/T with tau_2^2 = 1/b_2 + T A_d^2 is within e^(4/3)",
        rates("q/T*(1/b2 + T*e**2) <= e**(4/3)", "n", N, conditions=REGION, let=T8),
        severity=UTILITY,
    ),
    row(
        "thm8/value_noise",
        "Theorem 8, sigma_(s_t)",
        (
            "the noise T log(1/delta)/(n epsilon)^2 of s_t alone, which Lemma 7 passes on to the gradient error, is "
            "within the squared claim e^(4/3)"
        ),
        rates("T*ell/(n*epsilon)**2 <= e**(4/3)", "n", N, conditions=REGION, let=T8),
        severity=UTILITY,
        corrected="d >= e^(-2/3)",
        corrected_as_saved=True,
        condition="d >= e^(-2/3)",
        saved_by=FULL_VALUES,
        explain="T log(1/delta)/(n epsilon)^2 = T e^2/d = e^(2/3)/d.",
    ),
    row(
        "thm8/value_noise_repaired",
        "Theorem 8 with private noise for one record per step",
        (
            "inferred, not claimed: noise of the order 1/epsilon^2 in s_t, which line 16 needs to be private, is "
            "within e^(4/3)"
        ),
        rates("1/epsilon**2 <= e**(4/3)", "n", N, conditions=REGION, let=T8),
        severity=UTILITY,
        corrected=(
            "read s over the whole data set at each step, with sigma_s^2 = T log(1/delta)/(n epsilon)^2 and d"
            " >= e^(-2/3)"
        ),
        repair="s over all n records and d >= e^(-2/3)",
        saved_by=FULL_VALUES,
        ours=True,
    ),
    row(
        "thm8/storm_rate",
        "Lemma 9 with T = e^(-4/3)",
        "a STORM average error of order T^(-1/3) in norm is within e^(2/3)",
        rates("T**(-1/3) <= e**(2/3)", "n", N, conditions=REGION, let=T8),
        severity=UTILITY,
        corrected="e^(4/9) at this T",
        corrected_claim=rates("T**(-1/3) == e**(4/9)", "n", N, conditions=REGION, let=T8),
        repair="s over all n records, which leaves the noise alone, and d >= e^(-2/3)",
        saved_by=FULL_VALUES,
        explain=(
            "Lemma 9: sum eta_t E|X_t|^2 is of order log T, eta_T of order T^(-1/3). e^(2/3) needs T = e^-2, "
            "and then the squared error with the privacy noise recomputed is of order e, above e^(4/3)."
        ),
    ),
    row(
        "thm8/root_of_last_display",
        "Theorem 8, last display",
        "E|grad Psi|^2 <= e^(2/3) gives the theorem's E|grad Psi| <= e^(2/3)",
        rates("sqrt(e**(2/3)) <= e**(2/3)", "n", N, conditions=REGION, let=E),
        severity=UTILITY,
        corrected="the display must have e^(4/3)",
        repair="e^(4/3) was meant",
        saved_by=rates("sqrt(e**(4/3)) <= e**(2/3)", "n", N, conditions=REGION, let=E),
    ),
]
