"""What a comparison shows, as a record: the kind of difference, what was seen, the numbers; a text only to print it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from .kinds import Kind


class Seen(Enum):
    """What was seen. The value is how a person is told, with the fields of :class:`Shown`."""

    OTHER_CALL = "{got!r} where {expected!r} is expected"
    DRAW_LEFT_OUT = "{expected!r} is left out"
    CALL_OF_LATER = "{got!r} where {expected!r} is expected: the vector has it at step {step}"
    CALL_OF_BEFORE = "{got!r} where {expected!r} is expected: the vector had it at step {step} for the last time"
    OTHER_COUNT = "{got} events, {expected} expected"
    OTHER_VALUE = "{got} for {expected}"
    OTHER_FIELD = "{name} {got} for {expected}"
    OTHER_LENGTH = "{got} numbers for {expected}"
    NO_NOISE = "no noise"
    NO_NOISE_AT_FIRST = "none here, and another amount later on"
    RATIO = "ratio {ratio}{from_sizes}"
    VARIANCE = "the variance where the standard deviation belongs"
    ROOT = "the root of the standard deviation"
    NOISE_FOLLOWS = "ratio {ratio}; the noise is computed from it, and off by the same ratio"
    ROUNDED = "off by at most {got:.2g}, {ratio} of the noise"
    ROUNDED_ALONE = "{got:.2g}"
    EVERY_SIGN = "every entry has the other sign"
    SOME_SIGNS = "the sign of some entries"
    EVERY_ENTRY = "every entry is off by the factor {ratio}{from_sizes}"
    ENTRIES_AND_SIGN = "every entry and the sign is off by the factor {ratio}{from_sizes}"
    MOVED_ALONG = "the entries are moved along"
    REORDERED = "the entries are in another order"  # three and more: no chance
    EXCHANGED = "two entries are exchanged"
    QUERY_OF_STEP = "the query of step {step}"
    MULTIPLE_MISSING = "what is missing is a multiple of the {name} of {got!r}"
    OUTPUT_SIGN = "the output has the other sign"
    OUTPUT_FACTOR = "the output is off by the factor {ratio}"
    OTHER_RECORDS = "{name}"  # for which the reference asks for the same
    GOES_ON_WITH = "it goes on with {name}{or_with}"


@dataclass(frozen=True)
class Shown:
    """One thing that points to a kind of difference.

    Args:
        kind: what it points to.
        seen: what was seen.
        name: the field, the records, or the value that it is about.
        expected, got: as in :class:`~.differences.Difference`.
        ratio: got over expected; None where it is unknown.
        sizes: sizes of the vector, and small numbers, that this ratio may come from.
        step: of the vector's event that it is about.
        others: what else explains it.
    """

    kind: Kind
    seen: Seen
    name: str = ""
    expected: Any = None
    got: Any = None
    ratio: float | None = None
    sizes: tuple[str, ...] = ()
    step: int | None = None
    others: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.seen.value.format(
            name=self.name, expected=self.expected, got=self.got, step=self.step, ratio=ratio_text(self.ratio),
            from_sizes=f" ({' or '.join(self.sizes)})" if self.sizes else "",
            or_with=f" (or {' or '.join(self.others)})" if self.others else "",
        )  # fmt: skip

    def same_factor(self, other: Shown) -> bool:
        """The same factor, as far as it is printed, which may come from the same sizes."""
        return (self.kind, self.seen, ratio_text(self.ratio), self.sizes) == (
            other.kind, other.seen, ratio_text(other.ratio), other.sizes)  # fmt: skip


def ratio_text(ratio: float | None) -> str:
    """Six digits."""
    return "unknown" if ratio is None else f"{ratio:.6g}"
