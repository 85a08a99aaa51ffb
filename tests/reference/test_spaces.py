"""Spaces of the catalogue, where a run begins, and findings as records."""

import re
from dataclasses import replace

import numpy as np
import pytest

from dpassay.audit.assaying.assay import search_case
from dpassay.audit.row import Effort
from dpassay.reference.case import reason
from dpassay.reference.catalogue import CASES
from dpassay.reference.dro.divergences import kl
from dpassay.reference.dro.objective import DualObjective
from dpassay.reference.dro.space import Squares
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Declared, Finding, Kind, compare, declare, merge
from dpassay.reference.space import begin_at
from dpassay.reference.tape import LiveTape


@pytest.mark.parametrize("kind", Kind)
def test_a_kind_means_one_thing(kind):
    assert sum((kind.leaks, kind.overshoots, kind.bookkeeping, kind.of_the_run)) == 1


def test_one_finding_for_a_kind_and_a_label():
    known = [Finding(Kind.OUTPUT, "output", 1, "first")]
    merge(known, [Finding(Kind.OUTPUT, "output", 2, "again"), Finding(Kind.OUTPUT, "b", 2, "b"), *known])
    assert [(one.label, one.detail) for one in known] == [("output", "first"), ("b", "b")]


def test_a_finding_that_needs_no_secrets_replaces_one_that_does():
    weak, strong = (Finding(Kind.BARE_RELEASE, "g", 1, "bare", given_secrets=given) for given in (True, False))
    for order in ([weak, strong], [strong, weak]):
        known: list[Finding] = []
        merge(known, order)
        assert known == [strong]
    assert "same secret choices" in str(weak) and "secret" not in str(strong)


@pytest.mark.parametrize(
    ("shown", "declared", "undeclared", "missing"),
    [
        ([(Kind.OUTPUT, "a")], [(Kind.OUTPUT, "a")], [], []),
        ([(Kind.OUTPUT, "b")], [(Kind.OUTPUT, "a")], [(Kind.OUTPUT, "b")], [(Kind.OUTPUT, "a")]),
        ([(Kind.OUTPUT, "b")], [Kind.OUTPUT], [], []),
        ([(Kind.OUTPUT, "b")], [Kind.OUTPUT, (Kind.OUTPUT, "a")], [], [(Kind.OUTPUT, "a")]),
        ([], [Kind.OUTPUT], [], [Kind.OUTPUT]),
        ([Kind.VIOLATED, Kind.OVER_BUDGET], [Kind.OVER_BUDGET], [], []),
        ([Kind.VIOLATED], [Kind.OVER_BUDGET], [Kind.VIOLATED], [Kind.OVER_BUDGET]),
    ],
)
def test_what_is_shown_is_held_against_what_is_declared(shown, declared, undeclared, missing):
    found = compare(set(declare(*shown)), set(declare(*declared)))
    assert found == (set(declare(*undeclared)), set(declare(*missing)))


def test_what_may_show_is_neither_missing_nor_news():
    declared = {*declare(Kind.OVER_BUDGET), *declare(Kind.EARLY_END, (Kind.OUTPUT, "a"), always=False)}
    for more in ([], [(Kind.EARLY_END, "b")], [(Kind.OUTPUT, "a")]):
        assert compare(set(declare(Kind.OVER_BUDGET, *more)), declared) == (set(), set())
    other = set(declare(Kind.OVER_BUDGET, (Kind.OUTPUT, "b")))
    assert compare(other, declared) == (set(declare((Kind.OUTPUT, "b"))), set())


FAST = (
    "baselines/dp_sgd:fixed-size@baseline", "output_perturbation/algorithm1:early-stop@printed",
    "adaptive_batch/stochastic_spider:bare-refresh@printed",
)  # fmt: skip
LONG = ("_ls", "two_opt", "dp_tr", "tr_b", "4and5", "recursive_spider")  # several seconds each
TOLD = re.compile(r"(at most|[\d.]+ with an exact solver)[^:]*")  # of ``reference/written.toml``
ORDER = sorted(CASES, key=lambda case: not any(map(TOLD.match, case.attainable.values())))
FIRST = {(case.id, case.reading): case.key for case in reversed(ORDER) if ":experiment" not in case.key}
OTHERS = [
    pytest.param(key, marks=pytest.mark.slow if any(part in key for part in LONG) else pytest.mark.more)
    for key in FIRST.values()
    if key not in FAST
]


@pytest.mark.parametrize("key", [*FAST, *OTHERS])
def test_a_search_shows_what_the_case_declares_and_no_more(key):
    """Seed 0. No query moves further than is told of it; of a repaired reading none than is declared, and some near."""
    (case,) = (one for one in CASES if one.key == key)
    found = search_case(case, case.build(), Effort(examples=15))
    news, _ = compare({Declared(one.kind, one.label) for one in found.findings}, set(case.declared))
    assert not news and not found.raised, (news, found.raised)
    assert found.coverage.lines_reached > 0.6 * found.coverage.lines
    told = {label: TOLD.match(reason(label, case.attainable)) for label in found.shares}
    most = {label: max(map(float, re.findall(r"\d\.\d+", one[0]))) if one else 1.0 for label, one in told.items()}
    over = [one for one in told if found.shares[one] > most[one] + 5e-4]  # a finding declares it, of a printed reading
    assert not [one for one in over if told[one] or case.reading != "printed"], (found.shares, most)
    if case.reading != "printed":
        assert found.accounted <= case.claim.epsilon
        assert max(share / most[label] for label, share in found.shares.items()) > 0.7
    elif not case.known:
        assert found.accounted <= case.claim.epsilon


def test_gradients_stay_finite_where_the_conjugate_overflows():
    """exp(loss) is infinite for a loss of half a million; infinity times a gradient of zero would be no number."""
    problem = DualObjective(Squares(np.array([[1.0, 0.0, 1e3], [0.0, 1.0, 1.0]])), kl(), 1.0)
    x = np.zeros(2)
    assert np.isfinite(problem.x_gradients(x, 0.0)).all() and np.isfinite(problem.eta_gradients(x, 0.0)).all()


# Where a run begins: a start of another shape would be stretched by broadcasting, without a word.
STARTS = ("start", "start_x")
ROWS = {
    case.id: case
    for case in reversed(CASES)
    if case.id.split("/")[0] in ("baselines", "minimax_sosp", "dro", "adaptive_batch")
}


def test_a_start_is_copied_and_none_is_the_problems_own():
    own, start = np.zeros(2), np.ones(2)
    assert begin_at(None, own) is own
    found = begin_at(start, own)
    found[0] = 5.0
    assert start[0] == 1.0


@pytest.mark.parametrize("bad", [np.ones(1), np.ones((2, 1)), 1.0, [np.nan, 0.0]])
def test_other_shapes_are_refused(bad):
    with pytest.raises(BadInput, match="start"):
        begin_at(bad, np.zeros(2))


def test_every_algorithm_refuses_a_start_of_another_shape():
    refused, long = [], np.ones(1000)
    for algorithm, case in ROWS.items():
        instance = case.build()
        for name in STARTS:
            if hasattr(instance.schedule, name):
                kind = str(type(instance.schedule).__annotations__[name])
                bad = replace(instance.schedule, **{name: (long, long) if "tuple" in kind else long})
                with pytest.raises(BadInput, match=f"{name}.*must have the shape"):
                    instance.run(instance.pair.here, bad, LiveTape(0))
                refused.append(algorithm)
    assert len(refused) >= 9, refused
