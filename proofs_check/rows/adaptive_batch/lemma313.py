"""adaptive_batch: rows of Lemma 3.13."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import PRIVACY, identity, inequality, privacy, program

from .privacy_terms import ESC, ESCAPES_ALONE, NODES, ONE, TREE, row

ROWS = [
    row(
        "lemma313/O1_sensitivity",
        "Lemma 3.13, B.3",
        "replacing one of b gradients of norm <= G moves their mean by at most G/b",
        inequality("abs(u - v)/b <= G/b", "G b", {"u": "[-G, G]", "v": "[-G, G]"}),
        severity=PRIVACY,
        corrected="2G/b",
        corrected_claim=inequality("abs(u - v)/b <= 2*G/b", "G b", {"u": "[-G, G]", "v": "[-G, G]"}),
        reading="add/remove neighbours (a record becomes zero)",
        saved_by=inequality("abs(u - 0)/b <= G/b", "G b", {"u": "[-G, G]"}),
        explain="'Differing by a single item' with n fixed is replace-one.",
    ),
    row(
        "lemma313/O2_sensitivity",
        "Lemma 3.13, B.3",
        "replacing one record moves the mean difference by at most M |x_t - x_(t-1)|/b_t",
        inequality("abs(u - v)/b <= M*r/b", "M r b", {"u": "[-M*r, M*r]", "v": "[-M*r, M*r]"}),
        severity=PRIVACY,
        corrected="2 M |x_t - x_(t-1)|/b_t",
        corrected_claim=inequality("abs(u - v)/b <= 2*M*r/b", "M r b", {"u": "[-M*r, M*r]", "v": "[-M*r, M*r]"}),
        reading="add/remove neighbours",
        saved_by=inequality("abs(u - 0)/b <= M*r/b", "M r b", {"u": "[-M*r, M*r]"}),
        defect="lemma313/O1_sensitivity",
    ),
    row(
        "lemma313/step_and_gradient",
        "B.3",
        "M |x_t - x_(t-1)| (the step -eta g_(t-1)) is the norm of the noisy gradient at t",
        identity("M*(eta*g_prev) == g_t", "M g_prev g_t", let={"eta": "1/M"}),
        severity=PRIVACY,
        corrected="|g_(t-1)|",
        repair="g_(t-1) was meant, here and in b_t",
        saved_by=identity("M*(eta*g_prev) == g_prev", "M g_prev", let={"eta": "1/M"}),
        explain="With b_t in proportion to |g_t| the sensitivity |g_(t-1)|/b_t would have no bound.",
        defect="alg3/batch_size_needs_future",
    ),
    row(
        "lemma313/noise_needs_future",
        "Lemma 3.13 with Algorithm 1, line 3",
        "the noise scale, with its max over t of |g_t|/b_t, is known when the node noises are drawn, before step 1",
        program("G b delta epsilon", "3: zeta <- G b g_1 b_1 delta epsilon", "8: tilde <- zeta", "17: g_1 <- tilde"),
        severity=PRIVACY,
        corrected="the bound epsilon alpha/sqrt(d) of |g_t|/b_t from Lemma 3.14",
        repair="the max is replaced by that bound",
        saved_by=program(
            "G b delta epsilon alpha d", "3: zeta <- G b alpha d delta epsilon", "8: tilde <- zeta", "17: g_1 <- tilde"
        ),
        defect="alg3/batch_size_needs_future",
    ),
    row(
        "lemma313/hessian_sensitivity",
        "Lemma 3.13, B.3",
        (
            "replacing one record, which is in O_3's or in one O_4's batch, moves H by at most M/b + rho |x_t - "
            "x_(t-1)|/b_t"
        ),
        inequality("2*max(M/b, rho*r/bt) <= M/b + rho*r/bt", "M b rho r bt"),
        severity=PRIVACY,
        corrected_claim=inequality(
            "max(abs(u - v)/b, abs(s - t)/bt) <= 2*max(M/b, rho*r/bt)",
            "M b rho r bt",
            {"u": "[-M, M]", "v": "[-M, M]", "s": "[-rho*r, rho*r]", "t": "[-rho*r, rho*r]"},
        ),
        corrected="2 max(M/b, rho |x_t - x_(t-1)|/b_t)",
        reading="add/remove neighbours (a record becomes zero)",
        saved_by=inequality("max(M/b, rho*r/bt) <= M/b + rho*r/bt", "M b rho r bt"),
        defect="lemma313/O1_sensitivity",
    ),
    row(
        "lemma313/sigma_tree",
        "Lemma 3.13",
        "node noise s log(1/delta)/epsilon makes the gradients (epsilon/2, delta/2)-DP, S = 1024",
        privacy(
            "log(1/delta)/epsilon",
            "1",
            "epsilon/2",
            "delta/2",
            "",
            {**TREE, "epsilon": "(0, 1]"},
            count=NODES,
            instances=ONE,
            note="s = 1, the paper's sensitivity",
        ),
        severity=PRIVACY,
        corrected_claim=privacy(
            "8*sqrt(log(S)*log(2/delta))/epsilon",
            "1",
            "epsilon/2",
            "delta/2",
            "",
            {**TREE, "epsilon": "(0, 1]"},
            count=NODES,
            instances=ONE,
        ),
        corrected="8 s sqrt(log S log(2/delta))/epsilon, from Theorem 2.2",
        repair="log S = O(log(1/delta)) and a larger constant: 4 log(1/delta) in place of log(1/delta)",
        saved_by=privacy(
            "4*log(1/delta)/epsilon",
            "1",
            "epsilon/2",
            "delta/2",
            "",
            {**TREE, "epsilon": "(0, 1]"},
            count=NODES,
            instances=ONE,
        ),
        explain=(
            "B.3 says (epsilon/2, delta/2). With the whole (epsilon, delta), which disjoint batches would allow, "
            "the true epsilon is 1.03 at delta 1e-5 and grows with S."
        ),
    ),
    row(
        "lemma313/sigma_tree_grows",
        "Lemma 3.13 against Theorem 2.2",
        "inferred: log(1/delta) is at least 8 sqrt(log S log(2/delta)) (Theorem 2.2 at half the budget)",
        inequality(
            "8*sqrt(log(S)*log(2/delta)) <= log(1/delta)",
            "",
            {"S": "integer [2, 1000000]", "delta": "(1/100000000, 1/100)"},
            hints=[{"S": "1000", "delta": "1/100000"}],
        ),
        severity=PRIVACY,
        corrected="8 s sqrt(log S log(2/delta))/epsilon, which grows with S",
        corrected_by="lemma313/sigma_tree",
        condition="delta <= S^-65 (S >= 3), far below any delta in use",
        saved_by=inequality("8*sqrt(x*(y + 1)) <= y", "", {"x": "[1, 10]", "y": "[65*x, 1000*x]"}),
        defect="lemma313/sigma_tree",
        ours=True,
    ),
    row(
        "lemma313/sigma_t",
        "Lemma 3.13",
        (
            "Gamma tau escape steps with noise 2 Xi s_H sqrt(Gamma tau log(1/delta))/epsilon are (epsilon, "
            "delta)-DP by themselves"
        ),
        ESCAPES_ALONE,
        severity=PRIVACY,
    ),
    row(
        "lemma313/sigma_t_half",
        "Lemma 3.13",
        "the same steps are (epsilon/2, delta/2)-DP, the half that B.3 leaves beside the gradients",
        privacy(
            "2*sqrt(Gam*tau*log(1/delta))/epsilon",
            "1",
            "epsilon/2",
            "delta/2",
            "",
            ESC,
            count="Gam*tau",
            instances=[{"epsilon": "1", "delta": "1/100000", "Gam": "100", "tau": "10"}],
            note="s_H Xi = 1",
        ),
        severity=PRIVACY,
        corrected_claim=privacy(
            "4*sqrt(Gam*tau*log(2/delta))/epsilon",
            "1",
            "epsilon/2",
            "delta/2",
            "",
            ESC,
            count="Gam*tau",
            instances=[{"epsilon": "1", "delta": "1/100000", "Gam": "100", "tau": "10"}],
            note="in units of Xi s_H",
        ),
        corrected="4 Xi s_H sqrt(Gamma tau log(2/delta))/epsilon",
        reading=(
            "batches of unused functions are disjoint: a record in a Hessian batch is in no gradient batch, so the "
            "steps may use all of (epsilon, delta)"
        ),
        saved_by=ESCAPES_ALONE,
    ),
]
