"""The schema of the protocol's lines, both ways."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from dpassay.audit.plain import NOT_FINITE

from . import messages
from .messages import NUMBERS, VERSION

_PROGRAM: tuple[type[Any], ...] = (
    messages.Greeting,
    *messages.ASKS,
    *(messages.Query, messages.Output, messages.Unsupported, messages.Refused),
)
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


def schema() -> dict[str, Any]:
    """JSON Schema: ``program`` (what the program may say) and ``harness`` (what it hears), one line each."""
    definitions: dict[str, Any] = {NUMBERS: _NUMBERS}
    for kind in _PROGRAM:
        definitions[kind.__name__] = _referred(TypeAdapter(kind).json_schema())
    for name, (said, fields) in _HARNESS.items():
        entry = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
        definitions[name] = {"description": said, **entry}
    definitions["program"] = {"anyOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in _PROGRAM]}
    definitions["harness"] = {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in _HARNESS]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
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
