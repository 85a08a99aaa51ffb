"""What a change of the reference does on the worst pair of its row: one lockstep run, exact for that run."""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np

from dpassay.audit.lockstep.outcome import LockstepRun
from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.case import Case
from dpassay.reference.findings import Kind

from .mutants import Mutant, planted_in
from .reading import remembers

SEED = (0, 7)
LARGEST = 5000  # records: larger pairs take too long for a sentence


def on_worst_pair(case: Case, mutant: Mutant) -> str:
    """In words: a value without noise, another leak, or a query that moves farther than the reference's own; or empty.

    A single pair and a single run: what they show is there, what they do not show may be elsewhere.
    """
    if remembers(mutant):  # both worlds would share that
        return ""
    instance = case.build()
    if getattr(instance.pair.here, "n", 0) > LARGEST:
        return ""
    with np.errstate(all="ignore"), suppress(Exception):
        before = lockstep(instance.mechanism, instance.pair, SEED)
        with planted_in(mutant, seconds=3.0):
            after = lockstep(instance.mechanism, instance.pair, SEED)
        return _said(before, after)
    return ""


def _said(before: LockstepRun, after: LockstepRun) -> str:
    kinds = {finding.kind for finding in after.findings} - {finding.kind for finding in before.findings}
    if Kind.BARE_RELEASE in kinds or math.isinf(after.loss) > math.isinf(before.loss):
        return "realised on the catalogue's worst pair of neighbours: a value is released without noise"
    leaks = sorted(kind.value for kind in kinds if kind.leaks)
    if leaks:
        return f"realised on the catalogue's worst pair of neighbours: the run itself leaks ({', '.join(leaks)})"
    shares = {label: movement.share for label, movement in after.movements.items()}
    label = max(shares, key=lambda one: shares[one], default="")
    known = max((movement.share for movement in before.movements.values()), default=0.0)
    if label and shares[label] > (1 + 1e-6) * max(1.0, known):
        return (
            f"realised on the catalogue's worst pair: {label!r} moves {shares[label]:.3g} times as far as it declares"
        )
    return ""
