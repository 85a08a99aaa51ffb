"""``dpassay neighbours``: what was found on a pair of neighbours, run again from its file."""

from pathlib import Path
from typing import Annotated

import typer

from dpassay.audit.exit_codes import FAILED, FINE
from dpassay.audit.search.witness import read_witness
from dpassay.audit.subjects.replay import replay as run_again
from dpassay.reference.errors import printable

app = typer.Typer(
    help="Worst neighbours: `dpassay audit` searches and stores them, `replay` runs a stored one again.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def _neighbours() -> None:
    """Keeps `replay` a command of its own."""


@app.command(short_help="Run the example of a witness file again.")
def replay(
    witness: Annotated[Path, typer.Argument(help="A witness of `dpassay audit`.")],
    module: Annotated[
        list[str] | None, typer.Option(help="Module of yours that the file may name; nothing else is imported.")
    ] = None,
    program: Annotated[
        str | None, typer.Option(help="For the witness of a program: its command; a file must not choose what is run.")
    ] = None,
) -> None:
    """Run the example of a witness with its released values again; exit 1 if something is found."""
    stored = read_witness(witness)
    found = run_again(stored, module or [], str(witness), program)
    print(stored)
    if found.raised:
        print(printable(f"raised: {found.raised}"))
    others = [printable(str(one)) for one in found.findings]
    print("\n".join(["", "Now: " + ("the same finding" if found.again else "not this finding"), *others]))
    raise typer.Exit(FAILED if found.findings else FINE)
