"""Vectors: their form, from which the published schema is made, and their files.

The committed ones are one file an algorithm, and a manifest with counts and hashes.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
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


_VECTOR, _ANSWERS, _FILE = TypeAdapter(Vector), TypeAdapter(Answers), TypeAdapter(VectorFile)


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


# files ---------------------------------------------------------------------------------------------------------------

FOLDER = Path(__file__).with_name("vectors")
#: what a red vector points to: the likely bug, and its effect on epsilon
FLAGS = files.parse_toml(files.read_text(Path(__file__).with_name("flags.toml"), "flags"), "flags.toml")
OF_CASE = ("algorithm", "source", "reading", "title", "cite", "claim", "noise", "readings")  # once for all of a row
Data = dict[str, Any]  # a vector as it is read


def canonical(document: Any) -> str:
    """JSON with sorted keys and the shortest floats that round-trip."""
    return json.dumps(document, sort_keys=True, allow_nan=False, ensure_ascii=False)


def texts(vectors: Iterable[Data]) -> dict[str, str]:
    """The content of every file: by its name below the folder, the manifest among them."""
    found: dict[str, str] = {}
    counts: dict[str, dict[str, Any]] = {}
    flags: Counter[str] = Counter()
    for algorithm, group in groupby(vectors, lambda vector: str(vector["algorithm"])):
        members, name = list(group), f"{algorithm}.json"
        text, path = _file(algorithm, members), FOLDER / name
        old = path.read_text(encoding="utf-8") if path.is_file() else ""
        # it is kept if it says the same up to the last digits, in which machines differ
        found[name] = old if old and _alike(json.loads(old), json.loads(text)) else text
        refused = sum(vector["expect"] == "refused" for vector in members)
        digest = hashlib.sha256(found[name].encode()).hexdigest()
        counts[name] = {"vectors": len(members), "refused": refused, "sha256": digest}
        flags.update(flag for vector in members for flag in vector["flags"])
    unknown = sorted(flags.keys() - FLAGS.keys())
    require(not unknown, "flags", unknown, "must be told in flags.toml")
    whole = hashlib.sha256("".join(counts[name]["sha256"] for name in sorted(counts)).encode()).hexdigest()
    manifest = {
        "format": FORMAT,
        "vectors": sum(one["vectors"] for one in counts.values()),
        "sha256": whole,
        "files": counts,
        "flags": {name: {**one, "vectors": flags[name]} for name, one in FLAGS.items()},
    }
    found["manifest.json"] = json.dumps(manifest, sort_keys=True, indent=1) + "\n"
    return found


def _alike(old: Any, new: Any) -> bool:
    if float in (kinds := {type(old), type(new)}) and kinds <= {int, float}:  # a whole number may come back as 2.0
        return math.isclose(old, new, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(old, dict) and isinstance(new, dict):  # how far rounding may go is of the last digits itself
        return old.keys() == new.keys() and all(name == "rounding" or _alike(old[name], new[name]) for name in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_alike, old, new))
    return type(old) is type(new) and bool(old == new)


def _file(algorithm: str, vectors: Sequence[Data]) -> str:
    cases = {vector["case"]: {name: vector[name] for name in OF_CASE} for vector in vectors}
    rows = [{name: entry for name, entry in vector.items() if name not in OF_CASE} for vector in vectors]
    start = f'{{"format": {FORMAT}, "algorithm": "{algorithm}",\n"cases": {{\n'
    said = ",\n".join(f"{json.dumps(key)}: {canonical(case)}" for key, case in cases.items())
    return f'{start}{said}\n}},\n"vectors": [\n' + ",\n".join(canonical(row) for row in rows) + "\n]}\n"


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
