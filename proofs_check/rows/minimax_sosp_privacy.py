# ruff: noqa: E501
# fmt: off
"""minimax_sosp: Sections 2 to 4, Algorithms 2 and 3, and the privacy proofs."""

from __future__ import annotations

from .build import PRIVACY, UTILITY, identity, inequality, privacy, program, rates, releases, rows_of, same, units

row = rows_of("minimax_sosp")
DP = {"epsilon": "(0, 1)", "delta": "(1/100000000, 1/100)"}
ONE = [{"epsilon": "1", "delta": "1/100000", "n": "10000", "T": "100", "q": "10", "K": "1"}, {"epsilon": "1/2", "delta": "1/100000", "n": "1000", "T": "400", "q": "10", "K": "1"}]
INST = {"epsilon": "(0, 1]", "delta": "(0, 1/100)", "n": "[1, 1000000]", "T": "[1, 10000]", "q": "[1, T]", "K": "integer [1, 100]"}
POP = [{"epsilon": "1", "delta": "1/100000", "n": "10000", "S2": "10", "T": "95"}]
POP_REFRESH = {"epsilon": "1", "delta": "1/100000", "n": "10000", "T": "95", "q": "10"}  # e = 0.00107, at d = 10
REFRESHES = {"epsilon": "(0, 1]", "delta": "(0, 1/100)", "n": "[1, 1000000]", "S1": "[1, n]", "T": "[1, 10000]", "q": "[1, T]"}
POP_REGION = {"epsilon": "(0, 1]", "delta": "(0, 1/100)", "n": "[1, 1000000]", "S2": "[1, n]", "T": "[1, 10000]"}
ERM_V = "sqrt(log(1/delta))/epsilon*max(1/n, sqrt(T)/(sqrt(q)*n))"
RGDA = "minimax_sosp/dp_rgda"
SADDLE = "minimax_sosp/dp_rgda_at_a_saddle"
ENDED = {"left": (SADDLE, "returned/left"), "saddle": (SADDLE, "returned/saddle")}
INCREMENTS = {"v": (RGDA, "step/v"), "u": (RGDA, "step/u")}

ROWS = [
    row("def3/gaussian_mechanism", "Definition 3", "variance Delta^2 log(1.25/delta)/epsilon^2 is (epsilon, delta)-DP for epsilon < 1", privacy("D*sqrt(log(1.25/delta))/epsilon", "D", "epsilon", "delta", "D", DP), severity=PRIVACY,
        corrected="2 Delta^2 log(1.25/delta)/epsilon^2", reading="a universal constant (C_1, C_v) makes up for the factor 2", reading_claim=privacy("D*sqrt(2*log(1.25/delta))/epsilon", "D", "epsilon", "delta", "D", DP), garbling="a lost 2 is possible"),
    row("assumption1/unbounded_domain", "Section 2.2 with Assumptions 1 and 4", "derived: a mu-strongly concave function can be M-Lipschitz on an unbounded domain, which 'not required to be compact' admits (|gradient| >= mu r at distance r)",
        inequality("mu*r <= M", "mu r M"), severity=UTILITY, corrected="Y must have radius at most M/mu around the maximiser", reading="Y is bounded, although the text says that it need not be compact",
        reading_claim=inequality("mu*r <= M", "mu M", {"r": "(0, M/mu]"})),
    row("def4/alpha_H_units", "Definition 4", "sqrt(rho_Phi alpha) is a curvature", units("sqrt(rho*alpha) == h", rho="v/l**3", alpha="v/l", h="v/l**2")),
    row("lemma12/any_lambda", "Lemma 12", "(mu/2)|y - y*| <= |G_lambda(y)| for every lambda (interval [-1, 1], y = 1, y* = 0)",
        inequality("mu/2 <= min(mu, 2/lam)", "mu lam", hints=[{"mu": "1", "lam": "10"}]), corrected="add lambda <= 1/L (the paper uses 1/(6L))", reading="lambda = 1/(6L), the only value used",
        reading_claim=inequality("mu/2 <= min(mu, 2/lam)", "mu", {"L": "[mu, inf)", "lam": "(0, 1/(6*L)]"}), explain="With a large step the projection stops at -1 and G = 2/lambda becomes small."),
    row("lemma11/quadratics", "Lemma 11", "for curvature h in [mu, L]: h >= mu L/(mu + L) + h^2/(mu + L)", inequality("mu*L/(mu + L) + h**2/(mu + L) <= h", "mu", {"L": "[mu, inf)", "h": "[mu, L]"})),
    row("lemma11/identity", "Lemma 11", "h (mu + L) - mu L - h^2 = (h - mu)(L - h)", identity("h*(mu + L) - mu*L - h**2 == (h - mu)*(L - h)", "h mu L")),
    row("eq48/two_kappa", "eq. (48)", "L (2/mu)|gamma| = 2 kappa |gamma|", identity("L*(2/mu)*g == 2*kappa*g", "L mu g", let={"kappa": "L/mu"})),
    row("alg2/index_of_anchor", "Algorithm 2, lines 8 and 12", "the anchor time that line 12 reads has been written", program("t s_0", "8a: m_0 <- t", "8b: s_1 <- s_0", "12: D <- m_1 t"), severity=UTILITY,
        corrected="increase s before m_s is set (or read m_(s-1))", reading="s = s + 1 comes first", reading_claim=program("t s_0", "8b: s_1 <- s_0", "8a: m_1 <- t", "12: D <- m_1 t"),
        explain="Line 8 sets m_s = t and then increases s; the later m_s is another, unset entry."),
    row("alg2/output_without_escape", "Algorithm 2, last line", "the output x_(m_s) is defined when |v_t| never falls below alpha", program("T x_0", "loop", "if", "8: m_s <- T", "end", "end", "22: <- m_s"), severity=UTILITY,
        corrected="return x_T (and say so) when no escape phase was entered", reading="T is large enough for one escape phase", reading_claim=program("T x_0", "8: m_s <- T", "22: <- m_s")),
    row("alg2/output_after_early_end", "Algorithm 2, last line, against line 15", "when T is reached, the returned x_(m_s) is no saddle that line 15 has left (run of the reference from a saddle of curvature -0.39, no noise, t_thres = 60; left = 1: line 15 left the returned point, saddle = 1: its curvature is negative)",
        releases("left*saddle == 0", ENDED, [{"T": "40"}]), severity=UTILITY,
        corrected="return x_(m_s) only if its escape phase has lasted t_thres steps; else x_T, and say that nothing is shown", reading="T is so large that line 19 returns", reading_claim=releases("left*saddle == 0", ENDED, [{"T": "150"}]),
        explain="An early end is the text's sign of a saddle (Section 4.1, iii). Line 15 sets escape back to False, but m_s stays: descent that lasts until T returns the point that was left. Section 4 promises x_(m_s) only if the phase does not end early."),
    row("alg2/eta_t", "Algorithm 2, line 14", "the reduced step of line 14 is below eta_H", inequality("sqrt((k*Dbar)/V) <= eta_H", "Dbar V eta_H k", conditions=("eta_H**2*V > k*Dbar",))),
    row("alg2/eta_t_solves", "Algorithm 2, line 14", "eta_t = sqrt((t - m_s) Dbar/sum |v_j|^2) solves the equation of line 14", identity("eta_t**2*V == k*Dbar", "k Dbar V", let={"eta_t": "sqrt(k*Dbar/V)"})),
    row("alg3/first_previous_iterate", "Algorithm 3, line 3", "x_(t-1) is defined at t = 0", program("x_0 y_0", "3: x_prev <- x_minus_1", "14: v <- x_0 x_prev y_0"), corrected="x_(-1) = x_0", reading="x_(-1) = x_0", reading_claim=program("x_0 y_0", "3: x_prev <- x_0", "14: v <- x_0 x_prev y_0")),
    row("alg3/refresh_counts_twice", "Algorithm 3, lines 7 and 14", "after a refresh at (x_t, y_t) the first inner step leaves v at the gradient of (x_t, y_t)", identity("g_t + (g_t - g_prev) == g_t", "g_t g_prev"), severity=UTILITY,
        corrected="set x_(t,-1) = x_t at a refresh", reading="at a refresh the previous point is the present one", reading_claim=identity("g_t + (g_t - g_t) == g_t", "g_t"),
        explain="Line 3 sets x_(t,-1) = x_(t-1) also when mod(t, q) = 0, so the change from x_(t-1) to x_t is added on top of the fresh gradient."),
    row("alg3/tilde_G_defined", "Algorithm 3, line 18", "G-tilde is defined", program("lam Y u y", "18: s_t <- G_tilde y"), corrected="G~(y_k) = (y_k - Pi(y_k + lambda u_k))/lambda", reading="the gradient mapping with u in place of the gradient", reading_claim=program("lam Y u y", "def: G_tilde <- y Y lam u", "18: s_t <- G_tilde y")),
    row("alg3/universal_constant", "Algorithm 3, line 1", "the constant c named after the noise scale occurs in it", program("C_v delta epsilon S_1 T q n", "1: sigma <- C_v delta epsilon S_1 T q n", "text: <- c"), corrected="write c C_v sqrt(log(1/delta))/epsilon max{...}", reading="c was meant as a factor", reading_claim=program("c C_v delta epsilon S_1 T q n", "1: sigma <- c C_v delta epsilon S_1 T q n", "text: <- c")),
    row("alg3/last_inner_iterate", "Algorithm 3, line 18", "every candidate y_(t,k), k <= K - 1, has a gradient v_(t,k)", program("y_0 K", "loop", "14: v_k <- y_0", "15: u_k <- y_0", "16: y_next <- y_0 u_k", "end", "14: v_k <- y_0", "18: <- v_k")),
    row("alg3/clipped_mean_sensitivity", "Algorithm 3, lines 7 and 8", "derived: clipping the batch mean at C_v gives sensitivity 2 C_v/S_1 (gradients of norm up to M)", inequality("min(2*M/S1, 2*C_v) <= 2*C_v/S1", "M C_v", {"S1": "[1, 100000]"}, hints=[{"M": "10", "C_v": "1", "S1": "100"}]), severity=PRIVACY,
        corrected="2 min(M/S_1, C_v); for 2 C_v/S_1 clip per record, or assume M <= C_v", reading="C_v = M under Assumption 1", reading_claim=inequality("min(2*M/S1, 2*C_v) <= 2*C_v/S1", "M", {"S1": "[1, 100000]", "C_v": "[M, inf)"})),
    row("alg3/clipped_mean_accounted", "Algorithm 3, lines 1 and 7", "derived: where C_v is below Assumption 1's M and really clips (one record's gradient exceeds n C_v: sensitivity 2 C_v of the clipped mean, S_1 = n), the refreshes of v are (epsilon, delta)-DP with a constant 8 in front", privacy("8*" + ERM_V, "2", "epsilon", "delta", "", INST, count="k", releases={"k": (RGDA, "refresh/v")}, instances=ONE, note="unit C_v"), severity=PRIVACY,
        corrected="clip each record, as Appendix D does", reading="C_v = M under Assumption 1, as in the proofs: no mean is ever clipped", reading_claim=privacy("8*" + ERM_V, "2/n", "epsilon", "delta", "", INST, count="k", releases={"k": (RGDA, "refresh/v")}, instances=ONE)),
    row("alg3/clipped_difference_sensitivity", "Algorithm 3, lines 14 and 15", "derived: clipping the mean difference at C_u gives sensitivity 2 C_u/S_2 (differences up to L r)", inequality("min(2*L*r/S2, 2*C_u) <= 2*C_u/S2", "L r C_u", {"S2": "[1, 100000]"}, hints=[{"L": "10", "r": "1", "C_u": "1", "S2": "100"}]), severity=PRIVACY,
        corrected="clip per record, or assume L |w - w'| <= C_u", reading="C_u >= L |w - w'| at every step", reading_claim=inequality("min(2*L*r/S2, 2*C_u) <= 2*C_u/S2", "L r", {"S2": "[1, 100000]", "C_u": "[L*r, inf)"})),
    row("appD/clipping_place", "Appendix D against Algorithm 3", "per-sample clipping (Appendix D) and clipping of the mean (Algorithm 3) have the same sensitivity", same({"Appendix D": "2*C/B", "Algorithm 3": "2*C"}, "C", {"B": "[2, 1000]"}), severity=PRIVACY,
        corrected="Algorithm 3 should clip per sample, as the experiments do", reading="gradients are bounded by C anyway, then both have 2C/B", reading_claim=same({"Appendix D": "2*C/B", "Algorithm 3": "2*min(C/B, C)"}, "C", {"B": "[2, 1000]"})),
    row("alg3/release_counts", "Algorithm 3, lines 12 to 15", "a run of T outer and K inner steps releases T K increments of v and as many of u (transcript of the reference)",
        releases("v + u == 2*T*K", INCREMENTS, [{"T": "12", "K": "1", "q": "4"}, {"T": "8", "K": "5", "q": "4"}]), severity=PRIVACY),
    row("alg3/refresh_counts", "B.1, privacy proof", "the refresh is computed at most T/q times", releases("k <= T/q", {"k": (RGDA, "refresh/v")}, [{"T": "12", "K": "1", "q": "4"}, {"T": "10", "K": "1", "q": "4"}]),
        corrected="ceil(T/q)", reading="q divides T", reading_claim=releases("k <= T/q", {"k": (RGDA, "refresh/v")}, [{"T": "12", "K": "1", "q": "4"}])),
    row("lemma5/variations_counted", "B.1, privacy proof", "with K = 1, which B.1 sets, the gradient variation is computed at most T times (transcript of the reference)", releases("k <= T", {"k": (RGDA, "step/v")}, [{"T": "8", "K": "1", "q": "4"}, {"T": "12", "K": "1", "q": "4"}]), severity=PRIVACY,
        explain="For larger K it is T K times (alg3/release_counts), and line 2 does not know K: see alg3/inner_steps_not_counted."),
    row("alg3/erm_refresh_noise", "Algorithm 3, line 1 (S_1 = n)", "with a constant 8 in front, the T/q refreshes of v and u (sensitivity 2M/n, half of the budget) are (epsilon, delta)-DP",
        privacy("8*" + ERM_V, "2*sqrt(2)/n", "epsilon", "delta", "", INST, count="2*T/q", instances=ONE, note="C_v = M; sqrt 2 stands for the equal share of the increments"), severity=PRIVACY,
        explain="The universal constant is left open. With constant 1 the true epsilon is 3.6 for a claimed 1 at delta 1e-5."),
    row("alg3/erm_increment_noise", "Algorithm 3, line 2 (S_2 = n, K = 1)", "with a constant 8 in front, the T increments of v and u (sensitivity 2 C_u/n, half of the budget) are (epsilon, delta)-DP",
        privacy("8*sqrt(log(1/delta))/epsilon*max(1/n, sqrt(T)/n)", "2*sqrt(2)/n", "epsilon", "delta", "", INST, count="v + u", releases=INCREMENTS, instances=ONE), severity=PRIVACY),
    row("alg3/erm_sampled_increment_noise", "Algorithm 3, line 2 (S_2 = n/sqrt(T), K = 1)", "with a constant 8 in front, T sampled increments of v and as many of u (sensitivity 2 C_u/S_2, half of the budget) are (epsilon, delta)-DP",
        privacy("8*sqrt(log(1/delta))/epsilon*max(1/S2, sqrt(T)/n)", "2*sqrt(2)/S2", "epsilon", "delta", "", {**INST, "S2": "[1, n]"}, count="2*T", rate="S2/n", instances=[{**ONE[0], "S2": "1000"}, {**ONE[1], "S2": "50"}], note="in units of C_u"), severity=PRIVACY,
        explain="Theorem 1's S_2 is at least of this order; below it the floor 1/S_2 of line 2 takes over."),
    row("alg3/erm_increment_noise_K5", "Algorithm 3, line 2 (S_2 = n)", "derived: the same constant 8 does for K = 5 inner steps, as in Appendix D",
        privacy("8*sqrt(log(1/delta))/epsilon*max(1/n, sqrt(T)/n)", "2*sqrt(2)/n", "epsilon", "delta", "", INST, count="v + u", releases=INCREMENTS, instances=[{**ONE[0], "K": "5"}]), severity=PRIVACY,
        corrected="sqrt(T K) in place of sqrt(T)", reading="K = 1, as in B.1", reading_claim=privacy("8*sqrt(log(1/delta))/epsilon*max(1/n, sqrt(T)/n)", "2*sqrt(2)/n", "epsilon", "delta", "", INST, count="v + u", releases=INCREMENTS, instances=ONE)),
    row("alg3/inner_steps_not_counted", "Algorithm 3, line 2", "derived: the noise sqrt(T)/n is of the order sqrt(T K)/n that T K sampled increments need, whatever K", rates("sqrt(T*K)/n <= max(1/S2, sqrt(T)/n)", "n", "n T K S2", conditions=("K >= 1", "T >= 1", "S2 >= 1", "S2 <= n", "T*S2**2 >= n**2")), severity=PRIVACY,
        corrected="sqrt(T K)/n", reading="K is a constant", reading_claim=rates("sqrt(T*K)/n <= max(1/S2, sqrt(T)/n)", "n", "n T S2", constants="K", conditions=("T >= 1", "S2 >= 1", "S2 <= n")), explain="Line 2 is printed for every K. Section 4.2 calls K a fixed constant, and B.1 sets K = 1. In Section 4.3 (K = O(kappa)) no record is used twice (T S_1/q + T K S_2 <= n), so K does not matter there: alg3/population_increment_noise."),
    row("alg3/population_increment_noise", "Algorithm 3, line 2, with B.2", "with a constant 8 in front and each record used once (T S_1/q + T K S_2 <= n), an increment of v and one of u (sensitivity 2 C_u/S_2, half of the budget) are (epsilon, delta)-DP", privacy("8*sqrt(log(1/delta))/epsilon*max(1/S2, sqrt(T)/n)", "2*sqrt(2)/S2", "epsilon", "delta", "", POP_REGION, count="2", instances=POP, note="in units of C_u"), severity=PRIVACY,
        explain="With Algorithm 3's noise the increments of Theorem 2 are private; with B.2's they are not (eqB2)."),
    row("alg3/noise_places", "Algorithm 3 against B.2", "the increment noise of Algorithm 3 (with C_u = L r) and of B.2 agree up to constants", rates("L*r*sqrt(ell)/epsilon*max(1/S2, sqrt(T)/n) == L*r*sqrt(ell)/(n*epsilon)", "n", "n L r ell epsilon S2 T", conditions=("S2 >= 1", "S2 <= n", "T >= 1", "ell >= 1", "epsilon <= 1", "L >= 1", "L <= 1", "r >= 1", "r <= 1")), severity=PRIVACY,
        corrected="the noise of Algorithm 3; B.2 lacks sqrt(T) and the floor 1/S_2", reading="S_2 = n and T = 1", reading_claim=rates("sqrt(ell)/epsilon*max(1/S2, sqrt(T)/n) == sqrt(ell)/(n*epsilon)", "n", "n ell epsilon", let={"S2": "n", "T": "1"})),
    row("lemma5/gradient_variation", "B.1, privacy proof", "|w_t - w_(t-1)| = |y_t - y_(t-1)| with w = (x, y)", identity("sqrt(dx**2 + dy**2) == dy", "dx dy"), severity=PRIVACY, corrected="sqrt(|x_t - x_(t-1)|^2 + |y_t - y_(t-1)|^2)",
        reading="a slip without effect: line 2's noise has the fixed size C_u, and C_u >= L |w_t - w_(t-1)|", reading_claim=inequality("2*L*sqrt(dx**2 + dy**2)/S2 <= 2*C_u/S2", "L dx dy S2", {"C_u": "[L*sqrt(dx**2 + dy**2), inf)"}),
        explain="Inside the inner loop (k >= 1) x does not move, but with K = 1 the only step is k = 0: there it is x that moves, and y does not."),
    row("eqB2/zero_noise_first_inner_step", "B.2, sigma_zeta", "noise proportional to |y_(t,k) - y_(t,k-1)| covers the query at k = 0, where y does not move and x does", inequality("2*L*dx/S2 <= C2*L*dy/n", "L dx C2 n S2", let={"dy": "0"}), severity=PRIVACY,
        corrected="noise proportional to |w_(t,k) - w_(t,k-1)|, which includes x_t - x_(t-1) at k = 0",
        reading="Algorithm 3, line 2, applies in place of B.2: a noise of fixed size C_u >= L |x_t - x_(t-1)|", reading_claim=inequality("2*L*dx/S2 <= 2*C_u/S2", "L dx S2", {"C_u": "[L*dx, inf)"}),
        explain="Algorithm 3 sets y_(t,-1) = y_(t,0), so the printed noise is zero while the gradient difference between x_t and x_(t-1) is released."),
    row("eq30/refresh_sensitivity", "eq. (30)", "replacing one of S_1 gradients of norm <= M moves the mean by at most 2M/S_1", identity("(M - (-M))/S1 == 2*M/S1", "M S1"), severity=PRIVACY),
    row("eq30/coordinatewise", "eq. (30) with Assumption 1", "M-Lipschitz over each of d coordinates, as Section 2.2 insists (|gradient| up to sqrt(d) M), moves the mean of S_1 gradients by at most 2M/S_1", inequality("2*sqrt(d)*M/S1 <= 2*M/S1", "M", {"d": "integer [1, 10000]", "S1": "[1, 100000]"}, hints=[{"d": "100", "M": "1", "S1": "1000"}]), severity=PRIVACY,
        corrected="2 sqrt(d) M/S_1, or M as a bound on the gradient's norm in x and in y", reading="a coordinate is one of the two arguments x and y, so M bounds the norm", reading_claim=identity("(M - (-M))/S1 == 2*M/S1", "M S1")),
    row("eq31/difference_sensitivity", "eq. (31)", "2 L r/S_2 <= 2 sqrt 2 L r/S_2", inequality("2*L*r/S2 <= 2*sqrt(2)*L*r/S2", "L r S2"), severity=PRIVACY),
    row("eqB2/sampling_rate", "B.2", "q_t/S_2 = 1/n for q_t = S_2/n", identity("(S2/n)/S2 == 1/n", "S2 n")),
    row("eqB2/delta_composition", "B.2", "(epsilon/2, delta) for u and (epsilon/2, delta) for v compose to (epsilon, delta)", identity("delta + delta == delta", "delta"), corrected="(epsilon/2, delta/2) each", explain="A slip in delta that the open constants C_1, C_2 absorb.", reading="delta/2 each", reading_claim=identity("delta/2 + delta/2 == delta", "delta")),
    row("eqB2/rate_instead_of_mechanism", "B.2", "a sampled increment with the printed noise (C_2 = 1; eqB2/no_constant: nor any other) is (epsilon/2, delta)-DP for its fresh batch of S_2", privacy("2*sqrt(log(1.25/delta))/(n*epsilon)", "2/S2", "epsilon/2", "delta", "", POP_REGION, instances=POP, note="in units of L |y_k - y_(k-1)|; each record used once"), severity=PRIVACY,
        corrected="2 sqrt 2 C_2 L sqrt(log(1.25/delta))/(S_2 epsilon) r when every record is used once", reading="subsampling amplification with rate S_2/n", reading_claim=privacy("2*sqrt(log(1.25/delta))/(n*epsilon)", "2/S2", "epsilon/2", "delta", "", POP_REGION, rate="S2/n", instances=POP),
        explain="No constant C_2 mends it: the ratio of needed and printed noise is n/S_2. Sampling multiplies epsilon only while the un-sampled mechanism is private; here its noise is S_2/n of its sensitivity."),
    row("eqB2/no_constant", "B.2", "some constant C_2 brings the printed noise L r/n to the order of the sensitivity L r/S_2 of an increment", rates("L*r/S2 <= L*r/n", "n", "n S2", constants="L r", conditions=("S2 >= 1", "S2 <= n")), severity=PRIVACY, corrected="L r/S_2", reading="S_2 = n", reading_claim=rates("L*r/S2 <= L*r/n", "n", "n", constants="L r", let={"S2": "n"})),
    row("eqB2/no_composition", "B.2", "T sampled increments with the printed noise (C_2 = 1) are (epsilon, delta)-DP", privacy("2*sqrt(log(1.25/delta))/(n*epsilon)", "2/S2", "epsilon", "delta", "", POP_REGION, count="T", rate="S2/n", instances=POP, note="in units of L |y_k - y_(k-1)|"), severity=PRIVACY,
        corrected="the noise of Algorithm 3 with sqrt(T K)", reading="each record is used once (T S_1/q + T K S_2 <= n) and the factor q_t is left out: the noise of an un-sampled release", reading_claim=privacy("6*sqrt(log(1.25/delta))/(S2*epsilon)", "2/S2", "epsilon/2", "delta", "", POP_REGION, instances=POP)),
    row("eqB2/refresh_noise", "B.2", "one refresh with noise C_1 M sqrt(log(1.25/delta))/(S_1 epsilon), C_1 = 4 sqrt 2, is (epsilon/2, delta)-DP",
        privacy("4*sqrt(2)*sqrt(log(1.25/delta))/(S1*epsilon)", "2/S1", "epsilon/2", "delta", "", {**DP, "S1": "[1, 100000]"}), severity=PRIVACY, explain="The constant is left open; 1 would not do."),
    row("eqB2/refreshes_of_all_records", "B.2 with Lemma 8", "T/q refreshes of S_1 = n records (Lemma 8), each with the printed noise, C_1 = 4 sqrt 2, are (epsilon/2, delta)-DP",
        privacy("4*sqrt(2)*sqrt(log(1.25/delta))/(S1*epsilon)", "2/S1", "epsilon/2", "delta", "", REFRESHES, count="ceil(T/q)", instances=[{**POP_REFRESH, "S1": "10000"}], note="in units of M"), severity=PRIVACY,
        corrected="S_1 = n^(2/3), or sqrt(T/q) times the noise", reading="S_1 = n^(2/3), as in the proof: T S_1/q <= n, and a record is in one refresh", reading_claim=privacy("4*sqrt(2)*sqrt(log(1.25/delta))/(S1*epsilon)", "2/S1", "epsilon/2", "delta", "", REFRESHES, instances=[{**POP_REFRESH, "S1": "464"}]),
        explain="T/q = e^(-1/3) grows with n, so no constant C_1 mends it."),
    row("eqB2/called_a_variance", "B.2", "'noise with variance C_1 M sqrt(log(1.25/delta))/(S_1 epsilon)' for a gradient is a squared gradient", units("M/S1 == sigma2", free="S1", M="v/l", sigma2="v**2/l**2"), corrected="standard deviation", reading="standard deviation", reading_claim=units("M/S1 == sigma", free="S1", M="v/l", sigma="v/l")),
    row("lemma1/noise_proportional_to_step", "Lemmas 1 and 5 against Algorithm 3", "noise of fixed size C_u meets the condition B_2^2 |w_t - w_(t-1)|^2 for every step", inequality("C_u**2*x <= L**2*x*r**2", "C_u x L r"), severity=UTILITY,
        corrected="scale the noise by |w_t - w_(t-1)| (which is public), or add C_u^2 T eps-bar^2 to the bound", reading="C_u = L |w_t - w_(t-1)|, set anew at each step", reading_claim=inequality("C_u**2*x <= L**2*x*r**2", "x L r", let={"C_u": "L*r"})),
    row("sec4/post_processing", "Section 4", "Algorithm 2 reads data only through v_t and u_t", program("x_0 y_0 S eta eta_H r t_thres Dbar alpha xi", "alg3: v_t u_t <- S x_0 y_0", "6: x_1 <- x_0 v_t eta", "12: D <- v_t eta_H", "14: eta_t <- v_t Dbar", "15: x_1 <- x_0 v_t eta_t"), severity=PRIVACY),
]
