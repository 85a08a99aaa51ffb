"""adaptive_batch: rows of Theorem 2.2 and of Algorithms 1 and 3."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import PRIVACY, UTILITY, identity, inequality, privacy, program, rates, releases

from .privacy_terms import NODES, TREE, row

TREE_NORM = "sqrt(log(S))*(sqrt(d) + sqrt(log(1/iota)))"
IOTA = ("d >= 1", "iota <= 1/S**2")  # then the probability 1 - S iota is near 1

ROWS = [
    row(
        "thm22/tree_noise",
        "Theorem 2.2",
        (
            "node noise 4 s sqrt(log S log(1/delta))/epsilon: a record in ceil(log2 S) nodes of sensitivity s is "
            "(epsilon, delta)-DP"
        ),
        privacy("4*s*sqrt(log(S)*log(1/delta))/epsilon", "s", "epsilon", "delta", "s", TREE, count=NODES),
        severity=PRIVACY,
        explain="log2(S) levels although the noise has the natural logarithm: the constant 4 absorbs it.",
    ),
    row(
        "thm22/nodes_per_record",
        "Theorem 2.2, Algorithm 1",
        "a record enters at most ceil(log2 S) nodes of NODE(1), ..., NODE(S) (counted in the reference)",
        releases("k <= ceil(log2(S))", {"k": ("adaptive_batch/tree", "node")}, [{"S": "4"}, {"S": "37"}, {"S": "256"}]),
        severity=PRIVACY,
    ),
    row(
        "thm22/one_leaf",
        "Theorem 2.2",
        "the noise is positive for a sequence of length 1",
        inequality("0 < 4*sqrt(log(S)*ell)", "ell", {"S": "integer [1, 100]"}, hints=[{"S": "1", "ell": "10"}]),
        corrected="S >= 2",
        corrected_as_saved=True,
        condition="S >= 2",
        saved_by=inequality("0 < 4*sqrt(log(S)*ell)", "ell", {"S": "integer [2, 100]"}),
    ),
    row(
        "thm22/error",
        "Theorem 2.2",
        "TREE(t), a sum of up to log S node noises, has norm O(sqrt(d log(1/iota)) sigma) where iota <= 1/S^2",
        rates(f"{TREE_NORM} <= sqrt(d*log(1/iota))", "S", "S iota d", conditions=IOTA, tilde=False),
        severity=UTILITY,
        corrected="sqrt(log S) times as much",
        corrected_claim=rates(
            f"{TREE_NORM} <= sqrt(log(S))*sqrt(d*log(1/iota))", "S", "S iota d", conditions=IOTA, tilde=False
        ),
        reading="the sign for an inequality up to constants hides logarithms too, as in B.4, where it is used",
        saved_by=rates(f"{TREE_NORM} <= sqrt(d*log(1/iota))", "S", "S iota d", conditions=IOTA),
        explain=(
            "TREE(t) is N(0, k sigma^2 I) with k nodes, k up to log2 S; its norm is of the order "
            "sqrt(k) (sqrt(d) + sqrt(log(1/iota))) with probability 1 - iota. At d = 1 the printed bound lacks sqrt(k)."
        ),
    ),
    row(
        "alg1/sigma_name",
        "Algorithm 1, line 3",
        "sigma is given",
        program("sigma_tree Sigma", "3: zeta <- sigma Sigma"),
        corrected="sigma_tree, with which line 12 adds its noise",
        corrected_claim=program("sigma_tree Sigma", "3: zeta <- sigma_tree Sigma", "12: <- zeta"),
        reading="sigma = sigma_tree",
        saved_by=program("sigma_tree Sigma", "3: zeta <- sigma_tree Sigma"),
    ),
    row(
        "alg1/last_prefix",
        "Algorithm 1, NODE",
        "for S = 2^m the nodes of NODE(S) (sizes 2^(m-1), ..., 1) cover all S leaves",
        inequality("2**m <= 2**m - 1", "", {"m": "integer [1, 20]"}),
        severity=PRIVACY,
        corrected_claim=inequality("S <= 2**ceil(log2(S + 1)) - 1", "", {"S": "integer [1, 10000]"}),
        corrected="start at level ceil(log2(S + 1)), so that the whole interval is a node",
        condition="S is not a power of two: then sizes 2^(ceil(log S) - 1), ..., 1 reach S",
        saved_by=inequality(
            "S <= 2**ceil(log2(S)) - 1", "", {"S": "integer [2, 10000]"}, conditions=("ceil(log2(S)) > log2(S)",)
        ),
        explain="TREE(S) = TREE(S - 1), so X_S - X_(S-1) = M_S is released without noise.",
    ),
    row(
        "alg1/levels",
        "Algorithm 1, lines 2 and 12",
        "every node that NODE uses (levels up to ceil(log S)) has a noise in T (levels up to log S)",
        inequality("ceil(log2(S)) <= floor(log2(S))", "", {"S": "integer [2, 10000]"}, hints=[{"S": "5"}]),
        severity=PRIVACY,
        corrected="levels 1 to ceil(log2(S + 1)), from which NODE starts then",
        corrected_by="alg1/last_prefix",
        condition="S is a power of two (then the last prefix is not covered, see above)",
        saved_by=identity("ceil(log2(2**m)) == floor(log2(2**m))", "", {"m": "integer [1, 20]"}),
    ),
    row(
        "alg1/dimension",
        "Algorithm 1, line 3",
        "a one-dimensional noise is added to a d-dimensional sum (d = 1)",
        identity("d == 1", "", {"d": "integer [1, 100]"}),
        corrected=(
            "N(0, sigma^2 I_d), of norm at most sigma sqrt(5 d log(1/iota)) with probability 1 - iota (x = 1/iota)"
        ),
        corrected_claim=inequality("chi2_sf(5*d*log(x), d) <= 1/x", "", {"d": "integer [1, 50]", "x": "[4, 100000]"}),
        repair="sigma^2 I_d was meant",
        saved_by=identity("d*s**2 == d*s**2", "d s"),
    ),
    row(
        "alg3/tilde_at_refresh",
        "Algorithm 3, lines 5, 11 and 17",
        "the noisy gradient read in lines 11 and 17 is written on both branches",
        program(
            "x_t D grad_prev",
            "if",
            "5: grad H <- x_t D",
            "else",
            "8: grad tilde <- x_t D grad_prev",
            "end",
            "11: <- tilde",
        ),
        severity=PRIVACY,
        corrected="tilde = grad + TREE(t) after the if",
        corrected_claim=program(
            "x_t grad_prev answers tree",
            "if",
            "5: grad H <- x_t answers",
            "else",
            "8: grad <- x_t answers grad_prev",
            "end",
            "8b: tilde <- grad tree",
            "11: <- tilde",
        ),
        reading="line 8's last assignment belongs to both branches",
        saved_by=program(
            "x_t D grad_prev",
            "if",
            "5: grad H <- x_t D",
            "else",
            "8: grad <- x_t D grad_prev",
            "end",
            "8b: tilde <- grad",
            "11: <- tilde",
        ),
        explain="The refresh happens at t = 0, before any tilde exists.",
    ),
    row(
        "alg3/one_tree_over_the_run",
        "Algorithm 3, lines 5 and 8, against Theorem 2.2",
        (
            "a record enters at most ceil(log2 T) nodes of the one tree that TREE(t) is over the whole run (counted "
            "in the transcript of the reference, a refresh after step 4 of T = 7)"
        ),
        releases("k <= ceil(log2(T))", {"k": ("adaptive_batch/one_tree", "node")}, [{"T": "7"}, {"T": "15"}]),
        severity=PRIVACY,
        corrected="a new tree at every refresh",
        repair="one tree per epoch",
        saved_by=releases(
            "k <= ceil(log2(T))", {"k": ("adaptive_batch/tree_per_epoch", "node")}, [{"T": "7"}, {"T": "15"}]
        ),
        explain=(
            "A refresh sets the sum anew, so its step takes the old batches off again: the record changes two "
            "leaves, where it enters and where it leaves, while Theorem 2.2 counts one. With T = 7: (1,1), (1,2), "
            "(1,4), and (5,5), (5,6). The constant 4 of Theorem 2.2 has room for that; the noise of Lemma 3.13 is "
            "too small already for log2 T nodes (T = 1024). Line 5 is read with the TREE(t) of line 8; literally, "
            "its gradient is bare."
        ),
    ),
    row(
        "alg3/count_initialised",
        "Algorithm 3, lines 2, 4 and 6",
        "count is written before it is read (line 4 decides by drift_0 = kappa first)",
        program("kappa", "2: drift <- kappa", "4: <- drift", "6: drift count <-", "loop", "4: <- drift count", "end"),
        explain="Looks forgotten; the short-circuit of 'or' at t = 0 saves it.",
    ),
    row(
        "alg3/anchor_initialised",
        "Algorithm 3, line 20",
        "x_anchor is written before it is read",
        program("x_t", "if", "12: x_anchor <- x_t", "end", "20: <- x_anchor"),
        corrected="test |x - x_anchor| only if EscapeFlag",
        corrected_as_saved=True,
        reading="the test is made only in the escape phase",
        saved_by=program("x_t", "if", "12: x_anchor <- x_t", "20: <- x_anchor", "end"),
    ),
    row(
        "alg3/frozen",
        "Algorithm 3, lines 2, 6, 11, 19",
        "frozen is written before it is read",
        program(
            "",
            "2: frozen_prev <-",
            "6: frozen <- frozen_prev",
            "11: <- frozen_prev",
            "19: frozen_next <- frozen",
            "loop",
            "11: <- frozen",
            "19: frozen_next <- frozen",
            "end",
        ),
    ),
    row(
        "alg3/batch_size_needs_future",
        "Lemma 3.14, Algorithm 3, line 8",
        "the batch size b_t, a function of |g_t|, is known when O_2 is called",
        program(
            "x_t x_prev g_prev alpha epsilon d kappa",
            "b: b_t <- g_t alpha epsilon d kappa",
            "8: tilde <- x_t x_prev b_t",
            "17: g_t <- tilde",
        ),
        severity=PRIVACY,
        corrected="|g_(t-1)|: the step is x_t - x_(t-1) = -eta g_(t-1)",
        repair="g_(t-1) was meant",
        saved_by=program(
            "x_t x_prev g_prev alpha epsilon d kappa",
            "b: b_t <- g_prev alpha epsilon d kappa",
            "8: tilde <- x_t x_prev b_t",
            "17: g_t <- tilde",
        ),
    ),
    row(
        "alg3/batch_size_is_post_processing",
        "Algorithms 3 and 4",
        "batch sizes and drift are functions of releases g only",
        program(
            "g_prev alpha epsilon d kappa",
            "b: b_t <- g_prev alpha epsilon d kappa",
            "19: drift <- g_prev",
            "4: <- drift",
        ),
        severity=PRIVACY,
    ),
    row(
        "alg3/step_length",
        "B.3",
        "M |x_t - x_(t-1)| = |g_(t-1)| for eta = 1/M",
        identity("M*(eta*g) == g", "M g", let={"eta": "1/M"}),
        severity=PRIVACY,
    ),
]
