"""adaptive_batch: rows of intro, def12, thm25, lemma32, eq9, thm34, lemma38, lemma39."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import UTILITY, identity, inequality, rates, same, units

from .utility_terms import XI, row

ROWS = [
    row(
        "intro/fosp_below_sosp",
        "Section 1.1",
        "x^(1/2) <= x^(3/7) for x = sqrt(d)/(n epsilon) <= 1",
        rates("x**(1/2) <= x**(3/7)", "1/x", "x"),
    ),
    row(
        "intro/tao_is_weaker", "Section 1.1", "x^(3/7) <= x^(2/5) for x <= 1", rates("x**(3/7) <= x**(2/5)", "1/x", "x")
    ),
    row(
        "def12/units",
        "Definition 1.2",
        "sqrt(rho) alpha is a curvature",
        units("sqrt(rho)*alpha == h", rho="v/l**3", alpha="v/l", h="v/l**2"),
        corrected="sqrt(rho alpha)",
        corrected_as_saved=True,
        reading="the root covers alpha",
        saved_by=units("sqrt(rho*alpha) == h", rho="v/l**3", alpha="v/l", h="v/l**2"),
        garbling="the extent of the root was lost in rendering",
    ),
    row(
        "thm25/units",
        "Theorem 2.5",
        "t^2/sigma^2 with sigma^2 = |sum A_i|, X_i <= A_i, is a pure number",
        units("t**2/A == one", free="one", t="v", A="v"),
        corrected="X_i^2 <= A_i^2 and sigma^2 = |sum A_i^2|",
        repair="squares were lost",
        saved_by=units("t**2/A**2 == one", free="one", t="v", A="v"),
        garbling="lost exponents 2 are likely",
    ),
    row(
        "thm25/counterexample",
        "Theorem 2.5",
        "for one matrix X = +-a with d = 1, P(|X| >= a) = 1 is at most d exp(-a^2/(8a))",
        inequality("1 <= exp(-a**2/(8*a))", "", {"a": "[1, 100]"}),
        corrected="2 d exp(-t^2/(8 sum A_i^2))",
        repair="squares, and the factor 2 for both signs of the norm",
        saved_by=inequality("1 <= 2*exp(-a**2/(8*a**2))", "", {"a": "[1, 100]"}),
        garbling="lost exponents 2 are likely",
        defect="thm25/units",
    ),
    row(
        "lemma32/smoothness",
        "Lemma 3.2",
        "with eta = 1/M: -eta <grad, g> + M eta^2 g^2/2 = -eta g^2/2 - eta <grad - g, g>",
        identity("-eta*(g + e)*g + M*eta**2*g**2/2 == -eta*g**2/2 - eta*e*g", "M g e", let={"eta": "1/M"}),
    ),
    row(
        "lemma32/sixteen",
        "Lemma 3.2",
        "|grad| >= gamma and error <= gamma/4 give a decrease of at least eta g^2/16",
        inequality("e*g - g**2/2 <= -g**2/16", "gamma", {"e": "[0, gamma/4]", "g": "[3*gamma/4, inf)"}),
    ),
    row(
        "eq9/threshold",
        "B.5",
        "the same decrease holds when |g| >= gamma and the error is at most gamma",
        inequality("gamma*g - g**2/2 <= -g**2/16", "gamma", {"g": "[gamma, inf)"}),
        corrected_claim=inequality("gamma*g - g**2/2 <= -g**2/16", "gamma", {"g": "[16*gamma/7, inf)"}),
        corrected="|g| >= 16 gamma/7",
        condition="the threshold is a constant times gamma (the steps below it grow the value by O(eta gamma^2) each)",
        saved_by=inequality("gamma*g - g**2/2 <= -g**2/16", "gamma", {"g": "[3*gamma, inf)"}),
    ),
    row(
        "eq9/small_gradients",
        "B.5",
        "for |g| <= gamma the value grows by at most eta gamma^2",
        inequality("gamma*g - g**2/2 <= gamma**2", "gamma", {"g": "[0, gamma]"}),
    ),
    row(
        "eq9/sum_small",
        "eq. (9)",
        "T gamma = B M/gamma for T = B M/gamma^2",
        identity("B*M/gamma**2*gamma == B*M/gamma", "B M gamma"),
    ),
    row(
        "thm34/sign",
        "Theorem 3.4",
        "a saddle has lambda_min >= -sqrt(rho alpha) as printed: then it is at most that",
        inequality("x <= -h", "h", {"x": "[-h, h]"}),
        corrected=(
            "lambda_min below -sqrt(rho alpha): its direction grows by 1 + eta sqrt(rho alpha) or more in a step"
        ),
        corrected_claim=inequality("1 + eta*h <= 1 - eta*x", "eta h", {"x": "[-10*h, -h]"}),
        repair="the negated relation",
        saved_by=inequality("x <= -h", "h", {"x": "[-10*h, -h]"}),
        garbling="a lost stroke through the relation is likely",
    ),
    row(
        "thm34/kappa_xi",
        "Theorem 3.4",
        "varkappa Xi <= gamma at varkappa = sqrt(rho gamma)/2",
        inequality("sqrt(rho*gamma)/2*sqrt(gamma/rho) <= gamma", "rho gamma"),
    ),
    row(
        "thm34/gamma_units",
        "Theorem 3.4",
        "M/sqrt(rho gamma) is a number of steps and sqrt(gamma/rho) a length",
        units("M/sqrt(rho*gamma)*sqrt(gamma/rho) == r", M="v/l**2", rho="v/l**3", gamma="v/l", r="l"),
    ),
    row(
        "lemma38/three_gamma",
        "Lemma 3.8, proof",
        "2 gamma + (varkappa + rho Xi) Xi <= 3 gamma at varkappa = sqrt(rho gamma)/2, Xi = sqrt(gamma/rho)",
        inequality("2*gamma + (sqrt(rho*gamma)/2 + rho*Xi)*Xi <= 3*gamma", "rho gamma", let={"Xi": "sqrt(gamma/rho)"}),
        corrected="7 gamma/2, and so 5 (7/2)^2 = 245/4 in place of 45",
        corrected_claim=identity(
            "5*(2*gamma + (sqrt(rho*gamma)/2 + rho*Xi)*Xi)**2 == 245/4*gamma**2",
            "rho gamma",
            let={"Xi": "sqrt(gamma/rho)"},
        ),
        repair="a constant times gamma",
        saved_by=inequality(
            "2*gamma + (sqrt(rho*gamma)/2 + rho*Xi)*Xi <= 4*gamma", "rho gamma", let={"Xi": "sqrt(gamma/rho)"}
        ),
    ),
    row(
        "lemma38/travel",
        "Lemma 3.8, proof",
        "Xi - 3 eta gamma Gamma >= sqrt(gamma/(2 rho)) with Gamma = c M/sqrt(rho gamma), c >= 1",
        inequality("sqrt(gamma/(2*rho)) <= Xi - 3*eta*gamma*Gam", "rho gamma M", {"c": "[1, 100]"}, let=XI),
        severity=UTILITY,
        corrected="needs c <= 0.09",
        corrected_claim=inequality(
            "sqrt(gamma/(2*rho)) <= Xi - 3*eta*gamma*Gam", "rho gamma M", {"c": "(0, 9/100]"}, let=XI
        ),
        condition=(
            "alpha >= gamma log^3(dBM/(rho iota)) (Theorem 3.4) speeds the growth up by log^(3/2), and Gamma "
            "shrinks to c = O(log^(-1/2)): c <= 1/20 once that logarithm is in the thousands"
        ),
        saved_by=inequality("sqrt(gamma/(2*rho)) <= Xi - 3*eta*gamma*Gam", "rho gamma M", {"c": "(0, 1/20]"}, let=XI),
        explain=(
            "The step size, printed nowhere in 'Xi - 3 gamma Gamma', is inserted. Another repair: an error of "
            "gamma/(30 c)."
        ),
    ),
    row(
        "lemma38/travel_units",
        "Lemma 3.8, proof",
        "Xi and 3 gamma Gamma are of one kind",
        units("Xi - gamma*Gam == r", free="Gam", Xi="l", gamma="v/l", r="l"),
        corrected="Xi - 3 eta gamma Gamma",
        repair="eta was lost",
        saved_by=units("Xi - eta*gamma*Gam == r", free="Gam", Xi="l", gamma="v/l", eta="l**2/v", r="l"),
    ),
    row(
        "lemma38/decrease_units",
        "Lemma 3.8, proof",
        "eta gamma/(8 Gamma rho) is a function value",
        units("eta*gamma/(Gam*rho) == f", free="Gam", eta="l**2/v", gamma="v/l", rho="v/l**3", f="v"),
        corrected="gamma/(8 eta Gamma rho)",
        repair="eta in the denominator",
        saved_by=units("gamma/(eta*Gam*rho) == f", free="Gam", eta="l**2/v", gamma="v/l", rho="v/l**3", f="v"),
    ),
    row(
        "lemma38/decrease",
        "Lemma 3.8, proof",
        "gamma/(8 eta Gamma rho) outweighs 45 eta Gamma gamma^2 at Gamma = c M/sqrt(rho gamma), c >= 1",
        inequality("45*eta*Gam*gamma**2 <= gamma/(8*eta*Gam*rho)", "rho gamma M", {"c": "[1, 100]"}, let=XI),
        severity=UTILITY,
        corrected="needs c^2 <= 1/360",
        corrected_claim=inequality(
            "45*eta*Gam*gamma**2 <= gamma/(8*eta*Gam*rho)", "rho gamma M", {"c": "(0, sqrt(1/360)]"}, let=XI
        ),
        condition="c <= 1/20, by alpha >= gamma log^3 as above",
        saved_by=inequality("45*eta*Gam*gamma**2 <= gamma/(8*eta*Gam*rho)", "rho gamma M", {"c": "(0, 1/20]"}, let=XI),
        explain=(
            "Jin et al. choose the radius smaller by logarithms, so that its Hessian error is; here rho Xi^2 = "
            "gamma is part of the error."
        ),
        defect="lemma38/travel",
    ),
    row(
        "lemma38/reading_fits_hessian_error",
        "Lemma 3.8 against Lemma 3.5",
        (
            "inferred: where Gamma is long (c >= 1), the error gamma/(30 c) that Lemma 3.8 then needs leaves "
            "room for rho Xi^2 = gamma"
        ),
        inequality("rho*Xi**2 <= gamma/(30*c)", "rho gamma", {"c": "[1, 100]"}, let={"Xi": "sqrt(gamma/rho)"}),
        severity=UTILITY,
        corrected="a smaller radius Xi = sqrt(gamma/(30 c rho))",
        repair="a radius smaller by logarithms",
        saved_by=inequality(
            "rho*Xi**2 <= gamma/(30*c)", "rho gamma", {"c": "[1, 100]"}, let={"Xi": "sqrt(gamma/(30*c*rho))"}
        ),
        defect="lemma38/travel",
        ours=True,
    ),
    row(
        "lemma38/rate",
        "after Lemma 3.9",
        "gamma^(3/2)/sqrt(rho) over M/sqrt(rho gamma) steps is gamma^2/M per step",
        identity("gamma**(3/2)/sqrt(rho)/(M/sqrt(rho*gamma)) == gamma**2/M", "gamma rho M"),
    ),
    row(
        "lemma39/curvature_of_estimate",
        "Lemma 3.9",
        "lambda_min(H) <= -sqrt(rho alpha) + sqrt(rho gamma)/2 <= -sqrt(rho alpha)/2 for alpha >= gamma",
        inequality(
            "-sqrt(rho*alpha) + sqrt(rho*gamma)/2 <= -sqrt(rho*alpha)/2", "rho gamma", {"alpha": "[gamma, inf)"}
        ),
    ),
    row(
        "lemma39/printed_sign",
        "Lemma 3.9, proof",
        "lambda_min(H) <= sqrt(rho alpha)/2 (as printed) makes |1 - eta lambda| >= 1",
        inequality("1 <= 1 - x", "", {"x": "[-1, 1/2]"}),
        corrected="<= -sqrt(rho alpha)/2",
        repair="a lost minus",
        saved_by=inequality("1 <= 1 - x", "", {"x": "[-1, 0]"}),
        garbling="a lost minus is likely",
    ),
    row(
        "lemma39/growth",
        "Lemma 3.9, proof",
        "log(1 + x) >= x/2 on [0, 1], so Gamma = (4/x) log(2 Xi/(mu r)) steps give the growth",
        inequality("x/2 <= log(1 + x)", "", {"x": "[1/1000, 1]"}),
    ),
    row(
        "thm34/norm_of_noise",
        "Appendix A.1",
        "sigma = gamma/sqrt(d log(T/iota)) keeps |zeta| <= gamma with probability 1 - iota/T",
        inequality(
            "chi2_sf(d*log(x), d) <= 1/x",
            "",
            {"d": "integer [1, 50]", "x": "[10, 100000]"},
            hints=[{"d": "1", "x": "10000"}],
        ),
        corrected="gamma/(sqrt(d) + sqrt(2 log(T/iota)))",
        corrected_claim=inequality(
            "chi2_sf((sqrt(d) + sqrt(2*log(x)))**2, d) <= 1/x", "", {"d": "integer [1, 50]", "x": "[10, 100000]"}
        ),
        condition="d >= 2",
        saved_by=inequality("chi2_sf(d*log(x), d) <= 1/x", "", {"d": "integer [2, 50]", "x": "[10, 100000]"}),
        explain="x = T/iota; P(|zeta| > gamma) is the tail of a chi-squared variable.",
    ),
    row(
        "thm34/probability_sign",
        "A.5",
        "P(x_1 not stuck) + iota/2 is a probability",
        inequality("p + iota/2 <= 1", "", {"p": "[0, 1]", "iota": "(0, 1)"}),
        corrected="- iota/2",
        repair="minus",
        saved_by=inequality("p - iota/2 <= 1", "", {"p": "[0, 1]", "iota": "(0, 1)"}),
    ),
    row(
        "thm34/mu_places",
        "A.5 against Lemma 3.9",
        "mu_0 is the same in both places",
        same({"A.5": "iota**2/(4*sqrt(d))", "Lemma 3.9": "iota**2/(16*sqrt(d))"}, "iota d"),
        corrected="neither: iota^2/(16 sqrt(d log(T/iota)))",
        corrected_by="thm34/small_ball",
        reading="up to the constant 4",
        saved_by=rates("iota**2/(4*sqrt(d)) == iota**2/(16*sqrt(d))", "d", "iota d"),
    ),
]
