"""Which law each mechanism of diffprivlib draws from, read off a mechanism object and the value it is given."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpassay.reference.laws.between import (
    BoundedLaplace,
    FoldedGeometric,
    FoldedLaplace,
    TruncatedGeometric,
    TruncatedLaplace,
)
from dpassay.reference.laws.bounded_noise import BoundedNoiseLaplace, UniformNoise
from dpassay.reference.laws.categorical import Categorical
from dpassay.reference.laws.discrete_gaussian import DiscreteGaussian
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.geometric import Geometric
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Law
from dpassay.reference.laws.selection import Selection, exponential, permute_and_flip
from dpassay.reference.laws.snapping import Snapping
from dpassay.reference.laws.staircase import Staircase
from dpassay.reference.types import Array

from .rejected_bingham import SampledBingham

LawOf = Callable[[Any, Any], Law]


def _number(value: Any) -> Array:
    return np.asarray(float(value))


def bare(value: Any) -> Law:
    """No noise: what a mechanism with sensitivity zero or infinite epsilon releases."""
    return Gaussian(np.asarray(value, dtype=float), 0.0)


def _laplace_scale(mech: Any) -> float:
    return float(mech.sensitivity / (mech.epsilon - np.log(1 - mech.delta)))


def _laplace(mech: Any, value: Any) -> Law:
    scale = _laplace_scale(mech)
    return Laplace(_number(value), scale) if scale > 0 else bare(value)


def _truncated(mech: Any, value: Any) -> Law:
    scale = _laplace_scale(mech)
    if not scale > 0:
        return bare(mech._truncate(value))
    return TruncatedLaplace(_number(value), scale, float(mech.lower), float(mech.upper))


def _folded(mech: Any, value: Any) -> Law:
    scale = _laplace_scale(mech)
    if not scale > 0:
        return bare(mech._fold(value))
    return FoldedLaplace(_number(value), scale, float(mech.lower), float(mech.upper))


def _bounded_domain(mech: Any, value: Any) -> Law:
    if mech._scale is None:
        mech._scale = mech._find_scale()
    if not mech._scale > 0:
        return bare(max(min(value, mech.upper), mech.lower))
    return BoundedLaplace(_number(value), float(mech._scale), float(mech.lower), float(mech.upper))


def _bounded_noise(mech: Any, value: Any) -> Law:
    scale = mech.sensitivity / mech.epsilon
    if not scale > 0:
        return bare(value)
    bound = scale * math.log1p(math.expm1(mech.epsilon) / 2 / mech.delta)
    return BoundedNoiseLaplace(_number(value), float(scale), bound)


def _geometric(mech: Any, value: Any) -> Law:
    scale = -1 / mech._scale
    return Geometric(_number(value), scale) if scale > 0 else bare(value)


def _truncated_geometric(mech: Any, value: Any) -> Law:
    scale = -1 / mech._scale
    if not scale > 0:
        return bare(mech._truncate(value))
    return TruncatedGeometric(_number(value), scale, float(mech.lower), float(mech.upper))


def _folded_geometric(mech: Any, value: Any) -> Law:
    scale = -1 / mech._scale
    if not scale > 0:
        return bare(mech._fold(value))
    return FoldedGeometric(_number(value), scale, float(mech.lower), float(mech.upper))


def _gaussian(mech: Any, value: Any) -> Law:
    return Gaussian(_number(value), float(mech._scale))


def _discrete_gaussian(mech: Any, value: Any) -> Law:
    return DiscreteGaussian(_number(value), float(mech._scale)) if mech._scale > 0 else bare(value)


def _rate(mech: Any) -> float:
    return float(mech.epsilon / mech.sensitivity / (2 - mech.monotonic))


def _exponential(mech: Any, value: Any) -> Law:
    utilities = np.asarray(mech.utility, dtype=float)
    if mech.measure:
        with np.errstate(divide="ignore"):
            logs = _rate(mech) * utilities + np.log(np.asarray(mech.measure, dtype=float))
        logs -= np.logaddexp.reduce(logs)
        return Selection(tuple(range(len(logs))), logs, utilities, _rate(mech), mech.monotonic)
    return exponential(list(utilities), _rate(mech), mech.candidates, mech.monotonic)


def _permute_and_flip(mech: Any, value: Any) -> Law:
    return permute_and_flip(list(mech.utility), _rate(mech), mech.candidates, mech.monotonic)


def _categorical(mech: Any, value: Any) -> Law:
    support = list(mech._normalising_constant)
    weights = np.array([mech._get_prob(value, one) for one in support])
    return Categorical(tuple(support), np.log(weights / weights.sum()))


def _binary(mech: Any, value: Any) -> Law:
    stays = (np.exp(mech.epsilon) + mech.delta) / (np.exp(mech.epsilon) + 1)
    first = stays if value == mech.value0 else 1 - stays
    return Categorical((mech.value0, mech.value1), np.log([first, 1 - first]))


def _snapping(mech: Any, value: Any) -> Law:
    """In the units of the mechanism's inside: divided by the sensitivity and centred."""
    scale = 1 / mech.effective_epsilon()
    grid = mech._get_nearest_power_of_2(scale)
    return Snapping(_number(mech._scale_and_offset_value(value)), scale, grid, float(mech._bound))


def _staircase(mech: Any, value: Any) -> Law:
    if mech.sensitivity == 0:
        return bare(value)
    return Staircase(_number(value), mech.sensitivity, mech.epsilon, mech.gamma)


def _uniform(mech: Any, value: Any) -> Law:
    width = mech.sensitivity / mech.delta / 2
    return UniformNoise(_number(value), width) if width > 0 else bare(value)


def _bingham(mech: Any, value: Any) -> Law:
    return SampledBingham(np.asarray(value, dtype=float), float(mech.epsilon / 4 / mech.sensitivity))


LAWS: dict[str, LawOf] = {  # by class name in diffprivlib.mechanisms; Vector has no law by itself (see the adapter)
    "Laplace": _laplace,
    "LaplaceTruncated": _truncated,
    "LaplaceFolded": _folded,
    "LaplaceBoundedDomain": _bounded_domain,
    "LaplaceBoundedNoise": _bounded_noise,
    "Geometric": _geometric,
    "GeometricTruncated": _truncated_geometric,
    "GeometricFolded": _folded_geometric,
    "Gaussian": _gaussian,
    "GaussianDiscrete": _discrete_gaussian,
    "Exponential": _exponential,
    "PermuteAndFlip": _permute_and_flip,
    "ExponentialCategorical": _categorical,
    "Binary": _binary,
    "Snapping": _snapping,
    "Staircase": _staircase,
    "Uniform": _uniform,
    "Bingham": _bingham,
}
