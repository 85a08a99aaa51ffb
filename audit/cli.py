"""The command line. Every command is a function of the same name in ``commands/``; this file only joins them.

Exit codes: 0 fine, 1 a claim is violated, 2 bad usage or bad input, 3 inconclusive, 130 interrupted.
"""

from __future__ import annotations

import sys
from importlib import import_module

import typer

from dpassay.reference.errors import BadInput

COMMANDS: tuple[str, ...] = ("audit", "list", "show", "check", "prove", "published", "zoo", "mutants", "reproduce")
COMMANDS += ("scores", "blackbox", "attack")  # for other people's models and mechanisms
# commands with commands of their own: their module has a typer app named ``app``
GROUPS = ("crosscheck", "sequential", "neighbours")

app = typer.Typer(
    name="dpassay",
    help="How much privacy is really in this algorithm? Claimed, accounted and realised epsilon side by side.\n\n"
    "Exit codes: 0 fine, 1 a claim is violated, 2 bad usage or bad input, 3 inconclusive, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for _name in COMMANDS:
    _module = import_module(f"dpassay.audit.commands.{_name}")
    app.command(name=_name)(getattr(_module, "list_" if _name == "list" else _name))
for _name in GROUPS:
    app.add_typer(import_module(f"dpassay.audit.commands.{_name}").app, name=_name)


def main() -> None:
    """Run the command line; bad input is one line on standard error and exit code 2."""
    try:
        app(prog_name="dpassay")
    except BadInput as error:
        print(f"dpassay: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("dpassay: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
