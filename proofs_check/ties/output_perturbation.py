"""output_perturbation: noise scales, phases, regularisers and the utility bounds."""

from math import log, log2, sqrt

from dpassay.proofs_check.ties import Numbers, tied
from dpassay.reference.output_perturbation.base_solver import printed_multiplier
from dpassay.reference.output_perturbation.bounds import Setting, theorem_3_4_empirical, theorem_4_4_empirical
from dpassay.reference.output_perturbation.phases import convex_concave_regulariser, convex_regulariser, phases

ONE = (
    {"L": 2.0, "mu": 0.5, "n": 100, "epsilon": 0.7, "delta": 1e-5},
    {"L": 1.0, "mu": 3.0, "n": 9, "epsilon": 0.2, "delta": 1e-3},
)
TWO = (
    {"L": 2.0, "mu_x": 0.5, "mu": 0.3, "n": 100, "epsilon": 0.7, "delta": 1e-5},
    {"L": 1.0, "mu_x": 3.0, "mu": 1.0, "n": 9, "epsilon": 0.2, "delta": 1e-3},
)
ENERGY = ({"d": 10, "epsilon": 0.7, "delta": 1e-5}, {"d": 3, "epsilon": 0.2, "delta": 1e-3})


def _multiplier(p: Numbers, parts: int) -> float:
    return printed_multiplier(p["epsilon"], p["delta"], parts)


def _setting(p: Numbers) -> Setting:
    return Setting(1, int(p["d"]), p["epsilon"], p["delta"], 1.0, 1.0, 1.0, 1.0)


def _regulariser(p: Numbers, saddle: bool) -> float:
    rule = convex_concave_regulariser if saddle else convex_regulariser
    return rule(round(1 / p["a"] ** 2), 1, 1.0, 1.0, 0.7, 1e-5)


def _roots_of(constant: float) -> tuple[Numbers, ...]:
    """a = 1/sqrt(n) and b = log2(n) sqrt(log(constant/delta))/(n epsilon), as the rows abbreviate them."""
    return tuple(
        {"a": 1 / sqrt(n), "b": log2(n) * sqrt(log(constant / 1e-5)) / (n * 0.7)} for n in (64, 4096, 1_048_576)
    )


TIES = (
    *tied("output_perturbation.base_solver.printed_multiplier", ONE,
          ("Algorithm 1", "4*L*sqrt(2*log(2.5/delta))/(mu*n*epsilon)",
           lambda p: 4 * p["L"] / (p["mu"] * p["n"]) * _multiplier(p, 1))),
    *tied("output_perturbation.base_solver.printed_multiplier", TWO,
          ("Algorithm 3, line 2", "8*L/(n*epsilon)*sqrt(2*log(5/delta)/(mu_x*mu))",
           lambda p: 4 * p["L"] / (p["n"] * sqrt(p["mu_x"] * p["mu"])) * _multiplier(p, 2))),
    *tied("output_perturbation.phases.phases", ({"n": 100}, {"n": 4096}, {"n": 5}),
          ("Algorithm 2, line 1", "floor(log2(n))", lambda p: float(phases(int(p["n"]), 1.0).count))),
    *tied("output_perturbation.bounds.theorem_3_4_empirical", ENERGY,
          ("eq. (9)", "33*(d*log(2.5/delta)/epsilon**2)", lambda p: theorem_3_4_empirical(_setting(p)))),
    *tied("output_perturbation.bounds.theorem_4_4_empirical", ENERGY,
          ("Theorem 4.4", "257*(d*log(5/delta)/epsilon**2)", lambda p: theorem_4_4_empirical(_setting(p)) / 2)),
    *tied("output_perturbation.phases.convex_regulariser", _roots_of(2.5),
          ("Theorem 3.7, last line", "max(a, 14*b)", lambda p: _regulariser(p, False))),
    *tied("output_perturbation.phases.convex_concave_regulariser", _roots_of(5),
          ("eq. (29), third line", "max(2*a, 13*b)", lambda p: _regulariser(p, True))),
)  # fmt: skip
