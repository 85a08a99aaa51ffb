"""Losses on a grid, added up: right in every digit that is shown, however far in the tail and however many there are.

A convolution by Fourier transforms is right to so many digits of its largest value, and delta is the mass of a tail. So
each law is first tilted, ``p(l) exp(a l) / M(a)``, such that the losses that matter are the common ones; what the
transforms lose is then a small part of delta itself, also at 1e-300, and it is added, as is all that lies outside the
window. (dp-accounting's composition, which is not tilted, is off by some 1e-13: too low an epsilon at delta 1e-14.)

The laws are those of *connecting the dots* (Doroshenko et al. 2022): the curve in ``exp(epsilon)`` is replaced by its
chords, which lie above it, so they dominate; Fourier accountants: Koskela, Jalkoe and Honkela 2020.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.extras import Later

from .gdp import UP, nudged, root

fft = Later("scipy.fft")

_PER_OCTAVE = 4  # tilts: powers of two and so many between
_LEAST, _MOST = -160, 160  # their numbers: 1e-12 to 1e12
# what rounding may move, relative: a value by each stage of a transform and by a power; a tilted sum, and per nat of it
_PER_STAGE, _PER_POWER, _PER_MOMENT, _PER_NAT = 1.8e-15, 7.2e-15, 3.6e-15, 9e-16
_BELOW = 1e-12  # of the tilted law may lie below a window, and as much above
_LARGEST = 2**22  # points of a window
_CLOSER = 1e-6  # of epsilon: another window that gains less is the last one
_DEEP = 60.0  # over the tilt: what is further above epsilon weighs less than exp(-60)


class TooLong(Exception):
    """The window has too many points: a coarser grid will do."""


@dataclass(frozen=True, eq=False)
class Masses:
    """Probabilities under P of the losses ``(first + k) * step``, and of an infinite one; they dominate a release."""

    first: int
    probs: Array
    infinite: float


def connected(forward: Array, backward: Array, step: float) -> Masses:
    """The law whose curve is made of chords of the one given at ``0, step, 2 step, ..``.

    Args:
        forward: delta at these epsilons of P against P', rounded up.
        backward: the same of P' against P, as many points: it says what P does where the loss is negative.
    """
    up, down = _right(forward, step), _right(backward, step) * np.exp(-step * np.arange(1, len(backward)))
    infinite = float(forward[-1])
    centre = max(0.0, 1.0 - infinite - math.fsum(up) - math.fsum(down))
    return Masses(1 - len(backward), np.concatenate([down[::-1], [centre], up]) * UP, infinite)


def _right(deltas: Array, step: float) -> Array:
    """Masses of ``step, 2 step, ..``; what is not convex is raised."""
    with np.errstate(over="ignore"):
        falls = np.maximum(-np.diff(np.minimum.accumulate(deltas)), 0.0)
        found = falls / -math.expm1(-step)
        found[:-1] -= falls[1:] / float(np.expm1(step))
    return np.maximum(found, 0.0)


@dataclass(frozen=True, eq=False)
class _Window:
    """The tilted law of the sum: ``probs`` of the losses ``(first + k) * step``, each off by ``error`` at most."""

    log_total: float  # of the tilting, rounded up
    tilt: float
    first: int
    probs: Array
    error: float
    log_beyond: float  # log of the mass above the window, at most


class Composed:
    """Releases together: ``delta(epsilon)`` and ``epsilon(delta)``, rounded up.

    Args:
        parts: laws, and how often each is there.
        step: of their common grid.
    """

    def __init__(self, parts: Sequence[tuple[Masses, int]], step: float):
        self._parts, self._step = parts, step
        self._infinite = math.fsum(-math.expm1(n * math.log1p(-min(one.infinite, 0.5))) for one, n in parts)
        if any(one.infinite > 0.5 for one, _ in parts):
            self._infinite = 1.0
        with np.errstate(divide="ignore"):
            self._logs = [np.log(one.probs) for one, _ in parts]
        self._losses = [step * (one.first + np.arange(len(one.probs))) for one, _ in parts]
        self._totals: dict[float, float] = {}
        self._windows: dict[int, _Window] = {}

    def _log_moments(self, tilt: float) -> list[float]:
        found = []
        for logs, losses in zip(self._logs, self._losses, strict=True):
            raised = logs + tilt * losses
            top = float(raised.max())
            found.append(top + math.log(float(np.exp(raised - top).sum())))
        return found

    def _log_total(self, tilt: float) -> float:
        """``log E exp(tilt L)`` of the sum, for any sign of the tilt."""
        if tilt not in self._totals:
            moments = self._log_moments(tilt)
            self._totals[tilt] = math.fsum(n * one for (_, n), one in zip(self._parts, moments, strict=True))
        return self._totals[tilt]

    def _best(self, epsilon: float | None, log_delta: float) -> int:
        """The number of the tilt under which Chernoff's bound of delta, or of epsilon, is the smallest."""

        def bound(number: int) -> float:
            tilt = _tilt(number)
            total = self._log_total(tilt)
            return total - tilt * epsilon if epsilon is not None else (total - log_delta) / tilt

        low, high = _LEAST, _MOST
        while low < high:  # it falls, then it rises
            middle = (low + high) // 2
            if bound(middle) > bound(middle + 1):
                low = middle + 1
            else:
                high = middle
        return low

    def _window(self, number: int) -> _Window:
        if number not in self._windows:
            self._windows[number] = self._composed(_tilt(number))
        return self._windows[number]

    def _composed(self, tilt: float) -> _Window:
        moments = self._log_moments(tilt)
        laws = [
            np.exp(logs + tilt * losses - moment)
            for logs, losses, moment in zip(self._logs, self._losses, moments, strict=True)
        ]
        means = [float(law @ losses) for law, losses in zip(laws, self._losses, strict=True)]
        spread = math.sqrt(
            math.fsum(
                n * float(law @ (losses - mean) ** 2)
                for law, losses, mean, (_, n) in zip(laws, self._losses, means, self._parts, strict=True)
            )
        )
        low, high = self._ends(tilt, max(spread, self._step))
        if not math.isfinite(low) or not math.isfinite(high):  # squares of losses that no float holds
            raise TooLong
        first = math.floor(low / self._step)
        points = math.ceil(high / self._step) - first + 1
        if points > _LARGEST:
            raise TooLong
        points = fft.next_fast_len(max(points, 16), real=True)
        # each law is moved near zero first, so that powers of its transform do not turn fast
        centres = [round(mean / self._step) for mean in means]
        transforms = [
            fft.rfft(np.bincount((one.first - centre + np.arange(len(law))) % points, law, points))
            for (one, _), law, centre in zip(self._parts, laws, centres, strict=True)
        ]
        product = np.ones(points // 2 + 1, dtype=complex)
        depth, lost = _PER_STAGE * math.log2(points), np.zeros(len(product))
        for (_, n), transform in zip(self._parts, transforms, strict=True):
            product *= transform**n
            lost += n * (depth + _PER_POWER) * np.exp((n - 1) * np.log(np.minimum(np.abs(transform) + depth, 1.0)))
        error = 2 * float(np.mean(lost)) + depth * float(np.mean(np.abs(product)))
        shift = sum(n * centre for (_, n), centre in zip(self._parts, centres, strict=True))
        found = np.roll(fft.irfft(product, points), -((first - shift) % points))
        rounding = math.fsum(
            n
            * (_PER_MOMENT + _PER_NAT * (float(np.max(np.abs(tilt * losses)[law > 1e-25], initial=0.0)) + abs(moment)))
            for law, losses, moment, (_, n) in zip(laws, self._losses, moments, self._parts, strict=True)
        )
        top = (first + points) * self._step
        total = math.fsum(n * moment for moment, (_, n) in zip(moments, self._parts, strict=True))
        return _Window(total + rounding, tilt, first, np.maximum(found, 0.0), error, self._log_above(tilt, spread, top))

    def _log_above(self, tilt: float, spread: float, loss: float) -> float:
        """Chernoff's bound on the log mass of losses from ``loss`` on."""
        tried = [tilt + one / max(spread, self._step) for one in _WIDTHS]
        return min(self._log_total(one) - one * loss for one in tried) + 1e-9

    def _ends(self, tilt: float, spread: float) -> tuple[float, float]:
        """Outside of these the tilted law has next to no mass (below), or adds next to nothing (above)."""
        total = self._log_total(tilt)
        low = max((total - self._log_total(tilt - one / spread) + math.log(_BELOW)) * spread / one for one in _WIDTHS)
        high = min((self._log_total(tilt + one / spread) - total - math.log(_BELOW)) * spread / one for one in _WIDTHS)
        return low, high

    def delta(self, epsilon: float) -> float:
        """A bound on delta at ``epsilon`` (any sign)."""
        return self._read(self._window(self._best(epsilon, 0.0)), epsilon)

    def _read(self, window: _Window, epsilon: float) -> float:
        start = max(0, math.floor(epsilon / self._step) - window.first)
        last = math.floor((epsilon + _DEEP / window.tilt) / self._step)
        end = min(len(window.probs), max(start, last + 1 - window.first))
        losses = np.maximum(self._step * (window.first + np.arange(start, end)) - epsilon, 0.0)
        weights = -np.expm1(-losses) * np.exp(-window.tilt * losses)
        mass = float((window.probs[start:end] + window.error) @ weights)
        if end < len(window.probs):  # of weight exp(-60) at most
            mass += math.exp(-_DEEP) * (1 + 1e-9 + window.error * len(window.probs))
        if epsilon < self._step * window.first:  # what is below the window came in at its other end
            mass += _BELOW
        inside = math.exp(min(0.0, window.log_total - window.tilt * epsilon + math.log(mass))) if mass > 0 else 0.0
        found = (inside + math.exp(min(0.0, window.log_beyond))) * (1 + 1e-13 + _PER_NAT * abs(window.tilt * epsilon))
        return min(1.0, found + self._infinite + 1e-320)

    def epsilon(self, delta: float) -> float:
        """A bound on epsilon (at least 0) at ``delta``; infinite where the grid ends too early to say.

        The tilt is first that of Chernoff's bound, which for few bounded losses is far too steep where delta is large;
        then, while it differs, that of the epsilon that was found. Each window bounds delta.
        """
        if self._infinite >= delta:
            return math.inf
        if self.delta(0.0) <= delta:
            return 0.0
        number = self._best(None, math.log(delta))
        tilt = _tilt(number)
        found = self._root(number, delta, (self._log_total(tilt) - math.log(delta)) / tilt * (1 + 1e-9) + 1e-300)
        while found < math.inf and abs((better := self._best(found, 0.0)) - number) > _PER_OCTAVE:
            number, again = better, self._root(better, delta, found)
            if not again < found * (1 - _CLOSER):
                break
            found = again
        return found

    def _root(self, number: int, delta: float, high: float) -> float:
        """Where the window of this tilt shows ``delta``, rounded up; infinite beyond its end."""
        window, low = self._window(number), 0.0
        while self._read(window, high) > delta:
            low, high = high, 2 * high
            if high > self._step * (window.first + len(window.probs)):
                return math.inf
        if self._read(window, low) <= delta:
            return low
        goal = math.log(delta)
        found = root(lambda epsilon: math.log(self._read(window, epsilon)) - goal, low, high)
        return nudged(found, lambda epsilon: self._read(window, epsilon) <= delta, 1)


def _tilt(number: int) -> float:
    return math.pow(2.0, number / _PER_OCTAVE)


# how far tilts go for the ends of a window, over the spread
_WIDTHS: list[float] = np.geomspace(0.25, 60.0, 24).tolist()
