"""What an algorithm declares about its batches and sensitivities is held against what its queries do."""

import math

import numpy as np
import pytest

from dpassay.audit.assaying.assay import Effort, assay_case
from dpassay.audit.likelihood.bound import audit_likelihood
from dpassay.audit.likelihood.samplers import LockstepSampler
from dpassay.audit.lockstep.run import lockstep, needs
from dpassay.audit.results import AssumedEstimate
from dpassay.reference.case import Case, Instance, PrivacyClaim, unscheduled
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Kind
from dpassay.reference.laws.categorical import Categorical
from dpassay.reference.neighbours import Pair
from dpassay.reference.papers import Cite
from dpassay.reference.problems.linear import LinearLosses

N = 8
ALIKE = LinearLosses(np.zeros((N, 1)))
PAIR = Pair(ALIKE.replace(3, np.array([1.0])), ALIKE, 3)
EFFORT = Effort(runs=200, pilot=100, examples=20)


def kinds(run, pair=PAIR, seeds=5):
    return {(f.kind, f.label) for seed in range(seeds) for f in lockstep(run, pair, [seed]).findings}


def total(problem, batch):
    return float(problem.rows[batch.indices].sum())


def undeclared(problem, tape):
    batch = tape.batch("b", N, 2)
    return tape.gaussian("g", total(problem, batch), std=1.0, sensitivity=1.0)


@pytest.mark.parametrize("pair", [PAIR, PAIR.swapped()], ids=["here", "there"])
def test_an_undeclared_batch_that_shows_on_one_side_only(pair):
    """All records of D are alike, so only D' shows that the query depends on a batch; the loss is the mixture's."""
    found = lockstep(undeclared, pair, [0])
    assert [(f.kind, f.label) for f in found.findings] == [(Kind.UNDECLARED_BATCH, "g")]
    there = 1.0 if pair.here is ALIKE else 0.0
    x, q = found.output, 2 / N
    mixture = math.log((1 - q) * math.exp(-(x**2) / 2) + q * math.exp(-((x - 1) ** 2) / 2)) + x**2 / 2
    assert found.loss == pytest.approx(-mixture if there else mixture)


def test_an_undeclared_one_of_several_batches_is_not_the_mixture_of_the_last():
    def run(problem, tape):
        first = tape.batch("a", N, 2)
        tape.gaussian("f", total(problem, first), std=0.5, sensitivity=1.0, batch=first)
        tape.batch("b", N, 2)
        return tape.gaussian("g", total(problem, first), std=0.5, sensitivity=1.0)

    assert "undeclared batch" in lockstep(run, PAIR, [0]).inexact


@pytest.mark.parametrize("draw", ["batch", "poisson", "fresh"])
def test_a_batch_is_declared_but_all_records_are_read(draw):
    """Amplification would be claimed for a query that always has the record."""

    def run(problem, tape):
        batch = tape.poisson("b", N, 0.25) if draw == "poisson" else getattr(tape, draw)("b", N, 2)
        return tape.gaussian("g", float(problem.rows.sum()), std=1.0, sensitivity=2.0, batch=batch)

    assert (Kind.UNDECLARED_BATCH, "g") in kinds(run)


def test_a_fresh_batch_is_declared_but_an_earlier_one_is_read_again():
    def run(problem, tape, both=False):
        first, second = tape.fresh("a", N, 2), tape.fresh("b", N, 2)
        tape.gaussian("f", total(problem, first), std=1.0, sensitivity=1.0, batch=first)
        query = total(problem, first) + total(problem, second)
        return tape.gaussian("g", query, std=1.0, sensitivity=1.0, batch=(first, second) if both else second)

    assert kinds(run) == {(Kind.UNDECLARED_BATCH, "g")}
    assert not kinds(lambda problem, tape: run(problem, tape, both=True))


@pytest.mark.parametrize(("sensitivity", "found"), [(1.0, {(Kind.SENSITIVITY_EXCEEDED, "g")}), (2.0, set())])
def test_poisson_sampling_is_accounted_at_half_the_sensitivity(sensitivity, found):
    """Values in [0, 1]: replacing one moves the sum by 1, and so does adding one; the accountant reckons with 1/2."""

    def run(problem, tape):
        batch = tape.poisson("b", N, 0.5)
        return tape.gaussian("g", total(problem, batch), std=1.0, sensitivity=sensitivity, batch=batch)

    assert kinds(run) == found


@pytest.mark.parametrize(("sensitivity", "found"), [(0.9, {(Kind.SENSITIVITY_EXCEEDED, "a")}), (1.0, set())])
def test_queries_of_above_threshold_are_measured(sensitivity, found):
    def run(problem, tape):
        queries = [0.0, float(problem.rows.sum())]
        return tape.above_threshold(
            "a", queries, threshold=1.0, threshold_scale=1.0, query_scale=1.0, sensitivity=sensitivity
        )

    assert kinds(run) == found


def test_noise_of_above_threshold_that_the_data_choose_is_a_finding():
    def run(problem, tape):
        scale = 1.0 + float(problem.rows.sum())
        tape.above_threshold("a", [0.0], threshold=1.0, threshold_scale=scale, query_scale=1.0, sensitivity=1.0)

    assert kinds(run) == {(Kind.NOISE_SCALE, "a")}


def test_inner_randomness_that_decides_a_query_is_no_bound_but_an_estimate():
    """As of a solver that stops too early: the likelihood given its secrets is that of a stronger adversary."""

    def run(problem, tape):
        share = tape.secret("share", lambda rng: rng.random())
        return tape.gaussian("g", share * float(problem.rows.sum()), std=1.0, sensitivity=1.0)

    bound, losses = audit_likelihood(LockstepSampler(run, PAIR), 1e-3, runs=20, pilot=50)
    assert isinstance(bound, AssumedEstimate) and "inner randomness" in losses.inexact


def test_whether_the_order_is_secret_must_not_depend_on_the_data():
    def run(problem, tape):
        tape.fresh("b", N, 2, order="random" if problem.rows[3, 0] else "index")

    assert (Kind.BATCH_SIZE, "b") in kinds(run)


@pytest.mark.parametrize("draw", ["batch", "fresh"])
def test_a_batch_that_the_probe_did_not_see_is_named(draw):
    """The branch is a function of a release: fair, but the worlds were made for a run without batches."""

    def run(problem, tape):
        if tape.gaussian("g", 0.0, std=1.0, sensitivity=1.0) < 0.5:
            batch = getattr(tape, draw)("b", N, 2)
            tape.gaussian("h", total(problem, batch), std=1.0, sensitivity=1.0, batch=batch)

    assert not needs(run, ALIKE).sampled
    with pytest.raises(BadInput, match="probing run"):
        for seed in range(20):
            lockstep(run, PAIR, [seed])


def case(run, epsilon=1.0, delta=1e-3):
    claim = PrivacyClaim(epsilon, delta, Cite("dwork2014", "Theorem 3.1"))
    return Case("baselines/x", "baseline", "x", claim.cite, claim, lambda: Instance(unscheduled(run), None, PAIR))


def bare_batch(problem, tape):
    batch = tape.batch("b", N, 2)
    return tape.gaussian("g", total(problem, batch), std=0.0, sensitivity=1.0, batch=batch)


def test_a_bare_batch_counts_as_often_as_it_has_the_record():
    """With probability 1/4 the record is in the batch and shows; a batch without it shows nothing."""
    losses = [lockstep(bare_batch, PAIR, [seed]).loss for seed in range(100)]
    assert {round(loss, 9) for loss in losses if math.isfinite(loss)} == {round(math.log(3 / 4), 9)}
    assert 7 <= sum(map(math.isinf, losses)) <= 43  # binomial(100, 1/4), four standard deviations and a bit
    row = assay_case(case(bare_batch), EFFORT)
    assert (row.realised, row.realised_by, row.verdict) == (math.inf, "replay", "violated")


def test_other_records_that_differ_accuse_no_bare_batch():
    """The neighbours' values agree, whatever the batch; the batches' values do not."""
    rows = ALIKE.replace(5, np.array([1.0]))
    pair = Pair(rows, rows, 3)
    assert not {kind for kind, _ in kinds(bare_batch, pair, 20)}


def test_a_bare_value_that_hardly_ever_comes_up_is_not_infinite():
    """Propose, test, release: the test fails with probability 1e-9 < delta, more often only under a tilt."""

    def run(problem, tape):
        distance = tape.gaussian("test", float(problem.rows.sum()), std=1.0, sensitivity=1.0)
        if distance > 7.0:
            tape.gaussian("bare", float(problem.rows.sum()), std=0.0, sensitivity=1.0)

    seen = {f.kind for s in range(50) for f in lockstep(run, PAIR, [s]).findings}
    assert not seen
    row = assay_case(case(run, epsilon=10.0), EFFORT)
    assert row.realised < 10.0 and row.verdict != "violated"


def test_randomised_response_by_secret_coins_is_not_infinite():
    """What secret coins protect is not measured here, and not accounted: a release of std 0, not a shown violation."""

    def run(problem, tape):
        bit = float(problem.rows.sum())
        flip = tape.secret("coin", lambda rng: rng.random() < 0.3)
        return tape.gaussian("bit", 1 - bit if flip else bit, std=0.0, sensitivity=1.0)

    row = assay_case(case(run), EFFORT)
    assert row.realised is None and row.verdict == "over budget" and "released without noise" in row.why


@pytest.mark.parametrize("draw", ["batch", "poisson"])
def test_the_check_world_has_the_record_often_however_small_the_rate(draw):
    """An earlier batch is read again under the name of a later one: seen where the record is in one of them alone."""
    n = 400
    pair = Pair(LinearLosses(np.eye(n, 1)), LinearLosses(np.zeros((n, 1))), 0)

    def run(problem, tape):
        draws = [tape.poisson("b", n, 1 / n) if draw == "poisson" else tape.batch("b", n, 1) for _ in range(2)]
        query = sum(total(problem, batch) for batch in draws)
        return tape.gaussian("g", query, std=1.0, sensitivity=2.0, batch=draws[1])

    inexact = sum(bool(lockstep(run, pair, [seed]).inexact) for seed in range(40))
    assert 8 <= inexact <= 32  # binomial(40, 1/2), nearly four standard deviations


# Small cases in which one wrong word of the hub shows: which worlds are compared, and with which.
@pytest.mark.parametrize("pair", [PAIR, PAIR.swapped()], ids=["here", "there"])
def test_every_world_is_compared_not_only_the_first_that_agrees(pair):
    """Only with the record in its batch the call has another label: one world of four."""

    def run(problem, tape):
        batch = tape.batch("b", N, 2)
        label = "with" if total(problem, batch) else "without"
        return tape.gaussian(label, 0.0, std=1.0, sensitivity=1.0, batch=batch)

    assert {kind for kind, _ in kinds(run, pair)} == {Kind.CALL}


@pytest.mark.parametrize(("number", "expected"), [(0, [Kind.UNDECLARED_BATCH]), (1, []), (2, [Kind.UNDECLARED_BATCH])])
def test_a_batch_by_index_holds_its_last_record_and_neither_later_nor_earlier_ones(number, expected):
    """The target is number 3: in the second of four pairs."""

    def run(problem, tape):
        batches = [tape.fresh("b", N, 2, order="index") for _ in range(4)]
        return tape.gaussian("g", float(problem.rows.sum()), std=1.0, sensitivity=1.0, batch=batches[number])

    assert [kind for kind, _ in kinds(run)] == expected


@pytest.mark.parametrize(
    ("pair", "words"), [(PAIR, "4 of 8 against 2 of 8"), (PAIR.swapped(), "2 of 8 against 4 of 8")]
)
def test_sizes_of_batches_that_differ_are_told_with_that_on_d_first(pair, words):
    def run(problem, tape):
        tape.batch("b", N, 4 if problem.rows.sum() else 2)

    (one,) = lockstep(run, pair, [0]).findings
    assert (one.kind, one.label, one.detail) == (Kind.BATCH_SIZE, "b", words)

    def by_index(problem, tape):
        tape.fresh("b", N, 4 if problem.rows.sum() else 2, order="index")

    (one,) = lockstep(by_index, pair, [0]).findings
    assert (one.kind, one.label, one.detail) == (Kind.BATCH_SIZE, "b", words)


@pytest.mark.parametrize(("rate", "expected"), [(1.0, set()), (0.5, {(Kind.SENSITIVITY_EXCEEDED, "g")})])
def test_a_batch_of_everybody_has_no_half_of_the_sensitivity(rate, expected):
    """At rate 1 the record is always there, and nobody is amplified: it may move the sum by all that is claimed."""

    def run(problem, tape):
        batch = tape.poisson("b", N, rate)
        return tape.gaussian("g", total(problem, batch), std=1.0, sensitivity=1.0, batch=batch)

    assert kinds(run) == expected

    def of_everybody(problem, tape):
        batch = tape.poisson("b", N, rate)
        return tape.gaussian("g", float(problem.rows.sum()), std=1.0, sensitivity=1.0, batch=batch)

    assert (kinds(of_everybody) == set()) is (rate == 1)  # who is in it is known: the query need not ask the batch


@pytest.mark.parametrize("others", [0.0, 0.1])
def test_the_mixture_of_a_law_without_a_query_is_exact_if_all_others_are_alike(others):
    """The check world draws other records: their law is the same one, or the loss is called inexact."""

    def run(problem, tape):
        batch = tape.batch("b", N, 2)
        share = 0.5 + 0.3 * total(problem, batch)
        law = Categorical(("yes", "no"), np.log([share, 1 - share]))
        return tape.release("c", law, sensitivity=2.0, batch=batch)

    rows = np.zeros((N, 1))
    rows[:4, 0] = others
    here = LinearLosses(rows)
    pair = Pair(here.replace(PAIR.target, np.array([0.2])), here, PAIR.target)
    inexact = [lockstep(run, pair, [seed]).inexact for seed in range(8)]
    assert any("which other records" in one for one in inexact) if others else not any(inexact)


def test_claims_that_differ_are_told_in_numbers():
    def run(problem, tape):
        claimed = 2.0 if problem.rows[PAIR.target, 0] else None
        return tape.gaussian("g", 0.0, std=1.0, sensitivity=claimed)

    (one,) = lockstep(run, PAIR, [0]).findings
    assert one.kind is Kind.CLAIMED_SENSITIVITY and one.detail == "2 against none" and not one.given_secrets


def test_a_value_of_two_numbers_that_is_bare_in_one_of_them_only():
    """A bare release whose value does not depend on the record says nothing; one that does says everything."""

    def run(problem, tape, weight):
        return tape.gaussian("g", weight * problem.rows.sum(axis=0), std=0.0, sensitivity=1.0)

    assert kinds(lambda problem, tape: run(problem, tape, 0.0)) == set()
    assert kinds(lambda problem, tape: run(problem, tape, 1.0)) == {(Kind.BARE_RELEASE, "g")}
    bare = lockstep(lambda problem, tape: run(problem, tape, 1.0), PAIR, [0])
    assert bare.loss == np.inf and not bare.findings[0].given_secrets


@pytest.mark.parametrize("pair", [PAIR, PAIR.swapped()], ids=["draws here", "draws there"])
def test_a_release_and_a_draw_of_one_label_are_two_calls(pair):
    def run(problem, tape):
        return tape.batch("x", N, 2) if problem.rows.sum() else tape.gaussian("x", 0.0, std=1.0, sensitivity=1.0)

    assert kinds(run, pair) == {(Kind.CALL, "x")}


def test_releases_are_counted_and_those_moved_by_all_that_they_claim():
    """The pair moves the sum by 1: of claims of 1, 1.05 and 1.06 two count as the whole; the last claims nothing."""

    def run(problem, tape):
        for claimed in (1.0, 1.05, 1.06, None):
            tape.gaussian("g", float(problem.rows.sum()), std=1.0, sensitivity=claimed)

    moved = lockstep(run, PAIR, [0]).movements["g"]
    assert (moved.releases, moved.whole) == (4, 2)
    both = moved.with_other(lockstep(run, PAIR, [1]).movements["g"])
    assert (both.releases, both.whole, both.moved) == (8, 4, 1.0)


@pytest.mark.parametrize("labels", [("a", "z"), ("z", "a")])
def test_calls_that_depend_on_other_records_make_the_mixture_inexact(labels):
    """The check world draws other records, and so comes to the other label, whichever sorts first."""

    def run(problem, tape):
        batch = tape.poisson("b", N, 0.5)
        label = labels[int(5 in batch.indices)]
        return tape.gaussian(label, total(problem, batch), std=1.0, sensitivity=2.0, batch=batch)

    results = [lockstep(run, PAIR, [seed]) for seed in range(8)]
    assert any("its calls depend" in one.inexact for one in results)
    assert not any(one.findings for one in results)
