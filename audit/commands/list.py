"""``dpassay list``: the catalogue."""

import shutil
import sys
from collections.abc import Iterable
from itertools import groupby
from typing import Annotated

import typer

from dpassay.audit.plain import json_text
from dpassay.audit.terminal.options import AsJson
from dpassay.audit.terminal.options import names as catalogue_names
from dpassay.reference.case import Case
from dpassay.reference.catalogue import CASES, find
from dpassay.reference.papers import PAPERS


def list_(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Papers, algorithms or keys; default: the whole catalogue.", autocompletion=catalogue_names
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List every algorithm, reading and instance that can be audited.

    One line for each: the key that other commands take, the claimed (epsilon, delta), and "quick" if it is part of the
    default audit.
    """
    cases = list({case.key: case for name in names for case in find(name)}.values()) if names else list(CASES)
    if as_json:
        told = [
            {"key": case.key, "title": case.title, "cite": str(case.cite), "quick": case.quick,
             "epsilon": case.claim.epsilon, "delta": case.claim.delta, "relation": case.claim.relation}
            for case in cases
        ]  # fmt: skip
        print(json_text(told))
        return
    width = max(len(case.key) for case in cases)
    narrow = sys.stdout.isatty() and shutil.get_terminal_size().columns < width + 30
    for position, (paper, group) in enumerate(groupby(cases, key=lambda case: case.paper)):
        print(("\n" if position else "") + (f"{paper}: {PAPERS[paper].title}" if paper in PAPERS else paper))
        _print_algorithms(group, width, narrow)
    print("\nIn brackets: the claimed (epsilon, delta). quick: part of `dpassay audit` without names.")


def _print_algorithms(cases: Iterable[Case], width: int, narrow: bool) -> None:
    by_title: dict[str, list[Case]] = {}
    for case in cases:
        by_title.setdefault(what_it_is(case), []).append(case)
    for what, group in by_title.items():
        print(f"  {what}")
        for case in group:
            claim = f"({case.claim.epsilon:g}, {case.claim.delta:.0e})"
            quick = "  quick" if case.quick else ""
            if narrow:  # a key stays whole, so that it can be copied
                print(f"    {case.key}\n        {claim}{quick}")
            else:
                print(f"    {case.key:<{width}}  {claim:<15}{quick}".rstrip())


def what_it_is(case: Case) -> str:
    """Title, place and a paper other than the case's own, each once: ``DP-RGDA (Algorithms 2 and 3)``."""
    other = "" if case.cite.paper == case.paper else case.cite.paper
    place = "" if case.cite.place in case.title else case.cite.place
    where = ", ".join(part for part in (other, place) if part)
    return f"{case.title} ({where})" if where else case.title
