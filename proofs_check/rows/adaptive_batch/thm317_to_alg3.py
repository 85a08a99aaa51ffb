"""adaptive_batch: rows of thm317, prop310, alg4, alg3."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import PRIVACY, UTILITY, budget, identity, inequality, privacy, same

from .privacy_terms import LEMMA_314, NODES, ONE, ONE_ESCAPE, SIZES, TREE, escapes, row

ROWS = [
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
        corrected="2 log(1/delta) alpha/sqrt(d)",
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
            note="in units of alpha/sqrt(d); add/remove sensitivity, the gentler reading",
        ),
        severity=PRIVACY,
        corrected="multiply by a constant times sqrt(log S log(1/delta))",
        reading="Lemma 3.14's noise 2 log(1/delta) alpha/sqrt(d)",
        saved_by=privacy(
            "2*log(1/delta)",
            "epsilon",
            "epsilon",
            "delta",
            "",
            {**TREE, "epsilon": "(0, 1]"},
            count=NODES,
            instances=ONE,
        ),
        explain=(
            "The printed noise multiplier is 1/epsilon whatever delta is. |g|/b_t reaches epsilon alpha/sqrt(d) "
            "where kappa = alpha sqrt(d)/epsilon, that is where the private term of alpha leads; where (B G "
            "M)^(1/3) is far above it, the sensitivity is smaller."
        ),
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
        corrected="twice the noise",
        reading="add/remove neighbours",
        saved_by=privacy(
            "2*log(1/delta)",
            "epsilon",
            "epsilon",
            "delta",
            "",
            {**TREE, "epsilon": "(0, 1]"},
            count=NODES,
            instances=ONE,
        ),
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
        reading="Lemma 3.14's noise 2 log(1/delta) alpha/sqrt(d)",
        saved_by=LEMMA_314,
        explain=(
            "At alpha below 1e-4 the printed noise is enough here: one record's weight in H falls faster than alpha."
        ),
    ),
    row(
        "prop310/noise_places",
        "Proposition 3.10 against Lemma 3.14",
        (
            "the noise gamma/sqrt(d log(T/iota)) of the utility analysis is the private one at gamma = 2 alpha "
            "log(1/delta) sqrt(log(T/iota)), which is O~(alpha)"
        ),
        identity(
            "gamma/sqrt(d*log(T/iota)) == 2*log(1/delta)*alpha/sqrt(d)",
            "alpha d",
            {"T": "[10, 1000]", "iota": "(1/1000, 1/10)", "delta": "(1/100000000, 1/100)"},
            let={"gamma": "2*alpha*log(1/delta)*sqrt(log(T/iota))"},
        ),
        severity=UTILITY,
        explain="Looks like a contradiction at gamma = alpha; gamma = O~(alpha) hides these logarithms.",
    ),
    row(
        "alg4/single_pass",
        "Algorithm 4",
        "batches are drawn among unused functions, so a record is in one O_1/O_2 and one O_3/O_4 batch",
        budget("1/2 + 1/2 <= 1"),
        severity=PRIVACY,
        explain=(
            "Gradient and Hessian batches may be the same or different records; each half of the budget covers one use."
        ),
    ),
    row(
        "alg3/halts_before_next_batch",
        "Algorithm 3, line 3, with Algorithm 4",
        "more than b unused functions suffice for the next line 5, in which O_1 and O_3 draw b each",
        budget("2*b <= b + 1", "", {"b": "integer [2, 100000]"}, hints=[{"b": "100"}]),
        corrected="stop below 2 max(b, b_t)",
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
