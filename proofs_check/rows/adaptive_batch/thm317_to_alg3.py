"""adaptive_batch: rows of thm317, prop310, alg4, alg3."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import PRIVACY, budget, inequality, privacy, same

from .privacy_terms import ESCAPE, LEMMA_314, NODES, ONE, ONE_ESCAPE, SIZES, SMALL_RHO, TREE, escapes, row

ROWS = [
    row(
        "lemma314/sigma_t_small_rho",
        "Lemma 3.14 with Lemma 3.13",
        (
            "one escape of Gamma steps with Lemma 3.14's noise 2 log(1/delta) alpha/sqrt(d), b and b_t is (epsilon, "
            "delta)-DP also where rho is small (B = G = M = 1, rho = alpha = 1/1000, d = 1e8, Gamma = M/sqrt(rho "
            "alpha))"
        ),
        privacy(
            "2*log(1/delta)*alpha/sqrt(d)",
            "s",
            "epsilon",
            "delta",
            "",
            {name: f"[{value}, {value}]" for name, value in SMALL_RHO.items()},
            count=ONE_ESCAPE,
            let=ESCAPE,
            instances=[SMALL_RHO],
            note="gamma = alpha; replace-one",
        ),
        severity=PRIVACY,
        corrected_by="lemma314/escape_noise_small_tau",
        corrected="Lemma 3.13's formula with Gamma max(1, tau) steps",
        condition="B = G = M = rho = 1 and alpha <= 1/10",
        saved_by=LEMMA_314,
        explain="tau is below 1 there, so one escape is all that happens before the next refresh.",
        defect="lemma314/tau_below_one",
    ),
    row(
        "thm317/noise_places",
        "Lemma 3.14 against Theorem 3.17",
        "sigma_tree is the same in the lemma and in the theorem",
        same(
            {"Lemma 3.14": "2*log(1/delta)*alpha/sqrt(d)", "Theorem 3.17": "alpha/sqrt(d)"},
            "alpha d",
            {"delta": "(1/100000000, 1/100)"},
        ),
        severity=PRIVACY,
        corrected=(
            "2 log(1/delta) alpha/sqrt(d) times 2, which does for replaced records; Lemma 3.14's alone "
            "only for add/remove"
        ),
        corrected_by="thm317/tree_privacy_replace_one",
        reading="Lemma 3.14's value, from which the theorem is said to follow",
        saved_by=same(
            {"Lemma 3.14": "2*log(1/delta)*alpha/sqrt(d)", "Theorem 3.17": "alpha*log(1/delta**2)/sqrt(d)"},
            "alpha d",
            {"delta": "(1/100000000, 1/100)"},
        ),
        explain="The theorem drops the factor on which (epsilon, delta)-DP rests.",
    ),
    row(
        "thm317/tree_privacy",
        "Theorem 3.17",
        (
            "node noise alpha/sqrt(d) with sensitivity epsilon alpha/sqrt(d) (the larger of G/b and |g|/b_t) is "
            "(epsilon, delta)-DP, S = 1024"
        ),
        privacy(
            "1",
            "epsilon",
            "epsilon",
            "delta",
            "",
            {**TREE, "epsilon": "(0, 1]"},
            count=NODES,
            instances=ONE,
            relation="add/remove",
            note="in units of alpha/sqrt(d); the gentler reading of neighbours",
        ),
        severity=PRIVACY,
        corrected="multiply by a constant times sqrt(log S log(1/delta))",
        repair=(
            "Theorem 2.2's noise, twice as large, with the 2 ceil(log2 S) - 1 nodes that a record enters over a refresh"
        ),
        saved_by=privacy(
            "8*sqrt(log(S)*log(1/delta))",
            "epsilon",
            "epsilon",
            "delta",
            "",
            {**TREE, "epsilon": "(0, 1]"},
            count="2*ceil(log2(S)) - 1",
            instances=ONE,
            relation="add/remove",
        ),
        explain=(
            "The printed noise multiplier is 1/epsilon whatever delta is. |g|/b_t reaches epsilon alpha/sqrt(d) "
            "where kappa = alpha sqrt(d)/epsilon, that is where the private term of alpha leads; where (B G "
            "M)^(1/3) is far above it, the sensitivity is smaller. Lemma 3.14's 2 log(1/delta) is enough for one "
            "tree (epsilon 1.013 with the nodes of one refresh at S = 1e6, delta = 1e-5)."
        ),
        defect="thm317/noise_places",
    ),
    row(
        "thm317/tree_privacy_refresh",
        "Theorem 3.17 with Lemma 3.14's noise",
        (
            "noise 2 log(1/delta) alpha/sqrt(d) is (epsilon, delta)-DP for the 2 ceil(log2 S) - 1 nodes that a record "
            "enters when a refresh takes it off again"
        ),
        privacy(
            "2*log(1/delta)",
            "epsilon",
            "epsilon",
            "delta",
            "",
            {**TREE, "epsilon": "(0, 1]"},
            count="2*ceil(log2(S)) - 1",
            instances=[{"epsilon": "1", "delta": "1/100000", "S": "1000000"}],
            relation="add/remove",
        ),
        severity=PRIVACY,
        corrected="a new tree at every refresh (enough at delta <= 1e-5)",
        repair="a new tree at every refresh: ceil(log2 S) nodes",
        saved_by=privacy(
            "2*log(1/delta)",
            "epsilon",
            "epsilon",
            "delta",
            "",
            {"epsilon": "(0, 1]", "delta": "(1/100000000, 1/100000]", "S": "integer [2, 1000000]"},
            count=NODES,
            instances=ONE,
            relation="add/remove",
        ),
        defect="alg3/one_tree_over_the_run",
    ),
    row(
        "thm317/tree_privacy_replace_one",
        "Theorem 3.17 with Lemma 3.14's noise",
        (
            "with replace-one sensitivity 2 epsilon alpha/sqrt(d), noise 2 log(1/delta) alpha/sqrt(d) is (epsilon, "
            "delta)-DP, S = 1024"
        ),
        privacy(
            "2*log(1/delta)",
            "2*epsilon",
            "epsilon",
            "delta",
            "",
            {**TREE, "epsilon": "(0, 1]"},
            count=NODES,
            instances=ONE,
        ),
        severity=PRIVACY,
        corrected_claim=privacy(
            "4*log(1/delta)", "2*epsilon", "epsilon", "delta", "", TREE, count=NODES, instances=ONE
        ),
        corrected="twice the noise",
        reading="add/remove neighbours, S = 1024",
        saved_by=privacy(
            "2*log(1/delta)",
            "epsilon",
            "epsilon",
            "delta",
            "",
            {**TREE, "epsilon": "(0, 1]", "S": "integer [1024, 1024]"},
            count=NODES,
            instances=ONE,
            relation="add/remove",
        ),
        defect="lemma313/O1_sensitivity",
    ),
    row(
        "thm317/escape_privacy",
        "Theorem 3.17",
        (
            "one escape of Gamma = M/sqrt(rho alpha) steps with noise alpha/sqrt(d) is (epsilon, delta)-DP (B = G = "
            "M = rho = 1, the theorem's b and b_t)"
        ),
        escapes("alpha/sqrt(d)", ONE_ESCAPE, "1", ("1/100", "1000000")),
        severity=PRIVACY,
        corrected="2 log(1/delta) alpha/sqrt(d)",
        corrected_as_saved=True,
        reading="Lemma 3.14's noise 2 log(1/delta) alpha/sqrt(d), at these constants",
        saved_by=LEMMA_314,
        explain=(
            "At alpha below 1e-4 the printed noise is enough here: one record's weight in H falls faster than alpha."
        ),
        defect="thm317/noise_places",
    ),
    row(
        "alg3/halts_before_next_batch",
        "Algorithm 3, line 3, with Algorithm 4",
        "more than b unused functions suffice for the next line 5, in which O_1 and O_3 draw b each",
        budget("2*b <= b + 1", "", {"b": "integer [2, 100000]"}, hints=[{"b": "100"}]),
        corrected="stop below 2 max(b, b_t), which covers two batches of b and two of b_t",
        corrected_claim=inequality(
            "max(2*b, 2*bt) <= 2*max(b, bt)", "", {"b": "integer [2, 100000]", "bt": "integer [1, 100000]"}
        ),
        reading=(
            "O_1 and O_3, and O_2 and O_4, share a batch; |g| and (B G M)^(1/3) are at most G, and alpha at most "
            "M^2/rho"
        ),
        saved_by=inequality(
            "g*max(sqrt(d)/(alpha*epsilon), kappa/alpha**2, rho*kappa/(M**2*alpha)) <= b",
            "G M rho d epsilon",
            {"g": "(0, G]", "K0": "(0, G]", "alpha": "(0, M**2/rho]"},
            let={"b": SIZES["b"], "kappa": "max(alpha*sqrt(d)/epsilon, K0)"},
        ),
        explain="With a shared batch a record serves the gradients and the Hessians, and each gets half of the budget.",
    ),
]
