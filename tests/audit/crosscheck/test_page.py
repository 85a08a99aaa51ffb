"""The table of planted bugs in docs/crosscheck.md is that of the tests; the page's program runs in tests/house."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from .planted import MISNAMED, PLANTED

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "crosscheck.md").read_text(encoding="utf-8")


def test_the_table_of_planted_bugs():
    named = Counter(kind for algorithm, bug, kind in PLANTED if (algorithm, bug) not in MISNAMED)
    for kind, count in Counter(kind for _, _, kind in PLANTED).items():
        assert f"| {kind} | {count} | {named[kind]} |" in PAGE
    assert f"| all | {len(PLANTED)} | {sum(named.values())} |" in PAGE
