"""The page of tested versions: its form, its writer, and that it says what was not run."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_SPEC = importlib.util.spec_from_file_location("versions_page", ROOT / "docs" / "versions.py")
page = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(page)
TEXT = page.PAGE.read_text(encoding="utf-8")
EMPTY = f"# T\n\n{page.VERSIONS.begin}\n{page.VERSIONS.end}\n"
JUNIT = '<testsuites><testsuite tests="{}" skipped="2" failures="{}" errors="1"/></testsuites>'


def complete(row: str) -> bool:
    """A row says what was run with which versions of every library, and that nothing failed."""
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    tests = re.fullmatch(r"(\d,\d{3}) passed, (\d{1,2}) skipped, 0 failed", cells[2])
    told = dict(one.rsplit(" ", 1) for one in cells[3].split(", "))
    return bool(tests and re.fullmatch(r"3\.\d+\.\d+", cells[1]) and set(told) == set(page.declared()))


def test_the_page_tells_every_supported_python_and_the_lowest_versions():
    rows = page.rows_of(TEXT)
    assert rows and all(complete(row) for row in rows.values())
    run = {python for dependencies, python in rows if dependencies == page.NEWEST}
    not_run = re.search(r"Not run, because it was not installed: Python ([\d., ]+)\.", TEXT)
    named = set(not_run[1].split(", ")) if not_run else set()
    assert run | named == set(page.tried()) and not run & named
    assert (page.LOWEST, page.tried()[0]) in rows


def test_the_lowest_versions_are_those_that_are_declared():
    row = page.rows_of(TEXT)[page.LOWEST, page.tried()[0]]
    told = dict(one.rsplit(" ", 1) for one in row.strip("| ").split("|")[3].strip().split(", "))
    for name, low in page.declared().items():
        padded = [f"{part}.0.0.0".split(".")[: len(low.split("."))] for part in (told[name], low)]
        assert padded[0] == padded[1], (name, told[name], low)


def test_a_row_is_replaced_and_the_others_are_kept():
    first = page.written(EMPTY, "newest", "3.12.1", "3,000 passed, 1 skipped, 0 failed", "numpy 2.0")
    both = page.written(first, "lowest", "3.11.7", "2,999 passed, 1 skipped, 1 failed", "numpy 2.0")
    again = page.written(both, "newest", "3.12.9", "3,001 passed, 1 skipped, 0 failed", "numpy 2.4")
    assert list(page.rows_of(again)) == [("newest", "3.12"), ("lowest", "3.11")]
    assert "3.12.9" in again and "3.12.1" not in again and "1 failed" in again and again.startswith("# T")
    assert "Not run, because it was not installed: Python 3.11, 3.13, 3.14." in again


def test_a_row_with_a_failure_is_not_complete_and_no_test_is_no_result(tmp_path):
    report = tmp_path / "junit.xml"
    report.write_text(JUNIT.format(4001, 3))
    assert page.counted(report) == "3,995 passed, 2 skipped, 4 failed"
    versions = ", ".join(f"{name} 1.0" for name in page.declared())
    assert complete(f"| newest | 3.12.1 | 4,001 passed, 2 skipped, 0 failed | {versions} |")
    assert not complete(f"| newest | 3.12.1 | {page.counted(report)} | {versions} |")
    assert not complete("| newest | 3.12.1 | 4,001 passed, 2 skipped, 0 failed | numpy 1.0 |")
    report.write_text(JUNIT.format(0, 0))
    with pytest.raises(ValueError, match="no test was run"):
        page.counted(report)


def test_the_page_is_in_the_navigation():
    assert "versions.md" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
