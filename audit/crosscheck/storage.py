"""Vectors on disk: one file an algorithm, a manifest with counts and hashes, and single exported vectors."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from dpassay.reference import files
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import parse_toml, read_text

from .model import FORMAT, check_file, check_vector, json_object

FOLDER = Path(__file__).with_name("vectors")
#: what a red vector points to: the likely bug, and its effect on epsilon
FLAGS = parse_toml(read_text(Path(__file__).with_name("flags.toml"), "flags"), "flags.toml")
OF_CASE = ("algorithm", "source", "reading", "title", "cite", "claim", "noise", "readings")  # once for all of a row
Vector = dict[str, Any]


def canonical(document: Any) -> str:
    """JSON with sorted keys and the shortest floats that round-trip."""
    return json.dumps(document, sort_keys=True, allow_nan=False, ensure_ascii=False)


def texts(vectors: Iterable[Vector]) -> dict[str, str]:
    """The content of every file: by its name below the folder, the manifest among them."""
    found: dict[str, str] = {}
    counts: dict[str, dict[str, Any]] = {}
    flags: dict[str, int] = dict.fromkeys(FLAGS, 0)
    for algorithm, group in groupby(vectors, lambda vector: str(vector["algorithm"])):
        members = list(group)
        name = f"{algorithm}.json"
        found[name] = text = _file(algorithm, members)
        path = FOLDER / name
        if path.is_file():  # it is kept if it says the same up to the last digits, in which machines differ
            old = path.read_text(encoding="utf-8")
            found[name] = old if _alike(json.loads(old), json.loads(text)) else text
        refused = sum(vector["expect"] == "refused" for vector in members)
        digest = hashlib.sha256(found[name].encode()).hexdigest()
        counts[name] = {"vectors": len(members), "refused": refused, "sha256": digest}
        for vector in members:
            for flag in vector["flags"]:
                flags[flag] += 1
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


def _file(algorithm: str, vectors: Sequence[Vector]) -> str:
    cases = {vector["case"]: {name: vector[name] for name in OF_CASE} for vector in vectors}
    rows = [{name: entry for name, entry in vector.items() if name not in OF_CASE} for vector in vectors]
    start = f'{{"format": {FORMAT}, "algorithm": "{algorithm}",\n"cases": {{\n'
    said = ",\n".join(f"{json.dumps(key)}: {canonical(case)}" for key, case in cases.items())
    return f'{start}{said}\n}},\n"vectors": [\n' + ",\n".join(canonical(row) for row in rows) + "\n]}\n"


def manifest() -> dict[str, Any]:
    """The committed manifest."""
    found: dict[str, Any] = files.read_json(FOLDER / "manifest.json", "vectors")
    return found


def load(algorithm: str = "") -> Iterator[Vector]:
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


def read_vectors(path: Path) -> list[Vector]:
    """The vectors of a file: one exported vector, or a file of many.

    Raises:
        BadInput: naming the file and the first field that is wrong.
    """
    document = json_object(files.read_json(path, "vector"), str(path))
    if "vectors" in document:
        return list(_vectors(document, f"vectors {path}"))
    return [check_vector(document, f"vector {path}")]


def _vectors(document: Any, where: str) -> Iterator[Vector]:
    check_file(document, where)
    for position, row in enumerate(document["vectors"]):
        name = row.get("case")
        case = document["cases"].get(name) if isinstance(name, str) else None
        if not isinstance(case, dict):
            why = "is not among the file's cases, which are objects"
            raise BadInput(f"{where}: vectors[{position}].case", name, why)
        yield check_vector({**row, **case}, f"{where}: vectors[{position}]")
