"""What the floats give away although the real numbers would not: a standard test with verdicts of its own.

Grids and ULPs (Mironov 2012): adding noise to 1.0 leaves another pattern of low-order bits than adding it to 0.0.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dpassay.audit.results import ClaimTest, Verdict
from dpassay.reference.guarantee import Guarantee

from .detect import audit_outputs


def float_grid(
    outputs_p: Any, outputs_q: Any, claim: Guarantee, rng: np.random.Generator, confidence: float = 0.95
) -> ClaimTest:
    """Black-box test that also sees the grid each float lies on; `real_numbers` says what it finds without."""
    seen = audit_outputs(outputs_p, outputs_q, claim, rng, confidence, low_bits=True)
    without = audit_outputs(outputs_p, outputs_q, claim, rng, confidence)
    only_floats = without.verdict is not Verdict.VIOLATED
    cause = "none" if seen.verdict is not Verdict.VIOLATED else "floats" if only_floats else "mechanism"
    found = {**seen.evidence, "real_numbers": without.verdict.value, "cause": cause}
    return replace(seen, method="grid of the floats", evidence=found)
