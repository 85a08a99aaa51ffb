"""output_perturbation: noise scales, phases, regularisers and the utility bounds."""

from types import SimpleNamespace
from typing import Any

from dpassay.proofs_check.ties import Numbers, down, tied
from dpassay.reference.output_perturbation import algorithm1, algorithm2, algorithm3, algorithm4, strongly_concave
from dpassay.reference.output_perturbation.bounds import Setting, theorem_3_4_empirical, theorem_4_4_empirical
from dpassay.reference.output_perturbation.phases import convex_concave_regulariser, convex_regulariser, phases

SIZES = (
    {"n": 100, "d": 10, "epsilon": 0.7, "delta": 1e-5, "L": 2.1, "ell": 3.3, "D": 1.6, "mu_x": 0.3, "mu_y": 0.5},
    {"n": 9, "d": 4, "epsilon": 0.2, "delta": 1e-3, "L": 0.8, "ell": 5.3, "D": 2.6, "mu_x": 3.1, "mu_y": 1.2},
)
ONE = tuple({**p, "mu": min(p["mu_x"], p["mu_y"])} for p in SIZES)


def _problem(p: Numbers, mu_x: str = "mu_x") -> Any:
    """What a schedule asks of a problem, which is no problem to be solved."""
    known = {"n": int(p["n"]), "d": int(p["d"]), "d_y": 7, "lipschitz": p["L"], "modulus": p["mu"]}
    return SimpleNamespace(**known, strong_convexity=p[mu_x], strong_concavity=p["mu_y"])


def _phased(p: Numbers) -> Any:
    return SimpleNamespace(n=int(p["n"]), d=int(p["d"]), d_y=7, loss=_problem(p))


def _phase(p: Numbers) -> Numbers:
    """With the numbers of phase 2."""
    plan = phases(int(p["n"]), p["mu"])
    mu_k = plan.regularisers[1]
    return {**p, "nbar": plan.length, "mu_k": mu_k, "m": min(mu_k, p["mu_y"])}


def _setting(p: Numbers, mu_x: float) -> Setting:
    budget = p["epsilon"], p["delta"]
    return Setting(int(p["n"]), int(p["d"]), *budget, p["L"], p["ell"], mu_x, p["mu_y"])


def _regulariser(p: Numbers, rule: Any) -> float:
    return float(rule(int(p["n"]), int(p["d"]), p["L"], p["D"], p["epsilon"], p["delta"]))


PHASES, LARGE = tuple(map(_phase, ONE)), tuple({**p, "n": n} for p in ONE for n in (64, 10**10))
TIES = (
    *tied("output_perturbation.algorithm1.printed", ONE,
          ("Algorithm 1", "4*L*sqrt(2*log(2.5/delta))/(mu*n*epsilon)",
           lambda p: algorithm1.printed(_problem(p, "mu"), p["epsilon"], p["delta"]).noise.std("output", 1.0))),
    *tied("output_perturbation.algorithm2.printed", PHASES,
          ("Algorithm 2, line 5", "4*L*sqrt(2*log(2.5/delta))/(mu_k*nbar*epsilon)",
           lambda p: algorithm2.printed(_phased(p), p["mu"], p["epsilon"], p["delta"]).noise.std("x/2", 1.0))),
    *tied("output_perturbation.algorithm3.printed", ONE,
          ("Algorithm 3, line 2", "(8*L/(n*epsilon))*sqrt(2*log(5/delta)/(mu_x*mu))",
           lambda p: algorithm3.printed(_problem(p), p["epsilon"], p["delta"]).noise.std("x", 1.0))),
    *tied("output_perturbation.algorithm4.printed", PHASES,
          ("Algorithm 4, line 5", "(8*L/(nbar*epsilon))*sqrt(2*log(5/delta)/(mu_k*mu))",
           lambda p: algorithm4.printed(_phased(p), p["mu"], p["epsilon"], p["delta"]).noise.std("x/2", 1.0))),
    *tied("output_perturbation.strongly_concave.printed", PHASES,
          ("Section 4.3", "(4*L/(nbar*epsilon))*sqrt(2*log(2.5/delta)/(mu_k*m))",
           lambda p: strongly_concave.printed(_phased(p), p["mu"], p["epsilon"], p["delta"]).noise.std("x/2", 1.0))),
    *tied("output_perturbation.phases.phases", ({"n": 100}, {"n": 4096}, {"n": 5}),
          ("Algorithm 2, line 1", "log2(n)", lambda p: phases(int(p["n"]), 0.7).count, down)),
    *tied("output_perturbation.bounds.theorem_3_4_empirical", ONE,
          ("(9)", "33*L**2*(ell/mu)*d*log(2.5/delta)/(mu*n**2*epsilon**2)",
           lambda p: theorem_3_4_empirical(_setting(p, p["mu"])))),
    *tied("output_perturbation.bounds.theorem_4_4_empirical", ONE,
          ("Theorem 4.4", "257*L**2*(ell**2/(mu_x*mu_y) + ell/min(mu_x, mu_y))*d*log(5/delta)"
           "/(min(mu_x, mu_y)*n**2*epsilon**2)", lambda p: theorem_4_4_empirical(_setting(p, p["mu_x"])))),
    *tied("output_perturbation.phases.convex_regulariser", LARGE,
          ("Theorem 3.7, last line", "L/D*max(1/sqrt(n), 14*log2(n)*sqrt(d*log(2.5/delta))/(n*epsilon))",
           lambda p: _regulariser(p, convex_regulariser))),
    *tied("output_perturbation.phases.convex_concave_regulariser", LARGE,
          ("(29), third line", "L/D*max(2/sqrt(n), 13*log2(n)*sqrt(d*log(5/delta))/(n*epsilon))",
           lambda p: _regulariser(p, convex_concave_regulariser))),
)  # fmt: skip
