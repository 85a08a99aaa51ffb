"""dp_ftrl: rows of alg1 and appD (the tree of one pass)."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import PRIVACY, identity, inequality, privacy, program, releases, rows_of

row = rows_of("dp_ftrl")
DEPTH = "ceil(log2(T + 1))"
PAIR = {"epsilon": "(0, 10)", "delta": "(1/100000000, 1/100)"}
BUDGET = {**PAIR, "T": "integer [1, 100000]"}
ROOT = "sqrt(epsilon + log(1/delta)) - sqrt(log(1/delta))"  # of rho, where rho + 2 sqrt(rho log(1/delta)) = epsilon
SIZES = [{"T": "1"}, {"T": "7"}, {"T": "8"}, {"T": "31"}]

ROWS = [
    row(
        "alg1/order",
        "Algorithm 1",
        "every variable is written before it is read",
        program(
            "D n L lambda sigma",
            "start: theta_t <- lambda",
            "tree: tree <- n sigma L",
            "loop",
            "clip: grad_t <- theta_t D L",
            "add: tree <- tree grad_t",
            "sum: s_t <- tree",
            "step: theta_t <- s_t lambda",
            "end",
            "output: <- theta_t",
        ),
    ),
    row(
        "alg1/step",
        "Algorithm 1",
        "without a constraint the regularised leader is -s/lambda (one coordinate: the derivative is zero there)",
        identity("s + lam*(-s/lam) == 0", "lam s"),
    ),
    row(
        "appD/depth",
        "Appendix D",
        "a record enters at most ceil(log2(T + 1)) of the nodes that T steps release (counted in the reference)",
        releases(f"k <= {DEPTH}", {"k": ("dp_ftrl/dp_ftrl", "node")}, SIZES),
        severity=PRIVACY,
    ),
    row(
        "appD/depth_attained",
        "Appendix D",
        "the first record enters as many: the depth cannot be lowered (counted in the reference)",
        releases(f"{DEPTH} <= k", {"k": ("dp_ftrl/dp_ftrl", "node")}, SIZES),
    ),
    row(
        "appD/conversion",
        "Appendix D, conversion",
        "rho of the noise gives rho + 2 sqrt(rho log(1/delta)) = epsilon, the usual bound at its best order",
        identity("r**2 + 2*r*sqrt(log(1/delta)) == epsilon", "", PAIR, let={"r": ROOT}),
    ),
    row(
        "appD/noise",
        "Appendix D, conversion",
        "node noise L sqrt(depth/(2 rho)) makes one pass (epsilon, delta)-DP for a record that is taken out",
        privacy(
            "L*sqrt(k/2)/r",
            "L",
            "epsilon",
            "delta",
            "L",
            BUDGET,
            count="k",
            let={"k": DEPTH, "r": ROOT},
            instances=[{"L": "1", "epsilon": "1", "delta": "1/100000", "T": "31"}],
        ),
        severity=PRIVACY,
        explain=(
            "Exact accounting finds epsilon 0.742 where the paper's conversion says 1: the claim holds with room. "
            "For a record that is replaced the sensitivity is 2 L; the paper does not claim anything there."
        ),
    ),
    row(
        "appD/depth_by_bits",
        "Appendix D",
        "the depth is at most 1 + log2 T",
        inequality(f"{DEPTH} <= 1 + log2(T)", "", {"T": "integer [1, 1000]"}),
    ),
]  # fmt: skip
