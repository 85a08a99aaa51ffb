# ruff: noqa: E501
# fmt: off
"""output_perturbation: Sections 2 and 3, Appendix A (strongly convex and convex minimisation)."""

from __future__ import annotations

from .build import PRIVACY, UTILITY, budget, identity, inequality, privacy, program, rates, rows_of, same, units

row = rows_of("output_perturbation")
DP = {"epsilon": "(0, 1)", "delta": "(1/100000000, 1/100)"}
BIG = {"epsilon": "(0, 1)", "delta": "(1/100000000, 1/2)", "d": "[1, 10000]"}
X = {"X": "d*log(2.5/delta)/epsilon**2"}
SIGMA1 = "4*L*sqrt(2*log(2.5/delta))/(mu*n*epsilon)"
GAMMA = "delta**2*L**2/(32*mu*n**2)"
THM37 = "9*b + 65*b**2/m + 2*K*a**2/m + m <= 4*K*a + 28*b"

ROWS = [
    row("def2/gaussian_mechanism", "Definition 2", "noise Delta sqrt(2 log(1.25/delta))/epsilon is (epsilon, delta)-DP for epsilon < 1",
        privacy("D*sqrt(2*log(1.25/delta))/epsilon", "D", "epsilon", "delta", "D", DP), severity=PRIVACY),
    row("lemma33/stability", "Lemma 3.3, eq. (5)", "mu r^2 <= (2L/n) r gives r <= 2L/(mu n)", identity("mu*r**2 == 2*L/n*r", "mu L n", let={"r": "2*L/(mu*n)"}), severity=PRIVACY),
    row("lemma35/stability_attained", "Lemma 3.5", "linear losses +-L x with regulariser mu x^2/2 attain the stability 2L/(mu n)",
        identity("L/mu*(s/n + 1/n) - L/mu*(s/n - 1/n) == 2*L/(mu*n)", "L mu n s"), severity=PRIVACY, explain="x* = -(L/mu) mean(sign); replacing one sign moves it by 2L/(mu n)."),
    row("lemma33/generalisation", "Lemma 3.3, eq. (e)", "Lipschitz constant times stability is 2 L^2/(mu n)", identity("L*(2*L/(mu*n)) == 2*L**2/(mu*n)", "L mu n")),
    row("lemma33/units", "Lemma 3.3", "2L/(mu n) is a length and 2L^2/(mu n) a value", units("L**2/mu == v0", L="v/l", mu="v/l**2", v0="v")),
    row("alg1/sensitivity", "eq. (8)", "solver error + stability + solver error = 4L/(mu n)", identity("L/(mu*n) + 2*L/(mu*n) + L/(mu*n) == 4*L/(mu*n)", "L mu n"), severity=PRIVACY),
    row("alg1/failure", "eq. (8)", "two solver failures of delta/4 use half of delta", identity("delta/4 + delta/4 == delta/2", "delta"), severity=PRIVACY),
    row("alg1/sigma_is_classical", "Algorithm 1", "sigma is the classical scale for sensitivity 4L/(mu n) at (epsilon, delta/2)",
        identity(SIGMA1 + " == (4*L/(mu*n))*sqrt(2*log(1.25/(delta/2)))/epsilon", "L mu n", DP), severity=PRIVACY),
    row("alg1/privacy", "Theorem 3.4", "Algorithm 1 is (epsilon, delta)-DP: exact accounting at delta/2, the rest for the solver's failure",
        privacy(SIGMA1, "4*L/(mu*n)", "epsilon", "delta", "L mu", {**DP, "n": "integer [10, 1000000]"}, failure="delta/2"), severity=PRIVACY),
    row("alg1/markov", "before Remark 1", "Markov on sqrt(2 gamma/mu) at the threshold L/(mu n) gives n sqrt(2 gamma mu)/L",
        identity("sqrt(2*gamma/mu)/(L/(mu*n)) == n*sqrt(2*gamma*mu)/L", "gamma mu L n")),
    row("alg1/gamma", "before Remark 1", "gamma = delta^2 L^2/(32 mu n^2) makes the failure probability delta/4",
        identity("n*sqrt(2*gamma*mu)/L == delta/4", "delta mu L n", let={"gamma": GAMMA}), severity=PRIVACY),
    row("alg1/gamma_units", "before Remark 1", "gamma is a value", units("L**2/mu == gamma", L="v/l", mu="v/l**2", gamma="v")),
    row("thm34/noise_energy", "eq. (9)", "d sigma^2 = 32 L^2 d log(2.5/delta)/(mu^2 n^2 epsilon^2)", identity("d*(" + SIGMA1 + ")**2 == 32*L**2*d*log(2.5/delta)/(mu*n*epsilon)**2", "L mu n d", DP), severity=UTILITY),
    row("thm34/solver_energy", "eq. (9)", "2 gamma/mu = delta^2 L^2/(16 mu^2 n^2)", identity("2*gamma/mu == delta**2*L**2/(16*mu**2*n**2)", "delta L mu n", let={"gamma": GAMMA}), severity=UTILITY),
    row("thm34/33", "eq. (9)", "32 X + delta^2/16 < 33 X with X = d log(2.5/delta)/epsilon^2", inequality("32*X + delta**2/16 < 33*X", "", BIG, let=X), severity=UTILITY),
    row("thm34/33_without_expectation", "Theorem 3.4 with Algorithm 1's requirement alone", "the empirical bound holds for every solver that is good with probability 1 - delta/4 (f = mu x^2/2 on |x| <= L/mu, kappa = 1: the solver ends at L/mu with probability delta/4; in units of L^2/(mu n^2))",
        inequality("16*X + n**2*delta/8 <= 33*X", "", {"n": "integer [10, 100000]", "epsilon": "(0, 1)", "delta": "(1/100000000, 1/n)"}, let={"X": "log(2.5/delta)/epsilon**2"}, hints=[{"n": "100000", "epsilon": "1/2", "delta": "1/200000"}]), severity=UTILITY,
        corrected="ask for E|A(S) - x^|^2 <= delta^2 L^2/(16 mu^2 n^2) in Algorithm 1 as well", reading="the solvers of Remark 1, which guarantee the expectation",
        reading_claim=inequality("32*X + delta**2/16 < 33*X", "", BIG, let=X), explain="The noise costs 16 X and the failure (mu/2) (L/mu)^2 delta/4. The proof's third inequality names Remark 1's solvers; Algorithm 1 does not."),
    row("thm34/population_noise", "Theorem 3.4", "3/2 times 32 is 48", identity("3*32/2 == 48")),
    row("thm34/population_generalisation", "Theorem 3.4", "(3/2) (2/mu) (2L^2/(mu n)) = 6 L^2/(mu^2 n)", identity("3/2*(2/mu)*(2*L**2/(mu*n)) == 6*L**2/(mu**2*n)", "L mu n"), severity=UTILITY),
    row("thm34/population_solver", "Theorem 3.4", "(3/2) delta^2/16 = 3 delta^2/32", identity("3/2*delta**2/16 == 3*delta**2/32", "delta")),
    row("thm34/seven", "Theorem 3.4", "6/n + 3 delta^2/(32 n^2) < 7/n", inequality("6/n + 3*delta**2/(32*n**2) < 7/n", "", {"n": "[1, 1000000]", "delta": "(0, 1)"}), severity=UTILITY),
    row("thm34/kappa", "Theorem 3.4", "ell L^2/(mu^2 n) = L^2 kappa/(mu n)", identity("ell*L**2/(mu**2*n) == L**2*kappa/(mu*n)", "ell L mu n", let={"kappa": "ell/mu"})),
    row("thm34/units", "Theorem 3.4", "L^2 kappa d/(mu n^2 epsilon^2) is a value", units("L**2*kappa*d/(mu*n**2*epsilon**2) == v0", free="kappa d n epsilon", L="v/l", mu="v/l**2", v0="v")),
    row("thm34/output_in_domain", "Algorithms 1 to 5", "inferred, not claimed: the noisy output, at which the theorems evaluate F, stays in the bounded domain, on which f is assumed Lipschitz and smooth",
        inequality("2*(1 - Phi(r/sigma)) <= 0", "r sigma"), severity=UTILITY, corrected="project onto X (post-processing), or assume that f is smooth (Theorems 3.7 and 4.8: Lipschitz) on R^d",
        reading="f is Lipschitz on X and smooth on R^d, as mu x^2/2 is: the proofs of Theorems 3.4 and 4.4 use no more; Theorems 3.7 and 4.8 need f Lipschitz on R^d, which a convex f can be",
        reading_claim=inequality("mu*x**2/2 + mu*x*(y - x) + mu*(y - x)**2/2 <= mu*y**2/2", "mu", {"x": "[-10, 10]", "y": "[-1000, 1000]"}),
        explain="A strongly convex Lipschitz function needs a bounded domain (|x - x*| <= 2L/mu), and Gaussian noise leaves it."),
    row("sec3/bounded_domain", "Assumption 3.2", "mu-strongly convex and L-Lipschitz: (mu/2) r^2 <= L r bounds the radius by 2L/mu", identity("mu/2*r**2 == L*r", "mu L", let={"r": "2*L/mu"})),
    row("alg2/K_integer", "Algorithm 2, line 1", "K = log(n) is a number of phases", identity("log2(n) == floor(log2(n))", "", {"n": "integer [2, 100000]"}),
        corrected="K = floor(log2(n)), n-bar = floor(n/K); mu_K is then between mu n/2 and mu n", reading="n is a power of two",
        reading_claim=identity("log2(2**j) == floor(log2(2**j))", "", {"j": "integer [1, 30]"})),
    row("alg2/base_of_log", "Algorithm 2 and its proof", "mu_K = mu 2^K = mu n with the natural logarithm", identity("mu*2**log(n) == mu*n", "mu", {"n": "[2, 100000]"}),
        corrected="the logarithm must have base 2", reading="base 2", reading_claim=identity("mu*2**log2(n) == mu*n", "mu", {"n": "[2, 100000]"})),
    row("alg2/budget", "Algorithm 2", "K phases of n/K records use every record once", budget("K*(n/K) <= n", "K n"), severity=PRIVACY),
    row("alg2/parallel", "Lemma A.1", "a record is in one phase, so one phase's (epsilon, delta) is the whole cost (max, not sum)",
        privacy("4*L*sqrt(2*log(2.5/delta))/(mu_k*nbar*epsilon)", "4*L/(mu_k*nbar)", "epsilon", "delta", "L mu_k", {**DP, "nbar": "integer [10, 100000]"}, failure="delta/2"), severity=PRIVACY,
        explain="Looks K times too small and is right: phases are disjoint and later phases only post-process. Other phases' solver failures do not touch the replaced record."),
    row("alg2/sigma_k", "Algorithm 2, line 5", "sigma_k is Algorithm 1's sigma with (mu_k, n-bar)",
        identity("4*L*sqrt(2*log(2.5/delta))/(mu_k*nbar*epsilon) == (4*L/(mu_k*nbar))*sqrt(2*log(1.25/(delta/2)))/epsilon", "L mu_k nbar", DP), severity=PRIVACY),
    row("alg2/order", "Algorithm 2", "every variable of a phase is written before it is read", program("S n x_0 mu L epsilon delta", "1: K nbar x_tilde <- n x_0", "loop", "3: mu_k <- mu", "4: x_k <- S nbar mu_k x_tilde", "5: x_tilde <- x_k mu_k nbar L epsilon delta", "end", "out: <- x_tilde")),
    row("eq10/65", "eq. (10)", "64 X + delta^2/8 < 65 X", inequality("64*X + delta**2/8 < 65*X", "", BIG, let=X), severity=UTILITY),
    row("eq10/noise", "eq. (10)", "2 d sigma_k^2 = 64 L^2 d log(2.5/delta)/(mu_k n-bar epsilon)^2",
        identity("2*d*(4*L*sqrt(2*log(2.5/delta))/(mu_k*nbar*epsilon))**2 == 64*L**2*d*log(2.5/delta)/(mu_k*nbar*epsilon)**2", "L mu_k nbar d", DP), severity=UTILITY),
    row("eq10/solver", "eq. (10)", "2 (2 gamma_k/mu_k) = delta^2 L^2/(8 mu_k^2 n-bar^2)", identity("2*(2*gamma/mu) == delta**2*L**2/(8*mu**2*n**2)", "delta L mu n", let={"gamma": GAMMA})),
    row("thm37/nine", "Theorem 3.7, (b)", "sqrt(65) <= 9", inequality("sqrt(65) <= 9")),
    row("thm37/last_phase", "Theorem 3.7, (c)", "L^2/mu_K <= L D for mu_K = mu n and mu >= L/(D sqrt n)", inequality("L**2/(mu*n) <= L*D", "L D", {"n": "[1, 1000000]", "mu": "[L/(D*sqrt(n)), inf)"}), severity=UTILITY),
    row("thm37/phase_ratio", "Theorem 3.7", "65 mu_k/(2 mu_{k-1}) = 65", identity("65*(mu*2**k)/(2*(mu*2**(k - 1))) == 65", "mu", {"k": "integer [2, 40]"})),
    row("thm37/geometric_sum", "Theorem 3.7", "sum of 1/mu_k over the phases is below 1/mu", inequality("(1 - 2**(-K))/mu <= 1/mu", "mu", {"K": "[1, 60]"})),
    row("thm37/first_regulariser", "Theorem 3.7", "mu_1/2 = mu", identity("mu*2**1/2 == mu", "mu")),
    row("thm37/constants", "Theorem 3.7, last line", "9 b + 65 b^2/m + 2 K a^2/m + m <= 4 K a + 28 b, with m = max(a, 14 b), a = 1/sqrt n, b = K sqrt(d log)/(n epsilon)",
        inequality(THM37, "a b", {"K": "[1, 100]"}, let={"m": "max(a, 14*b)"}), severity=UTILITY, explain="9 + 65/14 + 14 = 27.6 <= 28 and 2K + 1 <= 4K."),
    row("thm37/n_or_nbar", "Theorem 3.7 against its proof", "the leading term is the same in the theorem (1/sqrt n) and at the end of the proof (1/sqrt n-bar)",
        same({"theorem": "1/sqrt(n)", "proof": "1/sqrt(nbar)"}, "", {"n": "[16, 100000]"}, let={"nbar": "n/log2(n)"}), corrected="1/sqrt n in both", reading="n-bar in the proof is a rendering of n",
        reading_claim=inequality(THM37, "a b", {"K": "[1, 100]"}, let={"m": "max(a, 14*b)"}), garbling="bars over n appear in several places where n is meant (also over ell in Remark 2)"),
    row("thm37/start_at_zero", "Theorem 3.7", "mu |x* - x_0|^2 <= mu D^2 for every initialiser x_0", inequality("mu*(xs - x0)**2 <= mu*D**2", "mu D", {"xs": "[-D, D]", "x0": "[-10*D, 10*D]"}), severity=UTILITY,
        corrected="x_0 = 0 (said only in the proof), or |x_0 - x*| <= D", reading="x_0 = 0", reading_claim=inequality("mu*xs**2 <= mu*D**2", "mu", {"D": "(0, 100]", "xs": "[-D, D]"})),
    row("thm37/rate", "Section 1", "the bound is 1/sqrt n + sqrt(d log(1/delta))/(n epsilon) up to logarithms (ell = log(1/delta))",
        rates("log(n)*(1/sqrt(n) + sqrt(d*ell)/(n*epsilon)) == 1/sqrt(n) + sqrt(d*ell)/(n*epsilon)", "n", "n d ell epsilon", conditions=("ell >= 1", "d >= 1", "epsilon <= 1"))),
    row("remark2/svrg", "Remark 2", "sum of (n-bar + ell/mu_k) is n + sqrt(n) ell", rates("n + ell/mu == n + sqrt(n)*ell", "n", "n ell", let={"mu": "1/sqrt(n)"}), severity=UTILITY),
    row("remark2/katyusha", "Remark 2", "sum of (n-bar + sqrt(n-bar ell/mu_k)) is n + n^(3/4) sqrt(ell)", rates("n + sqrt(n*ell/mu) == n + n**(3/4)*sqrt(ell)", "n", "n ell", let={"mu": "1/sqrt(n)"}), severity=UTILITY),
    row("remark2/mu_lower", "before Remark 2", "1/mu = O(sqrt n) with L and D constant", rates("1/mu <= sqrt(n)", "n", "n d ell epsilon", conditions=("ell >= 1", "d >= 1", "epsilon <= 1"), let={"mu": "max(1/sqrt(n), sqrt(d*ell)/(n*epsilon))"})),
    row("remark1/log_gamma", "Remark 1", "log(1/gamma) is of the order of log(n/delta) (L, mu constant)", identity("log(1/gamma) == 2*log(n/delta) + log(32)", "n", DP, let={"gamma": "delta**2/(32*n**2)"})),
    row("lemma36/regulariser_dropped", "Lemma 3.6", "dropping mu_k/2 |x_k - x_{k-1}|^2 >= 0 only weakens the bound", inequality("F <= F + mu_k/2*r**2", "F mu_k r")),
]
