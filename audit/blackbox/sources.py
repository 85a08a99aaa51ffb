"""Where black-box outputs come from, as named on the command line: a callable, a program, or stored files."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dpassay.audit.foreign import load_callable
from dpassay.audit.stored import load_array
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import read_json

from .outputs import CommandLine, Mechanism

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


@dataclass(frozen=True)
class Source:
    """A mechanism, the pair it is run on, and how to call it in a report."""

    name: str
    mechanism: Mechanism
    datasets: tuple[Any, Any]


def read_source(name: str | None, command: str | None, dataset: Path | None, neighbour: Path | None) -> Source:
    """The mechanism and the pair of datasets.

    Raises:
        BadInput: nothing or too much was named, or it cannot be loaded.
    """
    require((name is None) != (command is None), "mechanism", (name, command), "give MODULE:FUNCTION or --command")
    if dataset is None or neighbour is None:
        raise BadInput("--dataset, --neighbour", (dataset, neighbour), "both files are needed")
    mechanism: Mechanism
    if command is not None:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise BadInput("--command", command, str(error)) from None
        require(bool(words), "--command", command, "is empty")
        mechanism = CommandLine(words)
    else:
        mechanism = load_callable(str(name), "mechanism")
    return Source(command or str(name), mechanism, (read_dataset(dataset), read_dataset(neighbour)))


def read_dataset(path: Path) -> Any:
    """A dataset: whatever a JSON file holds, or a numpy array (no pickles)."""
    if path.suffix != ".npy":
        return read_json(path, "dataset")
    try:
        return load_array(path)
    except BadInput:
        raise
    except (OSError, ValueError, EOFError) as error:
        raise BadInput(str(path), "unreadable", " ".join(str(error).split())) from None
