"""The audit cases of adaptive_batch: accounts against claims, findings, nodes of the tree, what each row lists."""

from dataclasses import replace

import numpy as np
import pytest

from dpassay.audit.assaying.searching import search_case
from dpassay.audit.lockstep.run import lockstep
from dpassay.audit.row import Effort
from dpassay.reference.accounting.cost import account
from dpassay.reference.adaptive_batch.cases import CASES as ROWS
from dpassay.reference.adaptive_batch.cases import LONG_ESCAPES, cut
from dpassay.reference.adaptive_batch.empirical_route import calibrated, run
from dpassay.reference.adaptive_batch.stochastic_spider import CHARITABLE
from dpassay.reference.adaptive_batch.theorems import Constants
from dpassay.reference.catalogue import find
from dpassay.reference.errors import BadInput
from dpassay.reference.problems.saddles import ChainOfSaddles, sample_landscape
from dpassay.reference.tape import LiveTape

CASES = {case.key: case for case in ROWS}
NAME = "adaptive_batch/stochastic_spider"


@pytest.mark.parametrize("key", [key for key in CASES if "O1@repaired" in key])
def test_one_record_moves_every_node_above_its_leaf_by_its_whole_sensitivity(key):
    instance = CASES[key].build()
    moved = lockstep(instance.mechanism, instance.pair, [0]).movements
    widths = [1 << k for k in range(instance.facts["T"].bit_length())]
    assert all(moved[f"tree/(1,{width})"].share == pytest.approx(1.0) for width in widths)


def test_a_refresh_inside_one_tree_costs_more_nodes_than_the_levels():
    """Printed, one tree over the run: T = 7 has 3 levels, but a refresh after step 4 puts the record into 5 nodes."""
    printed = CASES[f"{NAME}:lemma-3.13-d1-T7-O1@printed"].build()
    mended = CASES[f"{NAME}:d1-T7-O1@repaired"].build()
    for instance, nodes in ((printed, 5), (mended, 3)):
        found = [r for r in instance.longest_transcript().releases if r.label.startswith("tree/") and 0 in r.draws]
        assert len(found) == nodes
        assert {r.sensitivity for r in found} == {2 / instance.facts["b"]}


def test_rows_list_what_was_completed_for_their_variant():
    """The literal reading differs from the charitable one in line 5 only; an alpha of our choice is named."""
    printed = [case for case in ROWS if case.reading == "printed"]
    bare = next(case for case in printed if case.variant == "bare-refresh")
    charitable = next(case for case in printed if "d16-T8" in case.variant)
    assert set(charitable.completions) - set(bare.completions) == {CHARITABLE}
    assert bare.build().schedule.refresh == "bare" and charitable.build().schedule.refresh == "tree"
    assert "constants hidden in O(.) are one, gamma = alpha" in bare.completions
    chosen = {case.variant for case in ROWS if any("alpha = 0" in text for text in case.completions)}
    assert {"escape", "theorem-3.17-d1-T7-O2"} <= chosen and "theorem-3.17-d16-T7-O1" not in chosen


def test_the_escape_that_breaks_lemma_3_13_is_private_with_the_noise_of_lemma_3_14():
    """The ledger's charitable reading of lemma314/escape_noise_small_tau, on the row's own pair."""
    instance = CASES[f"{NAME}:escape@printed"].build()
    known, other = instance.schedule, cut("Lemma 3.14", 90, LONG_ESCAPES, 1e9)
    assert replace(other, noise=known.noise) == known
    assert replace(instance, schedule=other).accounted().epsilon(1e-5) < 0.1 < 9 < instance.accounted().epsilon(1e-5)


@pytest.mark.slow  # three searches: four seconds
def test_every_node_of_the_bare_reading_can_be_moved_by_all_but_a_hundredth():
    """What the case says of nodes that a search left low: each seed misses others."""
    (case,) = find("adaptive_batch/stochastic_spider:bare-refresh")
    instance, largest = case.build(), {}
    for seed in (1, 2, 7):
        for label, share in search_case(case, instance, Effort(seed=seed)).shares.items():
            largest[label] = max(share, largest.get(label, 0.0))
    nodes = {label: share for label, share in largest.items() if label.startswith("tree/")}
    assert len(nodes) == 6 and min(nodes.values()) > 0.99, nodes


def test_empirical_route_finds_the_end_of_the_chain_within_budget():
    problem = sample_landscape(ChainOfSaddles(2), 3000, np.random.default_rng(0), 0.1, 0.05)
    c = Constants(3000, 2, 1.0, 1e-5, *problem.constants, initial_gap=3.0)
    s = calibrated(c, steps=200)
    tape = LiveTape(0)
    result = run(problem, s, tape)
    assert account(tape.transcript).epsilon(1e-5) == pytest.approx(1.0, rel=3e-6)
    assert problem.value(result.x) < -1.9
    with pytest.raises(BadInput, match="Appendix C says nothing"):
        calibrated(replace(c, n=2, epsilon=0.01))
