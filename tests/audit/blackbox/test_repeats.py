"""Outputs that come back: the bet on repeated ones, and the grid of the floats, which is judged by itself."""

import itertools
import json

import numpy as np
import pytest
from scipy.stats import binomtest
from typer.testing import CliRunner

from dpassay.audit.blackbox import repeats
from dpassay.audit.blackbox.detect import audit_mechanism, audit_outputs, epsilon_of_outputs, require_independent
from dpassay.audit.blackbox.table import to_tables
from dpassay.audit.cli import app
from dpassay.audit.evidence.label_bets import labelled
from dpassay.audit.results import Verdict
from dpassay.audit.sequential.black_box import audit_sequentially
from dpassay.audit.zoo import laws as zoo_laws
from dpassay.reference import guarantee
from dpassay.reference.errors import BadInput
from dpassay.reference.guarantee import approx_dp


def _branch(value, probability, size, rng):
    """Laplace mechanism at epsilon 1 that skips the noise now and then."""
    return np.where(rng.random(size) < probability, value, value + rng.laplace(0, 1, size))[:, None]


def test_a_branch_of_one_in_five_hundred_is_seen_in_ten_thousand_outputs():
    """About 40 repeated outputs are enough, in each of 5 seeds."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        p, q = _branch(0.0, 0.002, 10_000, rng), _branch(1.0, 0.002, 10_000, rng)
        result = audit_outputs(p, q, guarantee.approx_dp(1.0), rng)
        assert result.verdict is Verdict.VIOLATED and result.evidence["score"] == "repeated outputs"


@pytest.mark.some(1)
@pytest.mark.parametrize("delta", [0.0, 0.02])
def test_the_level_is_kept_when_every_output_repeats(delta):
    """Extremal (1, delta)-DP pair on four outputs, claim exactly true: 5 % level, 400 runs of 500 a side."""
    eps, wrong, claim = 1.0, 0, guarantee.approx_dp(1.0, delta)
    rate = (1 - delta) / (1 + np.exp(eps))
    for seed in range(400):
        rng = np.random.default_rng(seed)
        p = rng.choice([-2.0, -1.0, 1.0], p=[delta, 1 - delta - rate, rate], size=(500, 1))
        q = -rng.choice([-2.0, -1.0, 1.0], p=[delta, 1 - delta - rate, rate], size=(500, 1))
        wrong += repeats.repeats_log_wealth(p, q, claim, rng) >= -np.log(0.05)
    assert binomtest(wrong, 400, 0.05, alternative="greater").pvalue > 1e-3


def test_guesses_follow_the_majority_inside_each_group():
    codes = np.array([7, 7, 7, 7, 9, 9, 1], dtype=np.uint64)
    of_q = np.array([True, True, True, True, False, False, True])
    right = repeats.guesses(codes, of_q, np.random.default_rng(0))
    assert right.tolist() == [True, True, True, True]  # three of the four 7s, then one of the two 9s; 1 never repeats
    assert repeats.guesses(codes[-1:], of_q[-1:], np.random.default_rng(0)).size == 0


def test_the_wealth_is_a_mean_over_targets_rounded_down():
    """Each side has one answer of its own: all labels but the first two are guessed right."""
    p, q, claim = np.zeros((40, 1)), np.ones((40, 1)), guarantee.approx_dp(1.0)
    found = repeats.repeats_log_wealth(p, q, claim, np.random.default_rng(3))
    right = sum(labelled(40, 40, np.random.default_rng(3))) - 2
    truth = np.log(np.mean((1 - (1 - repeats.TARGETS) / (1 + np.e)) ** right)) + right * np.log1p(np.exp(-1))
    assert truth - 1e-8 < found < truth


def test_rows_are_equal_exactly_when_their_numbers_are():
    table = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0], [np.nan, 1.0], [np.nan, 1.0], [0.0, np.nextafter(1.0, 2.0)]])
    found = repeats.row_hashes(table)
    assert found[3] == found[4] and np.unique(found).size == 5
    assert np.unique(repeats.row_hashes(np.random.default_rng(0).normal(size=(200_000, 2)))).size == 200_000


def test_the_tested_pair_is_part_of_the_claim():
    assert repeats.chosen_pair(guarantee.approx_dp(1.0), 10**6) == (1.0, 0.0)
    epsilon, delta = repeats.chosen_pair(guarantee.gdp(1.0), 10_000)
    assert delta * 10_000 <= repeats.CORRUPTED and delta >= guarantee.gaussian_delta(epsilon, 1.0) * (1 - 1e-9)


def test_past_outputs_guess_and_are_not_guessed():
    """Ten answers came back on D before: of eleven fresh ones eight are guessed right, three are new."""
    codes = np.array([7] * 10 + [7] * 8 + [1, 2, 3], dtype=np.uint64)
    of_q = np.zeros(codes.size, dtype=bool)
    rng = np.random.default_rng(0)
    assert repeats.guesses(codes, of_q, rng, known=10).tolist() == [True] * 8
    assert repeats.guesses(codes, of_q, rng).size == 17  # the first of them says nothing
    of_q[10:] = True
    assert repeats.guesses(codes, of_q, rng, known=10).sum() == 0


@pytest.mark.parametrize(("spacing", "violated"), [(None, True), (2.0**-10, False)])
def test_naive_laplace_fails_on_the_grid_of_its_floats_and_passes_where_it_is_rounded(spacing, violated):
    """6,000 outputs a side (seed 0): p-value below 1e-6; in real numbers the mechanism is fine."""
    naive = zoo_laws.laplace_noise(1.0)
    pair = (zoo_laws.on_a_grid(naive, spacing) if spacing else naive, 0.0, 1.0, approx_dp(1.0), 6000)
    found = [audit_mechanism(*pair, np.random.default_rng(0), low_bits=bits) for bits in (True, False)]
    assert (found[0].p_value < 1e-6) is violated and found[1].verdict is not Verdict.VIOLATED


# Two samples that were not drawn by themselves are refused; independent ones, whatever their type, are not.
RNG = np.random.default_rng(7)
NOISE = RNG.normal(size=(300, 4))


@pytest.mark.parametrize(
    ("p", "q"),
    [
        pytest.param(NOISE, NOISE, id="one file twice"),
        pytest.param(NOISE, NOISE[::-1], id="the same in another order"),
        pytest.param(NOISE, np.concatenate([NOISE[:30], RNG.normal(size=(100, 4))]), id="a part of the other side"),
        pytest.param(NOISE, NOISE + np.array([1.0, 0.0, 0.0, 2.0]), id="one seed for both sides"),
        pytest.param(NOISE[:, 0].round(2), NOISE[:, 0].round(2) + 1, id="the same, rounded"),
    ],
)
def test_runs_that_depend_on_each_other_are_refused(p, q):
    with pytest.raises(BadInput, match="must be independent"):
        require_independent(to_tables(p, q))


@pytest.mark.parametrize(
    ("p", "q"),
    [
        pytest.param(NOISE, RNG.normal(size=(300, 4)), id="numbers"),
        pytest.param(RNG.integers(50, size=300), RNG.integers(50, size=300), id="few values"),
        pytest.param(np.c_[np.arange(300), NOISE[:, 0]], np.c_[np.arange(300), RNG.normal(size=300)], id="numbered"),
        pytest.param(np.ones(300), np.ones(300), id="a constant"),
        pytest.param(NOISE[:12], NOISE[:12], id="too few to say"),
        pytest.param(NOISE, np.where(np.arange(300)[:, None] < 5, NOISE, 1 - NOISE[::-1] ** 3), id="five by chance"),
    ],
)
def test_independent_runs_are_not(p, q):
    require_independent(to_tables(p, q))


def test_the_command_refuses_one_file_twice_and_one_noise_for_both(tmp_path):
    """60 numbers, audited against themselves, were 'violated': what is learned on one side recalls the other."""
    names = [tmp_path / f"{name}.jsonl" for name in ("one", "moved", "other")]
    rows = RNG.normal(size=(300, 60))
    for name, some in zip(names, (rows, rows + 0.1, RNG.normal(size=(300, 60))), strict=True):
        name.write_text("".join(json.dumps(row) + "\n" for row in some.tolist()))
    for other, refused in ((names[0], True), (names[1], True), (names[2], False)):
        for claim, code in ((["--epsilon", "1"], 3), ([], 0)):
            files = ["--outputs", str(names[0]), "--outputs", str(other)]
            found = CliRunner().invoke(app, ["blackbox", *files, *claim, "--quiet"])
            assert isinstance(found.exception, BadInput) if refused else found.exit_code == code


def test_so_do_the_library_and_the_sequential_audit():
    claim = guarantee.approx_dp(1.0)
    for judged in (lambda rng: audit_outputs(NOISE, NOISE + 1, claim, rng),
                   lambda rng: epsilon_of_outputs(NOISE, NOISE + 1, 0.0, rng)):  # fmt: skip
        with pytest.raises(BadInput, match="must be independent"):
            judged(np.random.default_rng(0))
    calls = itertools.count()

    def seeded_by_its_number(data, rng):
        return data + float(np.random.default_rng(next(calls) % 100).normal())

    with pytest.raises(BadInput, match="must be independent"):
        audit_sequentially(seeded_by_its_number, (0.0, 0.1), claim, np.random.default_rng(0), limit=400, first=100)


@pytest.mark.parametrize("nothing", [[[]] * 50, np.zeros((50, 0)), [{}] * 50, [""] * 50])
def test_outputs_that_hold_nothing_are_a_constant(nothing):
    """Lists without entries were refused as 'no outputs'; against something they give themselves away."""
    claim = guarantee.approx_dp(1.0)
    assert audit_outputs(nothing, nothing, claim, np.random.default_rng(0)).verdict is not Verdict.VIOLATED
    assert epsilon_of_outputs(nothing, nothing, 0.0, np.random.default_rng(0)).epsilon == 0.0
    others = RNG.normal(size=(50, 1)).tolist()
    assert audit_outputs(list(nothing), others, claim, np.random.default_rng(0)).verdict is Verdict.VIOLATED
