"""The ties of each paper: rows of the ledger beside functions of ``reference/``."""

from __future__ import annotations

from dpassay.proofs_check.ties import Tie

from . import adaptive_batch, dp_ftrl, dro, minimax_sosp, output_perturbation, second_order_erm

TIES: tuple[Tie, ...] = (
    *minimax_sosp.TIES,
    *adaptive_batch.TIES,
    *second_order_erm.TIES,
    *dro.TIES,
    *output_perturbation.TIES,
    *dp_ftrl.TIES,
)
"""Every tie, in the order of the papers."""
