"""Stochastic SPIDER with escape (adaptive_batch, Algorithms 1 to 4): tree, oracles, escape, run, schedules."""

from dataclasses import replace
from functools import partial
from math import ceil

import numpy as np
import pytest

from dpassay.reference.adaptive_batch import escape
from dpassay.reference.adaptive_batch.oracles import Oracles
from dpassay.reference.adaptive_batch.stochastic_spider import Schedule, printed, run
from dpassay.reference.adaptive_batch.theorems import Constants, oracle_count
from dpassay.reference.adaptive_batch.tree import printed_nodes, tree_theorem_std
from dpassay.reference.blocks.tree import TreeSum
from dpassay.reference.errors import BadInput
from dpassay.reference.noise import Printed
from dpassay.reference.problems.saddles import cosine_saddle
from dpassay.reference.tape import LiveTape


def uncovered(t, length):
    """What NODE(t) leaves out of 1..t as printed: (t, t) when t = Sigma is a power of two, else None."""
    intervals = printed_nodes(t, length)
    last = intervals[-1][1] if intervals else 0
    return None if last == t else (last + 1, t)


class TestTree:
    @pytest.mark.parametrize("longest", [*range(16, 129, 16), 256])
    def test_prefix_noise_is_the_noise_of_the_nodes_used(self, longest):
        """Every length 1..128 and 241..256: the noise of X_t is the sum of the noises of the nodes of t, each with
        variance one, and their number is the number of bits of t, except where the printed NODE(t) stops short."""
        for length in range(longest - 15, longest + 1):
            tape, noises, stds, seen = LiveTape(length), {}, {}, 0
            tree = TreeSum(tape, "tree", std=1.0, nodes=partial(printed_nodes, length=length))
            for t in range(1, length + 1):
                total = tree.add(np.array([1.0]), sensitivity=0.0)
                events = tape.transcript.events  # releases only
                for release in events[seen:]:
                    node = tuple(map(int, release.label[6:-1].split(",")))
                    noises[node], stds[node] = release.value - release.law.query, release.law.std
                seen = len(events)
                used = printed_nodes(t, length)
                assert total[0] - t == pytest.approx(sum(float(noises[node][0]) for node in used), abs=1e-9)
                if uncovered(t, length) is None:
                    assert sum(stds[node] ** 2 for node in used) == t.bit_count()
                else:
                    assert uncovered(t, length) == (t, t) and t == length == 1 << (t.bit_length() - 1)
                    assert stds[t, t] == 0

    def test_node_covers_the_prefix_except_at_powers_of_two(self):
        short = [length for length in range(1, 257) if uncovered(length, length) is not None]
        assert short == [2**m for m in range(9)]

    def test_theorem_noise(self):
        assert tree_theorem_std(1.0, 8, 1.0, np.exp(-1)) == pytest.approx(4 * np.log(8) ** 0.5)
        with pytest.raises(BadInput, match="log Sigma"):
            tree_theorem_std(1.0, 1, 1.0, 1e-5)


@pytest.fixture
def saddle():
    return cosine_saddle((1.0, 0.7, -0.4), 4000, np.random.default_rng(0))


@pytest.fixture
def quiet():
    return Schedule(
        n=4000,
        d=3,
        steps=60,
        step_size=1 / 1.5,
        threshold=0.05,
        batch=40,
        batch_slope=20.0,
        drift_limit=2.0,
        escape_limit=1.0,
        escape_steps=40,
        escape_radius=0.5,
        noise=Printed({"tree": 0.0, "escape": 0.0}),
        lipschitz=2.0,
        smoothness=1.5,
        hessian_lipschitz=1.5,
        refresh="tree",
        order="index",
    )


def plain_twin(problem, s, x):
    """Algorithm 3 without noise, written from the pseudocode, with the records taken by index."""
    used, left = 0, problem.n

    def take(size):
        nonlocal used, left
        chosen = np.arange(used, used + size)
        used, left = used + size, left - size
        return chosen

    xs, drift, count, frozen = [x], s.drift_limit, 0, {-1: 1, 0: 0}
    escape, anchor, step = False, x, np.zeros_like(x)
    for t in range(s.steps):
        fresh = drift >= s.drift_limit or count >= s.escape_limit
        size = s.batch if fresh else max(1, ceil(s.batch_slope * np.linalg.norm(step) - 1e-12))
        if left <= s.batch or left < 2 * size:
            break
        if fresh:
            gradient, hessian = problem.gradients(x, take(size)).mean(0), problem.hessians(x, take(size)).mean(0)
            drift = count = 0
        else:
            chosen = take(size)
            gradient = gradient + (problem.gradients(x, chosen) - problem.gradients(xs[-2], chosen)).mean(0)
            chosen = take(size)
            hessian = hessian + (problem.hessians(x, chosen) - problem.hessians(xs[-2], chosen)).mean(0)
        if np.linalg.norm(gradient) <= s.threshold and frozen[t - 1] <= 0:
            frozen[t], escape, count, g, H, anchor = s.escape_steps, True, count + 1, gradient, hessian, x
        step = g + H @ (x - anchor) if escape else gradient
        x = x - s.step_size * step
        xs.append(x)
        drift += np.linalg.norm(step)
        frozen[t + 1] = frozen[t] - 1
        if np.linalg.norm(x - anchor) >= s.escape_radius or frozen[t + 1] <= 0:
            escape = False
    return np.array(xs[1:]), used


@pytest.mark.parametrize("reading", ["bare", "tree", "new tree"])
def test_zero_noise_run_equals_the_plain_twin(saddle, quiet, reading):
    start = np.array([0.02, 0.0, 0.01])
    quiet = replace(quiet, refresh=reading, epoch_length=60, start=start)
    found = run(saddle, quiet, LiveTape(0))
    expected, used = plain_twin(saddle, quiet, start)
    np.testing.assert_allclose(found.iterates, expected, atol=1e-10)
    assert found.functions_used == used
    assert found.refreshes >= 2 and found.escapes >= 1


def test_gradient_recursion_telescopes_at_full_knowledge(quiet):
    """Identical records: every batch mean is the full gradient, so the noisy gradient is the gradient at x_t."""
    problem = cosine_saddle((1.0, 0.7, -0.4), 4000, np.random.default_rng(0), spread=0.0, tilt=0.0)
    start = np.array([0.02, 0.0, 0.01])
    found = run(problem, replace(quiet, start=start), LiveTape(0))
    points = np.vstack([start, found.iterates[:-1]])
    np.testing.assert_allclose(found.noisy_gradients, [problem.gradient(x) for x in points], atol=1e-10)


def test_oracles_never_use_a_record_twice(saddle):
    tape = LiveTape(3)
    oracles = Oracles(saddle, tape, "random")
    x = np.ones(3)
    batches = [oracles.gradient(x, 10), oracles.gradient_difference(x, 0 * x, 7), oracles.hessian(x, 5)]
    batches.append(oracles.hessian_difference(x, 0 * x, 3))
    used = np.concatenate([batch.indices for _, batch in batches])
    assert len(set(used)) == len(used) == 25
    assert oracles.left() == 4000 - 25
    np.testing.assert_allclose(batches[0][0], saddle.gradients(x, batches[0][1].indices).mean(axis=0))


def test_escape_finds_the_negative_direction():
    """Algorithm 2 at a known saddle (eigenvalue -0.4), noise std 0.01, radius 0.5: all of 200 seeds leave the ball
    along the third axis; the chance that a seed does not (|N(0, 1)| tiny after growth 1.4^60) is below 1e-6."""
    saddle = cosine_saddle((1.0, 0.7, -0.4), 8, np.random.default_rng(0))
    x = np.zeros(3)
    p = escape.Schedule(steps=60, radius=0.5, step_size=1.0, noise=Printed({"escape": 0.01}), hessian_sensitivity=1.0)

    def escaped(landscape, seed):
        return escape.run(escape.Saddle(x, landscape.gradient(x), landscape.hessian(x)), p, LiveTape(seed))

    outs = [escaped(saddle, seed) for seed in range(200)]
    assert all(np.linalg.norm(out) >= 0.5 for out in outs)
    assert np.mean([abs(out[2]) / np.linalg.norm(out) for out in outs]) > 0.95
    assert np.mean([saddle.value(out) for out in outs]) < -0.04
    minimum = cosine_saddle((1.0, 0.7, 0.4), 8, np.random.default_rng(0))
    stays = [escaped(minimum, seed) for seed in range(50)]
    assert all(np.array_equal(out, x) for out in stays)


FITTING = Constants(n=100_000, d=10, epsilon=1.0, delta=1e-5)


def test_schedule_of_theorem_3_17():
    s = printed(FITTING, "Theorem 3.17")
    a = FITTING.accuracy()
    assert s.noise.by_label == {"tree": pytest.approx(a / 10**0.5), "escape": pytest.approx(a / 10**0.5)}
    assert printed(FITTING, "Lemma 3.14").noise.by_label["tree"] == pytest.approx(2 * np.log(1e5) * a / 10**0.5)
    assert s.drift_limit == pytest.approx(1.0)
    assert s.escape_limit == pytest.approx(a**1.5)
    assert s.step_size * s.steps * a**2 == pytest.approx(1.0, rel=0.01)
    assert oracle_count(FITTING, a, s.drift_limit, s.batch) <= FITTING.n
    # the adaptive batch bounds the sensitivity of O2 whatever the gradient
    for norm in (0.01, 0.3, 2.0):
        assert norm / s.adaptive_batch(norm) <= 1 / s.batch_slope + 1e-12


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({"n": 100}, {}, "alpha < G"),
        ({"epsilon": 3.0}, {}, "epsilon <= O\\(1\\)"),
        ({"n": 1000}, {"alpha": 0.02}, "Lemma 3.14 needs b <= n"),
        ({}, {"alpha": 0.02}, "Lemma 3.15"),
    ],
)
def test_schedules_refuse_impossible_regimes_by_name(changes, options, message):
    with pytest.raises(BadInput, match=message):
        printed(replace(FITTING, **changes), "Theorem 3.17", **options)
