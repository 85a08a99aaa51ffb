"""Constants of vectors: all different (no constant is one, or equal to another), or such that rare branches are taken.

A factor that is one in every vector may be forgotten, and two constants that are the same may be exchanged: no vector
would show it. Here every number that a vector tells has a factor of its own, as far as the reference takes it. Factors
are above one, so that what bounds the records still does; sensitivities, which may be made of other constants, have
the largest ones. What a printed formula makes the noise of keeps its value, and so do the numbers that the cost of a
line search is computed from. Which constants lead to a rare branch is written in the ``vectors.toml`` of a paper.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial, reduce
from operator import getitem
from pathlib import Path
from typing import Any

from dpassay import reference
from dpassay.reference.files import parse_toml, read_text

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
