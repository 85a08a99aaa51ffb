"""minimax_sosp: the noise of Algorithm 3 and of Appendix B.2, and the sizes of Lemma 5."""

from collections import Counter
from dataclasses import replace
from math import exp, sqrt

import numpy as np

from dpassay.proofs_check.ties import Numbers, labels, tied
from dpassay.reference.minimax_sosp import dp_rgda
from dpassay.reference.minimax_sosp.dp_rgda import algorithm3_noise, appendix_b2_noise
from dpassay.reference.minimax_sosp.experiment import experiment_schedule
from dpassay.reference.minimax_sosp.theorem_schedules import Constants
from dpassay.reference.minimax_sosp.worst_case import sign_flip, steep
from dpassay.reference.problems.saddles import CoupledSaddle, cosine_saddle
from dpassay.reference.tape import LiveTape

ERM = (
    {"epsilon": 1.0, "delta": 1e-5, "n": 1000, "T": 60, "q": 20},
    {"epsilon": 0.3, "delta": 1e-6, "n": 50, "T": 8, "q": 4},
)
POP = (
    {"epsilon": 1.0, "delta": 1e-5, "n": 1000, "S1": 300, "S2": 20},
    {"epsilon": 0.3, "delta": 1e-6, "n": 90, "S1": 50, "S2": 4},
)
CLIP = ({"C": 1.0}, {"C": 2.5})  # the experiment's clip; its other sizes are printed
ERROR = ({"epsilon": 1.0, "n": 1000, "d": 10, "ell": 11.0}, {"epsilon": 0.4, "n": 5000, "d": 3, "ell": 14.0})


def _algorithm_3(p: Numbers, label: str) -> float:
    n = int(p["n"])
    noise = algorithm3_noise(p["epsilon"], p["delta"], n, int(p["T"]), int(p["q"]), batches=(n, n), clips=(1.0, 1.0))
    return noise.std(label, 1.0)


def _experiment(p: Numbers, label: str) -> float:
    noise = algorithm3_noise(2.0, 1e-6, n=400, steps=400, period=10, batches=(200, 50), clips=(p["C"], p["C"]))
    return noise.std(label, 1.0)


def _appendix(p: Numbers, constant: float, label: str) -> float:
    noise = appendix_b2_noise(p["epsilon"], p["delta"], int(p["n"]), int(p["S1"]), 1.0, 1.0, constant)
    return noise.std(label, 1.0)


def _inverse_error(p: Numbers) -> float:
    return 1 / Constants(int(p["n"]), int(p["d"]), p["epsilon"], exp(-p["ell"])).privacy_error


TIES = (
    *tied("minimax_sosp.dp_rgda.algorithm3_noise", ERM,
          ("Algorithm 3, line 1 (S_1 = n)", "8*sqrt(log(1/delta))/epsilon*max(1/n, sqrt(T)/(sqrt(q)*n))",
           lambda p: 8 * _algorithm_3(p, "refresh")),
          ("Algorithm 3, line 2 (S_2 = n, K = 1)", "8*sqrt(log(1/delta))/epsilon*max(1/n, sqrt(T)/n)",
           lambda p: 8 * _algorithm_3(p, "step"))),
    *tied("minimax_sosp.dp_rgda.algorithm3_noise", CLIP,
          ("Section 5.1 and Appendix D, Algorithm 3, line 18",
           "C*(sqrt(log(1000000))/2)*max(1/200, sqrt(400)/(sqrt(10)*400))", lambda p: _experiment(p, "refresh")),
          ("Section 5.1 and Appendix D, Algorithm 3, line 18",
           "C*(sqrt(log(1000000))/2)*max(1/50, sqrt(400)/400)", lambda p: _experiment(p, "step"))),
    *tied("minimax_sosp.dp_rgda.appendix_b2_noise", POP,
          ("B.2", "4*sqrt(2)*sqrt(log(1.25/delta))/(S1*epsilon)", lambda p: _appendix(p, 4 * sqrt(2), "refresh")),
          ("B.2", "2*sqrt(log(1.25/delta))/(n*epsilon)", lambda p: _appendix(p, 1.0, "step"))),
    *tied("minimax_sosp.theorem_schedules.Constants.privacy_error", ERROR,
          ("Lemma 5 against its proof", "1/(sqrt(d*ell)/(n*epsilon))", _inverse_error)),
)  # fmt: skip


def _dp_rgda(T: int, K: int, q: int) -> Counter[str]:
    n, tape = 9, LiveTape(0)
    schedule = experiment_schedule(
        n=n, steps=T, inner_steps=K, period=q, refresh_batch=n, step_batch=n, tolerance=1e-12
    )
    dp_rgda.run(sign_flip(n, "balanced", steep()).here, schedule, tape)
    return labels(tape)


def _dp_rgda_at_a_saddle(T: int) -> Counter[str]:
    """Algorithm 2 without noise, from a saddle of curvature -0.39: is x_{m_s} returned although line 15 left it?

    ``corrected``: x_{m_s} only if its escape phase has lasted, else the last iterate. Is that a point that was left?
    """
    landscape = cosine_saddle((1.0, 0.7, -0.4), 8, np.random.default_rng(0), tilt=0.0)
    schedule = experiment_schedule(
        n=8, steps=T, inner_steps=3, period=1, refresh_batch=8, step_batch=8,
        tolerance=0.05, escape_threshold=60, average_movement=2e-5,
    )  # fmt: skip
    quiet = replace(schedule, noise=dp_rgda.SILENT, descent_step=0.05, escape_step=0.1, restart_at_refresh=True)
    problem = CoupledSaddle(landscape)
    result = dp_rgda.run(problem, quiet, LiveTape(5))
    phases = result.phases
    anchor = len(phases) - 1 - phases[::-1].index("perturb")  # m_s
    returned = np.array_equal(result.x, result.iterates[anchor])
    early = "escaped" in phases[anchor:]
    saddle = problem.smallest_eigenvalue(result.x) < 0
    lasted = not early and phases[anchor:].count("escape") >= quiet.escape_threshold
    corrected = result.iterates[anchor if lasted else -1]
    stays = np.array_equal(corrected, result.iterates[anchor])
    found = {"returned/left": returned and early, "returned/saddle": saddle, "corrected/left": stays and early}
    return Counter({label: int(value) for label, value in found.items()})


COUNTS = {"dp_rgda": _dp_rgda, "dp_rgda_at_a_saddle": _dp_rgda_at_a_saddle}
