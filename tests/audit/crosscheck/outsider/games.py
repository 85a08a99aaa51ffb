"""Minimax problems: gradients of single records in x and in y."""

import numpy as np

from outsider.tools import table


def game(problem):
    if problem["class"] == "problems.pulls.Pulls":
        return Pulls(problem)
    if problem["class"] == "minimax_sosp.worst_case.TugOfWar":
        return Tug(problem)
    raise NotImplementedError(problem["class"])


class Pulls:
    def __init__(self, problem):
        self.rows = table(problem["rows"])
        if self.rows.shape[1] != 4:
            raise ValueError("records have four numbers")
        self.n, self.d, self.d_y = len(self.rows), 2, 1
        self.concavity, self.radius = problem["concavity"], problem["radius"]

    def in_x(self, x, y, chosen):
        a, c = self.rows[chosen, :2], self.rows[chosen, 3:]
        return a + c * np.array([x[0] + y[0], x[1]])

    def in_y(self, x, y, chosen):
        b, c = self.rows[chosen, 2:3], self.rows[chosen, 3:]
        return b + c * x[0] - self.concavity * y[0]

    def project(self, y):
        return np.clip(y, -self.radius, self.radius)


class Tug:
    def __init__(self, problem):
        self.p = problem
        self.z = np.array(problem["signs"], dtype=float)
        self.n, self.d = len(self.z), problem["d"]
        self.d_y = self.d + 1

    def in_x(self, x, y, chosen):
        p = self.p
        one = p["curvature"] * x
        one[0] += p["slope"] + p["coupling"] * y[0]
        return self.z[chosen, None] * one

    def in_y(self, x, y, chosen):
        p = self.p
        one = np.concatenate([[p["coupling"] * x[0]], p["curvature"] * x])
        one[1] += p["dual_slope"] - p["dual_curvature"] * y[0]
        found = self.z[chosen, None] * one
        found[:, 0] -= p["concavity"] * y[0]
        return found

    def project(self, y):
        found = np.zeros_like(y)
        found[0] = np.clip(y[0], -self.p["radius"], self.p["radius"])
        return found
