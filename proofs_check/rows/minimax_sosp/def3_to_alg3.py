"""minimax_sosp: rows of def3, assumption1, def4, lemma12, lemma11, eq48, alg2, alg3."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import PRIVACY, UTILITY, identity, inequality, privacy, program, releases, units

from .privacy_terms import DP, ENDED, ERM_V, INST, ONE, RGDA, SADDLE, row

ROWS = [
    row(
        "def3/gaussian_mechanism",
        "Definition 3",
        "variance Delta^2 log(1.25/delta)/epsilon^2 is (epsilon, delta)-DP for epsilon < 1",
        privacy("D*sqrt(log(1.25/delta))/epsilon", "D", "epsilon", "delta", "D", DP),
        severity=PRIVACY,
        corrected="2 Delta^2 log(1.25/delta)/epsilon^2",
        repair="a universal constant (C_1, C_v) makes up for the factor 2",
        saved_by=privacy("D*sqrt(2*log(1.25/delta))/epsilon", "D", "epsilon", "delta", "D", DP),
        garbling="a lost 2 is possible",
    ),
    row(
        "assumption1/unbounded_domain",
        "Section 2.2 with Assumptions 1 and 4",
        (
            "derived: a mu-strongly concave function can be M-Lipschitz on an unbounded domain, which 'not required "
            "to be compact' admits (|gradient| >= mu r at distance r)"
        ),
        inequality("mu*r <= M", "mu r M"),
        severity=UTILITY,
        corrected="Y must have radius at most M/mu around the maximiser",
        corrected_as_saved=True,
        condition="Y is bounded, although the text says that it need not be compact",
        saved_by=inequality("mu*r <= M", "mu M", {"r": "(0, M/mu]"}),
        ours=True,
    ),
    row(
        "def4/alpha_H_units",
        "Definition 4",
        "sqrt(rho_Phi alpha) is a curvature",
        units("sqrt(rho*alpha) == h", rho="v/l**3", alpha="v/l", h="v/l**2"),
    ),
    row(
        "lemma12/any_lambda",
        "Lemma 12",
        "(mu/2)|y - y*| <= |G_lambda(y)| for every lambda (interval [-1, 1], y = 1, y* = 0)",
        inequality("mu/2 <= min(mu, 2/lam)", "mu lam", hints=[{"mu": "1", "lam": "10"}]),
        corrected="add lambda <= 1/L (the paper uses 1/(6L)); decided for this interval",
        corrected_claim=inequality("mu/2 <= min(mu, 2/lam)", "mu", {"L": "[mu, inf)", "lam": "(0, 1/L]"}),
        condition="lambda = 1/(6L), the only value used",
        saved_by=inequality("mu/2 <= min(mu, 2/lam)", "mu", {"L": "[mu, inf)", "lam": "(0, 1/(6*L)]"}),
        explain="With a large step the projection stops at -1 and G = 2/lambda becomes small.",
    ),
    row(
        "lemma11/quadratics",
        "Lemma 11",
        "for curvature h in [mu, L]: h >= mu L/(mu + L) + h^2/(mu + L)",
        inequality("mu*L/(mu + L) + h**2/(mu + L) <= h", "mu", {"L": "[mu, inf)", "h": "[mu, L]"}),
    ),
    row(
        "lemma11/identity",
        "Lemma 11",
        "h (mu + L) - mu L - h^2 = (h - mu)(L - h)",
        identity("h*(mu + L) - mu*L - h**2 == (h - mu)*(L - h)", "h mu L"),
    ),
    row(
        "alg2/index_of_anchor",
        "Algorithm 2, lines 8 and 12",
        "the anchor time that line 12 reads has been written",
        program("t s_0", "8a: m_0 <- t", "8b: s_1 <- s_0", "12: D <- m_1 t"),
        corrected="increase s before m_s is set",
        repair="s = s + 1 comes first",
        saved_by=program("t s_0", "8b: s_1 <- s_0", "8a: m_1 <- t", "12: D <- m_1 t"),
        explain="Line 8 sets m_s = t and then increases s; the later m_s is another, unset entry.",
    ),
    row(
        "alg2/output_without_escape",
        "Algorithm 2, last line",
        "the output x_(m_s) is defined when |v_t| never falls below alpha",
        program("T x_0", "loop", "if", "8: m_s <- T", "end", "end", "22: <- m_s"),
        severity=UTILITY,
        corrected="return x_T when no escape phase was entered",
        corrected_claim=program("T x_0", "0: m_s <- T", "loop", "if", "8: m_s <- T", "end", "end", "22: <- m_s"),
        condition="T is large enough for one escape phase",
        saved_by=program("T x_0", "8: m_s <- T", "22: <- m_s"),
    ),
    row(
        "alg2/output_after_early_end",
        "Algorithm 2, last line, against line 15",
        (
            "when T is reached, the returned x_(m_s) is no saddle that line 15 has left (run of the reference "
            "from a saddle of curvature -0.39, no noise, T = 40 below t_thres = 60, repaired step; left = 1: "
            "line 15 left the returned point, saddle = 1: its curvature is negative)"
        ),
        releases("left*saddle == 0", ENDED, [{"T": "40"}]),
        corrected=("return x_(m_s) only if its escape phase has lasted t_thres steps, else x_T (in the same runs)"),
        corrected_claim=releases("1 + left == 1", {"left": (SADDLE, "corrected/left")}, [{"T": "40"}, {"T": "150"}]),
        condition="T is so large that line 19 returns",
        saved_by=releases("left*saddle == 0", ENDED, [{"T": "150"}]),
        explain=(
            "An early end is the text's sign of a saddle (Section 4.1, iii). Line 15 sets escape back to False, but "
            "m_s stays: descent that lasts until T returns the point that was left. Section 4 promises x_(m_s) only "
            "if the phase does not end early."
        ),
    ),
    row(
        "alg2/eta_t",
        "Algorithm 2, line 14",
        "the reduced step of line 14 is below eta_H",
        inequality("sqrt((k*Dbar)/V) <= eta_H", "Dbar V eta_H k", conditions=("eta_H**2*V > k*Dbar",)),
    ),
    row(
        "alg2/eta_t_solves",
        "Algorithm 2, line 14",
        "eta_t = sqrt((t - m_s) Dbar/sum |v_j|^2) solves the equation of line 14",
        identity("eta_t**2*V == k*Dbar", "k Dbar V", let={"eta_t": "sqrt(k*Dbar/V)"}),
    ),
    row(
        "alg3/first_previous_iterate",
        "Algorithm 3, line 3",
        "x_(t-1) is defined at t = 0",
        program("x_0 y_0", "3: x_prev <- x_minus_1", "14: v <- x_0 x_prev y_0"),
        corrected="x_(-1) = x_0",
        repair="x_(-1) = x_0",
        saved_by=program("x_0 y_0", "3: x_prev <- x_0", "14: v <- x_0 x_prev y_0"),
    ),
    row(
        "alg3/refresh_counts_twice",
        "Algorithm 3, lines 7 and 14",
        "after a refresh at (x_t, y_t) the first inner step leaves v at the gradient of (x_t, y_t)",
        identity("g_t + (g_t - g_prev) == g_t", "g_t g_prev"),
        corrected_claim=identity("g_t + (g_t - g_prev) == g_t", "g_t", let={"g_prev": "g_t"}),
        corrected="set x_(t,-1) = x_t at a refresh",
        reading="at a refresh the previous point is the present one",
        saved_by=identity("g_t + (g_t - g_t) == g_t", "g_t"),
        explain=(
            "Line 3 sets x_(t,-1) = x_(t-1) also when mod(t, q) = 0, so the change from x_(t-1) to x_t is added on "
            "top of the fresh gradient."
        ),
    ),
    row(
        "alg3/tilde_G_defined",
        "Algorithm 3, line 18",
        "G-tilde is defined",
        program("lam Y u y", "18: s_t <- G_tilde y"),
        corrected="G~(y_k) = (y_k - Pi(y_k + lambda u_k))/lambda",
        corrected_as_saved=True,
        reading="the gradient mapping with u in place of the gradient",
        saved_by=program("lam Y u y", "def: G_tilde <- y Y lam u", "18: s_t <- G_tilde y"),
    ),
    row(
        "alg3/universal_constant",
        "Algorithm 3, line 1",
        "the constant c named after the noise scale occurs in it",
        program("C_v delta epsilon S_1 T q n", "1: sigma <- C_v delta epsilon S_1 T q n", "text: <- c"),
        corrected="write c C_v sqrt(log(1/delta))/epsilon max{...}; c = 8 does for S_1 = n",
        corrected_by="alg3/erm_refresh_noise",
        repair="c was meant as a factor",
        saved_by=program("c C_v delta epsilon S_1 T q n", "1: sigma <- c C_v delta epsilon S_1 T q n", "text: <- c"),
    ),
    row(
        "alg3/clipped_mean_sensitivity",
        "Algorithm 3, lines 7 and 8",
        "derived: clipping the batch mean at C_v gives sensitivity 2 C_v/S_1 (gradients of norm up to M)",
        inequality(
            "min(2*M/S1, 2*C_v) <= 2*C_v/S1",
            "M C_v",
            {"S1": "[1, 100000]"},
            hints=[{"M": "10", "C_v": "1", "S1": "100"}],
        ),
        severity=PRIVACY,
        corrected=(
            "clip each record: then it is 2 C_v/S_1 whatever the gradients (of the mean it is 2 min(M/S_1, C_v))"
        ),
        corrected_claim=inequality("(min(g, C_v) + min(h, C_v))/S1 <= 2*C_v/S1", "g h C_v", {"S1": "[1, 100000]"}),
        condition="C_v = M under Assumption 1",
        saved_by=inequality("min(2*M/S1, 2*C_v) <= 2*C_v/S1", "M", {"S1": "[1, 100000]", "C_v": "[M, inf)"}),
        ours=True,
    ),
    row(
        "alg3/clipped_mean_accounted",
        "Algorithm 3, lines 1 and 7",
        (
            "derived: where C_v is below Assumption 1's M and really clips (one record's gradient exceeds n C_v: "
            "sensitivity 2 C_v of the clipped mean, S_1 = n), the refreshes of v are (epsilon, delta)-DP with a "
            "constant 8 in front"
        ),
        privacy(
            "8*" + ERM_V,
            "2",
            "epsilon",
            "delta",
            "",
            INST,
            count="k",
            releases={"k": (RGDA, "refresh/v")},
            instances=ONE,
            note="unit C_v",
        ),
        severity=PRIVACY,
        corrected=("clip each record, as Appendix D does: then the sensitivity is 2 C_v/n and the constant 8 does"),
        corrected_as_saved=True,
        condition="C_v = M under Assumption 1, as in the proofs: no mean is ever clipped",
        saved_by=privacy(
            "8*" + ERM_V,
            "2/n",
            "epsilon",
            "delta",
            "",
            INST,
            count="k",
            releases={"k": (RGDA, "refresh/v")},
            instances=ONE,
        ),
        defect="alg3/clipped_mean_sensitivity",
        ours=True,
    ),
    row(
        "alg3/clipped_difference_sensitivity",
        "Algorithm 3, lines 14 and 15",
        "derived: clipping the mean difference at C_u gives sensitivity 2 C_u/S_2 (differences up to L r)",
        inequality(
            "min(2*L*r/S2, 2*C_u) <= 2*C_u/S2",
            "L r C_u",
            {"S2": "[1, 100000]"},
            hints=[{"L": "10", "r": "1", "C_u": "1", "S2": "100"}],
        ),
        severity=PRIVACY,
        corrected="clip each record's difference: then it is 2 C_u/S_2",
        corrected_by="alg3/clipped_mean_sensitivity",
        condition="C_u >= L |w - w'| at every step",
        saved_by=inequality("min(2*L*r/S2, 2*C_u) <= 2*C_u/S2", "L r", {"S2": "[1, 100000]", "C_u": "[L*r, inf)"}),
        defect="alg3/clipped_mean_sensitivity",
        ours=True,
    ),
]
