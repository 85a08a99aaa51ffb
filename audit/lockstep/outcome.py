"""What comes out of a lockstep run: loss, weights, movements and findings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Finding, Kind
from dpassay.reference.laws.law import Law
from dpassay.reference.transcript import Transcript

from .source_lines import place_raised

WHOLE = 0.95  # share of what is claimed from which on a query counts as moved by all of it


@dataclass(eq=False)
class Movement:
    """How far the pair moves the queries of one label, against what the algorithm claims they can move.

    A scale, and a claim with it, may follow released values: the release that is kept is the one that used the largest
    share of its own claim. Where nothing is claimed, it is the one that was moved the furthest.

    Args:
        moved: how far that release was moved.
        claimed: its sensitivity.
        joined: twice how far a record that joins a Poisson batch moves a query, over its sensitivity: the largest.
        releases: how many there were.
        whole: how many of them were moved by all that they claim.
    """

    moved: float = 0.0
    claimed: float | None = None
    joined: float = 0.0
    releases: int = 0
    whole: int = 0

    @property
    def share(self) -> float:
        """Moved distance over claimed sensitivity (0 where nothing is claimed)."""
        return self.moved / self.claimed if self.claimed else 0.0

    def with_other(self, other: Movement) -> Movement:
        """The larger of two, in each respect; of equal ones the other; the releases of both."""
        larger = self if (self.share, self.moved) > (other.share, other.moved) else other
        releases, whole = self.releases + other.releases, self.whole + other.whole
        return Movement(larger.moved, larger.claimed, max(self.joined, other.joined), releases, whole)


@dataclass(eq=False)
class LockstepRun:
    """What one lockstep run showed.

    ``loss`` is the exact privacy loss (``inf`` after a release without noise) of a run that was ``complete``;
    ``log_weights[c]`` is ``log dP_D / dR_c`` for tilt ``c``. ``inexact`` is empty, or says why the loss is only that of
    a stronger adversary (who also sees the batches or the inner randomness).
    """

    loss: float = 0.0
    log_weights: Array = field(default_factory=lambda: np.zeros(1))
    findings: list[Finding] = field(default_factory=list)
    complete: bool = False
    inexact: str = ""
    movements: defaultdict[str, Movement] = field(default_factory=lambda: defaultdict(Movement))
    output: Any = None


class NotJudged(BadInput):
    """Raised by a run that cannot be judged at all (a program that does not keep to its protocol): no outcome of it."""


class Raised:
    """How a run ended that raised: the type of the exception is an output, and must agree; its text need not."""

    def __init__(self, name: str, text: str):
        self.name, self.text = name, text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Raised) and self.name == other.name

    __hash__ = None  # type: ignore[assignment]


def caught(run: Callable[..., Any], *given: Any) -> Any:
    """A run whose exceptions are its end: that one side alone ends so is a finding, and not the end of the audit."""
    try:
        return run(*given)
    except NotJudged:
        raise
    except Exception as error:
        head = f"{type(error).__name__}{place_raised(error)}"
        return Raised(type(error).__name__, f"{head}: {' '.join(str(error).split())}")


@dataclass(frozen=True)
class Seen:
    """The two queries of a finding, or the parts of the outputs that differ; None where it is about neither."""

    here: Array | None = None
    there: Array | None = None


@dataclass(eq=False)
class ScriptedRun(LockstepRun):
    """What a scripted run showed, beside its findings and movements.

    Args:
        transcript: of D, with the target where the script puts it.
        shares: by label the largest moved distance over its declared sensitivity.
        separation: root of the sum of (moved / noise scale, times the sampling rate) squared: a rank, no bound.
        moves: how far the pair moves the query of each release, in order.
        joins: how far each side's record moves it that joins a Poisson batch, in order; None where half of a move does
            not count.
        there: the laws of the releases on D'.
        seen: where each finding was made, by (kind, label).
        raised: the exception that ended the run (the same in all worlds), with its line; empty if none.
        too_long: the run was cut off.
    """

    transcript: Transcript = field(default_factory=Transcript)
    shares: dict[str, float] = field(default_factory=dict)
    separation: float = 0.0
    moves: list[float] = field(default_factory=list)
    joins: list[tuple[float, float] | None] = field(default_factory=list)
    there: list[Law] = field(default_factory=list)
    seen: dict[tuple[Kind, str], Seen] = field(default_factory=dict)
    raised: str = ""
    too_long: bool = False
