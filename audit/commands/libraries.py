"""``dpassay libraries``: real libraries, unmodified, under the search; findings that anyone can run."""

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dpassay.audit.exit_codes import FAILED, FINE
from dpassay.audit.libraries.library import LIBRARIES, examine
from dpassay.audit.libraries.page import block, not_on_page, section, table
from dpassay.audit.terminal.options import Seed
from dpassay.reference.errors import require
from dpassay.reference.extras import installing
from dpassay.reference.files import read_text, require_writable, write_text

PAGE = Path("docs/libraries.md")


def libraries(
    name: Annotated[str | None, typer.Argument(help="A library; without one they are listed.")] = None,
    write: Annotated[bool, typer.Option("--write", help="Write its section of docs/libraries.md.")] = False,
    examples: Annotated[int | None, typer.Option("--examples", help="Of each search, in place of its own.")] = None,
    seed: Seed = 0,
) -> None:
    """Examine a library: search its models on the tape, hold its mechanisms to their claims, run what shows findings.

    Exit code 1 if something is found that is not among the recorded findings, or a recorded one does not show any more;
    and where the page is there, if a model shows a kind of finding that its row does not have (--write enters it).
    """
    if name is None:
        for library in LIBRARIES.values():
            missing = f"not installed: {installing(library.name)}"
            print(f"{library.name:14} {library.version() or missing}")
        raise typer.Exit(FINE)
    require(name in LIBRARIES, "library", name, f"must be one of {', '.join(LIBRARIES)}")
    require(examples is None or 1 <= examples <= 10**6, "--examples", examples, "must be a number from 1")
    if write:
        require_writable(PAGE, "--write")
    before = block(name).read(read_text(PAGE, "page"), str(PAGE)) if write or PAGE.exists() else None
    on_terminal = sys.stderr.isatty()
    tell = partial(print, "\r\x1b[K", sep="", end="", file=sys.stderr, flush=True) if on_terminal else lambda _: None
    found = examine(LIBRARIES[name], examples, seed, tell)
    print(table(found))
    for known, printed, shown in found.known:
        print(f"{'shown' if shown else 'NOT SHOWN'}  {known.id}: {' / '.join(printed.split())}")
    news = found.unaccounted()
    other = [] if before is None else not_on_page(found, before)
    for line in [*(f"unaccounted: {one}" for one in news), *(f"new: {one}" for one in other)]:
        print(line)
    if write and not news:
        text = read_text(PAGE, "page")  # anew: somebody may have written to it in these minutes
        write_text(PAGE, block(name).written(text, section(found), str(PAGE)), "--write")
    raise typer.Exit(FAILED if news or (other and not write) else FINE)
