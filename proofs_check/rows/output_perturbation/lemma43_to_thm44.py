"""output_perturbation: rows of lemma43, lemmaB1, lemmaB2, alg3, thm44."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import PRIVACY, UTILITY, identity, inequality, privacy, rates, units

from .minimax_terms import BIG, DP, SC, SENS3, SIGMA3, X, row

ROWS = [
    row(
        "lemma43/weighted_norm",
        "eq. (13), (c)",
        "x^2 + y^2 <= (mu_x x^2 + mu_y y^2)/min(mu_x, mu_y)",
        inequality("(x**2 + y**2)*min(mu_x, mu_y) <= mu_x*x**2 + mu_y*y**2", "x y mu_x mu_y"),
    ),
    row(
        "lemma43/stability",
        "eq. (14)",
        "A = (2L/(n sqrt mu)) sqrt A has the solution A = 4L^2/(mu n^2)",
        identity("A == 2*L/(n*sqrt(mu))*sqrt(A)", "L n mu", let={"A": "4*L**2/(mu*n**2)"}),
        severity=PRIVACY,
    ),
    row(
        "lemma43/sum_of_distances",
        "eq. (18)",
        "(x + y)^2 <= 2 x^2 + 2 y^2",
        inequality("(x + y)**2 <= 2*x**2 + 2*y**2", "x y"),
    ),
    row(
        "lemma43/generalisation",
        "eq. (17), (18)",
        "L sqrt(8 L^2/(mu^2 n^2)) = 2 sqrt 2 L^2/(mu n)",
        identity("L*sqrt(2/mu*4*L**2/(mu*n**2)) == 2*sqrt(2)*L**2/(mu*n)", "L mu n"),
    ),
    row(
        "lemma43/units",
        "Lemma 4.3",
        "mu |x|^2 and L^2/mu are values",
        units("mu*r**2 == L**2/mu", mu="v/l**2", r="l", L="v/l"),
    ),
    row(
        "lemmaB1/primal_smoothness",
        "Lemma B.1",
        "ell + ell^2/mu_y = (kappa_y + 1) ell",
        identity("ell + ell**2/mu_y == (kappa_y + 1)*ell", "ell mu_y", let={"kappa_y": "ell/mu_y"}),
        explain="Phi'' = f_xx + f_xy^2/mu_y; attained by a quadratic.",
    ),
    row(
        "lemmaB2/bilinear",
        "Lemma B.2",
        "the saddle point of c x y + mu_x (x-u)^2/2 - mu_y (y-v)^2/2 moves by at most the weighted move of (u, v)",
        inequality(
            "mu_x*x**2 + mu_y*y**2 <= mu_x*u**2 + mu_y*v**2",
            "",
            {"mu_x": "[1/10, 10]", "mu_y": "[1/10, 10]", "c": "[0, 10]", "u": "[-10, 10]", "v": "[-10, 10]"},
            let={"x": "(mu_x*u - c*v)/(mu_x + c**2/mu_y)", "y": "v + c*x/mu_y"},
        ),
        explain="A spot check of the lemma on the bilinear family; x and y are the differences.",
    ),
    row(
        "alg3/stability_of_x",
        "Appendix B.2",
        "mu_x r^2 <= 4L^2/(mu n^2) gives r <= 2L/(n sqrt(mu_x mu))",
        identity("mu_x*r**2 == 4*L**2/(mu*n**2)", "mu_x L mu n", let={"r": "2*L/(n*sqrt(mu_x*mu))"}),
        severity=PRIVACY,
    ),
    row(
        "alg3/solver_radius",
        "eq. (3)",
        "mu_x r^2 <= L^2/(mu n^2) gives r <= L/(n sqrt(mu_x mu))",
        identity("mu_x*r**2 == L**2/(mu*n**2)", "mu_x L mu n", let={"r": "L/(n*sqrt(mu_x*mu))"}),
        severity=PRIVACY,
    ),
    row(
        "alg3/sensitivity",
        "eq. (19)",
        "1 + 2 + 1 = 4 times L/(n sqrt(mu_x mu))",
        identity("r + 2*r + r == 4*L/(n*sqrt(mu_x*mu))", "mu_x L mu n", let={"r": "L/(n*sqrt(mu_x*mu))"}),
        severity=PRIVACY,
    ),
    row(
        "alg3/sigma_is_classical",
        "Algorithm 3, line 2",
        "sigma_x is the classical scale at (epsilon/2, delta/4)",
        identity(SIGMA3 + " == (" + SENS3 + ")*sqrt(2*log(1.25/(delta/4)))/(epsilon/2)", "L n mu_x mu", DP),
        severity=PRIVACY,
    ),
    row(
        "alg3/delta_split",
        "Appendix B.2",
        "per variable delta/4 for the noise and delta/4 for the two solver failures; two variables make delta",
        identity("2*(delta/4 + 2*(delta/8)) == delta", "delta"),
        severity=PRIVACY,
    ),
    row(
        "alg3/privacy_of_x",
        "Theorem 4.4",
        "the release of x alone is (epsilon/2, delta/2)-DP",
        privacy(SIGMA3, SENS3, "epsilon/2", "delta/2", "L", SC, failure="delta/4"),
        severity=PRIVACY,
    ),
    row(
        "alg3/privacy_joint",
        "Theorem 4.4",
        "x and y together are (epsilon, delta)-DP, counted as two releases",
        privacy(SIGMA3, SENS3, "epsilon", "delta", "L", SC, count="2", failure="delta/4"),
        severity=PRIVACY,
    ),
    row(
        "alg3/half_noise_for_joint",
        "Theorem 4.4",
        "half of the printed noise suffices for (x, y) jointly, since (3) and Lemma 4.3 bound the weighted sum",
        privacy("(" + SIGMA3 + ")/2", SENS3, "epsilon", "delta", "L", SC, count="1", failure="delta/4"),
        severity=PRIVACY,
        explain=(
            "In the norm mu_x |x|^2 + mu_y |y|^2 the pair moves by 4L/(n sqrt mu) in total, and sigma_x^2 mu_x = "
            "sigma_y^2 mu_y: the pair is one Gaussian release. The printed noise is generous by 2."
        ),
    ),
    row(
        "alg3/markov",
        "before Remark 3",
        "Markov at L^2/(mu n^2) on 2 gamma gives 2 gamma mu n^2/L^2",
        identity("2*gamma/(L**2/(mu*n**2)) == 2*gamma*mu*n**2/L**2", "gamma mu n L"),
    ),
    row(
        "alg3/gamma",
        "before Remark 3",
        "gamma = delta L^2/(16 mu n^2) makes it delta/8",
        identity("2*gamma*mu*n**2/L**2 == delta/8", "delta mu n L", let={"gamma": "delta*L**2/(16*mu*n**2)"}),
        severity=PRIVACY,
    ),
    row(
        "thm44/condition_numbers",
        "eq. (21)",
        "(kappa_y + 1) ell = (kappa_x kappa_y + kappa_x) mu_x",
        identity(
            "(kappa_y + 1)*ell == (kappa_x*kappa_y + kappa_x)*mu_x",
            "ell mu_x mu_y",
            let={"kappa_x": "ell/mu_x", "kappa_y": "ell/mu_y"},
        ),
    ),
    row(
        "thm44/kappa_is_larger",
        "eq. (21)",
        "kappa_x <= kappa = ell/min(mu_x, mu_y)",
        inequality("ell/mu_x <= max(ell/mu_x, ell/mu_y)", "ell mu_x mu_y"),
    ),
    row(
        "thm44/256",
        "eq. (21)",
        "mu_x d sigma_x^2 + mu_y d sigma_y^2 = 256 L^2 d log(5/delta)/(mu n^2 epsilon^2)",
        identity(
            (
                "mu_x*d*(8*L/(n*epsilon))**2*2*ell/(mu_x*mu) + mu_y*d*(8*L/(n*epsilon))**2*2*ell/(mu_y*mu) == "
                "256*L**2*d*ell/(mu*n**2*epsilon**2)"
            ),
            "mu_x mu_y mu d L n epsilon ell",
        ),
        severity=UTILITY,
    ),
    row(
        "thm44/solver",
        "eq. (22)",
        "2 gamma = delta L^2/(8 mu n^2)",
        identity("2*gamma == delta*L**2/(8*mu*n**2)", "delta mu n L", let={"gamma": "delta*L**2/(16*mu*n**2)"}),
        severity=UTILITY,
    ),
    row(
        "thm44/257",
        "Theorem 4.4",
        "256 X + delta/8 <= 257 X with X = d log(5/delta)/epsilon^2",
        inequality("256*X + delta/8 <= 257*X", "", BIG, let=X),
        severity=UTILITY,
    ),
    row("thm44/384", "Theorem 4.4", "3/2 times 256 is 384 = 3 * 128", identity("3*256/2 == 3*128")),
    row("thm44/solver_population", "Theorem 4.4", "3/2 times 1/8 is 3/16", identity("3/2*(1/8) == 3/16")),
    row(
        "thm44/generalisation",
        "Theorem 4.4",
        "(3/2) * 2 * 2 sqrt 2 = 6 sqrt 2",
        identity("3/2*2*2*sqrt(2) == 6*sqrt(2)"),
    ),
    row(
        "thm44/nine",
        "Theorem 4.4",
        "6 sqrt 2/n + 3 delta/(16 n^2) < 9/n",
        inequality("6*sqrt(2)/n + 3*delta/(16*n**2) < 9/n", "", {"n": "[1, 1000000]", "delta": "(0, 1)"}),
        severity=UTILITY,
    ),
    row(
        "thm44/table1_kappa",
        "Table 1 against Theorem 4.4",
        "kappa_x kappa_y + kappa = O(kappa^2) for kappa >= 1",
        rates("kx*ky + max(kx, ky) <= max(kx, ky)**2", "n", "n kx ky", conditions=("kx >= 1", "ky >= 1")),
    ),
    row(
        "thm44/units",
        "Theorem 4.4",
        "L^2 (kappa_x kappa_y + kappa)/mu is a value",
        units("L**2*(kx*ky + kx)/mu == v0", free="kx ky", L="v/l", mu="v/l**2", v0="v"),
    ),
]
