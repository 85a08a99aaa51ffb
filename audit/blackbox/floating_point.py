"""What the floats give away although the real numbers would not: a standard test with verdicts of its own.

Grids and ULPs (Mironov 2012): adding noise to 1.0 leaves another pattern of low-order bits than adding it to 0.0.
Repeated noise: a seed used twice, or a seed space small enough to search.
"""

from __future__ import annotations

import time
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from dpassay.audit.results import ClaimTest, Verdict
from dpassay.reference.guarantee import Guarantee
from dpassay.reference.types import Array

from .detect import audit_outputs
from .features import lowest_bit, row_codes
from .table import to_tables

_PEAKS = 3  # bits by which an honest density may be narrower than its middle half


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


def repeated_noise(outputs_p: Any, outputs_q: Any, resolution_bits: int = 40, confidence: float = 0.95) -> ClaimTest:
    """Do outputs of continuous noise repeat exactly, within or between the samples?

    Honest noise with b bits of resolution collides with probability at most pairs / 2^b (a union bound over pairs,
    which is the p-value); b is `resolution_bits`, or what the outputs as written can show (single precision, few
    digits or a large answer leave less). Repeats of the least and the largest output count only where there is nothing
    between: honest noise is clipped there. For discrete mechanisms the test does not apply.
    """
    start = time.perf_counter()
    tables = to_tables(outputs_p, outputs_q)
    table = np.concatenate([tables.p, tables.q])
    low, high = np.fmin.reduce(table), np.fmax.reduce(table)  # NaN: missing entries
    between = ((table > low) & (table < high)).any(axis=1)
    counted = table[between] if between.any() else table
    repeats = len(counted) - np.unique(row_codes(counted)).size
    bits = min(resolution_bits, max(_shown_bits(column) for column in table.T)) if repeats else resolution_bits
    pairs = len(counted) * (len(counted) - 1) / 2
    return ClaimTest(
        claim=f"fresh continuous noise with {bits} bits in every run",
        p_value=min(1.0, pairs / 2.0**bits) if repeats else 1.0,
        confidence=confidence,
        method="repeated noise",
        runs=len(table),
        seconds=time.perf_counter() - start,
        evidence={"repeats": int(repeats), "bits": bits},
    )


def _shown_bits(column: Array) -> int:
    """How many bits of noise one output can show: steps of the typical grid, binary or decimal, in the middle half.

    A few are taken off, as densities have peaks; a single value is compared with its own size.
    """
    values = np.unique(column[np.isfinite(column)])
    values = values[:: 1 + values.size // 1000]
    if not values.any():
        return 0
    low, high = np.quantile(values, [0.25, 0.75])
    decimal = [10.0 ** int(Decimal(repr(value)).normalize().as_tuple().exponent) for value in values.tolist()]
    grid = max(float(np.median(2.0 ** lowest_bit(values))), float(np.median(decimal)))
    return max(0, int(np.log2((high - low or abs(low)) / grid)) - _PEAKS)
