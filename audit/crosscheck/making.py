"""Make the committed vectors: ``python -m dpassay.audit.crosscheck.making --write`` (``make vectors``).

Everything follows from the catalogue and from seeds that are made of names, so a second run writes the same bytes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

import numpy as np

from dpassay.reference.case import Case
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import BadInput
from dpassay.reference.files import write_text
from dpassay.reference.laws.law import Law
from dpassay.reference.solvers.exact import Exact
from dpassay.reference.solvers.extragradient import Extragradient
from dpassay.reference.solvers.gradient_descent import GradientDescent
from dpassay.reference.space import Space

from .constants import begun, points, unequal, with_fields, written
from .decode import decode
from .encode import encode
from .model import FORMAT
from .recipes import Sizes, anything, fitting, flags_of, largest, made, refusals, seed_of, unlike
from .recording import RecordingTape, events_of
from .rounding import Again, Jitter, Run, rounding
from .storage import FOLDER, texts

LONGEST = 20_000  # characters of a vector that is committed
CALIBRATED = {
    "rule": "calibrated",
    "how": "one common factor on all noise multipliers: the least for which the releases of the longest run, composed "
    "exactly under claim.relation, satisfy delta(claim.epsilon) <= claim.delta",
}
UNEQUAL, RARE = "unequal-constants", "rare-branch"
TRIED = 8  # sizes for it
MOST_EVENTS = 60
WORST = 6_000  # of the catalogue's own worst pair: larger ones show nothing that small ones do not
Vector = dict[str, Any]


def vector_of(case: Case, run: Run, told: Vector, seed: int, name: str, sizes: Sizes) -> Vector:
    """One recorded run as a vector; everything is computed from the data that it holds, and not from any object."""
    return recorded(partial(run_again, run), {**head(case, run, name, sizes, seed), **told}, name)


def recorded(again: Again, told: Vector, name: str) -> Vector:
    """A vector that says what is run, with one run, the amounts of rounding at every event, and the flags."""
    tape = RecordingTape(told["seed"])
    output = again(told, tape, None)
    vector = {**told, "events": events_of(tape), "output": encode(output, "output")}
    amounts, whole, single = rounding(again, vector)
    for event, amount in zip(vector["events"], amounts, strict=True):
        if amount:
            event["rounding"] = amount
    found = {**vector, "rounding": whole, "float32": single}
    return {**found, "flags": flags_of(name, found)}


def _unequal(case: Case, run: Run, space: Space) -> Iterator[Vector]:
    """One run with constants that differ, of the first sizes with which it asks for something, and not for too much."""
    seed = seed_of(case.id, UNEQUAL)
    for sizes in unlike(fitting(space))[:TRIED]:
        told = _told(*_made(space, sizes, anything(space, sizes, np.random.default_rng(seed))))
        count = _count(run, told, seed, MOST_EVENTS)
        if not count:
            continue
        most = min(MOST_EVENTS, count + count // 2)
        about = head(case, run, UNEQUAL, sizes, seed)
        found = unequal({**about, **told}, partial(_told_again, run, seed, count, most))
        vector = vector_of(case, run, found, seed, UNEQUAL, sizes)
        if len(json.dumps(vector)) <= LONGEST:
            yield vector
            return


def _branches(case: Case, run: Run, space: Space) -> Iterator[Vector]:
    """Runs that go where ordinary constants do not lead."""
    for number, fields in enumerate(written(case.paper).get("branches", {}).get(case.id.partition("/")[2], ()), 1):
        name = f"{RARE}-{number}"
        sizes = with_fields({"sizes": largest(fitting(space))}, fields)["sizes"]
        seed = seed_of(case.id, name)
        problem, schedule = _made(space, sizes, anything(space, sizes, np.random.default_rng(seed)))
        told = with_fields(_told(problem, schedule), fields)
        accepts = partial(_told_again, run, seed, 1, MOST_EVENTS)
        found = accepts(begun(told, accepts, points(problem)))
        if found is not None:
            yield recorded(partial(run_again, run), {**head(case, run, name, sizes, seed), **found}, RARE)


def _made(space: Space, sizes: Sizes, rows: Any) -> tuple[Any, Any]:
    """Problem and schedule of these records; a solver that stops within a tolerance gives way to the exact one."""
    return space.problem(rows, sizes), _exactly(space.schedule(sizes) if space.schedule else None)


def _told(problem: Any, schedule: Any) -> Vector:
    return {"problem": encode(problem, "problem"), "schedule": encode(schedule, "schedule")}


def _told_again(run: Run, seed: int, least: int, most: int, told: Vector) -> Vector | None:
    """The same data with what follows from them; None where they are refused, or the run is shorter or far longer."""
    try:
        found = _told(*read(told))
    except (BadInput, ArithmeticError):
        return None
    return found if _count(run, found, seed, most) >= least else None


def _count(run: Run, told: Vector, seed: int, most: int) -> int:
    """How many events a run has; none where it is refused, or has more than ``most``."""

    def stop(label: str, law: Law, step: int) -> None:
        if step >= most:
            raise OverflowError("too many releases")

    tape = RecordingTape(seed, stop)
    try:
        with np.errstate(all="ignore"):
            run_again(run, told, tape)
    except (BadInput, ValueError, ArithmeticError, np.linalg.LinAlgError):
        return 0
    return len(events_of(tape))


def head(case: Case, run: Run, name: str, sizes: Sizes, seed: int) -> Vector:
    """What a vector says of itself before it says what happens."""
    return {
        "format": FORMAT,
        "id": f"{case.key}/{name}",
        "case": case.key,
        "algorithm": case.id,
        "source": f"{run.__module__.removeprefix('dpassay.').replace('.', '/')}.py",
        "reading": case.reading,
        "title": case.title,
        "cite": str(case.cite),
        "claim": {"epsilon": case.claim.epsilon, "delta": case.claim.delta, "relation": case.claim.relation},
        "noise": noise_of(case),
        "readings": list(case.completions or case.repairs),
        "sizes": dict(sizes),
        "seed": seed,
        "expect": "run",
    }


def noise_of(case: Case) -> dict[str, Any]:
    """Where the noise scales of a case come from: the first entry for it beside its algorithm, else they are fitted."""
    for one in written(case.paper).get("noise", ()):
        if any(fnmatchcase(case.key, f"{case.paper}/{pattern}") for pattern in one["cases"]):
            found = {name: entry for name, entry in one.items() if name != "cases"}
            return found if "rule" in found else {"rule": "printed", "names": {}, **found}
    return CALIBRATED


def every_vector(algorithm: str = "") -> Iterator[Vector]:
    """All vectors of the catalogue (or of one algorithm), in the catalogue's order, the same algorithm together."""
    for identity in dict.fromkeys(case.id for case in CASES):
        seen: set[str] = set()
        classes: set[str] = set()
        first: set[str] = set()
        for case in CASES if algorithm in ("", identity) else ():
            if case.id != identity:
                continue
            for vector in _of_case(case, case.reading not in first, classes):
                text = json.dumps([vector[part] for part in ("reading", "problem", "schedule", "expect")])
                if text not in seen and len(json.dumps(vector)) <= LONGEST:
                    seen.add(text)
                    yield vector
            first.add(case.reading)


def _of_case(case: Case, first: bool, classes: set[str]) -> Iterator[Vector]:
    """Runs in the row's space, the row's own worst pair where its class is new, and inputs to refuse."""
    instance = case.build()
    smallest: Vector | None = None
    if case.space is not None:
        space = case.space()
        for recipe, sizes, rows in made(case, first):
            told = _told(*_made(space, sizes, rows))
            vector = vector_of(case, instance.run, told, seed_of(case.id, recipe.name), recipe.name, sizes)
            smallest = vector if smallest is None or recipe.name == "smallest" else smallest
            classes.add(_kind(vector))
            yield vector
    told = _told(instance.pair.here, _exactly(instance.schedule))
    kind = _kind({"reading": case.reading, **told})
    if smallest is None or (kind not in classes and len(json.dumps(told["problem"])) < WORST):
        vector = vector_of(case, instance.run, told, 0, "catalogue", {})
        smallest = smallest or vector
        if len(json.dumps(vector)) < 3 * WORST:
            classes.add(kind)
            yield vector
    if first and case.space is not None:
        yield from _unequal(case, instance.run, case.space())
        yield from _branches(case, instance.run, case.space())
    if first:
        yield from refusals(instance.run, smallest)


def _kind(vector: Vector) -> str:
    problem = vector["problem"]
    return f"{vector['reading']} {problem.get('class') if isinstance(problem, dict) else 'list'}"


def _exactly(schedule: Any) -> Any:
    """Solvers that stop within a tolerance give way to the exact one: any good solver agrees with that."""
    if not is_dataclass(schedule) or isinstance(schedule, type):
        return schedule
    halves = (name for name in ("x_half", "y_half") if hasattr(schedule, name))
    changes: dict[str, Any] = {name: _exactly(getattr(schedule, name)) for name in halves}
    if isinstance(getattr(schedule, "solver", None), GradientDescent | Extragradient):
        changes["solver"] = Exact()
    return replace(schedule, **changes) if changes else schedule


def exported(case: Case, seed: int) -> Vector:
    """One run of the row's own instance, on the data of its pair."""
    instance = case.build()
    told = _told(instance.pair.here, _exactly(instance.schedule))
    return vector_of(case, instance.run, told, seed, "catalogue", {})


def run_again(run: Run, vector: Mapping[str, Any], tape: Any, jitter: Jitter | None = None) -> Any:
    """The reference on the data of a vector; ``jitter`` moves what the problem's functions return."""
    problem, schedule = read(vector)
    return run(problem if jitter is None else jitter.on(problem), schedule, tape)


def read(vector: Mapping[str, Any]) -> tuple[Any, Any]:
    """Problem and schedule of a vector."""
    schedule = vector["schedule"]
    return decode(vector["problem"], "problem"), None if schedule is None else decode(schedule, "schedule")


def main(words: Sequence[str]) -> None:
    """Write the files, or say which differ from what would be written."""
    made_now = texts(every_vector())
    known = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.json")}
    for name in sorted(known - set(made_now)):
        print(f"{name}: belongs to no algorithm")
        if "--write" in words:
            (FOLDER / name).unlink()
    for name, text in made_now.items():
        path = FOLDER / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            print(f"{name}: {len(text)} bytes" if "--write" in words else f"{name}: differs; run `make vectors`")
            if "--write" in words:
                path.parent.mkdir(parents=True, exist_ok=True)
                write_text(path, text, "vectors")


if __name__ == "__main__":
    main(sys.argv[1:])
