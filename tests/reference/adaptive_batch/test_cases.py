"""The audit cases of adaptive_batch: accounts against claims, findings, nodes of the tree, what each row lists."""

from dataclasses import replace

import numpy as np
import pytest

from dpassay.audit.assaying.assay import search_case
from dpassay.audit.lockstep.run import lockstep, scripted
from dpassay.audit.lockstep.script import Choice, Script
from dpassay.audit.row import Effort
from dpassay.audit.search.ground import AllOf, data_of
from dpassay.reference.adaptive_batch.cases import CASES as ROWS
from dpassay.reference.adaptive_batch.cases import LONG_ESCAPES, cut
from dpassay.reference.adaptive_batch.stochastic_spider import CHARITABLE
from dpassay.reference.catalogue import find
from dpassay.reference.written import reason

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


# What is said of escapes: data that move a model's gradient by exactly the share that is said to be the largest.
LABEL = "escape/gradient"


def escape_share(s):
    """The largest movement of a model's gradient in an escape, over its declared ``hessian_sensitivity`` |move|.

    O3 moves H by 2 M/b. O4 moves it by the second derivative's change over a step of length m, over b_t >= max(1, slope
    m / eta): on waves of amplitude one the chord 2 sin(m/2), less than the rho m that is declared.
    """
    step = s.step_size / s.batch_slope  # where b_t begins to grow the chord over it is largest
    chord = 2 * np.sin(step / 2)
    return max(s.smoothness / s.batch, chord) / max(s.smoothness / s.batch, s.hessian_lipschitz * step)


def moved(case, sizes, step, phase):
    """The share of an escape on waves of one gradient; the target, read by O4 at step 1, turns its sign."""
    space = case.space()
    target = 2 * space.schedule(sizes).batch + 1  # O1, O3 and O2 have read the others
    rows = np.tile([0.0, step], (sizes["n"], 1))
    rows[target] = np.cos(phase), np.sin(phase)
    ground = AllOf(case.build().run, space)
    setting = ground.setting(data_of(space, sizes, rows, -rows[target], target))
    values = dict.fromkeys(("refresh/bare", "tree/(1,1)"), Choice("query"))
    script = Script({**values, LABEL: Choice("norm", size=1e-3, along="axis")})
    return scripted(setting.mechanism, setting.pair, [0], script).shares[LABEL]


@pytest.mark.parametrize("d", [1, 4])
@pytest.mark.parametrize("variant", ["bare-refresh", "theorem-3.17-d1-T31-O1", "lemma-3.13-d1-T7-O2", "escape"])
def test_an_escape_moves_as_far_as_is_said_and_no_further(variant, d):
    """The longest step with a batch of one, the target's wave bent most in its middle; any other shows less."""
    (case, *_) = [one for one in find("adaptive_batch/stochastic_spider") if one.variant == variant]
    assert case.reading == "printed"
    sizes = {"n": max(case.space().sizes["n"]), "d": d, "steps": 7, "eager": 2}
    schedule = case.space().schedule(sizes)
    most, longest = escape_share(schedule), schedule.step_size / schedule.batch_slope
    assert f"{most:.3f} for d = {d}" in reason(LABEL, case.attainable)
    assert moved(case, sizes, longest, np.pi / 2 + longest / 2) == pytest.approx(most, rel=1e-9)
    for step in (0.5 * longest, 0.99 * longest, min(1.0, 1.01 * longest), min(1.0, 1.9 * longest)):
        for phase in np.linspace(0, np.pi, 5):
            assert moved(case, sizes, step, phase) <= most * (1 + 1e-9)


def test_every_printed_row_tells_why_a_node_or_an_escape_shows_less():
    """A record below a node, in a leaf that is not its largest, cannot show all; T = 2 ends before an escape moves."""
    cases = [one for one in find("adaptive_batch/stochastic_spider") if one.reading == "printed"]
    assert len(cases) == 11 and all(reason("tree/(9,12)", one.attainable) for one in cases)
    short = [one for one in cases if reason(LABEL, one.attainable).startswith("0: ")]
    assert [one.variant for one in short] == ["theorem-3.17-d1-T2-O2"]
    assert max(short[0].space().sizes["steps"]) == 2


def test_in_the_repaired_spaces_nothing_is_lost():
    """There O3's batches are the smallest, and what it moves the Hessian by is what is declared."""
    (case,) = [one for one in find("adaptive_batch") if (one.reading, one.variant) == ("repaired", "d1-T7-O1")]
    sizes = {"n": 12, "d": 1, "steps": 4, "batch": 1, "epoch": 2, "escape_steps": 3, "escapes": 1, "near": 1}
    assert escape_share(case.space().schedule(sizes)) == 1.0
