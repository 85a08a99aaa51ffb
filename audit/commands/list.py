"""``dpassay list``: the catalogue."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from dpassay.audit.plain import json_text
from dpassay.reference.catalogue import CASES


def list_(as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False) -> None:
    """List every algorithm, reading and instance that can be audited."""
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
    table = Table(box=None, header_style="bold")
    table.add_column("key", no_wrap=True)
    table.add_column("claim", no_wrap=True)
    table.add_column("quick", no_wrap=True)
    table.add_column("what")
    for case in CASES:
        claim = f"({case.claim.epsilon:g}, {case.claim.delta:.0e})"
        table.add_row(case.key, claim, "yes" if case.quick else "", f"{case.title} ({case.cite.place})")
    console = Console()
    console.print(table, soft_wrap=not console.is_terminal)
