"""The generated parts of README and docs/results.md: what rewrites them, and that another report is noticed."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from dpassay.audit import marked
from dpassay.audit.report import pages
from dpassay.audit.row import Row
from dpassay.audit.running.report_file import FORMAT
from dpassay.audit.version import installed_version
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import BadInput

ROOT = Path(__file__).resolve().parents[2]
RESULTS = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
ROW = Row(
    "baselines/x", "", "baseline", "", 1.0, 1e-5, "replace-one", 0.999, "", True, 0.981, "likelihood", "tight",
    "98% shown", True, [], [], [], {}, None, 10, 60, 0.95, 0, 0.1, "0" * 16, {},
).as_dict()  # fmt: skip


def report(**change):
    """A report with this row, as JSON."""
    return json.dumps({"format": FORMAT, "dpassay": installed_version(), "rows": [{**ROW, **change}]})


COUNTS = "5 statements: 3 proved, 2 broken, open (`dpassay prove`)."
LEDGER = f"{marked.LEDGER.begin}\n{COUNTS}\n{marked.LEDGER.end}"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A checkout with one row in its report."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pages, "CAUSES", {"baselines/x@baseline": "none"})
    (tmp_path / "docs").mkdir()
    Path("docs/results.md").write_text(f"before\n{marked.AUDIT.begin}\n{marked.AUDIT.end}\nafter\n{LEDGER}\n")
    Path("README.md").write_text(f"first\n{marked.SHORT.begin}\n{marked.SHORT.end}\nlast\n")
    Path("audit.json").write_text(report())
    return tmp_path


def test_the_committed_table_has_the_default_suite():
    """Row by row the quick cases of the catalogue, in their order (the numbers are held by `.ci/run`)."""
    assert [line.key for line in pages.lines_of(RESULTS)] == [case.key for case in CASES if case.quick]


def test_the_readme_shows_eight_of_these_rows():
    """As `python -m dpassay.audit.report.pages` writes them, with short causes, of all five papers and a baseline."""
    assert marked.SHORT.read(README, "README.md").strip() == pages.short_block(RESULTS)
    assert len(pages.CAUSES) == 8 and max(map(len, pages.CAUSES.values())) <= pages.LONGEST_CAUSE
    assert len({key.split("/")[0] for key in pages.CAUSES}) == 6


def test_the_plot_is_of_these_rows():
    text = (ROOT / pages.PLOT).read_text(encoding="utf-8")
    assert pages.fingerprint(pages.lines_of(RESULTS)) in text, "run `python -m dpassay.audit.report.pages`"
    other = [replace(line, cells=(*line.cells[:4], "77", *line.cells[5:])) for line in pages.lines_of(RESULTS)]
    assert pages.fingerprint(other) not in text


def test_the_same_rows_give_the_same_plot():
    lines = pages.lines_of(RESULTS)[:3]
    first = pages.draw(lines)
    assert pages.draw(lines) == first and "baselines/dp_sgd:digits@baseline" in first
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
    assert "| `baselines/x` | baseline | 1 | open | 0.999 | 0.981 | tight | none |" in Path("README.md").read_text()
    assert "The papers make 5 statements: 3 proved, 2 broken" in Path("README.md").read_text()
    assert pages.fingerprint(pages.lines_of(text)) in Path("docs/results.svg").read_text()
    Path("audit.json").write_text(report(**change))
    assert pages.main(["audit.json", "--check"]) == int(noticed)


def test_a_row_of_the_readme_that_is_gone_is_named(place):
    Path("audit.json").write_text(report(variant="y"))
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
    assert len(README.splitlines()) <= 125 and max(map(len, README.splitlines())) <= 200


def test_a_forged_report_puts_no_html_and_no_marker_into_the_pages(place):
    evil = f"<img src=x onerror=alert(1)> | {marked.AUDIT.end} \x1b[2J if n < 2"
    Path("audit.json").write_text(report(why=evil, realised_by=evil, variant=evil))
    with pytest.raises(BadInput, match="baselines/x@baseline"):  # the README's row has another key now
        pages.main(["audit.json"])
    Path("audit.json").write_text(report(why=evil, realised_by=evil))
    assert pages.main(["audit.json"]) == 0
    text = Path("docs/results.md").read_text()
    assert "<img" not in text and "\x1b" not in text and "if n < 2" in text
    assert text.count(marked.AUDIT.end) == 1 and len(pages.lines_of(text)) == 1
    Path("audit.json").write_text(report(verdict="**private**"))
    with pytest.raises(BadInput, match="verdict"):
        pages.main(["audit.json"])


def test_a_block_holds_no_marker_of_its_own():
    page = f"{marked.SHORT.begin}\n{marked.SHORT.end}"
    with pytest.raises(BadInput, match="holds a marker"):
        marked.SHORT.written(page, f"x {marked.SHORT.end} y", "README")
