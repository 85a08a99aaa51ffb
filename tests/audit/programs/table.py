"""The sixty programs through the audit: ``python tests/audit/programs/table.py [NAME ...]`` prints a line for each."""

from __future__ import annotations

import sys
import time
from collections import Counter
from importlib import import_module
from pathlib import Path

from dpassay.audit.row import Effort
from dpassay.audit.subjects.own import own_row
from dpassay.audit.verdict import Verdict
from dpassay.reference import PrivacyClaim
from dpassay.reference.errors import BadInput

FOLDER = str(Path(__file__).parent)
EFFORT = Effort(runs=100, pilot=100, examples=30)
NEAR = 1.05  # certified within this share of the claim counts


def judged(module: str, name: str, claimed: float, effort: Effort = EFFORT) -> tuple[str, int, str]:
    """What the audit of one program comes to: a word, the exit code of `dpassay audit`, and the cause."""
    if FOLDER not in sys.path:
        sys.path.insert(0, FOLDER)
    try:
        row, found = own_row(f"{module}:{name}", None, PrivacyClaim(claimed, 1e-5), effort)
    except BadInput as refused:
        return "refused", 2, str(refused)
    bound = found.certificate.epsilon if found.certificate else None
    said = f"certified {bound:.3g}, " if bound is not None else ""
    return str(row.verdict), Verdict(row.verdict).exit_code, f"{said}{row.why}"


def main(names: list[str]) -> None:
    """Prints the table, and how often each verdict comes for right and for wrong programs."""
    sys.path.insert(0, FOLDER)
    for module in ("right", "wrong"):
        seen: Counter[str] = Counter()
        for name, claimed in import_module(module).CLAIMS.items():
            if names and name not in names:
                continue
            start = time.process_time()
            verdict, code, why = judged(module, name, claimed)
            seen[f"{verdict} (exit {code})"] += 1
            print(
                f"{module:5} {name:32} {verdict:13} {code} {time.process_time() - start:5.1f}s {why[:150]}", flush=True
            )
        print(f"{module}: {dict(seen)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
