"""minimax_sosp: names that the rows of privacy share."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import rows_of

row = rows_of("minimax_sosp")

DP = {"epsilon": "(0, 1)", "delta": "(1/100000000, 1/100)"}

ONE = [
    {"epsilon": "1", "delta": "1/100000", "n": "10000", "T": "100", "q": "10", "K": "1"},
    {"epsilon": "1/2", "delta": "1/100000", "n": "1000", "T": "400", "q": "10", "K": "1"},
]

INST = {
    "epsilon": "(0, 1]",
    "delta": "(0, 1/100)",
    "n": "[1, 1000000]",
    "T": "[1, 10000]",
    "q": "[1, T]",
    "K": "integer [1, 100]",
}

POP = [{"epsilon": "1", "delta": "1/100000", "n": "10000", "S2": "10", "T": "95"}]

POP_REFRESH = {"epsilon": "1", "delta": "1/100000", "n": "10000", "T": "95", "q": "10"}  # e = 0.00107, at d = 10

REFRESHES = {
    "epsilon": "(0, 1]",
    "delta": "(0, 1/100)",
    "n": "[1, 1000000]",
    "S1": "[1, n]",
    "T": "[1, 10000]",
    "q": "[1, T]",
}

POP_REGION = {"epsilon": "(0, 1]", "delta": "(0, 1/100)", "n": "[1, 1000000]", "S2": "[1, n]", "T": "[1, 10000]"}

ERM_V = "sqrt(log(1/delta))/epsilon*max(1/n, sqrt(T)/(sqrt(q)*n))"

RGDA = "minimax_sosp/dp_rgda"

SADDLE = "minimax_sosp/dp_rgda_at_a_saddle"

ENDED = {"left": (SADDLE, "returned/left"), "saddle": (SADDLE, "returned/saddle")}

INCREMENTS = {"v": (RGDA, "step/v"), "u": (RGDA, "step/u")}
