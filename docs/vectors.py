"""Makes the test vectors of ``audit/crosscheck/vectors`` anew (``make vectors``): a file an algorithm, and a manifest.

What goes into a vector stands in its file and was chosen once: row, problem, schedule, sizes and the seed of its draws.
What follows from that is computed here: what the row claims, and the reference's run with its flags and amounts of
rounding, or why the reference refuses the input. So a second run writes the same bytes. A reading that has no vector
yet gets a run on the pair of its first row; ``vectors.md`` says how to add others.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from dpassay.audit.crosscheck.making import Vector, exported, head, inputs, recorded
from dpassay.audit.crosscheck.recording import RecordingTape, events_of, read, run_again
from dpassay.audit.crosscheck.storage import FLAGS, FOLDER, FORMAT, canonical
from dpassay.reference.case import Case
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import read_json, write_text

OF_CASE = ("algorithm", "source", "reading", "title", "cite", "claim", "noise", "readings")  # once for all of a row


def every_vector(algorithm: str = "") -> Iterator[Vector]:
    """All vectors of the catalogue (or of one algorithm), in the catalogue's order, the same algorithm together."""
    for identity in dict.fromkeys(case.id for case in CASES if algorithm in ("", case.id)):
        cases = {case.key: case for case in CASES if case.id == identity}
        path = FOLDER / f"{identity}.json"
        rows = read_json(path, "vectors")["vectors"] if path.is_file() else []
        gone = ", ".join(sorted({one["case"] for one in rows} - cases.keys()))
        require(not gone, path.name, gone, "are no rows any more: rename or take out their inputs")
        yield from (made(cases[one["case"]], one) for one in rows)
        known = {cases[one["case"]].reading for one in rows}
        for case in cases.values():
            if case.reading not in known:
                known.add(case.reading)
                yield exported(case, 0)


def made(case: Case, given: Mapping[str, Any]) -> Vector:
    """The vector of a row that has these inputs."""
    run = case.build().run
    told = {**head(case, run), **{name: given[name] for name in ("id", "sizes", "seed", "expect")}}
    name = re.sub(r"-\d+$", "", given["id"].rpartition("/")[2])
    if given["expect"] == "run":
        problem, schedule = read(given)
        return recorded(run, {**told, **inputs(problem, schedule)}, name)
    tape, data = RecordingTape(0), {part: given[part] for part in ("problem", "schedule")}
    try:
        with np.errstate(all="ignore"):
            run_again(run, data, tape)
    except BadInput as error:
        if not tape.transcript.releases:
            why = given.get("why", str(error))  # kept: of two wrong entries either may be named first
            refused = {"why": why, "events": events_of(tape), "output": None, "rounding": 0.0, "flags": [name]}
            return {**told, **data, **refused, "float32": given.get("float32", True)}
    raise BadInput("vector", given["id"], "is not refused before something is released")


def texts(vectors: Iterable[Vector]) -> dict[str, str]:
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


def _file(algorithm: str, vectors: Sequence[Vector]) -> str:
    cases = {vector["case"]: {name: vector[name] for name in OF_CASE} for vector in vectors}
    rows = [{name: entry for name, entry in vector.items() if name not in OF_CASE} for vector in vectors]
    start = f'{{"format": {FORMAT}, "algorithm": "{algorithm}",\n"cases": {{\n'
    said = ",\n".join(f"{json.dumps(key)}: {canonical(case)}" for key, case in cases.items())
    return f'{start}{said}\n}},\n"vectors": [\n' + ",\n".join(canonical(row) for row in rows) + "\n]}\n"


def main() -> None:
    """Write the files that are not what they would be."""
    made_now = texts(every_vector())
    for path in FOLDER.rglob("*.json"):
        if str(path.relative_to(FOLDER)) not in made_now:
            print(f"{path.name}: belongs to no algorithm")
            path.unlink()
    for name, text in made_now.items():
        path = FOLDER / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            print(f"{name}: {len(text)} bytes")
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, text, "vectors")


if __name__ == "__main__":
    main()
