"""The ties of each paper: rows of the ledger beside functions of ``reference/``."""

from __future__ import annotations

from importlib import import_module

from dpassay.proofs_check.ties import Tie
from dpassay.reference.papers import PAPERS

TIES: tuple[Tie, ...] = tuple(tie for key in PAPERS for tie in import_module(f"{__name__}.{key}").TIES)
"""Every tie, in the order of the papers."""
