"""``on_tape``: unmodified NumPy code as something that runs on a tape, and ``release``: what it means to hand out."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpassay.audit.lockstep.hub import WithinReach
from dpassay.audit.lockstep.run import lockstep
from dpassay.audit.lockstep.source_lines import parting
from dpassay.audit.phases import phase, step, time_is_up
from dpassay.reference import LiveTape, Pair, Tape
from dpassay.reference.equality import same, snapshot
from dpassay.reference.errors import BadInput, printable
from dpassay.reference.findings import Kind
from dpassay.reference.transcript import Transcript

from .desk import Desk, Noisy
from .generator import TapeGenerator, whole_law
from .noise_laws import WholeNumber, WholeOutput
from .places import WAY_OUT, NotUnderstood
from .randomness import followed
from .signature import adapted

UNIT = 2.0**40  # noise scales; claimed while movements are measured: a power of two, so that shares of it are exact
_LAWS_KEPT = 4_000  # exact laws, by data set
_ROUNDS = 8  # of trial runs: each may bring up what the next one needs


@dataclass
class Noticed:
    """What runs of a mechanism came by, mostly source lines; each run adds to it.

    Args:
        public: lines of draws taken for public: do they choose among the records?
        alone: lines whose noise was looked at before it met data.
        again: lines of noise that was added to data more than once.
        compared: lines of noisy numbers that were compared.
        asked: lines of draws: was one of them as many as there are records, in each run?
        picked: lines that draw one of several values, with their probabilities; or the first two such.
        shared_out: one draw is handed out in several numbers, whose differences have no noise.
        drawn: noise variables of the last run.
        refused: the first use of noise whose law is not known.
    """

    public: dict[str, bool] = field(default_factory=dict)
    alone: set[str] = field(default_factory=set)
    again: set[str] = field(default_factory=set)
    compared: set[str] = field(default_factory=set)
    asked: dict[str, set[bool]] = field(default_factory=dict)
    picked: dict[str, set[tuple[float, ...]]] = field(default_factory=dict)
    shared_out: bool = False
    drawn: int = 0
    refused: NotUnderstood | None = None


class PlainMechanism:
    """``run(data, tape)`` made of plain code.

    Args:
        mechanism: as people write it; all its randomness must come from generators of NumPy or from `random`.
        claimed: epsilon and delta of the claim, for parameters of these names.

    Attributes:
        sampled: lines of releases whose query depends on the secret batch that was drawn last.
        several: those of them that also depend on earlier ones.
        elsewhere: lines of draws that are not one for each record, though there may be as many of them.
        known: lines of noise that is looked at before it meets data: a random start, a random direction.
        whole: delta, where the one release is the output with its exact law: it makes finitely many choices.
        shares: the largest movement that a search found, as a share of the noise scale.
        assumed: that share for every other release.
        whole_numbers: what is added to a noisy sum is released with it, wherever the code looks at it.
        read: have trial runs shown all this?
    """

    hub_type = WithinReach

    def __init__(self, mechanism: Callable[..., Any], **claimed: float):
        self.mechanism = adapted(mechanism, **claimed)
        self.__name__ = getattr(mechanism, "__name__", "mechanism")
        self.noticed = Noticed()
        self.sampled: frozenset[str] = frozenset()
        self.several: frozenset[str] = frozenset()
        self.elsewhere: frozenset[str] = frozenset()
        self.known: frozenset[str] = frozenset()
        self.whole: float | None = None
        self.shares: Mapping[str, float] = {}
        self.assumed = UNIT
        self.whole_numbers = self.read = False
        self._laws: dict[bytes, WholeOutput | WholeNumber] = {}

    def __call__(self, data: Any, tape: Tape, world: int | None = None) -> Any:
        """One run on a copy of the data; with a ``world``, what counts as public is drawn anew in each."""
        if self.whole is not None:
            return tape.release("output", self._law_on(data), sensitivity=self.sensitivity("output", 1.0))
        desk = Desk(tape, len(data) if hasattr(data, "__len__") else None, self, world)
        self.noticed.drawn = 0
        try:
            with followed(self.mechanism, TapeGenerator(desk)) as rng:
                found = desk.finish(self.mechanism(snapshot(data), rng))
                for line, many in desk.asked.items():
                    self.noticed.asked.setdefault(line, set()).add(desk.records in many)
                return found
        except NotUnderstood as error:
            self.noticed.refused = self.noticed.refused or error
            raise

    def _law_on(self, data: Any) -> WholeOutput | WholeNumber:
        """The exact law of the output, made once for each data set that is an array."""
        key = data.tobytes() + str(data.shape).encode() if isinstance(data, np.ndarray) else None
        law = self._laws.get(key) if key is not None else None
        if law is None:
            law = whole_law(self.once, snapshot(data), self.whole or 0.0)
            if key is not None:
                self._laws = {**self._laws, key: law} if len(self._laws) < _LAWS_KEPT else {key: law}
        return law

    def once(self, data: Any, rng: Any, kept_only: bool = False) -> Any:
        """One run of the code itself that draws from this generator, as for :func:`followed`."""
        with followed(self.mechanism, rng, kept_only):
            return self.mechanism(data, rng)

    @property
    def told(self) -> str:
        """The reading for a person; empty where the law of the output is exact, whatever is read."""
        known = f"; the draw at {' and '.join(sorted(self.known))} is known" if self.known else ""
        return "" if self.whole is not None else f"a noisy sum is released where the code first looks at it{known}"

    def sensitivity(self, label: str, scale: float) -> float:
        """What is claimed of a release of this source line with this noise scale."""
        return self.shares.get(label, self.assumed) * scale

    def settle(self, shares: Mapping[str, float]) -> None:
        """From now on each line moves its query by as much as a search found; in place, for all who hold it.

        Args:
            shares: of the search, of what was claimed while it measured.
        """
        if self.assumed == UNIT:
            self.shares, self.assumed = {label: share * UNIT for label, share in shares.items()}, 0.0

    def tried(self, pairs: Sequence[Pair[Any]], seed: int = 0, delta: float = 0.0) -> "PlainMechanism":
        """The same mechanism, with what trial runs on these pairs show about it.

        Args:
            pairs: neighbours to try it on.
            seed: of the trial runs.
            delta: of the claim, for a mechanism whose whole output is one release.

        Raises:
            BadInput: it draws randomness elsewhere than from the generator it is given.
            NotUnderstood: a use of noise whose law is not known.
        """
        if self.read:
            return self
        phase("reading the code", len(pairs))
        found = copy(self)
        found.read, found.noticed = True, Noticed()
        if found.finite_on(pairs):
            found.whole, found._laws = delta, {}
            return found
        failed = []
        for number, pair in enumerate(pairs):
            if number and time_is_up():
                break
            try:
                found._read_on(pair, seed + number)
            except BadInput:
                raise
            except Exception as error:  # code of others; the search says on which data it raises
                failed.append(error)
            step()
        if failed and len(failed) == len(pairs):
            raise failed[0]
        found.elsewhere |= {line for line, each in found.noticed.asked.items() if False in each}
        if any(True in found.noticed.asked[line] for line in found.elsewhere - self.elsewhere):  # read without it
            again = copy(self)
            again.elsewhere = found.elsewhere
            return again.tried(pairs, seed, delta)
        found.noticed.refused = None
        return found

    def finite_on(self, pairs: Sequence[Pair[Any]]) -> bool:
        """Does it make finitely many choices on these pairs, and any at all?"""
        try:
            laws = [self._law_on(data) for pair in pairs for data in (pair.here, pair.there)]
        except Exception:  # not finite, or code of others that raises
            return False
        return any(isinstance(law, WholeNumber) or len(law.support) > 1 for law in laws)

    def _read_on(self, pair: Pair[Any], seed: int) -> None:
        """What runs on this pair need to be understood; two runs with the same draws must agree."""
        first = recorded(self, pair.here, seed)
        known = {line for line in self.noticed.alone if not any(line in one.label for one in first.releases)}
        if known - self.known:  # a random start: of a single record it would be taken for noise
            self.known |= known
            first = recorded(self, pair.here, seed)
        _compare(self.__name__, first, recorded(self, pair.here, seed))
        for _ in range(_ROUNDS if first.draws else 0):  # releases that depend on a batch although none is declared
            seen = lockstep(self, pair, [seed], check=False).findings
            new = {one.label for one in seen if one.kind is Kind.WRONG_BATCH} - self.sampled
            if not new:
                break
            self.sampled |= new
        bare = self.noticed.alone and not self.noticed.shared_out and not first.releases
        if bare and not same(first.output, recorded(self, pair.there, seed).output):
            why = "is transformed, or written somewhere, before it meets the data, so its law is not known"
            raise NotUnderstood(
                "noise", sorted(self.noticed.alone)[0], f"{why}; draw it whole (size=...), or {WAY_OUT}"
            )


def on_tape(mechanism: Callable[..., Any]) -> PlainMechanism:
    """Plain NumPy code as ``run(data, tape)``: audited without changing a line of it.

    Noise knows its law. The data that it is added to become the query of a release, named by the source line of the
    draw, where the code first looks at the sum. ``argmax`` of noisy numbers releases the index alone. ``choice``
    without replacement and ``random(n) < q`` are secret batches where they range over the records; other draws are
    public.

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
    return value.desk.released(value, handed_out=True) if isinstance(value, Noisy) else value


def recorded(run: Callable[..., Any], data: Any, seed: int) -> Transcript:
    """One run, with its output."""
    tape = LiveTape(seed)
    tape.transcript.output = run(data, tape)
    return tape.transcript


def _compare(name: str, one: Transcript, other: Transcript) -> None:
    """Two runs with the same draws differ by draws from elsewhere, or by a function that each made anew."""
    found, again = ({"release": [each.value for each in run.releases], "output": run.output} for run in (one, other))
    if not same(found, again):
        path, value, _ = parting(found, again)
        what = "functions, which cannot be compared: return the numbers" if callable(value) else "results"
        why = f"different {what} for the same draws ({printable(path)}): its randomness must come from a generator of"
        raise BadInput("mechanism", name, f"gives {why} NumPy or from `random`; {WAY_OUT}")
