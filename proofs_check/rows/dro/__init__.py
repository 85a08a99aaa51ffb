"""Rows of dro, in the order in which they are listed."""

MODULES = (
    "def3_to_double_spider",
    "double_spider",
    "double_spider_clips",
    "alg2_to_recursive_spider",
    "recursive_spider",
    "alg3",
    "table1_to_eq1",
    "eq3_to_lemma4",
    "lemma5_to_remark1",
    "thm7",
    "eq16_to_eq20",
    "lemma6_to_eq24",
    "thm8_to_thm4",
    "lemma7_to_lemma9",
    "lemma9_to_thm8",
    "table2",
    "table3_to_sec5",
)
