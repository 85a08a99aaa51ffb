"""What the catalogue's rows are certified for, beside what is claimed and accounted: the table of docs/certify.md.

Run: python benchmarks/certified.py [NAME ...] (default: repaired readings and baselines; "printed" for the others).
"""

from __future__ import annotations

import sys
import time

from dpassay.audit.certify.catalogue import certify_instance
from dpassay.reference.case import Case
from dpassay.reference.catalogue import CASES, find


def line(case: Case) -> str:
    """Claimed, certified, accounted, their ratio, seconds, and where the certificate ends."""
    instance = case.build()
    accounted = instance.accounted(case.claim.relation).epsilon(case.claim.delta)
    start = time.process_time()
    found = certify_instance(instance, case.claim, unreached=case.unreached)
    seconds = time.process_time() - start
    epsilon = float("nan") if found.epsilon is None else found.epsilon
    within = "yes" if epsilon <= case.claim.epsilon * (1 + 1e-9) else "no"
    numbers = f"{case.claim.epsilon:g} | {epsilon:.4g} | {accounted:.4g} | {epsilon / accounted:.3f}"
    return f"| {case.key} | {numbers} | {within} | {seconds:.1f} | {found.open} |"


def main(names: list[str]) -> None:
    """Prints the table."""
    printed = names == ["printed"]
    named = [] if printed else [case for name in names for case in find(name)]
    for case in named or [case for case in CASES if (case.reading == "printed") == printed]:
        print(line(case), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
