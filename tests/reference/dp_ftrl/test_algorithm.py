"""DP-FTRL: against a plain twin, its noise against two accountants, and how far a record moves the nodes."""

import numpy as np
import pytest
from dp_accounting import dp_event, privacy_accountant, rdp

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference import BadInput, LiveTape, account, find, record
from dpassay.reference.blocks.tree import TreeSum, nodes
from dpassay.reference.dp_ftrl import dp_ftrl
from dpassay.reference.neighbours import Pair
from dpassay.reference.noise import Printed
from dpassay.reference.problems.linear import LinearLosses

SIZES = [(1, 1), (2, 1), (7, 1), (8, 1), (9, 2), (31, 4), (5, 5)]


def quiet(n, d, batch, **more):
    return dp_ftrl.Schedule(n, d, batch, clip=1.0, regularisation=2.0, noise=Printed({"tree": 0.0}), **more)


def slow(rows, batch, radius=None):
    """Without noise: minus the sum of the clipped rows so far, over lambda, pulled into the ball."""
    theta, total = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    for start in range(0, len(rows), batch):
        for row in rows[start : start + batch]:
            total = total + row / max(1.0, np.linalg.norm(row))
        theta = -total / 2.0
        if radius is not None and np.linalg.norm(theta) > radius:
            theta = theta * radius / np.linalg.norm(theta)
    return theta


@pytest.mark.parametrize(("n", "batch"), SIZES)
@pytest.mark.parametrize("radius", [None, 0.3])
def test_without_noise_it_is_the_plain_sum(n, batch, radius):
    """The tree adds the same numbers in another order: a few roundings each."""
    rows = 2 * np.random.default_rng(n).normal(size=(n, 3))
    found = dp_ftrl.run(LinearLosses(rows), quiet(n, 3, batch, radius=radius), LiveTape(0))
    assert found == pytest.approx(slow(rows, batch, radius), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize(("n", "batch"), SIZES)
def test_a_record_enters_as_many_nodes_as_appendix_d_says(n, batch):
    schedule = quiet(n, 1, batch)
    transcript = record(lambda tape: dp_ftrl.run(LinearLosses(np.zeros((n, 1))), schedule, tape), 0)
    entered = [sum(draw in release.draws for release in transcript.releases) for draw in range(schedule.steps)]
    assert len(transcript.releases) == schedule.steps
    assert max(entered) == entered[0] == dp_ftrl.depth(schedule.steps) == int(np.ceil(np.log2(schedule.steps + 1)))


@pytest.mark.parametrize(("n", "batch"), [(7, 1), (31, 4), (64, 1)])
def test_the_printed_noise_agrees_with_the_accountant_that_cites_the_paper(n, batch):
    """dp-accounting's tree event at sigma/L gives epsilon 1; it also improves the last step of the conversion."""
    schedule = dp_ftrl.printed(n, 2, 1.0, 1e-5, batch=batch, clip=0.7, regularisation=1.0)
    multiplier = schedule.noise.std("tree", 1.4) / 0.7
    relation = privacy_accountant.NeighboringRelation.REPLACE_SPECIAL
    accountant = rdp.RdpAccountant(neighboring_relation=relation)
    theirs = accountant.compose(dp_event.SingleEpochTreeAggregationDpEvent(multiplier, schedule.steps))
    assert 0.7 < theirs.get_epsilon(1e-5) <= 1.0
    ours = account(record(lambda tape: dp_ftrl.run(LinearLosses(np.zeros((n, 2))), schedule, tape), 0), "add-remove")
    assert 0.7 < ours.epsilon(1e-5) <= theirs.get_epsilon(1e-5)


def test_the_pair_moves_every_node_of_the_first_record_by_half_of_the_replace_one_sensitivity():
    instance = find("dp_ftrl/dp_ftrl@repaired")[0].build()
    run = lockstep(instance.mechanism, instance.pair, (0,))
    assert run.findings == []
    shares = {label: movement.share for label, movement in run.movements.items()}
    moved = {label for label, share in shares.items() if share == pytest.approx(0.5)}
    assert moved == {"tree/(1,1)", "tree/(1,2)", "tree/(1,4)", "tree/(1,8)", "tree/(1,16)"}
    assert all(share == 0 for label, share in shares.items() if label not in moved)
    for pair in instance.others:  # which the search tries, too: records of the other leaves
        found = lockstep(instance.mechanism, pair, (0,)).movements
        moved |= {label for label, one in found.items() if one.share == pytest.approx(0.5)}
    assert moved == set(shares) and len(moved) == 31


@pytest.mark.parametrize(
    ("change", "field"), [({"batch": 0}, "batch"), ({"clip": 0.0}, "clip"), ({"radius": -1.0}, "radius")]
)
def test_bad_schedules_are_refused(change, field):
    with pytest.raises(BadInput, match=field):
        dp_ftrl.printed(8, 1, 1.0, 1e-5, **{"batch": 1, "clip": 1.0, "regularisation": 1.0, **change})


# The tree of noisy sums: what a node claims.
def full_batch(data, tape):
    """Three values of the whole data set: record 0 moves each by one, so it moves a node of two values by two."""
    tree = TreeSum(tape, "tree", std=1.0)
    return [tree.add(data.sum(), sensitivity=1.0) for _ in range(4)]


def one_pass(data, tape):
    tree = TreeSum(tape, "tree", std=1.0)
    sums = []
    for _ in range(4):
        batch = tape.fresh("part", len(data), 2, order="index")
        sums.append(tree.add(data[batch.indices].sum(), sensitivity=1.0, batch=batch))
    return sums


def test_the_nodes_of_a_prefix_cover_it_once_whatever_its_length_is():
    """What certificates of the trees of this package lean on (``reference/written.py``)."""
    for t in range(1, 600):
        assert [i for first, last in nodes(t) for i in range(first, last + 1)] == [*range(1, t + 1)]


PAIR = Pair(np.zeros(8), np.eye(8)[0], 0)


@pytest.mark.parametrize(("run", "claimed"), [(full_batch, [1.0, 2.0, 1.0, 4.0]), (one_pass, [1.0] * 4)])
def test_a_node_claims_as_much_as_a_record_can_move_it(run, claimed):
    """Of full batches their sum: the largest value alone would be exceeded; of fresh ones a record sits in one."""
    releases = record(lambda tape: run(PAIR.here, tape), 0).releases
    assert [one.label for one in releases] == [f"tree/({node})" for node in ("1,1", "1,2", "3,3", "1,4")]
    assert [one.sensitivity for one in releases] == claimed
    found = lockstep(run, PAIR, [0])
    assert not found.findings and found.movements["tree/(1,4)"].share == pytest.approx(1.0)


def test_a_record_does_not_reach_another_node_by_rounding():
    """0.1 + 0.2 - 0.1 is not 0.2: a node's sum is made of its own values, and not a difference of prefixes."""
    tree = TreeSum(LiveTape(0), "tree", std=0.0, nodes=lambda t: [(k, k) for k in range(1, t + 1)])
    for value in (0.1, 0.2):
        tree.extend(value, sensitivity=1.0)
        tree.noisy()
    assert tree._released[2, 2] == 0.2
