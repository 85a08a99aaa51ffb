"""minimax_sosp: rows of eq10, lemma4, eq12, lemma6, lemma7, lemma10."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import UTILITY, identity, inequality, rates, units

from .utility_terms import SMALL, row

ROWS = [
    row(
        "eq10/rearranged",
        "eq. (10)",
        "rearranging gives F0/(T A0 log) + eta B1^2/(2 A0)",
        identity("(F0/ell + T*eta*B1**2/2)/(T*A0) == F0/(ell*T*A0) + eta*B1**2/(2*A0)", "F0 ell T eta B1 A0"),
    ),
    row(
        "eq10/sign_of_noise",
        "display before (10)",
        "-(sum A0 |grad|^2) - eta B1^2/2 is the sum with + eta B1^2/2",
        identity("-A - b == -A + b", "A b"),
        corrected="+ eta B1^2/2 for each step, as in the lines around it (two steps)",
        corrected_claim=identity(
            "(b - A0*g_1**2) + (b - A0*g_2**2) == -(A0*g_1**2 + A0*g_2**2) + 2*b",
            "A0 g_1 g_2 eta B1",
            let={"b": "eta*B1**2/2"},
        ),
        reading="the sum, with its minus, covers both terms",
        saved_by=identity("-A + b == -(A - b)", "A b"),
        garbling="a misplaced bracket is possible",
    ),
    row(
        "lemma4/A0",
        "Lemma 4, proof",
        "at eta = 1/(2 L1) and q B2^2 = L1^2, A0 = eta/8",
        identity("eta/2 - L1*eta**2/2 - eta**3*L1**2/2 == eta/8", "L1", let={"eta": "1/(2*L1)"}),
    ),
    row(
        "eq12/collected",
        "eq. (12)",
        "twice the first bound plus twice (10) is the printed sum",
        identity(
            (
                "2*(B**2*eta**2*q*F0/(T*A0) + eta**3*q*B**2/(2*A0)*B1**2 + B1**2) + 2*(F0/(T*A0) + "
                "eta*B1**2/(2*A0)) == 2*F0/(T*A0)*(1 + B**2*eta**2*q) + (eta/A0 + 2 + B**2*eta**3*q/A0)*B1**2"
            ),
            "B eta q F0 T A0 B1",
        ),
    ),
    row(
        "lemma6/threshold_order",
        "Lemmas 6, 7, 9, 10",
        "t_thres = 2 log(...)/eta_H is O~(1/(eta_H alpha_H))",
        rates("1/eta_H <= 1/(eta_H*a_H)", "1/a_H", "eta_H a_H", conditions=("a_H <= 1",)),
        explain="True, as an upper bound; whether so few steps are enough is another matter: lemma6/threshold.",
    ),
    row(
        "lemma6/threshold",
        "Lemmas 6, 7, 9, 10, with eq. (27)",
        "in t_thres = 2 log(x)/eta_H steps a growth by 1 + eta_H alpha_H per step reaches the factor x",
        inequality(
            "log(x) <= 2*log(x)/eta_H*log(1 + eta_H*a_H)",
            "",
            {"x": "[10, 1000]", "eta_H": "(0, 1]", "a_H": "(0, 1/10]"},
        ),
        severity=UTILITY,
        corrected="2 log(...)/(eta_H alpha_H)",
        repair="alpha_H was lost in the denominator",
        saved_by=inequality(
            "log(x) <= 2*log(x)/(eta_H*a_H)*log(1 + eta_H*a_H)",
            "",
            {"x": "[10, 1000]", "eta_H": "(0, 1]", "a_H": "(0, 1/10]"},
        ),
        garbling="printed four times the same way",
    ),
    row(
        "lemma6/threshold_units",
        "Lemma 6",
        "t_thres = 2 log(...)/eta_H is a number of steps",
        units("1/eta_H == t", free="t", eta_H="l**2/v"),
        severity=UTILITY,
        corrected="divide by alpha_H too",
        repair="with alpha_H",
        saved_by=units("1/(eta_H*a_H) == t", free="t", eta_H="l**2/v", a_H="v/l**2"),
        defect="lemma6/threshold",
    ),
    row(
        "lemma6/log_argument_units",
        "Lemma 6",
        "eta_H alpha_H L_Phi/(rho_Phi r_0) is a pure number",
        units(
            "eta_H*a_H*L/(rho*r0) == one", free="one", eta_H="l**2/v", a_H="v/l**2", L="v/l**2", rho="v/l**3", r0="l"
        ),
    ),
    row(
        "lemma7/radius_units",
        "Lemma 7",
        "r <= L_Phi eta_H alpha_H/(C rho_Phi) is a length",
        units("L*eta_H*a_H/rho == r", eta_H="l**2/v", a_H="v/l**2", L="v/l**2", rho="v/l**3", r="l"),
    ),
    row(
        "lemma7/R_units",
        "Lemma 7",
        "R = 1/(2 L_Phi eta_H) is a length",
        units("1/(L*eta_H) == R", eta_H="l**2/v", L="v/l**2", R="l"),
        corrected="sqrt(alpha/rho_Phi) is a length",
        corrected_claim=units("sqrt(alpha/rho) == R", alpha="v/l", rho="v/l**3", R="l"),
        degenerate="some length is taken as 1",
        saved_by=units("1/(L*eta_H) == one", free="one", eta_H="l**2/v", L="v/l**2"),
        severity=UTILITY,
    ),
    row(
        "lemma7/R_value",
        "Lemma 7",
        "1/(2 L_Phi eta_H) = e^(4/3)/(L_Phi r_0) at eta_H = e^(-4/3) r_0/2",
        identity("1/(2*L*eta_H) == e**(4/3)/(L*r0)", "L e r0", let={"eta_H": "e**(-4/3)*r0/2"}),
    ),
    row(
        "lemma7/eta_H_chain",
        "Lemma 7",
        "eta_H = e^(-4/3) r_0/2 (as used for R) satisfies eta_H <= r_0/(2 |v|) for |v| up to e^(2/3)",
        inequality("e**(-4/3)*r0/2 <= r0/(2*v)", "r0", {**SMALL, "v": "(0, e**(2/3)]"}),
        severity=UTILITY,
        corrected_claim=inequality("e**(-2/3)*r0/2 <= r0/(2*v)", "r0", {**SMALL, "v": "(0, e**(2/3)]"}),
        corrected="eta_H <= e^(-2/3) r_0/2, since |v| can be as large as alpha = e^(2/3)",
        condition="|v| <= e^(4/3)",
        saved_by=inequality("e**(-4/3)*r0/2 <= r0/(2*v)", "r0", {**SMALL, "v": "(0, e**(4/3)]"}),
    ),
    row(
        "lemma10/eta_H_chain",
        "Lemma 10",
        "eta_H = e^(-1) r_0/2 satisfies eta_H <= r_0/(2 |v|) for |v| up to e^(1/2)",
        inequality("r0/(2*e) <= r0/(2*v)", "r0", {**SMALL, "v": "(0, e**(1/2)]"}),
        severity=UTILITY,
        corrected_claim=inequality("e**(-1/2)*r0/2 <= r0/(2*v)", "r0", {**SMALL, "v": "(0, e**(1/2)]"}),
        corrected="eta_H <= e^(-1/2) r_0/2",
        condition="|v| <= e",
        saved_by=inequality("r0/(2*e) <= r0/(2*v)", "r0", {**SMALL, "v": "(0, e]"}),
        defect="lemma7/eta_H_chain",
    ),
    row(
        "lemma7/three_quarters",
        "eq. (26)",
        "L_Phi eta_H R <= 3/4 makes (L_Phi eta_H R + 1/4) r_0 <= r_0/2",
        inequality("x + 1/4 <= 1/2", "", {"x": "[0, 3/4]"}),
        severity=UTILITY,
        corrected="needs L_Phi eta_H R <= 1/4",
        corrected_as_saved=True,
        condition="the product is at most 1/4",
        saved_by=inequality("x + 1/4 <= 1/2", "", {"x": "[0, 1/4]"}),
    ),
    row(
        "lemma7/R_in_eq26",
        "eq. (26) with R = 1/(2 L_Phi eta_H)",
        "the chosen R meets (26)",
        inequality("1/2 + 1/4 <= 1/2"),
        severity=UTILITY,
        corrected_claim=inequality("L*eta*R + 1/4 <= 1/2", "L eta", {"R": "(0, 1/(4*L*eta)]"}),
        corrected="R <= 1/(4 L_Phi eta_H)",
        repair="R = 1/(4 L_Phi eta_H)",
        saved_by=inequality("1/4 + 1/4 <= 1/2"),
        defect="lemma7/three_quarters",
    ),
    row(
        "lemma7/sum_over_steps",
        "eq. (25)",
        "(3/2) eta_H (t - m_s) rho R r_0 <= eta_H rho R r_0",
        inequality(
            "3*eta*k*rho*R*r0/2 <= eta*rho*R*r0",
            "eta rho R r0",
            {"k": "integer [1, 1000]"},
            hints=[{"eta": "1/10", "rho": "1", "R": "1", "r0": "1", "k": "1000"}],
        ),
        severity=UTILITY,
        corrected="(3/2) eta_H t_thres rho_Phi R r_0, which is r_0/4 at R = 1/(6 eta_H t_thres rho_Phi)",
        corrected_claim=inequality(
            "3*eta*k*rho*R*r0/2 <= r0/4", "eta rho r0", {"k": "integer [1, 1000]", "R": "(0, 1/(6*eta*k*rho)]"}
        ),
        repair="R carries the number of steps",
        saved_by=inequality("3*eta*k*rho*(R/(2*k))*r0/2 <= eta*rho*R*r0", "eta rho R r0", {"k": "integer [1, 1000]"}),
    ),
    row(
        "lemma7/noise_term",
        "eq. (25)",
        (
            "|nu| = e^(2/3) keeps the noise term below (1 + eta_H alpha_H)^k r_0/4: |nu|/alpha_H is of the order of "
            "r_0, where r_0 <= r <= R = e^(4/3)/(L_Phi r_0)"
        ),
        rates("e**(2/3)/sqrt(rho*e**(2/3)) <= r0", "1/e", "e r0", constants="rho", conditions=("r0**2 <= e**(4/3)",)),
        severity=UTILITY,
        corrected="|nu| <= alpha_H r_0/4: then the noise term is at most (1 + eta_H alpha_H)^k r_0/4",
        corrected_claim=inequality(
            "eta*((1 + eta*a_H)**k - 1)/(eta*a_H)*nu <= (1 + eta*a_H)**k*r0/4",
            "r0",
            {"eta": "(0, 1]", "a_H": "(0, 1]", "k": "integer [1, 200]", "nu": "(0, a_H*r0/4]"},
        ),
        repair="errors that cancel between the coupled runs, |nu| = O(alpha_H r_0)",
        saved_by=rates("a_H*r0/a_H <= r0", "1/e", "e r0 a_H"),
        explain="The sum over k steps of eta_H (1 + eta_H alpha_H)^j |nu| is ((1 + eta_H alpha_H)^k - 1) |nu|/alpha_H.",
    ),
    row(
        "lemma7/hessian_lipschitz",
        "after eq. (26)",
        "Lipschitz Hessians bound |Delta| by L_Phi R",
        units("L*R == h", L="v/l**2", R="l", h="v/l**2"),
        corrected="rho_Phi R",
        repair="rho_Phi was meant",
        saved_by=units("rho*R == h", rho="v/l**3", R="l", h="v/l**2"),
    ),
    row(
        "lemma7/recursion",
        "eq. (19)",
        "w - eta (x - x') w - eta (H + D) w - eta nu = (1 - eta H) w - eta (D w + nu)",
        identity("w - eta*w*w - eta*(H + D)*w - eta*nu == (1 - eta*H)*w - eta*(D*w + nu)", "w eta H D nu"),
        corrected="without the term eta (x_t - x_t') w_t",
        repair="the extra term is a slip",
        saved_by=identity("w - eta*(H + D)*w - eta*nu == (1 - eta*H)*w - eta*(D*w + nu)", "w eta H D nu"),
    ),
    row("lemma7/growth", "eq. (24)", "|p| + |p|/2 = (3/2)|p|", identity("p + p/2 == 3*p/2", "p")),
    row(
        "lemma7/geometric_fact",
        "after eq. (26)",
        "a^(t+1) - 1 = (a - 1) sum a^s: the step from t - 1 to t",
        identity("(a**t - 1)/(a - 1) + a**t == (a**(t + 1) - 1)/(a - 1)", "", {"a": "(1, 3]", "t": "integer [1, 50]"}),
    ),
    row(
        "lemma7/sign_of_curvature",
        "Lemmas 7 and 10",
        "-lambda_min <= -alpha_H means lambda_min <= -alpha_H",
        inequality("x <= -a_H", "a_H", {"x": "[a_H, inf)"}),
        corrected="lambda_min <= -alpha_H: then its direction grows by 1 + eta_H alpha_H or more in a step",
        corrected_claim=inequality("1 + eta*a_H <= 1 - eta*x", "eta a_H", {"x": "[-10*a_H, -a_H]"}),
        repair="one minus sign too many",
        saved_by=inequality("x <= -a_H", "a_H", {"x": "[-10*a_H, -a_H]"}),
        garbling="a stray minus is possible; printed twice",
    ),
]
