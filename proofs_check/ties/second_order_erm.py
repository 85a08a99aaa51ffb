"""second_order_erm: sensitivities, eq. (8) and (14), MIN_DEC, and the sample sizes of Theorems 4, 8 and B.3."""

from math import exp

from dpassay.proofs_check.ties import Numbers, tied
from dpassay.reference.accounting.gdp import zcdp_rho
from dpassay.reference.problems.erm import Constants
from dpassay.reference.second_order_erm.calibration import Budget
from dpassay.reference.second_order_erm.common import Accuracy, Sensitivities, printed_sensitivities
from dpassay.reference.second_order_erm.line_search import curvature_roots
from dpassay.reference.second_order_erm.opt import minimum_decrease
from dpassay.reference.second_order_erm.sample_complexity import batch_minimum, line_search_minimum, short_step_minimum

BOUNDS = ({"B": 0.7, "B_g": 1.3, "B_H": 0.25, "n": 500, "d": 10}, {"B": 2.0, "B_g": 0.4, "B_H": 3.0, "n": 77, "d": 3})
RHO = ({"rho_f": 0.02, "gap": 0.3, "T": 40}, {"rho_f": 0.5, "gap": 2.0, "T": 7})
SLACK = ({"c": 0.1, "c2": 0.05}, {"c": 0.2, "c2": 0.02})
ROOTS = ({"c": 0.1, "c2": 0.05, "c_H": 0.2}, {"c": 0.2, "c2": 0.02, "c_H": 0.1})
HALF = "((1 - c - c_H)/2)"
TINY = 1e-9  # makes the other branch of a maximum or minimum negligible


def _sensitivities(p: Numbers) -> Sensitivities:
    bounds = Constants(p.get("B", 1.0), p.get("B_g", 1.0), p.get("B_H", 1.0), 1.0, 1.0, 1.0)
    return printed_sensitivities(bounds, int(p["n"]), int(p.get("d", 1)))


def _budget(p: Numbers, releases: int) -> Budget:
    return Budget(p["rho_f"] + p["gap"], p["rho_f"], releases)


def _decrease(p: Numbers) -> float:
    accuracy = Accuracy(1.0, 0.01, c2=p["c2"], c=p["c"])
    return minimum_decrease(accuracy, 1.0, 1.0) / 0.01**3


def _roots(p: Numbers, which: int) -> float:
    return curvature_roots(Accuracy(1.0, 1.0, c2=p["c2"], c=p["c"]), p["c_H"])[which]


def _short_step(p: Numbers) -> float:
    accuracy = Accuracy(p["m"] / 0.1, 1e6)
    bounds = Constants(1.0, p["B_g"], TINY, 1.0, 1.0, 1.0)
    return short_step_minimum(accuracy, bounds, int(p["d"]), p["sigma_g"], 1, zeta=exp(-p["ell"]))


def _batch(p: Numbers, gradient: bool) -> float:
    logarithm = p["ell"] - (0.25 if gradient else 0.0)
    bounds = Constants(1.0, p["B_g"] if gradient else TINY, TINY if gradient else p["B_H"], 1.0, 1.0, 1.0)
    accuracy = Accuracy(p["m"] / 0.1, 1e6) if gradient else Accuracy(1e6, p["eps_H"], c=p["c"])
    return batch_minimum(accuracy, bounds, 1, 1, eta=2 * exp(-logarithm))


def _line_search(p: Numbers) -> float:
    bounds = Constants(1.0, p["B_g"], 1.0, 1.0, TINY, 1.0)
    return line_search_minimum(
        bounds, Accuracy(p["eps_g"], 1.0), p["lam"], 1, i_max=1, b_g=p["b_g"], b_H=1.0, c_g=p["c_g"], c_H=0.2, t2=1.0,
        xi=exp(-p["L"]),
    )  # fmt: skip


TIES = (
    *tied("second_order_erm.common.printed_sensitivities", BOUNDS,
          ("eq. (4)", "B/n", lambda p: _sensitivities(p).value),
          ("eq. (4)", "2*B_g/n", lambda p: _sensitivities(p).gradient),
          ("eq. (4)", "2*B_H*sqrt(d)/n", lambda p: _sensitivities(p).hessian)),
    *tied("second_order_erm.calibration.Budget.sigma_f", RHO,
          ("eq. (8)", "1/(2*rho_f)", lambda p: _budget(p, 2).sigma_f ** 2)),
    *tied("second_order_erm.calibration.Budget.sigma", RHO,
          ("eq. (8)", "T/(rho_f + gap - rho_f)", lambda p: _budget(p, 2).sigma(int(p["T"])) ** 2),
          ("eq. (14)", "3*T/(2*(rho_f + gap - rho_f))", lambda p: _budget(p, 3).sigma(int(p["T"])) ** 2)),
    *tied("accounting.gdp.zcdp_rho", ({"xi": 0.0, "gap": 1.0, "ell": 11.0}, {"xi": 0.0, "gap": 0.3, "ell": 14.0}),
          ("Proposition A.6", "(sqrt(xi + gap - xi + ell) - sqrt(ell))**2",
           lambda p: zcdp_rho(p["gap"], exp(-p["ell"])))),
    *tied("second_order_erm.opt.minimum_decrease", SLACK,
          ("eq. (10) against D.1", "2*(1/3 - c2 - c)", _decrease)),
    *tied("second_order_erm.line_search.curvature_roots", ROOTS,
          ("eq. (15)", f"3*{HALF} - 3*sqrt({HALF}**2 - 2*c2/3)", lambda p: _roots(p, 0)),
          ("eq. (15)", f"3*{HALF} + 3*sqrt({HALF}**2 - 2*c2/3)", lambda p: _roots(p, 1))),
    *tied("second_order_erm.sample_complexity.short_step_minimum",
          ({"d": 10, "B_g": 1.3, "sigma_g": 20.0, "ell": 6.0, "m": 0.01},),
          ("Theorem 4, first term", "sqrt(2*d)*B_g*sigma_g*ell/m", _short_step)),
    *tied("second_order_erm.sample_complexity.batch_minimum", ({"B_g": 1.3, "ell": 6.0, "m": 0.01},),
          ("eq. (24), first term", "64*B_g**2*ell/m**2", lambda p: _batch(p, True))),
    *tied("second_order_erm.sample_complexity.batch_minimum", ({"B_H": 0.4, "ell": 6.0, "c": 0.1, "eps_H": 0.2},),
          ("eq. (24), second term", "32*B_H**2*ell/(c*eps_H)**2", lambda p: _batch(p, False))),
    *tied("second_order_erm.sample_complexity.line_search_minimum",
          ({"lam": 12.0, "L": 7.0, "b_g": 8.0, "B_g": 1.3, "c_g": 0.2, "eps_g": 0.05, "gbar": 1.0},),
          ("eq. (16), first term", "16*lam*L*2*b_g*B_g/(c_g*eps_g)", _line_search)),
)  # fmt: skip
