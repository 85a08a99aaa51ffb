"""What the floats give away although the real numbers would not: a standard test with verdicts of its own.

Grids and ULPs (Mironov 2012): adding noise to 1.0 leaves another pattern of low-order bits than adding it to 0.0.
Support holes: naive inversion of a uniform variable reaches only some floats, so 'could this be noise around the answer
on D?' has a yes or no. Repeated noise: a seed used twice, or a seed space small enough to search.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpassay.audit.evidence.curves import refute_curve
from dpassay.audit.results import ClaimTest, Verdict
from dpassay.reference.errors import BadInput
from dpassay.reference.guarantee import Guarantee
from dpassay.reference.types import Array, Bools

from .detect import audit_outputs
from .features import lowest_bit, row_codes
from .table import to_tables

_NEAR = np.arange(-12, 13)  # grid points tried on either side: exp and log are wrong by a few units at most
_PEAKS = 3  # bits by which an honest density may be narrower than its middle half
_GRID = 2.0**-53  # 2 u is a multiple of 2^-52, but 2 - u - u, as it is computed, of 2^-53


def _log(values: Array) -> Array:
    """The C library's logarithm, which the sampler uses (numpy's own may differ in the last bit)."""
    return np.fromiter(map(math.log, values.ravel()), dtype=float, count=values.size).reshape(values.shape)


def laplace_attainable(noise: ArrayLike, scale: float) -> Bools:
    """Can numpy's Laplace sampler, scale * log(v) with v on the 2^-53 grid of (0, 1], give exactly this float?"""
    if not 0 < scale < np.inf:
        raise BadInput("scale", scale, "must be positive and finite")
    size = np.abs(np.asarray(noise, dtype=float))
    middle = np.round(np.exp(-size / scale) / _GRID)
    tried = np.clip(middle[..., None] + _NEAR, 1, 1 / _GRID) * _GRID
    return np.asarray((-scale * _log(tried) == size[..., None]).any(axis=-1))


def support_holes(
    outputs_p: ArrayLike,
    outputs_q: ArrayLike,
    answer_p: float,
    scale: float,
    claim: Guarantee,
    rng: np.random.Generator,
    confidence: float = 0.95,
) -> ClaimTest:
    """Test the claim with the score 'the output minus the answer on D is not a float the sampler can give'."""
    scores = [
        (~laplace_attainable(np.asarray(side, dtype=float).ravel() - answer_p, scale)).astype(float)
        for side in (outputs_p, outputs_q)
    ]
    result = refute_curve(scores[0], scores[1], claim, rng, confidence)
    rates = float(scores[0].mean()), float(scores[1].mean())
    return replace(result, method="support holes", evidence={**result.evidence, "unattainable": rates})


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

