"""What the audit suite works on: one algorithm, one reading, one schedule, one pair of neighbours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from dpassay.reference.accounting.cost import Account, account
from dpassay.reference.accounting.sampled import Relation

from .errors import require, require_budget
from .neighbours import Pair
from .papers import Cite
from .tape import LiveTape, ScriptedTape, Tape
from .transcript import Transcript

Reading = Literal["printed", "repaired", "baseline"]


@dataclass(frozen=True)
class PrivacyClaim:
    """What the paper or the author states: (epsilon, delta), for which neighbours, where."""

    epsilon: float
    delta: float
    cite: Cite
    relation: Relation = "replace-one"

    def __post_init__(self) -> None:
        require_budget(self.epsilon, self.delta, pure=True)


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
        run: ``run(problem, tape) -> output``, schedule bound in. The output must be public.
        pair: the neighbours; ``pair.here`` is also the problem that is solved.
        longest: for algorithms that may stop early: answers (label, law, step) -> value or None (draw it) under which
            the most releases happen, so that the accountant sees all that the algorithm may spend.
        facts: named numbers worth showing (constants, sizes), in order.
        exact: the exact cost of something that the algorithm gives away, where a closed form is known.
    """

    run: Callable[[Any, Tape], Any]
    pair: Pair[Any]
    longest: Callable[[str, Any, int], Any] | None = None
    facts: dict[str, float | int | str] = field(default_factory=dict)
    exact: ExactDelta | None = None

    def longest_transcript(self, seed: int = 0) -> Transcript:
        """The transcript of the run that spends the most."""
        tape: LiveTape = ScriptedTape(self.longest, seed) if self.longest else LiveTape(seed)
        tape.transcript.output = self.run(self.pair.here, tape)
        return tape.transcript

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
    quick: bool = True

    def __post_init__(self) -> None:
        require(self.id.count("/") == 1, "case id", self.id, "must be paper/algorithm")
        require(self.reading == "printed" or not self.known, "known", self.known, "is for printed readings")

    @property
    def key(self) -> str:
        """Unique name: ``id[:variant]@reading``."""
        return f"{self.id}{':' + self.variant if self.variant else ''}@{self.reading}"


def bind(run: Callable[..., Any], schedule: Any) -> Callable[[Any, Tape], Any]:
    """``run(problem, schedule, tape)`` with its schedule bound in (picklable, for parallel workers)."""
    return partial(_call, run, schedule)


def _call(run: Callable[..., Any], schedule: Any, problem: Any, tape: Tape) -> Any:
    return run(problem, schedule, tape)
