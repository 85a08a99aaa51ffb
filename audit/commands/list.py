"""``dpassay list``: the catalogue."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from itertools import groupby
from typing import Annotated

import typer

from dpassay.audit.plain import json_text
from dpassay.audit.registered import all_cases, find_cases
from dpassay.reference.case import Case
from dpassay.reference.papers import PAPERS

from . import completion


def list_(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Papers, algorithms or keys; default: the whole catalogue.", autocompletion=completion.names
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List every algorithm, reading and instance that can be audited.

    One line for each: the key that other commands take, the claimed (epsilon, delta), and whether it is part of the
    default audit ("quick").
    """
    cases = list({case.key: case for name in names for case in find_cases(name)}.values()) if names else all_cases()
    if as_json:
        print(json_text([_as_data(case) for case in cases]))
        return
    width = max(len(case.key) for case in cases)
    narrow = sys.stdout.isatty() and shutil.get_terminal_size().columns < width + 30
    for position, (paper, group) in enumerate(groupby(cases, key=lambda case: case.id.split("/")[0])):
        print(("\n" if position else "") + _heading(paper))
        _print_algorithms(group, width, narrow)


def _print_algorithms(cases: Iterable[Case], width: int, narrow: bool) -> None:
    for what, group in groupby(cases, key=what_it_is):
        print(f"  {what}")
        for case in group:
            claim = f"({case.claim.epsilon:g}, {case.claim.delta:.0e})"
            quick = "  quick" if case.quick else ""
            if narrow:  # a key stays whole, so that it can be copied
                print(f"    {case.key}\n        {claim}{quick}")
            else:
                print(f"    {case.key:<{width}}  {claim:<15}{quick}".rstrip())


def what_it_is(case: Case) -> str:
    """Title and place, each once: ``DP-RGDA (Algorithms 2 and 3)``."""
    place = case.cite.place if case.cite.paper == case.id.split("/")[0] else str(case.cite)
    return case.title if case.cite.place in case.title else f"{case.title} ({place})"


def _heading(paper: str) -> str:
    if paper not in PAPERS:
        return paper
    return f"{paper}: {PAPERS[paper].title}"


def _as_data(case: Case) -> dict[str, object]:
    return {
        "key": case.key,
        "title": case.title,
        "cite": str(case.cite),
        "epsilon": case.claim.epsilon,
        "delta": case.claim.delta,
        "relation": case.claim.relation,
        "quick": case.quick,
    }
