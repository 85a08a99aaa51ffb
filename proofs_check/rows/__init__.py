"""The ledger's rows, one module or more per paper."""
