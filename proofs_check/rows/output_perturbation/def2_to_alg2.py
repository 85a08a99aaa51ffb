"""output_perturbation: rows of def2, lemma33, lemma35, alg1, thm34, sec3, alg2."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import PRIVACY, UTILITY, identity, inequality, privacy, program, units

from .convex_terms import BIG, DP, GAMMA, SIGMA1, X, row

ROWS = [
    row(
        "def2/gaussian_mechanism",
        "Definition 2",
        "noise Delta sqrt(2 log(1.25/delta))/epsilon is (epsilon, delta)-DP for epsilon < 1",
        privacy("D*sqrt(2*log(1.25/delta))/epsilon", "D", "epsilon", "delta", "D", DP),
        severity=PRIVACY,
    ),
    row(
        "lemma33/stability",
        "Lemma 3.3, eq. (5)",
        "mu r^2 <= (2L/n) r gives r <= 2L/(mu n)",
        identity("mu*r**2 == 2*L/n*r", "mu L n", let={"r": "2*L/(mu*n)"}),
        severity=PRIVACY,
    ),
    row(
        "lemma35/stability_attained",
        "Lemma 3.5",
        "linear losses +-L x with regulariser mu x^2/2 attain the stability 2L/(mu n)",
        identity("L/mu*(s/n + 1/n) - L/mu*(s/n - 1/n) == 2*L/(mu*n)", "L mu n s"),
        severity=PRIVACY,
        explain="x* = -(L/mu) mean(sign); replacing one sign moves it by 2L/(mu n).",
    ),
    row(
        "lemma33/generalisation",
        "Lemma 3.3, eq. (e)",
        "Lipschitz constant times stability is 2 L^2/(mu n)",
        identity("L*(2*L/(mu*n)) == 2*L**2/(mu*n)", "L mu n"),
    ),
    row(
        "lemma33/units",
        "Lemma 3.3",
        "2L/(mu n) is a length and 2L^2/(mu n) a value",
        units("L**2/mu == v0", L="v/l", mu="v/l**2", v0="v"),
    ),
    row(
        "alg1/sensitivity",
        "eq. (8)",
        "solver error + stability + solver error = 4L/(mu n)",
        identity("L/(mu*n) + 2*L/(mu*n) + L/(mu*n) == 4*L/(mu*n)", "L mu n"),
        severity=PRIVACY,
    ),
    row(
        "alg1/failure",
        "eq. (8)",
        "two solver failures of delta/4 use half of delta",
        identity("delta/4 + delta/4 == delta/2", "delta"),
        severity=PRIVACY,
    ),
    row(
        "alg1/sigma_is_classical",
        "Algorithm 1",
        "sigma is the classical scale for sensitivity 4L/(mu n) at (epsilon, delta/2)",
        identity(SIGMA1 + " == (4*L/(mu*n))*sqrt(2*log(1.25/(delta/2)))/epsilon", "L mu n", DP),
        severity=PRIVACY,
    ),
    row(
        "alg1/privacy",
        "Theorem 3.4",
        "Algorithm 1 is (epsilon, delta)-DP: exact accounting at delta/2, the rest for the solver's failure",
        privacy(
            SIGMA1, "4*L/(mu*n)", "epsilon", "delta", "L mu", {**DP, "n": "integer [10, 1000000]"}, failure="delta/2"
        ),
        severity=PRIVACY,
    ),
    row(
        "alg1/markov",
        "before Remark 1",
        "Markov on sqrt(2 gamma/mu) at the threshold L/(mu n) gives n sqrt(2 gamma mu)/L",
        identity("sqrt(2*gamma/mu)/(L/(mu*n)) == n*sqrt(2*gamma*mu)/L", "gamma mu L n"),
    ),
    row(
        "alg1/gamma",
        "before Remark 1",
        "gamma = delta^2 L^2/(32 mu n^2) makes the failure probability delta/4",
        identity("n*sqrt(2*gamma*mu)/L == delta/4", "delta mu L n", let={"gamma": GAMMA}),
        severity=PRIVACY,
    ),
    row(
        "alg1/gamma_units",
        "before Remark 1",
        "gamma is a value",
        units("L**2/mu == gamma", L="v/l", mu="v/l**2", gamma="v"),
    ),
    row(
        "thm34/noise_energy",
        "eq. (9)",
        "d sigma^2 = 32 L^2 d log(2.5/delta)/(mu^2 n^2 epsilon^2)",
        identity("d*(" + SIGMA1 + ")**2 == 32*L**2*d*log(2.5/delta)/(mu*n*epsilon)**2", "L mu n d", DP),
        severity=UTILITY,
    ),
    row(
        "thm34/solver_energy",
        "eq. (9)",
        "2 gamma/mu = delta^2 L^2/(16 mu^2 n^2)",
        identity("2*gamma/mu == delta**2*L**2/(16*mu**2*n**2)", "delta L mu n", let={"gamma": GAMMA}),
        severity=UTILITY,
    ),
    row(
        "thm34/33",
        "eq. (9)",
        "32 X + delta^2/16 < 33 X with X = d log(2.5/delta)/epsilon^2",
        inequality("32*X + delta**2/16 < 33*X", "", BIG, let=X),
        severity=UTILITY,
    ),
    row(
        "thm34/33_without_expectation",
        "Theorem 3.4 with Algorithm 1's requirement alone",
        (
            "the empirical bound holds for every solver that is good with probability 1 - delta/4 (f = mu x^2/2 on "
            "|x| <= L/mu, kappa = 1: the solver ends at L/mu with probability delta/4; in units of L^2/(mu n^2))"
        ),
        inequality(
            "16*X + n**2*delta/8 <= 33*X",
            "",
            {"n": "integer [10, 100000]", "epsilon": "(0, 1)", "delta": "(1/100000000, 1/n)"},
            let={"X": "log(2.5/delta)/epsilon**2"},
            hints=[{"n": "100000", "epsilon": "1/2", "delta": "1/200000"}],
        ),
        severity=UTILITY,
        corrected="ask for E|A(S) - x^|^2 <= delta^2 L^2/(16 mu^2 n^2) in Algorithm 1 as well: then the 33 holds",
        corrected_as_saved=True,
        condition="the solvers of Remark 1, which guarantee the expectation",
        saved_by=inequality("32*X + delta**2/16 < 33*X", "", BIG, let=X),
        explain=(
            "The noise costs 16 X and the failure (mu/2) (L/mu)^2 delta/4. The proof's third inequality names "
            "Remark 1's solvers; Algorithm 1 does not."
        ),
    ),
    row("thm34/population_noise", "Theorem 3.4", "3/2 times 32 is 48", identity("3*32/2 == 48")),
    row(
        "thm34/population_generalisation",
        "Theorem 3.4",
        "(3/2) (2/mu) (2L^2/(mu n)) = 6 L^2/(mu^2 n)",
        identity("3/2*(2/mu)*(2*L**2/(mu*n)) == 6*L**2/(mu**2*n)", "L mu n"),
        severity=UTILITY,
    ),
    row(
        "thm34/population_solver",
        "Theorem 3.4",
        "(3/2) delta^2/16 = 3 delta^2/32",
        identity("3/2*delta**2/16 == 3*delta**2/32", "delta"),
    ),
    row(
        "thm34/seven",
        "Theorem 3.4",
        "6/n + 3 delta^2/(32 n^2) < 7/n",
        inequality("6/n + 3*delta**2/(32*n**2) < 7/n", "", {"n": "[1, 1000000]", "delta": "(0, 1)"}),
        severity=UTILITY,
    ),
    row(
        "thm34/kappa",
        "Theorem 3.4",
        "ell L^2/(mu^2 n) = L^2 kappa/(mu n)",
        identity("ell*L**2/(mu**2*n) == L**2*kappa/(mu*n)", "ell L mu n", let={"kappa": "ell/mu"}),
    ),
    row(
        "thm34/units",
        "Theorem 3.4",
        "L^2 kappa d/(mu n^2 epsilon^2) is a value",
        units("L**2*kappa*d/(mu*n**2*epsilon**2) == v0", free="kappa d n epsilon", L="v/l", mu="v/l**2", v0="v"),
    ),
    row(
        "sec3/bounded_domain",
        "Assumption 3.2",
        "mu-strongly convex and L-Lipschitz: (mu/2) r^2 <= L r bounds the radius by 2L/mu",
        identity("mu/2*r**2 == L*r", "mu L", let={"r": "2*L/mu"}),
    ),
    row(
        "alg2/K_integer",
        "Algorithm 2, line 1",
        "K = log(n) is a number of phases",
        identity("log2(n) == floor(log2(n))", "", {"n": "integer [2, 100000]"}),
        corrected="K = floor(log2(n)), n-bar = floor(n/K): the phases fit, and mu_K is between mu n/2 and mu n",
        corrected_claim=inequality(
            "max(n/(2*2**K), 2**K/n, K*floor(n/K)/n) <= 1",
            "",
            {"n": "integer [2, 100000]"},
            let={"K": "floor(log2(n))"},
        ),
        condition="n is a power of two",
        saved_by=identity("log2(2**j) == floor(log2(2**j))", "", {"j": "integer [1, 30]"}),
    ),
    row(
        "alg2/parallel",
        "Lemma A.1, Algorithm 2",
        "record i is in exactly one of the phases of m records each: (k - 1) m < i <= k m",
        identity("ceil(i/m) - floor((i - 1)/m) == 1", "", {"i": "integer [1, 10000]", "m": "integer [1, 1000]"}),
        severity=PRIVACY,
        explain=(
            "So one phase's (epsilon, delta) is the whole cost (the maximum, not the sum): later phases only "
            "post-process. Other phases' solver failures do not touch the replaced record."
        ),
    ),
    row(
        "alg2/sigma_k",
        "Algorithm 2, line 5",
        "sigma_k is Algorithm 1's sigma with (mu_k, n-bar)",
        identity(
            "4*L*sqrt(2*log(2.5/delta))/(mu_k*nbar*epsilon) == (4*L/(mu_k*nbar))*sqrt(2*log(1.25/(delta/2)))/epsilon",
            "L mu_k nbar",
            DP,
        ),
        severity=PRIVACY,
    ),
    row(
        "alg2/order",
        "Algorithm 2",
        "every name of a phase is in the Input line or written before it is read (line 5 reads L)",
        program(
            "S n x_0 mu epsilon delta",
            "1: K nbar x_tilde <- n x_0",
            "loop",
            "3: mu_k <- mu",
            "4: x_k <- S nbar mu_k x_tilde",
            "5: x_tilde <- x_k mu_k nbar L epsilon delta",
            "end",
            "out: <- x_tilde",
        ),
        corrected="L among the inputs",
        corrected_as_saved=True,
        reading="L is the known constant of Assumption 3.2",
        saved_by=program(
            "S n x_0 mu epsilon delta L",
            "1: K nbar x_tilde <- n x_0",
            "loop",
            "3: mu_k <- mu",
            "4: x_k <- S nbar mu_k x_tilde",
            "5: x_tilde <- x_k mu_k nbar L epsilon delta",
            "end",
            "out: <- x_tilde",
        ),
    ),
]
