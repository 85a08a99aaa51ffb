"""Plain NumPy code before its audit: trial runs, and how far its queries move where nobody says how far they may."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dpassay.audit.search.engine import search
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.neighbours import Pair
from dpassay.reference.space import Sizes, Space
from dpassay.reference.types import Array

from .mechanism import PlainMechanism
from .starts import readings_with_known

FOUND = "sensitivities are the largest movements that the search found: no upper bound"
_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_GENERATORS = ("rng", "generator", "gen", "random_state", "random_generator")
_UNIT = 2.0**40  # noise scales; claimed while movements are measured: a power of two, so that shares of it are exact
_ROUNDS = 6  # searches; a later one may move a query further than those before
_TRIALS = 6  # pairs for trial runs


def is_plain(run: Callable[..., Any]) -> bool:
    """Does it take data and a generator, as plain NumPy code does, and not a tape? What comes after has defaults."""
    if isinstance(run, PlainMechanism):
        return True
    try:
        given = [one for one in inspect.signature(run).parameters.values() if one.kind not in _MANY]
    except (TypeError, ValueError):
        return False
    return len(given) > 1 and _is_generator(given[1]) and all(one.default is not one.empty for one in given[2:])


def _is_generator(parameter: inspect.Parameter) -> bool:
    """By its name, or by what it is annotated with."""
    return parameter.name in _GENERATORS or "Generator" in str(parameter.annotation)


def measured(
    run: PlainMechanism, where: Space | Pair[Any], claim: PrivacyClaim, examples: int, seed: int, way: str = ""
) -> PlainMechanism:
    """The mechanism with what trial runs show: its batches, and a sensitivity for every release that declares none.

    Each reading in which nothing leaks bounds what is given away; the one that adds up to the least is taken.

    Args:
        way: the reading to take, by name (``Habits.way``), if it is still there.

    Raises:
        BadInput: it draws randomness of its own, or uses noise in a way whose law is not known.
    """
    pairs = [where] if isinstance(where, Pair) else trial_pairs(where, seed)
    if run.habits.read:
        return with_movements(run, where, claim, examples, seed)
    readings = list(run.readings(pairs, seed, claim.delta))
    run.noise_lines.update(readings[0].noise_lines)
    named = [one for one in (*readings, *readings_with_known(run, pairs, seed)) if one.habits.way == way] if way else []
    found = [with_movements(one, where, claim, examples, seed) for one in named or readings]
    if len(found) == 1 and (named or not found[0].leaks(pairs, seed)):
        return found[0]
    sums = [_adds_up_to(one, where, claim, examples, seed) for one in found]
    if min(sums) == math.inf:  # something leaks in each: a random start, perhaps
        found += [with_movements(one, where, claim, examples, seed) for one in readings_with_known(run, pairs, seed)]
        sums += [_adds_up_to(one, where, claim, examples, seed) for one in found[len(sums) :]]
    return found[sums.index(min(sums))]


def _adds_up_to(run: PlainMechanism, where: Space | Pair[Any], claim: PrivacyClaim, examples: int, seed: int) -> float:
    """The largest epsilon of a transcript; infinite where nothing adds up, or something leaves beside it."""
    boundless = PrivacyClaim(1e300, claim.delta, claim.cite, claim.relation)
    found = search(run, where, boundless, examples=examples, seed=seed, tracing=False)
    leaks = any(one.kind.leaks for one in found.findings)
    return math.inf if found.accounted is None or found.gap or leaks else found.accounted


def with_movements(
    tried: PlainMechanism, where: Space | Pair[Any], claim: PrivacyClaim, examples: int, seed: int
) -> PlainMechanism:
    """A reading of the mechanism with a sensitivity for every release that declares none: the movement found."""
    declared = tried.habits.sensitivities
    # without a limit on epsilon, and with a claim that nothing reaches, shares are the movements alone
    first = _shares(tried.moving({}, _UNIT), where, claim, examples, seed)
    found = {label: share * _UNIT for label, share in first.items() if label not in declared}
    for _ in range(_ROUNDS):
        further = _shares(tried.moving(found, 0.0), where, claim, examples, seed)
        further = {label: share for label, share in further.items() if share > 1 and label in found}
        if not further:
            break
        found |= {label: found[label] * share for label, share in further.items()}
    return tried.moving(found, 0.0)


def _shares(
    run: PlainMechanism, where: Space | Pair[Any], claim: PrivacyClaim, examples: int, seed: int
) -> Mapping[str, float]:
    boundless = PrivacyClaim(1e300, claim.delta, claim.cite, claim.relation)
    return search(run, where, boundless, examples=examples, seed=seed, tracing=False).shares


def trial_pairs(space: Space, seed: int) -> list[Pair[Any]]:
    """A few pairs of the space, the target in another place each time."""
    rng = np.random.default_rng([seed, 43])
    sizes = [dict(zip(space.sizes, values, strict=True)) for values in _combinations(space, rng)]
    found = []
    for number, one in enumerate(sizes[:_TRIALS]):
        rows = random_rows(space, one, one["n"] + 1, rng)
        here, other = rows[:-1], rows[-1]
        there = here.copy()
        there[number % one["n"]] = other if space.absent is None else space.absent
        found.append(Pair(space.problem(here, one), space.problem(there, one), number % one["n"], "trial"))
    return found


def _combinations(space: Space, rng: np.random.Generator) -> list[tuple[int, ...]]:
    tries = [tuple(int(rng.choice(np.asarray(values))) for values in space.sizes.values()) for _ in range(200)]
    return [values for values in tries if space.fits(dict(zip(space.sizes, values, strict=True)))]


def random_rows(space: Space, sizes: Sizes, count: int, rng: np.random.Generator) -> Array:
    """Rows that the space allows, shape (count, columns)."""
    width = space.rows.columns(sizes) - bool(space.rows.labels)
    if space.rows.box is not None:
        rows = rng.uniform(*space.rows.box, size=(count, width))
    else:
        rows = rng.normal(size=(count, width))
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        rows *= (3.0 if space.rows.bound is None else space.rows.bound) / np.maximum(length, math.ulp(1.0))
    if not space.rows.labels:
        return rows
    labels = rng.choice(np.asarray(space.rows.labels, dtype=float), size=(count, 1))
    return np.hstack([rows, labels])
