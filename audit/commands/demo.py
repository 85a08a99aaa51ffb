"""``dpassay demo``: a planted bug is caught, step by step, in plain words."""

import inspect
import textwrap
import time
from dataclasses import replace

import typer
from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from dpassay.audit.assaying.assay import assay
from dpassay.audit.evidence.assay import Assay
from dpassay.audit.exit_codes import FAILED, FINE
from dpassay.audit.plain import number
from dpassay.audit.report.problems import SENTENCES
from dpassay.audit.report.verdicts import wide_console
from dpassay.audit.row import Effort
from dpassay.audit.terminal.options import Seed

from .demo_loops import CLAIM, SPACE, STEPS, clips_each_record, clips_the_mean

_EFFORT = Effort(runs=400, pilot=200, examples=150)
_WIDEST = 100


def demo(seed: Seed = 0) -> None:
    """Plant a bug in a private training loop and catch it: takes some seconds.

    Exit code 0 if the bug was caught and the mended loop was not accused, else 1.
    """
    start, effort = time.perf_counter(), replace(_EFFORT, seed=seed)
    console = wide_console(_WIDEST)
    console.width = min(console.width, _WIDEST)
    source = textwrap.dedent(inspect.getsource(clips_the_mean))
    _say(console, "\n1. A training loop with a claim", "bold cyan")
    console.print(Syntax(source, "python", theme="ansi_dark", background_color="default"))
    _tell(console, "claim")
    with console.status("auditing ..."):
        wrong = assay(clips_the_mean, SPACE, CLAIM, effort=effort)
    _found(console, wrong)
    _say(console, "\n5. The same loop, mended", "bold cyan")
    lines = zip(source.splitlines()[1:], inspect.getsource(clips_each_record).splitlines()[1:], strict=True)
    for old, new in ((old.strip(), new.strip()) for old, new in lines):
        if old != new:
            _say(console, f"  - {old}", "red")
            _say(console, f"  + {new}", "green")
    with console.status("auditing the mended loop ..."):
        right = assay(clips_each_record, SPACE, CLAIM, effort=effort)
    _tell(console, "mended", right)
    _say(console, f"verdict: {right.verdict}", "bold red" if right.verdict.failed else "bold green")
    caught, seconds = wrong.verdict.failed and not right.verdict.failed, f"{time.perf_counter() - start:.0f} s"
    ending = f"Caught, in {seconds}." if caught else f"NOT as it should be ({seconds}): please report this."
    _say(console, f"\n{ending}", "bold green" if caught else "bold red")
    _tell(console, "own")
    raise typer.Exit(FINE if caught else FAILED)


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(Text(text, style))


def _tell(console: Console, what: str, found: Assay | None = None) -> None:
    known: dict[str, object] = {"steps": STEPS, "claimed": CLAIM, "runs": _EFFORT.runs}
    if found is not None:
        known |= {"accounted": number(found.accounted), "realised": number(found.realised), "searched": found.searched}
    _say(console, SENTENCES["demo"][what].format(**known))


def _found(console: Console, found: Assay) -> None:
    """What an accountant says of the loop, what the audit says, and what that costs."""
    _say(console, "\n2. What an accountant says", "bold cyan")
    _tell(console, "accountant", found)
    _say(console, "\n3. What dpassay finds", "bold cyan")
    _tell(console, "search", found)
    for line in found.witness.lines() if found.witness else ():
        shown = textwrap.wrap(line, console.width - 4, subsequent_indent=" " * 12, drop_whitespace=False)
        _say(console, "\n".join("    " + part.rstrip() for part in shown), "yellow")
    _tell(console, "bug")
    _say(console, "\n4. What that costs", "bold cyan")
    _tell(console, "cost", found)
    _say(console, f"verdict: {found.verdict}", "bold red" if found.verdict.failed else "bold yellow")
