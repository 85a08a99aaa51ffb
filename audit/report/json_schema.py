"""The published JSON schemas, generated from the models; a test compares the files with them.

``python -m dpassay.audit.report.json_schema docs/schemas`` (``make schemas``) writes them.
"""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from dpassay.audit.plain import NOT_FINITE, json_text
from dpassay.audit.row import Row
from dpassay.audit.running.report_file import FORMAT
from dpassay.audit.verdict import Verdict
from dpassay.reference.files import write_text


def report_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a report.

    Its number is the report's ``format``: it changes when a field changes its meaning. New fields do not
    change it: a reader should ignore those that it does not know.
    """
    row = TypeAdapter(Row).json_schema()
    definitions = row.pop("$defs", {})
    definitions["Finding"]["description"] = "What differed between neighbours, and where."  # not all versions give one
    row = _with_infinities(row)
    row["title"], row["description"] = "Row", "One line of the table; null: not available."
    row["required"] = [field.name for field in fields(Row)]  # a report has all of them
    row["properties"]["verdict"] = {"title": "Verdict", "enum": [verdict.value for verdict in Verdict]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:dpassay:report:{FORMAT}",
        "title": "dpassay report",
        "type": "object",
        "required": ["format", "dpassay", "rows"],
        "properties": {
            "format": {"const": FORMAT, "description": "The version of this schema."},
            "dpassay": {"type": "string", "description": "The version of the package that wrote the report."},
            "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}},
            "changes": {"type": "array", "items": {"type": "object"}, "description": "Of `check`: against the lock."},
            "unchecked": {"type": "array", "items": {"type": "object"}, "description": "Of `check`: claims not run."},
        },
        "$defs": {"row": row, **_with_infinities(definitions)},
    }


def _with_infinities(schema: Any) -> Any:
    """Wherever a number may stand, one of the three words may."""
    if isinstance(schema, list):
        return [_with_infinities(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "number":
        rest = {name: value for name, value in schema.items() if name not in ("type", "default")}
        return {**rest, "anyOf": [{"type": "number"}, {"enum": [*NOT_FINITE]}]}
    return {name: _with_infinities(value) for name, value in schema.items() if name != "default"}


def published() -> dict[str, str]:
    """The schemas of reports, claims files, test vectors and lines of the live protocol, by the names of the files."""
    from dpassay.audit.claims.model import schema as claims_schema  # here: reports are written without them
    from dpassay.audit.crosscheck.model import vector_schema
    from dpassay.audit.live.schema import schema as live_schema

    made = {"claims": claims_schema(), "live": live_schema(), "report": report_schema(), "vector": vector_schema()}
    return {f"{name}.schema.json": json_text(one) + "\n" for name, one in made.items()}


if __name__ == "__main__":
    for name, text in published().items():
        write_text(Path(sys.argv[1]) / name, text, "folder")
