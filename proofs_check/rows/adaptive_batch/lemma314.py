"""adaptive_batch: rows of Lemma 3.14."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import PRIVACY, budget, identity, inequality, privacy, rates, units

from .privacy_terms import ESC, LEMMA_314, ONE_ESCAPE, SIZES, escapes, row

ROWS = [
    row(
        "lemma314/tau_below_one",
        "Lemma 3.14, Theorem 3.17",
        "tau = alpha^(3/2)/(M sqrt rho), the number of escapes per refresh, is at least 1 as alpha tends to 0",
        budget("1 <= alpha**(3/2)/(M*sqrt(rho))", "alpha M rho", scale="1/alpha", constants="M rho"),
        severity=PRIVACY,
        corrected="max(1, tau) in the formula of Lemma 3.13: so many escapes happen before count >= tau can stop them",
        corrected_by="lemma314/escape_noise_small_tau",
        condition="alpha^(3/2) >= M sqrt(rho), an accuracy that is worse than the problem constants",
        saved_by=budget("1 <= alpha**(3/2)/(M*sqrt(rho))", "M rho", {"alpha": "[(M*sqrt(rho))**(2/3), inf)"}),
    ),
    row(
        "lemma314/escape_noise_small_tau",
        "Lemma 3.13 with tau = 1/100",
        "one escape of Gamma steps with noise 2 Xi s_H sqrt(Gamma tau log(1/delta))/epsilon is (epsilon, delta)-DP",
        privacy(
            "2*sqrt(Gam*tau*log(1/delta))/epsilon",
            "1",
            "epsilon",
            "delta",
            "",
            ESC,
            count="Gam",
            instances=[{"epsilon": "1", "delta": "1/100000", "Gam": "100", "tau": "1/100"}],
            note="s_H Xi = 1; count >= tau stops only after the first escape",
        ),
        severity=PRIVACY,
        corrected="Gamma max(1, tau) in place of Gamma tau",
        corrected_claim=privacy(
            "2*sqrt(Gam*max(1, tau)*log(1/delta))/epsilon",
            "1",
            "epsilon",
            "delta",
            "",
            ESC,
            count="Gam*max(1, tau)",
            instances=[{"epsilon": "1", "delta": "1/100000", "Gam": "100", "tau": "1/100"}],
        ),
        condition=(
            "sigma_t, b and b_t with the values of Lemma 3.14 at B = G = M = rho = 1, where 2 log(1/delta) "
            "alpha/sqrt(d) is more than one escape needs (at small rho it is not: lemma314/sigma_t_small_rho)"
        ),
        saved_by=LEMMA_314,
        explain=(
            "Lemma 3.14 prescribes a tau below 1, and then the formula is short by 1/sqrt(tau) = sqrt(M) "
            "rho^(1/4)/alpha^(3/4). At B = G = M = rho = 1 its own sigma_t is not: b_t and the terms "
            "of b in G make one record's weight in H so small that an escape is private all the same."
        ),
        defect="lemma314/tau_below_one",
    ),
    row(
        "lemma314/tau_units",
        "Lemma 3.14",
        "tau = alpha^(3/2)/(M sqrt rho) is a pure number",
        units("alpha**(3/2)/(M*sqrt(rho)) == tau", free="tau", alpha="v/l", M="v/l**2", rho="v/l**3"),
        corrected="the printed value is a squared length; a count has no units",
        corrected_as_saved=True,
        degenerate="some length is taken as 1",
        saved_by=units("alpha**(3/2)/(M*sqrt(rho)) == tau", tau="l**2", alpha="v/l", M="v/l**2", rho="v/l**3"),
    ),
    row(
        "lemma314/b_first_terms_units",
        "Lemma 3.14",
        "G/alpha, G^2/alpha^2 and M^2/(rho alpha) are pure numbers",
        units(
            "G/alpha + G**2/alpha**2 + M**2/(rho*alpha) == b", free="b", G="v/l", alpha="v/l", M="v/l**2", rho="v/l**3"
        ),
    ),
    row(
        "lemma314/b_third_term_units",
        "Lemma 3.14",
        "M sqrt(d)/(rho epsilon) is a pure number",
        units("M/rho == b", free="b", M="v/l**2", rho="v/l**3"),
        corrected="it is a length",
        corrected_as_saved=True,
        degenerate="some length is taken as 1",
        saved_by=units("M/rho == b", b="l", M="v/l**2", rho="v/l**3"),
        defect="lemma314/tau_units",
    ),
    row(
        "lemma314/bt_units",
        "Lemma 3.14",
        "the three terms of b_t are pure numbers (kappa is a gradient)",
        units(
            "g/alpha + kappa*g/alpha**2 + rho*kappa*g/(M**2*alpha) == b",
            free="b",
            g="v/l",
            alpha="v/l",
            kappa="v/l",
            M="v/l**2",
            rho="v/l**3",
        ),
    ),
    row(
        "lemma314/kappa_units",
        "Lemma 3.16",
        "(B G M)^(1/3) is a gradient, like alpha",
        units("max(alpha, (B*G*M)**(1/3)) == g", alpha="v/l", B="v", G="v/l", M="v/l**2", g="v/l"),
    ),
    row(
        "lemma314/tree_bound",
        "B.4",
        "G/b + |g|/b_t <= 2 epsilon alpha/sqrt(d)",
        inequality(
            "G/b + g/bt <= 2*epsilon*alpha/sqrt(d)",
            "G g epsilon alpha d",
            {"b": "[G*sqrt(d)/(epsilon*alpha), inf)", "bt": "[g*sqrt(d)/(alpha*epsilon), inf)"},
        ),
        severity=PRIVACY,
    ),
    row(
        "lemma314/xi_gamma_tau",
        "B.4",
        "Xi sqrt(Gamma tau) = alpha/rho at gamma = alpha",
        identity("sqrt(alpha/rho)*sqrt(M/sqrt(rho*alpha)*alpha**(3/2)/(M*sqrt(rho))) == alpha/rho", "alpha rho M"),
        explain=(
            "The logarithms in Gamma and gamma are left out. sigma_t has room for them: it carries log(1/delta) "
            "where Lemma 3.13 asks for the root."
        ),
    ),
    row(
        "lemma314/escape_bound",
        "B.4",
        "(M/b + rho |x - x'|/b_t) 2 alpha/rho <= 2 epsilon alpha/sqrt(d) for alpha up to min(G, M)",
        inequality(
            "(M/b + rho*g/(M*bt))*2*alpha/rho <= 2*epsilon*alpha/sqrt(d)",
            "B alpha g rho",
            {"G": "[alpha, inf)", "M": "[alpha, inf)", "epsilon": "(0, 1]", "d": "[1, inf)"},
            let={**SIZES, "bt": "g*max(sqrt(d)/(alpha*epsilon), kappa/alpha**2, rho*kappa/(M**2*alpha))"},
            hints=[
                {"B": "1", "G": "1", "M": "1", "g": "1", "rho": "1/100", "alpha": "1/2", "epsilon": "1", "d": "10000"}
            ],
        ),
        corrected_claim=inequality(
            "(M/b + rho*g/(M*bt))*2*alpha/rho <= 2*(1 + alpha/M)*epsilon*alpha/sqrt(d)",
            "G M g rho alpha",
            {"epsilon": "(0, 1]", "d": "[1, inf)", "bt": "[g*sqrt(d)/(alpha*epsilon), inf)"},
            let={"b": SIZES["b"]},
        ),
        corrected="2 (1 + alpha/M) epsilon alpha/sqrt(d) for every alpha",
        condition="alpha (M/(rho G) + 1/M) <= 1, as for small alpha",
        saved_by=inequality(
            "(M/b + rho*g/(M*bt))*2*alpha/rho <= 2*epsilon*alpha/sqrt(d)",
            "G M g rho",
            {
                "alpha": "(0, 1/(M/(rho*G) + 1/M)]",
                "epsilon": "(0, 1]",
                "d": "[1, inf)",
                "bt": "[g*sqrt(d)/(alpha*epsilon), inf)",
            },
            let={"b": SIZES["b"]},
        ),
        explain="The term G sqrt(d)/(epsilon alpha) of b makes room for the second summand once alpha is small.",
    ),
    row(
        "lemma314/larger_tau",
        "B.4",
        (
            "derived: at tau = alpha^(-1/2) escapes of Gamma = alpha^(-1/2) steps keep (M/b + rho |x - x'|/b_t) Xi "
            "sqrt(Gamma tau) within the order of epsilon alpha/sqrt(d), by b's first and b_t's first term"
        ),
        rates(
            "(1/b + g/bt)*sqrt(alpha)*sqrt(Gam*tau) <= epsilon*alpha/sqrt(d)",
            "1/alpha",
            "alpha d epsilon g",
            let={
                "b": "sqrt(d)/(epsilon*alpha)",
                "bt": "g*sqrt(d)/(alpha*epsilon)",
                "Gam": "alpha**(-1/2)",
                "tau": "alpha**(-1/2)",
            },
        ),
        severity=PRIVACY,
        explain=(
            "B.4 bounds M/b by b's third term, and needs tau = alpha^(3/2). The first allows tau = alpha^(-1/2), "
            "and with it the rate of Theorem 3.17: see thm317/samples_with_larger_tau. G, M, rho constant."
        ),
        ours=True,
    ),
    row(
        "lemma314/larger_tau_accounted",
        "Lemma 3.14",
        (
            "derived: the noise 2 log(1/delta) alpha/sqrt(d) is (epsilon, delta)-DP for tau = alpha^(-1/2)/c "
            "escapes of Gamma = c alpha^(-1/2) steps, at B = G = M = rho = 1"
        ),
        escapes(
            "2*log(1/delta)*alpha/sqrt(d)",
            ONE_ESCAPE + "/(c*sqrt(alpha))",
            "10",
            ("1/10", "100"),
            ("1/100", "1000000"),
            ("1/1000000", "1000000"),
        ),
        severity=PRIVACY,
        ours=True,
    ),
]
