"""``on_tape``: unmodified NumPy code as something that runs on a tape, and ``release``: what it means to hand out."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpassay.audit.lockstep.reach import WithinReach
from dpassay.audit.lockstep.run import lockstep
from dpassay.audit.lockstep.source_lines import parting
from dpassay.audit.phases import phase, step
from dpassay.reference.equality import same, snapshot
from dpassay.reference.errors import BadInput, printable
from dpassay.reference.findings import Kind
from dpassay.reference.neighbours import Pair
from dpassay.reference.tape import LiveTape, Tape
from dpassay.reference.transcript import Transcript

from .answers import WholeOutput
from .desk import Desk
from .finite import whole_law
from .generator import TapeGenerator
from .habits import UNIT, Habits, Noticed
from .noisy import Noisy
from .places import WAY_OUT, NotUnderstood
from .randomness import followed, generators_followed
from .signature import adapted

_LAWS_KEPT = 4_000  # exact laws, by data set
_TRIES = 3  # runs on a pair that look for a leak
_ROUNDS = 8  # of trial runs: each may bring up what the next one needs
_LONG, _FEW = 200, 2  # a run of so many calls shows in each what others show in many runs: so many pairs do


class PlainMechanism:
    """``run(data, tape)`` made of plain code.

    Args:
        mechanism: as people write it; all its randomness must come from generators of NumPy or from `random`.
        habits: what :meth:`tried` found out about it.
        claimed: epsilon and delta of the claim, for parameters of these names.
    """

    hub_type = WithinReach

    def __init__(self, mechanism: Callable[..., Any], habits: Habits | None = None, **claimed: float):
        self.mechanism = adapted(mechanism, **claimed)
        self.habits = habits or Habits()
        self.__name__ = getattr(mechanism, "__name__", "mechanism")
        self.noticed = Noticed()
        self._laws: dict[bytes, WholeOutput] = {}

    def __call__(self, data: Any, tape: Tape, world: int | None = None) -> Any:
        """One run on a copy of the data; with a ``world``, what counts as public is drawn anew in each."""
        if self.habits.whole is not None:
            law = self._law_on(data, self.habits.whole)
            return tape.release("output", law, sensitivity=self.habits.sensitivity("output", 1.0))
        desk = Desk(tape, len(data) if hasattr(data, "__len__") else None, self.habits, self.noticed, world)
        self.noticed.drawn = 0
        try:
            with followed(self.mechanism, TapeGenerator(desk)) as rng:
                output = desk.finish(self.mechanism(snapshot(data), rng))
            self.noticed.prompt = desk.prompt()
            return output
        except NotUnderstood as error:
            self.noticed.refused = self.noticed.refused or error
            raise

    def _law_on(self, data: Any, delta: float) -> WholeOutput:
        """The exact law of the output, made once for each data set that is an array."""
        key = data.tobytes() + str(data.shape).encode() if isinstance(data, np.ndarray) else None
        if key is None or key not in self._laws:
            law = whole_law(self.once, snapshot(data), delta)
            if key is None:
                return law
            self._laws = {**self._laws, key: law} if len(self._laws) < _LAWS_KEPT else {key: law}
        return self._laws[key]

    def once(self, data: Any, rng: np.random.Generator) -> Any:
        """One run that draws from this generator, whatever generator the code asks for."""
        with followed(self.mechanism, rng):
            return self.mechanism(data, rng)

    def on_another(self, data: Any, rng: Any) -> Any:
        """The code itself on another generator, as a certificate runs it."""
        with generators_followed(self.mechanism, rng):
            return self.mechanism(data, rng)

    def with_habits(self, **changes: Any) -> PlainMechanism:
        """The same mechanism with other habits."""
        found = PlainMechanism(self.mechanism, replace(self.habits, **changes))
        found.__name__, found.noticed = self.__name__, replace(self.noticed, refused=None)
        return found

    def settle(self, shares: Mapping[str, float]) -> None:
        """From now on each line moves its query by as much as a search found; in place, for all who hold it.

        Args:
            shares: of the search, of what was claimed while it measured.
        """
        if self.habits.assumed == UNIT:
            moved = {label: share * UNIT for label, share in shares.items()}
            self.habits = replace(self.habits, shares=moved, assumed=0.0)

    def tried(self, pairs: Sequence[Pair[Any]], seed: int = 0, delta: float = 0.0) -> PlainMechanism:
        """The same mechanism, with what trial runs on these pairs show about it.

        Args:
            pairs: neighbours to try it on.
            seed: of the trial runs.
            delta: of the claim, for a mechanism whose whole output is one release.

        Raises:
            BadInput: it draws randomness elsewhere than from the generator it is given.
            NotUnderstood: a use of noise whose law is not known.
        """
        if self.habits.read:
            return self
        phase("reading the code", len(pairs))
        whole = self.with_habits(whole=delta, read=True)
        if whole.finite_on(pairs):
            return whole
        tries = _TRIES
        with contextlib.suppress(Exception):  # the trial runs say what it raises
            if len(recorded(self, pairs[0].here, seed).events) > _LONG:
                pairs, tries = pairs[:_FEW], 1
        found = self._tried(pairs, seed)
        if found.leaks(pairs, seed, tries):
            with contextlib.suppress(NotUnderstood):
                late = self.with_habits(late=True)._tried(pairs, seed)
                found = found if late.leaks(pairs, seed, tries) else late
        prompt = frozenset() if tries == _TRIES or found.habits.late else found._prompt(pairs, seed)
        return found.with_habits(read=True, prompt=prompt)

    def _prompt(self, pairs: Sequence[Pair[Any]], seed: int) -> frozenset[str]:
        """Lines whose noise is released right away, in a run on every data set of these pairs."""
        found: list[frozenset[str]] = []
        for data in [one for pair in pairs for one in (pair.here, pair.there)]:
            with contextlib.suppress(Exception):  # as in the trial runs
                recorded(self, data, seed)
                found.append(self.noticed.prompt)
        return frozenset.intersection(*found) if found else frozenset()

    def finite_on(self, pairs: Sequence[Pair[Any]]) -> bool:
        """Does it make finitely many choices on these pairs, and any at all?"""
        run = self if self.habits.whole is not None else self.with_habits(whole=0.0)
        try:
            laws = [run._law_on(data, 0.0) for pair in pairs for data in (pair.here, pair.there)]
        except Exception:  # not finite, or code of others that raises
            return False
        return any(len(law.support) > 1 for law in laws)

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
            step()
        if failed and len(failed) == len(pairs):
            raise failed[0]
        return found

    def leaks(self, pairs: Sequence[Pair[Any]], seed: int, tries: int = _TRIES) -> bool:
        """Does any of a few runs on each pair show something private beside the releases?"""
        return any(leaking(self, pair, seed, tries) for pair in pairs)

    def _refuse_transformed(self, pair: Pair[Any], seed: int) -> None:
        """Nothing is released but noise was drawn, transformed, and perhaps added: its law is not known here."""
        here, there = (recorded(self, data, seed) for data in (pair.here, pair.there))
        if (
            self.noticed.alone
            and not self.noticed.shared_out
            and not here.releases
            and not same(here.output, there.output)
        ):
            why = "is transformed, or written somewhere, before it meets the data, so its law is not known"
            raise NotUnderstood(
                "noise", sorted(self.noticed.alone)[0], f"{why}; draw it whole (size=...), or {WAY_OUT}"
            )

    def _repeats(self, data: Any, seed: int) -> PlainMechanism:
        """With what one run needs to be understood; two runs with the same draws must agree."""
        found, first = self, recorded(self, data, seed)
        known = {line for line in found.noticed.alone if not any(line in one.label for one in first.releases)}
        if known - found.habits.known:  # a random start: of a single record it would be taken for noise
            found = found.with_habits(known=found.habits.known | known)
            first = recorded(found, data, seed)
        second = recorded(found, data, seed)
        if not (_released_alike(first, second) and same(first.output, second.output)):
            _refuse_differing(self.__name__, first, second)
        return found

    def _with_batches(self, pair: Pair[Any], seed: int) -> PlainMechanism:
        """Which releases depend on the batch drawn last: those that do although none is declared."""
        if not recorded(self, pair.here, seed).draws:
            return self
        sampled: set[str] = set(self.habits.sampled)
        for _ in range(_ROUNDS):  # each round may bring up releases that come later
            found = self.with_habits(sampled=frozenset(sampled))
            seen = lockstep(found, pair, [seed], check=False).findings
            new = {one.label for one in seen if one.kind is Kind.UNDECLARED_BATCH} - sampled
            if not new:
                return found
            sampled |= new
        return found


def on_tape(mechanism: Callable[..., Any]) -> PlainMechanism:
    """Plain NumPy code as ``run(data, tape)``: audited without changing a line of it.

    Noise knows its law. What is added to it becomes the query of a release, named by the source line of the draw, where
    the code first looks at the sum. ``argmax`` of noisy numbers releases the index alone. ``choice`` without
    replacement, ``random(n) < q`` and slices of a ``permutation`` are secret batches where they range over the records;
    other draws are public.

    Args:
        mechanism: called as ``mechanism(data, rng)``, or with any signature that docs/own.md names.

    Returns:
        A ``run(data, tape)`` for :func:`dpassay.audit.assay`. Nobody claims a sensitivity for what it releases.

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


def release(label: str, value: Any) -> Any:
    """Say that your plain code hands out a noisy value here; outside of an audit it does nothing.

    Args:
        label: what the value is, for the reader of the code.
        value: noisy numbers, any shape.

    Returns:
        The value itself; during an audit the numbers that were released.

    Raises:
        BadInput: during an audit, a value whose law is not known.

    Example:
        >>> from dpassay.audit import release
        >>> release("count", 3.5)
        3.5

    Source: ``docs/own.md``.
    """
    return value.value() if isinstance(value, Noisy) else value


def leaking(run: Any, pair: Pair[Any], seed: int, tries: int = _TRIES) -> set[tuple[Kind, str]]:
    """Kind and label of what a few runs on the pair show beside the releases."""
    found: set[tuple[Kind, str]] = set()
    for number in range(tries):
        with contextlib.suppress(Exception):  # as in the trial runs
            seen = lockstep(run, pair, [seed, number], check=False).findings
            found |= {(one.kind, one.label) for one in seen if one.kind.leaks}
    return found


def recorded(run: Callable[..., Any], data: Any, seed: int) -> Transcript:
    """One run, with its output."""
    tape = LiveTape(seed)
    tape.transcript.output = run(data, tape)
    return tape.transcript


def _released_alike(one: Transcript, other: Transcript) -> bool:
    return len(one.releases) == len(other.releases) and all(
        same(a.value, b.value) for a, b in zip(one.releases, other.releases, strict=True)
    )


def _refuse_differing(name: str, one: Transcript, other: Transcript) -> None:
    """Two runs with the same draws differ: by a function that each made anew, or by draws from elsewhere."""
    path, first, second = parting(one.output, other.output)
    if _released_alike(one, other) and callable(first) and callable(second):
        what = f"returns a {type(first).__name__}{f' at output{printable(path)}' if path else ''}"
        why = f"{what}: what it holds cannot be compared; return the numbers (an array, a dict, an object with them)"
        raise BadInput("mechanism", name, why)
    why = (
        "gives different results for the same draws: its randomness must come from a generator of NumPy or from "
        f"`random`; {WAY_OUT}"
    )
    raise BadInput("mechanism", name, why)
