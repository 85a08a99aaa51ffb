"""A law that nobody has heard of is dictated and mutated through its own methods: a new law is one file."""

from __future__ import annotations

import math

import numpy as np

from dpassay.audit.lockstep.compare import rounding
from dpassay.audit.lockstep.script import Choice, dictated
from dpassay.audit.mutate.planted import MutantTape, Mutation
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.categorical import Categorical
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Law, other_law
from dpassay.reference.tape import LiveTape


class Colours(Law):
    """One of three colours; the noise is a share of wrong answers."""

    is_finite = True
    names = ("red", "green", "blue")

    def __init__(self, best, wrong):
        self.best, self.wrong = best, wrong

    def sample(self, rng):
        return self.names[self.best]

    def log_density(self, value):
        return math.log(self.wrong if value != self.names[self.best] else 1 - 2 * self.wrong)

    def public_difference(self, other):
        return None if isinstance(other, Colours) else other_law(self, other)

    def moved(self):
        return np.array([float(self.best)])

    def nth(self, index):
        return self.names[index % 3]

    def changed(self, noise, query):
        return Colours(self.best, noise * self.wrong)


def test_it_is_dictated():
    rng, law = np.random.default_rng(0), Colours(0, 0.1)
    assert [dictated(Choice("index", index=k), law, None, rng) for k in (0, 2, -1)] == ["red", "blue", "blue"]
    assert (
        dictated(Choice("repeat"), law, "green", rng) == "green" and dictated(Choice("zero"), law, None, rng) == "red"
    )
    assert rounding(law, Colours(2, 0.1)) == 2e-12


def test_it_is_mutated():
    tape = LiveTape(0)
    MutantTape(tape, Mutation("half", noise=0.5)).release("colour", Colours(0, 0.1), sensitivity=None)
    assert tape.transcript.releases[0].law.wrong == 0.05


def test_values_without_probability_are_not_dictated():
    law = Categorical(("a", "b"), np.array([0.0, -np.inf]))
    assert dictated(Choice("index", index=1), law, None, np.random.default_rng(0)) == "a"


def test_changes_of_known_laws():
    normal, laplace = Gaussian(np.ones(2), 3.0).changed(0.5, 2.0), Laplace(np.ones(2), 3.0).changed(0.5, 2.0)
    assert (normal.std, laplace.scale) == (1.5, 1.5) and normal.query.tolist() == laplace.query.tolist() == [2.0, 2.0]
    line = AboveThreshold([1.0, 5.0], 0.0, 2.0, 4.0)
    assert (line.changed(0.5, 2.0).threshold_scale, line.changed(0.5, 2.0).query_scale) == (1.0, 2.0)
    assert [line.nth(k) for k in (0, 1, 2, 3, -1)] == [0, 1, None, 0, None] and line.moved().tolist() == [1.0, 5.0]
