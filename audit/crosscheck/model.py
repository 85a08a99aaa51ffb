"""The form of a vector and of answers, as models: the published schema is made from them, files are held to them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from dpassay.audit.plain import checked
from dpassay.reference.errors import require

FORMAT = 3
Word = Literal["infinity", "-infinity", "nan"]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)] | Annotated[int, Field(strict=True)] | Word
Text = Annotated[str, Field(max_length=10_000)]


class _Open(BaseModel):
    """New fields may come: a reader should ignore those that it does not know."""

    model_config = ConfigDict(extra="allow")


class Claim(_Open):
    """What is claimed of the run."""

    epsilon: Number
    delta: Number
    relation: Literal["replace-one", "add-remove"]


class Release(_Open):
    """A value that leaves: its law, the query and the noise scale to be computed, and the value to go on with."""

    event: Literal["release"]
    label: Text
    law: Text
    sensitivity: Number | None
    batches: list[int]
    value: Any
    rounding: dict[str, Number] = Field(default_factory=dict)


class Drawn(_Open):
    """Records that take part: their numbers are given."""

    event: Literal["draw"]
    label: Text
    kind: Literal["without-replacement", "poisson", "fresh"]
    n: int
    indices: list[int]


class Noted(_Open):
    """A value without a mechanism; ``noise`` has the scale ``std``, ``reveal`` is computed and compared."""

    event: Literal["public", "secret", "noise", "reveal"]
    label: Text
    value: Any
    rounding: dict[str, Number] = Field(default_factory=dict)


Event = Annotated[Release | Drawn | Noted, Field(discriminator="event")]


class Vector(_Open):
    """One run (or one input to refuse) with everything that is needed to compute it."""

    format: Literal[3]
    id: Text
    case: Text
    algorithm: Text
    claim: Claim
    flags: list[Text]
    expect: Literal["run", "refused"]
    problem: Any
    schedule: Any
    events: list[Event]
    output: Any
    rounding: Number
    float32: bool


class Answered(_Open):
    """One event of another implementation: what it asked for, under the names of the vector."""

    event: Text
    label: Text


class Answers(_Open):
    """What ``crosscheck compare`` reads."""

    events: list[Answered]
    output: Any
    claim: Claim | None = None


_VECTOR, _ANSWERS = TypeAdapter(Vector), TypeAdapter(Answers)


def check_vector(document: Any, where: str) -> dict[str, Any]:
    """The document itself, if it is a vector; :class:`BadInput` naming the first wrong field otherwise."""
    found = json_object(document, where)
    good = found.get("format") == FORMAT and type(found["format"]) is int
    require(good, f"{where}: format", found.get("format"), f"must be {FORMAT}; export it again")
    checked(_VECTOR, found, where)
    return found


def check_answers(document: Any, where: str) -> dict[str, Any]:
    """The document itself, if it holds answers; :class:`BadInput` otherwise."""
    found = json_object(document, where)
    require("output" in found, f"{where}: output", None, "is missing: it is compared as well")
    checked(_ANSWERS, found, where)
    return found


def check_file(document: Any, where: str) -> None:
    """A file of many vectors has ``cases`` and ``vectors``."""
    good = isinstance(document, dict) and isinstance(document.get("cases"), dict)
    rows = document.get("vectors") if good else None
    good = isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
    require(good, where, type(document).__name__, 'must be an object with "cases" and a list of "vectors"')


def json_object(document: Any, where: str) -> dict[str, Any]:
    """The document itself, if it is an object; :class:`BadInput` otherwise."""
    require(isinstance(document, dict), where, type(document).__name__, "must be a JSON object")
    return dict(document)


def vector_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a vector; in a file of many, what ``cases`` says of a row is left out of its vectors."""
    found = _VECTOR.json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:dpassay:vector:{FORMAT}",
        **found,
        "title": "dpassay test vector",
    }
