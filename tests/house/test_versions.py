"""The page of tested versions: its form, and that it says what was not run."""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_SPEC = importlib.util.spec_from_file_location("versions_page", ROOT / "docs" / "versions.py")
page = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(page)
TEXT = page.PAGE.read_text(encoding="utf-8")


def told(row: str) -> dict[str, str]:
    """The versions of a row, which says what was run and that nothing failed."""
    _, python, tests, versions = (cell.strip() for cell in row.strip("|").split("|"))
    assert re.fullmatch(r"\d,\d{3} passed, \d{1,2} skipped, 0 failed", tests) and re.fullmatch(r"3\.\d+\.\d+", python)
    return dict(one.rsplit(" ", 1) for one in versions.split(", "))


def test_the_page_tells_every_supported_python_and_the_lowest_versions_that_are_declared():
    rows, declared = page.rows_of(TEXT), page.declared()
    assert rows and all(set(told(row)) <= set(declared) for row in rows.values())
    run = {python for dependencies, python in rows if dependencies == page.NEWEST}
    not_run = re.search(r"Not run with the newest versions: Python ([\d., ]+)\.", TEXT)
    named = set(not_run[1].split(", ")) if not_run else set()
    assert run | named == set(page.tried()) and not run & named
    for name, version in told(rows[page.LOWEST, page.tried()[0]]).items():
        low = declared[name].split(".")
        assert f"{version}.0.0.0".split(".")[: len(low)] == low, name
