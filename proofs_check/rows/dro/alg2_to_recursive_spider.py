"""dro: Algorithm 2 line by line, and the noise of Recursive-SPIDER."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import (
    PRIVACY,
    UTILITY,
    identity,
    inequality,
    privacy,
    program,
    rates,
    releases,
    same,
)

from .privacy_terms import DP, FOUR, RECURSIVE, ROOT, RUN, TQ, row

ROWS = [
    row(
        "alg2/t_initialised",
        "Algorithm 2, line 2",
        "t is written before it is read",
        program("T x_0 eta_0 q", "2: <- t T", "3: <- t q"),
        corrected="t = 0",
        repair="t starts at 0",
        saved_by=program("T x_0 eta_0 q", "init: t <-", "2: <- t T", "3: <- t q"),
    ),
    row(
        "alg2/previous_estimates",
        "Algorithm 2, lines 6 and 12",
        "g_(t-1) and v_(t-1) are written before they are read when t starts at 0",
        program(
            "x_0 eta_0",
            "4: g_prev <- x_0 eta_0",
            "8: eta_1 <- eta_0 g_prev",
            "10: v_prev <- x_0 eta_1",
            "14: x_1 <- x_0 v_prev",
            "loop",
            "6: g_prev <- x_1 eta_1 x_0 eta_0 g_prev",
            "12: v_prev <- x_1 eta_1 x_0 eta_0 v_prev",
            "end",
        ),
        explain="t = 0 is a multiple of q, so the first pass is a refresh.",
    ),
    row(
        "alg2/inputs",
        "Algorithm 2, line 1",
        "C_2 and C_4 can be inputs, as line 1 says",
        program("x_0 eta_0 T q N C_1 C_3", "thm6: C_2 C_4 <- x_t eta_t", "4: x_t eta_t <- x_0 eta_0 C_1 C_3"),
        corrected="compute C_2 and C_4 from the iterates at each step (Theorem 6)",
        repair="a rule for the thresholds is the input",
        saved_by=program("x_0 eta_0 T q N C_1 C_3", "4: x_t eta_t <- x_0 eta_0 C_1 C_3", "thm6: C_2 C_4 <- x_t eta_t"),
    ),
    row(
        "alg2/which_previous_point",
        "Algorithm 2, line 12, against the proof of Lemma 6",
        (
            "the previous point of the x-difference is the same: in terms of gradients a = (x_t, eta_(t+1)), p = "
            "(x_(t-1), eta_t), o = (x_(t-1), eta_(t-1)), v_(t-1) = p"
        ),
        same({"line 12": "(a - p) + p", "Lemma 6, proof": "(a - o) + p"}, "a p o"),
        severity=UTILITY,
        corrected=(
            "as line 12: then the differences telescope to the gradient at (x_t, eta_(t+1)) (gradient x eta, "
            "two steps, no noise)"
        ),
        corrected_claim=identity(
            "x2*e3 - x1*e2 + (x1*e2 - x0*e1 + v0) == x2*e3", "x0 x1 x2 e1 e2 e3", let={"v0": "x0*e1"}
        ),
        repair="the proof's eta_(t-1) is a slip for eta_t",
        saved_by=same({"line 12": "(a - p) + p", "Lemma 6, proof": "(a - p) + p"}, "a p"),
    ),
    row(
        "recursive_spider/release_counts",
        "Theorem 8, privacy proof",
        "inferred: the run releases at most T/q + T noisy estimates, the two kinds that the proof counts",
        releases(
            "r + d + u + e + s <= T/q + T",
            {
                "r": (RECURSIVE, "x/refresh"),
                "d": (RECURSIVE, "x/difference"),
                "u": (RECURSIVE, "temperature/refresh"),
                "e": (RECURSIVE, "temperature/difference"),
                "s": (RECURSIVE, "value"),
            },
            [{"T": "12", "q": "4"}, {"T": "60", "q": "20"}],
        ),
        corrected="3 T, where q divides T: u is a second pair of sequences and s a fifth one",
        corrected_claim=releases(
            "r + d + u + e + s == 3*T",
            {
                "r": (RECURSIVE, "x/refresh"),
                "d": (RECURSIVE, "x/difference"),
                "u": (RECURSIVE, "temperature/refresh"),
                "e": (RECURSIVE, "temperature/difference"),
                "s": (RECURSIVE, "value"),
            },
            [{"T": "12", "q": "4"}, {"T": "60", "q": "20"}, {"T": "9", "q": "1"}],
        ),
        reading="u is meant by 'similarly' and s has its own noise formula; c absorbs the number of sequences",
        saved_by=releases(
            "r + d <= T/q + T",
            {"r": (RECURSIVE, "x/refresh"), "d": (RECURSIVE, "x/difference")},
            [{"T": "12", "q": "4"}, {"T": "60", "q": "20"}],
        ),
        ours=True,
    ),
    row(
        "recursive_spider/value_count",
        "Algorithm 3, line 16",
        "s is released in every one of the T iterations (transcript of the reference)",
        releases("s == T", {"s": (RECURSIVE, "value")}, [{"T": "12", "q": "4"}, {"T": "7", "q": "3"}]),
        severity=PRIVACY,
    ),
    row(
        "recursive_spider/sigma_1_order",
        "Theorems 3 and 8, sigma_1 and sigma_3",
        "sqrt(T)/(n q) covers sqrt(T/q)/n, Theorem 5 with T/q full-batch refreshes",
        rates("sqrt(T/q)/n <= sqrt(T)/(n*q)", "n", "n T q", conditions=("T >= q", "q >= 1", "n >= 1")),
        severity=PRIVACY,
        corrected="sqrt(T)/(n sqrt q), as Theorem 1 has it",
        corrected_by="recursive_spider/sigma_1_accounted",
        reading="the root covers q, as in Theorem 1",
        saved_by=rates("sqrt(T/q)/n <= sqrt(T)/(n*sqrt(q))", "n", "n T q", conditions=("T >= q", "q >= 1")),
        garbling="a lost root over q is possible; printed three times without it, and with it in Theorems 1 and 6",
    ),
    row(
        "recursive_spider/sigma_1_accounted",
        "Theorem 8, sigma_1",
        "with c = 4 the refreshes of v alone are (epsilon, delta)-DP (count from the transcript, b_1 = n)",
        privacy(
            ROOT + "*sqrt(T)/(n*q)",
            "2/n",
            "epsilon",
            "delta",
            "",
            TQ,
            count="k",
            releases={"k": (RECURSIVE, "x/refresh")},
            instances=[{**RUN, "T": "60", "q": "20"}, {**RUN, "T": "100", "q": "50"}],
            note=FOUR + "; unit G",
        ),
        severity=PRIVACY,
        corrected="sqrt(q) in place of q",
        corrected_as_saved=True,
        reading="the root covers q",
        saved_by=privacy(
            ROOT + "*sqrt(T)/(n*sqrt(q))",
            "2/n",
            "epsilon",
            "delta",
            "",
            TQ,
            count="k",
            releases={"k": (RECURSIVE, "x/refresh")},
            instances=[{**RUN, "T": "60", "q": "20"}, {**RUN, "T": "100", "q": "50"}],
        ),
        defect="recursive_spider/sigma_1_order",
    ),
    row(
        "recursive_spider/sigma_2_own_variable",
        "Theorem 3, sigma_2, Algorithm 3, lines 11 and 13",
        "noise in proportion to |x_t - x_(t-1)| covers a change of grad_x g that follows w = (x, lambda)",
        inequality(
            "2*L*sqrt(dx**2 + dl**2)/b <= 8*L*dx/b",
            "L dx dl b",
            hints=[{"L": "1", "dx": "1/1000", "dl": "1", "b": "1"}],
        ),
        severity=PRIVACY,
        corrected="|w_t - w_(t-1)|, as the proof of Theorem 8 says",
        corrected_by="recursive_spider/sigma_2_accounted",
        reading="|w_t - w_(t-1)| was meant, as in the proof",
        saved_by=inequality("sqrt(dx**2 + dl**2)/b <= dw/b", "dx dl b", {"dw": "[sqrt(dx**2 + dl**2), inf)"}),
        explain=(
            "When x stands still and lambda moves, the printed noise is zero and the difference is released as it "
            "is. Lines 11-12 take the smaller of this and the cap, so the cap does not help."
        ),
    ),
    row(
        "recursive_spider/sigma_2_accounted",
        "Theorem 3, sigma_2",
        "with c = 4 one difference of v is (epsilon, delta)-DP while x moves by 1/1000 and lambda by 1 (b_2 = n)",
        privacy(
            ROOT + "*dx/n",
            "2*sqrt(dx**2 + dl**2)/n",
            "epsilon",
            "delta",
            "",
            {**DP, "n": "integer [2, 100000]", "dx": "(0, 100)", "dl": "[0, 100]"},
            instances=[{"epsilon": "1", "delta": "1/100000", "n": "1000", "dx": "1/1000", "dl": "1"}],
            note=FOUR + "; unit L",
        ),
        severity=PRIVACY,
        corrected="|w_t - w_(t-1)|, as the proof of Theorem 8 says",
        corrected_as_saved=True,
        reading="|w_t - w_(t-1)| was meant, as in the proof",
        saved_by=privacy(
            ROOT + "*sqrt(dx**2 + dl**2)/n",
            "2*sqrt(dx**2 + dl**2)/n",
            "epsilon",
            "delta",
            "",
            {**DP, "n": "integer [2, 100000]", "dx": "(0, 100)", "dl": "[0, 100]"},
            instances=[{"epsilon": "1", "delta": "1/100000", "n": "1000", "dx": "1/1000", "dl": "1"}],
        ),
        defect="recursive_spider/sigma_2_own_variable",
    ),
    row(
        "recursive_spider/sigma_4_own_variable",
        "Theorem 3, sigma_4, Algorithm 3, lines 12 and 14",
        (
            "noise in proportion to |lambda_t - lambda_(t-1)| covers a change of grad_lambda g that follows w = (x, "
            "lambda)"
        ),
        inequality(
            "2*L*sqrt(dx**2 + dl**2)/b <= 8*L*dl/b",
            "L dx dl b",
            hints=[{"L": "1", "dx": "1", "dl": "1/1000", "b": "1"}],
        ),
        severity=PRIVACY,
        corrected="|w_t - w_(t-1)|",
        corrected_by="recursive_spider/sigma_2_accounted",
        reading="|w_t - w_(t-1)| was meant, as in the proof",
        saved_by=inequality("sqrt(dx**2 + dl**2)/b <= dw/b", "dx dl b", {"dw": "[sqrt(dx**2 + dl**2), inf)"}),
        explain="While lambda is held at its floor lambda_0 it does not move, and u is released without noise.",
        defect="recursive_spider/sigma_2_own_variable",
    ),
    row(
        "recursive_spider/sigma_2_places",
        "Theorem 3 against Theorem 8",
        "sigma_2 is the same in both theorems (up to L)",
        same({"Theorem 3": "dx*max(1/b, sqrt(T)/n)", "Theorem 8": "max(1/b, sqrt(T)/n)"}, "dx b T n"),
        corrected="with the factor |w_t - w_(t-1)|, which the sensitivity has",
        corrected_as_saved=True,
        reading="the factor is left out for brevity",
        saved_by=privacy(
            ROOT + "*dw*max(1/n, sqrt(T)/n)",
            "2*dw/n",
            "epsilon",
            "delta",
            "",
            {**DP, "n": "integer [2, 1000000]", "T": "integer [1, 10000]", "dw": "(0, 100)"},
            count="T",
        ),
    ),
]
