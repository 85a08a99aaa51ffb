"""``on_tape``: an unmodified NumPy mechanism as something that runs on a tape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.equality import same, snapshot
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Kind
from dpassay.reference.neighbours import Pair
from dpassay.reference.tape import LiveTape, Tape
from dpassay.reference.transcript import Transcript

from .desk import Desk, Habits
from .generator import TapeGenerator
from .places import NotUnderstood

SEEN = "every noisy number that the code looks at counts as seen, also where only a later one is returned"


class PlainMechanism:
    """``run(data, tape)`` made of ``mechanism(data, rng)``.

    Args:
        mechanism: takes the data and a ``numpy.random.Generator``; all its randomness must come from the generator.
        habits: what :meth:`tried` found out about it.
    """

    def __init__(self, mechanism: Callable[[Any, np.random.Generator], Any], habits: Habits | None = None):
        self.mechanism, self.habits = mechanism, habits or Habits()
        self.__name__ = getattr(mechanism, "__name__", "mechanism")
        self.alone: set[str] = set()  # lines whose noise was looked at before it met data

    def __call__(self, data: Any, tape: Tape) -> Any:
        """One run on a copy of the data."""
        desk = Desk(tape, len(data) if hasattr(data, "__len__") else None, self.habits)
        output = desk.finish(self.mechanism(snapshot(data), TapeGenerator(desk)))
        self.alone.update(desk.drawn_alone)
        if not self.habits.eager and _has_nan(output):
            raise _Poisoned
        return output

    def with_sensitivities(self, sensitivities: Mapping[str, float]) -> PlainMechanism:
        """Declared largest movements of the queries, by source line (``file.py:12``)."""
        return PlainMechanism(self.mechanism, replace(self.habits, sensitivities=dict(sensitivities)))

    def moving(self, shares: Mapping[str, float], otherwise: float) -> PlainMechanism:
        """Lines without a declared sensitivity move their query by these shares of the noise scale at most."""
        return PlainMechanism(self.mechanism, replace(self.habits, shares=dict(shares), assumed=otherwise))

    def tried(self, pairs: Iterable[Pair[Any]], seed: int = 0) -> PlainMechanism:
        """The same mechanism, with what trial runs on these pairs show about it.

        Raises:
            BadInput: it draws randomness elsewhere than from the generator it is given.
            NotUnderstood: a use of noise whose law is not known.
        """
        pairs = list(pairs)
        early = PlainMechanism(self.mechanism, replace(self.habits, early=True))._tried(pairs, seed)
        if not early._leaks(pairs, seed):
            return early
        # releases elsewhere in the same sums: if then nothing leaks, that is how the mechanism is private
        late = self._tried(pairs, seed)
        return early if late._leaks(pairs, seed) else late

    def _tried(self, pairs: Sequence[Pair[Any]], seed: int) -> PlainMechanism:
        found, failed = self, []
        for number, pair in enumerate(pairs):
            try:
                found = found._repeats(pair.here, seed + number)
                found = found._with_batches(pair, seed + number)
                found._refuse_transformed(pair, seed + number)
            except BadInput:
                raise
            except Exception as error:  # code of others; the search says on which data it raises
                failed.append(error)
        if failed and len(failed) == len(pairs):
            raise failed[0]
        return found

    def _leaks(self, pairs: Sequence[Pair[Any]], seed: int) -> bool:
        """Does any of a few runs on each pair show something private beside the releases?"""
        for pair in pairs:
            for number in range(3):
                try:
                    seen = lockstep(self, pair, [seed, number], check=False).findings
                except Exception:  # as in the trial runs
                    continue
                if any(finding.kind.leaks for finding in seen):
                    return True
        return False

    def _refuse_transformed(self, pair: Pair[Any], seed: int) -> None:
        """Nothing is released but noise was drawn, transformed, and perhaps added: its law is not known here."""
        here, there = (_transcript(self, data, seed) for data in (pair.here, pair.there))
        if self.alone and not here.releases and not same(here.output, there.output):
            why = "is transformed before it meets the data, so its law is not known; write the mechanism on a tape"
            raise NotUnderstood("noise", sorted(self.alone)[0], why)

    def _repeats(self, data: Any, seed: int) -> PlainMechanism:
        found = self
        try:
            first = _transcript(found, data, seed)
        except (_Poisoned, BadInput) as error:
            if isinstance(error, NotUnderstood):
                raise
            found = PlainMechanism(self.mechanism, replace(self.habits, eager=True))
            first = _transcript(found, data, seed)
        second = _transcript(found, data, seed)
        if not _alike(first, second):
            why = "gives different results for the same draws: all randomness must come from the generator it is given"
            raise BadInput("mechanism", self.__name__, why)
        return found

    def _with_batches(self, pair: Pair[Any], seed: int) -> PlainMechanism:
        """Which releases depend on the batch drawn last: those that do although none is declared."""
        if not _transcript(self, pair.here, seed).draws:
            return self
        sampled: set[str] = set(self.habits.sampled)
        for _ in range(8):  # each round may bring up releases that come later
            found = PlainMechanism(self.mechanism, replace(self.habits, sampled=frozenset(sampled)))
            seen = lockstep(found, pair, [seed], check=False).findings
            new = {one.label for one in seen if one.kind is Kind.UNDECLARED_BATCH} - sampled
            if not new:
                return found
            sampled |= new
        return found


class _Poisoned(Exception):
    """An array that noise was added to in place was read elsewhere."""


def on_tape(mechanism: Callable[[Any, np.random.Generator], Any]) -> PlainMechanism:
    """``mechanism(data, rng)``, plain NumPy code, as ``run(data, tape)``: audited without changing a line of it.

    Normal and Laplace draws of ``rng`` know their scale; what is added to them becomes the query of a release, named by
    the source line of the draw. Comparisons with one noisy number and ``argmax`` of noisy numbers release the answer
    alone. ``choice`` without replacement, ``random(n) < q`` and slices of a ``permutation`` are secret batches where
    they range over the records; all other draws are public.

    Args:
        mechanism: called as ``mechanism(data, rng)``; ``rng`` has the methods of :class:`numpy.random.Generator`.

    Returns:
        A ``run(data, tape)`` for :func:`dpassay.audit.assay`. No sensitivity is claimed for what it releases, so it
        is audited, and not accounted.

    Raises:
        BadInput: when it runs, by code that uses a draw in a way that is not followed.

    Example:
        >>> from dpassay.audit import on_tape
        >>> from dpassay.reference import record
        >>> run = on_tape(lambda data, rng: sum(data) + rng.laplace(scale=2.0))
        >>> (release,) = record(lambda tape: run([1.0, 2.0], tape), seed=0).releases
        >>> release.law.query.tolist(), release.law.scale
        ([3.0], 2.0)

    Source: the tape (``docs/glossary.md``).
    """
    return PlainMechanism(mechanism)


def _transcript(run: PlainMechanism, data: Any, seed: int) -> Transcript:
    tape = LiveTape(seed)
    tape.transcript.output = run(data, tape)
    return tape.transcript


def _alike(one: Transcript, other: Transcript) -> bool:
    if len(one.releases) != len(other.releases) or not same(one.output, other.output):
        return False
    return all(same(a.value, b.value) for a, b in zip(one.releases, other.releases, strict=True))


def _has_nan(output: Any) -> bool:
    if isinstance(output, np.ndarray | float | np.floating):
        return bool(np.isnan(output).any()) if np.asarray(output).dtype.kind == "f" else False
    if isinstance(output, list | tuple):
        return any(_has_nan(one) for one in output)
    return isinstance(output, dict) and any(_has_nan(one) for one in output.values())
