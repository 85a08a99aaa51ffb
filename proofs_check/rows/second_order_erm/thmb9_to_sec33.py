"""second_order_erm: rows of thmB9, appC, sec33."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import PRIVACY, UTILITY, identity, inequality, rates

from .minibatch_terms import SIGMA_B9, row

ROWS = [
    row(
        "thmB9/sqrt_T",
        "Theorem B.9, proof",
        "sqrt(T) = O(max(eps_g, eps_H^-3/2))",
        rates(
            "sqrt(max(eps_g**(-2), eps_H**(-3))) <= max(eps_g, eps_H**(-3/2))",
            "1/eps_g",
            "eps_g eps_H",
            conditions=("eps_g <= 1", "eps_H <= 1"),
        ),
        corrected="max(eps_g^-1, eps_H^-3/2)",
        repair="eps_g^-1 was meant",
        saved_by=rates("sqrt(max(eps_g**(-2), eps_H**(-3))) == max(1/eps_g, eps_H**(-3/2))", "1/eps_g", "eps_g eps_H"),
        garbling="a lost -1 is possible, but D.4 prints the same",
        defect="thm4/sqrt_T",
    ),
    row(
        "thmB9/log_delta",
        "eq. (31)",
        (
            "inferred: sigma of Theorem B.8 is of the order s sqrt(T) log(1/delta)/epsilon (ell = log(1/delta)); "
            "(31) prints one root of it and leaves the other to O-tilde"
        ),
        rates(
            "sigma == s*sqrt(T)*ell/epsilon",
            "1/eps_g",
            "eps_g eps_H s ell epsilon",
            conditions=("ell >= 1",),
            let=SIGMA_B9,
        ),
        severity=UTILITY,
        explain=(
            "One root from delta_0, one from the composition. The full-batch rate has one root only, so the two "
            "match up to O-tilde."
        ),
        ours=True,
    ),
    row(
        "thmB9/rate_fixed_s",
        "eq. (31)",
        "with s constant, n_min of (25) is within (31)",
        rates(
            (
                "max(d*sigma/min(eps_g, eps_H**2), d*sigma/eps_H, max(eps_g**(-2), eps_H**(-4))) <= "
                "d*ell/epsilon*max(eps_g**(-2), 1/(eps_g*eps_H**2), eps_H**(-4))"
            ),
            "1/eps_g",
            "d eps_g eps_H epsilon ell s",
            constants="s",
            conditions=("eps_g <= 1", "eps_H <= 1", "epsilon <= 1", "d >= 1", "ell >= 1"),
            let=SIGMA_B9,
        ),
        severity=UTILITY,
    ),
    row(
        "thmB9/rate_any_s",
        "eq. (31)",
        "inferred: (31), in which s does not occur, holds uniformly in the sampling fraction s",
        rates(
            "max(eps_g**(-2), eps_H**(-4))/s <= d*ell/epsilon*max(eps_g**(-2), 1/(eps_g*eps_H**2), eps_H**(-4))",
            "1/eps_g",
            "d eps_g eps_H epsilon ell s",
            conditions=("eps_g <= 1", "eps_H <= 1", "epsilon <= 1", "d >= 1", "ell >= 1", "s <= 1"),
        ),
        corrected="needs 1/s = O(d/epsilon)",
        corrected_claim=rates(
            "max(eps_g**(-2), eps_H**(-4))/s <= d*ell/epsilon*max(eps_g**(-2), 1/(eps_g*eps_H**2), eps_H**(-4))",
            "1/eps_g",
            "d eps_g eps_H epsilon ell s",
            conditions=("eps_g <= 1", "eps_H <= 1", "epsilon <= 1", "d >= 1", "ell >= 1", "s <= 1", "epsilon <= d*s"),
        ),
        condition="s is a constant",
        saved_by=rates(
            "max(eps_g**(-2), eps_H**(-4)) <= d*ell/epsilon*max(eps_g**(-2), 1/(eps_g*eps_H**2), eps_H**(-4))",
            "1/eps_g",
            "d eps_g eps_H epsilon ell",
            conditions=("eps_g <= 1", "eps_H <= 1", "epsilon <= 1", "d >= 1", "ell >= 1"),
        ),
        ours=True,
    ),
    row(
        "thmB9/alpha",
        "after eq. (31)",
        "at (alpha, sqrt(M alpha)) the maximum is alpha^-2",
        rates(
            "max(eps_g**(-2), 1/(eps_g*eps_H**2), eps_H**(-4)) == alpha**(-2)",
            "1/alpha",
            "alpha",
            constants="M",
            let={"eps_g": "alpha", "eps_H": "sqrt(M*alpha)"},
        ),
    ),
    row(
        "thmB9/sqrt_rho",
        "after eq. (31)",
        "sqrt(rho) = O(d sqrt(log(1/delta))/(d sqrt(log(1/delta)))) by Proposition A.6",
        rates("sqrt(rho) == d*sqrt(ell)/(d*sqrt(ell))", "ell", "d ell epsilon", let={"rho": "epsilon**2/(4*ell)"}),
        corrected="sqrt(rho) = Theta(epsilon/sqrt(log(1/delta)))",
        repair="epsilon/sqrt(log(1/delta))",
        saved_by=rates("sqrt(rho) == epsilon/sqrt(ell)", "ell", "ell epsilon", let={"rho": "epsilon**2/(4*ell)"}),
        garbling="numerator and denominator are identical: the rendering is to blame",
    ),
    row(
        "appC/lanczos_count",
        "Lemma C.1",
        "k = 1 + log(2.75 n/delta^2)/2 sqrt(M/eps) makes the Kuczynski-Wozniakowski failure bound at most delta",
        inequality(
            "1.648*sqrt(n)*exp(-sqrt(eps/(4*M))*(2*k - 1)) <= delta",
            "",
            {"n": "[2, 10000]", "delta": "[1/1000, 9/10]", "M": "[1, 100]", "eps": "(0, M]"},
            let={"k": "1 + log(2.75*n/delta**2)/2*sqrt(M/eps)"},
        ),
        severity=UTILITY,
        explain="Precision eps/2 on a spectrum of width 2M is the relative error eps/(4M); 1.648/sqrt(2.75) < 1.",
    ),
    row(
        "appC/half_threshold",
        "Appendix C",
        "precision eps_H/2 and the test lambda~ > -eps_H/2 certify lambda_min >= -eps_H",
        inequality("-eps_H <= x - eps_H/2", "eps_H", {"x": "[-eps_H/2, eps_H]"}),
    ),
    row(
        "sec33/minibatch_sensitivity",
        "Appendix B.1",
        "on a batch of m = s n the sensitivity 2 B_g/m is 2 B_g/(s n)",
        identity("2*B_g/m == 2*B_g/(s*n)", "B_g s n", let={"m": "s*n"}),
        severity=PRIVACY,
    ),
]
