"""Rows of adaptive_batch, in the order in which they are listed."""

MODULES = (
    "thm22_to_alg3",
    "lemma313",
    "lemma314",
    "thm317_to_alg3",
    "intro_to_lemma39",
    "thm34_to_lemma316",
    "lemma316_to_alg2",
)
