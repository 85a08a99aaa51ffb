"""The command line, as in ``tests/audit/commands``."""

from __future__ import annotations

from tests.audit.commands.conftest import dpassay, refused

__all__ = ["dpassay", "refused"]
