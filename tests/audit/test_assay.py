"""One row of the table: which verdict follows from what was claimed, accounted, replayed and realised, and why."""

import functools
import math
from dataclasses import replace

import pytest
from rich.console import Console

from dpassay.audit.assaying.assay import Effort, assay_case, run_suite
from dpassay.audit.assaying.why import moved_too_little, used_at_times
from dpassay.audit.commands.audit import with_proofs
from dpassay.audit.lockstep.outcome import Movement
from dpassay.audit.plain import number
from dpassay.audit.report import table as report_table
from dpassay.audit.report.table import closing_lines, print_rows, table_lines
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.case import Case, ExactDelta, Instance, PrivacyClaim, unscheduled
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Kind, declare
from dpassay.reference.neighbours import Pair
from dpassay.reference.papers import Cite

DELTA = 1e-5
ONE = gdp_epsilon(1.0, DELTA)  # 4.377: one Gaussian release with sensitivity = std
HERE = Cite("dwork2014", "Theorem 3.22")
EFFORT, FULL = Effort(runs=300, pilot=200, examples=9), Effort()
BARE = (Kind.VIOLATED, Kind.OVER_BUDGET, (Kind.BARE_RELEASE, "g"))


def case(run, claimed=ONE, pair=1.0, exact=None, known="", reading="printed", name="test/one", declared=()):
    claim = PrivacyClaim(claimed, DELTA, HERE)
    make = lambda: Instance(unscheduled(run), None, Pair(pair, 0.0, 0), exact=exact)  # noqa: E731 - a builder
    return Case(name, reading, "a test", HERE, claim, make, known=known, declared=declare(*declared))


@functools.cache
def assayed(run, **more):
    return assay_case(case(run, **more), EFFORT)


def honest(x, tape):
    return tape.gaussian("g", x, std=1.0, sensitivity=1.0)


def under_claimed_sensitivity(x, tape):
    return tape.gaussian("g", x, std=1.0, sensitivity=0.5)


def bare(x, tape):
    return tape.gaussian("g", x, std=0.0, sensitivity=1.0)


def branching(x, tape):
    return tape.gaussian("up" if x > 0.5 else "down", x, std=1.0, sensitivity=1.0)


def leaking(x, tape):
    return tape.gaussian("g", x, std=1.0, sensitivity=1.0), x


def half(x, tape):
    return tape.gaussian("g", x, std=0.5, sensitivity=1.0)


def overshooting(x, tape):
    """It moves 1.5 times its sensitivity, within the claim: accounted 4.38 is no upper bound."""
    return tape.gaussian("g", 0.15 * x, std=0.1, sensitivity=0.1)


LEAK = ExactDelta(at_claim=0.05, at_infinity=0.05, how="f(w0) + |z|")
OF_RUNS, BY_REPLAY, EXACT = "likelihood", "replay", "exact"


@pytest.mark.parametrize(("run", "more", "verdict", "code", "by", "realised", "words"), [
    (honest, {}, "tight", 0, OF_RUNS, (0.9 * ONE, ONE), ("of the accounted epsilon shown",)),
    (honest, {"pair": 0.5}, "consistent", 0, OF_RUNS, (0, 0.6 * ONE),
     ("the pair moves 'g' by 50% of the claimed sensitivity", "this pair carries about")),
    (honest, {"claimed": 1.0}, "violated", 1, OF_RUNS, (1, ONE), ("releases add up to 4.38, more than claimed",)),
    # the pair moves the query by a tenth, so that the likelihood shows nothing
    (half, {"pair": 0.1, "reading": "repaired"}, "over budget", 1, OF_RUNS, (0, ONE), ()),
    (overshooting, {"claimed": 8.0, "reading": "repaired"}, "overshoots", 1, OF_RUNS, (0, 8), ()),
    (bare, {}, "violated", 1, BY_REPLAY, (math.inf, math.inf), ("released without noise (g, step 0)",)),
    # nothing above the claim was shown, but something private leaves without a mechanism
    (branching, {"claimed": 50.0}, "leaks", 1, OF_RUNS, (0, 50), ("replay: ",)),
    (leaking, {"claimed": 50.0}, "leaks", 1, OF_RUNS, (0, 50), ("replay: ",)),
    (honest, {"pair": 0.0, "exact": LEAK}, "violated", 1, EXACT, (math.inf, math.inf),
     ("exact delta 0.05 at the claimed epsilon, 0.05 whatever the epsilon; f(w0) + |z|",)),
    (honest, {"exact": replace(LEAK, at_claim=1e-9, at_infinity=0.0)}, "tight", 0, OF_RUNS, (0.9 * ONE, ONE), ()),
])  # fmt: skip
def test_what_becomes_of_a_row(run, more, verdict, code, by, realised, words):
    row = assayed(run, **more)
    assert (row.verdict, row.exit_code(), row.realised_by) == (verdict, code, by) and row.expected == (code == 0)
    assert realised[0] <= row.realised <= realised[1] and all(one in row.why for one in words), row.why
    assert row.upper_bound == (run in (honest, half) and by != EXACT)
    assert row.accounted == pytest.approx({half: gdp_epsilon(2.0, DELTA), bare: math.inf}.get(run, ONE))


def test_the_runs_of_a_suite_end_where_nearly_all_is_shown():
    near, far = run_suite([case(honest), case(honest, pair=0.5, name="test/two")], FULL, 1)
    assert 0 < near.stopped < FULL.runs and 0.95 * ONE <= near.realised <= ONE and far.stopped == 0


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("run", "claimed", "declared", "undeclared", "missing"),
    [
        (honest, 1.0, (), ["over budget", "violated"], []),
        (honest, 1.0, (Kind.VIOLATED,), ["over budget"], []),
        (honest, 1.0, (Kind.OVER_BUDGET,), [], []),
        (honest, ONE, (Kind.VIOLATED,), [], ["violated"]),
        (branching, 50.0, ((Kind.CALL, "up"), (Kind.CALL, "down")), [], []),
        (branching, 50.0, ((Kind.CALL, "up"), (Kind.CALL, "on")), ["call (down)"], ["call (on)"]),
        (under_claimed_sensitivity, 5.0, (), ["sensitivity exceeded (g)"], []),
    ],
)
def test_only_what_is_declared_is_expected(run, claimed, declared, undeclared, missing):
    """A defect in words alone excuses nothing, and a declared finding that no longer shows is news as well."""
    effort = FULL if missing else EFFORT  # with less than the default effort a missing one is inconclusive
    row = assay_case(case(run, claimed, known="something", declared=declared), effort)
    assert (row.undeclared, row.missing) == (undeclared, missing)
    news = bool(undeclared or missing)
    assert row.expected == (not news) and row.exit_code() == int(news)


def test_a_declared_defect_is_expected_and_one_that_does_not_show_may_need_more_runs():
    row = assay_case(case(honest, 1.0, known="noise too small", declared=(Kind.VIOLATED, Kind.OVER_BUDGET)), EFFORT)
    assert row.expected and row.why.startswith("noise too small; the releases add up to")
    assert (row.exit_code(), row.exit_code(strict=True)) == (0, 1)
    row = assay_case(case(honest, ONE, declared=(Kind.VIOLATED,)), EFFORT)
    assert row.missing == ["violated"] and row.exit_code() == 3


def test_baselines_and_repaired_readings_declare_nothing():
    with pytest.raises(BadInput, match="printed"):
        case(honest, reading="repaired", declared=(Kind.VIOLATED,))


def test_the_table_shows_every_row_and_counts(capsys):
    rows = [assayed(bare, known="defect", declared=BARE), assayed(honest)]
    print_rows(rows, 0.95, "reports/audit.json")
    shown = capsys.readouterr().out
    assert "inf (replay)" in shown and "tight" in shown and "delta 1e-05" in shown
    unbounded = table_lines([assayed(overshooting, claimed=8.0, reading="repaired")], 80)
    assert any("4.38 no bound" in line.plain for line in unbounded)
    counts = "2 rows: 1 violated, 1 tight (it fails as the paper's reading declares). Report: x"
    assert closing_lines(rows, "x")[0] == counts
    assert (number(None), number(math.inf), number(0.12345)) == ("-", "inf", "0.123")
    assert [number(*pair) for pair in ((1.0012, 1), (1, 1.0012), (2.5, 1), (1, 1))] == ["1.001", "1", "2.5", "1"]
    undecided = replace(rows[1], verdict="inconclusive", reading="own")
    assert "too little to go by. Data on which your code does more" in closing_lines([undecided], "x")[-1]
    assert "to go by" not in closing_lines(rows, "x")[-1]


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_no_width_breaks_a_word_or_loses_anything(capsys, monkeypatch, width):
    monkeypatch.setattr(report_table, "wide_console", lambda piped: Console(width=width))
    rows = [assayed(bare, known="defect"), assayed(honest, name="test/two")]
    print_rows(rows, 0.95, "reports/audit.json")
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= width and "…" not in shown
    words = " ".join(shown.split())
    for row in rows:
        paper, algorithm = row.algorithm.split("/")
        (line,) = (one for one in shown.splitlines() if one.split()[:1] == [algorithm] and row.verdict in one)
        assert row.reading in line and paper in shown.splitlines()
        assert " ".join(row.why.split()) in words
    assert "inf (replay)" in words and "95% confidence" in words


@pytest.mark.more  # derives the statements of a paper
def test_the_ledger_column(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    row = assayed(honest, name="second_order_erm/opt")
    other = assayed(honest)
    told, silent = with_proofs([row, other])
    assert "Theorem 1 " in told.proved and silent.proved == "-"


@pytest.mark.parametrize(("shares", "measured", "said"), [
    ({"x/1": 0.0, "x/2": 0.0, "x/3": 0.5, "x/4": 0.0, "x/5": 0.0}, False,
     "moves 'x/3' by 50% of the claimed sensitivity, 'x/1', 'x/2', 'x/4' and 1 more not at all"),
    ({"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4, "e": 1.0}, False,
     "moves 'a' by 10%, 'b' by 20%, 'c' by 30% and 1 more by less than 95% of the claimed sensitivity"),
    ({"a": 0.5}, True, "moves 'a' by 50% of the largest movement that was found"),
    ({"a": 0.0, "b": 0.001}, False, "moves no query"),
])  # fmt: skip
def test_what_the_pair_moves_is_named_beside_what_it_does_not_move(shares, measured, said):
    movements = {label: Movement(share, 1.0) for label, share in shares.items()}
    assert moved_too_little(movements, measured) == f"the pair {said}"
    assert moved_too_little({"a": Movement(1.0, 1.0)}, measured) is None


def test_what_the_pair_moves_by_all_that_is_claimed_at_times_is_told_with_how_often():
    whole = {"a": 40, "b": 94, "c": 95, "d": 1, "e": 1, "f": 0}
    movements = {label: Movement(1.0, 1.0, releases=100, whole=count) for label, count in whole.items()}
    said = "40% of the releases of 'a', 94% of 'b', 1% of 'd' and fewer than all of 1 more"
    assert used_at_times(movements) == [f"the pair uses the whole claimed sensitivity in {said}"]


def test_a_forged_report_commands_no_terminal(capsys):
    row = assayed(bare)
    forged = replace(
        row, realised_by="\x1b[2Jx", reading="\x1b]0;x\x07", why="\x1b[31m", algorithm="a/\x1b[2J", variant="\x1b[1m"
    )
    print_rows([forged], 0.95, "reports/\x1b[2J.json")
    shown = capsys.readouterr().out
    assert "\x1b[2J" not in shown and "\x1b]" not in shown and "\x07" not in shown and "\\x1b[2Jx" in shown
