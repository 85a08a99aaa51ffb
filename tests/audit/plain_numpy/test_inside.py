"""Every part of an output is looked at, whatever holds it: one that is missed would be a release that nobody counts."""

from collections import OrderedDict, UserList, deque, namedtuple
from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pytest

from dpassay.audit.plain_numpy.desk import ITSELF, inside
from dpassay.audit.plain_numpy.mechanism import PlainMechanism
from dpassay.reference.errors import BadInput
from dpassay.reference.neighbours import Pair
from dpassay.reference.tape import record

Point = namedtuple("Point", "x y")


class Row(list):
    pass


class Group(tuple):
    __slots__ = ()


class Slots:
    __slots__ = ("high", "low", "never")

    def __init__(self, low, high):
        self.low, self.high = low, high


class OneSlot:
    __slots__ = "only"

    def __init__(self, only):
        self.only = only


@dataclass(slots=True)
class Below(OneSlot):
    more: float = 0.0


class Fields:
    """No tuple, whatever its fields are called."""

    _fields = ("b",)

    def __init__(self):
        self.b, self.a = 1, 2


class Called:
    a = 1

    def __call__(self):
        return 0


def below():
    one = Below(3.0)
    one.only = 2.0
    return one


@pytest.mark.parametrize(
    ("output", "changed"),
    [
        ([1, 2], [2, 3]),
        ((1, 2), (2, 3)),
        (Row([1, 2]), [2, 3]),
        (Group([1, 2]), (2, 3)),
        (Point(1, 2), Point(2, 3)),
        (deque([1, 2]), [2, 3]),
        (iter([1, 2]), [2, 3]),
        ({"b": 1, "a": 2}, {"b": 2, "a": 3}),
        (OrderedDict(b=1), {"b": 2}),
        (MappingProxyType({"b": 1}), {"b": 2}),
        ({"b": 1}.values(), [2]),
        (SimpleNamespace(b=1, a=2), {"a": 3, "b": 2}),
        (SimpleNamespace(), {}),
        (Slots(1, 2), {"high": 3, "low": 2}),
        (below(), {"more": 4.0, "only": 3.0}),
        (Fields(), {"a": 3, "b": 2}),
    ],
    ids=lambda one: type(one).__name__,
)
def test_every_part_is_changed(output, changed):
    found = inside(output, lambda one: one + 1)
    assert type(found) is type(changed) and found == changed
    assert list(found) == list(changed)  # the order too


def test_pairs_of_keys_and_values_are_parts_themselves():
    assert inside({"b": 1}.items(), lambda one: one[::-1]) == [(1, "b")]


@pytest.mark.parametrize("output", [1, 2.5, "text", b"bytes", None, range(3), np.ones(2), Point, len, Called(), {1}])
def test_what_holds_nothing_stays(output):
    assert inside(output, lambda one: None) is output


def piece_by_piece(rows, rng):
    for row in rows:
        yield row + rng.normal(scale=2.0)


@pytest.mark.parametrize(
    "hold",
    [Row, Group, deque, UserList, OneSlot, set, iter, lambda parts: {"a": parts}.values(), lambda parts: {parts[0]: 1}],
)
def test_noise_is_released_whatever_holds_it(hold):
    """A class of one's own once hid it: nothing was released, so nothing was spent."""
    run = PlainMechanism(lambda rows, rng: hold([rows[0] + rng.normal(scale=2.0)]))
    (release,) = record(lambda tape: run([1.0], tape), seed=0).releases
    assert release.law.scale == 2.0
    streamed = PlainMechanism(piece_by_piece)
    assert len(record(lambda tape: streamed([1.0, 2.0], tape), seed=0).releases) == 2


def test_a_function_is_no_randomness_of_its_own():
    """Each run makes it anew: it cannot be compared, and that is what is said."""

    def closure(rows, rng):
        noisy = rows[0] + rng.normal(scale=2.0)
        return {"predict": lambda x: x * noisy}

    pair = Pair([1.0], [0.0], 0)
    with pytest.raises(BadInput, match=r"different functions, .*return the numbers .*\['output'\]\['predict'\]"):
        PlainMechanism(closure).tried([pair])


def test_what_holds_itself_is_looked_at_once():
    """Such an output ended with a RecursionError."""

    class Node:
        def __init__(self, value):
            self.me, self.value, self.others = self, value, [self]

    def mechanism(rows, rng):
        return Node(rows.sum() + rng.normal(0, 3.0))

    seen = record(lambda tape: PlainMechanism(mechanism)(np.ones((2, 1)), tape), seed=0)
    assert seen.output == {"me": ITSELF, "others": [ITSELF], "value": seen.releases[0].value}
    shared = [1.0]
    assert inside([shared, shared], lambda part: inside(part, lambda one: one)) == [[1.0], [1.0]]  # twice is no ring
