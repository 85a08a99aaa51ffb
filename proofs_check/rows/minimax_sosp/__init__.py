"""Rows of minimax_sosp, in the order in which they are listed."""

MODULES = (
    "def3_to_alg3",
    "appd_to_lemma5",
    "eqb2_to_sec4",
    "lemma5_to_lemma3",
    "eq10_to_lemma10",
    "lemma6_to_eq36",
    "eq43_to_table1",
)
