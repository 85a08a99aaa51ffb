"""Private data that are written into arrays, lists and dictionaries of the code's own."""

import copy
import math

import numpy as np
import pytest

from dpassay.audit.certify.certificate import certify
from dpassay.reference import Space

WHERE = Space.matrix(n=(4,), d=(2,), radius=None)


def cell_of(row, count=3):
    return int(np.clip(np.floor(row[0] * count), 0, count - 1))


def counts_by_class(rows):
    labels = np.clip(np.floor(rows[:, 0] * 3), 0, 2).astype(int)
    counts = np.zeros(3)
    for number in range(3):
        counts[number] = (labels == number).sum()
    return counts


def counts_by_record(rows):
    counts = np.zeros(3, dtype=int)
    for row in rows:
        counts[cell_of(row)] += 1
    return counts


def counts_at_once(rows):
    counts = np.zeros(3)
    np.add.at(counts, np.clip(np.floor(rows[:, 0] * 3), 0, 2).astype(int), 1)
    return counts


def sums_by_class(rows):
    rows = np.clip(rows, 0, 1)
    labels = np.floor(rows[:, 0] * 2.99).astype(int)
    sums = np.zeros((3, 2))
    for number in range(3):
        sums[number] = rows[labels == number].sum(axis=0)
    return sums.ravel()


def sums_by_record(rows):
    sums = np.zeros((3, 2))
    for row in rows:
        sums[cell_of(row)] += np.clip(row, 0, 1)
    return sums.ravel()


def coordinate_by_coordinate(rows):
    out = np.empty(2)
    for number in range(2):
        out[number] = 1.0
        out[number] += np.clip(rows[:, number], 0, 1).sum()
    return out


def record_by_record(rows):
    out = np.empty_like(rows)
    for number in range(len(rows)):
        out[number] = rows[number] / max(1, np.linalg.norm(rows[number], 1))
    return out.sum(axis=0)


def column_by_column(rows):
    out = np.zeros(rows.shape)
    for number in range(2):
        out[:, number] = np.clip(rows[:, number], 0, 1)
    return out.sum(axis=0)


def of_another_name(rows):
    total = np.zeros(2)
    other = total
    total += np.clip(rows, 0, 1).sum(axis=0)
    return other


def a_number_of_two_names(rows):
    total = np.clip(rows, 0, 1).sum()
    other = total
    total *= 0.0
    return np.array([total, other])


MOVES = {  # in the 1-norm
    counts_by_class: 2,
    counts_by_record: 2,
    counts_at_once: 2,
    sums_by_class: 4,
    sums_by_record: 4,
    coordinate_by_coordinate: 2,
    record_by_record: 2,
    column_by_column: 2,
    of_another_name: 2,
    a_number_of_two_names: 2,
}


def movement(query):
    """In the 1-norm, by a certificate; infinite where it is open."""

    def run(rows, rng):
        found = query(rows)
        return found + rng.laplace(size=np.shape(found))

    found = certify(run, WHERE, delta=1e-9, any_length=True)
    return math.inf if found.epsilon is None else found.releases[0].moves


def at_an_unbounded_place(rows):
    out = np.zeros(3)
    for row in rows:
        out[int(row[0])] += 1
    return out


def at_places_that_may_be_equal(rows):
    out = np.zeros(3)
    out[np.clip(np.floor(rows[:, 0]), 0, 2).astype(int)] += 1
    return out


@pytest.mark.parametrize("query", [at_an_unbounded_place, at_places_that_may_be_equal])
def test_places_that_are_not_known_are_open(query):
    assert movement(query) == math.inf


@pytest.mark.parametrize("query", MOVES, ids=lambda query: query.__name__)
def test_what_is_written_moves_as_it_did(query):
    assert movement(query) == pytest.approx(MOVES[query])
    rng = np.random.default_rng(0)
    most = 0.0
    for _ in range(100):
        here = rng.normal(size=(4, 2)) * rng.choice([0.3, 1.0, 30.0], size=(4, 1))
        there = here.copy()
        there[2] = -here[2] if rng.random() < 0.5 else rng.normal(size=2) * rng.choice([0.3, 1.0, 30.0])
        most = max(most, float(np.abs(np.asarray(query(here)) - query(there)).sum()))
    assert 0 < most <= MOVES[query] * (1 + 1e-9)


def test_noise_may_be_added_entry_by_entry():
    def run(rows, rng):
        out = np.zeros(2)
        out[0] = np.clip(rows[:, 0], 0, 1).sum()
        out[1] = (rows[:, 0] > 0).sum()
        out[0] += rng.laplace(scale=2.0)
        out[1] += rng.laplace(scale=2.0)
        return out

    assert certify(run, WHERE, delta=1e-9, any_length=True).epsilon == pytest.approx(1.0)


def test_entries_that_two_parts_share_are_released_twice():
    def run(rows, rng):
        whole = np.vstack([np.tanh(rows).T @ np.clip(rows, 0, 1), np.zeros((1, 2))])
        part = whole[:2]
        return part[0] + rng.normal(size=2), part.T[1] + rng.normal(size=2)

    assert len(certify(run, WHERE, delta=1e-9, any_length=True).releases) == 2


# what leaves under another name, or is written to twice
def same(rows):
    out = np.zeros(2)
    other = out
    out[0] = rows.sum()
    return other


def part(rows):
    out = np.zeros(2)
    other = out[:1]
    out[0] = rows.sum()
    return other


def in_another_shape(rows):
    out = np.zeros(4)
    other = out.reshape(2, 2)
    out[0] = rows.sum()
    return other


def through_a_part(rows):
    out = np.zeros(2)
    other = out[:1]
    other[0] = rows.sum()
    return out


def a_line(rows):
    out = np.zeros((2, 2))
    out[1, 1] = np.clip(rows, 0, 1).sum()
    line = out[0]
    out[0] = rows.sum()
    return line


def a_line_of_all(rows):
    out = np.zeros((2, 2))
    out[1, 1] = np.clip(rows, 0, 1).sum()
    line = out[0]
    out += rows.sum()
    return line


def by_asarray(rows):
    out = np.zeros(2)
    other = np.asarray(out)
    out[0] = rows.sum()
    return other


def copied(rows):
    out = np.zeros(2)
    out[0] = rows.sum()
    return copy.deepcopy(out)


def in_a_dictionary(rows):
    out = np.zeros(2)
    out[0] = rows.sum()
    return {"out": [out]}


def as_bytes(rows):
    out = np.zeros(2)
    out[0] = rows.sum()
    return bytes(out.data)


def one_by_one(rows):
    out = np.zeros(2)
    numbers = out.flat
    out[0] = rows.sum()
    return list(numbers)


def as_a_decision(rows):
    out = np.zeros(2)
    out[0] = rows.sum()
    return 1.0 if out[0] > 0 else 0.0


def given_as_out(rows):
    out = np.zeros(2)
    np.add(rows[0], rows[1], out=out)
    return out


def in_a_list(rows):
    out = np.zeros(2)
    held = [out, 0]
    held[0] += rows[0]
    return out


def told_in_a_comprehension(rows):
    out = np.zeros(2)

    def note(row):
        out[0] += 1
        return row

    kept = [note(row) for row in rows if row[0] > 0]
    return out + 0 * len(kept)


def one_of_several_arrays(rows):
    one = np.zeros(2)
    sums = [one, np.zeros(2), np.zeros(2)]
    for row in rows:
        sums[cell_of(row)] += np.clip(row, 0, 1)
    return one


LEAVES = [same, part, in_another_shape, through_a_part, a_line, a_line_of_all, by_asarray, copied, in_a_dictionary]
LEAVES += [one_of_several_arrays, as_bytes, one_by_one, as_a_decision, given_as_out, in_a_list, told_in_a_comprehension]


@pytest.mark.parametrize("code", LEAVES, ids=lambda code: code.__name__)
def test_no_name_of_it_leaves(code):
    assert certify(lambda rows, rng: code(rows), WHERE, delta=1e-9, any_length=True).epsilon is None
