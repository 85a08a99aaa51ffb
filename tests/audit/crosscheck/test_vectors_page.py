"""The page about vectors names every field of their schema, and every field that a committed vector's event has."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dpassay.audit.crosscheck.storage import load
from dpassay.reference.second_order_erm.line_search import gaussian_parameter

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


def test_the_page_prints_right_numbers():
    rows = re.findall(
        r"^\| ([\d.]+) \| (\d) \| ([\d.]+) \| ([\d.]+) \|$",
        (DOCS / "vectors.md").read_text(encoding="utf-8").partition("## What a line search costs")[2],
        re.MULTILINE,
    )
    assert len(rows) == 3
    for lam, trials, beta, mu in rows:
        assert float(mu) == pytest.approx(gaussian_parameter(float(lam), int(trials), float(beta)), rel=1e-6)
