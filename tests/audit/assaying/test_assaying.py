"""An assay of code on a tape: where findings are, outputs alone, the pair that is audited, noise that no claim has."""

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from dpassay.audit.assaying.assay import assay, assay_case
from dpassay.audit.assaying.examine import epsilon_of_output, numbers_of
from dpassay.audit.assaying.places import places_of
from dpassay.audit.assaying.worst import with_exact_losses
from dpassay.audit.exit_codes import FAILED
from dpassay.audit.row import Effort
from dpassay.audit.search.engine import search
from dpassay.audit.search.ground import AllOf, Data
from dpassay.reference import Cite, Multipliers, Pair, noise_for
from dpassay.reference.blocks.batches import draw_records
from dpassay.reference.case import Case, Instance, PrivacyClaim
from dpassay.reference.findings import Kind, declare
from dpassay.reference.laws.categorical import Categorical
from dpassay.reference.space import Rows, Space

HERE = Cite("dwork2014", "Theorem 3.22")
CLAIM = PrivacyClaim(1.0, 1e-5, HERE)
LINE = Space.matrix(n=(1, 2), d=(1,))


# -- a finding names its place ---------------------------------------------------------------------------------------
def raw_beside_it(rows, tape):
    noisy = tape.gaussian("mean", rows.mean(axis=0), std=9.0, sensitivity=2.0)
    return {"noisy": noisy, "sums": (1.0, rows.sum(axis=0))}  # the second number is nobody's


def by_sides(rows, tape):
    tape.gaussian("mean", rows.mean(axis=0), std=9.0, sensitivity=2.0)
    if rows[0, 0] > 0.5:
        return "large"
    return "small"


def line_of(text):
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.strip().startswith(text))


@pytest.mark.parametrize("where", [LINE, Pair(np.zeros((1, 1)), np.ones((1, 1)), 0)], ids=["space", "pair"])
def test_outputs_that_differ_name_the_return_the_part_and_both_values(where):
    (witness,) = search(raw_beside_it, where, CLAIM, examples=12).witnesses
    place = line_of('return {"noisy"')
    assert witness.finding.kind is Kind.OUTPUT and "differ at ['sums'][1]" in witness.finding.detail
    assert witness.made[0].text.startswith(f"test_assaying.py:{place} in raw_beside_it: return {{")
    assert sorted([witness.here.tolist(), witness.there.tolist()]) == [[0.0], [1.0]]
    assert any(line.startswith("  outputs [") for line in witness.lines())
    (first, *_) = places_of(raw_beside_it, [witness.finding], [witness])
    assert first["line"] == place


def test_sides_that_return_elsewhere_name_both_lines():
    (witness,) = search(by_sides, LINE, CLAIM, examples=12).witnesses
    assert all(f":{line_of(f'return {text}')} in by_sides" in str(witness) for text in ('"large"', '"small"'))
    assert witness.here is None  # words are no numbers


def batch_by_the_batch(rows, tape):
    batch = tape.batch("first", len(rows), 1)
    largest = np.abs(rows[batch.indices]).max()
    tape.gaussian("mean", np.clip(rows, -1, 1)[batch.indices].sum(axis=0), std=9.0, sensitivity=2.0, batch=batch)
    return tape.gaussian("large" if largest > 0.5 else "small", np.zeros(1), std=9.0, sensitivity=2.0)


def drawn_for_another_reason(rows, tape):
    reason = "large" if rows[0, 0] > 0.5 else "small"
    records, batch = draw_records(tape, reason, len(rows), 1)
    return tape.gaussian("sum", np.clip(rows, -1, 1)[records].sum(axis=0), std=9.0, sensitivity=2.0, batch=batch)


@pytest.mark.parametrize(
    ("run", "line"),
    [(batch_by_the_batch, 'return tape.gaussian("large"'), (drawn_for_another_reason, "reason =")],
    ids=["taking part decides", "the label of a draw"],
)
def test_the_line_that_decides_a_call_is_named(run, line):
    found = search(run, Space.matrix(n=(2,), d=(1,), radius=1.0), CLAIM, examples=40).witnesses
    calls = [one for one in found if one.finding.kind is Kind.CALL]
    assert line_of(line) in {one.line for witness in calls for one in witness.made}


def test_the_line_of_the_certificate_comes_first_where_the_search_does_not_see_what_gets_out():
    (witness,) = search(raw_beside_it, LINE, CLAIM, examples=12).witnesses
    seed = "test_assaying.py:7: a generator with a fixed seed: everybody can draw it: `rng = ...`"
    bare = replace(witness, made=(replace(witness.made[0], role="returns it"),))
    for lost in (seed, seed.replace("a generator with a fixed seed", "np.ptp has no rule")):
        lines = [one["line"] for one in places_of(raw_beside_it, [bare.finding], [bare], lost=lost)]
        assert (lines[0] == 7) == (lost == seed) and 7 in lines


# -- outputs alone, as numbers ----------------------------------------------------------------------------------------
PAIR = Pair(1.0, 0.0, 0)
EFFORT = Effort(runs=150, pilot=60, examples=15)


def of_output(run, delta=1e-5, samples=400):
    return epsilon_of_output(run, PAIR, delta, samples=samples, confidence=0.95, seed=0)


def response(bit, tape):
    """Randomised response: right with probability 3/4; exactly log 3."""
    right = Categorical((0, 1), np.log([0.25, 0.75] if bit else [0.75, 0.25]))
    return tape.release("bit", right, sensitivity=None)


def test_outputs_are_sampled():
    """The true value beside noise that the tape never saw: separated outputs; 400 a side, seed 0."""
    assert 0.5 < of_output(response) <= math.log(3)
    assert of_output(lambda bit, tape: response(bit, tape) * 0) == 0.0
    assert 2 < of_output(lambda x, tape: x + 0.01 * tape.noise("own", 1.0)) < math.inf
    assert of_output(lambda x, tape: x + 1e4 * tape.noise("own", 1.0)) < 1
    assert of_output(lambda x, tape: str(tape.noise("own", 1.0))) is None
    assert numbers_of({"b": np.eye(2), "a": (1, [2.5])}) == [1.0, 2.5, 1.0, 0.0, 0.0, 1.0]
    assert numbers_of("word") is None and numbers_of([1, None]) is None


def leaky(x, tape):
    return tape.gaussian("g", x, std=4.0, sensitivity=1.0), x


def revealing(x, tape):
    tape.reveal("norm", x)
    return tape.gaussian("g", x, std=4.0, sensitivity=1.0)


@pytest.mark.parametrize("run", [leaky, revealing])
def test_a_leak_that_the_output_shows_is_violated(run):
    found = assay(run, PAIR, CLAIM, effort=Effort(runs=200, pilot=50, examples=5))
    assert found.verdict == "violated" and found.by == "outputs" and 1 < found.realised < math.inf
    assert "the output alone" in found.why and not found.upper_bound


@pytest.mark.parametrize(
    ("run", "pair", "why"),
    [
        (lambda x, tape: None, PAIR, "nothing is released, and the output is None"),
        (lambda x, tape: math.nan, PAIR, "nothing is released, and the output is NaN"),
        (lambda x, tape: 7.0, PAIR, "nothing is released, and the output is the same"),
        (leaky, Pair(1.0, 1.0, 0), "D and D' are the same"),
        (lambda x, tape: tape.gaussian("g", 0.0, std=4.0, sensitivity=1.0), PAIR, "no released value tells D from D'"),
        (lambda x, tape: tape.gaussian("g", x, std=4.0, sensitivity=None), PAIR, "not accounted: no sensitivity"),
        (lambda x, tape: [tape.gaussian("g", x, std=4.0, sensitivity=1.0), math.inf], PAIR, "output is not finite"),
        (
            lambda rows, rng: [np.clip(rows[:, 0], 0, 1).sum() + rng.laplace(scale=1.0), print(f"{rows[0, 0]:.2f}")],
            Space.matrix(n=(2,)),
            "private data becomes a text",
        ),
    ],
)
def test_an_empty_audit_says_so(run, pair, why):
    found = assay(run, pair, CLAIM, effort=EFFORT)
    assert found.verdict == "inconclusive" and why in found.why


# Where secret batches of other records hide the losses, a pair with like records is audited in place of the worst.
SPACE = Space(Rows("d", bound=None, labels=(-1.0, 1.0)), {"n": (4,), "d": (1,)})
ROWS = np.array([[3.0, 1.0], [-2.0, 1.0], [5.0, -1.0], [1.0, 1.0]])
DATA = Data({"n": 4, "d": 1}, ROWS, np.array([-3.0, -1.0]), 0)


def sampled_sum(rows, tape, steps=2):
    for _ in range(steps):
        batch = tape.poisson("batch", len(rows), 0.5)
        query = np.clip(rows[batch.indices, :-1], -1, 1).sum(axis=0)
        tape.gaussian("sum", query, std=2.0, sensitivity=2.0, batch=batch)


def test_the_other_records_are_made_alike():
    found = with_exact_losses(AllOf(sampled_sum, SPACE).setting(DATA), sampled_sum, SPACE)
    others = found.data.rows[1:]
    assert found.alike and (others == others[0]).all() and found.data.rows[0].tolist() == [3.0, 1.0]
    assert others[0, :-1] == 0, "any other records would be counted by the size of the batch"
    assert found.data.there.tolist() == [-3.0, 1.0] or found.data.there.tolist() == [-3.0, -1.0]


def counts(rows, tape):
    batch = tape.poisson("batch", len(rows), 0.5)
    tape.gaussian("size", np.array([float(len(batch.indices))]) * rows[0, 0], std=1.0, sensitivity=9.0, batch=batch)


def test_the_worst_pair_stays_where_its_losses_are_exact_or_those_of_no_pair_are():
    for run in (lambda rows, tape: tape.gaussian("sum", rows[:, 0].sum(), std=2.0, sensitivity=2.0), counts):
        setting = AllOf(run, SPACE).setting(DATA)
        found = with_exact_losses(setting, run, SPACE)
        assert found.data is setting.data and not found.alike and found.lonely == (run is counts)


def test_where_every_record_counts_the_pair_has_no_other_records():
    space = replace(SPACE, sizes={"n": (1, 4), "d": (1,)})
    found = with_exact_losses(AllOf(counts, space).setting(DATA), counts, space)
    assert found.alike and found.data.rows.shape == (1, 2) and found.data.target == 0


def test_in_a_box_and_without_labels():
    space = Space(Rows("d", box=(1.0, 3.0)), {"n": (3,), "d": (1,)})
    data = Data({"n": 3, "d": 1}, np.array([[3.0], [2.0], [1.0]]), np.array([1.0]), 0)

    def run(rows, tape):
        batch = tape.poisson("batch", len(rows), 0.5)
        tape.gaussian("sum", (rows[batch.indices] - 1.0).sum(axis=0), std=2.0, sensitivity=2.0, batch=batch)

    found = with_exact_losses(AllOf(run, space).setting(data), run, space)
    assert found.alike and found.data.rows.tolist() == [[3.0], [1.0], [1.0]]


@pytest.mark.some(1)
@pytest.mark.parametrize(("epsilon", "failed"), [(1.0, True), (4.0, False)])
def test_sampled_batches_get_a_verdict(epsilon, failed):
    found = assay(sampled_sum, SPACE, PrivacyClaim(epsilon, 1e-5), effort=Effort(runs=80, pilot=60, examples=20))
    assert found.verdict.failed is failed and found.realised is not None and 0 < found.realised <= found.accounted
    assert "data whose other records are equal" in found.why


# -- a claim whose noise cannot be calibrated is a finding with exit code 1, not a crash -------------------------------
@dataclass(frozen=True)
class Schedule:
    noise: Multipliers
    steps: int = 1


UNIT = Schedule(Multipliers({"g": 1.0}))


def bare_in_the_end(x, schedule, tape):
    tape.gaussian("first", x, std=schedule.noise.std("g", 1.0), sensitivity=1.0)
    return tape.gaussian("last", x, std=0.0, sensitivity=1.0)


def noisy(sensitivity):
    return lambda x, schedule, tape: tape.gaussian("g", x, std=schedule.noise.std("g", 1.0), sensitivity=sensitivity)


def nothing_for_zero(x, schedule, tape):
    return noisy(1.0)(x, schedule, tape) if abs(x) > 0 else 0.0


def row(run, declared=(), reading="printed", effort=EFFORT):
    def build():
        return Instance(run, noise_for(run, UNIT, 0.0, 1.0, 1e-5), Pair(1.0, 0.0, 0))

    return assay_case(Case("test/one", reading, "", HERE, CLAIM, build, declared=declare(*declared)), effort)


@pytest.mark.parametrize(
    ("run", "verdict", "said", "kind"),
    [
        (bare_in_the_end, "leaks", "'last' is released without noise", (Kind.BARE_RELEASE, "last")),
        (noisy(1e60), "over budget", "no noise in reach meets this budget", Kind.OVER_BUDGET),
    ],
)
def test_no_noise_is_a_finding(run, verdict, said, kind):
    found = row(run)
    assert (found.verdict, found.exit_code()) == (verdict, FAILED)
    assert said in found.why and "\n" not in found.why and found.undeclared and not found.upper_bound
    assert row(run, declared=[kind]).exit_code() == 0
    found = row(nothing_for_zero)  # a dry run that releases nothing accuses nobody of itself: the runs decide
    assert (found.verdict, found.exit_code()) == ("leaks", FAILED) and "cannot be calibrated" not in found.why


def test_sizes_that_release_nothing_are_no_finding():
    """One step less than T is none at all for T = 1: nothing is released then, so nothing can be over budget."""

    def run(rows, schedule, tape):
        for _ in range(schedule.steps - 1):
            std = schedule.noise.std("g", 2 / len(rows))
            tape.gaussian("g", rows.mean(axis=0), std=std, sensitivity=2 / len(rows))

    def schedule(sizes):
        return noise_for(run, replace(UNIT, steps=sizes["steps"]), np.zeros((4, 2)), 1.0, 1e-5)

    sizes = {"n": (4,), "d": (2,), "steps": (1, 3)}
    found = search(run, Space(sizes=sizes, schedule=schedule), CLAIM, examples=30)
    assert found.findings == [] and not found.raised
    assert found.accounted == pytest.approx(1.0, rel=1e-4)


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
