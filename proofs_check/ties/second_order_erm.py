"""second_order_erm: sensitivities, eq. (8) and (14), MIN_DEC, and the sample sizes of Theorems 4, 8 and B.3."""

from dpassay.proofs_check.ties import Numbers, tied
from dpassay.reference.accounting.gdp import zcdp_rho
from dpassay.reference.problems.erm import Constants
from dpassay.reference.second_order_erm import opt, opt_ls
from dpassay.reference.second_order_erm.calibration import Budget
from dpassay.reference.second_order_erm.common import Accuracy, Sensitivities, printed_sensitivities
from dpassay.reference.second_order_erm.line_search import LineSearch, curvature_roots
from dpassay.reference.second_order_erm.sample_complexity import batch_minimum, line_search_minimum, short_step_minimum
from dpassay.reference.second_order_erm.subsampled import AdvancedBudget

POINTS: tuple[Numbers, ...] = (  # each term of a maximum or minimum is the one that counts at one of them
    {"B": 0.7, "B_g": 1.3, "B_H": 0.25, "G": 2.3, "M": 3.1, "n": 500, "d": 10, "c1": 0.12, "c2": 0.05, "c": 0.11,
     "eps_g": 0.01, "eps_H": 0.4, "c_g": 0.22, "c_H": 0.2, "b_g": 8.5, "b_H": 0.6, "t2": 1.4, "lam": 12.5, "T": 40,
     "sigma": 20.5, "zeta": 0.06, "eta": 0.07, "xi": 0.08, "i_max": 9},
    {"B": 2.1, "B_g": 0.4, "B_H": 3.3, "G": 0.6, "M": 0.2, "n": 77, "d": 3, "c1": 0.31, "c2": 0.15, "c": 0.05,
     "eps_g": 2.5, "eps_H": 0.9, "c_g": 0.19, "c_H": 0.13, "b_g": 0.8, "b_H": 4.2, "t2": 2.6, "lam": 7.5, "T": 7,
     "sigma": 5.5, "zeta": 0.16, "eta": 0.17, "xi": 0.18, "i_max": 4},
)  # fmt: skip
CURVED = (*POINTS, {**POINTS[0], "eps_g": 0.9})
RHO = ({"rho": 0.32, "rho_f": 0.02, "T": 40}, {"rho": 2.5, "rho_f": 0.5, "T": 7})
CONVERSION = ({"epsilon": 0.9, "delta": 1e-5}, {"epsilon": 0.3, "delta": 1e-6})
HALF = "((1 - c - c_H)/2)"
PARTS = ({"eps_f": 0.09, "delta_f": 2e-6, "gap": 0.36, "dgap": 8e-6, "s": 0.05, "T": 9},)  # a fifth for f(w0)


def _constants(p: Numbers) -> Constants:
    return Constants(p["B"], p["B_g"], p["B_H"], p["G"], p["M"], radius=0.9)


def _accuracy(p: Numbers) -> Accuracy:
    return Accuracy(p["eps_g"], p["eps_H"], p["c1"], p["c2"], p["c"])


def _sensitivities(p: Numbers) -> Sensitivities:
    return printed_sensitivities(_constants(p), int(p["n"]), int(p["d"]))


def _budget(p: Numbers, releases: int) -> Budget:
    return Budget(p["rho"], p["rho_f"], releases)


def _roots(p: Numbers) -> tuple[float, float]:
    return curvature_roots(_accuracy(p), p["c_H"])


def _searched(p: Numbers) -> float:
    return opt_ls.minimum_decrease(_accuracy(p), p["G"], p["M"], LineSearch(c_g=p["c_g"], c_H=p["c_H"]))


def _line_search(p: Numbers) -> float:
    names = ("b_g", "b_H", "c_g", "c_H", "t2", "xi")
    more = {name: p[name] for name in names}
    return line_search_minimum(_constants(p), _accuracy(p), p["lam"], int(p["T"]), i_max=int(p["i_max"]), **more)


def _advanced(p: Numbers) -> AdvancedBudget:
    return AdvancedBudget(p["eps_f"] + p["gap"], p["delta_f"] + p["dgap"], p["s"], 0.2)


TIES = (
    *tied("second_order_erm.common.printed_sensitivities", POINTS,
          ("(4)", "B/n", lambda p: _sensitivities(p).value),
          ("(4)", "2*B_g/n", lambda p: _sensitivities(p).gradient),
          ("(4)", "2*B_H*sqrt(d)/n", lambda p: _sensitivities(p).hessian)),
    *tied("second_order_erm.calibration.Budget.sigma_f", RHO,
          ("(8)", "1/(2*rho_f)", lambda p: _budget(p, 2).sigma_f ** 2)),
    *tied("second_order_erm.calibration.Budget.sigma", RHO,
          ("(8)", "T/(rho - rho_f)", lambda p: _budget(p, 2).sigma(int(p["T"])) ** 2),
          ("(14)", "3*T/(2*(rho - rho_f))", lambda p: _budget(p, 3).sigma(int(p["T"])) ** 2)),
    *tied("accounting.gdp.zcdp_rho", CONVERSION,
          ("Proposition A.6", "(sqrt(epsilon + log(1/delta)) - sqrt(log(1/delta)))**2",
           lambda p: zcdp_rho(p["epsilon"], p["delta"]))),
    *tied("second_order_erm.opt.minimum_decrease", CURVED,
          ("(10)", "min((1 - 2*c1)/(2*G)*eps_g**2, 2*(1/3 - c2 - c)*eps_H**3/M**2)",
           lambda p: opt.minimum_decrease(_accuracy(p), p["G"], p["M"]))),
    *tied("second_order_erm.line_search.curvature_roots", POINTS,
          ("(15)", f"3*{HALF} - 3*sqrt({HALF}**2 - 2*c2/3)", lambda p: _roots(p)[0]),
          ("(15)", f"3*{HALF} + 3*sqrt({HALF}**2 - 2*c2/3)", lambda p: _roots(p)[1])),
    *tied("second_order_erm.opt_ls.minimum_decrease", tuple({**p, "t2": _roots(p)[1]} for p in CURVED),
          ("(17)", "min((1 - c1 - c_g)*c_g*eps_g**2/G, c_H*t2**2*eps_H**3/(4*M**2))", _searched)),
    *tied("second_order_erm.sample_complexity.short_step_minimum", CURVED,
          ("Theorem 4, C = 1 and one sigma", "max(sqrt(2*d)*B_g*sigma*log(T/zeta)/min(c1*eps_g, c2/M*eps_H**2),"
           " sqrt(d)*B_H*sigma*log(T/zeta)/(c*eps_H))",
           lambda p: short_step_minimum(
               _accuracy(p), _constants(p), int(p["d"]), p["sigma"], int(p["T"]), zeta=p["zeta"]))),
    *tied("second_order_erm.sample_complexity.batch_minimum", CURVED,
          ("(24)", "max(64*B_g**2*(log(2*d*T/eta) + 1/4)*max(1/(c1*eps_g)**2, M**2/(c2**2*eps_H**4)),"
           " 32*B_H**2*log(2*d*T/eta)/(c*eps_H)**2)",
           lambda p: batch_minimum(_accuracy(p), _constants(p), int(p["d"]), int(p["T"]), eta=p["eta"]))),
    *tied("second_order_erm.sample_complexity.line_search_minimum", CURVED,
          ("(16)", "16*lam*(log(i_max) + log(T/xi))*max(2*b_g*B_g/(c_g*eps_g), 4*b_H*B_g*M/(t2*c_H*eps_H**2))",
           _line_search)),
    *tied("second_order_erm.subsampled.AdvancedBudget.sigma_f", PARTS,
          ("Theorem B.8", "sqrt(2*log(1.25/delta_f))/eps_f", lambda p: _advanced(p).sigma_f)),
    *tied("second_order_erm.subsampled.AdvancedBudget.sigma", PARTS,
          ("Theorem B.8", "sqrt(2*log(1.25*4*s*T/dgap))*8*s*sqrt(2*T*log(2/dgap))/gap",
           lambda p: _advanced(p).sigma(int(p["T"])))),
)  # fmt: skip
