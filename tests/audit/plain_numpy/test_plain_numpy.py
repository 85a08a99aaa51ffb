"""Unmodified NumPy code on the tape: right mechanisms have no finding and exact laws, wrong ones are seen."""

import numpy as np
import pytest
from scipy import stats

from dpassay.audit.lockstep.run import lockstep
from dpassay.audit.plain_numpy import answers
from dpassay.audit.plain_numpy.mechanism import on_tape
from dpassay.audit.plain_numpy.places import NotUnderstood
from dpassay.reference.neighbours import Pair
from dpassay.reference.tape import LiveTape, record
from tests.audit.programs import right, wrong

from . import mechanisms as m

HERE = np.array([[0.5, 0.2], [0.1, -0.3], [-0.4, 0.9], [0.6, 0.0]])
PAIRS = [
    Pair(HERE, np.vstack([[-0.5, -0.7], HERE[1:]]), 0),
    Pair(HERE, np.vstack([HERE[:3], [-1.0, 0.0]]), 3),
    Pair(np.zeros((4, 2)), np.vstack([[1.0, 0.0], np.zeros((3, 2))]), 0),
]
RIGHT = (
    m.noisy_mean, m.normal_around_the_query, m.two_noises, m.noise_per_record,
    right.minibatch_sgd, right.poisson_sgd, m.noisy_max, m.test_and_answer, right.one_epoch,
)  # fmt: skip
WRONG = (
    wrong.noise_reused, m.exact_beside_it, m.branch_on_the_truth, wrong.stops_on_the_exact_gradient,
    m.last_step_bare, m.batch_told,
)  # fmt: skip


def findings(mechanism):
    run = on_tape(mechanism).tried(PAIRS)
    return [finding for pair in PAIRS for seed in range(6) for finding in lockstep(run, pair, [seed]).findings]


@pytest.mark.parametrize("mechanism", RIGHT, ids=lambda f: f.__name__)
def test_right_mechanisms_are_not_accused(mechanism):
    assert not findings(mechanism)


@pytest.mark.parametrize("mechanism", WRONG, ids=lambda f: f.__name__)
def test_wrong_mechanisms_are_seen(mechanism):
    assert findings(mechanism)


def laws(mechanism, data=HERE, seed=0):
    run = on_tape(mechanism).tried(PAIRS)
    return [release.law for release in record(lambda tape: run(data, tape), seed).releases]


def test_noise_scales_are_those_of_the_sum():
    assert laws(m.two_noises)[0].std == pytest.approx(5.0)
    assert laws(m.noise_per_record)[0].std == pytest.approx(2.0)
    assert laws(m.noisy_mean)[0].std == 0.8
    assert [law.std for law in laws(right.minibatch_sgd)] == pytest.approx([0.2 * 12.0 / 2] * 4)  # of the step


def test_a_loss_is_the_one_of_the_written_down_density():
    run = on_tape(m.normal_around_the_query)
    transcript = record(lambda tape: run(HERE, tape), 3)
    value = transcript.output
    assert value == transcript.releases[0].value
    expected = stats.norm.logpdf(value, HERE[:, 0].sum(), 4.0)
    assert transcript.releases[0].law.log_density(value) == pytest.approx(expected)


@pytest.mark.more
def test_outputs_follow_the_mechanism_itself():
    """Kolmogorov-Smirnov on 1,000 outputs of both (seed 5): level 0.001."""
    run = on_tape(right.one_epoch).tried(PAIRS)
    ours = [run(HERE, LiveTape(seed))[0] for seed in range(1000)]
    theirs = [right.one_epoch(HERE, np.random.default_rng([5, seed]))[0] for seed in range(1000)]
    assert stats.ks_2samp(ours, theirs).pvalue > 0.001


def test_batches_are_secret_and_declared():
    run = on_tape(right.minibatch_sgd).tried(PAIRS)
    transcript = record(lambda tape: run(HERE, tape), 0)
    assert [release.draws for release in transcript.releases] == [(0,), (1,), (2,), (3,)]
    assert {draw.kind for draw in transcript.draws} == {"without-replacement"}
    run = on_tape(right.poisson_sgd).tried(PAIRS)
    assert [draw.kind for draw in record(lambda tape: run(HERE, tape), 0).draws] == ["poisson"] * 4


@pytest.mark.parametrize(("kind", "draw"), [("laplace", "laplace"), ("gaussian", "normal"), ("gumbel", "gumbel")])
def test_the_law_of_the_largest(kind, draw):
    """20,000 draws (seed 1): each share within 4.5 standard errors."""
    queries, scales = np.array([0.0, 1.0, 0.4]), np.array([1.0, 1.0, 1.0])
    law = answers.largest(kind, queries, scales)
    noise = getattr(np.random.default_rng(1), draw)(size=(20_000, 3))
    shares = np.bincount(np.argmax(queries + noise, axis=1), minlength=3) / 20_000
    exact = np.exp(law.log_probabilities)
    assert np.all(np.abs(shares - exact) < 4.5 * np.sqrt(exact / 20_000))
    if kind == "gumbel":  # the exponential mechanism, in closed form
        assert exact == pytest.approx(np.exp(queries) / np.exp(queries).sum(), rel=1e-9)


def product_of_noises(data, rng):
    return data.sum() + rng.normal() * rng.normal()


def one_of_two_noises_again(data, rng):
    one, other = rng.normal(size=2)
    return abs(float(data.sum() + one + other)), data.max() + one


@pytest.mark.parametrize("mechanism", [product_of_noises, one_of_two_noises_again])
def test_what_is_not_understood_names_its_line(mechanism):
    with pytest.raises(NotUnderstood, match=r"test_plain_numpy.py:\d+.*tape"):
        on_tape(mechanism).tried(PAIRS)


@pytest.mark.parametrize("kind", ["laplace", "gumbel"])
def test_the_cost_of_the_largest_is_an_upper_bound_and_is_nearly_reached(kind):
    """Over neighbours whose queries move by 1 each: never above, and more than half of it."""
    here, scales = np.zeros(3), np.full(3, 2.0)
    worst = 0.0
    for moves in np.ndindex(3, 3, 3):
        there = np.array(moves, dtype=float) - 1
        logs = [answers.largest(kind, queries, scales).log_probabilities for queries in (here, there)]
        worst = max(worst, float(np.max(np.abs(logs[0] - logs[1]))))
    law = answers.largest(kind, here, scales)
    cost = law.cost(1.0)
    assert cost.kind == "pure" and 0.5 * cost.size < worst <= cost.size * (1 + 1e-6)


@pytest.mark.parametrize("rates", [[0.5, 0.25], (0.5, 0.25), np.array([0.5, 0.25])])
def test_uniform_numbers_that_are_compared_with_several_are_public(rates):
    for run in (lambda rows, rng: rng.random(2) > rates, lambda rows, rng: rates < rng.random(2)):
        assert record(lambda tape, run=run: on_tape(run)(PAIRS[0].here, tape), seed=0).output.dtype == bool
