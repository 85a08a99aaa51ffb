"""dro: rows of table1, assumption2, assumption3, eq1."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import UTILITY, identity, inequality, units

from .duality_terms import CR, CR_STAR, KL, row

ROWS = [
    row(
        "table1/chi2_conjugate",
        "Table 1, first row, with Definition 8",
        "t u - psi(t) <= psi*(u) for psi = (t - 1)^2/2 and the printed psi* = -1 + (u + 2)^2/4",
        inequality(
            "t*u - (t - 1)**2/2 <= -1 + (u + 2)**2/4",
            "",
            {"t": "[0, 10]", "u": "[-1, 10]"},
            hints=[{"t": "2", "u": "1"}],
        ),
        severity=UTILITY,
        corrected="((u + 1)_+^2 - 1)/2",
        corrected_claim=inequality(
            "t*u - (t - 1)**2/2 <= (max(u + 1, 0)**2 - 1)/2", "", {"t": "[0, 10]", "u": "[-10, 10]"}
        ),
        repair="psi = (t - 1)^2, without the half",
        saved_by=inequality("t*u - (t - 1)**2 <= -1 + (u + 2)**2/4", "", {"t": "[0, 10]", "u": "[-2, 10]"}),
        explain="At t = 2, u = 1 the left side is 3/2 and the printed conjugate 5/4.",
    ),
    row(
        "table1/chi2_attained",
        "Table 1, corrected",
        "psi = (t - 1)^2/2 has the conjugate ((u + 1)^2 - 1)/2 for u >= -1, attained at t = u + 1",
        identity("t*u - (t - 1)**2/2 == ((u + 1)**2 - 1)/2", "", {"u": "[-1, 100]"}, let={"t": "u + 1"}),
    ),
    row(
        "table1/chi2_double",
        "Table 1, first row",
        "the printed psi* is the conjugate of (t - 1)^2, attained at t = 1 + u/2",
        identity("t*u - (t - 1)**2 == -1 + (u + 2)**2/4", "", {"u": "[-2, 100]"}, let={"t": "1 + u/2"}),
    ),
    row(
        "table1/chi2_positive_part",
        "Table 1, first row",
        "for u < -2 the printed square equals the supremum over t >= 0 of t u - (t - 1)^2, which is -1 (t = 0)",
        identity("-1 + (u + 2)**2/4 == -1", "", {"u": "[-10, -3]"}),
        severity=UTILITY,
        corrected="(u + 2)_+^2",
        repair="the positive part was lost, which the Cressie-Read row has",
        saved_by=identity("-1 + max(u + 2, 0)**2/4 == -1", "", {"u": "[-10, -3]"}),
        garbling="a lost subscript + is likely",
        defect="table1/chi2_conjugate",
    ),
    row(
        "table1/chi2_smooth",
        "Table 1, caption",
        "the chi-square conjugate ((u + 1)_+^2 - 1)/2 is 1-smooth: its derivative (u + 1)_+ is 1-Lipschitz",
        inequality("max(u + 1, 0) - max(w + 1, 0) <= abs(u - w)", "", {"u": "[-10, 10]", "w": "[-10, 10]"}),
    ),
    row(
        "table1/kl_cvar_minimum",
        "Table 1, second row, with Definition 8",
        "t u - psi(t) <= min(e^u, (1 + u + log alpha)/alpha) - 1 for psi = t log t - t + 1 on [0, 1/alpha)",
        inequality(
            f"t*u - ({KL}) <= min(exp(u), (1 + u + log(alpha))/alpha) - 1",
            "",
            {"alpha": "(0, 1)", "t": "(0, 1/alpha)", "u": "[-5, 5]"},
            hints=[{"alpha": "1/2", "t": "1", "u": "0"}],
        ),
        severity=UTILITY,
        corrected="e^u - 1 for u <= -log alpha, the tangent (1 + u + log alpha)/alpha - 1 above",
        corrected_claim=inequality(
            f"t*u - ({KL}) <= exp(v) - 1 + (u - v)/alpha",
            "",
            {"alpha": "(0, 1)", "t": "(0, 1/alpha)", "u": "[-5, 5]"},
            let={"v": "min(u, -log(alpha))"},
        ),
        repair="e^u below the kink and its tangent above",
        saved_by=inequality(f"t*u - ({KL}) <= exp(u) - 1", "", {"t": "(0, 10)", "u": "[-5, 5]"}),
        explain=(
            "e^u is convex, so the minimum with its tangent is the tangent everywhere; at u = 0, alpha = 1/2 it is "
            "-0.386 although t = 1 gives 0."
        ),
    ),
    row(
        "table1/kl_cvar_tangent",
        "Table 1, second row",
        "(1 + u + log alpha)/alpha <= e^u: the printed minimum never is e^u except at the kink",
        inequality("(1 + u + log(alpha))/alpha <= exp(u)", "", {"alpha": "[1/100, 99/100]", "u": "[-5, 5]"}),
    ),
    row(
        "table1/kl_cvar_kink",
        "Table 1, second row",
        "both branches meet at u = -log alpha",
        identity("exp(u) == (1 + u + log(alpha))/alpha", "", {"alpha": "(0, 1)"}, let={"u": "-log(alpha)"}),
    ),
    row(
        "table1/kl_attained",
        "Table 1, second row",
        "psi = t log t - t + 1 has the conjugate e^u - 1, attained at t = e^u",
        identity(f"t*u - ({KL}) == exp(u) - 1", "", {"u": "[-10, 10]"}, let={"t": "exp(u)"}),
    ),
    row(
        "table1/cressie_read_conjugate",
        "Table 1, third row",
        "for k > 1 the printed conjugate is attained at t = ((k - 1) u + 1)^(1/(k - 1))",
        identity(
            f"t*u - {CR} == {CR_STAR}", "", {"k": "(1, 6]", "u": "[0, 5]"}, let={"t": "((k - 1)*u + 1)**(1/(k - 1))"}
        ),
    ),
    row(
        "table1/cressie_read_every_k",
        "Table 1, third row",
        "the formula is defined for every real k, as the row says",
        inequality("0 < abs(k*(k - 1))", "", {"k": "[-3, 3]"}, hints=[{"k": "0"}, {"k": "1"}]),
        corrected="every k other than 0 and 1: there k (k - 1) is not 0",
        corrected_claim=inequality(
            "0 < min(abs(k*(k - 1)), abs(j*(j - 1)), abs(i*(i - 1)))",
            "",
            {"k": "(-inf, 0)", "j": "(0, 1)", "i": "(1, inf)"},
        ),
        condition="k = 0 and k = 1 stand for their limits (near k = 1 the row is e^u - 1, KL's)",
        saved_by=inequality(f"abs({CR_STAR} - (exp(u) - 1)) <= k - 1", "", {"k": "(1, 11/10]", "u": "[0, 1]"}),
    ),
    row(
        "table1/cressie_read_below_one",
        "Table 1, third row",
        "for k = -1 the printed conjugate bounds t u - psi(t) at u = 1",
        inequality(
            "t - (1/t + t - 2)/2 <= (max(-2*1 + 1, 0)**(1/2) - 1)/(-1)", "", {"t": "[1, 100]"}, hints=[{"t": "4"}]
        ),
        severity=UTILITY,
        corrected=(
            "for k = -1 the conjugate is +infinity above 1/(1 - k) = 1/2: t u - psi(t) >= t (u - 1/2) + 1/2 for t >= 1"
        ),
        corrected_claim=inequality("t*s + 1/2 <= t*u - (1/t + t - 2)/2", "s", {"t": "[1, inf)"}, let={"u": "1/2 + s"}),
        condition="k > 1",
        saved_by=inequality(
            "t*u - (t**2 - 2*t + 1)/2 <= (max(u + 1, 0)**2 - 1)/2", "", {"t": "[0, 10]", "u": "[-1, 5]"}
        ),
        defect="table1/cressie_read_every_k",
    ),
    row(
        "table1/cressie_read_smooth",
        "Table 1, caption",
        (
            "the Cressie-Read conjugate has a second derivative ((k - 1) u + 1)^((2 - k)/(k - 1)) bounded by some M "
            "for every k > 1 (tried at k = 3/2, u = 2 M, whatever M is)"
        ),
        inequality("((k - 1)*u + 1)**((2 - k)/(k - 1)) <= M", "M", let={"k": "3/2", "u": "2*M"}),
        severity=UTILITY,
        corrected="k = 2: at k = 3/2 and at k = 3 some u has the second derivative 2 M, whatever M is",
        corrected_claim=inequality(
            "M < min(u/2 + 1, (2*w + 1)**(-1/2))", "M", let={"u": "4*M - 2", "w": "(1/(4*M**2) - 1)/2"}
        ),
        condition="k >= 2 and u >= 0, or a bounded domain (Assumption 3)",
        saved_by=inequality("((k - 1)*u + 1)**((2 - k)/(k - 1)) <= 1", "", {"k": "[2, 6]", "u": "[0, 1000]"}),
        defect="assumption2/kl",
    ),
    row(
        "assumption2/kl",
        "Assumption 2 with Sections 4 and 5.1",
        "inferred: the KL conjugate e^u - 1 has a second derivative bounded by some M (tried at u = M, whatever M is)",
        inequality("exp(u) <= M", "M", let={"u": "M"}),
        severity=UTILITY,
        corrected="M = e^(S_0) on |u| <= S_0",
        corrected_as_saved=True,
        condition="the bounded domain of Assumption 3",
        saved_by=inequality("exp(u) <= exp(S0)", "S0", {"u": "[-1000, S0]"}),
        explain="The experiments run Double-SPIDER with KL, which Assumption 2 excludes without Assumption 3.",
        ours=True,
    ),
    row(
        "assumption3/non_negative",
        "Assumption 3",
        "psi* of the chi-square divergence is non-negative on a domain around 0",
        inequality("0 <= (max(u + 1, 0)**2 - 1)/2", "", {"u": "[-1, 1]"}, hints=[{"u": "-1/2"}]),
        severity=UTILITY,
        corrected="psi*(u) < 0 for every u < 0 (chi-square and KL)",
        corrected_claim=inequality("max((max(u + 1, 0)**2 - 1)/2, exp(u) - 1) < 0", "", {"u": "(-inf, 0)"}),
        condition="the domain is u >= 0 (all losses at least eta)",
        saved_by=inequality("0 <= (max(u + 1, 0)**2 - 1)/2", "", {"u": "[0, 1000]"}),
    ),
    row(
        "assumption3/excludes_the_minimiser",
        "Assumption 3 with (3)",
        (
            "the stationarity condition mean psi*'(u_i) = 1 in eta can be met with u_i >= 0 and unequal losses "
            "(chi-square, two records)"
        ),
        inequality("(u1 + 1)/2 + (u2 + 1)/2 <= 1", "", {"u1": "[0, 10]", "u2": "(u1, 20]"}),
        severity=UTILITY,
        corrected="drop the sign condition: at the optimal eta, here the mean loss, u takes both signs",
        corrected_claim=inequality(
            "(l1 - eta)*(l2 - eta)/lam**2 < 0", "lam l1", {"l2": "(l1, inf)"}, let={"eta": "(l1 + l2)/2"}
        ),
        condition="u of both signs, against Assumption 3",
        saved_by=identity("(u1 + 1)/2 + (u2 + 1)/2 == 1", "", {"u1": "[-1, 0]"}, let={"u2": "-u1"}),
        explain="psi*' is increasing and psi*'(0) = 1.",
    ),
    row(
        "eq1/units_of_lambda",
        "eq. (2)",
        "lambda_0 D_psi is a value, like the loss",
        units("loss == lam*D", free="D", loss="v", lam="v"),
    ),
]
