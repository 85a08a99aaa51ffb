"""output_perturbation: rows of eq10, thm37, remark2, remark1, lemma36."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import UTILITY, identity, inequality, rates, same

from .convex_terms import BIG, DP, GAMMA, THM37, X, row

ROWS = [
    row(
        "eq10/65",
        "eq. (10)",
        "64 X + delta^2/8 < 65 X",
        inequality("64*X + delta**2/8 < 65*X", "", BIG, let=X),
        severity=UTILITY,
    ),
    row(
        "eq10/noise",
        "eq. (10)",
        "2 d sigma_k^2 = 64 L^2 d log(2.5/delta)/(mu_k n-bar epsilon)^2",
        identity(
            (
                "2*d*(4*L*sqrt(2*log(2.5/delta))/(mu_k*nbar*epsilon))**2 == "
                "64*L**2*d*log(2.5/delta)/(mu_k*nbar*epsilon)**2"
            ),
            "L mu_k nbar d",
            DP,
        ),
        severity=UTILITY,
    ),
    row(
        "eq10/solver",
        "eq. (10)",
        "2 (2 gamma_k/mu_k) = delta^2 L^2/(8 mu_k^2 n-bar^2)",
        identity("2*(2*gamma/mu) == delta**2*L**2/(8*mu**2*n**2)", "delta L mu n", let={"gamma": GAMMA}),
    ),
    row("thm37/nine", "Theorem 3.7, (b)", "sqrt(65) <= 9", inequality("sqrt(65) <= 9")),
    row(
        "thm37/last_phase",
        "Theorem 3.7, (c)",
        "L^2/mu_K <= L D for mu_K = mu n and mu >= L/(D sqrt n)",
        inequality("L**2/(mu*n) <= L*D", "L D", {"n": "[1, 1000000]", "mu": "[L/(D*sqrt(n)), inf)"}),
        severity=UTILITY,
    ),
    row(
        "thm37/phase_ratio",
        "Theorem 3.7",
        "65 mu_k/(2 mu_{k-1}) = 65",
        identity("65*(mu*2**k)/(2*(mu*2**(k - 1))) == 65", "mu", {"k": "integer [2, 40]"}),
    ),
    row(
        "thm37/geometric_sum",
        "Theorem 3.7",
        "sum of 1/mu_k over the phases is below 1/mu",
        inequality("(1 - 2**(-K))/mu <= 1/mu", "mu", {"K": "[1, 60]"}),
    ),
    row("thm37/first_regulariser", "Theorem 3.7", "mu_1/2 = mu", identity("mu*2**1/2 == mu", "mu")),
    row(
        "thm37/constants",
        "Theorem 3.7, last line",
        (
            "9 b + 65 b^2/m + 2 K a^2/m + m <= 4 K a + 28 b, with m = max(a, 14 b), a = 1/sqrt n, b = K sqrt(d "
            "log)/(n epsilon)"
        ),
        inequality(THM37, "a b", {"K": "[1, 100]"}, let={"m": "max(a, 14*b)"}),
        severity=UTILITY,
        explain="9 + 65/14 + 14 = 27.6 <= 28 and 2K + 1 <= 4K.",
    ),
    row(
        "thm37/n_or_nbar",
        "Theorem 3.7 against its proof",
        "the leading term is the same in the theorem (1/sqrt n) and at the end of the proof (1/sqrt n-bar)",
        same({"theorem": "1/sqrt(n)", "proof": "1/sqrt(nbar)"}, "", {"n": "[16, 100000]"}, let={"nbar": "n/log2(n)"}),
        corrected="1/sqrt n in both",
        corrected_as_saved=True,
        reading="n-bar in the proof is a rendering of n",
        saved_by=inequality(THM37, "a b", {"K": "[1, 100]"}, let={"m": "max(a, 14*b)"}),
        garbling="bars over n appear in several places where n is meant (also over ell in Remark 2)",
    ),
    row(
        "thm37/start_at_zero",
        "Theorem 3.7",
        "mu |x* - x_0|^2 <= mu D^2 for every initialiser x_0",
        inequality("mu*(xs - x0)**2 <= mu*D**2", "mu D", {"xs": "[-D, D]", "x0": "[-10*D, 10*D]"}),
        severity=UTILITY,
        corrected="x_0 = 0 (said only in the proof), or |x_0 - x*| <= D",
        corrected_as_saved=True,
        condition="x_0 = 0",
        saved_by=inequality("mu*xs**2 <= mu*D**2", "mu", {"D": "(0, 100]", "xs": "[-D, D]"}),
    ),
    row(
        "remark2/svrg",
        "Remark 2",
        "sum of (n-bar + ell/mu_k) is n + sqrt(n) ell",
        rates("n + ell/mu == n + sqrt(n)*ell", "n", "n ell", let={"mu": "1/sqrt(n)"}),
        severity=UTILITY,
    ),
    row(
        "remark2/katyusha",
        "Remark 2",
        "sum of (n-bar + sqrt(n-bar ell/mu_k)) is n + n^(3/4) sqrt(ell)",
        rates("n + sqrt(n*ell/mu) == n + n**(3/4)*sqrt(ell)", "n", "n ell", let={"mu": "1/sqrt(n)"}),
        severity=UTILITY,
    ),
    row(
        "remark2/mu_lower",
        "before Remark 2",
        "1/mu = O(sqrt n) with L and D constant",
        rates(
            "1/mu <= sqrt(n)",
            "n",
            "n d ell epsilon",
            conditions=("ell >= 1", "d >= 1", "epsilon <= 1"),
            let={"mu": "max(1/sqrt(n), sqrt(d*ell)/(n*epsilon))"},
        ),
    ),
    row(
        "remark1/log_gamma",
        "Remark 1",
        "log(1/gamma) is of the order of log(n/delta) (L, mu constant)",
        identity("log(1/gamma) == 2*log(n/delta) + log(32)", "n", DP, let={"gamma": "delta**2/(32*n**2)"}),
    ),
]
