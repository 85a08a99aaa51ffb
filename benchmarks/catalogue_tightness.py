"""Share of the accounted epsilon that the likelihood audit shows, for every repaired reading and baseline.

    python benchmarks/catalogue_tightness.py [--quick] [--write]
    python benchmarks/catalogue_tightness.py --certified [NAME ...]    (or "printed"; the figures of docs/certify.md)

1,000 runs a row at 95 %. Where the share is below 0.95, `why` says what is loose: the pair (it moves a query by less
than the claimed sensitivity), the accounting, or the audit itself (the pair carries more, says the pilot).
With --certified: claimed, certified, accounted, their ratio, within the claim, seconds, and where the certificate ends.
"""

import statistics
import sys
import time

import audit_figures as figures
from joblib import Parallel, delayed

from dpassay.audit.assaying.assay import Effort, assay_case
from dpassay.audit.certify.catalogue import certify_instance
from dpassay.reference.case import Case
from dpassay.reference.catalogue import CASES, find

EFFORT = Effort()


def row(case: Case) -> tuple[str, float, float, float | None, str]:
    found = assay_case(case, EFFORT)
    return case.key, found.claimed, found.accounted, found.realised, found.why


def measure(quick: bool) -> None:
    cases = [case for case in CASES if case.reading != "printed" and (case.quick or not quick)]
    print("| row | accounted | realised >= | share | why |\n|---|---|---|---|---|")
    shares = []
    for key, _, accounted, realised, why in Parallel(n_jobs=2, return_as="generator")(
        delayed(row)(case) for case in cases
    ):
        share = None if realised is None else realised / accounted
        if share is not None:
            shares.append(share)
        shown = "-" if share is None else f"{share:.3f}"
        print(
            f"| `{key}` | {accounted:.4g} | {'-' if realised is None else format(realised, '.4g')} | {shown} | {why} |"
        )
    tight, close = (sum(share >= least for share in shares) for least in (0.95, 0.9))
    median = statistics.median(shares)
    print(f"\n{len(shares)} rows: median share {median:.3f}; {tight} at 0.95 or more, {close} at 0.9 or more.")


def certified(case: Case) -> str:
    instance = case.build()
    accounted = instance.accounted(case.claim.relation).epsilon(case.claim.delta)
    start = time.process_time()
    found = certify_instance(instance, case.claim, unreached=case.unreached)
    seconds = time.process_time() - start
    epsilon = float("nan") if found.epsilon is None else found.epsilon
    within = "yes" if epsilon <= case.claim.epsilon * (1 + 1e-9) else "no"
    numbers = f"{case.claim.epsilon:g} | {epsilon:.4g} | {accounted:.4g} | {epsilon / accounted:.3f}"
    return f"| {case.key} | {numbers} | {within} | {seconds:.1f} | {found.open} |"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--certified"]:
        printed, named = sys.argv[2:] == ["printed"], [one for one in sys.argv[2:] if one != "printed"]
        for case in [case for name in named for case in find(name)] or CASES:
            if named or (case.reading == "printed") == printed:
                print(certified(case), flush=True)
    else:
        figures.keep_printed(__file__, __doc__, measure)
