"""Which answers delta covers, and which findings go with them: on runs and audits that are made by hand."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from dpassay.audit import Effort, assay
from dpassay.audit.plain_numpy import unlikely
from dpassay.audit.plain_numpy.unlikely import Unlikely, without_unlikely
from dpassay.audit.results import AssumedEstimate, SoundBound
from dpassay.audit.search.searched import Searched
from dpassay.audit.verdict import Verdict
from dpassay.reference import Pair, PrivacyClaim
from dpassay.reference.findings import Finding, Kind
from dpassay.reference.laws.categorical import Categorical
from dpassay.reference.laws.gaussian import Gaussian

DELTA = 1e-3
CLAIM = PrivacyClaim(1.0, DELTA)
PAIR = Pair(np.zeros((1, 1)), np.ones((1, 1)), 0)
EFFORT = Effort(runs=50, pilot=50, examples=5, seed=7)
COVERED, OPEN = (Finding(Kind.OUTPUT, label, 1, "differs") for label in ("covered", "open"))


def run_of(*releases):
    """A run of (label, value, probabilities on D, probabilities on D') of the outcomes 0, 1, ..."""
    laws = [[Categorical(tuple(range(len(p))), np.log(p)) for p in sides] for _, _, *sides in releases]
    seen = [SimpleNamespace(label=one[0], value=one[1], law=law[0]) for one, law in zip(releases, laws, strict=True)]
    return SimpleNamespace(transcript=SimpleNamespace(releases=seen), there=[law[1] for law in laws])


def rare(probability):
    return [1 - probability, probability]


@pytest.mark.parametrize(
    ("here", "there", "covered"),
    [(1e-3, 1e-4, True), (1e-4, 1e-3, True), (1.1e-3, 1e-4, False), (1e-4, 1.1e-3, False), (1e-9, 0.5, False)],
)
def test_an_answer_is_covered_if_neither_side_gives_it_with_more_than_delta(here, there, covered):
    found = Unlikely(DELTA)
    assert found.comes_first(run_of(("a", 1, rare(here), rare(there)))) is covered
    assert found.lines == ({"a"} if covered else set())
    assert found.most == pytest.approx(1e-3 if covered else 0.0)


def test_the_usual_answer_is_not_covered_and_what_could_have_come_counts():
    found = Unlikely(DELTA)
    assert not found.comes_first(run_of(("a", 0, rare(4e-4), rare(2e-4)), ("b", 0, rare(5e-4), rare(5e-4))))
    assert found.most == pytest.approx(9e-4) and not found.lines
    assert not found.comes_first(run_of(("a", 0, rare(4e-4), rare(2e-4))))
    assert found.most == pytest.approx(9e-4)  # of one run, and the most


def test_a_run_that_broke_off_and_noise_with_a_density_are_looked_at_as_far_as_they_go():
    run = run_of(("a", 1, rare(4e-4), rare(2e-4)), ("b", 1, rare(4e-4), rare(2e-4)))
    run.there.pop()
    run.transcript.releases.insert(0, SimpleNamespace(label="n", value=0.3, law=Gaussian(0.0, 1.0)))
    run.there.insert(0, Gaussian(1.0, 1.0))
    found = Unlikely(DELTA)
    assert found.comes_first(run) and found.lines == {"a"} and found.most == pytest.approx(4e-4)


def test_nothing_can_be_said_only_where_something_was_found_and_all_answers_are_more_than_delta():
    found = Unlikely(DELTA)
    found.comes_first(run_of(("b", 1, rare(1e-3), rare(1e-3)), ("a", 1, rare(1e-3), rare(1e-3))))
    assert found.doubt is None
    found.note([COVERED])
    assert "a, b" in str(found.doubt) and "add up to 0.002 in one run" in str(found.doubt)
    of_delta = Unlikely(DELTA)
    of_delta.comes_first(run_of(("a", 1, rare(1e-3), rare(1e-3))))
    of_delta.note([COVERED])
    assert of_delta.doubt is None


@pytest.fixture(scope="module")
def audit():
    """Of what says nothing; the tests change what it found."""
    return assay(lambda rows, rng: rng.normal(rows.sum(), 50.0), PAIR, CLAIM, effort=replace(EFFORT, examples=2))


def bound(power):
    return SoundBound(epsilon=0.1, delta=DELTA, confidence=0.95, method="test", power=power)


class Told:
    """What the search that is asked for again is asked, and what it answers."""

    def __init__(self, monkeypatch, premises, findings=(), covered=()):
        self.asked, self.premises = [], premises
        self._findings, self._covered = list(findings), list(covered)
        monkeypatch.setattr(unlikely, "search", self)

    def __call__(self, run, where, claim, **how):
        self.asked.append((where, how))
        self.premises.unlikely.note(self._covered)
        return Searched(findings=self._findings)


def premises_with(found, most=4e-4):
    one = Unlikely(DELTA)
    one.note(found)
    one.most, one.lines = most, {"line"}
    return SimpleNamespace(unlikely=one)


def asked_again(audit, told, where=PAIR, effort=EFFORT):
    return without_unlikely(audit, None, told.premises, where, CLAIM, effort)


def leaking(audit, *findings, shown=()):
    witnesses = [SimpleNamespace(finding=one) for one in shown]
    searched = replace(audit.searched, witnesses=witnesses)
    known = {"bound": bound(0.9), "realised": 0.1, "accounted": 0.5}
    return replace(audit, verdict=Verdict.LEAKS, findings=findings, searched=searched, **known)


def test_what_only_such_answers_show_is_taken_away_and_the_verdict_with_it(audit, monkeypatch):
    told = Told(monkeypatch, premises_with([COVERED]))
    found = asked_again(leaking(audit, COVERED), told)
    assert found.verdict is Verdict.CONSISTENT and not found.findings and not told.asked
    assert found.why == ("not counted, since delta covers it: what follows an answer of a probability of 0.0004 (line)")
    weak = replace(leaking(audit, COVERED), bound=bound(0.1))
    assert asked_again(weak, told).verdict is Verdict.INCONCLUSIVE
    estimate = AssumedEstimate(epsilon=0.1, delta=DELTA, confidence=0.95, method="test", assumption="any")
    assert asked_again(replace(weak, bound=estimate), told).verdict is Verdict.INCONCLUSIVE


def test_what_the_search_shows_without_them_stays(audit, monkeypatch):
    told = Told(monkeypatch, premises_with([COVERED]))
    leaks = replace(leaking(audit, COVERED, OPEN, shown=[COVERED, OPEN]), why="first")
    found = asked_again(leaks, told)
    assert found.verdict is Verdict.LEAKS and found.findings == (COVERED, OPEN)
    assert found.why.startswith("first; not counted") and not told.asked
    assert asked_again(replace(leaks, why=""), told).why.startswith("not counted")
    mixed = asked_again(leaking(audit, COVERED, OPEN, shown=[OPEN]), told)
    assert mixed.verdict is Verdict.LEAKS and mixed.findings == (OPEN,)


def test_what_only_runs_of_the_likelihood_found_is_searched_for_again(audit, monkeypatch):
    told = Told(monkeypatch, premises_with([]), covered=[OPEN])
    assert asked_again(leaking(audit, OPEN), told).verdict is Verdict.CONSISTENT
    assert told.asked == [(PAIR, {"examples": 20, "seed": 9, "premises": told.premises, "tracing": False})]
    for answers in ({"findings": [OPEN]}, {"findings": [OPEN], "covered": [OPEN]}, {}):
        leaks = leaking(audit, OPEN)
        found = asked_again(leaks, Told(monkeypatch, premises_with([]), **answers))
        assert found.verdict is Verdict.LEAKS and found.findings == (OPEN,)
    none = Told(monkeypatch, premises_with([]))
    asked_again(leaking(audit, OPEN), none, effort=replace(EFFORT, examples=0))
    assert none.asked[0][1]["examples"] == 4


def test_it_is_not_searched_for_where_it_cannot_be_or_need_not(audit, monkeypatch):
    budget, space = Finding(Kind.OVER_BUDGET, "", 0, "adds up"), SimpleNamespace()
    for leaks, most, where in (
        (leaking(audit, OPEN, shown=[OPEN]), 4e-4, PAIR),
        (leaking(audit, budget), 4e-4, PAIR),
        (leaking(audit, OPEN), 0.0, PAIR),
        (leaking(audit, OPEN), 4e-4, space),
    ):
        told = Told(monkeypatch, premises_with([], most))
        assert asked_again(leaks, told, where) is leaks and not told.asked
    covered = Told(monkeypatch, premises_with([COVERED]))
    asked_again(leaking(audit, budget), covered)
    assert not covered.asked  # nothing is open, whatever is covered
    leaks, worst = leaking(audit, OPEN), SimpleNamespace(pair="of the search")
    leaks = replace(leaks, searched=replace(leaks.searched, worst=worst))
    told = Told(monkeypatch, premises_with([]))
    asked_again(leaks, told, space)
    assert told.asked[0][0] == "of the search"
