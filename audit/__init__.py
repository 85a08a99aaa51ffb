"""What leaks: empirical lower bounds on the realised privacy loss, and the search for where an account is wrong.

The names in ``__all__`` are the stable surface (``docs/api.md``), imported when they are first used. Everything else
in these folders may change from one version to the next; ``docs/auditor.md`` says which room does what.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from dpassay.reference.extras import front_door

if TYPE_CHECKING:
    from .verdict import Verdict

__all__ = ["Verdict"]
_HOMES = {"Verdict": "verdict"}

# Learners' threads that wait for each other spin by default: on a busy machine small audits then take 20 times as long.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def __getattr__(name: str) -> Any:
    return front_door(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return sorted(__all__)
