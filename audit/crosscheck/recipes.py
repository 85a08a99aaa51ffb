"""Which runs become vectors: for every row of the catalogue a few data sets and sizes, and inputs to refuse.

A row's space says which records and sizes make sense. A recipe chooses sizes and fills the records; what it is good
for is said in ``flags.toml``: which bug a red vector points to, and what that bug does to epsilon. Every number is
short, so that a file of vectors is short.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.case import Case
from dpassay.reference.errors import BadInput
from dpassay.reference.files import parse_toml, read_text
from dpassay.reference.space import Space

from .decode import decode
from .recording import RecordingTape, events_of
from .rounding import Run

LARGEST = 20  # records: what larger data sets would show, these show
SEVERAL = 7  # records: enough for three phases
PERIODS = ("phase", "period", "epoch")  # names of "how many steps from one refresh to the next"
Sizes = dict[str, int]
Fill = Callable[[Space, Sizes, np.random.Generator], Array]
Choose = Callable[[list[Sizes]], Sizes | None]


@dataclass(frozen=True)
class Recipe:
    """A name, the sizes it takes from those that fit, how it fills the records; ``edge``: once for each algorithm and
    reading."""

    name: str
    choose: Choose
    fill: Fill
    edge: bool = True
    outgrow: bool = False  # only where records may have any length


def fitting(space: Space) -> list[Sizes]:
    """All combinations of sizes that make sense, with few enough records."""
    names = list(space.sizes)
    every = (dict(zip(names, values, strict=True)) for values in product(*space.sizes.values()))
    return [sizes for sizes in every if sizes["n"] <= LARGEST and space.fits(sizes)]


def made(case: Case, first: bool) -> Iterator[tuple[Recipe, Sizes, Array]]:
    """The recipes that this row takes part in, with sizes and records; all of them for the first of its kind."""
    assert case.space is not None
    space = case.space()
    sizes = fitting(space)
    for recipe in RECIPES:
        left_out = (recipe.edge and not first) or (recipe.outgrow and space.rows.bound is not None)
        chosen = None if left_out or not sizes else recipe.choose(sizes)
        if chosen is not None:
            yield recipe, chosen, recipe.fill(space, chosen, np.random.default_rng(seed_of(case.id, recipe.name)))


def seed_of(*names: str) -> int:
    """A seed that depends on names alone: rows that share problem and schedule share the vector."""
    return int.from_bytes(hashlib.sha256("/".join(names).encode()).digest()[:4], "little")


# which sizes -----------------------------------------------------------------------------------------------------


def smallest(sizes: list[Sizes]) -> Sizes:
    """The first ones: one record, one step, one coordinate, as far as they fit."""
    return sizes[0]


def largest(sizes: list[Sizes]) -> Sizes:
    """The most numbers altogether."""
    return max(sizes, key=lambda one: tuple(sorted(one.values(), reverse=True)))


def middle(sizes: list[Sizes]) -> Sizes:
    """Neither."""
    return sizes[len(sizes) // 2]


def unlike(sizes: list[Sizes]) -> list[Sizes]:
    """The most different ones first: none of them one, all different, batches that do not divide n."""

    def odd(one: Sizes) -> tuple[int, int, int, int, int]:
        ones = sum(size == 1 for size in one.values())
        large = {size for size in one.values() if size > 2}
        uneven = sum(one["n"] % size != 0 for name, size in one.items() if "batch" in name)
        return -ones, len(large), uneven, -abs(one["n"] - SEVERAL), -sum(one.values())

    return sorted(sizes, key=odd, reverse=True)


def batch_of_one(sizes: list[Sizes]) -> Sizes | None:
    """One record a batch, of several, for the most steps."""
    fit = [one for one in sizes if one.get("batch", one.get("step_batch")) == 1 and one["n"] > 1]
    return largest(fit) if fit else None


def uneven(sizes: list[Sizes]) -> Sizes | None:
    """T is no multiple of q, and larger."""
    fit = [one for one in sizes for name in PERIODS if name in one and one.get("steps", 0) % one[name]]
    fit = [one for one in fit if any(one["steps"] > one[name] for name in PERIODS if name in one)]
    return largest(fit) if fit else None


def one_phase(sizes: list[Sizes]) -> Sizes | None:
    """The first refresh is the last one; phased algorithms: two records, K = 1."""
    fit = [one for one in sizes for name in PERIODS if name in one and one[name] > one.get("steps", 0) > 1]
    return largest(fit) if fit else None


# which records ---------------------------------------------------------------------------------------------------


def _with_labels(space: Space, rows: Array, rng: np.random.Generator) -> Array:
    if not space.rows.labels:
        return rows
    return np.hstack([rows, rng.choice(space.rows.labels, size=(len(rows), 1))])


def _shape(space: Space, sizes: Mapping[str, int]) -> tuple[int, int]:
    return sizes["n"], space.rows.columns(sizes) - bool(space.rows.labels)


def anything(space: Space, sizes: Sizes, rng: np.random.Generator, length: float = 1.0) -> Array:
    """Records anywhere in the space, with three digits."""
    rows = rng.standard_normal(_shape(space, sizes))
    if space.rows.box is not None:
        rows = rng.uniform(*space.rows.box, size=rows.shape)
    bound = space.rows.bound
    if bound is not None:
        rows = 0.999 * bound * rows / np.maximum(bound, np.linalg.norm(rows, axis=1))[:, None]
    kept = np.trunc(length * rows * 1000) / 1000  # towards zero: no record leaves the space
    return _with_labels(space, kept, rng)


def long_records(space: Space, sizes: Sizes, rng: np.random.Generator) -> Array:
    """Records far longer than any clipping threshold."""
    return anything(space, sizes, rng, length=50.0)


def zeros(space: Space, sizes: Sizes, rng: np.random.Generator) -> Array:
    """Records of zeros: their gradients have norm zero wherever the loss is linear in them."""
    return _with_labels(space, np.zeros(_shape(space, sizes)), rng)


def on_the_boundary(space: Space, sizes: Sizes, rng: np.random.Generator) -> Array:
    """Records of norm exactly 1 along the axes, with either sign: the bound of the space, and the usual threshold."""
    n, width = _shape(space, sizes)
    rows = np.zeros((n, width))
    rows[np.arange(n), np.arange(n) % width] = np.where(np.arange(n) % 3 == 1, -1.0, 1.0)
    if space.rows.box is not None:
        rows = np.clip(rows, *space.rows.box)
    return _with_labels(space, rows, rng)


def all_the_same(space: Space, sizes: Sizes, rng: np.random.Generator) -> Array:
    """The same record n times: every comparison between records is a tie."""
    rows = anything(space, sizes, rng)
    return np.tile(rows[:1], (len(rows), 1))


RECIPES = (
    Recipe("ordinary", largest, anything, edge=False),
    Recipe("smallest", smallest, anything, edge=False),
    Recipe("zero-gradient", middle, zeros),
    Recipe("boundary", largest, on_the_boundary),
    Recipe("long-records", largest, long_records, outgrow=True),
    Recipe("ties", middle, all_the_same),
    Recipe("batch-of-one", batch_of_one, anything),
    Recipe("uneven-phases", uneven, anything),
    Recipe("one-phase", one_phase, anything),
)

# what a vector is good for ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Flag:
    """One property of a vector.

    Args:
        bug: what is likely wrong where vectors with this flag are red and others are not.
        effect: what that does to epsilon.
    """

    bug: str
    effect: str


_TABLE = parse_toml(read_text(Path(__file__).with_name("flags.toml"), "flags"), "flags.toml")
FLAGS = {name: Flag(str(entry["bug"]), str(entry["effect"])) for name, entry in _TABLE.items()}
REFUSALS = tuple(name for name, entry in _TABLE.items() if entry.get("refused"))


def flags_of(recipe: str, vector: Mapping[str, Any]) -> list[str]:
    """All flags that a vector deserves, from its recipe and its events."""
    events, schedule = vector["events"], vector["schedule"]
    facts = {
        "one-record": vector["sizes"].get("n") == 1,
        "one-step": vector["sizes"].get("steps") == 1,
        "batch-of-one": 1 in (vector["sizes"].get("batch"), vector["sizes"].get("step_batch")),
        "sampled": any(event["event"] == "draw" and event.get("order") != "index" for event in events),
        "sparse-vector": any(event.get("law") == "AboveThreshold" for event in events),
        "raw-noise": any(event["event"] == "noise" for event in events),
        "printed": vector["reading"] == "printed",
        "not-for-float32": not vector["float32"],
        recipe: True,
    }
    assert isinstance(schedule, Mapping) and set(facts) <= set(FLAGS)
    return sorted(name for name, holds in facts.items() if holds)


# which inputs must be refused -----------------------------------------------------------------------------------
# What the reference takes is not asked of others: only a change that it refuses, before anything is released, becomes
# a vector.

Data = dict[str, Any]
Change = Callable[[Data, Data], bool]


def refusals(run: Run, vector: Mapping[str, Any]) -> Iterator[Data]:
    """Every change of this vector that the reference refuses."""
    for name, change in CHANGES.items():
        told = copy.deepcopy({"problem": vector["problem"], "schedule": vector["schedule"]})
        if not change(told["problem"], told["schedule"]):
            continue
        why, before = _refused(run, told["problem"], told["schedule"])
        if why:
            rest = {one: vector[one] for one in vector if one not in ("events", "output", "rounding", *told)}
            identity = {"id": f"{vector['case']}/{name}", "expect": "refused", "why": why, "flags": [name]}
            yield {**rest, **told, **identity, "events": before, "output": None, "rounding": 0.0}


def _refused(run: Run, problem: Any, schedule: Any) -> tuple[str, list[Data]]:
    """What the reference says, and what it has drawn by then; an empty text where it asks for a release."""
    tape = RecordingTape(0)
    try:
        with np.errstate(all="ignore"):
            run(decode(problem, "problem"), None if schedule is None else decode(schedule, "schedule"), tape)
    except BadInput as error:
        return ("" if tape.asked else str(error)), events_of(tape)
    except (ValueError, IndexError, ArithmeticError):
        pass  # an accident somewhere inside is no refusal that others could be held to
    return "", []


def _matrix(value: Any) -> list[Any] | None:
    """The first matrix of records in a problem (a vector of them, for problems with one number a record)."""
    if isinstance(value, list):
        return value if value and isinstance(value[0], list | float) else None
    if isinstance(value, Mapping):
        found = [_matrix(entry) for name, entry in value.items() if name not in ("derived", "formulas")]
        return next((one for one in found if one is not None), None)
    return None


def _first_number(value: Any) -> Change:
    """The first number of the records is another one, or a word."""

    def change(problem: Data, schedule: Data) -> bool:
        rows = _matrix(problem)
        while rows is not None and isinstance(rows[0], list) and rows[0]:
            rows = rows[0]
        if rows:
            rows[0] = value if isinstance(value, str) else value * (abs(rows[0]) + 1)
        return bool(rows)

    return change


def _ragged(problem: Data, schedule: Data) -> bool:
    rows = _matrix(problem)
    if rows is None or not isinstance(rows[0], list):
        return False
    rows[0] = rows[0][:-1]
    return True


def _label(problem: Data, schedule: Data) -> bool:
    for part in (problem, problem.get("loss") if isinstance(problem, dict) else None):
        if isinstance(part, dict) and isinstance(part.get("labels"), list):
            part["labels"][0] = 0.5
            return True
    return False


def _size(names: Sequence[str], change: Callable[[int], int]) -> Change:
    """The first of these sizes that the schedule has is another one."""

    def changed(problem: Data, schedule: Data) -> bool:
        here = schedule if isinstance(schedule, dict) else {}
        known = [name for name in names if here.get(name) and isinstance(here[name], int)]
        for name in known[:1]:
            here[name] = change(here[name])
        return bool(known)

    return changed


def _noise(change: Callable[[Data], Data]) -> Change:
    """Other scales by label."""

    def changed(problem: Data, schedule: Data) -> bool:
        noise = schedule.get("noise") if isinstance(schedule, dict) else None
        if not isinstance(noise, dict) or not noise.get("by_label"):
            return False
        noise["by_label"] = change(noise["by_label"])
        return True

    return changed


CHANGES: dict[str, Change] = {
    "nan-record": _first_number("nan"),
    "infinite-record": _first_number("infinity"),
    "record-outside": _first_number(1000.0),
    "ragged-records": _ragged,
    "wrong-label": _label,
    "another-n": _size(["n"], lambda n: n + 1),
    "another-d": _size(["d"], lambda d: d + 1),
    "batch-above-n": _size(["batch", "refresh_batch", "batch_size", "batch_x"], lambda _: 10_000),
    "negative-noise": _noise(lambda scales: dict.fromkeys(scales, -1.0)),
    "unknown-label": _noise(lambda scales: {f"another {label}": scale for label, scale in scales.items()}),
}
