"""What is said of escapes: data that move a model's gradient by exactly the share that is said to be the largest."""

import numpy as np
import pytest

from dpassay.audit.lockstep.run import scripted
from dpassay.audit.lockstep.script import Choice, Script
from dpassay.audit.search.ground import AllOf, data_of
from dpassay.reference.catalogue import find
from dpassay.reference.written import reason

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
