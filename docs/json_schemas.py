"""The published JSON schemas, generated from the models; a test compares the files with them.

``python docs/json_schemas.py docs/schemas`` (``make schemas``) writes them.
"""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from dpassay.audit.claims.model import ClaimsFile
from dpassay.audit.crosscheck.storage import FORMAT as VECTOR_FORMAT
from dpassay.audit.crosscheck.storage import VECTOR
from dpassay.audit.live import messages
from dpassay.audit.live.messages import NUMBERS, VERSION
from dpassay.audit.plain import NOT_FINITE, json_text
from dpassay.audit.row import Row
from dpassay.audit.running.report_file import FORMAT
from dpassay.audit.verdict import Verdict
from dpassay.reference.files import write_text

_PROGRAM: tuple[type[Any], ...] = (
    messages.Greeting,
    *messages.ASKS,
    *(messages.Query, messages.Output, messages.Unsupported, messages.Refused),
)
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_VERSION = {"const": VERSION}
_TEXT = {"type": "string"}
_WHOLE = {"type": "integer", "minimum": 0}
_HARNESS: dict[str, tuple[str, dict[str, Any]]] = {
    "hello": ("The first line; the answer is a Greeting.", {"dpassay": _VERSION, "do": {"const": "hello"}}),
    "case": (
        "A case begins. Problem and schedule are objects with the fields of their class.",
        {"dpassay": _VERSION, "do": {"const": "case"}}
        | {"algorithm": _TEXT, "reading": _TEXT, "problem": {}, "schedule": {}},
    ),
    "again": (
        "A case with the problem and the schedule of the last one, for programs that greeted with again.",
        {"dpassay": _VERSION, "do": {"const": "again"}},
    ),
    "end": ("No more cases. The end of the input says the same.", {"dpassay": _VERSION, "do": {"const": "end"}}),
    "drawn": (
        "The answer to batch, poisson and fresh: the number of the draw, and the records.",
        {"batch": _WHOLE, "indices": {"type": "array", "items": _WHOLE}},
    ),
    "value": ("The answer to any other ask.", {"value": {}}),
    "wanted": ("Within above_threshold: what is the value of this query? The answer is a Query.", {"query": _WHOLE}),
}
_NUMBERS = {
    "description": "A number, or nested lists of numbers of one shape; not finite: a string, or null for NaN.",
    "anyOf": [
        {"type": "number"},
        {"enum": [*NOT_FINITE, None]},
        {"type": "array", "items": {"$ref": f"#/$defs/{NUMBERS}"}},
    ],
}


def vector_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a vector; in a file of many, what ``cases`` says of a row is left out of its vectors."""
    found = VECTOR.json_schema()
    return {"$schema": _DRAFT, "$id": f"urn:dpassay:vector:{VECTOR_FORMAT}", **found, "title": "dpassay test vector"}


def live_schema() -> dict[str, Any]:
    """JSON Schema: ``program`` (what the program may say) and ``harness`` (what it hears), one line each."""
    definitions: dict[str, Any] = {NUMBERS: _NUMBERS}
    for kind in _PROGRAM:
        definitions[kind.__name__] = _referred(TypeAdapter(kind).json_schema())
    for name, (said, parts) in _HARNESS.items():
        entry = {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}
        definitions[name] = {"description": said, **entry}
    definitions["program"] = {"anyOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in _PROGRAM]}
    definitions["harness"] = {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in _HARNESS]}
    return {
        "$schema": _DRAFT,
        "title": f"dpassay live protocol, version {VERSION}: one line",
        "anyOf": [{"$ref": "#/$defs/program"}, {"$ref": "#/$defs/harness"}],
        "$defs": definitions,
    }


def _referred(part: Any) -> Any:
    """Numbers by reference, their definition contains itself; titles say nothing."""
    if isinstance(part, dict):
        if part.get("title") == NUMBERS:
            return {"$ref": f"#/$defs/{NUMBERS}"}
        return {name: _referred(one) for name, one in part.items() if not (name == "title" and isinstance(one, str))}
    return [_referred(one) for one in part] if isinstance(part, list) else part


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
        "$schema": _DRAFT,
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
    claims = {"$schema": _DRAFT, **ClaimsFile.model_json_schema()}
    made = {"claims": claims, "live": live_schema(), "report": report_schema(), "vector": vector_schema()}
    return {f"{name}.schema.json": json_text(one) + "\n" for name, one in made.items()}


if __name__ == "__main__":
    for name, text in published().items():
        write_text(Path(sys.argv[1]) / name, text, "folder")
