"""Vectors: their form, and their files.

The committed ones are one file an algorithm, and a manifest with counts and hashes.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from dpassay.audit.plain import checked
from dpassay.reference import files
from dpassay.reference.errors import BadInput, require

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


class VectorFile(_Open):
    """A file of many vectors, and what they say of their cases."""

    cases: dict[str, Any]
    vectors: list[dict[str, Any]]


VECTOR, _ANSWERS, _FILE = TypeAdapter(Vector), TypeAdapter(Answers), TypeAdapter(VectorFile)


def check_vector(document: Any, where: str) -> dict[str, Any]:
    """The document itself, if it is a vector; :class:`BadInput` naming the first wrong field otherwise."""
    found = json_object(document, where)
    good = found.get("format") == FORMAT and type(found["format"]) is int
    require(good, f"{where}: format", found.get("format"), f"must be {FORMAT}; export it again")
    checked(VECTOR, found, where)
    return found


def check_answers(document: Any, where: str) -> dict[str, Any]:
    """The document itself, if it holds answers; :class:`BadInput` otherwise."""
    found = json_object(document, where)
    require("output" in found, f"{where}: output", None, "is missing: it is compared as well")
    checked(_ANSWERS, found, where)
    return found


def json_object(document: Any, where: str) -> dict[str, Any]:
    """The document itself, if it is an object; :class:`BadInput` otherwise."""
    require(isinstance(document, dict), where, type(document).__name__, "must be a JSON object")
    return dict(document)


# files ---------------------------------------------------------------------------------------------------------------

FOLDER = Path(__file__).with_name("vectors")
#: what a red vector points to: the likely bug, and its effect on epsilon
FLAGS = files.parse_toml(files.read_text(Path(__file__).with_name("flags.toml"), "flags"), "flags.toml")
Data = dict[str, Any]  # a vector as it is read


def canonical(document: Any) -> str:
    """JSON with sorted keys and the shortest floats that round-trip."""
    return json.dumps(document, sort_keys=True, allow_nan=False, ensure_ascii=False)


def manifest() -> dict[str, Any]:
    """The committed manifest."""
    found: dict[str, Any] = files.read_json(FOLDER / "manifest.json", "vectors")
    return found


def load(algorithm: str = "") -> Iterator[Data]:
    """The committed vectors (of one algorithm, if named), in the order of their files, each complete.

    Raises:
        BadInput: no such algorithm, or a file that is not what the manifest says.
    """
    listed = manifest()["files"]
    names = sorted(listed) if not algorithm else [name for name in sorted(listed) if name == f"{algorithm}.json"]
    known = ", ".join(name.removesuffix(".json") for name in sorted(listed))
    require(bool(names), "--algorithm", algorithm, f"has no vectors; known: {known}")
    for name in names:
        data = files.read_bytes(FOLDER / name, "vectors")
        digest = hashlib.sha256(data).hexdigest()
        require(digest == listed[name]["sha256"], f"vectors/{name}", digest[:12], "is not what the manifest says")
        yield from _vectors(files.parse_json(data.decode(), name), name)


def read_vectors(path: Path) -> list[Data]:
    """The vectors of a file: one exported vector, or a file of many.

    Raises:
        BadInput: naming the file and the first field that is wrong.
    """
    document = json_object(files.read_json(path, "vector"), str(path))
    if "vectors" in document:
        return list(_vectors(document, f"vectors {path}"))
    return [check_vector(document, f"vector {path}")]


def _vectors(document: Any, where: str) -> Iterator[Data]:
    checked(_FILE, document, where)
    for position, row in enumerate(document["vectors"]):
        name = row.get("case")
        case = document["cases"].get(name) if isinstance(name, str) else None
        if not isinstance(case, dict):
            why = "is not among the file's cases, which are objects"
            raise BadInput(f"{where}: vectors[{position}].case", name, why)
        yield check_vector({**row, **case}, f"{where}: vectors[{position}]")
