"""``dpassay demo``: a planted bug is caught, step by step, in plain words."""

from __future__ import annotations

import inspect
import textwrap
import time
from typing import Annotated

import typer
from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from dpassay.audit.assaying.assay import assay
from dpassay.audit.evidence.assay import Assay
from dpassay.audit.exit_codes import FAILED, FINE
from dpassay.audit.plain import number
from dpassay.audit.report.verdicts import wide_console
from dpassay.audit.row import Effort
from dpassay.audit.zoo.demo import CLAIM, SPACE, STEPS, clips_each_record, clips_the_mean
from dpassay.reference.errors import require

_EFFORT = Effort(runs=400, pilot=200, examples=150)
_WIDEST = 100


def demo(seed: Annotated[int, typer.Option(help="Same seed, same numbers.")] = 0) -> None:
    """Plant a bug in a private training loop and catch it: takes some seconds.

    Exit code 0 if the bug was caught and the mended loop was not accused, else 1.
    """
    require(seed >= 0, "--seed", seed, "must not be negative")
    start = time.perf_counter()
    effort = Effort(_EFFORT.runs, _EFFORT.pilot, _EFFORT.confidence, seed, _EFFORT.examples)
    told = _Told(wide_console(_WIDEST))
    told.head("A training loop with a claim")
    told.code(inspect.getsource(clips_the_mean))
    told.say(
        f"{STEPS} steps of gradient descent with Gaussian noise. Its author claims epsilon {CLAIM.epsilon:g} at delta "
        f"{CLAIM.delta:g}: whoever sees the model learns next to nothing about any one record. A record may be any row "
        "of length 10 at most. Do you see the bug?"
    )
    with told.console.status("auditing ..."):
        wrong = assay(clips_the_mean, SPACE, CLAIM, effort=effort)
    _accounted(told, wrong)
    _found(told, wrong)
    _mended(told, effort)
    with told.console.status("auditing the mended loop ..."):
        right = assay(clips_each_record, SPACE, CLAIM, effort=effort)
    _compare(told, right)
    caught = wrong.verdict.failed and not right.verdict.failed
    told.console.print()
    seconds = f"{time.perf_counter() - start:.0f} s"
    if caught:
        told.console.print(Text(f"Caught, in {seconds}.", style="bold green"))
    else:
        told.console.print(Text(f"NOT as it should be ({seconds}): please report this.", style="bold red"))
    told.say("Your own: dpassay audit MODULE:RUN --epsilon 1 (docs/own.md). What this machine can do: dpassay doctor.")
    raise typer.Exit(FINE if caught else FAILED)


class _Told:
    """Prints headed paragraphs, as wide as is good to read."""

    def __init__(self, console: Console):
        self.console, self._width, self._number = console, min(console.width, _WIDEST), 0

    def head(self, text: str) -> None:
        self._number += 1
        self.console.print()
        self.console.print(Text(f"{self._number}. {text}", style="bold cyan"))

    def code(self, text: str) -> None:
        self.console.print(Syntax(textwrap.dedent(text), "python", theme="ansi_dark", background_color="default"))

    def say(self, text: str, style: str = "") -> None:
        self.console.print(Text(textwrap.fill(text, self._width), style=style))

    def lines(self, lines: list[str]) -> None:
        for line in lines:
            shown = textwrap.wrap(line, self._width - 4, subsequent_indent=" " * 12, drop_whitespace=False)
            self.console.print(Text("\n".join("    " + part.rstrip() for part in shown), style="yellow"))


def _accounted(told: _Told, found: Assay) -> None:
    told.head("What an accountant says")
    told.say(
        f"{STEPS} releases, each with noise 7 times the sensitivity that the code states: together epsilon "
        f"{number(found.accounted)}. Within the claim, so an accountant alone would pass it. It believes the stated "
        "sensitivity."
    )


def _found(told: _Told, found: Assay) -> None:
    told.head("What dpassay finds")
    told.say(
        f"It runs the loop on {found.searched.examples} pairs of data sets that differ in one record, with the same "
        "noise on both, and keeps the smallest pair on which something is wrong:"
    )
    if found.witness is not None:
        told.lines(found.witness.lines())
    told.say(
        "The mean of the gradients is shortened, not each gradient. One long record then turns the whole mean around, "
        "and no amount of other records drowns it: the query moves further than the code states."
    )
    told.head("What that costs")
    told.say(
        f"From {_EFFORT.runs} runs an adversary who sees the releases can show epsilon >= {number(found.realised)}, at "
        f"95 % confidence; claimed was {CLAIM.epsilon:g}."
    )
    told.say(f"verdict: {found.verdict}", "bold red" if found.verdict.failed else "bold yellow")


def _mended(told: _Told, effort: Effort) -> None:
    told.head("The same loop, mended")
    before, after = (inspect.getsource(one).splitlines() for one in (clips_the_mean, clips_each_record))
    changed = [(old.strip(), new.strip()) for old, new in zip(before[1:], after[1:], strict=True) if old != new]
    for old, new in changed:
        told.console.print(Text(f"  - {old}", style="red"))
        told.console.print(Text(f"  + {new}", style="green"))


def _compare(told: _Told, found: Assay) -> None:
    told.say(
        f"accounted {number(found.accounted)}, realised >= {number(found.realised)}: nothing found on "
        f"{found.searched.examples} examples. That is no proof of privacy, but an audit that would have seen a "
        "violation, as the line above shows."
    )
    told.say(f"verdict: {found.verdict}", "bold red" if found.verdict.failed else "bold green")
