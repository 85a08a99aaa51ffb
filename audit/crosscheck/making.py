"""A vector of a row: what it claims, and one run of the reference with its flags and amounts of rounding."""

from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from dpassay import reference
from dpassay.reference.case import Case
from dpassay.reference.files import parse_toml, read_text
from dpassay.reference.solvers.exact import Exact
from dpassay.reference.solvers.gradient_descent import Extragradient, GradientDescent

from .encoding import encode
from .recording import RecordingTape, Run, events_of, run_again
from .rounding import rounding
from .storage import FORMAT

CALIBRATED = {
    "rule": "calibrated",
    "how": "one common factor on all noise multipliers: the least for which the releases of the longest run, composed "
    "exactly under claim.relation, satisfy delta(claim.epsilon) <= claim.delta",
}
Vector = dict[str, Any]


def exported(case: Case, seed: int) -> Vector:
    """One run of the row's own instance, on the data of its pair."""
    instance = case.build()
    about = {"id": f"{case.key}/catalogue", "sizes": {}, "seed": seed, "expect": "run"}
    told = {**head(case, instance.run), **about, **inputs(instance.pair.here, _exactly(instance.schedule))}
    return recorded(instance.run, told, "catalogue")


def recorded(run: Run, told: Vector, name: str) -> Vector:
    """A vector that says what is run, with one run, the amounts of rounding at every event, and the flags."""
    tape = RecordingTape(told["seed"])
    output = run_again(run, told, tape)
    vector = {**told, "events": events_of(tape), "output": encode(output, "output")}
    amounts, whole, single = rounding(run, vector)
    for event, amount in zip(vector["events"], amounts, strict=True):
        if amount:
            event["rounding"] = amount
    found = {**vector, "rounding": whole, "float32": single}
    return {**found, "flags": flags_of(name, found)}


def flags_of(name: str, vector: Mapping[str, Any]) -> list[str]:
    """All flags that a vector deserves, by its name and its events: a few words of ``flags.toml``."""
    events, sizes = vector["events"], vector["sizes"]
    facts = {
        "one-record": sizes.get("n") == 1,
        "one-step": sizes.get("steps") == 1,
        "batch-of-one": 1 in (sizes.get("batch"), sizes.get("step_batch")),
        "sampled": any(event["event"] == "draw" and event.get("order") != "index" for event in events),
        "sparse-vector": any(event.get("law") == "AboveThreshold" for event in events),
        "raw-noise": any(event["event"] == "noise" for event in events),
        "printed": vector["reading"] == "printed",
        "not-for-float32": not vector["float32"],
        name: True,
    }
    return sorted(flag for flag, holds in facts.items() if holds)


def head(case: Case, run: Run) -> Vector:
    """What a vector says of its row."""
    return {
        "format": FORMAT,
        "case": case.key,
        "algorithm": case.id,
        "source": f"{run.__module__.removeprefix('dpassay.').replace('.', '/')}.py",
        "reading": case.reading,
        "title": case.title,
        "cite": str(case.cite),
        "claim": {"epsilon": case.claim.epsilon, "delta": case.claim.delta, "relation": case.claim.relation},
        "noise": noise_of(case),
        "readings": list(case.completions or case.repairs),
    }


def noise_of(case: Case) -> dict[str, Any]:
    """Where the noise scales of a case come from: the first entry for it beside its algorithm, else they are fitted."""
    for one in _written(case.paper).get("noise", ()):
        if any(fnmatchcase(case.key, f"{case.paper}/{pattern}") for pattern in one["cases"]):
            found = {name: entry for name, entry in one.items() if name != "cases"}
            return found if "rule" in found else {"rule": "printed", "names": {}, **found}
    return CALIBRATED


@cache
def _written(paper: str) -> dict[str, Any]:
    """What ``vectors.toml``, beside a paper's algorithms, says of their noise."""
    path = Path(reference.__file__).parent / paper / "vectors.toml"
    return parse_toml(read_text(path, "vectors"), path.name) if path.is_file() else {}


def inputs(problem: Any, schedule: Any) -> Vector:
    """What a run is made of, for JSON."""
    return {"problem": encode(problem, "problem"), "schedule": encode(schedule, "schedule")}


def _exactly(schedule: Any) -> Any:
    """Solvers that stop within a tolerance give way to the exact one: any good solver agrees with that."""
    if not is_dataclass(schedule) or isinstance(schedule, type):
        return schedule
    halves = (name for name in ("x_half", "y_half") if hasattr(schedule, name))
    changes: dict[str, Any] = {name: _exactly(getattr(schedule, name)) for name in halves}
    if isinstance(getattr(schedule, "solver", None), GradientDescent | Extragradient):
        changes["solver"] = Exact()
    return replace(schedule, **changes) if changes else schedule
