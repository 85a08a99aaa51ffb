"""``dpassay list``: the catalogue."""

from __future__ import annotations

import shutil
import sys
from typing import Annotated

import typer

from dpassay.audit.plain import json_text
from dpassay.reference.catalogue import CASES


def list_(as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False) -> None:
    """List every algorithm, reading and instance that can be audited: key, claim, whether it is quick, what it is."""
    if as_json:
        rows = [
            {
                "key": case.key,
                "title": case.title,
                "cite": str(case.cite),
                "epsilon": case.claim.epsilon,
                "delta": case.claim.delta,
                "relation": case.claim.relation,
                "quick": case.quick,
            }
            for case in CASES
        ]
        print(json_text(rows))
        return
    narrow = sys.stdout.isatty() and shutil.get_terminal_size().columns < _KEY + 60
    for case in CASES:
        claim = f"({case.claim.epsilon:g}, {case.claim.delta:.0e})"
        what = f"{case.title} ({case.cite.place})"
        if narrow:  # a key stays whole, so that it can be copied
            print(f"{case.key}\n    {claim}{', quick' if case.quick else ''}: {what}")
        else:
            print(f"{case.key:<{_KEY}}  {claim:<15}  {'quick' if case.quick else '':<5}  {what}")


_KEY = max(len(case.key) for case in CASES)
