# ruff: noqa: E501
# fmt: off
"""adaptive_batch: the tree mechanism, Algorithms 1, 3 and 4, and the privacy part of Lemmas 3.13, 3.14 and Theorem 3.17."""

from __future__ import annotations

from dpassay.proofs_check.claim import Claim

from .build import (
    PRIVACY,
    UTILITY,
    budget,
    identity,
    inequality,
    privacy,
    program,
    rates,
    releases,
    rows_of,
    same,
    units,
)

row = rows_of("adaptive_batch")
TREE = {"epsilon": "(0, 1)", "delta": "(1/100000000, 1/100)", "S": "integer [2, 1000000]"}
ONE = [{"epsilon": "1", "delta": "1/100000", "S": "1024"}]
ESC = {"epsilon": "(0, 1]", "delta": "(0, 1/100)", "Gam": "[1, 10000]", "tau": "(0, 1000)"}
NODES = "ceil(log2(S))"
SIZES = {"b": "G*sqrt(d)/(epsilon*alpha) + G**2/alpha**2 + M*sqrt(d)/(rho*epsilon) + M**2/(rho*alpha)", "kappa": "max(alpha*sqrt(d)/epsilon, (B*G*M)**(1/3))"}
ESCAPE = {  # Lemma 3.14: the larger weight of one record in H, from O_3's batch or an O_4's (b_t is slope times |g|)
    **SIZES, "slope": "max(sqrt(d)/(alpha*epsilon), kappa/alpha**2, rho*kappa/(M**2*alpha))", "s_H": "max(M/b, rho/(M*slope))", "s": "2*s_H*sqrt(alpha/rho)",
}
ESCAPE_REGION = {"epsilon": "(0, 1]", "delta": "(0, 1/100)", "alpha": "(0, 1)", "d": "[1, inf)", "c": "[1, 1000]"}


def _escapes(noise: str, count: str, c: str, *sizes: tuple[str, str]) -> Claim:
    """Escape steps with Lemma 3.14's batches, B = G = M = rho = 1, at some (alpha, d); c stands for Gamma's logarithms."""
    ones = {"epsilon": "1", "delta": "1/100000", "B": "1", "G": "1", "M": "1", "rho": "1", "c": c}
    return privacy(noise, "s", "epsilon", "delta", "B G M rho", ESCAPE_REGION, count=count, let=ESCAPE,
        instances=[{**ones, "alpha": alpha, "d": d} for alpha, d in sizes], note="gamma = alpha; replace-one")


ESCAPES_ALONE = privacy("2*sqrt(Gam*tau*log(1/delta))/epsilon", "1", "epsilon", "delta", "", ESC, count="Gam*tau", instances=[{"epsilon": "1", "delta": "1/100000", "Gam": "100", "tau": "10"}], note="s_H Xi = 1")
ONE_ESCAPE = "c*M/sqrt(rho*alpha)"
LEMMA_314 = _escapes("2*log(1/delta)*alpha/sqrt(d)", ONE_ESCAPE, "10", ("1/10", "100"), ("1/100", "100"), ("1/100", "1000000"), ("1/1000", "1000000"))

ROWS = [
    row("thm22/tree_noise", "Theorem 2.2", "node noise 4 s sqrt(log S log(1/delta))/epsilon: a record in ceil(log2 S) nodes of sensitivity s is (epsilon, delta)-DP",
        privacy("4*s*sqrt(log(S)*log(1/delta))/epsilon", "s", "epsilon", "delta", "s", TREE, count=NODES), severity=PRIVACY, explain="log2(S) levels although the noise has the natural logarithm: the constant 4 absorbs it."),
    row("thm22/nodes_per_record", "Theorem 2.2, Algorithm 1", "a record enters at most ceil(log2 S) nodes of NODE(1), ..., NODE(S) (counted in the reference)", releases("k <= ceil(log2(S))", {"k": ("adaptive_batch/tree", "node")}, [{"S": "4"}, {"S": "37"}, {"S": "256"}]), severity=PRIVACY),
    row("thm22/one_leaf", "Theorem 2.2", "the noise is positive for a sequence of length 1", inequality("0 < 4*sqrt(log(S)*ell)", "ell", {"S": "integer [1, 100]"}, hints=[{"S": "1", "ell": "10"}]),
        corrected="log(S) + 1 levels, or S >= 2", reading="S >= 2", reading_claim=inequality("0 < 4*sqrt(log(S)*ell)", "ell", {"S": "integer [2, 100]"})),
    row("thm22/error", "Theorem 2.2", "a sum of log S nodes has norm sqrt(d log(1/iota)) sigma up to logarithms", rates("sqrt(d*log(S)*log(1/iota))*sigma == sqrt(d)*sigma", "d", "d S iota sigma")),
    row("alg1/sigma_name", "Algorithm 1, line 3", "sigma is given", program("sigma_tree Sigma", "3: zeta <- sigma Sigma"), corrected="sigma_tree", reading="sigma = sigma_tree", reading_claim=program("sigma_tree Sigma", "3: zeta <- sigma_tree Sigma")),
    row("alg1/last_prefix", "Algorithm 1, NODE", "for S = 2^m the nodes of NODE(S) (sizes 2^(m-1), ..., 1) cover all S leaves", inequality("2**m <= 2**m - 1", "", {"m": "integer [1, 20]"}), severity=PRIVACY,
        corrected="start at level ceil(log2(S + 1)), so that the whole interval is a node", reading="S is not a power of two: then sizes 2^(ceil(log S) - 1), ..., 1 reach S",
        reading_claim=inequality("S <= 2**ceil(log2(S)) - 1", "", {"S": "integer [2, 10000]"}, conditions=("ceil(log2(S)) > log2(S)",)),
        explain="TREE(S) = TREE(S - 1), so X_S - X_(S-1) = M_S is released without noise."),
    row("alg1/levels", "Algorithm 1, lines 2 and 12", "every node that NODE uses (levels up to ceil(log S)) has a noise in T (levels up to log S)", inequality("ceil(log2(S)) <= floor(log2(S))", "", {"S": "integer [2, 10000]"}, hints=[{"S": "5"}]), severity=UTILITY,
        corrected="levels 1 to ceil(log2(S))", reading="S is a power of two (then the last prefix is not covered, see above)", reading_claim=identity("ceil(log2(2**m)) == floor(log2(2**m))", "", {"m": "integer [1, 20]"})),
    row("alg1/dimension", "Algorithm 1, line 3", "a one-dimensional noise is added to a d-dimensional sum (d = 1)", identity("d == 1", "", {"d": "integer [1, 100]"}), corrected="N(0, sigma^2 I_d)", reading="sigma^2 I_d was meant", reading_claim=identity("d*s**2 == d*s**2", "d s")),
    row("alg3/tilde_at_refresh", "Algorithm 3, lines 5, 11 and 17", "the noisy gradient read in lines 11 and 17 is written on both branches", program("x_t D grad_prev", "if", "5: grad H <- x_t D", "else", "8: grad tilde <- x_t D grad_prev", "end", "11: <- tilde"), severity=PRIVACY,
        corrected="tilde = grad + TREE(t) after the if (and not tilde = grad, which would release an un-noised mean)", reading="line 8's last assignment belongs to both branches",
        reading_claim=program("x_t D grad_prev", "if", "5: grad H <- x_t D", "else", "8: grad <- x_t D grad_prev", "end", "8b: tilde <- grad", "11: <- tilde"), explain="The refresh happens at t = 0, before any tilde exists."),
    row("alg3/one_tree_over_the_run", "Algorithm 3, lines 5 and 8, against Theorem 2.2", "a record enters at most ceil(log2 T) nodes of the one tree that TREE(t) is over the whole run (counted in the transcript of the reference, a refresh after step 4 of T = 7)",
        releases("k <= ceil(log2(T))", {"k": ("adaptive_batch/one_tree", "node")}, [{"T": "7"}, {"T": "15"}]), severity=PRIVACY,
        corrected="a new tree at every refresh (or noise for up to 2 log2 T nodes)", reading="one tree per epoch", reading_claim=releases("k <= ceil(log2(T))", {"k": ("adaptive_batch/tree_per_epoch", "node")}, [{"T": "7"}, {"T": "15"}]),
        explain="A refresh sets the sum anew, so its step takes the old batches off again: the record changes two leaves, where it enters and where it leaves, while Theorem 2.2 counts one. With T = 7: (1,1), (1,2), (1,4), and (5,5), (5,6). The constant 4 of Theorem 2.2 has room for that; the noise of Lemma 3.13 is too small already for log2 T nodes (T = 1024). "
        "Line 5 is read with the TREE(t) of line 8; literally, its gradient is bare."),
    row("alg3/count_initialised", "Algorithm 3, lines 2, 4 and 6", "count is written before it is read (line 4 decides by drift_0 = kappa first)", program("kappa", "2: drift <- kappa", "4: <- drift", "6: drift count <-", "loop", "4: <- drift count", "end"), explain="Looks forgotten; the short-circuit of 'or' at t = 0 saves it."),
    row("alg3/anchor_initialised", "Algorithm 3, line 20", "x_anchor is written before it is read", program("x_t", "if", "12: x_anchor <- x_t", "end", "20: <- x_anchor"), corrected="test |x - x_anchor| only if EscapeFlag", reading="the test is made only in the escape phase", reading_claim=program("x_t", "if", "12: x_anchor <- x_t", "20: <- x_anchor", "end")),
    row("alg3/frozen", "Algorithm 3, lines 2, 6, 11, 19", "frozen is written before it is read", program("", "2: frozen_prev <-", "6: frozen <- frozen_prev", "11: <- frozen_prev", "19: frozen_next <- frozen", "loop", "11: <- frozen", "19: frozen_next <- frozen", "end")),
    row("alg3/batch_size_needs_future", "Lemma 3.14, Algorithm 3, line 8", "the batch size b_t, a function of |g_t|, is known when O_2 is called", program("x_t x_prev g_prev alpha epsilon d kappa", "b: b_t <- g_t alpha epsilon d kappa", "8: tilde <- x_t x_prev b_t", "17: g_t <- tilde"), severity=UTILITY,
        corrected="|g_(t-1)|: the step is x_t - x_(t-1) = -eta g_(t-1)", reading="g_(t-1) was meant", reading_claim=program("x_t x_prev g_prev alpha epsilon d kappa", "b: b_t <- g_prev alpha epsilon d kappa", "8: tilde <- x_t x_prev b_t", "17: g_t <- tilde")),
    row("alg3/batch_size_is_post_processing", "Algorithms 3 and 4", "batch sizes and drift are functions of releases g only", program("g_prev alpha epsilon d kappa", "b: b_t <- g_prev alpha epsilon d kappa", "19: drift <- g_prev", "4: <- drift"), severity=PRIVACY),
    row("alg3/step_length", "B.3", "M |x_t - x_(t-1)| = |g_(t-1)| for eta = 1/M", identity("M*(eta*g) == g", "M g", let={"eta": "1/M"}), severity=PRIVACY),
    row("lemma313/O1_sensitivity", "Lemma 3.13, B.3", "replacing one of b gradients of norm <= G moves their mean by at most G/b", identity("(G - (-G))/b == G/b", "G b"), severity=PRIVACY, corrected="2G/b",
        reading="add/remove neighbours (a record becomes zero)", reading_claim=identity("(G - 0)/b == G/b", "G b"), explain="'Differing by a single item' with n fixed is replace-one."),
    row("lemma313/O2_sensitivity", "Lemma 3.13, B.3", "replacing one record moves the mean difference by at most M |x_t - x_(t-1)|/b_t", identity("(M*r - (-M*r))/b == M*r/b", "M r b"), severity=PRIVACY, corrected="2 M |x_t - x_(t-1)|/b_t", reading="add/remove neighbours", reading_claim=identity("(M*r - 0)/b == M*r/b", "M r b")),
    row("lemma313/step_and_gradient", "B.3", "M |x_t - x_(t-1)| (the step -eta g_(t-1)) is the norm of the noisy gradient at t", identity("M*(eta*g_prev) == g_t", "M g_prev g_t", let={"eta": "1/M"}), severity=PRIVACY, corrected="|g_(t-1)|, which in an escape is not the noisy gradient either", reading="g_(t-1) was meant, here and in b_t", reading_claim=identity("M*(eta*g_prev) == g_prev", "M g_prev", let={"eta": "1/M"}),
        explain="With b_t in proportion to |g_t| the sensitivity |g_(t-1)|/b_t would have no bound."),
    row("lemma313/noise_needs_future", "Lemma 3.13 with Algorithm 1, line 3", "the noise scale, with its max over t of |g_t|/b_t, is known when the node noises are drawn, before step 1", program("G b delta epsilon", "3: zeta <- G b g_1 b_1 delta epsilon", "8: tilde <- zeta", "17: g_1 <- tilde"), severity=UTILITY,
        corrected="the bound epsilon alpha/sqrt(d) of |g_t|/b_t from Lemma 3.14", reading="the max is replaced by that bound", reading_claim=program("G b delta epsilon alpha d", "3: zeta <- G b alpha d delta epsilon", "8: tilde <- zeta", "17: g_1 <- tilde")),
    row("lemma313/hessian_sensitivity", "Lemma 3.13, B.3", "replacing one record, which is in O_3's or in one O_4's batch, moves H by at most M/b + rho |x_t - x_(t-1)|/b_t", inequality("2*max(M/b, rho*r/bt) <= M/b + rho*r/bt", "M b rho r bt"), severity=PRIVACY,
        corrected="2 max(M/b, rho |x_t - x_(t-1)|/b_t)", reading="add/remove neighbours (a record becomes zero)", reading_claim=inequality("max(M/b, rho*r/bt) <= M/b + rho*r/bt", "M b rho r bt")),
    row("lemma313/sigma_tree", "Lemma 3.13", "node noise s log(1/delta)/epsilon makes the gradients (epsilon/2, delta/2)-DP, S = 1024", privacy("log(1/delta)/epsilon", "1", "epsilon/2", "delta/2", "", {**TREE, "epsilon": "(0, 1]"}, count=NODES, instances=ONE, note="s = 1, the paper's sensitivity"), severity=PRIVACY,
        corrected="8 s sqrt(log S log(2/delta))/epsilon, from Theorem 2.2", reading="log S = O(log(1/delta)) and a larger constant: 4 log(1/delta) in place of log(1/delta)", reading_claim=privacy("4*log(1/delta)/epsilon", "1", "epsilon/2", "delta/2", "", {**TREE, "epsilon": "(0, 1]"}, count=NODES, instances=ONE),
        explain="B.3 says (epsilon/2, delta/2). With the whole (epsilon, delta), which disjoint batches would allow, the true epsilon is 1.03 at delta 1e-5 and grows with S."),
    row("lemma313/sigma_tree_grows", "Lemma 3.13 against Theorem 2.2", "log(1/delta) is at least 8 sqrt(log S log(2/delta)) (Theorem 2.2 at half the budget)", inequality("8*sqrt(log(S)*log(2/delta)) <= log(1/delta)", "", {"S": "integer [2, 1000000]", "delta": "(1/100000000, 1/100)"}, hints=[{"S": "1000", "delta": "1/100000"}]), severity=PRIVACY,
        corrected="the noise must carry sqrt(log S)", reading="delta <= S^-65 (S >= 3), far below any delta in use", reading_claim=inequality("8*sqrt(x*(y + 1)) <= y", "", {"x": "[1, 10]", "y": "[65*x, 1000*x]"})),
    row("lemma313/sigma_t", "Lemma 3.13", "Gamma tau escape steps with noise 2 Xi s_H sqrt(Gamma tau log(1/delta))/epsilon are (epsilon, delta)-DP by themselves", ESCAPES_ALONE, severity=PRIVACY),
    row("lemma313/sigma_t_half", "Lemma 3.13", "the same steps are (epsilon/2, delta/2)-DP, the half that B.3 leaves beside the gradients", privacy("2*sqrt(Gam*tau*log(1/delta))/epsilon", "1", "epsilon/2", "delta/2", "", ESC, count="Gam*tau", instances=[{"epsilon": "1", "delta": "1/100000", "Gam": "100", "tau": "10"}], note="s_H Xi = 1"), severity=PRIVACY,
        corrected="4 Xi s_H sqrt(Gamma tau log(2/delta))/epsilon", reading="batches of unused functions are disjoint: a record in a Hessian batch is in no gradient batch, so the steps may use all of (epsilon, delta)", reading_claim=ESCAPES_ALONE),
    row("lemma314/tau_below_one", "Lemma 3.14, Theorem 3.17", "tau = alpha^(3/2)/(M sqrt rho), the number of escapes per refresh, is at least 1 as alpha tends to 0", budget("1 <= alpha**(3/2)/(M*sqrt(rho))", "alpha M rho", scale="1/alpha", constants="M rho"), severity=PRIVACY,
        corrected="max(1, tau) escapes happen before count >= tau can stop them; the formula of Lemma 3.13 must use it", reading="alpha^(3/2) >= M sqrt(rho), an accuracy that is worse than the problem constants", reading_claim=budget("1 <= alpha**(3/2)/(M*sqrt(rho))", "M rho", {"alpha": "[(M*sqrt(rho))**(2/3), inf)"})),
    row("lemma314/escape_noise_small_tau", "Lemma 3.13 with tau = 1/100", "one escape of Gamma steps with noise 2 Xi s_H sqrt(Gamma tau log(1/delta))/epsilon is (epsilon, delta)-DP", privacy("2*sqrt(Gam*tau*log(1/delta))/epsilon", "1", "epsilon", "delta", "", ESC, count="Gam", instances=[{"epsilon": "1", "delta": "1/100000", "Gam": "100", "tau": "1/100"}], note="s_H Xi = 1; count >= tau stops only after the first escape"), severity=PRIVACY,
        corrected="Gamma max(1, tau)", reading="sigma_t, b and b_t with the values of Lemma 3.14, where 2 log(1/delta) alpha/sqrt(d) is more than one escape needs", reading_claim=LEMMA_314,
        explain="Lemma 3.14 prescribes a tau below 1, and then the formula is short by 1/sqrt(tau) = sqrt(M) rho^(1/4)/alpha^(3/4). Its own sigma_t is not: b_t and the terms of b in G make one record's weight in H so small that an escape is private all the same."),
    row("lemma314/tau_units", "Lemma 3.14", "tau = alpha^(3/2)/(M sqrt rho) is a pure number", units("alpha**(3/2)/(M*sqrt(rho)) == tau", free="tau", alpha="v/l", M="v/l**2", rho="v/l**3"), corrected="a count has no units; the printed value is a squared length", reading="some length is taken as 1", reading_claim=units("alpha**(3/2)/(M*sqrt(rho)) == tau", tau="l**2", alpha="v/l", M="v/l**2", rho="v/l**3")),
    row("lemma314/b_first_terms_units", "Lemma 3.14", "G/alpha, G^2/alpha^2 and M^2/(rho alpha) are pure numbers", units("G/alpha + G**2/alpha**2 + M**2/(rho*alpha) == b", free="b", G="v/l", alpha="v/l", M="v/l**2", rho="v/l**3")),
    row("lemma314/b_third_term_units", "Lemma 3.14", "M sqrt(d)/(rho epsilon) is a pure number", units("M/rho == b", free="b", M="v/l**2", rho="v/l**3"), corrected="it is a length (it inherits the units of tau)", reading="some length is taken as 1", reading_claim=units("M/rho == b", b="l", M="v/l**2", rho="v/l**3")),
    row("lemma314/bt_units", "Lemma 3.14", "the three terms of b_t are pure numbers (kappa is a gradient)", units("g/alpha + kappa*g/alpha**2 + rho*kappa*g/(M**2*alpha) == b", free="b", g="v/l", alpha="v/l", kappa="v/l", M="v/l**2", rho="v/l**3")),
    row("lemma314/kappa_units", "Lemma 3.16", "(B G M)^(1/3) is a gradient, like alpha", units("max(alpha, (B*G*M)**(1/3)) == g", alpha="v/l", B="v", G="v/l", M="v/l**2", g="v/l")),
    row("lemma314/tree_bound", "B.4", "G/b + |g|/b_t <= 2 epsilon alpha/sqrt(d)", inequality("G/b + g/bt <= 2*epsilon*alpha/sqrt(d)", "G g epsilon alpha d", {"b": "[G*sqrt(d)/(epsilon*alpha), inf)", "bt": "[g*sqrt(d)/(alpha*epsilon), inf)"}), severity=PRIVACY),
    row("lemma314/sigma_tree_value", "Lemma 3.14", "Lemma 3.13's node noise at that bound is 2 log(1/delta) alpha/sqrt(d)", identity("(2*epsilon*alpha/sqrt(d))*ell/epsilon == 2*ell*alpha/sqrt(d)", "epsilon alpha d ell"), severity=PRIVACY),
    row("lemma314/xi_gamma_tau", "B.4", "Xi sqrt(Gamma tau) = alpha/rho at gamma = alpha", identity("sqrt(alpha/rho)*sqrt(M/sqrt(rho*alpha)*alpha**(3/2)/(M*sqrt(rho))) == alpha/rho", "alpha rho M"),
        explain="The logarithms in Gamma and gamma are left out. sigma_t has room for them: it carries log(1/delta) where Lemma 3.13 asks for the root."),
    row("lemma314/escape_bound", "B.4", "(M/b + rho |x - x'|/b_t) 2 alpha/rho <= 2 epsilon alpha/sqrt(d) for alpha up to min(G, M)", inequality("(M/b + rho*g/(M*bt))*2*alpha/rho <= 2*epsilon*alpha/sqrt(d)", "B alpha g rho", {"G": "[alpha, inf)", "M": "[alpha, inf)", "epsilon": "(0, 1]", "d": "[1, inf)"},
        let={**SIZES, "bt": "g*max(sqrt(d)/(alpha*epsilon), kappa/alpha**2, rho*kappa/(M**2*alpha))"}, hints=[{"B": "1", "G": "1", "M": "1", "g": "1", "rho": "1/100", "alpha": "1/2", "epsilon": "1", "d": "10000"}]), severity=PRIVACY,
        corrected="2 (1 + alpha/M) epsilon alpha/sqrt(d) for every alpha", reading="alpha (M/(rho G) + 1/M) <= 1, as for small alpha", reading_claim=inequality("(M/b + rho*g/(M*bt))*2*alpha/rho <= 2*epsilon*alpha/sqrt(d)", "G M g rho", {"alpha": "(0, 1/(M/(rho*G) + 1/M)]", "epsilon": "(0, 1]", "d": "[1, inf)", "bt": "[g*sqrt(d)/(alpha*epsilon), inf)"}, let={"b": SIZES["b"]}),
        explain="The term G sqrt(d)/(epsilon alpha) of b makes room for the second summand once alpha is small."),
    row("lemma314/larger_tau", "B.4", "derived: at tau = alpha^(-1/2) escapes of Gamma = alpha^(-1/2) steps keep (M/b + rho |x - x'|/b_t) Xi sqrt(Gamma tau) within the order of epsilon alpha/sqrt(d), by b's first and b_t's first term", rates("(1/b + g/bt)*sqrt(alpha)*sqrt(Gam*tau) <= epsilon*alpha/sqrt(d)", "1/alpha", "alpha d epsilon g", let={"b": "sqrt(d)/(epsilon*alpha)", "bt": "g*sqrt(d)/(alpha*epsilon)", "Gam": "alpha**(-1/2)", "tau": "alpha**(-1/2)"}), severity=PRIVACY,
        explain="B.4 bounds M/b by b's third term, and needs tau = alpha^(3/2). The first allows tau = alpha^(-1/2), and with it the rate of Theorem 3.17: see thm317/samples_with_larger_tau. G, M, rho constant."),
    row("lemma314/larger_tau_accounted", "Lemma 3.14", "derived: the noise 2 log(1/delta) alpha/sqrt(d) is (epsilon, delta)-DP for tau = alpha^(-1/2)/c escapes of Gamma = c alpha^(-1/2) steps", _escapes("2*log(1/delta)*alpha/sqrt(d)", ONE_ESCAPE + "/(c*sqrt(alpha))", "10", ("1/10", "100"), ("1/100", "1000000"), ("1/1000000", "1000000")), severity=PRIVACY),
    row("thm317/noise_places", "Lemma 3.14 against Theorem 3.17", "sigma_tree is the same in the lemma and in the theorem", same({"Lemma 3.14": "2*log(1/delta)*alpha/sqrt(d)", "Theorem 3.17": "alpha/sqrt(d)"}, "alpha d", {"delta": "(1/100000000, 1/100)"}), severity=PRIVACY, corrected="2 log(1/delta) alpha/sqrt(d)",
        reading="Lemma 3.14's value, from which the theorem is said to follow", reading_claim=same({"Lemma 3.14": "2*log(1/delta)*alpha/sqrt(d)", "Theorem 3.17": "alpha*log(1/delta**2)/sqrt(d)"}, "alpha d", {"delta": "(1/100000000, 1/100)"}), explain="The theorem drops the factor on which (epsilon, delta)-DP rests."),
    row("thm317/tree_privacy", "Theorem 3.17", "node noise alpha/sqrt(d) with sensitivity epsilon alpha/sqrt(d) (the larger of G/b and |g|/b_t) is (epsilon, delta)-DP, S = 1024", privacy("1", "epsilon", "epsilon", "delta", "", {**TREE, "epsilon": "(0, 1]"}, count=NODES, instances=ONE, note="in units of alpha/sqrt(d); add/remove sensitivity, the gentler reading"), severity=PRIVACY,
        corrected="multiply by a constant times sqrt(log S log(1/delta))", reading="Lemma 3.14's noise 2 log(1/delta) alpha/sqrt(d)", reading_claim=privacy("2*log(1/delta)", "epsilon", "epsilon", "delta", "", {**TREE, "epsilon": "(0, 1]"}, count=NODES, instances=ONE), explain="The printed noise multiplier is 1/epsilon whatever delta is. |g|/b_t reaches epsilon alpha/sqrt(d) where kappa = alpha sqrt(d)/epsilon, that is where the private term of alpha leads; where (B G M)^(1/3) is far above it, the sensitivity is smaller."),
    row("thm317/tree_privacy_replace_one", "Theorem 3.17 with Lemma 3.14's noise", "with replace-one sensitivity 2 epsilon alpha/sqrt(d), noise 2 log(1/delta) alpha/sqrt(d) is (epsilon, delta)-DP, S = 1024", privacy("2*log(1/delta)", "2*epsilon", "epsilon", "delta", "", {**TREE, "epsilon": "(0, 1]"}, count=NODES, instances=ONE), severity=PRIVACY,
        corrected="twice the noise", reading="add/remove neighbours", reading_claim=privacy("2*log(1/delta)", "epsilon", "epsilon", "delta", "", {**TREE, "epsilon": "(0, 1]"}, count=NODES, instances=ONE)),
    row("thm317/escape_privacy", "Theorem 3.17", "one escape of Gamma = M/sqrt(rho alpha) steps with noise alpha/sqrt(d) is (epsilon, delta)-DP (B = G = M = rho = 1, the theorem's b and b_t)", _escapes("alpha/sqrt(d)", ONE_ESCAPE, "1", ("1/100", "1000000")), severity=PRIVACY,
        corrected="2 log(1/delta) alpha/sqrt(d)", reading="Lemma 3.14's noise 2 log(1/delta) alpha/sqrt(d)", reading_claim=LEMMA_314, explain="At alpha below 1e-4 the printed noise is enough here: one record's weight in H falls faster than alpha."),
    row("prop310/noise_places", "Proposition 3.10 against Lemma 3.14", "the noise gamma/sqrt(d log(T/iota)) of the utility analysis is the private one at gamma = 2 alpha log(1/delta) sqrt(log(T/iota)), which is O~(alpha)", identity("gamma/sqrt(d*log(T/iota)) == 2*log(1/delta)*alpha/sqrt(d)", "alpha d", {"T": "[10, 1000]", "iota": "(1/1000, 1/10)", "delta": "(1/100000000, 1/100)"}, let={"gamma": "2*alpha*log(1/delta)*sqrt(log(T/iota))"}), severity=UTILITY,
        explain="Looks like a contradiction at gamma = alpha; gamma = O~(alpha) hides these logarithms."),
    row("alg4/single_pass", "Algorithm 4", "batches are drawn among unused functions, so a record is in one O_1/O_2 and one O_3/O_4 batch", budget("1/2 + 1/2 <= 1"), severity=PRIVACY, explain="Gradient and Hessian batches may be the same or different records; each half of the budget covers one use."),
    row("alg3/halts_before_next_batch", "Algorithm 3, line 3, with Algorithm 4", "more than b unused functions suffice for the next line 5, in which O_1 and O_3 draw b each", budget("2*b <= b + 1", "", {"b": "integer [2, 100000]"}, hints=[{"b": "100"}]),
        corrected="stop below 2 max(b, b_t)", reading="O_1 and O_3, and O_2 and O_4, share a batch; |g| and (B G M)^(1/3) are at most G, and alpha at most M^2/rho", reading_claim=inequality("g*max(sqrt(d)/(alpha*epsilon), kappa/alpha**2, rho*kappa/(M**2*alpha)) <= b", "G M rho d epsilon", {"g": "(0, G]", "K0": "(0, G]", "alpha": "(0, M**2/rho]"}, let={"b": SIZES["b"], "kappa": "max(alpha*sqrt(d)/epsilon, K0)"}),
        explain="With a shared batch a record serves the gradients and the Hessians, and each gets half of the budget."),
]
