"""Released values that are chosen, not drawn: a property that must hold for all values may be tried on any of them.

A :class:`Script` says, by label and occurrence, what the tape hands back, and which secret batches the target record is
in. It is plain data: the same script, pair and seed give the same run again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Protocol

import numpy as np
from pydantic import ConfigDict, Field, StrictBool

from dpassay.reference.arrays import norm
from dpassay.reference.laws.law import Law, as_released
from dpassay.reference.transcript import Draw

How = Literal["query", "zero", "drawn", "opposite", "norm", "huge", "repeat", "index"]
Along = Literal["query", "axis", "last", "aside"]
ALONG: Mapping[Along, str] = {
    "query": "the query of D",
    "axis": "the first axis",
    "last": "the last axis",
    "aside": "an axis across the query of D",
}
_HUGE = 1e6  # times the noise and the query: far beyond every threshold, and squares of it are finite


@dataclass(frozen=True)
class Choice:
    """One released value.

    Args:
        how: ``query`` (that of D: no noise), ``zero``, ``drawn`` from the law, ``opposite`` to the query, of 2-``norm``
            ``size``, ``huge``, a ``repeat`` of the value before under this label, or the outcome with this ``index``.
        size: the norm (``norm``), in the units of the release; below zero: in the opposite direction.
        along: direction of a ``norm`` or ``huge`` value: the query's, the first or the last axis, or across the query.
        index: of an outcome, where there are finitely many; -1 is the last (``None`` of AboveThreshold).
    """

    how: How = "query"
    size: Annotated[float, Field(strict=True, ge=-1e300, le=1e300)] = 0.0
    along: Along = "query"
    index: Annotated[int, Field(strict=True, gt=-(10**9), lt=10**9)] = 0
    __pydantic_config__ = ConfigDict(extra="forbid")  # as it is read from a file

    def __str__(self) -> str:
        if self.how == "norm":
            return f"of norm {abs(self.size):.6g} {'against' if self.size < 0 else 'along'} {ALONG[self.along]}"
        texts = {"query": "equal to the query of D", "opposite": "opposite to the query of D", "drawn": "drawn"}
        if self.how == "index":
            return f"outcome {self.index}"
        return texts.get(self.how, self.how)


DRAWN = Choice("drawn")


class Dictation(Protocol):
    """Who chooses: a :class:`Script`, or a search that makes it up as the run goes on."""

    def choice(self, label: str, occurrence: int, law: Law) -> Choice:
        """The value of release number ``occurrence`` (from 0) under this label."""

    def takes_part(self, draw: Draw) -> bool:
        """Is the target record in this secret batch?"""


@dataclass(frozen=True)
class Script:
    """Choices by label: one for all occurrences, and exceptions by occurrence.

    Args:
        values: label to choice; a label that is missing is drawn.
        exceptions: label to occurrence to choice.
        takes_part: is the target in secret draw k; draws beyond its end: as ``beyond``.
    """

    values: Mapping[str, Choice] = field(default_factory=dict)
    exceptions: Mapping[str, Mapping[Annotated[int, Field(ge=0, lt=10**9)], Choice]] = field(default_factory=dict)
    participation: tuple[StrictBool, ...] = ()
    beyond: StrictBool = True
    __pydantic_config__ = ConfigDict(extra="forbid")  # as it is read from a file

    def choice(self, label: str, occurrence: int, law: Law) -> Choice:
        """See :class:`Dictation`."""
        return self.exceptions.get(label, {}).get(occurrence, self.values.get(label, DRAWN))

    def takes_part(self, draw: Draw) -> bool:
        """See :class:`Dictation`."""
        return self.participation[draw.number] if draw.number < len(self.participation) else self.beyond

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "values": {label: _plain(choice) for label, choice in self.values.items()},
            "exceptions": {
                label: {str(occurrence): _plain(choice) for occurrence, choice in choices.items()}
                for label, choices in self.exceptions.items()
            },
            "participation": list(self.participation),
            "beyond": self.beyond,
        }


def _plain(choice: Choice) -> dict[str, Any]:
    told = {"norm": ("how", "size", "along"), "huge": ("how", "along"), "index": ("how", "index")}
    return {name: getattr(choice, name) for name in told.get(choice.how, ("how",))}


def dictated(choice: Choice, law: Law, before: Any, rng: np.random.Generator) -> Any:
    """The value that ``choice`` stands for under ``law``; drawn where it has no meaning there, or no probability."""
    if law.is_finite:
        if choice.how != "index" and (choice.how != "repeat" or before is None):
            return law.sample(rng)
        value = law.nth(choice.index) if choice.how == "index" else before
        return value if law.happens(value) else law.sample(rng)
    query, scale = law.query, law.scale
    if query is None or choice.how in ("drawn", "index"):
        return law.sample(rng)
    if choice.how == "query" or not scale > 0:  # without noise nothing else can come out
        return law.possible(as_released(query.copy()))
    if choice.how == "zero":
        return law.possible(as_released(np.zeros_like(query)))
    if choice.how == "opposite":
        return law.possible(as_released(-query))
    if choice.how == "repeat":
        return law.possible(before) if before is not None and np.shape(before) == query.shape else law.sample(rng)
    length = norm(query)
    size = choice.size if choice.how == "norm" else _HUGE * (length + scale)
    return law.possible(as_released(size * _direction(query, length, choice.along)))


def _direction(query: Any, length: float, along: Along) -> Any:
    if along == "query" and length > 0:
        return query / length
    axis = np.zeros_like(query)
    flat, place = query.ravel(), 0
    if flat.size == 0:  # a program may ask for nothing
        return axis
    if along == "last":
        place = flat.size - 1
    elif along == "aside":
        place = int(np.argmin(np.abs(flat)))
    axis.ravel()[place : place + 1] = 1.0
    if along == "aside" and flat.size > 1 and length > 0:
        axis = axis - float(np.sum(axis * query)) / length**2 * query
        axis /= norm(axis)
    return axis
