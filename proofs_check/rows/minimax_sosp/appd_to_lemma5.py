"""minimax_sosp: rows of appD, alg3, lemma5."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import PRIVACY, identity, inequality, privacy, rates, releases, same

from .privacy_terms import ERM_V, INCREMENTS, INST, ONE, POP, POP_REGION, RGDA, row

ROWS = [
    row(
        "appD/clipping_place",
        "Appendix D against Algorithm 3",
        "per-sample clipping (Appendix D) and clipping of the mean (Algorithm 3) have the same sensitivity",
        same({"Appendix D": "2*C/B", "Algorithm 3": "2*C"}, "C", {"B": "[2, 1000]"}),
        severity=PRIVACY,
        corrected="Algorithm 3 should clip per sample: then both have 2 C/B",
        corrected_by="alg3/clipped_mean_sensitivity",
        condition="gradients are bounded by C anyway, then both have 2C/B",
        saved_by=same({"Appendix D": "2*C/B", "Algorithm 3": "2*min(C/B, C)"}, "C", {"B": "[2, 1000]"}),
        defect="alg3/clipped_mean_sensitivity",
    ),
    row(
        "alg3/release_counts",
        "Algorithm 3, lines 12 to 15",
        (
            "a run of T outer and K inner steps releases T K increments of v and as many of u (transcript of the "
            "reference)"
        ),
        releases("v + u == 2*T*K", INCREMENTS, [{"T": "12", "K": "1", "q": "4"}, {"T": "8", "K": "5", "q": "4"}]),
        severity=PRIVACY,
    ),
    row(
        "alg3/refresh_counts",
        "B.1, privacy proof",
        "the refresh is computed at most T/q times",
        releases(
            "k <= T/q", {"k": (RGDA, "refresh/v")}, [{"T": "12", "K": "1", "q": "4"}, {"T": "10", "K": "1", "q": "4"}]
        ),
        corrected_claim=releases(
            "k == ceil(T/q)",
            {"k": (RGDA, "refresh/v")},
            [{"T": "12", "K": "1", "q": "4"}, {"T": "10", "K": "1", "q": "4"}],
        ),
        corrected="ceil(T/q)",
        condition="q divides T",
        saved_by=releases("k <= T/q", {"k": (RGDA, "refresh/v")}, [{"T": "12", "K": "1", "q": "4"}]),
    ),
    row(
        "lemma5/variations_counted",
        "B.1, privacy proof",
        "with K = 1, which B.1 sets, the gradient variation is computed at most T times (transcript of the reference)",
        releases("k <= T", {"k": (RGDA, "step/v")}, [{"T": "8", "K": "1", "q": "4"}, {"T": "12", "K": "1", "q": "4"}]),
        severity=PRIVACY,
        explain=(
            "For larger K it is T K times (alg3/release_counts), and line 2 does not know K: see "
            "alg3/inner_steps_not_counted."
        ),
    ),
    row(
        "alg3/erm_refresh_noise",
        "Algorithm 3, line 1 (S_1 = n)",
        (
            "with a constant 8 in front, the T/q refreshes of v and u (sensitivity 2M/n, half of the budget) are "
            "(epsilon, delta)-DP"
        ),
        privacy(
            "8*" + ERM_V,
            "2*sqrt(2)/n",
            "epsilon",
            "delta",
            "",
            INST,
            count="2*T/q",
            instances=ONE,
            note="C_v = M; sqrt 2 stands for the equal share of the increments",
        ),
        severity=PRIVACY,
        explain=(
            "The universal constant is left open. With constant 1 the true epsilon is 3.6 for a claimed 1 at delta "
            "1e-5."
        ),
    ),
    row(
        "alg3/erm_increment_noise",
        "Algorithm 3, line 2 (S_2 = n, K = 1)",
        (
            "with a constant 8 in front, the T increments of v and u (sensitivity 2 C_u/n, half of the budget) are "
            "(epsilon, delta)-DP"
        ),
        privacy(
            "8*sqrt(log(1/delta))/epsilon*max(1/n, sqrt(T)/n)",
            "2*sqrt(2)/n",
            "epsilon",
            "delta",
            "",
            INST,
            count="v + u",
            releases=INCREMENTS,
            instances=ONE,
        ),
        severity=PRIVACY,
    ),
    row(
        "alg3/erm_sampled_increment_noise",
        "Algorithm 3, line 2 (S_2 = n/sqrt(T), K = 1)",
        (
            "with a constant 8 in front, T sampled increments of v and as many of u (sensitivity 2 C_u/S_2, half of "
            "the budget) are (epsilon, delta)-DP"
        ),
        privacy(
            "8*sqrt(log(1/delta))/epsilon*max(1/S2, sqrt(T)/n)",
            "2*sqrt(2)/S2",
            "epsilon",
            "delta",
            "",
            {**INST, "S2": "[1, n]"},
            count="2*T",
            rate="S2/n",
            instances=[{**ONE[0], "S2": "1000"}, {**ONE[1], "S2": "50"}],
            note="in units of C_u",
        ),
        severity=PRIVACY,
        explain="Theorem 1's S_2 is at least of this order; below it the floor 1/S_2 of line 2 takes over.",
    ),
    row(
        "alg3/erm_increment_noise_K5",
        "Algorithm 3, line 2 (S_2 = n)",
        "derived: the same constant 8 does for K = 5 inner steps, as in Appendix D",
        privacy(
            "8*sqrt(log(1/delta))/epsilon*max(1/n, sqrt(T)/n)",
            "2*sqrt(2)/n",
            "epsilon",
            "delta",
            "",
            INST,
            count="v + u",
            releases=INCREMENTS,
            instances=[{**ONE[0], "K": "5"}],
        ),
        severity=PRIVACY,
        corrected="sqrt(T K) in place of sqrt(T), for every K",
        corrected_claim=privacy(
            "8*sqrt(log(1/delta))/epsilon*max(1/n, sqrt(T*K)/n)",
            "2*sqrt(2)/n",
            "epsilon",
            "delta",
            "",
            {**INST, "K": "integer [1, 100]"},
            count="2*T*K",
            instances=[{**ONE[0], "K": "5"}],
        ),
        degenerate="K = 1, as in B.1",
        saved_by=privacy(
            "8*sqrt(log(1/delta))/epsilon*max(1/n, sqrt(T)/n)",
            "2*sqrt(2)/n",
            "epsilon",
            "delta",
            "",
            INST,
            count="v + u",
            releases=INCREMENTS,
            instances=ONE,
        ),
        defect="alg3/inner_steps_not_counted",
        ours=True,
    ),
    row(
        "alg3/inner_steps_not_counted",
        "Algorithm 3, line 2",
        "derived: the noise sqrt(T)/n is of the order sqrt(T K)/n that T K sampled increments need, whatever K",
        rates(
            "sqrt(T*K)/n <= max(1/S2, sqrt(T)/n)",
            "n",
            "n T K S2",
            conditions=("K >= 1", "T >= 1", "S2 >= 1", "S2 <= n", "T*S2**2 >= n**2"),
        ),
        severity=PRIVACY,
        corrected="sqrt(T K)/n (with its constant, at S_2 = n, in the row about K = 5)",
        corrected_by="alg3/erm_increment_noise_K5",
        degenerate="K is a constant",
        saved_by=rates(
            "sqrt(T*K)/n <= max(1/S2, sqrt(T)/n)",
            "n",
            "n T S2",
            constants="K",
            conditions=("T >= 1", "S2 >= 1", "S2 <= n"),
        ),
        explain=(
            "Line 2 is printed for every K. Section 4.2 calls K a fixed constant, and B.1 sets K = 1. In Section "
            "4.3 (K = O(kappa)) no record is used twice (T S_1/q + T K S_2 <= n), so K does not matter there: "
            "alg3/population_increment_noise."
        ),
        ours=True,
    ),
    row(
        "alg3/population_increment_noise",
        "Algorithm 3, line 2, with B.2",
        (
            "with a constant 8 in front and each record used once (T S_1/q + T K S_2 <= n), an increment of v and "
            "one of u (sensitivity 2 C_u/S_2, half of the budget) are (epsilon, delta)-DP"
        ),
        privacy(
            "8*sqrt(log(1/delta))/epsilon*max(1/S2, sqrt(T)/n)",
            "2*sqrt(2)/S2",
            "epsilon",
            "delta",
            "",
            POP_REGION,
            count="2",
            instances=POP,
            note="in units of C_u",
        ),
        severity=PRIVACY,
        explain="With Algorithm 3's noise the increments of Theorem 2 are private; with B.2's they are not (eqB2).",
    ),
    row(
        "alg3/noise_places",
        "Algorithm 3 against B.2",
        "the increment noise of Algorithm 3 (with C_u = L r) and of B.2 agree up to constants",
        rates(
            "L*r*sqrt(ell)/epsilon*max(1/S2, sqrt(T)/n) == L*r*sqrt(ell)/(n*epsilon)",
            "n",
            "n L r ell epsilon S2 T",
            conditions=(
                "S2 >= 1",
                "S2 <= n",
                "T >= 1",
                "ell >= 1",
                "epsilon <= 1",
                "L >= 1",
                "L <= 1",
                "r >= 1",
                "r <= 1",
            ),
        ),
        severity=PRIVACY,
        corrected="the noise of Algorithm 3, which does for every S_2; B.2 lacks sqrt(T) and the floor 1/S_2",
        corrected_by="alg3/population_increment_noise",
        degenerate="S_2 = n and T = 1",
        saved_by=rates(
            "sqrt(ell)/epsilon*max(1/S2, sqrt(T)/n) == sqrt(ell)/(n*epsilon)",
            "n",
            "n ell epsilon",
            let={"S2": "n", "T": "1"},
        ),
    ),
    row(
        "lemma5/gradient_variation",
        "B.1, privacy proof",
        "|w_t - w_(t-1)| = |y_t - y_(t-1)| with w = (x, y)",
        identity("sqrt(dx**2 + dy**2) == dy", "dx dy"),
        severity=PRIVACY,
        corrected="sqrt(|x_t - x_(t-1)|^2 + |y_t - y_(t-1)|^2), the change of the gradient of |w|^2/2",
        corrected_claim=identity(
            "sqrt((x_1 - x_0)**2 + (y_1 - y_0)**2) == sqrt(dx**2 + dy**2)",
            "x_0 y_0 dx dy",
            let={"x_1": "x_0 + dx", "y_1": "y_0 + dy"},
        ),
        reading="a slip without effect: line 2's noise has the fixed size C_u, and C_u >= L |w_t - w_(t-1)|",
        saved_by=inequality(
            "2*L*sqrt(dx**2 + dy**2)/S2 <= 2*C_u/S2", "L dx dy S2", {"C_u": "[L*sqrt(dx**2 + dy**2), inf)"}
        ),
        explain=(
            "Inside the inner loop (k >= 1) x does not move, but with K = 1 the only step is k = 0: there it is x "
            "that moves, and y does not."
        ),
    ),
]
