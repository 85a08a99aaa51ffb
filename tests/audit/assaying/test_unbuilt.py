"""A claim whose noise cannot be calibrated is a finding with exit code 1, not a crash."""

from dataclasses import dataclass

import numpy as np
import pytest

from dpassay.audit.assaying.assay import Effort, assay_case
from dpassay.audit.exit_codes import FAILED, INCONCLUSIVE
from dpassay.audit.search.engine import search
from dpassay.reference import Multipliers, noise_for
from dpassay.reference.case import Case, Instance, PrivacyClaim
from dpassay.reference.findings import Kind, declare
from dpassay.reference.neighbours import Pair
from dpassay.reference.papers import Cite
from dpassay.reference.second_order_erm.line_search import gaussian_parameter
from dpassay.reference.space import Space

HERE = Cite("dwork2014", "Theorem 3.22")
CLAIM = PrivacyClaim(1.0, 1e-5, HERE)


@dataclass(frozen=True)
class Schedule:
    noise: Multipliers


@dataclass(frozen=True)
class Steps:
    steps: int
    noise: Multipliers


UNIT = Schedule(Multipliers({"g": 1.0}))


def bare_in_the_end(x, schedule, tape):
    tape.gaussian("first", x, std=schedule.noise.std("g", 1.0), sensitivity=1.0)
    return tape.gaussian("last", x, std=0.0, sensitivity=1.0)


def nothing_for_zero(x, schedule, tape):
    if abs(x) > 0:
        return tape.gaussian("g", x, std=schedule.noise.std("g", 1.0), sensitivity=1.0)
    return 0.0


def beyond_all_noise(x, schedule, tape):
    return tape.gaussian("g", x, std=schedule.noise.std("g", 1.0), sensitivity=1e60)


def undeclared(x, schedule, tape):
    return tape.gaussian("g", x, std=schedule.noise.std("g", 1.0), sensitivity=None)


def row(run, declared=(), reading="printed"):
    def build():
        return Instance(run, noise_for(run, UNIT, 0.0, 1.0, 1e-5), Pair(1.0, 0.0, 0))

    return assay_case(Case("test/one", reading, "", HERE, CLAIM, build, declared=declare(*declared)), Effort())


@pytest.mark.parametrize(
    ("run", "verdict", "said", "kind"),
    [
        (bare_in_the_end, "leaks", "'last' is released without noise", (Kind.BARE_RELEASE, "last")),
        (beyond_all_noise, "over budget", "no noise in reach meets this budget", Kind.OVER_BUDGET),
    ],
)
def test_no_noise_is_a_finding(run, verdict, said, kind):
    found = row(run)
    assert (found.verdict, found.exit_code()) == (verdict, FAILED)
    assert said in found.why and "\n" not in found.why and found.undeclared and not found.upper_bound
    assert row(run, declared=[kind]).exit_code() == 0


def test_a_dry_run_that_releases_nothing_accuses_nobody_of_itself():
    """Where the noise cannot be chosen, it is the runs that decide: this one asks the tape for private data alone."""
    found = row(nothing_for_zero)
    assert (found.verdict, found.exit_code()) == ("leaks", FAILED) and "cannot be calibrated" not in found.why


def test_sizes_that_release_nothing_are_no_finding():
    """One step less than T is none at all for T = 1: nothing is released then, so nothing can be over budget."""

    def run(rows, schedule, tape):
        for _ in range(schedule.steps - 1):
            std = schedule.noise.std("g", 2 / len(rows))
            tape.gaussian("g", rows.mean(axis=0), std=std, sensitivity=2 / len(rows))

    def schedule(sizes):
        return noise_for(run, Steps(sizes["steps"], UNIT.noise), np.zeros((4, 2)), 1.0, 1e-5)

    sizes = {"n": (4,), "d": (2,), "steps": (1, 3)}
    found = search(run, Space(sizes=sizes, schedule=schedule), CLAIM, examples=30)
    assert found.findings == [] and not found.raised
    assert found.accounted == pytest.approx(1.0, rel=1e-4)


def test_a_declared_finding_that_does_not_show_is_missing():
    found = row(bare_in_the_end, declared=[(Kind.BARE_RELEASE, "last"), (Kind.OUTPUT, "output")])
    assert found.missing and found.exit_code() == FAILED


def test_an_unknown_cost_is_inconclusive():
    assert row(undeclared, reading="repaired").exit_code() == INCONCLUSIVE


def test_sizes_for_which_there_is_no_noise_are_found_by_the_search():
    def run(rows, schedule, tape):
        moves = 2 / len(rows)
        return tape.gaussian("g", rows.mean(axis=0), std=schedule.noise.std("g", moves), sensitivity=moves)

    def schedule(sizes):
        made_with = bare_in_the_end if sizes["n"] == 5 else nothing_for_zero
        return noise_for(made_with, UNIT, 1.0, 1.0, 1e-5)

    found = search(run, Space(schedule=schedule), CLAIM, examples=60)
    assert [(one.kind, one.label) for one in found.findings] == [(Kind.BARE_RELEASE, "last")]
    assert found.witnesses[0].data.sizes["n"] == 5


def test_a_line_search_with_hardly_any_noise_has_a_cost():
    """exp(1 / lambda) overflows beyond lambda = 1/709; mu grows like sqrt(2 / lambda)."""
    assert gaussian_parameter(1e-9, 4, 0.5) == pytest.approx((2e9) ** 0.5 * 2, rel=1e-3)
