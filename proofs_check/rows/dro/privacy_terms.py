"""dro: names that the rows of privacy share."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import privacy, rows_of

row = rows_of("dro")

DP = {"epsilon": "(0, 1]", "delta": "(1/100000000, 1/100)"}

TQ = {
    **DP,
    "T": "integer [1, 10000]",
    "q": "integer [1, 10000]",
    "n": "integer [2, 10000000]",
    "N": "integer [1, 10000000]",
}

ROOT = "4*sqrt(log(1/delta))/epsilon"

DOUBLE, RECURSIVE = "dro/double_spider", "dro/recursive_spider"

RUN = {"epsilon": "1", "delta": "1/100000", "n": "1000", "N": "1000"}

SIZES = "n T q N epsilon ell"

SHAPE = ("T >= q", "q >= 1", "N >= 1", "N <= n", "epsilon <= 1", "ell >= 1")

FOUR = "c is not given; Definition 3 suggests 1, these rows take c = 4"

ONE_RELEASE = privacy(ROOT + "/n", "2/n", "epsilon", "delta", "", {**DP, "n": "integer [2, 1000000]"})
