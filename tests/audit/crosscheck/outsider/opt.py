import math

import numpy as np
from scipy.special import ndtri

from outsider.risks import release_matrix, risk, smallest_pair
from outsider.tools import length


def run(case, tape):
    s = case["schedule"]
    f = risk(case["problem"])
    accuracy, G, M = s["accuracy"], s["smoothness"], s["hessian_lipschitz"]
    sens, noise = s["sensitivity"], s["noise"]
    w = np.array(s["start"], dtype=float)

    # how many steps can there be at most
    eps_g, eps_H = accuracy["gradient"], s["eigen"]["margin"] * accuracy["curvature"]
    by_gradient = (1 - 2 * accuracy["c1"]) / (2 * G) * eps_g**2
    by_curvature = 2 * (1 / 3 - accuracy["c2"] - accuracy["c"]) * eps_H**3 / M**2
    std_f = math.sqrt(1 / (2 * noise["rho_f"])) * sens["value"]
    if s["reading"] == "printed":
        top = f.value(w) + abs(float(tape.noise("initial value", std_f)))
    else:
        top = float(tape.gaussian("initial value", f.value(w), std=std_f, sensitivity=sens["value"]))
        top += std_f * -float(ndtri(s["failure"]))
    T = max(1, math.ceil((top - s["lower_bound"]) / min(by_gradient, by_curvature)))
    sigma = math.sqrt(noise["releases_per_step"] * T / (2 * (noise["rho"] - noise["rho_f"])))
    std_g = sigma * sens["gradient"]
    std_H = sigma * sens["hessian"]

    gradient_steps = curvature_steps = 0
    certified = False
    for k in range(T):
        g = tape.gaussian("gradient", f.gradient(w), std=std_g, sensitivity=sens["gradient"])
        if length(g) > eps_g:
            w = w - g / G
            gradient_steps += 1
            continue
        H = release_matrix(tape, "hessian", f.hessian(w), std_H, sens["hessian"])
        smallest, p = smallest_pair(H, s, tape)
        if smallest >= -eps_H:
            certified = True
            break
        if p @ g > 0:
            p = -p
        w = w + 2 * abs(smallest) / M * p
        curvature_steps += 1
    return {
        "w": w,
        "certified": certified,
        "gradient_steps": gradient_steps,
        "curvature_steps": curvature_steps,
        "hessian_evaluations": curvature_steps + certified,
    }
