"""Values that a run can give: how far from its query noise goes, in one run taken together.

A premise must hold on a tape whatever was released. Plain code declares nothing, so all that it can break is its claim,
and values that come out with probability e^-700 break none: delta covers them. They lead to places where floats end (a
clipping bound of 1e-260, noise that is no number), and right code is not right there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import gammaincc, gammainccinv

from dpassay.reference.arrays import norm
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Law, as_released, query_of

from .hub import ScriptedHub
from .script import Choice

_NATS = 700.0  # all dictated values of a run are together at least as probable as e^-700; a float ends at e^-745
_SHARE = 0.5  # of what is left that one value may take: later ones need some, too


class WithinReach(ScriptedHub):
    """A hub that moves a chosen value as near to its query as it must be for the noise to go so far."""

    _left = _NATS

    def _dictated(self, choice: Choice, law: Law, label: str) -> Any:
        value = super()._dictated(choice, law, label)
        if choice.how in ("drawn", "query") or not (law.is_normal or isinstance(law, Laplace)) or not law.scale > 0:
            return value
        query = query_of(law)
        away = (np.asarray(value, dtype=float) - query) / law.scale
        length, most = _length(law, away), _farthest(law, self._left * _SHARE)
        if length > most:
            length, away = most, away * (most / length)
            value = law.possible(as_released(np.asarray(query + law.scale * away)))
        self._left -= _nats(law, length)
        return value


def _length(law: Law, away: Any) -> float:
    """In noise scales: the 2-norm of Gaussian noise, the sum of the lengths of Laplace noise."""
    return norm(away) if law.is_normal else float(np.sum(np.abs(away)))


def _nats(law: Law, length: float) -> float:
    """Noise has this length and more with a probability of e to minus this: half its square, or it, is a Gamma."""
    size = query_of(law).size
    tail = gammaincc(size / 2, length**2 / 2) if law.is_normal else gammaincc(size, length)
    return -math.log(max(float(tail), math.exp(-_NATS)))


def _farthest(law: Law, nats: float) -> float:
    """The length of so many nats."""
    size, tail = query_of(law).size, math.exp(-nats)
    return math.sqrt(2 * float(gammainccinv(size / 2, tail))) if law.is_normal else float(gammainccinv(size, tail))
