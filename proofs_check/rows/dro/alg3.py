"""dro: Algorithm 3 line by line."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import (
    UTILITY,
    budget,
    identity,
    inequality,
    program,
    same,
    units,
)

from .privacy_terms import row
from .recursive_utility_terms import STORM

ROWS = [
    row(
        "alg3/first_phase",
        "Algorithm 3, lines 2 and 4",
        "the first iteration has what it reads",
        program("w_0 q T b", "2: t <-", "13: v <- w_1 w_0", "16: s <- s_0 w_1"),
        severity=UTILITY,
        corrected="refresh at the first iteration, with s_0 given",
        corrected_as_saved=True,
        reading="t starts at 0, a multiple of q",
        saved_by=program(
            "w_0 q T b s_init",
            "2: t <-",
            "7: v <- w_0 t",
            "8: u <- w_0 t",
            "16: s <- s_init w_0",
            "18: z <- s v u",
            "17: w_1 <- w_0 z",
            "13: v <- w_1 w_0 t",
            "14: u <- w_1 w_0 t",
            "16: s <- s w_1",
            "18: z <- s v u",
        ),
        explain="t = 1 is no multiple of q > 1, so line 13 compares with a previous point that does not exist.",
    ),
    row(
        "alg3/start",
        "Algorithm 3, line 1",
        "the start w_0 = 0 satisfies lambda >= lambda_0 > 0 of (5)",
        budget("lam0 <= 0", "lam0"),
        severity=UTILITY,
        corrected=(
            "x_0 = 0 and lambda from lambda_0 on: there exp(loss/lambda) <= exp(S/lambda_0) for losses of at most S"
        ),
        corrected_claim=inequality(
            "exp(l/lam) <= exp(S/lam0)", "S", {"l": "[0, S]", "lam0": "(0, 10]", "lam": "[lam0, inf)"}
        ),
        reading="only x starts at 0",
        saved_by=budget("lam0 <= start", "lam0", {"start": "[lam0, inf)"}),
        explain="g = exp(loss/lambda) does not exist at lambda = 0.",
    ),
    row(
        "alg3/constraint",
        "Algorithm 3, line 17",
        "lambda stays at least lambda_0 without a projection",
        inequality("lam0 <= lam - eta*z", "lam0 eta z", {"lam": "[lam0, inf)"}),
        severity=UTILITY,
        corrected="lambda = max(lambda_0, lambda - eta z)",
        repair="the projection onto (5)'s constraint is understood",
        saved_by=inequality("lam0 <= max(lam0, lam - eta*z)", "lam0 eta z", {"lam": "[lam0, inf)"}),
    ),
    row(
        "alg3/positive_value",
        "Algorithm 3, line 18",
        "s_t plus Gaussian noise is positive, so that log(s_t) and f'(s_t) exist",
        inequality("0 < s + z", "s", {"z": "(-100, 100)"}),
        severity=UTILITY,
        corrected="floor s at 1, the least value of exp(loss/lambda)",
        repair="losses are non-negative and s is floored at 1",
        saved_by=inequality("0 < max(1, s + z)", "s", {"z": "[-100, 100]"}),
    ),
    row(
        "alg3/no_accumulation",
        "Algorithm 3, lines 13 and 14, against Algorithm 2, lines 6 and 12",
        "the estimate is built the same way in both algorithms (d the difference, v_prev the last estimate)",
        same({"Algorithm 2": "d + v_prev", "Algorithm 3": "d"}, "d v_prev"),
        severity=UTILITY,
        corrected=(
            "v_t = v_(t-1) + difference: from a refresh on that is the gradient at w_t (two steps, whole "
            "data, no noise)"
        ),
        corrected_as_saved=True,
        reading="v_(t-1) was forgotten; Section 4 says that the estimators are updated by the variation",
        saved_by=identity("v1 + (g2 - g1) == g2", "g0 g1 g2", let={"v0": "g0", "v1": "v0 + (g1 - g0)"}),
        explain="As printed v_t estimates a gradient difference, not a gradient, in q - 1 of q iterations.",
    ),
    row(
        "alg3/storm_recursion",
        "Algorithm 3, line 16, against Lemma 8, proof",
        "the recursion of s is the same (g at the new point, h at the previous one)",
        same({"line 16": "g + (1 - b)*(s - g)", "Lemma 8": "g + (1 - b)*(s - h)"}, "g h s b"),
        severity=UTILITY,
        corrected="Lemma 8's: subtract the value at the previous point",
        corrected_by="lemma8/decomposition",
        reading="w_(t-1) was meant in the second place: then the proof of Lemma 8 splits the error as it does",
        saved_by=STORM,
    ),
    row(
        "alg3/moving_average",
        "Algorithm 3, line 16",
        "as printed the recursion is the plain moving average beta g + (1 - beta) s",
        identity("g + (1 - b)*(s - g) == b*g + (1 - b)*s", "g s b"),
        severity=UTILITY,
    ),
    row(
        "alg3/small_beta",
        "Section 4",
        "as beta tends to 0, s_t approaches s_(t-1) plus the variation g(w_t) - g(w_(t-1))",
        identity("g + (1 - b)*(s - g) == s + (g - h)", "g h s", let={"b": "0"}),
        corrected="with Lemma 8's recursion",
        explain="The printed one stays at s_(t-1).",
        corrected_as_saved=True,
        reading="Lemma 8's recursion",
        saved_by=identity("g + (1 - b)*(s - h) == s + (g - h)", "g h s", let={"b": "0"}),
        defect="alg3/storm_recursion",
    ),
    row(
        "alg3/large_beta",
        "Section 4",
        "at beta = 1, s_t is the fresh value g(w_t; xi)",
        identity("g + (1 - b)*(s - g) == g", "g s", let={"b": "1"}),
    ),
    row(
        "alg3/undeclared_inputs",
        "Algorithm 3, input line",
        "every parameter that the lines read is an input",
        program("S f eta q b_1 b_2 b_3 b_4 epsilon delta T C", "16: s <- beta_t sigma_s", "18: z <- s rho"),
        corrected="beta_t, rho, lambda_0 and the noise levels are inputs too",
        corrected_as_saved=True,
        reading="given by (5), Theorem 8 and Lemma 9",
        saved_by=program(
            "S f eta q b_1 b_2 b_3 b_4 epsilon delta T C beta_t sigma_s rho",
            "16: s <- beta_t sigma_s",
            "18: z <- s rho",
        ),
    ),
    row(
        "alg3/two_step_sizes",
        "Theorem 8 against Lemma 9",
        "eta = c eta_t^2 of Theorem 8 is the beta_t = c eta_t^2 of Lemma 9, and the step of Lemma 9 is eta_t",
        same({"Theorem 8": "c*e**2", "Lemma 9": "e"}, "c e"),
        severity=UTILITY,
        corrected=(
            "step eta_t, momentum beta_t = c eta_t^2: with c of the order L_Psi^2 that is a pure number, as 1"
            " - beta_t asks"
        ),
        corrected_as_saved=True,
        reading="Theorem 8 means beta_t",
        saved_by=units("LP**2*eta**2 == beta", free="beta", LP="v/l**2", eta="l**2/v"),
    ),
]
