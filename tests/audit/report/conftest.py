"""Rows of every sort: passed, failed, declared, undecided, and one whose names are hostile."""

from dataclasses import replace

import pytest

from dpassay.audit.row import Row
from dpassay.reference.findings import Finding, Kind

FINE = Row(
    "baselines/dp_sgd", "poisson", "baseline", "digits", 1.0, 1e-5, "replace-one", 0.99, "exact", True, 0.95,
    "likelihood", "tight", "96% of the accounted epsilon shown", True, [], [], [], {"gradient": 1.0}, 0.99, 1000, 400,
    0.95, 0, 1.25, "0" * 16, {"n": 3},
)  # fmt: skip
EXCEEDED = {"kind": "sensitivity exceeded", "label": "mean", "step": 0, "detail": "moved by 10", "given_secrets": False}
PLACE = {"finding": "sensitivity exceeded (mean)", "file": "mine.py", "line": 22}
WITNESS = {"format": 2, "finding": EXCEEDED}
FAILED = replace(
    FINE, algorithm="mine:run", variant="", reading="own", upper_bound=False, realised=13.1, verdict="violated",
    why="sensitivity exceeded at mean", expected=False, undeclared=["sensitivity exceeded (mean)", "violated"],
    findings=[Finding(Kind.SENSITIVITY_EXCEEDED, "mean", 0, "the pair moves the query by 6.7, claimed 0.67")],
    witnesses=[WITNESS], places=[PLACE],
)  # fmt: skip
DECLARED = replace(
    FINE, algorithm="dro/double_spider", reading="printed", verdict="leaks", realised=float("inf"),
    realised_by="replay", accounted=float("inf"), findings=[Finding(Kind.EARLY_END, "v", 3, "one side stops")],
)  # fmt: skip
UNDECIDED = replace(FINE, algorithm="dro/other", verdict="inconclusive", why="no power", realised=None, power=0.1)
EVIL = "\x1b[31m</failure>]]>&<script>alert(1)</script>\n::error::x | `a` ```b``` @team [x](javascript:1) \ud800\ufffe%"
HOSTILE = replace(
    FAILED, algorithm=f"mine:{EVIL}", why=EVIL, data=EVIL, undeclared=[f"early end ({EVIL})"], raised=[EVIL],
    findings=[Finding(Kind.EARLY_END, EVIL, 1, EVIL)], missing=[EVIL],
    witnesses=[{**WITNESS, "finding": {**EXCEEDED, "label": EVIL}}],
    places=[{"finding": f"sensitivity exceeded ({EVIL})", "file": EVIL, "line": 3}],
)  # fmt: skip


@pytest.fixture(scope="session")
def row_of():
    return {"fine": FINE, "failed": FAILED, "declared": DECLARED, "undecided": UNDECIDED, "hostile": HOSTILE}


@pytest.fixture(scope="session")
def rows(row_of):
    return list(row_of.values())
