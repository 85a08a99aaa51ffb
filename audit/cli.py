"""The command line. Every command is a function of the same name in ``commands/``; this file only joins them.

Exit codes: ``exit_codes.py``.
"""

import errno
import io
import logging
import os
import re
import sys
import traceback
import warnings
from contextlib import suppress
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from dpassay.reference.errors import BadInput, Broken, printable
from dpassay.reference.extras import missing

from .exit_codes import BAD_INPUT, CRASHED, INTERRUPTED, READER_GONE, described
from .running.interrupts import Interrupts
from .version import installed_version

COMMANDS: dict[str, str] = {  # what the list of commands says of each; its own help says more
    "audit": "Audit your own code, or the catalogue.",
    "report": "The report of an audit as one HTML file.",
    "list": "List the catalogue.",
    "show": "Show a paper, or an algorithm with its releases.",
    "check": "Hold a project to its claims (for CI).",
    "init": "Write a first claims file.",
    "prove": "Check the papers' statements by machine.",
    "published": "What a published attack result implies.",
    "reproduce": "Run a paper's experiments again.",
    "scores": "Audit stored scores of an attack.",
    "blackbox": "Audit a function, a program, stored outputs.",
    "attack": "Membership inference on a trained model.",
    "libraries": "Real libraries on the tape, unmodified.",
    "demo": "See a planted bug caught, in seconds.",
}
# commands with commands of their own: their module has a typer app named ``app``
GROUPS: dict[str, str] = {
    "crosscheck": "Test vectors for other implementations.",
    "sequential": "Audits that stop early, continue and join.",
    "neighbours": "Run a stored witness again.",
}


class Commands(TyperGroup):
    """The commands of ``dpassay``, each imported when it is called: NAME is in the module ``commands.NAME``."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        table = {**COMMANDS, **GROUPS}
        self.commands = {name: TyperCommand(name, short_help=text) for name, text in table.items()}  # for help alone

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called, or whose options a shell completes."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, name and self.loaded(name), rest

    @staticmethod
    @cache  # a process that runs many commands reads the annotations of each once
    def loaded(name: str) -> Any:
        """The command itself."""
        module = import_module(f"dpassay.audit.commands.{name}")
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        if name in GROUPS:
            alone.add_typer(module.app, name=name)
            group: Any = get_command(alone)
            return group.commands[name]
        alone.command(name)(getattr(module, "list_" if name == "list" else name))
        return get_command(alone)  # an app with one command becomes that command


app = typer.Typer(
    name="dpassay",
    cls=Commands,
    help="How much privacy is really in this algorithm? Claimed, accounted and realised epsilon side by side.\n\n"
    + "Begin with `dpassay demo`. Your own code: `dpassay audit mine:function --epsilon 1`. The papers' algorithms: "
    "`dpassay list`, then `dpassay audit KEY`.\n\n" + described(),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"dpassay {installed_version()}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; bad input is one line on standard error and exit code 2."""
    _prepare_streams()
    with Interrupts() as listening:
        code = _run(listening)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = READER_GONE
    except OSError as error:
        code = _complain(f"standard output: {error.strerror}")
    if code == READER_GONE:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)
    sys.exit(code)


def _refuse_senseless_numbers(words: list[str]) -> None:
    """No option means anything with 19 digits or more, or with a value that is no finite number."""
    for before, word in pairwise(["the command line", *words]):
        name, mark, value = word.partition("=") if word.startswith("--") else (before, "", word)
        value = value if mark or not word.startswith("--") else ""
        if re.fullmatch(r"[+-]?\d{19,}", value):
            raise BadInput(name, value[:24] + "...", "is too large a number")
        if re.fullmatch(r"[+-]?(nan|inf|infinity)", value, flags=re.IGNORECASE) and name.startswith("--"):
            raise BadInput(name, value, "must be a finite number")


def _run(listening: Interrupts) -> int:
    try:
        _refuse_senseless_numbers(sys.argv[1:])
        try:  # nothing could be found from a working directory that was removed, or written to it
            Path.cwd()
        except OSError as error:
            raise BadInput("working directory", os.environ.get("PWD", ""), error.strerror or str(error)) from None
        app(prog_name="dpassay")
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # typer's own exit code for it is 1, which says "violated"
            return READER_GONE
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except KeyboardInterrupt:
        _complain("interrupted")
        return INTERRUPTED
    except Exception as error:
        if listening.count:  # what is written in C makes errors of its own of an interrupt while it is loaded
            _complain("interrupted")
            return INTERRUPTED
        return _failed(error)
    return 0


def _failed(error: Exception) -> int:
    """The exit code for an error, which is told: in one line, if it is about the input."""
    if isinstance(error, BadInput):
        return _complain(str(error))
    if isinstance(error, Broken):
        _complain(str(error))
        return CRASHED
    if isinstance(error, MemoryError):
        return _complain(f"not enough memory for this input: {printable(str(error))}")
    if isinstance(error, ModuleNotFoundError) and (known := missing(error)) is not None:
        return _complain(str(known))
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return _complain(f"{error.filename or 'standard output'}: {error.strerror}")
    traceback.print_exception(error)
    return CRASHED


def _complain(line: str) -> int:
    with suppress(OSError):  # nobody can read it, but the exit code still says it
        print(f"dpassay: {line}", file=sys.stderr)
    return BAD_INPUT


def _prepare_streams() -> None:
    """Letters that a terminal cannot show are spelled out; a closed stream swallows what is written to it.

    That matplotlib cannot keep a cache where the home cannot be written is no news for standard error, nor is that
    numbers of audited code overflow (extreme ones are tried), nor that a worker which had to wait long was replaced.
    """
    warnings.filterwarnings("ignore", category=RuntimeWarning)
    warnings.filterwarnings("ignore", message="A worker stopped while some jobs", category=UserWarning)
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - until the program ends
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
