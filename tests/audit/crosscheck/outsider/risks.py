"""Empirical risks: value, gradient and Hessian of the mean loss."""

import math

import numpy as np

from outsider.tools import table


def risk(problem):
    if problem["class"] == "problems.erm.ErmProblem":
        return Logistic(problem)
    if problem["class"] == "problems.waves.WaveRisk":
        return Waves(problem)
    raise NotImplementedError(problem["class"])


class Logistic:
    def __init__(self, problem):
        loss = problem["loss"]
        if loss["link"]["name"] != "logistic" or loss["regulariser"]["name"] != "saturating":
            raise NotImplementedError(loss["name"])
        self.x = table(problem["features"])
        self.y = np.array(problem["labels"], dtype=float)
        if (np.abs(self.y) != 1).any():
            raise ValueError("labels")
        if (np.sqrt((self.x**2).sum(axis=1)) > problem["feature_bound"] * (1 + 1e-9)).any():
            raise ValueError("a record is too long")
        self.n = len(self.y)
        self.weight = loss["regulariser"]["weight"]

    def margins(self, w):
        return self.y * (self.x @ w)

    def value(self, w):
        fit = np.logaddexp(0.0, -self.margins(w)).sum() / self.n
        return float(fit + self.weight * (w**2 / (1 + w**2)).sum())

    def gradient(self, w):
        slopes = -1 / (1 + np.exp(np.minimum(self.margins(w), 700)))
        fit = self.x.T @ (self.y * slopes) / self.n
        return fit + self.weight * 2 * w / (1 + w**2) ** 2

    def hessian(self, w):
        m = np.clip(self.margins(w), -350, 350)
        bends = 1 / ((1 + np.exp(m)) * (1 + np.exp(-m)))
        fit = (self.x * bends[:, None]).T @ self.x / self.n
        return fit + self.weight * np.diag(2 * (1 - 3 * w**2) / (1 + w**2) ** 3)


class Waves:
    def __init__(self, p):
        self.p, self.d = p, p["d"]
        self.sign = float(np.mean(p["signs"]))
        self.top = (
            abs(p["offset"]) + p["slope"] / p["slope_frequency"] + 2 * p["curvature"] / p["curvature_frequency"] ** 2
        )

    def value(self, w):
        p = self.p
        a, b, e = p["slope_frequency"], p["curvature_frequency"], p["well_frequency"]
        common = p["well"] * 2 * (math.sin(e * w[0] / 2) ** 2 + math.sin(e * w[1] / 2) ** 2) / e**2
        own = p["offset"] + p["slope"] * math.sin(a * w[0]) / a + p["curvature"] * (1 - math.cos(b * w[1])) / b**2
        return common + self.top + self.sign * own

    def gradient(self, w):
        p = self.p
        a, b, e = p["slope_frequency"], p["curvature_frequency"], p["well_frequency"]
        found = np.zeros(self.d)
        found[0] = p["well"] * math.sin(e * w[0]) / e + self.sign * p["slope"] * math.cos(a * w[0])
        found[1] = p["well"] * math.sin(e * w[1]) / e + self.sign * p["curvature"] * math.sin(b * w[1]) / b
        return found

    def hessian(self, w):
        p = self.p
        a, b, e = p["slope_frequency"], p["curvature_frequency"], p["well_frequency"]
        found = np.zeros((self.d, self.d))
        found[0, 0] = p["well"] * math.cos(e * w[0]) - self.sign * p["slope"] * a * math.sin(a * w[0])
        found[1, 1] = p["well"] * math.cos(e * w[1]) + self.sign * p["curvature"] * math.cos(b * w[1])
        return found


def release_matrix(tape, label, matrix, std, sensitivity):
    """The upper triangle is released, row by row, and mirrored."""
    upper = np.triu_indices(len(matrix))
    noisy = tape.gaussian(label, matrix[upper], std=std, sensitivity=sensitivity)
    found = np.zeros_like(matrix)
    found[upper] = noisy
    found.T[upper] = noisy
    return found


def smallest_pair(matrix, s, tape):
    eigen = s["eigen"]
    if eigen["class"].endswith("Dense"):
        values, vectors = np.linalg.eigh(matrix)
        return float(values[0]), vectors[:, 0]
    d = len(matrix)
    start = np.array(tape.public("lanczos start"), dtype=float).reshape(d)
    size = math.sqrt(float((matrix**2).sum()) ** 0.5 / s["accuracy"]["curvature"])
    count = min(d, 1 + math.ceil(0.5 * math.log(2.75 * d / eigen["failure"] ** 2) * size))
    basis = [start / np.linalg.norm(start)]
    for _ in range(count - 1):
        v = matrix @ basis[-1]
        before = np.linalg.norm(v)
        for _ in range(2):
            for q in basis:
                v = v - (q @ v) * q
        if np.linalg.norm(v) <= 1e-12 * before:
            break
        basis.append(v / np.linalg.norm(v))
    q = np.array(basis)
    values, vectors = np.linalg.eigh(q @ matrix @ q.T)
    return float(values[0]), q.T @ vectors[:, 0]
