"""Replay on the neighbour: planted leaks are caught under their labels, correct twins pass, worlds share nothing."""

import runpy
import sysconfig

import broken
import numpy as np
import pytest

from dpassay.audit.lockstep import source_lines
from dpassay.audit.lockstep.run import lockstep, needs
from dpassay.audit.lockstep.tilting import Tilt
from dpassay.reference.arrays import mean_of, norm, row_norms
from dpassay.reference.equality import once, same
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Kind
from dpassay.reference.laws.number import Geometric
from dpassay.reference.neighbours import Pair
from dpassay.reference.tape import ScriptedTape, record

N = 8
HERE, THERE = (np.vstack([[first, 0.0], np.tile([0.3, -0.2], (N - 1, 1))]) for first in (1.0, -1.0))
PAIR = Pair(HERE, THERE, 0)
BUFFER = np.zeros(2)


def step(rows, tape, w, std=1.0):
    return w - 0.5 * tape.gaussian("gradient", rows.mean(axis=0), std=std, sensitivity=2 / N)


def branch_on_the_mean(rows, tape):
    if rows.mean(axis=0)[0] > 0.25:  # 0.3875 with the record, 0.1375 without
        return step(rows, tape, np.zeros(2))
    return tape.gaussian("saddle", rows.mean(axis=0), std=1.0, sensitivity=2 / N)


def stopping_on_the_true_mean(rows, tape):
    for _ in range(6):
        w = step(rows, tape, np.zeros(2))
        if rows.mean(axis=0)[0] > 0.25:
            break
    return w


def forgotten_release(rows, tape):
    return step(rows, tape, np.zeros(2)) - 0.1 * rows.mean(axis=0)  # a bare gradient in the output


def public_from_data(rows, tape):
    return tape.public("start", lambda rng: rng.standard_normal() + rows[0, 0])


def law_from_data(rows, tape):
    if rows[0, 0] > 0:
        return tape.gaussian("a", 0.0, std=1.0, sensitivity=1.0)
    return tape.laplace("a", 0.0, scale=1.0, sensitivity=1.0)


# All worlds would return the same array, with the last world's values in it.
def overwrites_what_was_released(rows, tape, std=1.0):
    value = tape.gaussian("g", np.zeros(2), std=std, sensitivity=0.25)
    value[:] = mean_of(rows)
    return value


def overwrites_what_was_released_without_noise(rows, tape):
    return overwrites_what_was_released(rows, tape, std=0.0)


def overwrites_public_values(rows, tape):
    start, _ = tape.public("start", lambda rng: (rng.standard_normal(2), "name"))
    start[:] = mean_of(rows)
    return {"start": start}


def overwrites_its_batch(rows, tape):
    first = tape.fresh("b", N, 2, order="index")
    first.indices[:] = int(rows[0, 0])
    return first.indices


def returns_a_buffer(rows, tape):
    return np.mean(rows, axis=0, out=BUFFER)


def reveals_a_buffer(rows, tape):
    tape.reveal("r", np.mean(rows, axis=0, out=BUFFER))


SEEN_IN_THE_OUTPUT = [forgotten_release, overwrites_what_was_released, overwrites_what_was_released_without_noise]
SEEN_IN_THE_OUTPUT += [overwrites_public_values, overwrites_its_batch, returns_a_buffer]
PLANTED = dict.fromkeys(SEEN_IN_THE_OUTPUT, (Kind.OUTPUT, "output")) | {
    branch_on_the_mean: (Kind.CALL, "gradient"),
    stopping_on_the_true_mean: (Kind.EARLY_END, "gradient"),
    public_from_data: (Kind.PUBLIC_VALUE, "start"),
    law_from_data: (Kind.LAW, "a"),
    reveals_a_buffer: (Kind.REVEALED_VALUE, "r"),
}


@pytest.mark.parametrize(("run", "found"), PLANTED.items(), ids=[run.__name__ for run in PLANTED])
def test_planted_leak_is_caught_under_its_label(run, found):
    assert found in {(f.kind, f.label) for seed in range(10) for f in lockstep(run, PAIR, [seed]).findings}


def previous_noise(rows, tape):
    """Noise that follows the last *released* step is public."""
    w = step(rows, tape, np.zeros(2))
    return step(rows, tape, w, std=1.0 + float(np.linalg.norm(w)))


def secret_start(rows, tape):
    """Inner randomness that cancels before the release."""
    r = tape.secret("r", lambda rng: rng.random())
    return tape.gaussian("g", rows.mean(axis=0) + r - r, std=1.0, sensitivity=2 / N)


def works_in_place(rows, tape):
    """Every world halves its own copy of what was released."""
    for _ in range(2):
        w = tape.gaussian("g", mean_of(rows), std=1.0, sensitivity=0.25)
        w *= 0.5
        w = tape.gaussian("h", mean_of(rows) + w, std=1.0, sensitivity=0.25)
    return w


@pytest.mark.parametrize("run", [*broken.CORRECT, previous_noise, secret_start, works_in_place])
def test_correct_twin_passes(run):
    for seed in range(10):
        found = lockstep(run, PAIR, [seed])
        assert found.findings == [] and found.complete and not found.inexact
        assert run in broken.CORRECT or all(one.moved == pytest.approx(0.25) for one in found.movements.values())


@pytest.mark.parametrize(
    ("run", "tilt"), [(broken.descent, Tilt(1.0)), (broken.search_line, Tilt(3.0)), (broken.sampled, Tilt(0.5, 1.0))]
)
def test_weights_average_to_one(run, tilt):
    """E_R[dP/dR] = 1 for the defensive mixture, within four standard errors (150 runs)."""
    logs = [lockstep(run, PAIR, [1, i], tilts=(Tilt(), tilt), tilt=i % 2).log_weights for i in range(150)]
    weights = 1 / np.mean(np.exp(-np.array(logs)), axis=1)
    assert np.mean(weights) == pytest.approx(1, abs=4 * np.std(weights) / np.sqrt(150) + 1e-9)


def test_a_finding_says_at_which_call_and_is_sure_unless_secrets_may_cover_it():
    """Calls are counted from 0; a branch on private data needs no secret choice to show."""

    def later(rows, tape):
        return step(rows, tape, np.zeros(2)) + branch_on_the_mean(rows, tape)

    for number, run in enumerate((branch_on_the_mean, later)):
        (found,) = (one for one in lockstep(run, PAIR, [0]).findings if one.kind is Kind.CALL)
        assert found.step == number and not found.given_secrets


@pytest.mark.parametrize(
    ("call", "noise"),
    [
        ("gaussian", {"std": 1.0}),
        ("laplace", {"scale": 1.0}),
        ("above_threshold", {"threshold": 0.0, "threshold_scale": 1.0, "query_scale": 1.0}),
    ],
)
def test_a_query_in_a_buffer_is_read_at_once(call, noise):
    def run(rows, tape):
        return getattr(tape, call)("q", np.mean(rows, axis=0, out=BUFFER), sensitivity=0.25, **noise)

    assert lockstep(run, PAIR, [0]).movements["q"].moved == pytest.approx(0.25)


def test_a_run_that_changes_its_problem_is_refused():
    """Every later world would see the change: here, two data sets without the record in which they differ."""

    def run(rows, tape):
        moved = mean_of(rows)
        rows[0] = 0.0
        return tape.gaussian("g", moved, std=1.0, sensitivity=0.25)

    with pytest.raises(BadInput, match="changes the problem"):
        needs(run, np.ones((N, 1)))


def test_a_law_that_draws_what_its_density_excludes_is_refused(monkeypatch):
    monkeypatch.setattr(Geometric, "log_density", lambda self, value: -np.inf)
    with pytest.raises(BadInput, match="Geometric = 'x': draws a value to which its own log_density gives no prob"):
        lockstep(lambda at, tape: tape.release("x", Geometric(at, 1.0), sensitivity=1.0), Pair(0.0, 1.0, 0), [0])


# What is recorded, and what is computed in fewer calls: bit for bit.
def test_a_transcript_keeps_what_was_released():
    def run(tape):
        value = tape.gaussian("g", np.ones(2), std=1.0, sensitivity=1.0)
        batch = tape.fresh("b", N, N)
        batch.indices[:] = 0
        value[:] = 7.0
        return value

    transcript = record(run, 0)
    run(ScriptedTape(lambda label, law, step: transcript.events[step].value, 0))
    assert not np.any(transcript.releases[0].value == 7.0)
    assert sorted(transcript.batches[0]) == list(range(N))


@pytest.mark.parametrize("seed", range(20))
def test_norms_are_those_of_numpy(seed):
    rng = np.random.default_rng(seed)
    rows = 10 ** rng.uniform(-200, 200) * rng.standard_normal((int(rng.integers(1, 30)), int(rng.integers(1, 99))))
    for array in (rows, np.arange(6).reshape(2, 3)):
        with np.errstate(over="ignore", under="ignore"):
            assert same(norm(array), float(np.linalg.norm(array.ravel())))
            assert same(row_norms(array), np.linalg.norm(array, axis=1))
            assert same(mean_of(array), np.mean(array, axis=0)) and same(mean_of(array[0]), np.mean(array[0], axis=0))


# What worlds of a run ask one after the other is computed once; nothing else passes from one to another.
def test_the_same_arguments_are_computed_once_and_others_anew():
    asked = []

    def doubled(array, factor):
        asked.append(factor)
        return factor * array, factor

    one = np.array([1.0, 2.0])
    first = once(doubled, one, 2.0)
    assert once(doubled, one.copy(), 2.0) is first and asked == [2.0]
    one[0] = 5.0  # the array has changed since: it is another argument
    assert once(doubled, one, 2.0)[0].tolist() == [10.0, 4.0]
    assert once(doubled, one.reshape(2, 1), 2.0)[0].shape == (2, 1)
    assert once(doubled, one.astype(int), 2.0)[0].tolist() == [10.0, 4.0]
    assert once(doubled, one, 2)[1] == 2 and len(asked) == 5
    assert first[0].tolist() == [2.0, 4.0]
    with pytest.raises(ValueError, match="read-only"):
        first[0][:] = 1


def test_a_standard_library_behind_a_link_is_nobodys_algorithm(monkeypatch, tmp_path):
    """As that of Homebrew's and of uv's interpreters: files are looked at without links, and so must its folder be."""
    (tmp_path / "lib").symlink_to(sysconfig.get_paths()["stdlib"])
    monkeypatch.setattr(sysconfig, "get_paths", lambda: {"stdlib": str(tmp_path / "lib")})
    trade = runpy.run_path(source_lines.__file__)["trade"]
    assert [trade(str(tmp_path / name)) for name in ("lib/random.py", "mine.py")] == ["other", "theirs"]
