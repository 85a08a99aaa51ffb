"""Replay on the neighbour: planted leaks are caught under their labels, correct twins pass, losses are exact."""

import numpy as np
import pytest

from dpassay.audit.lockstep.run import lockstep
from dpassay.audit.lockstep.tilting import Tilt
from dpassay.reference.blocks.clipping import clip_rows
from dpassay.reference.findings import Kind
from dpassay.reference.neighbours import Pair
from dpassay.reference.problems.linear import LinearLosses

N = 8
ROWS = np.tile([0.3, -0.2], (N, 1))
PAIR = Pair(
    LinearLosses(ROWS).replace(0, np.array([1.0, 0.0])), LinearLosses(ROWS).replace(0, np.array([-1.0, 0.0])), 0
)
EVERYONE = np.arange(N)


def gradient(problem, w):
    return clip_rows(problem.gradients(w, EVERYONE), 1.0).mean(axis=0)


def loss_at(problem, w):
    return float(np.mean(problem.rows @ w))


def step(problem, tape, w, std=1.0):
    return w - 0.5 * tape.gaussian("gradient", gradient(problem, w), std=std, sensitivity=2 / N)


def twin(problem, tape):
    """The correct algorithm: three noisy gradient steps."""
    w = np.zeros(2)
    for _ in range(3):
        w = step(problem, tape, w)
    return w


def branch_on_gradient_norm(problem, tape):
    w = np.zeros(2)
    if gradient(problem, w)[0] > 0.25:  # 0.3875 with the record, 0.1375 without
        w = step(problem, tape, w)
    else:
        w = w - tape.gaussian("saddle", gradient(problem, w), std=1.0, sensitivity=2 / N)
    return w


def stopping_on_true_loss(problem, tape):
    w = np.array([0.0, 1.0])
    for _ in range(6):
        w = step(problem, tape, w)
        if loss_at(problem, np.array([1.0, 0.0])) > 0.2:
            break
    return w


def forgotten_release(problem, tape):
    w = step(problem, tape, np.zeros(2))
    return step(problem, tape, w) - 0.1 * gradient(problem, w)  # a bare gradient in the output


def public_from_data(problem, tape):
    return tape.public("start", lambda rng: rng.standard_normal() + problem.rows[0, 0])


def law_from_data(problem, tape):
    if problem.rows[0, 0] > 0:
        return tape.gaussian("a", 0.0, std=1.0, sensitivity=1.0)
    return tape.laplace("a", 0.0, scale=1.0, sensitivity=1.0)


PLANTED = [
    (branch_on_gradient_norm, Kind.CALL, "gradient"),
    (stopping_on_true_loss, Kind.EARLY_END, "gradient"),
    (forgotten_release, Kind.OUTPUT, "output"),
    (public_from_data, Kind.PUBLIC_VALUE, "start"),
    (law_from_data, Kind.LAW, "a"),
]


@pytest.mark.parametrize(("run", "kind", "label"), PLANTED, ids=[run.__name__ for run, _, _ in PLANTED])
def test_planted_leak_is_caught_under_its_label(run, kind, label):
    found = {(f.kind, f.label) for seed in range(10) for f in lockstep(run, PAIR, [seed]).findings}
    assert (kind, label) in found


def released_branch(problem, tape):
    """The twin of the first leak: the branch reads the released gradient."""
    w = np.zeros(2)
    g = tape.gaussian("gradient", gradient(problem, w), std=1.0, sensitivity=2 / N)
    return w - g if g[0] > 0.25 else w + tape.gaussian("again", gradient(problem, w), std=1.0, sensitivity=2 / N)


def released_stop(problem, tape):
    w = np.zeros(2)
    for _ in range(6):
        w = step(problem, tape, w)
        if tape.laplace("loss", loss_at(problem, np.array([1.0, 0.0])), scale=1.0, sensitivity=2 / N) > 0.2:
            break
    return w


def previous_noise(problem, tape):
    """Noise that follows the last *released* step is public."""
    w = step(problem, tape, np.zeros(2))
    return step(problem, tape, w, std=1.0 + float(np.linalg.norm(w)))


def declared(problem, tape):
    batch = tape.batch("b", N, 2)
    mean = problem.gradients(np.zeros(2), batch.indices).mean(axis=0)
    return tape.gaussian("gradient", mean, std=1.0, sensitivity=1.0, batch=batch)


def secret_start(problem, tape):
    """Inner randomness that cancels before the release."""
    r = tape.secret("r", lambda rng: rng.random())
    return tape.gaussian("g", gradient(problem, np.zeros(2)) + r - r, std=1.0, sensitivity=2 / N)


@pytest.mark.parametrize("run", [twin, released_branch, released_stop, previous_noise, declared, secret_start])
def test_correct_twin_passes(run):
    for seed in range(10):
        found = lockstep(run, PAIR, [seed])
        assert found.findings == [] and found.complete and not found.inexact


@pytest.mark.parametrize(
    ("run", "tilt"), [(twin, Tilt(1.0)), (released_stop, Tilt(3.0)), (declared, Tilt(0.5, 1.0))]
)
def test_weights_average_to_one(run, tilt):
    """E_R[dP/dR] = 1 for the defensive mixture, within four standard errors (150 runs)."""
    tilts, shares = (Tilt(), tilt), np.array([0.5, 0.5])
    weights = []
    for i in range(150):
        chosen = i % 2
        logs = lockstep(run, PAIR, [1, i], tilts=tilts, tilt=chosen).log_weights
        weights.append(1 / np.sum(shares * np.exp(-logs)))
    assert np.mean(weights) == pytest.approx(1, abs=4 * np.std(weights) / np.sqrt(150) + 1e-9)


def test_errors_of_the_algorithm_come_out_as_they_are():
    def broken(problem, tape):
        tape.gaussian("g", 0.0, std=1.0, sensitivity=1.0)
        raise ZeroDivisionError("in the algorithm")

    with pytest.raises(ZeroDivisionError, match="in the algorithm"):
        lockstep(broken, PAIR, [0])


def test_a_finding_says_at_which_call_and_is_sure_unless_secrets_may_cover_it():
    """Calls are counted from 0; a branch on private data needs no secret choice to show."""

    def later(problem, tape):
        w = step(problem, tape, np.zeros(2))
        return branch_on_gradient_norm(problem, tape) + w

    (first,) = (one for one in lockstep(branch_on_gradient_norm, PAIR, [0]).findings if one.kind is Kind.CALL)
    (second,) = (one for one in lockstep(later, PAIR, [0]).findings if one.kind is Kind.CALL)
    assert (first.step, second.step) == (0, 1) and not first.given_secrets and not second.given_secrets
