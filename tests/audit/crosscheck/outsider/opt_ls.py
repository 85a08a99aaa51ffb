import math

import numpy as np
from scipy.special import ndtri

from outsider.cost import lambda_for
from outsider.risks import release_matrix, risk, smallest_pair
from outsider.tools import length


def backtrack(tape, label, slack, initial, fallback, beta, sensitivity, lam):
    """The first step that lowers f enough, or the fallback."""
    trials = math.floor(math.log(fallback / initial) / math.log(beta) + 1e-9) + 1
    steps = [initial * beta**i for i in range(trials)]
    index = tape.above_threshold(
        label,
        [slack(step) for step in steps],
        threshold=0.0,
        threshold_scale=2 * lam * sensitivity,
        query_scale=4 * lam * sensitivity,
        sensitivity=sensitivity,
    )
    return fallback if index is None else steps[int(index)]


def run(case, tape):
    s = case["schedule"]
    f = risk(case["problem"])
    accuracy, search, G, M = s["accuracy"], s["search"], s["smoothness"], s["hessian_lipschitz"]
    sens, noise = s["sensitivity"], s["noise"]
    w = np.array(s["start"], dtype=float)
    c1, c_g, c_H = accuracy["c1"], search["c_g"], search["c_H"]

    a = 1 - accuracy["c"] - c_H
    t2 = 3 * a / 2 + 3 * math.sqrt(a**2 / 4 - 2 * accuracy["c2"] / 3)
    eps_g, eps_H = accuracy["gradient"], s["eigen"]["margin"] * accuracy["curvature"]
    by_gradient = (1 - c1 - c_g) * c_g * eps_g**2 / G
    by_curvature = c_H * t2**2 * eps_H**3 / M**2 / 4
    std_f = math.sqrt(1 / (2 * noise["rho_f"])) * sens["value"]
    if s["reading"] == "printed":
        top = f.value(w) + abs(float(tape.noise("initial value", std_f)))
    else:
        top = float(tape.gaussian("initial value", f.value(w), std=std_f, sensitivity=sens["value"]))
        top += std_f * -float(ndtri(s["failure"]))
    T = max(1, math.ceil((top - s["lower_bound"]) / min(by_gradient, by_curvature)))
    sigma = math.sqrt(noise["releases_per_step"] * T / (2 * (noise["rho"] - noise["rho_f"])))

    def lam(b, beta):
        if s["reading"] == "printed":
            return sigma
        return lambda_for(1 / sigma, math.floor(math.log(1 / b) / math.log(beta) + 1e-9) + 1, beta)

    fallback_g = 2 * (1 - c1 - c_g) / G
    gradient_steps = curvature_steps = 0
    certified = False
    for k in range(T):
        g = tape.gaussian("gradient", f.gradient(w), std=sigma * sens["gradient"], sensitivity=sens["gradient"])
        here = f.value(w)
        if length(g) > eps_g:
            initial = search["b_g"] * fallback_g
            gamma = backtrack(
                tape,
                "line search/gradient",
                lambda step: here - f.value(w - step * g) - c_g * step * (g @ g),
                initial,
                fallback_g,
                search["beta_g"],
                sens["gradient"] * initial * length(g),
                lam(search["b_g"], search["beta_g"]),
            )
            w = w - gamma * g
            gradient_steps += 1
            continue
        H = release_matrix(tape, "hessian", f.hessian(w), sigma * sens["hessian"], sens["hessian"])
        smallest, p = smallest_pair(H, s, tape)
        if smallest >= -eps_H:
            certified = True
            break
        if p @ g > 0:
            p = -p
        fallback = t2 * abs(smallest) / M
        initial = search["b_H"] * fallback
        gamma = backtrack(
            tape,
            "line search/curvature",
            lambda step: here - f.value(w + step * p) - 0.5 * c_H * step**2 * abs(smallest),
            initial,
            fallback,
            search["beta_H"],
            sens["gradient"] * initial,
            lam(search["b_H"], search["beta_H"]),
        )
        w = w + gamma * p
        curvature_steps += 1
    return {
        "w": w,
        "certified": certified,
        "gradient_steps": gradient_steps,
        "curvature_steps": curvature_steps,
        "hessian_evaluations": curvature_steps + certified,
    }
