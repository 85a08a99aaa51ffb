"""Where black-box outputs come from: a callable or a program, named on the command line, is run on both datasets.

A mechanism is called as `mechanism(dataset, rng) -> array | number | string | dict | None`. If it also has
`many(dataset, rng, size)`, that is used to draw a whole sample at once. Programs: `programs.py`.
"""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from dpassay.audit.inputs.foreign import foreign_code, load_callable
from dpassay.audit.inputs.stored import load_array
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import read_json

from .programs import CommandLine, KeptAlive

PARTS = 8  # a side, each with a stream of randomness of its own: the number of processes changes no number
LEAST = 50  # outputs of a part: fewer are one part
Mechanism = Callable[[Any, np.random.Generator], Any]
Each = Callable[[int], None]  # is told how many outputs were drawn, or found, since it was told last
MechanismName = Annotated[
    str | None,
    typer.Argument(help="MODULE:FUNCTION, called as function(dataset, rng); the working directory is searched first."),
]
CommandOption = Annotated[
    str | None,
    typer.Option(
        "--command", help='A program instead: {"dataset", "seed"} as JSON on its input, one JSON value on its output.'
    ),
]
DatasetOption = Annotated[Path | None, typer.Option("--dataset", help="D: a .json or .npy file.")]
NeighbourOption = Annotated[Path | None, typer.Option("--neighbour", help="D', its neighbour: a .json or .npy file.")]
KeepAliveOption = Annotated[
    bool, typer.Option("--keep-alive", help="The program answers line by line instead of running once an output.")
]


@dataclass(frozen=True)
class Source:
    """A mechanism, how to call it in a report, the pair it is run on, and how another process gets it."""

    name: str
    mechanism: Mechanism
    datasets: tuple[Any, Any]
    load: Callable[[], Mechanism] | None = None


def read_source(
    name: str | None, command: str | None, dataset: Path | None, neighbour: Path | None, keep_alive: bool = False
) -> Source:
    """The mechanism and the pair of datasets; BadInput where too much or nothing was named, or it cannot be loaded."""
    require((name is None) != (command is None), "mechanism", (name, command), "give MODULE:FUNCTION or --command")
    if dataset is None or neighbour is None:
        raise BadInput("--dataset, --neighbour", (dataset, neighbour), "both files are needed")
    require(command is not None or not keep_alive, "--keep-alive", True, "is about a program: give --command")
    load: Callable[[], Mechanism]  # named, so that another process can do it
    if command is None:
        load = partial(load_callable, str(name), "mechanism")
    else:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise BadInput("--command", command, str(error)) from None
        require(bool(words), "--command", command, "is empty")
        load = partial(KeptAlive if keep_alive else CommandLine, words)
    pair = (load_array(one) if one.suffix == ".npy" else read_json(one, "dataset") for one in (dataset, neighbour))
    return Source(command or str(name), load(), (next(pair), next(pair)), load)


def draw(mechanism: Mechanism, dataset: Any, size: int, rng: np.random.Generator, each: Each = lambda _: None) -> Any:
    """`size` independent outputs on `dataset`, in the mechanism's own form; `each` is called about a hundred times."""
    many = getattr(mechanism, "many", None)
    with foreign_code("mechanism", getattr(mechanism, "__qualname__", type(mechanism).__qualname__)):
        if many is not None:
            found = many(dataset, rng, size)
            require(len(found) == size, "many", len(found), f"must give {size} outputs")
            each(size)
            return found
        one_by_one: list[Any] = []
        while len(one_by_one) < size:
            count = min(max(1, size // 100), size - len(one_by_one))
            one_by_one += [mechanism(dataset, rng) for _ in range(count)]
            each(count)
        return one_by_one


def draw_both(source: Source, samples: int, seed: tuple[int, ...], jobs: int, each: Each) -> tuple[Any, Any]:
    """`samples` outputs on both datasets.

    Args:
        seed: of all parts; a part adds its side and its place.
        jobs: processes; each of them loads the mechanism, or starts the program, anew.
    """
    parts = PARTS if samples >= PARTS * LEAST else 1
    sizes = [samples * (i + 1) // parts - samples * i // parts for i in range(parts)]
    places, found = list(product((0, 1), range(parts))), dict[tuple[int, int], Any]()
    if jobs > 1:
        from dpassay.audit.running.workers import worked  # slow to import, and one process needs none of it

        asked = [(source.load, source.datasets[side], (side, i), sizes[i], (*seed, side, i)) for side, i in places]
        for where, outputs in worked(_drawn, asked, jobs):
            found[where] = outputs
            each(len(outputs))
    else:
        for side, i in places:
            rng = np.random.default_rng([*seed, side, i])
            found[side, i] = draw(source.mechanism, source.datasets[side], sizes[i], rng, each)
    sides = []
    for side in (0, 1):
        some = [found[side, i] for i in range(parts)]
        arrays = all(isinstance(one, np.ndarray) for one in some) and len({(a.dtype, a.shape[1:]) for a in some}) == 1
        sides.append(np.concatenate(some) if arrays else [output for one in some for output in one])
    return sides[0], sides[1]


def _drawn(
    load: Callable[[], Mechanism], dataset: Any, where: tuple[int, int], size: int, key: tuple[int, ...]
) -> tuple[Any, Any]:
    """One part, in a process of its own."""
    mechanism = load()
    try:
        return where, draw(mechanism, dataset, size, np.random.default_rng(list(key)))
    finally:
        if isinstance(mechanism, KeptAlive):
            mechanism.close()
