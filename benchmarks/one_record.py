"""Where `recursive_spider:one record` is loose: the accounting, the pair, or the number of runs?

    python benchmarks/one_record.py [--quick] [--write]

Line 16 releases a value of one record, 12 times, each with noise for the whole sensitivity (2 - beta) (C_5 - 1). A
record moves it by all of that where its loss flips from one iterate to the next, else by beta (C_5 - 1), a third. The
iterates are noisy, so no record flips in every step. `accounted` covers every mixture of directions; `one way` is what
the row's pair could show if it flipped in every step (the other side is always the one without the record's mixture);
`as often as it flips` the same with the numbers of flips counted in 400 runs: what the pair can show in the limit.
`shown` are lower bounds at 95 %, by numbers of runs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import keep
from scipy.optimize import brentq

from dpassay.audit.likelihood.bound import audit_likelihood
from dpassay.audit.likelihood.samplers import LockstepSampler
from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.accounting.cost import Account, Part
from dpassay.reference.case import Instance
from dpassay.reference.catalogue import CASES

KEY, DELTA = "dro/recursive_spider:one record@repaired", 1e-5
SMALL = 1 / 3  # beta / (2 - beta), beta = 1/2


def flips(instance: Instance, runs: int) -> dict[int, float]:
    """Share of the runs with so many releases that are moved by all that is claimed."""
    found = [lockstep(instance.mechanism, instance.pair, [9, seed]).movements["value"].whole for seed in range(runs)]
    return {count: times / runs for count, times in sorted(Counter(found).items())}


def one_way(account: Account, whole: int) -> Account:
    """The pair whose side D' has no mixture, with so many releases of the value moved in full, the rest by a third.

    It is that of a Poisson batch with a record of twice the size.
    """
    parts: list[tuple[Part, int]] = []
    value = max((part for part, _ in account.common if part.kind == "sampled"), key=lambda part: part.size)
    for part, count in account.common:
        pieces = [(1.0, whole), (SMALL, count - whole)] if part is value else [(1.0, count)]
        for scale, times in pieces:
            sided = replace(part, size=2 * scale * part.size, sampling="poisson") if part.kind == "sampled" else part
            parts += [(sided, times)] if times else []
    return Account(tuple(parts), relation="add-remove")


def measure(quick: bool) -> None:
    """One line."""
    instance = next(case for case in CASES if case.key == KEY).build()
    account = instance.accounted()
    counts = flips(instance, 50 if quick else 400)
    laws = {count: one_way(account, count) for count in counts}

    def excess(epsilon: float) -> float:
        return sum(share * laws[count].delta(epsilon) for count, share in counts.items()) - DELTA

    sizes = (1000,) if quick else (1000, 4000, 16_000)
    shown = [audit_likelihood(LockstepSampler(instance.mechanism, instance.pair), DELTA, runs=runs) for runs in sizes]
    steps = sum(count * share for count, share in counts.items())
    names = [
        "accounted",
        "one way",
        "flips, of 12",
        "as often as it flips",
        *(f"shown, {runs:,} runs" for runs in sizes),
    ]
    cells = [account.epsilon(DELTA), one_way(account, 12).epsilon(DELTA), steps, float(brentq(excess, 0.1, 2.0))]
    cells += [bound.epsilon for bound, _ in shown]
    print(f"| {' | '.join(names)} |\n|" + "---|" * len(names))
    print("| " + " | ".join(f"{value:.3f}" for value in cells) + " |")


if __name__ == "__main__":
    keep.main(__file__, __doc__ or "", measure)
