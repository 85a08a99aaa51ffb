"""The ledger's rows: one folder a paper, whose ``MODULES`` name the files; each file holds a list ``ROWS``."""
