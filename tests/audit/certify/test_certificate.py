"""Certificates of whole programs: right ones within their claim, wrong ones never."""

import math
import textwrap
from dataclasses import replace
from functools import partial
from importlib import import_module
from unittest.mock import Mock

import dp_accounting
import numpy as np
import pytest
from dp_accounting.pld import PLDAccountant

from dpassay.audit.certify.certificate import certify
from dpassay.audit.phases import TIME_IS_UP, reporting
from dpassay.reference import Space
from dpassay.reference.accounting.gdp import gdp_epsilon
from tests.audit.programs import right, wrong

from .random_programs import compiled
from .rule_cases import unit


def program(text):
    """The function `run(rows, rng)` of these lines."""
    names = """import random
import numpy as np
def clip(rows): return rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))
def count(rows): return np.clip(rows[:, 0], 0, 1).sum()
def run(rows, rng):
"""
    return compiled(names + textwrap.indent(text, "    ") + "\n")["run"]


NOISE = "rng.normal(0, 8, rows.shape[1])"
ONE_PASS = program(
    "out, order = [], rng.permutation(len(rows))\nfor k in range(0, len(rows), 2):\n"
    f"    out.append(clip(rows[order[k : k + 2]]).sum(axis=0) + {NOISE})\nreturn out"
)
ROW_BY_ROW = program(
    "total = np.zeros(rows.shape[1])\nfor row in rows:\n    total += row / np.maximum(1, np.linalg.norm(row))\n"
    f"return total + {NOISE}"
)
POISSON_IN_A_RANGE = program("return np.clip(count(rows[rng.random(len(rows)) < 0.25]), 0, 1) + rng.normal(0, 4)")
LEGACY = program("return clip(rows).mean(axis=0) + np.random.normal(0, 8 / len(rows), rows.shape[1])")
BARE = program("return float(clip(rows).sum())")
RIGHT = {  # in forms that those of tests/audit/programs do not have
    "one pass": ONE_PASS,
    "row by row": ROW_BY_ROW,
    "poisson in a range": POISSON_IN_A_RANGE,
    "legacy": LEGACY,
    "with asarray": program(
        "rows = np.asarray(rows, dtype=float)\nif not np.isfinite(rows).all(): raise ValueError('finite rows only')\n"
        f"return clip(rows).sum(axis=0) + {NOISE}"
    ),
    "python noise": program("return count(rows) + random.gauss(0, 4.0)"),
    "noise of a covariance": program(
        "d = rows.shape[1]\nreturn clip(rows).sum(axis=0) + np.random.multivariate_normal(np.zeros(d), 64 * np.eye(d))"
    ),
    "bisected": program(
        "low, high = 0.0, 1.0\nfor _ in range(7):\n    mid = (low + high) / 2\n"
        "    if (rows[:, 0] < mid).sum() + rng.laplace(0, 8.0) < len(rows) / 2: low = mid\n"
        "    else: high = mid\nreturn low"
    ),
    "twice if small": program(  # a decision on a released value: the other way releases more
        "first = count(rows) + rng.laplace(0, 4.0)\nif first < 1e12: return first\n"
        "return count(rows) + rng.laplace(0, 4.0)"
    ),
}
RIGHT |= {one.__name__: one for one in (right.private_mean, right.momentum, right.poisson_sgd)}
FIRST = "first = float(count(rows) + rng.laplace(0, 2.0))\n"
WRONG = {  # each has a bug that breaks epsilon 1 on rows of any length
    "bare": BARE,
    "noise given away": program(f"noise = {NOISE}\nreturn clip(rows).sum(axis=0) + noise, noise"),
    "position counts": program(  # records that the batch may swap are far from each other, though each moves little
        "far = np.clip(rows, 0, 1) + 1000.0 * np.arange(len(rows))[:, None]\n"
        f"return far[rng.choice(len(rows), max(1, len(rows) // 4), replace=False)].sum(axis=0) + 2 * {NOISE}"
    ),
    "scale of the data": program(
        "return clip(rows).sum(axis=0) + rng.normal(scale=np.abs(rows).max() + 8, size=rows.shape[1])"
    ),
    "leaks by alias": program("total = np.zeros(rows.shape[1])\nkept = total\ntotal += rows[0]\nreturn kept"),
    "changed in place": program(f"c = clip(rows)\nview = c[:, :1]\nview *= 100\nreturn c.sum(axis=0) + {NOISE}"),
    "noise of one number": program(
        "d = rows.shape[1]\nreturn clip(rows).sum(axis=0) + rng.multivariate_normal(np.zeros(d), 64 * np.ones((d, d)))"
    ),
    "many releases": program(f"return [clip(rows).sum(axis=0) + {NOISE} for _ in range(60)]"),
    "more if large": program(f"{FIRST}return first if first < 1e12 else rows.sum()"),
    "more if one beside it is large": program(
        f"{FIRST}out = np.zeros(2)\nout[0] = first\nout[1] = rows.sum()\nreturn rows.sum() if out[0] > 12 else first"
    ),
    "as many as noise says": program(f"{FIRST}return [count(rows) + rng.laplace(0, 2.0) for _ in range(int(first))]"),
    "laplace of a vector": program("return clip(rows).sum(axis=0) + rng.laplace(0, 2.0, rows.shape[1])"),
    "the batch leaves": program(
        f"order = rng.choice(len(rows), 1, replace=False)\nreturn clip(rows[order]).sum(axis=0) + {NOISE}, order"
    ),
}
WRONG |= {
    one.__name__: one
    for one in (wrong.clip_missing, wrong.stops_on_the_exact_gradient, wrong.divided_by_the_actual_batch)
}


SPACE = Space.matrix(n=(1, 8), d=(3,))


def certified(run, space=SPACE):
    return certify(run, space, delta=1e-5, any_length=True)


@pytest.mark.parametrize("run", RIGHT.values(), ids=RIGHT)
def test_right_programs_are_certified_within_epsilon_one(run):
    found = certified(run)
    assert found.bounded and 0.1 < found.epsilon <= 1, str(found)
    assert found.lines and found.releases and not found.open


@pytest.mark.parametrize("run", WRONG.values(), ids=WRONG)
def test_wrong_programs_never_are(run):
    found = certified(run)
    assert not found.bounded or found.epsilon > 1, str(found)


def test_an_unbounded_sum_names_its_line():
    found = certified(wrong.clip_missing)
    line = wrong.clip_missing.__code__.co_firstlineno + 1
    assert math.isinf(found.epsilon) and found.open == f"wrong.py:{line} sums rows that nothing bounds"


def test_a_bound_that_grows_with_each_step_is_called_infinite():
    def run(rows, rng):
        total = np.clip(rows, 0, 1).sum()
        for _ in range(40):
            total = 10 * total
        return total + rng.laplace()

    assert "may move by 1e+40, which bounds nothing" in str(certify(run, Space.matrix(n=(3,), d=(1,)), delta=1e-5))


def test_an_open_end_names_its_line_and_what_would_close_it():
    found = certified(wrong.stops_on_the_exact_gradient)
    line = wrong.stops_on_the_exact_gradient.__code__.co_firstlineno + 4
    assert found.open.startswith(f"wrong.py:{line}: private data decides; release it with noise")


def test_batches_are_amplified_and_a_pass_costs_its_worst_batch():
    eight = Space.matrix(n=(8,), d=(3,))
    few = partial(right.minibatch_sgd, sigma=20.0), partial(right.momentum, steps=4)
    batches, all_of_them = (certified(one, eight).epsilon for one in few)
    assert batches < 0.7 * all_of_them
    assert certified(ONE_PASS).epsilon == pytest.approx(certified(ROW_BY_ROW).epsilon, rel=0.01)


def test_a_long_loop_without_a_release_ends_when_the_time_is_up():
    endless = program("total = rows.sum()\nfor _ in range(10**6):\n    total = total * 0.5\nreturn total")
    with reporting(Mock(), seconds=0.2):
        found = certify(endless, Space.matrix(n=(2,), d=(1,)), delta=1e-5)
    assert found.epsilon is None and TIME_IS_UP in found.open


def test_numpy_is_as_before():
    before = np.asarray, np.random.normal, np.random.default_rng
    certified(LEGACY)
    certified(BARE)
    assert (np.asarray, np.random.normal, np.random.default_rng) == before
    assert import_module("random").gauss.__module__ == "random"


def test_the_same_seed_gives_the_same_certificate_and_another_one_too():
    first, second = (certify(right.poisson_sgd, SPACE, delta=1e-5, seed=seed) for seed in (0, 9))
    assert first.epsilon == second.epsilon


def sampled(rows, rng, pull=0.0, fixed=False):
    w = np.zeros(rows.shape[1])
    for _ in range(5):
        g = rows[rng.choice(len(rows), 1, replace=False) if fixed else rng.random(len(rows)) < 0.25]
        g = np.tanh(g @ w - 1)[:, None] * g + pull
        g = g / np.maximum(1, np.linalg.norm(g, axis=1, keepdims=True))
        w = w - g.sum(axis=0) - rng.normal(scale=2.0, size=rows.shape[1])
    return w


def test_a_row_of_zeros_that_adds_nothing_to_poisson_batches_is_a_record_that_is_not_there():
    space = Space(SPACE.rows, SPACE.sizes, relation="add-remove", absent=np.zeros(1))
    known = PLDAccountant(dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE)
    known.compose(dp_accounting.PoissonSampledDpEvent(0.25, dp_accounting.GaussianDpEvent(2.0)), 5)
    assert certified(sampled, space).epsilon == pytest.approx(known.get_epsilon(1e-5), rel=0.01)
    assert certify(partial(sampled, pull=0.1), space, delta=1e-5).epsilon is None
    assert certify(partial(sampled, fixed=True), space, delta=1e-5).epsilon is None

    def beside_all(rows, rng):  # a row of zeros adds 1 to the batch
        return np.clip(rows[rng.random(len(rows)) < 0.5] + 5, -1, 1).sum() + np.tanh(rows).sum() + rng.normal()

    assert certify(beside_all, space, delta=1e-5).epsilon is None


LEFT_OUT = {  # a record is really left out: epsilon, or None where n is told
    "count": (lambda rows, rng: len(rows) + rng.laplace(), 1.0),
    "far from zero": (lambda rows, rng: np.clip(rows[:, 0], 4, 6).sum() + rng.laplace(scale=4.0), 1.0),
    "public n": (lambda rows, rng: np.clip(rows[:, 0], 0, 1).sum() / 9 + rng.laplace(scale=1 / 9), 1.0),
    "histogram": (lambda rows, rng: np.histogram(rows[:, 0], 4, (-1, 1))[0] + rng.laplace(size=4), 1.0),
    "each": (lambda rows, rng: sum(min(1.0, abs(one[0])) for one in rows) + rng.laplace(), 1.0),
    "reshaped": (lambda rows, rng: rows.reshape(-1, rows.shape[1])[:, 0].sum() + rng.laplace(), 1.0),
    "flat": (lambda rows, rng: rows.reshape(-1).shape, None),
    "by place": (lambda rows, rng: sum(np.tanh(rows[i]).max() for i in range(len(rows))) + rng.laplace(), math.tanh(1)),
    "noisy n": (lambda rows, rng: (rows[:, 0].sum() + rng.laplace()) / (len(rows) + rng.laplace()), 2.0),
    "times its place": (lambda rows, rng: sum(i * np.tanh(rows[i, 0]) for i in range(len(rows))) + rng.laplace(), None),
    "the one before": (lambda rows, rng: sum(np.tanh(rows[i - 1, 0]) for i in range(len(rows))) + rng.laplace(), None),
    "all places": (lambda rows, rng: len(list(range(len(rows)))), None),
    "n": (lambda rows, rng: len(rows), None),
    "mean": (lambda rows, rng: np.clip(rows, -1, 1).mean() + rng.laplace(), None),
    "scale": (lambda rows, rng: np.clip(rows[:, 0], -1, 1).sum() + rng.laplace(scale=9 / len(rows)), None),
    "draws": (lambda rows, rng: rng.normal(size=len(rows)), None),
    "uniform draws": (lambda rows, rng: rng.random(len(rows)) == 0.0, None),
    "as long": (lambda rows, rng: len(np.zeros_like(rows)), None),
    "the first": (lambda rows, rng: np.clip(rows[:2, 0], -1, 1).sum() + rng.laplace(scale=9.0), None),
    "largest": (lambda rows, rng: np.clip(rows, -1, 1).max() + rng.laplace(scale=9.0), None),
    "batch of others": (lambda rows, rng: rows[rows[:, 0] > 0][rng.random(len(rows)) < 0.5].shape, None),
    "all in order": (lambda rows, rng: rng.permutation(len(rows)), None),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_where_a_record_is_left_out_nobody_knows_how_many_there_are(name):
    run, epsilon = LEFT_OUT[name]
    found = certify(run, Space(SPACE.rows, {"n": (2, 5), "d": (1, 2)}, relation="add-remove"), delta=1e-12)
    assert found.epsilon == (None if epsilon is None else pytest.approx(epsilon, rel=1e-6)), str(found)


def test_poisson_batches_lack_a_record_that_is_left_out():
    space = Space(SPACE.rows, {"n": (5,), "d": (2,)}, relation="add-remove")
    silent = certify(sampled, replace(space, absent=np.zeros(1)), delta=1e-5).epsilon
    assert silent == pytest.approx(certify(sampled, space, delta=1e-5).epsilon)
    assert silent < certify(partial(sampled, pull=0.1), space, delta=1e-5).epsilon < 1.05 * silent  # where it was open
    assert certify(partial(sampled, fixed=True), space, delta=1e-5).epsilon is None


def test_a_poisson_batch_counts_a_record_on_either_side():
    """A count in [0, 1] moves by 1 where a record appears; the accountant takes half of 2 for each direction."""
    (release,) = certified(POISSON_IN_A_RANGE).releases
    assert release.moves == pytest.approx(2.0)


def reveals_where_one_is_above(rows, tape):
    scales = {"threshold_scale": 20.0, "query_scale": 40.0, "sensitivity": 1.0}
    return None if tape.above_threshold("counts", [(rows[:, 0] > 0).sum()], threshold=0.0, **scales) is None else rows


def reveals_where_an_entry_is_large(rows, tape):
    moments = tape.symmetric_gaussian("moments", unit(rows).T @ unit(rows), std=20.0, sensitivity=2.0)
    return rows if moments[0, 0] > 1e3 else moments


@pytest.mark.parametrize("run", [reveals_where_one_is_above, reveals_where_an_entry_is_large])
def test_on_a_tape_decisions_on_released_values_are_followed(run):
    assert certify(run, SPACE, delta=1e-5, on_tape=True).open == "private data is returned without noise"


def test_on_a_tape_the_declared_sensitivity_is_not_believed():
    def run(rows, tape):
        return tape.gaussian("sum", unit(rows).sum(axis=0), std=8.0, sensitivity=1e-3)

    found = certify(run, SPACE, delta=1e-5, on_tape=True)
    (release,) = found.releases
    assert release.declared == 1e-3 and release.moves == pytest.approx(2.0) and found.epsilon > 0.9


def logistic(rows, rng):
    w = np.zeros(2)
    for _ in range(3):
        g = rows / (1 + np.exp(-(rows @ w)))[:, None]
        g = g / np.maximum(1, np.linalg.norm(g, axis=1, keepdims=True))
        w = w - (g.sum(axis=0) + rng.normal(scale=8.0, size=2)) / len(rows)
    return w


def weighted_by_what_was_released(rows, rng):
    weight = np.clip(rows, 0, 1).mean() + rng.normal(scale=1.0)
    return (rows * weight).sum(axis=0) + rng.normal(scale=8.0, size=2)


def test_a_slope_at_released_weights_is_bounded_whatever_they_are():
    """Of rows of length 1 the first gradient, at w = 0, moves by 1, the others by 2 at most: for every w."""
    where = Space.matrix(n=(4,), d=(2,))
    found = certify(logistic, where, delta=1e-5)
    assert found.epsilon == pytest.approx(gdp_epsilon(math.sqrt(1 + 4 + 4) / 8, 1e-5), rel=1e-6)
    assert certify(weighted_by_what_was_released, where, delta=1e-5).epsilon is None
