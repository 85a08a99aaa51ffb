"""second_order_erm: sensitivities, eq. (8) and (14), MIN_DEC, and the sample sizes of Theorems 4, 8 and B.3."""

from __future__ import annotations

from collections import Counter
from math import exp

from dpassay.proofs_check.ties import Numbers, Tie
from dpassay.proofs_check.transcripts import labels
from dpassay.reference.accounting.gdp import zcdp_rho
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.erm import Constants
from dpassay.reference.second_order_erm import instances, opt
from dpassay.reference.second_order_erm.calibration import Budget
from dpassay.reference.second_order_erm.common import Accuracy, Sensitivities, printed_sensitivities
from dpassay.reference.second_order_erm.line_search import curvature_roots
from dpassay.reference.second_order_erm.opt import minimum_decrease
from dpassay.reference.second_order_erm.sample_complexity import batch_minimum, line_search_minimum, short_step_minimum
from dpassay.reference.tape import LiveTape, ScriptedTape

BOUNDS = ({"B": 0.7, "B_g": 1.3, "B_H": 0.25, "n": 500, "d": 10}, {"B": 2.0, "B_g": 0.4, "B_H": 3.0, "n": 77, "d": 3})
RHO = ({"rho_f": 0.02, "gap": 0.3, "T": 40}, {"rho_f": 0.5, "gap": 2.0, "T": 7})
SLACK = ({"c": 0.1, "c2": 0.05}, {"c": 0.2, "c2": 0.02})
ROOTS = ({"c": 0.1, "c2": 0.05, "c_H": 0.2}, {"c": 0.2, "c2": 0.02, "c_H": 0.1})
UNIT = Multipliers({"gradient": 1.0, "hessian": 1.0})
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
    Tie("second_order_erm", "eq. (4)", "B / n", lambda p: _sensitivities(p).value,
        "second_order_erm.common.printed_sensitivities", BOUNDS),
    Tie("second_order_erm", "eq. (4)", "2 * B_g / n", lambda p: _sensitivities(p).gradient,
        "second_order_erm.common.printed_sensitivities", BOUNDS),
    Tie("second_order_erm", "eq. (4)", "2 * B_H * sqrt(d) / n", lambda p: _sensitivities(p).hessian,
        "second_order_erm.common.printed_sensitivities", BOUNDS),
    Tie("second_order_erm", "eq. (8)", "1 / (2 * rho_f)", lambda p: _budget(p, 2).sigma_f ** 2,
        "second_order_erm.calibration.Budget.sigma_f", RHO),
    Tie("second_order_erm", "eq. (8)", "T / (rho_f + gap - rho_f)", lambda p: _budget(p, 2).sigma(int(p["T"])) ** 2,
        "second_order_erm.calibration.Budget.sigma", RHO),
    Tie("second_order_erm", "eq. (14)",
        "3 * T / (2 * (rho_f + gap - rho_f))",
        lambda p: _budget(p, 3).sigma(int(p["T"])) ** 2,
        "second_order_erm.calibration.Budget.sigma", RHO),
    Tie("second_order_erm", "Proposition A.6",
        "(sqrt(xi + gap - xi + ell) - sqrt(ell)) ** 2",
        lambda p: zcdp_rho(p["gap"], exp(-p["ell"])),
        "gdp.zcdp_rho", ({"xi": 0.0, "gap": 1.0, "ell": 11.0}, {"xi": 0.0, "gap": 0.3, "ell": 14.0})),
    Tie("second_order_erm", "eq. (10) against D.1", "2*(1/3 - c2 - c)", _decrease,
        "second_order_erm.opt.minimum_decrease", SLACK),
    Tie("second_order_erm", "eq. (15)",
        "3 * ((1 - c - c_H) / 2) - 3 * sqrt(((1 - c - c_H) / 2) ** 2 - 2 * c2 / 3)",
        lambda p: _roots(p, 0),
        "second_order_erm.line_search.curvature_roots", ROOTS),
    Tie("second_order_erm", "eq. (15)",
        "3 * ((1 - c - c_H) / 2) + 3 * sqrt(((1 - c - c_H) / 2) ** 2 - 2 * c2 / 3)",
        lambda p: _roots(p, 1),
        "second_order_erm.line_search.curvature_roots", ROOTS),
    Tie("second_order_erm", "Theorem 4, first term", "sqrt(2*d)*B_g*sigma_g*ell/m", _short_step,
        "second_order_erm.sample_complexity.short_step_minimum",
        ({"d": 10, "B_g": 1.3, "sigma_g": 20.0, "ell": 6.0, "m": 0.01},)),
    Tie("second_order_erm", "eq. (24), first term", "64*B_g**2*ell/m**2", lambda p: _batch(p, True),
        "second_order_erm.sample_complexity.batch_minimum", ({"B_g": 1.3, "ell": 6.0, "m": 0.01},)),
    Tie("second_order_erm", "eq. (24), second term", "32*B_H**2*ell/(c*eps_H)**2", lambda p: _batch(p, False),
        "second_order_erm.sample_complexity.batch_minimum", ({"B_H": 0.4, "ell": 6.0, "c": 0.1, "eps_H": 0.2},)),
    Tie("second_order_erm", "eq. (16), first term", "16*lam*L*2*b_g*B_g/(c_g*eps_g)", _line_search,
        "second_order_erm.sample_complexity.line_search_minimum",
        ({"lam": 12.0, "L": 7.0, "b_g": 8.0, "B_g": 1.3, "c_g": 0.2, "eps_g": 0.05, "gbar": 1.0},)),
)  # fmt: skip


def _opt(T: int) -> Counter[str]:
    """Algorithm 1 when every iteration takes a curvature step, which spends the most."""
    return _descend(T, ScriptedTape(instances.LONGEST, 0), Accuracy(0.3, 0.3))


def _opt_returning(T: int) -> Counter[str]:
    """Algorithm 1 when the first iterate passes the test and is returned."""
    return _descend(T, LiveTape(0), Accuracy(1e9, 1e9))


def _descend(T: int, tape: LiveTape, accuracy: Accuracy) -> Counter[str]:
    schedule = opt.printed(instances.problem(), instances.start(), accuracy, 1.0, 1e-5)
    outcome = opt.descend(instances.problem(), schedule, tape, schedule.start, T, UNIT)
    steps = {"taken/gradient": outcome.gradient_steps, "taken/curvature": outcome.curvature_steps}
    return labels(tape) + Counter(steps)


COUNTS = {"opt": _opt, "opt_returning": _opt_returning}
