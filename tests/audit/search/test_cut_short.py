"""A search whose runs are too long keeps what it found, and says so; it is not a defect of the algorithm."""

import numpy as np
import pytest

from dpassay.audit.assaying import examine
from dpassay.audit.assaying.assay import assay
from dpassay.audit.row import Effort
from dpassay.audit.search import engine
from dpassay.reference import case, tape
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Kind
from dpassay.reference.neighbours import Pair
from dpassay.reference.papers import Cite
from dpassay.reference.space import Space
from dpassay.reference.tape import record

CLAIM = PrivacyClaim(1.0, 1e-5, Cite("mine", "Theorem 1"))
SPACE = Space.matrix(n=(1, 2), d=(1, 2))
PAIR = Pair(np.ones((1, 1)), -np.ones((1, 1)), 0)


def sums(times, std, end=None):
    """A run that releases the sum so many times, and then perhaps raises."""

    def run(rows, tape):
        for _ in range(times):
            value = tape.gaussian("sum", rows.sum(), std=std, sensitivity=2.0)
        if end is not None and end(value):
            raise BadInput("cost", 3, "only 2 are left")

    return run


LONG = sums(400, 0.9)  # more releases than a search waits for, of which the first few cost more than is claimed


@pytest.mark.parametrize("calls", [10, 40])
def test_too_many_calls_end_a_search_by_their_number(monkeypatch, calls):
    """One call a run, in the example and beside a data set far away: the same examples on any machine."""

    def leaky(rows, tape):
        return tape.gaussian("sum", rows.sum(axis=0), std=9.0, sensitivity=2.0), float(rows[0, 0])

    monkeypatch.setattr(engine, "CALLS", calls)
    found, again = (engine.search(leaky, SPACE, CLAIM, seed=0) for _ in range(2))
    assert Kind.OUTPUT in {finding.kind for finding in found.findings}
    assert found.note == f"search stopped after {found.examples} examples, {calls} draws and releases"
    assert calls / 10 < found.examples == again.examples <= calls + 1


def test_a_run_that_is_no_function_is_said_to_be_none():
    """It shows something once, and not again: no defect is shrunk, and the note says why."""
    counted = iter(range(10_000))

    def at_first(rows, tape):
        number = next(counted)
        value = tape.gaussian("sum", rows.sum(axis=0), std=9.0, sensitivity=2.0)
        return value, number if number < 20 else 0

    found = engine.search(at_first, SPACE, CLAIM, examples=20, seed=0)
    assert Kind.OUTPUT in {finding.kind for finding in found.findings}
    assert "no function of data and tape" in found.note


def test_a_run_without_an_end_in_sight_is_one_line(monkeypatch):
    """Each step decides on a noisy value whether there is another; with so much noise there always is."""

    def endless(one):
        x = 1.0
        while abs(x) > 1e-9:
            x = one.gaussian("step", x, std=1e4, sensitivity=2.0)

    monkeypatch.setattr(tape, "LONGEST_RUN", 500)
    with pytest.raises(BadInput, match=r"^run, at 'step' = 500: calls of the tape in one run.*no end in sight"):
        record(endless, seed=0)


def test_statistics_of_runs_that_are_too_long_are_not_made(monkeypatch):
    """A run of 40 calls, and room for 1,000: the row says so, and nothing that was not looked at passes."""
    monkeypatch.setattr(examine, "MOST", 1000)
    found = assay(sums(40, 90.0), PAIR, CLAIM, effort=Effort(20, 10, examples=5))
    assert found.verdict.exit_code == 3
    assert "statistics not made: a run makes 40 calls of the tape, 30 runs more than 1000" in found.why


def test_what_is_released_before_a_run_is_cut_off_counts():
    found = engine.search(LONG, Space.matrix(n=(1, 2), d=(1,)), CLAIM, examples=3, seed=0)
    assert "cut off" in found.note and [one.kind for one in found.findings] == [Kind.OVER_BUDGET]
    assert found.accounted > 40 and found.witnesses[0].data.sizes == {"n": 1, "d": 1}


def test_the_longest_run_ends_where_it_has_cost_more_than_is_claimed(monkeypatch):
    """And goes on to its end where it keeps to the claim."""
    monkeypatch.setattr(case, "MANY", 64)
    effort = Effort(30, 50, examples=1)
    found, whole = (assay(run, PAIR, CLAIM, effort=effort) for run in (LONG, sums(70, 90.0)))
    assert (found.verdict, bool(found.stopped), found.upper_bound) == ("over budget", True, False)
    assert len(found.transcript.releases) == 64 and "stopped after 64 calls" in found.why
    assert not whole.stopped and len(whole.transcript.releases) == 70


def test_a_run_that_raises_after_it_has_spent_too_much_is_over_budget():
    """The guard comes after the releases, so that what it refuses has left already."""
    effort = Effort(100, 50, examples=3)
    found = assay(sums(3, 0.9, end=np.isfinite), PAIR, CLAIM, effort=effort)
    assert found.verdict == "over budget" and "a run raised BadInput: cost = 3" in found.why
    with pytest.raises(BadInput, match="only 2 are left"):
        assay(sums(3, 90.0, end=np.isfinite), PAIR, CLAIM, effort=effort)


def test_what_only_some_runs_raise_does_not_hide_the_verdict():
    """The longest run ends well; of those that the likelihood audit draws one does not."""
    run = sums(1, 0.3, end=lambda value: value > 1.5)
    assert assay(run, PAIR, CLAIM, effort=Effort(100, 50, examples=3)).verdict.failed
