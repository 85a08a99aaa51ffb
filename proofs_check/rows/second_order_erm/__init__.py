"""Rows of second_order_erm, in the order in which they are listed."""

MODULES = (
    "eq4_to_alg1",
    "lemma2_to_intro",
    "sd_to_lemma6",
    "lemma6_to_lemmad7",
    "eq22_to_thmb5",
    "eq30_to_thmb8",
    "thmb9_to_sec33",
    "table1_to_sec5",
)
