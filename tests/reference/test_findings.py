"""Findings are records: their kinds carry meaning, and they are joined in one place."""

import pytest

from dpassay.reference.findings import Finding, Kind, compare, declare, may_show, merge


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
    declared = {*declare(Kind.OVER_BUDGET), *may_show(Kind.EARLY_END, (Kind.OUTPUT, "a"))}
    for more in ([], [(Kind.EARLY_END, "b")], [(Kind.OUTPUT, "a")]):
        assert compare(set(declare(Kind.OVER_BUDGET, *more)), declared) == (set(), set())
    other = set(declare(Kind.OVER_BUDGET, (Kind.OUTPUT, "b")))
    assert compare(other, declared) == (set(declare((Kind.OUTPUT, "b"))), set())
    assert compare(set(declare(Kind.VIOLATED)), declared) == (
        set(declare(Kind.VIOLATED)),
        set(declare(Kind.OVER_BUDGET)),
    )
