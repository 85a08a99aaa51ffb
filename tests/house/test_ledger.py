"""The committed ledger is what the statements' files give today, and no file has a problem."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpassay.audit.marked import LEDGER
from dpassay.proofs_check.derivation.ledger import block, examine, ledger
from dpassay.proofs_check.derivation.model import statements
from dpassay.reference.catalogue import CASES

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def examined():
    return examine(statements(), jobs=2)


@pytest.mark.slow  # a minute and a half of CPU; `make journeys` runs it
def test_the_committed_ledger_is_todays(examined):
    assert (ROOT / "LEDGER.md").read_text(encoding="utf-8") == ledger(examined), "run `make tables`"
    results = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert LEDGER.read(results, "docs/results.md").strip() == block(examined).strip(), "run `make tables`"


@pytest.mark.slow
def test_no_file_has_a_problem_and_no_step_is_undecided(examined):
    """A superfluous added fact, a conclusion that is given, a slip that its check does not show: all are problems."""
    assert {one.statement.key: one.derivation.problems for one in examined if one.derivation.problems} == {}
    assert {one.statement.key: one.undecided for one in examined if one.undecided} == {}


@pytest.mark.slow
def test_the_privacy_of_an_algorithm_and_the_audit_of_its_printed_row_do_not_contradict_each_other(examined):
    """Where every printed row of an algorithm breaks its claim, no statement of its privacy is proved; and back."""
    privacy = {name: [one for one in examined if name in one.statement.algorithms and "privacy" in one.statement.sides]
               for one in examined for name in one.statement.algorithms}  # fmt: skip
    for name, found in privacy.items():
        printed = [case for case in CASES if case.id == name and case.reading == "printed"]
        assert printed, f"{name} is no algorithm with a printed reading"
        if all(case.declared for case in printed):
            assert not all(one.status.stands for one in found), name
        if not any(case.declared for case in printed):
            assert not any("false" in one.status.after for one in found), name
    assert len(privacy) > 10
