"""The lines of the live protocol as types; ``docs/schemas/live.schema.json`` is made of them.

A program answers ``hello`` with a :class:`Greeting`. Within a case it says :class:`Ask` lines, one at a time, each of
which gets one answer, and in the end :class:`Output`.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from dpassay.reference.errors import printable
from dpassay.reference.types import Array

from .fields import NOT_FINITE, Label, Message, Number, Numbers, Queries, Release, Shape, Size
from .laws import OtherLaw

VERSION = 1
_BARE = re.compile(rb"[:\[,]\s*-?(inf|nan)\b", re.IGNORECASE)  # as printf writes it


class Greeting(Message):
    """The answer to ``hello``."""

    dpassay: int
    program: Annotated[str, Field(max_length=200)] = ""
    again: bool = False  # it keeps problem and schedule, and understands {"do": "again"}


class Gaussian(Release):
    """Release ``query + N(0, std^2 I)``; the sensitivity is in the 2-norm."""

    ask: Literal["gaussian"]
    query: Numbers
    std: Number


class Laplace(Release):
    """Release ``query + Laplace(scale)`` in each coordinate; the sensitivity is in the 1-norm."""

    ask: Literal["laplace"]
    query: Numbers
    scale: Number


class AboveThreshold(Release):
    """Release the number of the first noisy query at or above the noisy threshold, or null."""

    ask: Literal["above_threshold"]
    count: Queries
    threshold: Number
    threshold_scale: Number
    query_scale: Number
    falls: Number = 1.0


class Batch(Message):
    """``size`` of ``n`` records without replacement."""

    ask: Literal["batch"]
    label: Label
    n: Size
    size: Size


class Poisson(Message):
    """Each of ``n`` records with probability ``rate``."""

    ask: Literal["poisson"]
    label: Label
    n: Size
    rate: Number


class Fresh(Message):
    """``size`` of ``n`` records that no earlier fresh batch of this case used."""

    ask: Literal["fresh"]
    label: Label
    n: Size
    size: Size
    order: Literal["random", "index"] = "random"


class Random(Message):
    """Randomness without a mechanism: ``public`` may be published, ``secret`` never is."""

    ask: Literal["public", "secret"]
    label: Label
    draw: Literal["normal", "uniform", "integers", "permutation", "sphere", "ball"]
    shape: Shape = Field([])
    below: Annotated[int, Field(ge=1, le=2**62)] = 1  # of integers: 0 .. below - 1; of a permutation: its length
    radius: Number = 1.0  # of sphere and ball


class Noise(Message):
    """Raw Gaussian noise: it protects nothing by itself."""

    ask: Literal["noise"]
    label: Label
    std: Number
    shape: Shape = Field([])


class Reveal(Message):
    """Publish a value without a mechanism."""

    ask: Literal["reveal"]
    label: Label
    value: Any


class Query(Message):
    """The answer to ``{"query": i}``: the value of query i of AboveThreshold."""

    query: Numbers


class Output(Message):
    """The end of a case."""

    output: Any


class Unsupported(Message):
    """The program does not know this algorithm or this problem."""

    unsupported: str


class Refused(Message):
    """The program refuses its input; it says so before it asks for a release, and waits for the next case."""

    refused: str


Draw = Batch | Poisson | Fresh
AnyAsk = Gaussian | Laplace | AboveThreshold | OtherLaw | Draw | Random | Noise | Reveal
Ask = Annotated[AnyAsk, Field(discriminator="ask")]
GREETING: TypeAdapter[Greeting] = TypeAdapter(Greeting)
ASK: TypeAdapter[AnyAsk] = TypeAdapter(Ask)
_ENDS: dict[str, TypeAdapter[Any]] = {
    "output": TypeAdapter(Output),
    "unsupported": TypeAdapter(Unsupported),
    "refused": TypeAdapter(Refused),
}
QUERY: TypeAdapter[Query] = TypeAdapter(Query)


class Malformed(ValueError):
    """A line that the protocol does not know; the text says why, in a few words, on one line without control codes."""

    def __init__(self, why: str):
        super().__init__(printable(why))


def read_line(line: bytes, what: TypeAdapter[Any] | None = None) -> Any:
    """The message that a line holds: of the type ``what``, or (None) an ask or the end of a case.

    Raises:
        Malformed: naming the line or its first wrong field.
    """
    try:
        data = from_json(line, allow_inf_nan=True)
    except ValueError as error:
        hint = '; what is not finite must be "infinity", "-infinity" or "nan"' if _BARE.search(line) else ""
        raise Malformed(f"said {_short(line)}, which is no line of JSON ({error}){hint}") from None
    if not isinstance(data, dict):
        raise Malformed(f"said {_short(line)}, which is no JSON object")
    if what is None:
        what = next((adapter for name, adapter in _ENDS.items() if name in data), ASK)
    try:
        return what.validate_python(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "union_tag_invalid":
            asked = _short(str(data["ask"]).encode())
            raise Malformed(f"asked for {asked}, which the protocol does not know (docs/live.md)") from None
        place = ".".join(str(part) for part in first["loc"] if part != data.get("ask"))
        raise Malformed(f"said {_short(line)}: {f'{place}: ' if place else ''}{first['msg']}") from None


def numbers(value: Any, place: str) -> Array:
    """Numbers of a message as an array; strings and null stand for what is not finite.

    Raises:
        Malformed: something else, or lists of different lengths.
    """
    try:
        found = np.asarray(value)
    except (ValueError, OverflowError):
        raise Malformed(f"{place}: lists of different lengths") from None
    if found.dtype.kind in "if":
        return found.astype(float)
    try:
        return np.array(_finite_or_not(value), dtype=float)
    except (TypeError, ValueError, KeyError, OverflowError):
        raise Malformed(f"{place}: {_short(repr(value).encode())} is no number and no list of numbers") from None


def _finite_or_not(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite_or_not(one) for one in value]
    if value is None:
        return np.nan
    if isinstance(value, bool):
        raise TypeError
    return NOT_FINITE[value] if isinstance(value, str) else value


def _short(line: bytes) -> str:
    text = printable(line[:200].decode(errors="replace"))
    return repr(text if len(text) <= 80 else text[:77] + "...")
