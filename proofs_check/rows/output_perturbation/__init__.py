"""Rows of output_perturbation, in the order in which they are listed."""

MODULES = (
    "def2_to_alg2",
    "eq10_to_lemma36",
    "lemma43_to_thm44",
    "remark3_to_eq29",
    "remark4_to_lemma45",
)
