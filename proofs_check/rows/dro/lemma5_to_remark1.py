"""dro: rows of lemma5, prop1, eq5, sec5, sec4, remark1."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import PRIVACY, UTILITY, identity, inequality, rates, units

from .duality_terms import row

ROWS = [
    row(
        "lemma5/constant",
        "Lemma 5",
        "|grad loss| M (G e)/lambda <= M L e/lambda",
        inequality("G*M*(G*e)/lam <= M*L*e/lam", "G M L e lam"),
        severity=PRIVACY,
        corrected="M G^2 |eta - eta'|/lambda, Lemma 3's eq. (11)",
        corrected_claim=inequality(
            "abs(g*M*((l - G*e1)/lam) - g*M*((l - G*e2)/lam)) <= M*G**2*abs(e1 - e2)/lam",
            "G M lam l e1 e2",
            {"g": "(0, G]"},
        ),
        condition="G^2 <= L",
        saved_by=inequality("G*M*(G*e)/lam <= M*L*e/lam", "G M e lam", {"L": "[G**2, inf)"}),
        explain=(
            "Attained by a linear loss (L tends to 0, slope G). The proof bounds the gradient of the loss by the "
            "smoothness L, and loses the G inside psi*."
        ),
    ),
    row(
        "lemma5/units",
        "Lemma 5",
        "M L |eta - eta'|/lambda is a gradient (eta is a length after scaling)",
        units("M*L*e/lam == g", free="M", L="v/l**2", e="l", lam="v", g="v/l"),
        corrected="M G^2 |eta - eta'|/lambda",
        repair="G^2 in place of L",
        saved_by=units("M*G**2*e/lam == g", free="M", G="v/l", e="l", lam="v", g="v/l"),
        defect="lemma5/constant",
    ),
    row(
        "prop1/domain_bounds_eta",
        "Proposition 1, proof, with Assumption 3",
        "arguments u = (loss - eta)/lambda of psi* in [0, S_0] imply eta = loss - lambda u <= S_0",
        inequality(
            "l - lam*u <= S0", "l lam S0", {"u": "[0, S0]"}, hints=[{"l": "2", "lam": "1", "S0": "1", "u": "0"}]
        ),
        severity=UTILITY,
        corrected="loss - lambda S_0 <= eta <= loss",
        corrected_claim=inequality("abs(l - lam*u - (l - lam*S0/2)) <= lam*S0/2", "l lam S0", {"u": "[0, S0]"}),
        explain="Nothing follows for x.",
        reading="Assumption 3 bounds x and eta themselves",
        saved_by=inequality("eta <= S0", "S0", {"eta": "[0, S0]"}),
    ),
    row(
        "prop1/conjugate_slope",
        "Proposition 1, proof",
        "psi*' <= 2 S_0^2 sqrt(M) + 2 M S_0^3 on [0, S_0] for the chi-square conjugate (M = 1, psi*'(S_0) = 1 + S_0)",
        inequality("1 + S0 <= 2*S0**2 + 2*S0**3", "S0", hints=[{"S0": "1/2"}]),
        severity=UTILITY,
        corrected="psi*'(u) <= 1 + M S_0, since psi*'(0) = 1",
        corrected_by="prop1/corrected",
        condition="S_0 >= 1",
        saved_by=inequality("1 + S0 <= 2*S0**2 + 2*S0**3", "", {"S0": "[1, inf)"}),
    ),
    row(
        "prop1/small_M",
        "Proposition 1, proof",
        "the same bound for small M: psi*'(0) = 1 <= 2 S_0^2 sqrt(M) + 2 M S_0^3",
        inequality("1 <= 2*S0**2*sqrt(M) + 2*M*S0**3", "S0 M", hints=[{"S0": "1", "M": "1/100"}]),
        severity=UTILITY,
        corrected="1 + M S_0",
        corrected_by="prop1/corrected",
        condition="M >= 1 and S_0 >= 1",
        saved_by=inequality("1 <= 2*S0**2*sqrt(M) + 2*M*S0**3", "", {"S0": "[1, inf)", "M": "[1, inf)"}),
        explain="psi is minimal at 1, so psi*'(0) = 1 for every divergence.",
    ),
    row(
        "prop1/corrected",
        "Proposition 1, corrected",
        "psi*'(u) = psi*'(0) + a change of at most M u is at most 1 + M S_0",
        inequality("1 + M*u <= 1 + M*S0", "M S0", {"u": "[0, S0]"}),
    ),
    row(
        "prop1/lambda",
        "Proposition 1, eq. (14)",
        "lambda (2 S_0^2 sqrt(M) + 2 M S_0^3) + 1 <= 2 S_0^3 sqrt(M) + 2 M S_0^4 + 1",
        inequality("lam*(2*S0**2*sqrt(M) + 2*M*S0**3) + 1 <= 2*S0**3*sqrt(M) + 2*M*S0**4 + 1", "lam S0 M"),
        corrected=(
            "lambda psi*((loss - eta)/lambda) has the derivative -psi*' in eta, without a lambda (chi-square:"
            " a difference quotient)"
        ),
        corrected_claim=identity(
            "(lam*(up + 1)**2 - lam*(um + 1)**2)/(4*h) == -(u + 1)",
            "lam l e h",
            let={"up": "(l - e - h)/lam", "um": "(l - e + h)/lam", "u": "(l - e)/lam"},
        ),
        condition="lambda <= S_0",
        saved_by=inequality(
            "lam*(2*S0**2*sqrt(M) + 2*M*S0**3) + 1 <= 2*S0**3*sqrt(M) + 2*M*S0**4 + 1", "S0 M", {"lam": "(0, S0]"}
        ),
    ),
    row(
        "eq5/kl_dual",
        "eq. (5) against (2)",
        (
            "for two records the softmax attains the maximum of (2) with KL: it is lambda log of the mean of "
            "exp(loss/lambda)"
        ),
        identity(
            "p*a + (1 - p)*b - lam*(p*log(2*p) + (1 - p)*log(2*(1 - p))) == lam*log((exp(a/lam) + exp(b/lam))/2)",
            "",
            {"a": "[0, 3]", "b": "[0, 3]", "lam": "[1/2, 5]"},
            let={"p": "exp(a/lam)/(exp(a/lam) + exp(b/lam))"},
        ),
    ),
    row(
        "eq5/lambda_gradient",
        "Section 4",
        "(lambda/g) dg/dlambda + log(g) + rho is the derivative of loss + lambda rho, for one record",
        identity(
            "lam/g*(-l/lam**2*g) + log(g) + rho == rho",
            "",
            {"l": "[0, 3]", "lam": "[1/2, 5]", "rho": "(0, 2)"},
            let={"g": "exp(l/lam)"},
        ),
    ),
    row(
        "eq5/value_at_least_one",
        "Section 4",
        "exp(loss/lambda) >= 1 for a non-negative loss, which Lemma 7 needs (x, y >= 1)",
        inequality("1 <= exp(l/lam)", "", {"l": "[0, 50]", "lam": "[1, 10]"}),
    ),
    row(
        "sec5/lambda0",
        "Section 5.1 with (5)",
        (
            "inferred, not claimed: exp(log(10)/lambda_0), the inner value at an untrained ten-class model, is "
            "below the largest double at lambda_0 = 1/1000"
        ),
        inequality("log(10)/lam0 <= 308*log(10)", "", {"lam0": "[1/1000, 1]"}, hints=[{"lam0": "1/1000"}]),
        severity=UTILITY,
        corrected="lambda_0 >= 1/308",
        corrected_as_saved=True,
        explain="Or log-sum-exp. The clip C_5 truncates nearly every record.",
        condition="lambda >= 1/308",
        saved_by=inequality("log(10)/lam <= 308*log(10)", "", {"lam": "[1/308, 100]"}),
        ours=True,
    ),
    row(
        "sec4/lambda_of_n",
        "Section 4",
        "(sqrt(d)/n)^(2/3) is at least 1/sqrt n if n <= d^2",
        rates("1/sqrt(n) <= (sqrt(d)/n)**(2/3)", "n", "n d", conditions=("n <= d**2", "d >= 1")),
        explain="So Theorem 2's second term dominates there, as the text says.",
    ),
    row(
        "sec4/lambda_of_n_converse",
        "Section 4",
        "and only then",
        rates("(sqrt(d)/n)**(2/3) <= 1/sqrt(n)", "n", "n d", conditions=("n >= d**2", "d >= 1")),
    ),
    row(
        "remark1/better_than_sgd",
        "Remark 1",
        "max{1/sqrt n, e^(2/3)} <= e^(1/2) for e = sqrt(d log(1/delta))/(n epsilon)",
        rates(
            "max(1/sqrt(n), e**(2/3)) <= e**(1/2)",
            "n",
            "n d ell epsilon",
            conditions=("d >= 1", "ell >= 1", "epsilon <= 1", "d*ell <= n**2*epsilon**2"),
            let={"e": "sqrt(d*ell)/(n*epsilon)"},
        ),
        severity=UTILITY,
    ),
]
