"""Decisions and comprehensions over records, as people write them, against neighbours; and what is not converted."""

from __future__ import annotations

import gc
import math
import sys

import numpy as np
import pytest

from dpassay.audit.certify.certificate import certify
from dpassay.audit.certify.patched import kept_numbers
from dpassay.reference import Space

from .rule_cases import unit

WHERE = Space.matrix(n=(4,), d=(3,))


def clipped_by_if(rows, c=1.0):
    total = np.zeros(rows.shape[1])
    for row in rows:
        norm = np.linalg.norm(row)
        if norm > c:
            row = row * c / norm
        total += row
    return total


def clipped_in_both_ways(rows, c=1.0):
    total = 0.0
    for row in rows:
        norm = np.linalg.norm(row)
        if norm <= c:
            total = total + row
        else:
            total = total + row / norm * c
    return total


def added_in_both_ways(rows, c=1.0):
    total = np.zeros(rows.shape[1])
    for row in rows:
        norm = np.linalg.norm(row)
        if norm > c:
            total += row / norm * c
        else:
            total += row
    return total


def multiplied(rows, c=1.0):
    total = np.zeros(rows.shape[1])
    for row in rows:
        row = 1.0 * row
        if np.linalg.norm(row) > c:
            row *= c / np.linalg.norm(row)
        total += row
    return total


def clipped_too_late(rows, c=1.0):
    total = np.zeros(rows.shape[1])
    for row in rows:
        norm = np.linalg.norm(row)
        if norm > c:
            row = row * 2 * c / norm
        total += row
    return total


def added_before_it_is_clipped(rows):
    total = np.zeros(rows.shape[1])
    for row in rows:
        whole = row
        if np.linalg.norm(row) > 1:
            total += whole
            whole = 0 * whole
    return total


def factor_of(norm, c):
    return c / norm if norm > c else 1.0


def clipped_by_expression(rows):
    return sum(row * factor_of(np.linalg.norm(row), 1.0) for row in rows)


def counted(rows):
    count = 0
    for row in rows:
        if row[0] > 0:
            count += 1
    return count


def two_counts(rows):
    up, down = 0, 0
    for row in rows:
        if row[0] > 0:
            up += 1
        else:
            down += 1
    return np.array([up, down])


def filtered(rows):
    return sum(np.tanh(row[1]) for row in rows if row[0] > 0)


def counted_in_a_generator(rows):
    return sum(1 for row in rows if row[0] > 0)


def length_of_a_list(rows):
    return len([row for row in rows if row[0] > 0])


def clip_or_return(row, c=1.0):
    norm = np.linalg.norm(row)
    if norm > c:
        return row * (c / norm)
    return row


def returned_early(rows):
    return sum(clip_or_return(row) for row in rows)


def returned_too_much(rows):
    return sum(clip_or_return(2 * row, 2.0) for row in rows)


def stacked(rows):
    chosen = np.array([np.clip(row, -1, 1) for row in rows if row[0] > 0])
    return chosen.sum(axis=0) + np.zeros(3)


def whatever_comes_last(rows):
    return sum(make() for make in [lambda: np.tanh(row) for row in rows])  # noqa: B023


MORE, LESS = lambda rows: 100.0 * np.tanh(rows).sum(axis=0), lambda rows: 0.5 * np.tanh(rows).sum(axis=0)
MOVES = {
    whatever_comes_last: 8 * math.sqrt(3),
    MORE: 200 * math.sqrt(3),
    clipped_by_if: 2.0,
    added_in_both_ways: 2.0,
    multiplied: 2.0,
    clipped_too_late: 4.0,
    clipped_by_expression: 2.0,
    counted: 1.0,
    two_counts: math.sqrt(2),
    filtered: 2.0,
    counted_in_a_generator: 1.0,
    length_of_a_list: 1.0,
    returned_early: 2.0,
    returned_too_much: 4.0,
    stacked: 2 * math.sqrt(3),
}


def movement(query):
    """In the 2-norm, by a certificate; infinite where it is open."""

    def run(rows, rng):
        found = query(rows)
        return found + rng.normal(size=np.shape(found))

    found = certify(run, WHERE, delta=1e-9, any_length=True)
    return math.inf if found.epsilon is None else found.releases[0].moves


@pytest.mark.parametrize("query", MOVES, ids=lambda query: query.__name__)
def test_a_private_decision_is_a_choice_between_values(query):
    assert movement(query) == pytest.approx(MOVES[query])
    rng = np.random.default_rng(0)
    most = 0.0
    for _ in range(100):
        here = rng.normal(size=(4, 3)) * rng.choice([0.1, 1.0, 30.0], size=(4, 1))
        there = here.copy()
        there[2] = -here[2] if rng.random() < 0.5 else rng.normal(size=3) * rng.choice([0.1, 1.0, 30.0])
        most = max(most, float(np.linalg.norm(np.asarray(query(here)) - query(there))))
    assert most <= MOVES[query] * (1 + 1e-9)


SEEN = []


def noted(row):
    SEEN.append(1)
    return row / max(1.0, np.linalg.norm(row))


def of_length_one(row):
    return row / max(1.0, np.linalg.norm(row))


class Counter:
    count = 0

    def clip(self, row):
        self.count += 1
        return of_length_one(row)


def early(rows):
    for row in rows:
        if row[0] > 3:
            return np.zeros(3)
    return np.ones(3)


def noted_where_positive(rows):
    total = np.zeros(3)
    for row in rows:
        if row[0] > 0:
            total += noted(row)
    return total


def of_a_row_before(rows):
    last = np.zeros(3)
    for row in rows:
        if row[0] > 0:
            last = np.tanh(row)
    return last


def mean_of_some(rows):
    return np.mean([np.tanh(row) for row in rows if row[0] > 0], axis=0)


def sometimes_without_a_value(row):
    if row[0] > 0:
        scale = 1.0
    try:
        return scale * 1.0
    except Exception:
        return 0.0


def catches_that_there_is_none(rows):
    return sum(sometimes_without_a_value(row) for row in rows)


def another_is_bounded(rows):
    total = 0.0
    for row in rows:
        if row[0] < 0 or row[1] > 1:
            continue
        total += row[1]
    return total


def of_another_shape_where_none_is_left(rows):
    return np.sum([np.clip(row, -1, 1) for row in rows if row[0] > 0], axis=0)


def stacked_where_none_may_be_left(rows):
    return np.stack([np.sum([np.clip(row, -1, 1) for row in rows if row[0] > 0], axis=0), np.zeros(3)])


def beside_a_list(rows):
    return sum([-0.9] + [0.95 + 0.05 * np.tanh(row[0]) for row in rows if row[0] > 0])


def used_up(rows):
    left, total = iter(range(5)), 0.0
    if rows[0, 0] > 0:
        total = sum(left) * 0.0
    return total + len(list(left))


def a_word(rows):
    word = "few"
    for row in rows:
        if row[0] > 0:
            word = "many"
    return float(len(word))


def caught_in_place_of_a_number(rows):
    try:
        return math.trunc(np.tanh(rows).sum())
    except TypeError:
        return 0


OPEN = [
    of_another_shape_where_none_is_left,
    beside_a_list,
    stacked_where_none_may_be_left,
    used_up,
    caught_in_place_of_a_number,
    added_before_it_is_clipped,
    early,
    noted_where_positive,
    mean_of_some,
    a_word,
    clipped_in_both_ways,
    another_is_bounded,
    catches_that_there_is_none,
]


def counted_down(n, kept=()):
    if n < 0:
        raise ValueError(n)
    if n == 0:
        return kept
    if n % 2:
        return counted_down(n // 2, (*kept, n))
    elif n > 10:  # noqa: RET505
        return counted_down(n - 3, kept)
    return counted_down(n - 1, (*kept, -n))


def test_converted_code_does_what_it_did():
    before = [counted_down(n) for n in range(60)]
    with kept_numbers(counted_down, convert=True):
        assert "_dpassay_one_of" in counted_down.__code__.co_names
        assert [counted_down(n) for n in range(60)] == before
        with pytest.raises(ValueError, match="-1"):
            counted_down(-1)


@pytest.mark.parametrize("query", [*OPEN, of_a_row_before], ids=lambda query: query.__name__)
def test_what_is_no_choice_between_values_of_one_record_is_open(query):
    assert movement(query) == math.inf


def batch_by_comprehension(rows, rng, make):
    mask = rng.random(len(rows)) < 0.5
    return sum(make(row) for row in rows[mask]) + rng.normal(scale=4.0, size=3)


def places(rows, rng, k):
    batch = rng.choice(len(rows), 2, replace=False)
    chosen = [rows[i] for i in batch]
    unit = [row / max(1.0, np.linalg.norm(row)) for row in chosen]
    return np.sum(unit * k, axis=0) + rng.normal(scale=4.0, size=3)


def test_places_of_a_batch_are_records_that_one_change_moves_once():
    once, twice = (certify(lambda r, g, k=k: places(r, g, k), WHERE, delta=1e-5, any_length=True) for k in (1, 2))
    assert once.releases[0].moves == pytest.approx(2.0)
    assert twice.releases[0].moves == pytest.approx(4.0)


class Layers(Counter):
    def __init__(self):
        self.layers = [self.clip]

    def through(self, row):
        return self.layers[0](row)

    def by_name(self, row):
        return self.clip(row)


def halves(row):
    row *= 0.5
    return row


def overwrites(row):
    np.copyto(KEPT, 1.0)
    return np.tanh(row)


def calls(function, row):
    return function(row)


KEPT = np.zeros(1)
EFFECTS = {
    "a function": noted,
    "a method": Counter().clip,
    "a list of methods": lambda row: LAYERS.through(row),
    "a method by another one": lambda row: LAYERS.by_name(row),
    "in place": halves,
    "a function of NumPy": overwrites,
    "a function that is handed on": lambda row: calls(noted, row),
    "a word on the screen": lambda row: (print("one more"), np.tanh(row))[1],
    "an entry": lambda row: (SEEN.append(1), np.tanh(row))[1],
}
LAYERS = Layers()


def test_what_python_calls_when_it_tidies_up_is_no_effect():
    def tidied(phase, info):
        TIDIED["count"] = TIDIED.get("count", 0) + 1

    gc.callbacks.append(tidied)
    old = gc.get_threshold()
    gc.set_threshold(1)
    try:
        assert movement(clipped_by_if) == pytest.approx(2.0)
    finally:
        gc.set_threshold(*old)
        gc.callbacks.remove(tidied)
    assert TIDIED and gc.isenabled()


TIDIED = {}


@pytest.mark.parametrize("make", EFFECTS.values(), ids=EFFECTS)
def test_whatever_else_is_done_ends_the_certificate(make):
    found = certify(lambda rows, rng: batch_by_comprehension(rows, rng, make), WHERE, delta=1e-5)
    assert found.epsilon is None and "has effects" in found.open
    assert sys.getprofile() is None


def symmetric(rows, noise):
    upper = np.triu(noise) + np.triu(noise, 1).T
    rows = rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))
    return rows, upper


@pytest.mark.parametrize("of", ["gram", "another matrix", "twice", "one draw for all", "a list of entries"])
def test_symmetric_noise_is_for_symmetric_queries(of):
    def run(rows, rng):
        rows, noise = symmetric(rows, rng.normal(scale=4.0, size=(3, 3)))
        if of == "one draw for all":
            return rows.T @ rows + rng.normal(scale=4.0, size=1)[np.zeros((3, 3), dtype=int)]
        if of == "a list of entries":
            return (rows.T @ rows).ravel() + rng.normal(scale=4.0, size=6)[[0, 1, 2, 3, 4, 5, 0, 1, 2]]
        if of == "another matrix":
            return rows.T @ np.tanh(rows) + noise
        return rows.T @ rows + noise, rows.T @ rows + noise if of == "twice" else 0

    found = certify(run, WHERE, delta=1e-5, any_length=True)
    assert (found.epsilon is not None) == (of == "gram")


BATCHES = {
    "places": lambda rows, rng: unit(rows[np.flatnonzero(rng.random(4) < 0.3)]).sum(axis=0),
    "places by where": lambda rows, rng: unit(rows[np.where(rng.random(4) < 0.3)[0]]).sum(axis=0),
    "coins": lambda rows, rng: unit(rows[rng.binomial(1, 0.3, size=4).astype(bool)]).sum(axis=0),
    "einsum": lambda rows, rng: by_einsum(rows[rng.random(4) < 0.3]),
}


def by_mask(rows, rng):
    return unit(rows[rng.random(4) < 0.3]).sum(axis=0)


def by_einsum(rows):
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return np.einsum("i,ij->j", np.minimum(1.0, 1.0 / np.maximum(norms, 1e-12)), rows)


def place_by_place(rows, rng):
    chosen = np.flatnonzero(rng.random(4) < 0.3)
    return sum(rows[i] / max(1.0, np.linalg.norm(rows[i])) for i in chosen)


def turn_by_turn(rows, rng):
    total = np.zeros(3)
    for row in rows[rng.random(4) < 0.3]:
        size = max(1.0, np.linalg.norm(row))
        total += row / size
    return total


def turns_of_two(rows, rng):
    total, chosen = np.zeros(3), rng.random(4) < 0.3
    for row, other in zip(rows[chosen], unit(rows)[chosen], strict=True):
        total -= -other + 0 * row.sum()
    return total


def turns_of_places(rows, rng):
    total = np.zeros(3)
    for i in np.flatnonzero(rng.random(4) < 0.3):
        total += of_length_one(rows[i])
    return total


def by_comprehension(rows, rng):
    return sum(of_length_one(row) for row in rows[rng.random(4) < 0.3])


IN_TURNS = [by_comprehension, place_by_place, turn_by_turn, turns_of_two, turns_of_places]


@pytest.mark.parametrize("batch", [*BATCHES.values(), *IN_TURNS], ids=[*BATCHES, *(one.__name__ for one in IN_TURNS)])
def test_a_poisson_batch_costs_the_same_however_it_is_written(batch):
    found, known = (
        certify(lambda r, g, b=b: b(r, g) + g.normal(scale=4.0, size=3), WHERE, delta=1e-5, any_length=True)
        for b in (batch, by_mask)
    )
    assert known.bounded and found.epsilon == known.epsilon and found.releases[0].moves == known.releases[0].moves


def shuffled(rows, rng):
    order = np.arange(4)
    rng.shuffle(order)
    return unit(rows)[order[:2]].sum(axis=0)


def test_shuffled_places_and_lists_of_released_numbers_are_public():
    def run(rows, rng):
        return np.round(shuffled(rows, rng) + rng.normal(scale=4.0, size=3), 2).tolist()

    def looks(rows, rng):
        found = (unit(rows).sum(axis=0) + rng.normal(scale=4.0, size=3)).tolist()
        return found, unit(rows).sum(axis=0) + rng.normal(scale=1.0, size=3) if found[0] > 77.1 else 0

    whole, both = (certify(one, WHERE, delta=1e-5, any_length=True) for one in (run, looks))
    assert [one.moves for one in whole.releases] == [pytest.approx(2.0)]
    assert len(both.releases) == 2


def one_by_one(rows, rng, twice=False, scale=lambda k: 8.0):
    total = unit(rows).sum(axis=0)
    found = [total[k] + rng.normal(scale=scale(k)) for k in range(3)]
    return found, total[0] + rng.normal(scale=8.0) if twice else 0.0


def test_entries_of_an_array_one_by_one_cost_what_the_array_does():
    def moves(run):
        return [one.moves for one in certify(run, WHERE, delta=1e-5, any_length=True).releases]

    assert moves(one_by_one) == [pytest.approx(2.0)]
    assert moves(lambda r, g: one_by_one(r, g, twice=True)) == [pytest.approx(2.0)] * 2
    assert moves(lambda r, g: one_by_one(r, g, scale=lambda k: 8.0 + k)) == [pytest.approx(2.0)] * 3


def test_cells_one_by_one_cost_what_the_histogram_does():
    def run(rows, rng):
        counts, _ = np.histogram(rows[:, 0], bins=4, range=(0, 1))
        return {name: count + rng.laplace(scale=2.0) for name, count in zip("abcd", counts, strict=True)}

    assert certify(run, WHERE, delta=1e-5).epsilon == pytest.approx(1.0, rel=1e-4)
