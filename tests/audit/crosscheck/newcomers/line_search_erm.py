"""OPT-LS: gradient steps while the gradient is large, negative curvature after that, step sizes by a private search."""

from math import ceil, floor, log

import numpy as np
from scipy.stats import norm

from dpassay.reference.accounting.above_threshold import above_threshold_mu  # the page's recipe for mu(lambda)


class Logistic:
    def __init__(self, problem):
        link, extra = problem["loss"]["link"], problem["loss"]["regulariser"]
        if link["name"] != "logistic" or extra["name"] != "saturating":
            raise NotImplementedError(problem["loss"]["name"])
        self.x, self.y = np.array(problem["features"], dtype=float), np.array(problem["labels"], dtype=float)
        if not np.isfinite(self.x).all() or not np.isin(self.y, (-1.0, 1.0)).all():
            raise ValueError("data")
        if np.linalg.norm(self.x, axis=1).max() > problem["feature_bound"] * (1 + 1e-9):
            raise ValueError("a record is too long")
        self.weight = extra["weight"]

    def value(self, w):
        margins = self.y * (self.x @ w)
        fit = np.logaddexp(0.0, -margins).mean()
        return fit + self.weight * (w * w / (1 + w * w)).sum()

    def gradient(self, w):
        total = np.zeros_like(w)
        for x, y in zip(self.x, self.y, strict=True):
            total -= y * x * np.exp(-np.logaddexp(0.0, y * (x @ w)))
        return total / len(self.y) + self.weight * 2 * w / (1 + w * w) ** 2

    def hessian(self, w):
        total = np.zeros((len(w), len(w)))
        for x, y in zip(self.x, self.y, strict=True):
            m = y * (x @ w)
            total += np.outer(x, x) * np.exp(-np.logaddexp(0.0, m) - np.logaddexp(0.0, -m))
        bend = 2 * (1 - 3 * w * w) / (1 + w * w) ** 3
        return total / len(self.y) + self.weight * np.diag(bend)


class Wave:
    def __init__(self, p):
        self.p, self.s = p, float(np.mean(p["signs"]))
        self.top = abs(p["offset"]) + p["slope"] / p["slope_frequency"]
        self.top += 2 * p["curvature"] / p["curvature_frequency"] ** 2

    def value(self, w):
        p = self.p
        a, b, e = p["slope_frequency"], p["curvature_frequency"], p["well_frequency"]
        u = p["offset"] + p["slope"] * np.sin(a * w[0]) / a + 2 * p["curvature"] * np.sin(b * w[1] / 2) ** 2 / b**2
        well = 2 * p["well"] * (np.sin(e * w[0] / 2) ** 2 + np.sin(e * w[1] / 2) ** 2) / e**2
        return well + self.top + self.s * u

    def gradient(self, w):
        p, out = self.p, np.zeros_like(w)
        a, b, e = p["slope_frequency"], p["curvature_frequency"], p["well_frequency"]
        out[0] = p["well"] * np.sin(e * w[0]) / e + self.s * p["slope"] * np.cos(a * w[0])
        out[1] = p["well"] * np.sin(e * w[1]) / e + self.s * p["curvature"] * np.sin(b * w[1]) / b
        return out

    def hessian(self, w):
        p, out = self.p, np.zeros((len(w), len(w)))
        a, b, e = p["slope_frequency"], p["curvature_frequency"], p["well_frequency"]
        out[0, 0] = p["well"] * np.cos(e * w[0]) - self.s * p["slope"] * a * np.sin(a * w[0])
        out[1, 1] = p["well"] * np.cos(e * w[1]) + self.s * p["curvature"] * np.cos(b * w[1])
        return out


def upper(matrix):
    return np.array([matrix[i][j] for i in range(len(matrix)) for j in range(i, len(matrix))])


def whole(entries, d):
    out, k = np.zeros((d, d)), 0
    for i in range(d):
        for j in range(i, d):
            out[i, j] = out[j, i] = entries[k]
            k += 1
    return out


def smallest_lambda(mu, count, beta):
    """1.01^k, k as small as it may be for the searches to cost no more than mu."""
    low, high = -2000, 2000
    while high - low > 1:
        middle = (low + high) // 2
        if above_threshold_mu(1 / 1.01**middle, 0.25, count, beta) <= mu:
            high = middle
        else:
            low = middle
    return 1.01**high


def along_gradient(problem, w, g, share):
    """How far a step lowers the loss beyond what is asked of it."""
    here = problem.value(w)

    def spare(step):
        return here - problem.value(w - step * g) - share * step * (g @ g)

    return spare


def along_curvature(problem, w, p, low, share):
    here = problem.value(w)

    def spare(step):
        return here - problem.value(w + step * p) - share * step**2 * abs(low) / 2

    return spare


def run(case, tape):
    p, s = case["problem"], case["schedule"]
    problem = Wave(p) if p["class"].endswith("WaveRisk") else Logistic(p)
    w = np.array(s["start"], dtype=float)
    acc, ls, sens, budget = s["accuracy"], s["search"], s["sensitivity"], s["noise"]
    margin = s["eigen"]["margin"]

    # how many steps there can be
    a = 1 - acc["c"] - ls["c_H"]
    t2 = 1.5 * a + 3 * np.sqrt(a * a / 4 - 2 * acc["c2"] / 3)
    each_g = (1 - acc["c1"] - ls["c_g"]) * ls["c_g"] * acc["gradient"] ** 2 / s["smoothness"]
    each_h = ls["c_H"] * t2**2 * (margin * acc["curvature"]) ** 3 / (4 * s["hessian_lipschitz"] ** 2)
    std_f = np.sqrt(1 / (2 * budget["rho_f"])) * sens["value"]
    if s["reading"] == "printed":
        high = problem.value(w) + abs(tape.noise("initial value", std_f))
    else:
        high = tape.gaussian("initial value", problem.value(w), std=std_f, sensitivity=sens["value"])
        high = high + std_f * norm.ppf(1 - s["failure"])
    limit = max(1, ceil((high - s["lower_bound"]) / min(each_g, each_h)))

    sigma = np.sqrt(budget["releases_per_step"] * limit / (2 * (budget["rho"] - budget["rho_f"])))
    trials, lam = {}, {}
    for kind, first, beta in (("gradient", ls["b_g"], ls["beta_g"]), ("curvature", ls["b_H"], ls["beta_H"])):
        trials[kind] = floor(log(1 / first) / log(beta) + 1e-9) + 1
        lam[kind] = sigma if s["reading"] == "printed" else smallest_lambda(1 / sigma, trials[kind], beta)

    def search(kind, decrease, reach, first, last, beta):
        candidates = [first * beta**i for i in range(trials[kind])]
        hit = tape.above_threshold(
            "line search/" + kind,
            (decrease(step) for step in candidates),
            threshold=0.0,
            threshold_scale=2 * lam[kind] * reach,
            query_scale=4 * lam[kind] * reach,
            sensitivity=reach,
        )
        return last if hit is None else candidates[hit]

    by_gradient = by_curvature = 0
    certified = False
    for _ in range(limit):
        g = tape.gaussian("gradient", problem.gradient(w), std=sigma * sens["gradient"], sensitivity=sens["gradient"])
        length = np.linalg.norm(g)
        if length > acc["gradient"]:
            last = 2 * (1 - acc["c1"] - ls["c_g"]) / s["smoothness"]
            first = ls["b_g"] * last
            decrease = along_gradient(problem, w, g, ls["c_g"])
            reach = sens["gradient"] * first * length
            step = search("gradient", decrease, reach, first, last, ls["beta_g"])
            w = w - step * g
            by_gradient += 1
            continue
        noisy = tape.gaussian(
            "hessian", upper(problem.hessian(w)), std=sigma * sens["hessian"], sensitivity=sens["hessian"]
        )
        values, vectors = np.linalg.eigh(whole(noisy, len(w)))
        low, p_low = values[0], vectors[:, 0]
        if low >= -margin * acc["curvature"]:
            certified = True
            break
        if p_low @ g > 0:
            p_low = -p_low
        last = t2 * abs(low) / s["hessian_lipschitz"]
        first = ls["b_H"] * last
        decrease = along_curvature(problem, w, p_low, low, ls["c_H"])
        step = search("curvature", decrease, sens["gradient"] * first, first, last, ls["beta_H"])
        w = w + step * p_low
        by_curvature += 1
    return {
        "w": w,
        "certified": certified,
        "gradient_steps": by_gradient,
        "curvature_steps": by_curvature,
        "hessian_evaluations": by_curvature + (1 if certified else 0),
    }
