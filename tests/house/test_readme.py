"""The README's generated table: what rewrites it, and that a report saying something else is noticed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpassay.audit.report.readme import BEGIN, END, differences, main, split, table
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import BadInput

ROOT = Path(__file__).resolve().parents[2]
ROW = {
    "algorithm": "baselines/x", "variant": "", "reading": "baseline", "claimed": 1.0, "accounted": 0.999,
    "realised": 0.981, "realised_by": "likelihood", "verdict": "tight", "why": "98% shown",
}  # fmt: skip


def test_the_committed_table_has_the_default_suite():
    """Row by row the quick cases of the catalogue, in their order (the numbers are held by `.ci/run`)."""
    _, inside, _ = split((ROOT / "README.md").read_text(encoding="utf-8"), "README.md")
    names = [tuple(cell.strip() for cell in line.split(" | ")[:2]) for line in inside.strip().splitlines()[2:]]
    expected = [
        (f"| `{case.id}`" + (f" {case.variant}" if case.variant else ""), case.reading) for case in CASES if case.quick
    ]
    assert names == expected


@pytest.mark.parametrize(
    ("change", "noticed"),
    [
        ({}, False),
        ({"realised": 0.97}, False),
        ({"realised": 0.8}, True),
        ({"verdict": "consistent"}, True),
        ({"realised": "infinity", "realised_by": "exact"}, True),
        ({"reading": "printed"}, True),
        ({"accounted": 1.2}, True),
    ],
)
def test_a_change_of_what_is_shown_is_noticed(tmp_path, change, noticed):
    readme, report = tmp_path / "README.md", tmp_path / "audit.json"
    report.write_text(json.dumps({"rows": [ROW]}))
    readme.write_text(f"before\n{BEGIN}\n{END}\nafter\n")
    assert main([str(report), str(readme)]) == 0
    assert readme.read_text().startswith("before\n") and readme.read_text().endswith("after\n")
    report.write_text(json.dumps({"rows": [{**ROW, **change}]}))
    assert main([str(report), str(readme), "--check"]) == int(noticed)


def test_a_missing_row_is_noticed():
    assert differences(table([ROW, ROW]), table([ROW]))


def test_no_markers():
    with pytest.raises(BadInput, match="markers"):
        split("nothing here", "README.md")
