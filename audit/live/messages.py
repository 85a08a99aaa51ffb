"""The lines of the live protocol as types; ``docs/schemas/live.schema.json`` is made of them.

A program answers ``hello`` with a :class:`Greeting`. Within a case it says :class:`Ask` lines, one at a time, each of
which gets one answer, and in the end :class:`Output`. The fields of an ask for a law are those of the law
(``reference/laws``), with the same names; ``ObjectivePerturbation`` alone cannot be asked for: it is made of functions.
"""

import math
import re
from dataclasses import fields
from typing import Annotated, Any, Literal, Union

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, WithJsonSchema
from pydantic import create_model as model_of
from pydantic_core import from_json

from dpassay.audit.plain import NOT_FINITE, array_of, in_words, number_of
from dpassay.audit.running.programs import ProgramBroken
from dpassay.reference.arrays import Array
from dpassay.reference.errors import printable, require
from dpassay.reference.laws import bingham, categorical, intervals, number
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Law

VERSION = 1
_BARE = re.compile(rb"[:\[,]\s*-?(inf|nan)\b", re.IGNORECASE)  # as printf writes it
NUMBERS = "numbers"  # the title by which the schema finds its definition


def _array(value: Any) -> Array:
    """Numbers of a message; strings and null stand for what is not finite."""
    found = array_of(value, np.nan)
    if found is None:
        raise ValueError("lists of different lengths, or no numbers" if isinstance(value, list) else "no number")
    return found


Numbers = Annotated[Any, BeforeValidator(_array), WithJsonSchema({"title": NUMBERS})]
Number = Annotated[
    float,
    BeforeValidator(number_of),  # what is not finite is refused by the tape, as a query is: it ends that run only
    WithJsonSchema({"anyOf": [{"type": "number"}, {"enum": [*NOT_FINITE]}]}),
]
Label = Annotated[str, Field(min_length=1, max_length=200)]
Size = Annotated[int, Field(ge=0, le=10**7)]  # of data, batches, shapes: the harness keeps lists of that length
Queries = Annotated[int, Field(ge=0, le=10**5)]
Shape = Annotated[list[Size], Field(max_length=8)]


class Message(BaseModel):
    """One line of the program: nothing is converted, and nothing unknown is passed over."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Release(Message):
    """What every release says."""

    label: Label
    sensitivity: Number | None
    batches: list[Size] = []  # numbers of the draws that the query depends on; none: all records


class Greeting(Message):
    """The answer to ``hello``."""

    dpassay: int
    program: Annotated[str, Field(max_length=200)] = ""
    again: bool = False  # it keeps problem and schedule, and understands {"do": "again"}


class AboveThreshold(Release):
    """Release the number of the first noisy query at or above the noisy threshold, or null."""

    ask: Literal["above_threshold"]
    count: Queries
    threshold: Number
    threshold_scale: Number
    query_scale: Number
    falls: Number = 1.0


_LAWS: dict[str, type[Law]] = {
    "gaussian": Gaussian,
    "laplace": Laplace,
    "geometric": number.Geometric,
    "discrete_gaussian": number.DiscreteGaussian,
    "truncated_laplace": number.TruncatedLaplace,
    "folded_laplace": number.FoldedLaplace,
    "bounded_laplace": number.BoundedLaplace,
    "truncated_geometric": number.TruncatedGeometric,
    "folded_geometric": number.FoldedGeometric,
}
LARGEST_TABLE = 10_000  # scale of a discrete Gaussian: its probabilities are tabulated over 80 scales
Candidates = Annotated[list[Number], Field(min_length=1, max_length=10_000)]
FewCandidates = Annotated[list[Number], Field(min_length=1, max_length=500)]  # the time grows with their cube
Matrix = Annotated[
    list[Annotated[list[Number], Field(min_length=2, max_length=200)]], Field(min_length=2, max_length=200)
]


def _asks_for(ask: str, law: type[Any]) -> type[Release]:
    """A release by this law: every field of the law is a field of the ask."""
    kinds: dict[str, Any] = {one.name: (Number, ...) for one in fields(law)}
    what = "a number"
    if not issubclass(law, number.Number):
        kinds["query"], what = (Numbers, ...), "numbers"
    if law is number.DiscreteGaussian:
        kinds["scale"] = (Annotated[Number, Field(le=LARGEST_TABLE)], ...)
    said = f"Release {what} by this law: {(law.__doc__ or '').splitlines()[0]}"
    kinds = {"ask": (Literal[ask], ...), **kinds}
    return model_of(law.__name__, __base__=Release, __doc__=said, **kinds)


class Exponential(Release):
    """Release the number of a candidate, with probability in proportion to ``exp(rate * utility)``."""

    ask: Literal["exponential"]
    utilities: Candidates
    rate: Number
    monotonic: bool = False  # adding a record moves all utilities in one direction


class PermuteAndFlip(Release):
    """Release the number of a candidate by permute-and-flip: ``exp(rate * (utility - largest))`` is its coin."""

    ask: Literal["permute_and_flip"]
    utilities: FewCandidates
    rate: Number
    monotonic: bool = False


class Categorical(Release):
    """Release a number from 0 with these log probabilities: randomised response, say."""

    ask: Literal["categorical"]
    log_probabilities: Candidates


class Intervals(Release):
    """Release a number: its density is in proportion to ``exp(rate * utilities[i])`` from ``edges[i]`` to the next."""

    ask: Literal["intervals"]
    edges: Annotated[list[Number], Field(min_length=2, max_length=10_001)]
    utilities: Candidates
    rate: Number


class Bingham(Release):
    """Release a unit vector v with density in proportion to ``exp(rate * v' A v)``, A the symmetric ``query``."""

    ask: Literal["bingham"]
    query: Matrix
    rate: Number


LAW_ASKS: tuple[type[Release], ...] = (
    *(_asks_for(ask, law) for ask, law in _LAWS.items()),
    *(Exponential, PermuteAndFlip, Categorical, Intervals, Bingham),
)


def law_of(said: Any) -> Law:
    """The law that an ask of :data:`LAW_ASKS` names; BadInput for numbers that make no such law."""
    if said.ask in _LAWS:
        law: Any = _LAWS[said.ask]
        return law(**{one.name: getattr(said, one.name) for one in fields(law)})  # type: ignore[no-any-return]
    if isinstance(said, Exponential | PermuteAndFlip):
        choice = categorical.exponential if isinstance(said, Exponential) else categorical.permute_and_flip
        return choice(said.utilities, said.rate, monotonic=said.monotonic)
    if isinstance(said, Categorical):
        return categorical.Categorical(tuple(range(len(said.log_probabilities))), np.array(said.log_probabilities))
    if isinstance(said, Intervals):
        require(0 <= said.rate < math.inf, "rate", said.rate, "must be finite and not negative")
        require(bool(np.isfinite(said.utilities).all()), "utilities", said.utilities, "must be finite")
        return intervals.Intervals(np.array(said.edges), np.array(said.utilities), said.rate)
    assert isinstance(said, Bingham)
    rows = {len(row) for row in said.query}
    require(rows == {len(said.query)}, "query", sorted(rows), f"must have {len(said.query)} numbers in each row")
    return bingham.Bingham(np.array(said.query), said.rate)


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


ASKS: tuple[type[Message], ...] = (*LAW_ASKS, AboveThreshold, Batch, Poisson, Fresh, Random, Noise, Reveal)
GREETING: TypeAdapter[Greeting] = TypeAdapter(Greeting)
_ONE_OF: Any = Union[ASKS]  # noqa: UP007
_ASK: Any = Annotated[_ONE_OF, Field(discriminator="ask")]
ASK: TypeAdapter[Any] = TypeAdapter(_ASK)
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

    Malformed names the line or its first wrong field.
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
        if first["type"] == "union_tag_not_found":
            raise Malformed(f"said {_short(line)}, which is neither an ask nor an output (docs/live.md)") from None
        place = ".".join(str(part) for part in first["loc"] if part != data.get("ask"))
        raise Malformed(f"said {_short(line)}: {f'{place}: ' if place else ''}{in_words(first)}") from None


def _short(line: bytes) -> str:
    text = printable(line[:200].decode(errors="replace"))
    return repr(text if len(text) <= 80 else text[:77] + "...")


# what a program says of a whole case, as a run raises it
class ProgramUnsupported(ProgramBroken, NotImplementedError):
    """The program does not know this algorithm or this problem, says so, and waits for the next case."""


class ProgramRefused(ValueError):
    """The program refused its input (a schedule that makes no sense, say), and waits for the next case."""

    def __init__(self, why: str):
        super().__init__(printable(why))
