"""adaptive_batch: rows of thm34, prop310, lemma311, lemma314, lemma315, lemma316."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import UTILITY, budget, identity, inequality, rates, same

from .utility_terms import ALPHA, C3, REGION, row

ROWS = [
    row(
        "thm34/small_ball",
        "A.5",
        "P(|N(0, 2 sigma_0^2)| <= mu gamma) <= iota^2/16 at mu = iota^2/(4 sqrt d), sigma_0 = gamma/sqrt(d ell)",
        inequality(
            "2*Phi(iota**2*sqrt(ell)/(4*sqrt(2))) - 1 <= iota**2/16", "", {"iota": "[1/100, 1/2]", "ell": "[3, 30]"}
        ),
        corrected="mu = iota^2/(16 sqrt(d log(T/iota)))",
        repair="mu smaller by sqrt(log(T/iota)) and a constant",
        saved_by=inequality("2*Phi(iota**2/(16*sqrt(2))) - 1 <= iota**2/16", "", {"iota": "[1/100, 1/2]"}),
        explain="ell = log(T/iota).",
    ),
    row(
        "thm34/conditioning",
        "A.5",
        "(iota^2/16)/(1 - iota) <= iota^2/4 for iota <= 1/2",
        inequality("iota**2/16/(1 - iota) <= iota**2/4", "", {"iota": "[1/1000, 1/2]"}),
    ),
    row("thm34/root", "A.5", "sqrt(iota^2/4) = iota/2", identity("sqrt(iota**2/4) == iota/2", "iota")),
    row(
        "prop310/iterations",
        "Proposition 3.10",
        "B divided by the average decrease gamma^2/M is T = B M/gamma^2",
        identity("B/(gamma**2/M) == B/(eta*gamma**2)", "B gamma M", let={"eta": "1/M"}),
    ),
    row(
        "prop310/average_decrease",
        "after Proposition 3.10",
        "the value decreases by eta/gamma^2 per step on average",
        rates("eta*gamma**2 == eta/gamma**2", "1/gamma", "eta gamma"),
        corrected="eta gamma^2: gamma^(3/2)/sqrt(rho) in M/sqrt(rho gamma) steps, as after Theorem 3.4",
        corrected_claim=identity(
            "Phi/Gam == eta*gamma**2",
            "gamma rho M",
            let={"Phi": "gamma**(3/2)/sqrt(rho)", "Gam": "M/sqrt(rho*gamma)", "eta": "1/M"},
        ),
        repair="gamma^2 in the numerator",
        saved_by=rates("eta*gamma**2 == eta*gamma**2", "1/gamma", "eta gamma"),
        garbling="a product rendered as a fraction is possible",
    ),
    row(
        "lemma311/gradient_range",
        "B.1",
        "two gradients of norm <= G differ by at most 2G",
        inequality("abs(a - b) <= 2*G", "G", {"a": "[-G, G]", "b": "[-G, G]"}),
    ),
    row(
        "lemma314/gradient_refresh",
        "B.4",
        "G^2/b <= alpha^2",
        inequality("G**2/b <= alpha**2", "G alpha", {"b": "[G**2/alpha**2, inf)"}),
        severity=UTILITY,
    ),
    row(
        "lemma314/gradient_steps",
        "B.4",
        "|g|^2/b_t <= |g| alpha^2/kappa",
        inequality("g**2/bt <= g*alpha**2/kappa", "g alpha kappa", {"bt": "[kappa*g/alpha**2, inf)"}),
        severity=UTILITY,
    ),
    row(
        "lemma314/hessian_refresh",
        "B.4",
        "M^2/b <= rho alpha",
        inequality("M**2/b <= rho*alpha", "M rho alpha", {"b": "[M**2/(rho*alpha), inf)"}),
        severity=UTILITY,
    ),
    row(
        "lemma314/hessian_steps",
        "B.4",
        "rho^2 |g|^2/(M^2 b_t) <= rho alpha |g|/kappa",
        inequality(
            "rho**2*g**2/(M**2*bt) <= rho*alpha*g/kappa",
            "rho g M alpha kappa",
            {"bt": "[rho*kappa*g/(M**2*alpha), inf)"},
        ),
        severity=UTILITY,
    ),
    row(
        "lemma315/forced_refreshes",
        "Lemma 3.15",
        "B M/(kappa gamma) + B/(Phi tau) refreshes are O(B M/(kappa gamma)), tau = alpha^(3/2)",
        rates(
            "1/(kappa*alpha) + 1/(Phi*tau) <= 1/(kappa*alpha)",
            "1/alpha",
            "alpha kappa",
            constants="",
            conditions=("kappa >= 1",),
            let={"Phi": "alpha**(3/2)", "tau": "alpha**(3/2)"},
        ),
        severity=UTILITY,
        corrected="B/(Phi tau) = alpha^-3, which is within 1/(kappa alpha) for kappa <= alpha^2",
        corrected_claim=rates(
            "1/(Phi*tau) <= 1/(kappa*alpha)",
            "1/alpha",
            "alpha kappa",
            conditions=("kappa <= alpha**2",),
            let={"Phi": "alpha**(3/2)", "tau": "alpha**(3/2)"},
        ),
        repair="tau = alpha^(-1/2), which privacy allows (lemma314/larger_tau), and a constant kappa",
        saved_by=rates(
            "1/alpha + 1/(Phi*tau) <= 1/alpha", "1/alpha", "alpha", let={"Phi": "alpha**(3/2)", "tau": "alpha**(-1/2)"}
        ),
        explain=(
            "B, M, rho constant. kappa >= (B G M)^(1/3) is a constant. For larger kappa the refreshes forced by "
            "escapes lead, and their records still fit: thm317/samples_with_larger_tau."
        ),
        defect="lemma314/tau_below_one",
    ),
    row(
        "lemma315/one_refresh_per_escape",
        "Lemma 3.15",
        (
            "inferred: with one refresh per escape (tau rounded up to 1), 1/(kappa gamma) + 1/Phi refreshes are "
            "O(1/(kappa gamma))"
        ),
        rates(
            "1/(kappa*alpha) + 1/Phi <= 1/(kappa*alpha)",
            "1/alpha",
            "alpha kappa",
            conditions=("kappa >= 1",),
            let={"Phi": "alpha**(3/2)"},
        ),
        severity=UTILITY,
        corrected=(
            "at tau <= 1 the alpha^(-3/2) refreshes of b records fit into n at alpha = n^(-2/7) + "
            "(sqrt(d)/(n epsilon))^(2/5); a larger tau mends it"
        ),
        corrected_claim=budget(
            "b*alpha**(-3/2) <= n",
            "n d epsilon",
            conditions=REGION,
            scale="n",
            let={**ALPHA, "alpha": "e**(2/5) + n**(-2/7)"},
        ),
        repair="tau = alpha^(-1/2) and a constant kappa",
        saved_by=rates(
            "1/alpha + 1/(Phi*tau) <= 1/alpha", "1/alpha", "alpha", let={"Phi": "alpha**(3/2)", "tau": "alpha**(-1/2)"}
        ),
        defect="lemma314/tau_below_one",
        ours=True,
    ),
    row(
        "lemma315/O2_count",
        "Lemma 3.15",
        "(sqrt(d)/(alpha epsilon) + kappa/alpha^2 + rho kappa/(M^2 alpha)) B M/gamma + B M/gamma^2 is the printed sum",
        identity(
            (
                "(sqrt(d)/(a*epsilon) + kappa/a**2 + rho*kappa/(M**2*a))*B*M/a + B*M/a**2 == "
                "B*M*(sqrt(d)/(a**2*epsilon) + kappa/a**3 + rho*kappa/(M**2*a**2) + 1/a**2)"
            ),
            "d a epsilon kappa rho M B",
        ),
    ),
    row(
        "lemma315/escapes_times_steps",
        "Lemma 3.15",
        "B/Phi escapes of Gamma steps fit into T = B M/gamma^2",
        identity("B/(gamma**(3/2)/sqrt(rho))*M/sqrt(rho*gamma) == B*M/gamma**2", "B gamma rho M"),
    ),
    row(
        "lemma316/expansion",
        "B.6",
        "b B M/(kappa gamma) is the printed sum of four terms",
        identity(
            (
                "(G*sqrt(d)/(epsilon*a) + G**2/a**2 + M*sqrt(d)/(rho*epsilon) + M**2/(rho*a))*B*M/(kappa*a) == "
                "B*G*M*sqrt(d)/(kappa*epsilon*a**2) + G**2*B*M/(kappa*a**3) + B*M**2*sqrt(d)/(kappa*rho*a*epsilon) "
                "+ B*M**3/(kappa*rho*a**2)"
            ),
            "G d epsilon a M rho B kappa",
        ),
    ),
    row(
        "lemma316/first",
        "B.6, first term",
        (
            "B G M sqrt(d)/(kappa epsilon gamma^2) = n at gamma = (B G M)^(1/3) d^(1/4)/sqrt(n epsilon), kappa = (B "
            "G M)^(1/3)"
        ),
        identity(
            "B*G*M*sqrt(d)/(kappa*epsilon*g**2) == n",
            C3,
            let={"kappa": "(B*G*M)**(1/3)", "g": "(B*G*M)**(1/3)*d**(1/4)/sqrt(n*epsilon)"},
        ),
        severity=UTILITY,
    ),
    row(
        "lemma316/second_theorem",
        "Theorem 3.17",
        "G^2 B M/(kappa gamma^3) = n at gamma = B^(2/9) M^(2/9) G^(5/9)/n^(1/3)",
        identity(
            "G**2*B*M/(kappa*g**3) == n",
            C3,
            let={"kappa": "(B*G*M)**(1/3)", "g": "B**(2/9)*M**(2/9)*G**(5/9)/n**(1/3)"},
        ),
        severity=UTILITY,
    ),
    row(
        "lemma316/second_appendix",
        "B.6, second term",
        "the same at gamma = B^(2/3) M^(2/3) G^(5/3)/n^(1/3)",
        identity(
            "G**2*B*M/(kappa*g**3) == n",
            "B G M n",
            let={"kappa": "(B*G*M)**(1/3)", "g": "B**(2/3)*M**(2/3)*G**(5/3)/n**(1/3)"},
        ),
        corrected="B^(2/9) M^(2/9) G^(5/9)/n^(1/3), as in the theorem",
        corrected_as_saved=True,
        reading="the cube root covers the numerator, as in the theorem",
        saved_by=identity(
            "G**2*B*M/(kappa*g**3) == n",
            "B G M n",
            let={"kappa": "(B*G*M)**(1/3)", "g": "(B**(2/3)*M**(2/3)*G**(5/3)/n)**(1/3)"},
        ),
    ),
    row(
        "lemma316/third_appendix",
        "B.6, third term",
        "B M^2/(rho gamma^2) = n at gamma = sqrt(B M^2)/sqrt(rho n)",
        identity("B*M**2/(rho*g**2) == n", "B M rho n", let={"g": "sqrt(B*M**2)/sqrt(rho*n)"}),
        severity=UTILITY,
    ),
    row(
        "lemma316/third_theorem",
        "Theorem 3.17 against B.6",
        "the term sqrt(B M^2)/(rho sqrt n) of the theorem is the appendix's",
        same({"theorem": "sqrt(B*M**2)/(rho*sqrt(n))", "B.6": "sqrt(B*M**2)/sqrt(rho*n)"}, "B M rho n"),
        corrected="sqrt(B M^2)/sqrt(rho n)",
        corrected_as_saved=True,
        reading="the root covers rho",
        saved_by=same({"theorem": "sqrt(B*M**2)/sqrt(rho*n)", "B.6": "sqrt(B*M**2/(rho*n))"}, "B M rho n"),
        garbling="the extent of the root may be lost in rendering",
    ),
    row(
        "lemma316/fourth",
        "B.6, fourth term",
        "B M^3/(kappa rho gamma^2) = n at gamma = B^(1/3) M^(4/3)/(G^(1/6) sqrt(rho n))",
        identity(
            "B*M**3/(kappa*rho*g**2) == n",
            "B G M n rho",
            let={"kappa": "(B*G*M)**(1/3)", "g": "B**(1/3)*M**(4/3)/(G**(1/6)*sqrt(rho*n))"},
        ),
        severity=UTILITY,
    ),
    row(
        "lemma316/kappa_theorem",
        "Theorem 3.17",
        "B M kappa/gamma^3 = n at gamma = B^(4/9) M^(4/9) G^(1/9)/n^(1/3)",
        identity(
            "B*M*kappa/g**3 == n", C3, let={"kappa": "(B*G*M)**(1/3)", "g": "B**(4/9)*M**(4/9)*G**(1/9)/n**(1/3)"}
        ),
        severity=UTILITY,
    ),
    row(
        "lemma316/kappa_appendix",
        "B.6, thirdly",
        "the same at gamma = B^(4/3) M^(4/3) G^(1/3)/n^(1/3)",
        identity(
            "B*M*kappa/g**3 == n",
            "B G M n",
            let={"kappa": "(B*G*M)**(1/3)", "g": "B**(4/3)*M**(4/3)*G**(1/3)/n**(1/3)"},
        ),
        corrected="B^(4/9) M^(4/9) G^(1/9)/n^(1/3), as in the theorem",
        corrected_as_saved=True,
        reading="the cube root covers the numerator",
        saved_by=identity(
            "B*M*kappa/g**3 == n",
            "B G M n",
            let={"kappa": "(B*G*M)**(1/3)", "g": "(B**(4/3)*M**(4/3)*G**(1/3)/n)**(1/3)"},
        ),
    ),
]
