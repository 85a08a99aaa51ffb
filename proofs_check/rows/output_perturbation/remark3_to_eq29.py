"""output_perturbation: rows of remark3, alg4, alg45, lemma45, lemma47, eq26, eq27, eq28, eq29."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import PRIVACY, UTILITY, identity, inequality, privacy, program, rates, same

from .minimax_terms import AB, BIG, DP, SC, SENS3, SIGMA3, X, row

ROWS = [
    row(
        "remark3/acc_svrg_places",
        "Remark 3 against Tables 1 and 2",
        "the complexity of Acc-SVRG/SAGA is the same in the remark and in the tables",
        same(
            {"Remark 3": "n + sqrt(n*kappa)", "Table 2": "n + sqrt(n)*kappa"},
            "",
            {"n": "[2, 100000]", "kappa": "[1, 1000]"},
        ),
        corrected_by="remark3/below_lower_bound",
        corrected="n + sqrt(n) kappa",
        reading="the root covers n only",
        saved_by=same(
            {"Remark 3": "n + sqrt(n)*kappa", "Table 2": "n + sqrt(n)*kappa"},
            "",
            {"n": "[2, 100000]", "kappa": "[1, 1000]"},
        ),
        garbling="the extent of the root is likely lost in rendering",
    ),
    row(
        "remark3/below_lower_bound",
        "Section 4.1",
        (
            "n + sqrt(n kappa) respects the lower bound n + sqrt(n kappa_x kappa_y) + n^(3/4) sqrt(kappa) named in "
            "the same paragraph"
        ),
        rates(
            "n + sqrt(n*kx*ky) + n**(3/4)*sqrt(max(kx, ky)) <= n + sqrt(n*max(kx, ky))",
            "n",
            "n kx ky",
            conditions=("kx >= 1", "ky >= 1"),
        ),
        corrected="n + sqrt(n) kappa",
        corrected_as_saved=True,
        reading="sqrt(n) kappa was meant",
        saved_by=rates(
            "n + sqrt(n*kx*ky) + n**(3/4)*sqrt(max(kx, ky)) <= n + sqrt(n)*max(kx, ky)",
            "n",
            "n kx ky",
            conditions=("kx >= 1", "ky >= 1"),
        ),
        garbling="the extent of the root is likely lost in rendering",
        defect="remark3/acc_svrg_places",
    ),
    row(
        "alg4/K_integer",
        "Algorithms 4 and 5, line 1",
        "K = log(n) is a number of phases",
        identity("log2(n) == floor(log2(n))", "", {"n": "integer [2, 100000]"}),
        corrected_by="alg2/K_integer",
        corrected="K = floor(log2 n), n-bar = floor(n/K)",
        condition="n is a power of two",
        saved_by=identity("log2(2**j) == floor(log2(2**j))", "", {"j": "integer [1, 30]"}),
        defect="alg2/K_integer",
    ),
    row(
        "alg4/order",
        "Algorithm 4",
        "every name of a phase is in the Input line or written before it is read (line 5 reads L)",
        program(
            "S n x_0 mu epsilon delta",
            "1: K nbar x_tilde <- n x_0",
            "loop",
            "3: mu_k <- mu",
            "4: x_k y_k <- S nbar mu_k mu x_tilde",
            "5: x_tilde <- x_k mu_k mu nbar L epsilon delta",
            "end",
            "out: <- x_tilde",
        ),
        corrected="L among the inputs",
        corrected_as_saved=True,
        reading="L is the known constant of the assumptions; y_k is read by nobody later",
        saved_by=program(
            "S n x_0 mu epsilon delta L",
            "1: K nbar x_tilde <- n x_0",
            "loop",
            "3: mu_k <- mu",
            "4: x_k y_k <- S nbar mu_k mu x_tilde",
            "5: x_tilde <- x_k mu_k mu nbar L epsilon delta",
            "end",
            "out: <- x_tilde",
        ),
        defect="alg2/order",
    ),
    row(
        "alg4/sigma_k",
        "Algorithm 4, line 5",
        "sigma_k is the classical scale for 4L/(n-bar sqrt(mu_k mu)) at (epsilon/2, delta/4)",
        identity(
            (
                "(8*L/(nbar*epsilon))*sqrt(2*log(5/delta)/(mu_k*mu)) == "
                "4*L/(nbar*sqrt(mu_k*mu))*sqrt(2*log(1.25/(delta/4)))/(epsilon/2)"
            ),
            "L nbar mu_k mu",
            DP,
        ),
        severity=PRIVACY,
    ),
    row(
        "alg4/privacy",
        "Section 4.2",
        "Algorithm 4 is (epsilon/2, delta/2)-DP",
        privacy(SIGMA3, SENS3, "epsilon/2", "delta/2", "L", SC, failure="delta/4"),
        severity=PRIVACY,
        explain="mu_k plays mu_x and min(mu_k, mu) = mu.",
    ),
    row(
        "alg45/composition",
        "Theorem 4.8",
        "Algorithms 4 and 5 on the same data: two releases per record are (epsilon, delta)-DP",
        privacy(SIGMA3, SENS3, "epsilon", "delta", "L", SC, count="2", failure="delta/2"),
        severity=PRIVACY,
    ),
    row(
        "lemma45/one_block",
        "Lemma 4.5",
        (
            "x alone moves by at most L/(n sqrt(mu (mu_k - mu))) for mu_k >= 2 mu: the largest value of 1/(s mu) - "
            "(mu_k - mu)/(s^2 mu) over s"
        ),
        inequality(
            "1/(s*mu) - (mu_k - mu)/(s**2*mu) <= 1/(4*mu*(mu_k - mu))",
            "s mu",
            let={"mu_k": "2*mu + u"},
            domain={"u": "[0, inf)"},
        ),
        severity=UTILITY,
        explain="s runs over the Schur complement's spectrum; attained by a bilinear game.",
    ),
    row(
        "lemma45/slack",
        "Lemma 4.5",
        "for one block that is at most 1/sqrt 2 of the lemma's 2L/(n sqrt(mu_k mu)) for mu_k >= 2 mu",
        inequality("1/(mu*(mu_k - mu)) <= (1/2)*4/(mu_k*mu)", "mu", let={"mu_k": "2*mu + u"}, domain={"u": "[0, inf)"}),
        severity=UTILITY,
    ),
    row(
        "alg45/both_move",
        "Theorem 4.8",
        (
            "in phase 2 a pair moves x in Algorithm 4 and y in Algorithm 5 by 0.99 of the sharp bound each: "
            "sqrt(5)/(10 - 2 sqrt 5) against sqrt(2)/(2 sqrt 3)"
        ),
        inequality("99/100*sqrt(2)/(2*sqrt(3)) <= sqrt(5)/(10 - 2*sqrt(5))"),
        severity=PRIVACY,
        explain=(
            "So two Gaussians per record must be counted; the coupling of the pair changes sign between the two "
            "saddle points."
        ),
    ),
    row(
        "lemma47/twelve",
        "Lemma 4.7, proof",
        "3 (4 + 2 delta/8) = 12 + 3 delta/4",
        identity("3*(4 + 2*delta/8) == 12 + 3*delta/4", "delta"),
    ),
    row(
        "lemma47/26",
        "Lemma 4.7, proof",
        "2 (12 + 3 delta/4) <= 26",
        inequality("2*(12 + 3*delta/4) <= 26", "", {"delta": "[0, 1]"}),
    ),
    row("lemma47/eight", "Lemma 4.7, proof", "2 sqrt 2 + sqrt 26 < 8", inequality("2*sqrt(2) + sqrt(26) < 8")),
    row(
        "lemma47/delta_y",
        "Lemma 4.7, proof",
        "mu r^2 = 26 L^2/(mu n-bar^2) means r = sqrt(26) L/(mu n-bar)",
        identity("mu*r**2 == 26*L**2/(mu*nbar**2)", "mu L nbar", let={"r": "sqrt(26)*L/(mu*nbar)"}),
    ),
    row(
        "eq26/257",
        "eq. (26)",
        "256 X + delta/4 <= 257 X",
        inequality("256*X + delta/4 <= 257*X", "", BIG, let=X),
        severity=UTILITY,
    ),
    row(
        "eq26/noise",
        "eq. (26)",
        "2 d sigma_k^2 = 256 L^2 d log(5/delta)/(mu_k mu n-bar^2 epsilon^2)",
        identity(
            "2*d*(8*L/(nbar*epsilon))**2*2*ell/(mu_k*mu) == 256*L**2*d*ell/(mu_k*mu*nbar**2*epsilon**2)",
            "d L nbar epsilon ell mu_k mu",
        ),
        severity=UTILITY,
    ),
    row(
        "eq26/solver",
        "eq. (26)",
        "2 delta L^2/(8 mu_k mu n-bar^2) = (L^2/(4 mu_k)) delta/(mu n-bar^2)",
        identity("2*delta*L**2/(8*mu_k*mu*nbar**2) == L**2/(4*mu_k)*delta/(mu*nbar**2)", "delta L mu_k mu nbar"),
    ),
    row(
        "eq27/end_of_telescope",
        "eq. (27)",
        (
            "the sum telescopes to F(x*, y*), the value on the left (a = F(x*, y*), b = F(x*, y_1), c = F(x_K, "
            "y_(K+1)), m the maximum; b <= a at a saddle point)"
        ),
        identity("m - a == (m - c) + (c - b)", "a c m", {"b": "(0, a]"}),
        corrected="<= in place of =: the sum ends at F(x*, y_1), which is at most F(x*, y*)",
        repair="<= was meant, as in the main text; (29) has F(x*, y_1)",
        saved_by=inequality("m - a <= (m - c) + (c - b)", "b c m", {"a": "[b, inf)"}),
    ),
    row("eq28/17", "eq. (28)", "sqrt(257) < 17", inequality("sqrt(257) < 17")),
    row(
        "eq28/mu_K",
        "eq. (28)",
        "mu_K = mu 2^K = mu n-bar",
        identity("mu*2**log2(n) == mu*n/log2(n)", "mu", {"n": "[16, 100000]"}),
        corrected="mu_K = mu n",
        repair="n was meant",
        saved_by=identity("mu*2**log2(n) == mu*n", "mu", {"n": "[16, 100000]"}),
        garbling="bars over n appear where n is meant",
    ),
    row(
        "eq28/half",
        "eq. (28)",
        "17 L^2/(mu sqrt n) <= 17 L D/2 for mu >= 2L/(D sqrt n)",
        inequality("L**2/(mu*sqrt(n)) <= L*D/2", "L D", {"n": "[1, 1000000]", "mu": "[2*L/(D*sqrt(n)), inf)"}),
        severity=UTILITY,
    ),
    row(
        "eq29/third_line",
        "eq. (29), third line",
        (
            "17 b/2 + 257 (K-1) b^2/m + 8 K^2 a^2/m <= 4 K^2 a + 20 K b with m = max(2a, 13b), a = 1/sqrt n, b = K "
            "sqrt(d log)/(n epsilon)"
        ),
        inequality(
            "17*b/2 + 257*(K - 1)*b**2/m + 8*K**2*a**2/m <= 4*K**2*a + 20*K*b", "a b", AB, let={"m": "max(2*a, 13*b)"}
        ),
        severity=UTILITY,
        explain="257/13 = 19.8 per phase, of which there are K - 1.",
    ),
    row(
        "eq29/last_line",
        "eq. (29), last line",
        "(3/2) m <= 4 K^2 a + 20 K b",
        inequality("3*m/2 <= 4*K**2*a + 20*K*b", "a b", AB, let={"m": "max(2*a, 13*b)"}),
        severity=UTILITY,
    ),
]
