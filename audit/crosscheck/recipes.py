"""Which runs become vectors: for every row of the catalogue a few data sets and sizes, awkward ones among them.

A row's space says which records and sizes make sense. A recipe chooses sizes and fills the records; what it is good
for is said in ``flags.py``. Every number is short, so that a file of vectors is short.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from dpassay.reference.case import Case
from dpassay.reference.space import Space
from dpassay.reference.types import Array

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
