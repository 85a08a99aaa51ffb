"""The page about vectors names every field of their schema, and every field that a committed vector's event has."""

from __future__ import annotations

import json
from pathlib import Path

from dpassay.audit.crosscheck.storage import load

DOCS = Path(__file__).resolve().parents[3] / "docs"


def fields(part):
    """Names of all properties of a schema."""
    if isinstance(part, list):
        return set().union(*map(fields, part))
    if not isinstance(part, dict):
        return set()
    return set(part.get("properties", {})) | set().union(set(), *map(fields, part.values()))


def unnamed(names, text):
    return sorted(name for name in names if f"`{name}`" not in text)


def test_the_page_names_every_field():
    text = (DOCS / "vectors.md").read_text(encoding="utf-8")
    schema = json.loads((DOCS / "schemas" / "vector.schema.json").read_text(encoding="utf-8"))
    of_events = {
        name
        for algorithm in ("second_order_erm/opt_ls", "baselines/dp_sgd", "dp_ftrl/dp_ftrl")
        for vector in load(algorithm)
        for event in vector["events"]
        for name in event
    }
    assert {"count", "falls", "queries", "rate"} <= of_events and len(fields(schema)) > 20
    assert unnamed(fields(schema) | of_events, text) == []
    assert unnamed({"falls"}, text.replace("`falls`", "falls")) == ["falls"]
