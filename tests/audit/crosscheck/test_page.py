"""The table in docs/crosscheck.md counts the planted bugs of the twins; the page's program runs in tests/house."""

from __future__ import annotations

from pathlib import Path

from .planted import FIRST_TRIAL, MISNAMED, PLANTED

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "crosscheck.md").read_text(encoding="utf-8")


def test_the_table_counts_the_planted_bugs():
    count = len(PLANTED)
    assert f"(`planted.py`) | {count} | {FIRST_TRIAL} | {count - len(MISNAMED)} |" in PAGE
