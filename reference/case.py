"""What the audit suite works on: one algorithm, one reading, one schedule, one pair of neighbours.

And what is written of it as data in ``written.toml``: why a search may stay short. Unreached: releases and decisions
that no run of the case comes to, by place, ``file.py: the beginning of its line``. Most are decided by the schedule,
which is public and is the same for all data: the other way is taken by another reading or variant of the catalogue.
What is not listed and is not reached by a search is a gap of the search, and said as one. Attainable: how far a query
can really move, by label, where the declared sensitivity is more. A search that stays below a declared sensitivity has
either missed the worst pair, or there is none that moves the query so far: the largest share there is, and why.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, Literal

from dpassay.reference.accounting.cost import Account, account
from dpassay.reference.accounting.sampled import Relation

from .errors import require, require_budget
from .files import parse_toml, read_text
from .findings import Declared
from .guarantee import Guarantee, approx_dp
from .neighbours import Pair
from .papers import Cite
from .space import Space
from .tape import ScriptedTape, Tape
from .transcript import Transcript

Reading = Literal["printed", "repaired", "baseline"]


Facts = dict[str, float | int | str]
Reasons = Mapping[str, str]
MANY = 1 << 14  # calls of the tape after which the longest run is first asked what it has cost so far


class _EnoughError(BaseException):
    """Ends a run; no Exception, so that no algorithm handles it."""


@dataclass(frozen=True)
class PrivacyClaim:
    """What the paper or the author states.

    Args:
        epsilon: positive and finite.
        delta: in [0, 1).
        cite: where it is stated; None for a claim of your own.
        relation: for which neighbours: ``replace-one`` or ``add-remove``.

    Raises:
        BadInput: a budget that means nothing.

    Example:
        >>> from dpassay.reference import Cite, PrivacyClaim
        >>> claim = PrivacyClaim(1.0, 1e-5, Cite("my draft", "Theorem 2"))
        >>> claim.epsilon, claim.relation
        (1.0, 'replace-one')

    Source: Dwork and Roth 2014, Definition 2.4.
    """

    epsilon: float
    delta: float
    cite: Cite | None = None  # None: nobody's paper, one's own algorithm
    relation: Relation = "replace-one"

    def __post_init__(self) -> None:
        require_budget(self.epsilon, self.delta, pure=True)

    @property
    def guarantee(self) -> Guarantee:
        """The claim as a curve."""
        return approx_dp(self.epsilon, self.delta, self.relation, "" if self.cite is None else str(self.cite))


@dataclass(frozen=True)
class ExactDelta:
    """What a part of the output costs on the pair, in closed form (no statistics).

    ``at_claim`` is its exact delta at the claimed epsilon, ``at_infinity`` the mass that no epsilon covers.
    """

    at_claim: float
    at_infinity: float
    how: str


@dataclass(frozen=True, eq=False)
class Instance:
    """A runnable algorithm on a pair of neighbouring problems.

    Args:
        run: ``run(problem, schedule, tape) -> output``. The output must be public.
        schedule: everything that is public before the run.
        pair: the neighbours; ``pair.here`` is also the problem that is solved.
        longest: for algorithms that may stop early: answers (label, law, step) -> value or None (draw it) under which
            the most releases happen, so that the accountant sees all that the algorithm may spend.
        facts: named numbers worth showing (constants, sizes), in order.
        exact: the exact cost of something that the algorithm gives away, where a closed form is known.
        others: neighbours that move a release which ``pair`` leaves alone (a record is in one phase only), for the
            same schedule: a search tries them first, as it does ``pair``.
    """

    run: Callable[[Any, Any, Tape], Any]
    schedule: Any
    pair: Pair[Any]
    longest: Callable[[str, Any, int], Any] | None = None
    facts: Facts = field(default_factory=dict)
    exact: ExactDelta | None = None
    others: Sequence[Pair[Any]] = ()

    @property
    def mechanism(self) -> Callable[[Any, Tape], Any]:
        """``run(problem, tape) -> output``: the schedule is bound in (picklable, for parallel workers)."""
        return bind(self.run, self.schedule)

    def longest_transcript(self, seed: int = 0) -> Transcript:
        """The transcript of the run that spends the most."""
        transcript, error = self.longest_run(seed)
        if error is not None:
            raise error
        return transcript

    def longest_run(
        self, seed: int = 0, enough: Callable[[Transcript], bool] | None = None
    ) -> tuple[Transcript, Exception | None]:
        """The run that spends the most: its transcript, and what it raised in the end, if it did.

        ``enough`` is asked of what there is after :data:`MANY` calls of the tape, and after every doubling; where it
        says yes the run ends there, without an output.
        """
        answer, asked = self.longest or (lambda *_: None), MANY

        def watched(label: str, law: Any, step: int) -> Any:
            nonlocal asked
            if enough is not None and step >= asked:
                asked *= 2
                if enough(tape.transcript):
                    raise _EnoughError
            return answer(label, law, step)

        tape = ScriptedTape(watched, seed)
        try:
            tape.transcript.output = self.mechanism(self.pair.here, tape)
        except _EnoughError:
            pass
        except Exception as error:
            return tape.transcript, error
        return tape.transcript, None

    def accounted(self, relation: Relation = "replace-one") -> Account:
        """What the releases that really happen add up to."""
        return account(self.longest_transcript(), relation)


@dataclass(frozen=True)
class Case:
    """One row of the audit table.

    Args:
        id: ``paper/algorithm`` or ``baselines/algorithm``; unique with ``variant`` and ``reading``.
        reading: ``printed`` (the paper's, with ``completions``), ``repaired`` (with ``repairs``) or ``baseline``.
        build: makes the instance (data, schedule, pair); cheap to call, deterministic.
        known: for printed readings: the defect in a few words, if the claim is known not to hold; empty otherwise.
        declared: the findings that a printed reading is known to show, all of them; any other is news.
        space: where the claim must hold, for the search.
        quick: part of the default ``dpassay audit`` (the others run with ``--all``).
    """

    id: str
    reading: Reading
    title: str
    cite: Cite
    claim: PrivacyClaim
    build: Callable[[], Instance]
    variant: str = ""
    data: str = ""
    completions: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    known: str = ""
    declared: tuple[Declared, ...] = ()
    space: Callable[[], Space] | None = None
    quick: bool = True

    def __post_init__(self) -> None:
        require(self.id.count("/") == 1, "case id", self.id, "must be paper/algorithm")
        require(self.reading == "printed" or not self.known, "known", self.known, "is for printed readings")
        require(self.reading == "printed" or not self.declared, "declared", self.declared, "is for printed readings")

    @property
    def key(self) -> str:
        """Unique name: ``id[:variant]@reading``."""
        return f"{self._instance}@{self.reading}"

    @cached_property
    def unreached(self) -> Reasons:
        """Releases and decisions that no run of this case comes to, and why: what is missed beyond these is said."""
        return written_of(self.key, "unreached")

    @cached_property
    def attainable(self) -> Reasons:
        """By label how far a query can move that never moves by all it declares, and why."""
        return written_of(self.key, "attainable")

    @property
    def paper(self) -> str:
        """What the id begins with: the key of a paper, or ``baselines``."""
        return self.id.partition("/")[0]

    @property
    def names(self) -> tuple[str, ...]:
        """What finds it: paper, id, key, and the key without its reading."""
        return (self.paper, self.id, self.key, self._instance)

    @property
    def _instance(self) -> str:
        return f"{self.id}:{self.variant}" if self.variant else self.id


@cache
def _written() -> dict[str, Any]:
    return parse_toml(read_text(Path(__file__).with_name("written.toml"), "reasons"), "written.toml")


def written_of(key: str, what: str) -> Reasons:
    """The reasons of a row, ``unreached`` or ``attainable``."""
    entries = [entry for entry in _written()["rows"] if any(fnmatchcase(key, pattern) for pattern in entry["keys"])]
    found = [entry.get(what, {}) for entry in entries]
    if what == "unreached":  # sets of them, by name
        found = [_written()[what][name] for names in found for name in names]
    return {place: why for one in found for place, why in one.items()}


def reason(label: str, reasons: Reasons) -> str:
    """What is said of a label: under its own name, or under the part before its last slash; empty if nothing is.

    >>> reason("x/3", {"x": "at most 0.98"})
    'at most 0.98'
    """
    return reasons.get(label, reasons.get(label.rpartition("/")[0], ""))


def facts_of(public: Any, **names: str) -> Facts:
    """Numbers of a schedule, or of sizes, each under the name that the paper has for it."""
    return {name: getattr(public, field) for name, field in names.items()}


def bind(run: Callable[..., Any], schedule: Any) -> Callable[[Any, Tape], Any]:
    """``run(problem, schedule, tape)`` with its schedule bound in (picklable, for parallel workers)."""
    return partial(_call, run, schedule)


def _call(run: Callable[..., Any], schedule: Any, problem: Any, tape: Tape) -> Any:
    return run(problem, schedule, tape)


def unscheduled(mechanism: Callable[[Any, Tape], Any]) -> Callable[[Any, Any, Tape], Any]:
    """``mechanism(problem, tape)`` as ``run(problem, schedule, tape)``, which ignores its schedule."""
    return partial(_unscheduled, mechanism)


def _unscheduled(mechanism: Callable[[Any, Tape], Any], problem: Any, schedule: Any, tape: Tape) -> Any:
    return mechanism(problem, tape)
