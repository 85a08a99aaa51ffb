"""What leaks: empirical lower bounds on the realised privacy loss, and the search for where an account is wrong.

The names in ``__all__`` are the stable surface (``docs/api.md``), imported when they are first used. Everything else
in these folders may change from one version to the next; ``CONTRIBUTING.md`` says which room does what.
"""

import os
from typing import TYPE_CHECKING, Any

from dpassay.reference.extras import front_door

if TYPE_CHECKING:
    from .assaying.assay import assay
    from .evidence.assay import Assay
    from .plain_numpy.mechanism import on_tape, release
    from .row import Effort
    from .verdict import Verdict

__all__ = ["Assay", "Effort", "Verdict", "assay", "on_tape", "release"]
_HOMES = {
    "Assay": "evidence.assay",
    "Effort": "row",
    "Verdict": "verdict",
    "assay": "assaying.assay",
    "on_tape": "plain_numpy.mechanism",
    "release": "plain_numpy.mechanism",
}

# Learners' threads that wait for each other spin by default: on a busy machine small audits then take 20 times as long.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def __getattr__(name: str) -> Any:
    return front_door(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return sorted(__all__)
