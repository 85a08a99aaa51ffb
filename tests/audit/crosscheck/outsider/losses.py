"""Losses of single records for robust optimisation."""

import math

import numpy as np

from outsider.tools import table


def data(problem):
    if problem["class"] == "dro.space.Squares":
        return Squares(problem)
    if problem["class"] == "dro.space.Waves":
        return Waves(problem)
    raise NotImplementedError(problem["class"])


class Squares:
    def __init__(self, problem):
        rows = table(problem["rows"])
        self.a, self.b = rows[:, :-1], rows[:, -1]
        self.n, self.d = self.a.shape

    def losses(self, x, chosen):
        return (self.a[chosen] @ x - self.b[chosen]) ** 2 / 2

    def gradients(self, x, chosen):
        return (self.a[chosen] @ x - self.b[chosen])[:, None] * self.a[chosen]


class Waves:
    def __init__(self, problem):
        rows = table(problem["rows"])
        self.a, self.b = rows[:, 0], rows[:, 1]
        self.n, self.d = len(rows), problem["d"]

    def losses(self, x, chosen):
        return (1 + self.a[chosen] * math.sin(2 * x[0]) + self.b[chosen] * math.cos(2 * x[0])) / 2

    def gradients(self, x, chosen):
        found = np.zeros((len(chosen), self.d))
        found[:, 0] = self.a[chosen] * math.cos(2 * x[0]) - self.b[chosen] * math.sin(2 * x[0])
        return found
