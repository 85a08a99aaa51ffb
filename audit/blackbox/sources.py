"""Where black-box outputs come from, as named on the command line: a callable, a program, or stored files."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dpassay.audit.inputs.foreign import load_callable
from dpassay.audit.inputs.stored import load_array
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import read_json

from .outputs import Mechanism
from .programs import CommandLine, KeptAlive

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
class Named:
    """A mechanism by name, so that another process can load it."""

    function: str | None  # MODULE:FUNCTION
    command: tuple[str, ...] = ()
    keep_alive: bool = False

    def load(self) -> Mechanism:
        """The mechanism itself."""
        if self.function is not None:
            return load_callable(self.function, "mechanism")
        return (KeptAlive if self.keep_alive else CommandLine)(self.command)


@dataclass(frozen=True)
class Source:
    """A mechanism, the pair it is run on, and how to call it in a report."""

    name: str
    mechanism: Mechanism
    datasets: tuple[Any, Any]
    named: Named = Named(None)


def read_source(
    name: str | None, command: str | None, dataset: Path | None, neighbour: Path | None, keep_alive: bool = False
) -> Source:
    """The mechanism and the pair of datasets.

    Raises:
        BadInput: nothing or too much was named, or it cannot be loaded.
    """
    require((name is None) != (command is None), "mechanism", (name, command), "give MODULE:FUNCTION or --command")
    if dataset is None or neighbour is None:
        raise BadInput("--dataset, --neighbour", (dataset, neighbour), "both files are needed")
    require(command is not None or not keep_alive, "--keep-alive", True, "is about a program: give --command")
    words: list[str] = []
    if command is not None:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise BadInput("--command", command, str(error)) from None
        require(bool(words), "--command", command, "is empty")
    named = Named(name, tuple(words), keep_alive)
    pair = (load_array(one) if one.suffix == ".npy" else read_json(one, "dataset") for one in (dataset, neighbour))
    return Source(command or str(name), named.load(), (next(pair), next(pair)), named)
