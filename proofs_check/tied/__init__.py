"""The ties of each paper, and how often its algorithms release something (:mod:`dpassay.proofs_check.ties`)."""
