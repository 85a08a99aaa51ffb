"""A content hash of the source that a case uses, so that a row made by other code is not taken for a finished one."""

from functools import partial
from typing import Any

from dpassay.reference.case import Case
from dpassay.reference.sources import code_of, own

_JUDGES = "dpassay.audit.assaying.assay"  # the auditor's own code makes the row as well


def fingerprint(case: Case) -> str:
    """Of all modules that the case's table, its builder or the auditor reach, here or beside the builder."""
    home = _home(case.build)
    table, top = f"{home.rpartition('.')[0]}.cases", home.partition(".")[0]  # a paper's claims stand in its table
    return code_of((home, table, _JUDGES), ours=lambda name: own(name) or name.partition(".")[0] == top)[:16]


def _home(function: Any) -> str:
    while isinstance(function, partial):
        function = function.func
    return str(getattr(function, "__module__", "") or "")
