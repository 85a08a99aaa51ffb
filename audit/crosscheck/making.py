"""Make the committed vectors: ``python -m dpassay.audit.crosscheck.making --write`` (``make vectors``).

Everything follows from the catalogue and from seeds that are made of names, so a second run writes the same bytes.

Constants of vectors are all different (no constant is one, or equal to another), or such that rare branches are taken.
A factor that is one in every vector may be forgotten, and two constants that are the same may be exchanged: no vector
would show it. Here every number that a vector tells has a factor of its own, as far as the reference takes it. Factors
are above one, so that what bounds the records still does; sensitivities, which may be made of other constants, have
the largest ones. What a printed formula makes the noise of keeps its value, and so do the numbers that the cost of a
line search is computed from. Which constants lead to a rare branch is written in the ``vectors.toml`` of a paper.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, partial, reduce
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np

from dpassay import reference
from dpassay.reference.case import Case
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import BadInput
from dpassay.reference.files import parse_toml, read_text, write_text
from dpassay.reference.laws.law import Law
from dpassay.reference.solvers.exact import Exact
from dpassay.reference.solvers.extragradient import Extragradient
from dpassay.reference.solvers.gradient_descent import GradientDescent
from dpassay.reference.space import Space

from .decode import decode
from .encode import encode
from .model import FORMAT
from .recipes import Sizes, anything, fitting, flags_of, largest, made, refusals, seed_of, unlike
from .recording import RecordingTape, events_of
from .rounding import Again, Jitter, Run, rounding
from .storage import FOLDER, texts

Data = dict[str, Any]
Place = tuple[str | int, ...]
Accepts = Callable[[Data], Data | None]  # the vector as the reference tells it, if it does not run to a shorter end
KEPT = ("noise", "derived", "formulas", "divergence", "link", "epsilon", "delta", "beta_g", "beta_H", "b_g", "b_H")
LISTS = ("start", "start_x", "sensitivities")
SENSITIVITY = re.compile("sensitivit")
SMALLER = re.compile(r"\.start|domain_.*radius")  # a domain stays inside that for which the constants hold
NAMED = re.compile(r"(?:problem|schedule)(?:\.\w+)+")  # paths in formulas of the noise
BEGINNING = [0.23, -0.31, 0.17, 0.12, -0.09]  # of a point: its coordinates, again and again
STARTS = ("start", "start_x")
OF_RECORDS = "_bound"  # ends of names: what the records keep to
DECIDES = {"accuracy.gradient": 16.0}  # else one half of a test of two is never what decides


@cache
def written(paper: str) -> Data:
    """What ``vectors.toml``, beside a paper's algorithms, says of their vectors: noise and branches."""
    path = Path(reference.__file__).parent / paper / "vectors.toml"
    return parse_toml(read_text(path, "vectors"), path.name) if path.is_file() else {}


def unequal(vector: Mapping[str, Any], accepts: Accepts) -> Data:
    """Problem and schedule of a vector with other constants, each tried by itself.

    Args:
        accepts: tells the data again as the reference has them (what is derived from constants changes with them);
            None where it refuses them, or stops earlier with them.
    """
    told: Data = {name: vector[name] for name in ("problem", "schedule")}
    fixed = _of_noise(vector["noise"], told)
    given = SENSITIVITY.search(json.dumps(told["schedule"])) is not None  # made of what bounds the records
    paths = {".".join(map(str, path)): path for path in _constants(told, ())}
    names = [name for name in paths if not (given and name.endswith(OF_RECORDS))]
    names.sort(key=lambda name: not SENSITIVITY.search(name))  # more noise first: then tests decide otherwise
    for number, name in enumerate(names):
        path = paths[name]
        for factor in _factors(name, number):
            changed = accepts(_put(told, path, partial(_times, factor)))
            if changed is not None and _of_noise(vector["noise"], changed) == fixed:
                told = changed
                break
    return told


def begun(told: Data, accepts: Accepts, begins: Iterable[Any]) -> Data:
    """The data with the first of these points to begin at that is taken, where there is none."""
    for name in STARTS:
        if told["schedule"].get(name, 0) is None:
            found = (accepts(_put(told, ("schedule", name), _instead(value))) for value in begins)
            told = next((one for one in found if one is not None), told)
    return told


def points(problem: Any) -> Iterator[Any]:
    """Where a run on this problem may begin: at x and y where it has both, else at x, or at x and the dual variable.

    Nowhere else where the problem itself says where it begins.
    """
    x, y = (list(BEGINNING * d)[:d] for d in (getattr(problem, "d", 0), getattr(problem, "d_y", 0)))
    if y:
        yield [x, [round(one / 2, 2) for one in y]]
    elif not hasattr(problem, "begin"):
        yield x
        yield [*x, BEGINNING[-1]]


def _factors(name: str, number: int) -> tuple[float, ...]:
    """The factor of a constant, and its inverse for constants that must stay below a limit."""
    factor = round(1.13 + 0.77 * (number * 0.6180339887 % 1.0), 2)
    if SENSITIVITY.search(name):
        return (3 * factor,)
    special = [one for end, one in DECIDES.items() if name.endswith(end)]
    return (*special, 1 / factor) if SMALLER.search(name) else (*special, factor, 1 / factor)


def _constants(told: Any, path: Place) -> Iterator[Place]:
    """Where numbers are that may differ: no sizes, no records, nothing that is infinite."""
    if isinstance(told, dict):
        for name, entry in told.items():
            if name not in KEPT:
                yield from _constants(entry, (*path, name))
    elif isinstance(told, float):
        yield path
    elif isinstance(told, list) and path[-1] in LISTS:
        yield from ((*path, place) for place in range(len(told)))


def _times(factor: float, number: float) -> float:
    """A number times a factor, to three digits; zero becomes a small number."""
    return float(f"{factor * number if number else 0.3 * factor:.3g}")


def _instead(value: Any) -> Callable[[Any], Any]:
    return lambda before: value


def _put(told: Any, path: Sequence[str | int], change: Callable[[Any], Any]) -> Any:
    """The data with something else in one place; as they are where there is no such place."""
    if not path:
        return change(told)
    first, *rest = path
    if isinstance(told, list):
        return [_put(one, rest, change) if place == first else one for place, one in enumerate(told)]
    if not isinstance(told, Mapping) or first not in told:
        return told
    return {**told, first: _put(told[first], rest, change)}


def _of_noise(noise: Mapping[str, Any], told: Data) -> list[Any]:
    """The values of what the formulas of the noise name."""
    texts = [*noise.get("names", {}).values(), *noise.get("values", {}).values()]
    return [reduce(getitem, name.split("."), told) for text in texts for name in NAMED.findall(text)]


def with_fields(told: Any, fields: Data) -> Any:
    """Problem and schedule with these values; what is not there stays away."""
    for path, value in fields.items():
        told = _put(told, path.split("."), _instead(value))
    return told


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
