"""minimax_sosp: the noise of Algorithm 3 and of Appendix B.2, and the sizes of Lemma 5."""

from collections import Counter
from dataclasses import replace

import numpy as np

from dpassay.proofs_check.ties import Numbers, down, labels, tied, up
from dpassay.reference.minimax_sosp import dp_rgda
from dpassay.reference.minimax_sosp.dp_rgda import algorithm3_noise, appendix_b2_noise
from dpassay.reference.minimax_sosp.experiment import experiment_schedule
from dpassay.reference.minimax_sosp.theorem_schedules import Constants, empirical_schedule
from dpassay.reference.minimax_sosp.worst_case import sign_flip, steep
from dpassay.reference.problems.saddles import CoupledSaddle, cosine_saddle
from dpassay.reference.tape import LiveTape

NOISE = (
    {"epsilon": 0.7, "delta": 1e-5, "n": 1000, "T": 60, "q": 20, "S_1": 300, "S_2": 7, "C_v": 1.7, "C_u": 2.6},
    {"epsilon": 0.3, "delta": 1e-6, "n": 50, "T": 8, "q": 4, "S_1": 40, "S_2": 30, "C_v": 1.9, "C_u": 0.6},
)
POPULATION = (
    {"epsilon": 0.7, "delta": 1e-5, "n": 1000, "S_1": 300, "M": 1.3, "L": 2.3, "C_1": 5.7, "C_2": 3.4, "dy": 0.4},
)
SIZES = tuple(
    {"n": 100_000, "d": d, "epsilon": epsilon, "delta": 1e-6, "M": 1.3, "L": 1.1, "mu": 0.8, "rho": 0.6, "F0": 1.2}
    for d, epsilon in ((50, 0.5), (50, 4.2), (500, 4.2))
)


def _noise(p: Numbers, label: str) -> float:
    batches, clips = (int(p["S_1"]), int(p["S_2"])), (p["C_v"], p["C_u"])
    noise = algorithm3_noise(p["epsilon"], p["delta"], int(p["n"]), int(p["T"]), int(p["q"]), batches, clips)
    return noise.std(label, 1.0)


def _population(p: Numbers, label: str, constant: str) -> float:
    budget = p["epsilon"], p["delta"]
    noise = appendix_b2_noise(*budget, int(p["n"]), int(p["S_1"]), p["M"], p["L"], constant=p[constant])
    return noise.std(label, 1.0)


def _constants(p: Numbers) -> Constants:
    return Constants(int(p["n"]), int(p["d"]), *(p[name] for name in ("epsilon", "delta", "M", "L", "mu", "rho", "F0")))


def _schedule(p: Numbers) -> dp_rgda.Schedule:
    return replace(empirical_schedule(_constants(p)), smoothness=p["L"])  # with the noise of B.2, as (31)


FOUND = tuple({**p, "e": _constants(p).privacy_error, "T": found.steps, "S_2": found.step_batch, "dw": 0.3}
              for p, found in ((p, _schedule(p)) for p in SIZES))  # fmt: skip
TIES = (
    *tied("minimax_sosp.dp_rgda.algorithm3_noise", NOISE,
          ("Algorithm 3, line 1", "C_v*sqrt(log(1/delta))/epsilon*max(1/S_1, sqrt(T)/(sqrt(q)*n))",
           lambda p: _noise(p, "refresh")),
          ("Algorithm 3, line 2", "C_u*sqrt(log(1/delta))/epsilon*max(1/S_2, sqrt(T)/n)", lambda p: _noise(p, "step"))),
    *tied("minimax_sosp.dp_rgda.appendix_b2_noise", POPULATION,
          ("B.2, privacy proof", "C_1*M*sqrt(log(1.25/delta))/(S_1*epsilon)",
           lambda p: _population(p, "refresh", "C_1")),
          ("B.2, privacy proof", "2*C_2*L*sqrt(log(1.25/delta))/(n*epsilon)*dy",
           lambda p: _population(p, "step", "C_2") * p["dy"])),
    *tied("minimax_sosp.theorem_schedules.Constants.privacy_error", SIZES,
          ("Lemma 5", "sqrt(d*log(1/delta))/(n*epsilon)", lambda p: _constants(p).privacy_error)),
    *tied("minimax_sosp.dp_rgda.Schedule", FOUND,
          ("(30), for a clip of M and S_1 = n", "2*M/n", lambda p: _schedule(p).refresh_sensitivity),
          ("(31)", "2*sqrt(2)*L*dw/S_2", lambda p: _schedule(p).step_sensitivity(p["dw"]))),
    *tied("minimax_sosp.theorem_schedules.empirical_schedule", FOUND,
          ("Lemma 5", "((L*F0)**(1/4)/(sqrt(M)*e))**(4/3)", lambda p: _schedule(p).steps, up),
          ("Lemma 5", "n**2*epsilon**2/(L**2*T*d*log(1/delta))",
           lambda p: _schedule(p).period, down),
          ("Theorem 1, and without epsilon^(2/3) its proof", "max((M/(sqrt(F0*L)*e))**(2/3),"
           " M**(1/3)*n*e**(2/3)/(L*F0)**(1/6), epsilon**(2/3)*M**(1/3)*n*e**(2/3)/(L*F0)**(1/6))",
           lambda p: _schedule(p).step_batch, up)),
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
