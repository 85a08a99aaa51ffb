"""``on_tape``: an unmodified NumPy mechanism as something that runs on a tape."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpassay.audit.lockstep.reach import WithinReach
from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.equality import same, snapshot
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Kind
from dpassay.reference.neighbours import Pair
from dpassay.reference.tape import LiveTape, Tape
from dpassay.reference.transcript import Transcript

from .chosen import WholeOutput
from .desk import Desk
from .finite import whole_law
from .generator import TapeGenerator
from .habits import Habits
from .leaking import leaking, masked
from .own_generators import refuse_own
from .places import WAY_OUT, NotUnderstood
from .repeated import NotANumber, alike, has_nan, refuse_opaque
from .writing import arrays_followed

# releases elsewhere in the same sums, or more draws that are noise: if then nothing leaks, that is how it is private
_WAYS = tuple(
    Habits(early=early, prompt=prompt, lazy=lazy)
    for lazy in (False, True)
    for early, prompt in ((True, False), (False, False), (False, True))
)
_LAWS_KEPT = 4_000  # exact laws, by data set


class PlainMechanism:
    """``run(data, tape)`` made of ``mechanism(data, rng)``.

    Args:
        mechanism: takes the data and a ``numpy.random.Generator``; all its randomness must come from the generator.
        habits: what :meth:`tried` found out about it.
    """

    hub_type = WithinReach

    def __init__(self, mechanism: Callable[[Any, np.random.Generator], Any], habits: Habits | None = None):
        self.mechanism, self.habits = mechanism, habits or Habits()
        self.__name__ = getattr(mechanism, "__name__", "mechanism")
        self.alone: set[str] = set()  # lines whose noise was looked at before it met data
        self.noise_lines: dict[str, None] = {}  # in the order of their first draws
        self.public: dict[str, bool] = {}  # lines of draws taken for public: do they choose among the records?
        self.reused: set[str] = set()  # lines of noise that was added to data more than once
        self.sums = 0  # with data, that one noise was in, in one run
        self.drawn = 0  # noise variables of the last run
        self.refused: NotUnderstood | None = None  # the first use of noise, in any run, whose law is not known
        self._laws: dict[bytes, WholeOutput] = {}

    def __call__(self, data: Any, tape: Tape, world: int | None = None) -> Any:
        """One run on a copy of the data; with a ``world``, what counts as public is drawn anew in each."""
        if self.habits.whole is not None:
            law = self._law_on(data, self.habits.whole)
            return tape.release("output", law, sensitivity=self.habits.sensitivity("output", 1.0))
        desk = Desk(tape, len(data) if hasattr(data, "__len__") else None, self.habits, world)
        try:
            with arrays_followed(self.mechanism):
                output = desk.finish(self.mechanism(snapshot(data), TapeGenerator(desk)))
        except NotUnderstood as error:
            self.refused = self.refused or error
            raise
        finally:
            self.alone.update(desk.drawn_alone)
            self.reused.update(desk.met.again)
            self.sums = max(self.sums, desk.met.most)
            self.drawn = len(desk.kinds)
            self.noise_lines.update(dict.fromkeys(desk.lines))
            for line, of_records in desk.public_lines.items():
                self.public[line] = self.public.get(line, False) or of_records
        if not self.habits.eager and has_nan(output):
            raise NotANumber("the output holds NaN")
        return output

    def _law_on(self, data: Any, delta: float) -> WholeOutput:
        """The exact law of the output, made once for each data set that is an array."""
        key = data.tobytes() + str(data.shape).encode() if isinstance(data, np.ndarray) else None
        if key is None or key not in self._laws:
            law = whole_law(self.mechanism, snapshot(data), delta)
            if key is None:
                return law
            self._laws = {**self._laws, key: law} if len(self._laws) < _LAWS_KEPT else {key: law}
        return self._laws[key]

    def with_sensitivities(self, sensitivities: Mapping[str, float]) -> PlainMechanism:
        """Declared largest movements of the queries, by source line (``file.py:12``)."""
        return PlainMechanism(self.mechanism, replace(self.habits, sensitivities=dict(sensitivities)))

    def moving(self, shares: Mapping[str, float], otherwise: float) -> PlainMechanism:
        """Lines without a declared sensitivity move their query by these shares of the noise scale at most."""
        return PlainMechanism(self.mechanism, replace(self.habits, shares=dict(shares), assumed=otherwise))

    def tried(self, pairs: Iterable[Pair[Any]], seed: int = 0, delta: float = 0.0) -> PlainMechanism:
        """The same mechanism, with what trial runs on these pairs show about it.

        Args:
            pairs: neighbours to try it on.
            seed: of the trial runs.
            delta: of the claim, for a mechanism whose whole output is one release.

        Raises:
            BadInput: it draws randomness elsewhere than from the generator it is given.
            NotUnderstood: a use of noise whose law is not known.
        """
        return self if self.habits.read else next(self.readings(list(pairs), seed, delta))

    def readings(self, pairs: Sequence[Pair[Any]], seed: int, delta: float) -> Iterator[PlainMechanism]:
        """Every way to read the mechanism in which nothing leaks on these pairs; those that release the same once.

        In each the adversary sees what the mechanism hands out and perhaps more, so what one of them adds up to bounds
        it. Without any, the one reading in which it leaks for sure, or else the first one.

        Raises:
            BadInput: as `tried`.
        """
        tried: list[PlainMechanism] = []
        refused: NotUnderstood | None = None
        released: set[str] = set()
        for way in _WAYS:
            habits = replace(self.habits, early=way.early, prompt=way.prompt, lazy=way.lazy)
            reading = PlainMechanism(self.mechanism, habits)
            try:
                tried.append(reading._tried(pairs, seed))
            except NotUnderstood as error:
                refused = refused or error
                continue
            releases = tried[-1].releases(pairs, seed)
            if releases not in released and not tried[-1].leaks(pairs, seed):
                released.add(releases)
                yield tried[-1]._as_read()
        whole = self._whole(pairs, delta)
        if whole is not None:
            yield whole._as_read()
        if released or whole:
            return
        if refused and (not tried or not any(one.leaks_for_sure(pairs, seed) for one in tried)):
            raise refused
        yield next((one for one in tried if one.leaks_for_sure(pairs, seed)), tried[0])._as_read()

    def read_as(self, habits: Habits, pairs: Sequence[Pair[Any]], seed: int) -> PlainMechanism | None:
        """The mechanism read in this way; None where that is not understood, or something leaks on these pairs."""
        try:
            reading = PlainMechanism(self.mechanism, habits)._tried(pairs, seed)
        except NotUnderstood:
            return None
        return None if reading.leaks(pairs, seed) else reading._as_read()

    def _as_read(self) -> PlainMechanism:
        found = PlainMechanism(self.mechanism, replace(self.habits, read=True))
        found.alone, found.public, found.noise_lines = self.alone, self.public, self.noise_lines
        found.reused, found.sums = self.reused, self.sums
        return found

    def releases(self, pairs: Sequence[Pair[Any]], seed: int) -> str:
        """What is released on the pairs, in words: label, law and noise of each release."""
        found = []
        for pair in pairs:
            with contextlib.suppress(Exception):
                made = _transcript(self, pair.here, seed).releases
                found.append([(one.label, type(one.law).__name__, f"{one.law.scale:.9g}") for one in made])
        return repr(found)

    def _whole(self, pairs: Sequence[Pair[Any]], delta: float) -> PlainMechanism | None:
        """The exact law of its output as the one release, if it makes finitely many choices and any at all."""
        found = PlainMechanism(self.mechanism, replace(self.habits, whole=delta))
        try:
            laws = [found._law_on(data, delta) for pair in pairs for data in (pair.here, pair.there)]
        except Exception:  # not finite, or code of others that raises
            return None
        return found if any(len(law.support) > 1 for law in laws) else None

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

    def finite_on(self, pair: Pair[Any]) -> bool:
        """Is every way through the code followed on this pair?"""
        return self._whole([pair], 0.0) is not None

    def leaks(self, pairs: Sequence[Pair[Any]], seed: int) -> bool:
        """Does any of a few runs on each pair show something private beside the releases?"""
        return any(leaking(self, pair, seed) for pair in pairs)

    def leaks_for_sure(self, pairs: Iterable[Pair[Any]], seed: int = 0) -> bool:
        """Does it show something private that no draw taken for public could hide, were it secret?"""
        return any(leaking(self, pair, seed) - masked(self, pair, seed) for pair in pairs)

    def _refuse_transformed(self, pair: Pair[Any], seed: int) -> None:
        """Nothing is released but noise was drawn, transformed, and perhaps added: its law is not known here."""
        here, there = (_transcript(self, data, seed) for data in (pair.here, pair.there))
        if self.alone and not here.releases and not same(here.output, there.output):
            why = "is transformed before it meets the data, so its law is not known"
            raise NotUnderstood("noise", sorted(self.alone)[0], f"{why}; {WAY_OUT}")

    def _repeats(self, data: Any, seed: int) -> PlainMechanism:
        found = self
        try:
            first = _transcript(found, data, seed)
        except (NotANumber, BadInput) as error:
            if isinstance(error, NotUnderstood):
                raise
            found = PlainMechanism(self.mechanism, replace(self.habits, eager=True))
            first = _transcript(found, data, seed)
        second = _transcript(found, data, seed)
        if not alike(first, second):
            refuse_opaque(self.__name__, first, second)
            refuse_own(self.__name__, self.mechanism, data)
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
