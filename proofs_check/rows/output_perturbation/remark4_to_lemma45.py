"""output_perturbation: rows of thm48, remark4, cor49, sec42, lemma45."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import PRIVACY, UTILITY, identity, inequality, privacy, rates

from .minimax_terms import AB, DP, SC, SENS3, row

ROWS = [
    row(
        "remark4/extragradient",
        "Remark 4",
        "sum over phases of n-bar (ell + mu_k)/mu is n^(3/2) ell + n^2",
        rates("n*(ell + mu*n)/mu == n**(3/2)*ell + n**2", "n", "n ell", let={"mu": "1/sqrt(n)"}),
        severity=UTILITY,
    ),
    row(
        "remark4/al_svre",
        "Remark 4",
        (
            "n + sqrt(n (ell + mu_k)^2/(mu_k mu)) + n^(3/4) sqrt((ell + mu_k)/mu), largest over mu <= mu_k <= mu n, "
            "is n ell + n^(5/4) (ell >= 1)"
        ),
        rates(
            "n + sqrt(n)*(ell/mu + sqrt(n)) + n**(3/4)*sqrt(ell/mu + n) == n*ell + n**(5/4)",
            "n",
            "n ell",
            conditions=("ell >= 1",),
            let={"mu": "1/sqrt(n)"},
        ),
        severity=UTILITY,
    ),
    row(
        "remark4/al_svre_display",
        "display before Jin et al.",
        "the display's n + n sqrt(n) + n ell + n^(5/4) is within Remark 4's n ell + n^(5/4)",
        rates("n + n*sqrt(n) + n*ell + n**(5/4) <= n*ell + n**(5/4)", "n", "n ell", conditions=("ell >= 1",)),
        corrected="n sqrt(ell) in place of n sqrt(n)",
        repair="sqrt(ell) was meant",
        saved_by=rates(
            "n + n*sqrt(ell) + n*ell + n**(5/4) <= n*ell + n**(5/4)", "n", "n ell", conditions=("ell >= 1",)
        ),
        garbling="ell appears with a bar or as n-bar in other places",
    ),
    row(
        "remark4/svrg",
        "Remark 4",
        "log n phases of n/log n + (ell/mu)^2 are n + n ell^2 (times log(n/delta))",
        rates(
            "log(n)*(n/log(n) + (ell/mu)**2) <= n + n*ell**2",
            "n",
            "n ell",
            let={"mu": "1/sqrt(n)"},
            conditions=("ell >= 1",),
            tilde=False,
        ),
        corrected="n + n ell^2 log(n): every phase pays the condition number of y",
        corrected_claim=rates(
            "log(n)*(n/log(n) + (ell/mu)**2) <= n + n*ell**2*log(n)",
            "n",
            "n ell",
            let={"mu": "1/sqrt(n)"},
            conditions=("ell >= 1",),
            tilde=False,
        ),
        reading="O~ was meant",
        saved_by=rates(
            "log(n)*(n/log(n) + (ell/mu)**2) <= n + n*ell**2",
            "n",
            "n ell",
            let={"mu": "1/sqrt(n)"},
            conditions=("ell >= 1",),
        ),
    ),
    row(
        "remark4/acc_svrg",
        "Remark 4",
        "log n phases of n/log n + sqrt(n) ell/mu are n + n ell (times log(n/delta))",
        rates(
            "log(n)*(n/log(n) + sqrt(n)*ell/mu) <= n + n*ell",
            "n",
            "n ell",
            let={"mu": "1/sqrt(n)"},
            conditions=("ell >= 1",),
            tilde=False,
        ),
        corrected="n + n ell log(n): every phase pays the condition number of y",
        corrected_claim=rates(
            "log(n)*(n/log(n) + sqrt(n)*ell/mu) <= n + n*ell*log(n)",
            "n",
            "n ell",
            let={"mu": "1/sqrt(n)"},
            conditions=("ell >= 1",),
            tilde=False,
        ),
        reading="O~ was meant",
        saved_by=rates(
            "log(n)*(n/log(n) + sqrt(n)*ell/mu) <= n + n*ell",
            "n",
            "n ell",
            let={"mu": "1/sqrt(n)"},
            conditions=("ell >= 1",),
        ),
        defect="remark4/svrg",
    ),
    row(
        "remark4/jin",
        "Remark 4",
        "log n phases of n/log n + sqrt(n) (ell/mu_k + ell/sqrt(mu_k mu) + ell/mu) are n + n ell (times log(n/delta))",
        rates(
            "log(n)*(n/log(n) + sqrt(n)*(ell/muk + ell/sqrt(muk*mu) + ell/mu)) <= n + n*ell",
            "n",
            "n ell muk",
            conditions=("muk >= n**(-1/2)", "ell >= 1"),
            let={"mu": "1/sqrt(n)"},
            tilde=False,
        ),
        corrected="n + n ell log(n): every phase pays the condition number of y",
        corrected_claim=rates(
            "log(n)*(n/log(n) + sqrt(n)*(ell/muk + ell/sqrt(muk*mu) + ell/mu)) <= n + n*ell*log(n)",
            "n",
            "n ell muk",
            let={"mu": "1/sqrt(n)"},
            conditions=("muk >= n**(-1/2)", "ell >= 1"),
            tilde=False,
        ),
        reading="O~ was meant",
        saved_by=rates(
            "log(n)*(n/log(n) + sqrt(n)*(ell/muk + ell/sqrt(muk*mu) + ell/mu)) <= n + n*ell",
            "n",
            "n ell muk",
            conditions=("muk >= n**(-1/2)", "ell >= 1"),
            let={"mu": "1/sqrt(n)"},
        ),
        defect="remark4/svrg",
    ),
    row(
        "remark4/condition_number",
        "Section 4.2",
        "(ell + mu_k)/mu can be as large as n (mu_K = mu n)",
        rates("(ell + mu*n)/mu == sqrt(n)*ell + n", "n", "n ell", let={"mu": "1/sqrt(n)"}),
    ),
    row(
        "cor49/sigma_k",
        "Section 4.3",
        "sigma_k is the classical scale at (epsilon, delta/2)",
        identity(
            (
                "(4*L/(nbar*epsilon))*sqrt(2*log(2.5/delta)/(mu_k*m)) == "
                "4*L/(nbar*sqrt(mu_k*m))*sqrt(2*log(1.25/(delta/2)))/epsilon"
            ),
            "L nbar mu_k m",
            DP,
        ),
        severity=PRIVACY,
    ),
    row(
        "cor49/privacy",
        "Corollary 4.9",
        "the variant is (epsilon, delta)-DP",
        privacy(
            "(4*L/(n*epsilon))*sqrt(2*log(2.5/delta)/(mu_x*mu))", SENS3, "epsilon", "delta", "L", SC, failure="delta/2"
        ),
        severity=PRIVACY,
    ),
    row(
        "cor49/variance",
        "Section 4.3",
        "sigma_k is the variance of the noise, as the sentence calls it: the variant is (epsilon, delta)-DP",
        privacy(
            "sqrt((4*L/(n*epsilon))*sqrt(2*log(2.5/delta)/(mu_x*mu)))",
            SENS3,
            "epsilon",
            "delta",
            "L",
            SC,
            failure="delta/2",
        ),
        severity=PRIVACY,
        corrected="sigma_k is the standard deviation",
        corrected_claim=privacy(
            "(4*L/(n*epsilon))*sqrt(2*log(2.5/delta)/(mu_x*mu))", SENS3, "epsilon", "delta", "L", SC, failure="delta/2"
        ),
        reading="the same sentence writes N(0, sigma_k^2 I), so that sigma_k is the standard deviation",
        saved_by=privacy(
            "(4*L/(n*epsilon))*sqrt(2*log(2.5/delta)/(mu_x*mu))", SENS3, "epsilon", "delta", "L", SC, failure="delta/2"
        ),
        explain="A scale in the unit of the variable, and the other algorithms' formula, speak for the same reading.",
    ),
    row(
        "cor49/phase_sum",
        "Corollary 4.9",
        (
            "the step of the sketched proof: 65 (K-1) phases of K^2 log(2.5/delta)/(mu_y n^2) stay within 65 K^2 "
            "log(2.5 n/delta)/(mu_y n^2)"
        ),
        inequality(
            "(K - 1)*K**2*log(2.5/delta) <= K**2*log(2.5*n/delta)",
            "",
            {"n": "[16, 100000]", "delta": "(1/100000000, 1/n)"},
            let={"K": "log2(n)"},
        ),
        severity=UTILITY,
        corrected=(
            "log(n)^3 d_x log(2.5/delta)/(mu_y n^2 epsilon^2) up to a constant: K phases with n-bar = n/K, K = log n"
        ),
        corrected_claim=rates(
            "K*d*ell/(mu*nbar**2*epsilon**2) <= log(n)**3*d*ell/(mu*n**2*epsilon**2)",
            "n",
            "n d ell mu epsilon",
            let={"K": "log(n)", "nbar": "n/K"},
            tilde=False,
        ),
        reading="up to logarithms",
        saved_by=rates("log(n)**3*ell/n**2 <= log(n)**2*ell/n**2", "n", "n ell"),
        garbling="log(2.5 n/delta) for log(2.5/delta) may be a lost or added letter",
        explain=(
            "Every phase with mu_k >= mu_y pays 1/mu_y. What fails is the derivation from (4), by a logarithm; "
            "whether a sharper one gives the corollary as printed is not decided."
        ),
    ),
    row(
        "cor49/inverse_min", "Corollary 4.9", "1/min(a, b) <= 1/a + 1/b", inequality("1/min(a, b) <= 1/a + 1/b", "a b")
    ),
    row(
        "cor49/constants",
        "Corollary 4.9",
        "65/12 + 12 + sqrt(65 (1/(9n) + 1/3)) <= 24 for n >= 8 (the b-terms of the first bracket)",
        inequality("65/12 + 12 + sqrt(65*(1/(9*n) + 1/3)) <= 24", "", {"n": "[8, 1000000]"}),
        severity=UTILITY,
    ),
    row("cor49/a_terms", "Corollary 4.9", "8K/3 + 3 <= 6K", inequality("8*K/3 + 3 <= 6*K", "", AB)),
    row(
        "cor49/complexity_svrg",
        "Section 4.3",
        "n + (ell/min(mu_k, mu_y))^2 is n + n ell^2 + kappa_y^2",
        rates("n + (ell/min(mu, mu_y))**2 == n + n*ell**2 + (ell/mu_y)**2", "n", "n ell mu_y", let={"mu": "1/sqrt(n)"}),
        severity=UTILITY,
    ),
    row(
        "cor49/complexity_acc",
        "Section 4.3",
        "n + sqrt(n) ell/min(mu_k, mu_y) is n + n ell + sqrt(n) kappa_y",
        rates(
            "n + sqrt(n)*ell/min(mu, mu_y) == n + n*ell + sqrt(n)*ell/mu_y", "n", "n ell mu_y", let={"mu": "1/sqrt(n)"}
        ),
        severity=UTILITY,
    ),
    row(
        "sec42/nonsmooth_example",
        "Section 4.2",
        "|a x| is the maximum of (a x) y over |y| <= 1",
        identity("max(z, -z) == abs(z)", "", {"z": "[-10, 10]"}),
    ),
    row(
        "lemma45/stability",
        "Lemma 4.5",
        "a regulariser that does not depend on the data cancels: Q = (2L/n) sqrt(Q/mu) still gives Q = 4 L^2/(mu n^2)",
        identity("Q == 2*L/n*sqrt(Q/mu)", "L n mu", let={"Q": "4*L**2/(mu*n**2)"}),
        severity=PRIVACY,
        explain=(
            "Q = mu_x |dx|^2 + mu_y |dy|^2, and |(dx, dy)| <= sqrt(Q/mu). The Lipschitz constant is that of the "
            "data part alone."
        ),
    ),
    row(
        "lemma45/attained_primal",
        "Lemma 4.5",
        (
            "derived: f = s L x with slopes s in [-1, 1] and G = mu x^2/2 (no y): replacing one of n slopes keeps "
            "mu |dx|^2 within 4 L^2/(mu n^2), and 2 in place of 4 would not do"
        ),
        inequality(
            "mu*(x1 - x2)**2 <= 4*L**2/(mu*n**2)",
            "L mu",
            {"n": "integer [1, 100000]", "a": "[-1, 1]", "b": "[-1, 1]"},
            let={"x1": "L*a/(mu*n)", "x2": "L*b/(mu*n)"},
        ),
        severity=PRIVACY,
        ours=True,
    ),
]
