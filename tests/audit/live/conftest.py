"""The command line, as in ``tests/audit/commands``."""

from __future__ import annotations

from tests.audit.commands.conftest import dpassay, proof_cache, refused

__all__ = ["dpassay", "proof_cache", "refused"]
