"""dro: rows of def3, def1, thm5, thm1, sec5, double_spider."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import PRIVACY, budget, inequality, privacy, rates, releases, same

from .privacy_terms import DOUBLE, DP, FOUR, ONE_RELEASE, ROOT, RUN, SHAPE, SIZES, TQ, row

ROWS = [
    row(
        "def3/gaussian_mechanism",
        "Definition 3",
        "variance Delta^2 log(1.25/delta)/epsilon^2 is (epsilon, delta)-DP for epsilon, delta <= 1",
        privacy(
            "D*sqrt(log(1.25/delta))/epsilon",
            "D",
            "epsilon",
            "delta",
            "D",
            {"epsilon": "(0, 1]", "delta": "(0, 1]"},
            instances=[
                {"D": "1", "epsilon": "1", "delta": "1/100000"},
                {"D": "1", "epsilon": "1/2", "delta": "1/1000"},
            ],
        ),
        severity=PRIVACY,
        corrected="2 Delta^2 log(1.25/delta)/epsilon^2",
        repair="the universal constant c of the theorems makes up for the factor 2",
        saved_by=privacy("D*sqrt(2*log(1.25/delta))/epsilon", "D", "epsilon", "delta", "D", DP),
        garbling="a lost 2 is possible; minimax_sosp prints the same definition",
    ),
    row(
        "def1/replace_one_mean",
        "Definition 1",
        "neighbours differ in one entry: a mean of N vectors of norm <= C moves by at most 2C/N",
        inequality("abs(a - b)/N <= 2*C/N", "C N", {"a": "[-C, C]", "b": "[-C, C]"}),
        severity=PRIVACY,
        explain=(
            "Attained by opposite vectors. Both data sets have n entries, so one entry is replaced. The theorems print "
            "C/n and leave the 2 to c."
        ),
    ),
    row(
        "thm5/epsilon_under_root",
        "Theorem 5 against Theorems 1, 3, 6 and 8",
        "the noise carries the same power of epsilon in the cited theorem and in its uses",
        same(
            {"Theorem 5": "sqrt(ell/epsilon)", "Theorems 1, 3, 6, 8": "sqrt(ell)/epsilon"}, "ell", {"epsilon": "(0, 1]"}
        ),
        severity=PRIVACY,
        corrected="sqrt(log(1/delta))/epsilon: with c = 4 one release of the whole data is private",
        corrected_as_saved=True,
        reading="the root covers the logarithm only",
        saved_by=ONE_RELEASE,
        garbling="the extent of the root may be lost in rendering",
    ),
    row(
        "thm5/order_in_epsilon",
        "Theorem 5",
        (
            "noise of the order sqrt(log(1/delta)/epsilon) covers the order sqrt(log(1/delta))/(n epsilon) that one "
            "full-batch release needs as epsilon tends to 0 (b = n, T = 1)"
        ),
        rates(
            "sqrt(ell)/(n*epsilon) <= sqrt(ell/epsilon)/n",
            "1/epsilon",
            "n ell epsilon",
            conditions=("epsilon <= 1", "ell >= 1", "n >= 1"),
        ),
        severity=PRIVACY,
        corrected="sqrt(log(1/delta))/epsilon in place of sqrt(log(1/delta)/epsilon)",
        corrected_by="thm5/full_batch_c4",
        reading="the root covers the logarithm only",
        saved_by=ONE_RELEASE,
        garbling="the extent of the root may be lost in rendering",
        defect="thm5/epsilon_under_root",
    ),
    row(
        "thm5/full_batch_c4",
        "Theorem 5 with sqrt(log(1/delta))/epsilon",
        "with c = 4, T full-batch releases (b = n) of sensitivity 2/n are (epsilon, delta)-DP",
        privacy(
            ROOT + "*max(1/n, sqrt(T)/n)",
            "2/n",
            "epsilon",
            "delta",
            "",
            {**DP, "T": "integer [1, 10000]", "n": "integer [2, 10000000]"},
            count="T",
        ),
        severity=PRIVACY,
        explain=(
            "mu = sqrt(T) (2/n)/std = epsilon/(2 sqrt(log(1/delta))). With c = 1 the true epsilon is 2 to 3 times "
            "the claim."
        ),
    ),
    row(
        "thm5/sampled_c4",
        "Theorem 5 with sqrt(log(1/delta))/epsilon",
        "with c = 4, T releases over batches of b of n are (epsilon, delta)-DP: no contradiction on instances",
        privacy(
            ROOT + "*max(1/b, sqrt(T)/n)",
            "2/b",
            "epsilon",
            "delta",
            "",
            {**DP, "T": "integer [1, 10000]", "n": "integer [2, 10000000]", "b": "integer [1, n]"},
            count="T",
            rate="b/n",
            instances=[
                {"epsilon": "1", "delta": "1/100000", "T": "100", "n": "1000", "b": "100"},
                {"epsilon": "1/2", "delta": "1/100000", "T": "400", "n": "10000", "b": "100"},
                {"epsilon": "1", "delta": "1/100000", "T": "10", "n": "1000", "b": "10"},
            ],
        ),
        severity=PRIVACY,
        explain=(
            "The pair has all other records equal, which bounds epsilon from below; 'checked' is not a proof of "
            "Theorem 5."
        ),
    ),
    row(
        "thm1/any_epsilon",
        "Theorems 1 and 3",
        (
            "for every epsilon > 0 a universal c exists: c sqrt(log(1/delta))/epsilon covers 1/sqrt(epsilon), the "
            "order that one release needs as epsilon grows"
        ),
        rates(
            "1/sqrt(epsilon) <= sqrt(ell)/epsilon",
            "epsilon",
            "epsilon ell",
            constants="ell",
            conditions=("epsilon >= 1",),
        ),
        corrected="epsilon <= log(1/delta): there c = 4 is enough for one release of the whole data",
        corrected_claim=privacy(
            ROOT + "/n",
            "2/n",
            "epsilon",
            "delta",
            "",
            {"n": "integer [2, 1000000]", "delta": "(1/100000000, 1/100)", "epsilon": "(0, 20)"},
            conditions=("epsilon <= log(1/delta)",),
        ),
        condition="epsilon <= 1, as in Theorem 5",
        saved_by=ONE_RELEASE,
        explain=(
            "Budgets beyond log(1/delta) protect nobody, so this is a slip of the statement only. For large epsilon "
            "mu^2/2 is about epsilon, so std >= sensitivity/sqrt(2 epsilon)."
        ),
        severity=PRIVACY,
    ),
    row(
        "thm1/any_epsilon_plugged_in",
        "Theorems 1 and 3",
        "c = 4, epsilon = 1000, one full-batch release",
        privacy(
            ROOT + "/n",
            "2/n",
            "epsilon",
            "delta",
            "",
            {"epsilon": "[1, 10000]", "delta": "(0, 1/100)", "n": "integer [2, 1000000]"},
            instances=[{"epsilon": "1000", "delta": "1/100000", "n": "1000"}],
        ),
        corrected="epsilon <= 1",
        corrected_as_saved=True,
        condition="epsilon <= 1",
        saved_by=ONE_RELEASE,
        severity=PRIVACY,
        defect="thm1/any_epsilon",
    ),
    row(
        "sec5/epsilon_of_experiments",
        "Section 5.1",
        "inferred: the budgets 0.1 to 10 of the experiments lie in Theorem 5's range epsilon <= 1",
        budget("10 <= 1"),
        corrected="0.1, 0.5 and 1 lie in it; 3, 5, 8 and 10 do not",
        corrected_claim=inequality("max(max(0.1, 0.5, 1) - 1, 1 - min(3, 5, 8, 10)) <= 0"),
        explain=(
            "Nothing saves it: Theorem 5 says nothing beyond 1, and whether c = 4 is enough there depends on "
            "sampling: with T = 1e4 batches of 100 of 1e4 it is not at 10."
        ),
        defect="thm1/any_epsilon",
        ours=True,
    ),
    row(
        "double_spider/refresh_count",
        "Theorem 6, proof",
        "line 4 is computed at most T/q times (transcript of the reference)",
        releases(
            "k <= T/q",
            {"k": (DOUBLE, "eta/refresh")},
            [{"T": "12", "q": "4"}, {"T": "10", "q": "4"}, {"T": "60", "q": "60"}],
        ),
        corrected="ceil(T/q)",
        corrected_claim=releases(
            "k == ceil(T/q)",
            {"k": (DOUBLE, "eta/refresh")},
            [
                {"T": t, "q": q}
                for t, q in (
                    ("12", "4"),
                    ("10", "4"),
                    ("9", "4"),
                    ("7", "7"),
                    ("8", "7"),
                    ("5", "1"),
                    ("3", "5"),
                    ("60", "60"),
                )
            ],
        ),
        condition="q divides T",
        saved_by=releases("k <= T/q", {"k": (DOUBLE, "eta/refresh")}, [{"T": "12", "q": "4"}, {"T": "60", "q": "20"}]),
    ),
    row(
        "double_spider/difference_count",
        "Theorem 6, proof",
        "line 6 is computed at most T times (transcript of the reference)",
        releases(
            "k <= T",
            {"k": (DOUBLE, "eta/difference")},
            [{"T": "12", "q": "4"}, {"T": "10", "q": "4"}, {"T": "60", "q": "60"}],
        ),
        severity=PRIVACY,
    ),
    row(
        "double_spider/x_sequences",
        "Theorem 6, proof",
        "lines 10 and 12 are computed as often as lines 4 and 6",
        releases(
            "k + m == a + b",
            {
                "k": (DOUBLE, "eta/refresh"),
                "m": (DOUBLE, "eta/difference"),
                "a": (DOUBLE, "x/refresh"),
                "b": (DOUBLE, "x/difference"),
            },
            [{"T": "12", "q": "4"}, {"T": "10", "q": "4"}],
        ),
        severity=PRIVACY,
    ),
    row(
        "double_spider/sigma_1_order",
        "Theorems 1 and 6, sigma_1",
        "sqrt(T)/(n sqrt q) covers max{1/N_1, sqrt(T/q)/n}, Theorem 5 with T/q releases",
        rates("max(1/N, sqrt(T/q)/n) <= sqrt(T)/(n*sqrt(q))", "n", SIZES, conditions=SHAPE),
        severity=PRIVACY,
        corrected="max{1/N_1, sqrt(T)/(n sqrt q)}",
        corrected_by="double_spider/sigma_1_small_batch",
        condition="N_1 = n (Remark 2) and T >= q",
        saved_by=rates("max(1/N, sqrt(T/q)/n) == sqrt(T)/(n*sqrt(q))", "n", SIZES, conditions=(*SHAPE, "N >= n")),
    ),
    row(
        "double_spider/sigma_1_accounted",
        "Theorem 6, sigma_1",
        "with c = 4 and N_1 = n the refreshes of g alone are (epsilon, delta)-DP (count from the transcript)",
        privacy(
            ROOT + "*sqrt(T)/(n*sqrt(q))",
            "2/N",
            "epsilon",
            "delta",
            "",
            TQ,
            count="k",
            rate="N/n",
            releases={"k": (DOUBLE, "eta/refresh")},
            instances=[{**RUN, "T": "12", "q": "4"}, {**RUN, "T": "60", "q": "60"}, {**RUN, "T": "60", "q": "1"}],
            note=FOUR + "; unit C_1",
        ),
        severity=PRIVACY,
    ),
]
