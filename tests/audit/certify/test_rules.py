"""Each rule against random neighbours; and each rule, made wrong, is caught by the same test."""

import math
import warnings
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest

from dpassay.audit.certify import certificate, value  # noqa: F401 - which registers the rules
from dpassay.audit.certify.value import RULES, Norms, Open, Value, rows

from .rule_cases import EDGES, REDUCED, ROWS
from .rule_cases import unit as clip

CASES = {**{f"row: {name}": case for name, case in ROWS.items()}, **REDUCED}
TRIALS = 40
LACKING = {"": {}, "silent": {"vanishes": True}, "removed": {"absent": "lacking"}}
BOUNDS = [*((two, None) for two in (math.inf, 1.0, 2.5, 1.0)), (math.inf, (-0.5, 1.0)), (math.inf, (0.0, 1.5))]


def data(g, n, d, two, box):
    """Rows within the bounds, many of them at their edge; zeros, equal numbers, huge ones where nothing bounds them."""
    if box is not None:
        x = g.uniform(*box, size=(n, d))
        return np.where(g.random((n, d)) < 0.4, np.where(g.random((n, d)) < 0.5, *box), x)
    x = g.normal(size=(n, d)) * g.choice([0.01, 1.0, 30.0, 1e6])
    x[g.random(n) < 0.15] = 0.0
    axis = g.random(n) < 0.3
    x[axis] = np.eye(d)[g.integers(0, d, size=axis.sum())] * g.choice([-1, 1], size=(axis.sum(), 1)) * 1e3
    if math.isfinite(two):
        norm = np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-300)
        x = x * np.where(g.random((n, 1)) < 0.6, np.where(norm > 1e-12, two / norm, 1.0), np.minimum(1, two / norm))
    return x


def neighbours(g, n, d, two, box, lacking=""):
    here = data(g, n, d, two, box)
    there, target = here.copy(), int(g.integers(0, n))
    if lacking:
        there[target] = 0.0
        return here, np.delete(here, target, axis=0) if lacking == "removed" else there, target
    there[target] = -here[target] if box is None and g.random() < 0.4 else data(g, 1, d, two, box)[0]
    if g.random() < 0.2:
        here[np.arange(n) != target] = there[np.arange(n) != target] = here[(target + 1) % n] if n > 1 else 0
    return here, there, target


def norms_of(difference):
    flat = np.abs(np.asarray(difference, dtype=float)).ravel()
    return (flat.sum(), math.sqrt((flat**2).sum()), flat.max()) if flat.size else (0.0, 0.0, 0.0)


def exceeds(value, bound, scale):
    return value > bound + 1e-9 * max(1.0, scale, abs(bound) if math.isfinite(bound) else 1.0)


def broken_bound(value, f, g, n, d, two, box, lacking=""):
    """The first bound that neighbours break, in words; None where all hold."""
    for _ in range(TRIALS if isinstance(value, Value) else 0):
        here, there, target = neighbours(g, n, d, two, box, lacking)
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            try:
                a, b = (np.asarray(f(one.copy()), dtype=float) for one in (here, there))
            except (ValueError, IndexError, ZeroDivisionError):  # of no rows
                continue
        if not (np.isfinite(a).all() and np.isfinite(b).all()):  # an overflow: bounds are over the reals
            continue
        if not value.absent and a.shape != value.shape:
            return f"has the shape {a.shape}, said {value.shape}"
        if value.at is not None and not value.absent:
            place = value.at + a.ndim
            numbers = np.arange(n) if value.records.numbers is None else value.records.numbers
            mine = np.flatnonzero(np.ravel(numbers) == target)
            rest = [np.delete(one, mine, place) for one in (a, b)]
            if not np.allclose(*rest, rtol=1e-9, atol=1e-9):
                return "another record moves"
            a, b = np.take(a, mine, place), np.take(b, mine, place)
        elif value.absent:  # of as many records as there are, each by its size
            sizes = [norms_of(one) for one in np.moveaxis(a, value.at, 0)]
            a, b = np.array([max(one) for one in zip(*sizes, strict=True)] or [0.0] * 3), 0.0
            if any(exceeds(one, bound, one) for one, bound in zip(a, value.norms, strict=True)):
                return f"a record is {a}, said {value.norms}"
            continue
        scale = max(norms_of(a)[0], norms_of(b)[0])
        pairs = [("moves", norms_of(a - b), value.move), ("is", norms_of(a), value.norms)]
        for word, found, bound in pairs:
            for name, one in zip(("one", "two", "sup"), found, strict=True):
                if exceeds(one, getattr(bound, name), scale):
                    return f"{word} {one} in {name}, {getattr(bound, name)}"
        if a.size and (exceeds(a.max(), value.high, scale) or exceeds(-a.min(), -value.low, scale)):
            return f"in [{a.min()}, {a.max()}], said [{value.low}, {value.high}]"
    return None


def tried(case, seed):
    g = np.random.default_rng(seed)
    lacking = ("", "silent", "removed")[seed % 3]
    n, d = int(g.integers(1 + (lacking == "removed"), 6)), int(g.integers(1, 5))
    two, box = BOUNDS[int(g.integers(0, len(BOUNDS)))]
    f = case(g, d)
    before = list(ROWS.values())[int(g.integers(0, len(ROWS)))](g, d) if g.random() < 0.5 else None
    few = slice(int(g.integers(0, 3)) if g.random() < 0.3 and lacking != "removed" else None)

    def program(x):
        x = x[few]
        if before is not None:
            y = before(x)
            x = y if y.ndim == 2 and y.shape[1] == d else x
        return f(x)

    low, high = box or (-math.inf, math.inf)
    try:
        value = program(rows(n, d, two, low, high, **LACKING[lacking]))
    except (Open, IndexError):
        return None
    assert isinstance(value, Value) or few.stop == 0
    return broken_bound(value, program, g, n, d, two, box, lacking)


@pytest.mark.parametrize("examples", [4, pytest.param(2_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", CASES)
def test_no_neighbours_move_a_value_further_than_its_rule_says(name, examples):
    """The many are other ones each time."""
    for seed in np.random.default_rng(0 if examples < 10 else None).integers(2**32, size=examples).tolist():
        assert tried(CASES[name], seed) is None, seed


@pytest.mark.parametrize("name", EDGES)
def test_what_a_rule_does_not_know_is_open(name):
    """Or its bounds hold: of options, types, places and other names of an array."""
    for box in (None, (-0.6, 1.0)):
        with suppress(Open):
            value = EDGES[name](rows(4, 3, math.inf, *(box or ())))
            assert broken_bound(value, EDGES[name], np.random.default_rng(0), 4, 3, math.inf, box) is None


def test_every_case_is_followed():
    """What is open is no rule: each case is bounded on rows of the unit ball, at three records of three numbers."""
    for name, case in CASES.items():
        value = case(np.random.default_rng(1), 3)(rows(3, 3, 1.0))
        assert math.isfinite(value.move.two), name


# -- records that are added --------------------------------------------------------------------------------------
ADDED = {
    "sum": (lambda x: clip(x).sum(axis=0), 1.0),
    "range": (lambda x: np.clip(x[:, 0], 0, 1).sum(), 1.0),
    "row by row": (lambda x: sum(clip(x[k : k + 1])[0] for k in range(len(x))), 1.0),
    "labelled": (lambda x: np.clip(x, -1, 1)[:, 0] @ np.tanh(x[:, 1]), 1.0),
    "gram": (lambda x: clip(x).T @ clip(x), 1.0),
    "weighted": (lambda x: (np.cos(x[:, :1]) * clip(x)).sum(axis=0), 1.0),
    "moved first": (lambda x: clip(x - 3.0).sum(axis=0), 2.0),
    "not zero at zero": (lambda x: np.cos(x[:, 0]).sum(), 2.0),
    "one of two is not": (lambda x: (np.tanh(x[:, 0]) + np.cos(x[:, 0])).sum(), 3.0),
    "neighbouring rows": (lambda x: (clip(x)[1:] - clip(x)[:-1]).sum(axis=0), 2**1.5),
    "by their mean": (lambda x: clip(x - clip(x).mean(axis=0)).sum(axis=0), math.inf),
}


@pytest.mark.parametrize("name", ADDED)
def test_what_is_zero_without_a_record_moves_by_one_side_alone(name):
    """And nothing else does: a factor 1/2 where it is not so is caught by neighbours of which one lacks a record."""
    f, moves = ADDED[name]
    found = f(rows(4, 2, vanishes=True))
    assert found.move.two == pytest.approx(moves)
    assert broken_bound(found, f, np.random.default_rng(0), 4, 2, math.inf, None, lacking="silent") is None


@pytest.mark.parametrize("name", ["moved first", "not zero at zero", "one of two is not"])
def test_a_record_taken_for_zero_that_is_none_is_caught(name, monkeypatch):
    f, _ = ADDED[name]
    monkeypatch.setattr(value, "_vanishes", lambda function, args, options, found: found.at is not None)
    found = f(rows(4, 2, vanishes=True))
    monkeypatch.undo()
    assert any(
        broken_bound(found, f, np.random.default_rng(seed), 4, 2, math.inf, None, "silent") for seed in range(20)
    )


# -- wrong variants of each rule ----------------------------------------------------------------------------------
def _factor(value):
    value.move = value.move.by(0.4)


def _norm(value):
    value.move = Norms(value.move.sup, value.move.sup, value.move.sup)


def _form(value):
    larger = {"above": 2.0, "sizes": 2.0, "squares": 4.0, "below": 0.5}
    value.forms = tuple(replace(one, k=one.k * larger.get(one.kind, 1.0)) for one in value.forms)


WRONG = {"factor": _factor, "norm": _norm, "form": _form}
OF_NUMBERS = {np.argmin, np.argmax, np.any, np.all, np.quantile, np.percentile}
OF_NUMBERS |= {np.count_nonzero, np.histogram, np.less_equal, np.less, np.greater_equal}
FORMS = {np.linalg.norm, np.maximum, np.minimum, np.divide, np.sqrt, np.add, np.abs, np.max}
TELLS = {np.shape, np.ndim, np.size, np.isfinite, np.isnan, np.isinf, np.isscalar, np.iscomplexobj, np.iscomplex}
TELLS |= {np.isrealobj, np.nonzero, np.flatnonzero}  # nothing private comes out, or nothing that moves


def variants():
    for function in {id(transfer): function for function, transfer in reversed(RULES.items())}.values():
        if function not in TELLS:
            names = ["factor"] + ["norm"] * (function not in OF_NUMBERS) + ["form"] * (function in FORMS)
            yield from (pytest.param(function, wrong, id=f"{function.__name__}-{wrong}") for wrong in names)


@cache
def users():
    """By function the cases that call it, those of fewest calls first."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        called = set()
        for function, transfer in RULES.items():
            patch.setitem(
                RULES, function, partial(lambda f, t, *a, **k: called.add(f) or t(*a, **k), function, transfer)
            )
        for name, case in CASES.items():
            called.clear()
            with suppress(Open):
                case(np.random.default_rng(1), 3)(rows(3, 3, 1.0))
            for function in called:
                found.setdefault(function, []).append((len(called), name))
    return {function: [name for _, name in sorted(names)] for function, names in found.items()}


@pytest.mark.parametrize(("function", "wrong"), [*variants()])
def test_a_wrong_rule_is_caught(function, wrong, monkeypatch):
    """A rule made wrong (a factor, the norm, the relation to norms of rows): random neighbours break its bound."""
    right = RULES[function]

    def made_wrong(*args, **options):
        value = right(*args, **options)
        first = value[0] if type(value) in (tuple, list) else value
        if isinstance(first, Value):
            WRONG[wrong](first)
        return value

    for seed in range(40):
        for name in users()[function]:
            g = np.random.default_rng(seed)
            n, d = int(g.integers(1, 6)), int(g.integers(1, 5))
            f, box = CASES[name](g, d), (-0.5, 1.0) if seed % 2 else None
            given = rows(n, d, 1.0) if box is None else rows(n, d, low=box[0], high=box[1])
            with monkeypatch.context() as patch, suppress(Open):
                patch.setitem(RULES, function, made_wrong)
                value = f(given)
                patch.undo()
                if isinstance(value, Value) and broken_bound(value, f, np.random.default_rng(5), n, d, 1.0, box):
                    return
    pytest.fail("no neighbours broke the wrong bound")
