"""The generated parts of README and docs/results.md: what rewrites them, and that another report is noticed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dpassay.audit.report import pages, plot
from dpassay.reference import marked
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import BadInput

ROOT = Path(__file__).resolve().parents[2]
RESULTS = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
ROW = {
    "algorithm": "baselines/x", "variant": "", "reading": "baseline", "claimed": 1.0, "accounted": 0.999,
    "realised": 0.981, "realised_by": "likelihood", "verdict": "tight", "why": "98% shown",
}  # fmt: skip
COUNTS = "| paper | proved | refuted | rows |\n|---|---|---|---|\n| all | 3 | 1 | 5 |"
LEDGER = f"{marked.LEDGER.begin}\n{COUNTS}\n{marked.LEDGER.end}"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A checkout with one row in its report."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pages, "CAUSES", {"baselines/x@baseline": "none"})
    (tmp_path / "docs").mkdir()
    Path("docs/results.md").write_text(f"before\n{marked.AUDIT.begin}\n{marked.AUDIT.end}\nafter\n{LEDGER}\n")
    Path("README.md").write_text(f"first\n{marked.SHORT.begin}\n{marked.SHORT.end}\nlast\n")
    Path("audit.json").write_text(json.dumps({"rows": [ROW]}))
    return tmp_path


def test_the_committed_table_has_the_default_suite():
    """Row by row the quick cases of the catalogue, in their order (the numbers are held by `.ci/run`)."""
    assert [pages.key_of(row) for row in pages.rows_of(RESULTS)] == [case.key for case in CASES if case.quick]


def test_the_readme_shows_eight_of_these_rows():
    """As `python -m dpassay.audit.report.pages` writes them, with short causes, of all five papers and a baseline."""
    assert marked.SHORT.read(README, "README.md").strip() == pages.short_block(RESULTS)
    assert len(pages.CAUSES) == 8 and max(map(len, pages.CAUSES.values())) <= pages.LONGEST_CAUSE
    assert len({key.split("/")[0] for key in pages.CAUSES}) == 6


def test_the_plot_is_of_these_rows():
    text = (ROOT / pages.PLOT).read_text(encoding="utf-8")
    assert plot.fingerprint(pages.rows_of(RESULTS)) in text, "run `python -m dpassay.audit.report.pages`"
    other = [[*row[:4], "77", *row[5:]] for row in pages.rows_of(RESULTS)]
    assert plot.fingerprint(other) not in text


def test_the_same_rows_give_the_same_plot():
    rows = pages.rows_of(RESULTS)[:3]
    first = plot.draw(rows)
    assert plot.draw(rows) == first and "baselines/dp_sgd:digits@baseline" in first
    assert "1970" not in first and not re.search(r"<dc:date>", first)


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
        ({"upper_bound": False}, True),
    ],
)
def test_a_change_of_what_is_shown_is_noticed(place, change, noticed):
    assert pages.main(["audit.json"]) == 0
    text = Path("docs/results.md").read_text()
    assert text.startswith("before\n") and text.endswith(f"after\n{LEDGER}\n")
    assert "| `baselines/x` | baseline | 1 | 0.999 | 0.981 | tight | none |" in Path("README.md").read_text()
    assert "5 rows about the papers: 3 proved, 1 refuted" in Path("README.md").read_text()
    assert plot.fingerprint(pages.rows_of(text)) in Path("docs/results.svg").read_text()
    Path("audit.json").write_text(json.dumps({"rows": [{**ROW, **change}]}))
    assert pages.main(["audit.json", "--check"]) == int(noticed)


def test_a_row_of_the_readme_that_is_gone_is_named(place):
    Path("audit.json").write_text(json.dumps({"rows": [{**ROW, "variant": "y"}]}))
    with pytest.raises(BadInput, match="baselines/x@baseline"):
        pages.main(["audit.json"])


def test_a_missing_row_is_noticed():
    assert pages.differences(pages.table([ROW, ROW]), pages.table([ROW]))


@pytest.mark.parametrize(
    "text",
    ["nothing here", f"{marked.AUDIT.end} {marked.AUDIT.begin}", 2 * f"{marked.AUDIT.begin} x {marked.AUDIT.end}"],
)
def test_no_markers(text):
    with pytest.raises(BadInput, match=r"README\.md.*markers"):
        marked.AUDIT.written(text, "new", "README.md")


def test_the_readme_is_short():
    """Tables and long lines are for docs/; the longest row of a table fits a screen."""
    assert len(README.splitlines()) < 120 and max(map(len, README.splitlines())) <= 200
