"""Options that several commands have, and what a shell may offer for a name of the catalogue."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from dpassay.reference.errors import require

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
JUnit = Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML here, one test case a row.")]
Sarif = Annotated[Path | None, typer.Option("--sarif", help="Write SARIF 2.1.0 here, findings at their source lines.")]
Markdown = Annotated[Path | None, typer.Option("--markdown", help="Write Markdown here, for a comment or a summary.")]
GitHub = Annotated[
    bool, typer.Option("--github", help="Print annotations for GitHub Actions, and add to the job's summary.")
]
Epsilon = Annotated[float | None, typer.Option("--epsilon", help="Claimed epsilon, at --delta.")]
Delta = Annotated[float, typer.Option("--delta", help="Claimed delta (0 allowed).")]
Mu = Annotated[float | None, typer.Option("--gdp", help="Claim mu-Gaussian DP instead.")]
Sampled = Annotated[
    str | None,
    typer.Option("--sampled-gaussian", help="NOISE:RATE:STEPS: claim the PLD of DP-SGD (add or remove) instead."),
]
PairsFile = Annotated[
    Path | None, typer.Option("--curve", help="JSON file: claim all of [[epsilon, delta], ...] instead.")
]


class FailOn(StrEnum):
    """The mildest verdict whose exit code is not 0; each includes all that stand before it."""

    NEVER = "never"
    VIOLATED = "violated"
    LEAKS = "leaks"
    OVERSHOOTS = "overshoots"
    OVER_BUDGET = "over-budget"
    INCONCLUSIVE = "inconclusive"

    def counts(self, verdict: str) -> bool:
        """Does this verdict change the exit code?"""
        return verdict in [one.value.replace("-", " ") for one in FailOn][: list(FailOn).index(self) + 1]


Mildest = Annotated[FailOn, typer.Option("--fail-on", help="The mildest verdict whose exit code is not 0.")]


def within(name: str, good: Callable[[Any], bool], why: str) -> Callable[[Any], Any]:
    """What looks at the value of an option, if it has one."""

    def look(value: Any) -> Any:
        require(value is None or good(value), name, value, why)
        return value

    return look


SURE = 1 - 1e-9  # what is left of the level beyond is rounding
_sure = within("--confidence", lambda one: 0 < one <= SURE, f"must lie in (0, {SURE}]")
_ENDS = "Seconds after which the audit of your own code ends with what it has found."
_finite = within("--budget", lambda one: 0 < one < float("inf"), "must be positive and finite")
Budget = Annotated[float | None, typer.Option(callback=_finite, help=_ENDS)]
Confidence = Annotated[float, typer.Option(callback=_sure, help="Confidence of the verdict, or of each.")]
SEED = within("--seed", lambda one: one >= 0, "must not be negative")
Seed = Annotated[int, typer.Option(callback=SEED, help="Same seed, same numbers.")]
_few = within("--jobs", lambda one: 1 <= one <= 1000, "must lie in 1..1000")
Jobs = Annotated[int, typer.Option(callback=_few, help="Worker processes; they change no number.")]


def names(incomplete: str) -> Iterator[tuple[str, str]]:
    """Papers, algorithms and keys that begin so, each with what it is; keys only where nothing shorter is left."""
    from dpassay.reference.catalogue import CASES

    papers = {case.paper: "paper" for case in CASES}
    ids = {case.id: case.title for case in CASES}
    keys = {case.key: case.title for case in CASES}
    for known in (papers, ids, keys) if "/" not in incomplete else (ids, keys):
        found = {name: title for name, title in known.items() if name.startswith(incomplete)}
        if found and set(found) != {incomplete}:
            yield from found.items()
            return
