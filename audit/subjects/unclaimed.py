"""Own code without a claim: the nearest claim that it is found to keep, to audit it by and to print."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dpassay.audit.assaying.assay import assay
from dpassay.audit.inputs.foreign import foreign_code
from dpassay.audit.row import Effort
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.space import Space

NOTHING = 60.0  # where nothing finite is found: no audit shows a larger epsilon
_FEW = {"runs": 50, "pilot": 50, "examples": 40}  # the audit of what is found comes after this one


def nearest(name: str, run: Callable[..., Any], where: Space, delta: float, seed: int) -> PrivacyClaim:
    """Certified, else accounted epsilon at ``delta``, rounded up to three digits; `NOTHING` where neither is finite.

    Raises:
        BadInput: the code always raises, or is not understood.
    """
    loose = PrivacyClaim(NOTHING, delta, relation=where.relation)
    with foreign_code("algorithm", name):
        found = assay(run, where, loose, effort=Effort(seed=seed, **_FEW))
    certified = found.certificate.epsilon if found.certificate is not None else None
    return PrivacyClaim(rounded_up(found.accounted if certified is None else certified), delta, relation=where.relation)


def rounded_up(epsilon: float) -> float:
    """Three digits that are no smaller."""
    if not 0 < epsilon < NOTHING:
        return NOTHING
    unit = 10.0 ** (math.floor(math.log10(epsilon)) - 2)
    return float(f"{math.ceil(epsilon / unit * (1 - 1e-12)) * unit:.6g}")
