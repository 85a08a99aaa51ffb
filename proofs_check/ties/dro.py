"""dro: noise, thresholds, sizes and conjugates, tied to ``reference/dro``."""

import numpy as np

from dpassay.proofs_check.ties import Numbers, down, tied
from dpassay.reference.dro import double_spider, recursive_spider
from dpassay.reference.dro.constants import Constants, Plan, theorem_eight, theorem_seven
from dpassay.reference.dro.divergences import Divergence, chi_square, cressie_read, kl_cvar

C = 4.0  # the constant c in the rows
SCALE = "4*sqrt(log(1/delta))/epsilon"
SIZES = (
    {"epsilon": 1.0, "delta": 1e-5, "n": 1000, "N": 200, "T": 60, "q": 20},
    {"epsilon": 0.5, "delta": 1e-6, "n": 400, "N": 400, "T": 30, "q": 5},
)
PROBLEM = ({"G": 2.0, "L": 3.0, "M": 0.7, "lam": 1.5}, {"G": 0.4, "L": 0.9, "M": 2.0, "lam": 0.3})
VALUE = ({"C5": 3.0, "b": 0.25, "s": 1.3}, {"C5": 5.0, "b": 1.0, "s": 2.0})
EIGHT = ({"n": 1000, "epsilon": 1.0, "D": 100.0, "L": 2.0}, {"n": 5000, "epsilon": 0.7, "D": 30.0, "L": 1.3})
SEVEN = ({"n": 500, "G": 1.0, "M": 0.8, "lam": 1.2, "s": 0.3}, {"n": 90, "G": 2.0, "M": 1.0, "lam": 0.5, "s": 0.1})


def _plan(p: Numbers) -> Plan:
    return Plan(int(p["n"]), int(p["T"]), int(p["q"]), int(p["N"]), int(p["N"]))


def _double(p: Numbers, label: str) -> float:
    schedule = double_spider.printed(_plan(p), Constants(), p["epsilon"], p["delta"], constant=C)
    return schedule.noise.by_label[label]


def _recursive(p: Numbers, label: str) -> float:
    return recursive_spider.printed(_plan(p), p["epsilon"], p["delta"], constant=C).noise.by_label[label]


def _thresholds(p: Numbers) -> double_spider.Schedule:
    constants = Constants(p["G"], p["L"], p["M"], p["lam"])
    return double_spider.printed(Plan(10, 4, 2, 5), constants, 1.0, 1e-5)


def _value(p: Numbers, lines: recursive_spider.Lines) -> float:
    return recursive_spider.true_value_sensitivity(lines, p["b"], p["C5"], 1)


def _eight(p: Numbers) -> float:
    return theorem_eight(int(p["n"]), 1, p["epsilon"], float(np.exp(-p["D"])), smoothness=p["L"])[0]


def _seven(p: Numbers) -> float:
    return theorem_seven(int(p["n"]), Constants(p["G"], 1.0, p["M"], p["lam"]), p["s"])


def _printed(divergence: Divergence, u: float) -> float:
    assert divergence.printed_conjugate is not None
    return float(divergence.printed_conjugate(np.array([u]))[0])


def _true(divergence: Divergence, u: float) -> float:
    return float(divergence.conjugate(np.array([u]))[0])


TIES = (
    *tied("dro.double_spider.printed", SIZES,
          ("Theorem 6, sigma_1", f"{SCALE}*sqrt(T)/(n*sqrt(q))", lambda p: _double(p, "eta/refresh")),
          ("Theorem 6, sigma_2", f"{SCALE}/N", lambda p: _double(p, "eta/difference")),
          ("Theorem 6, sigma_4", f"{SCALE}*max(1/N, sqrt(T)/(n*sqrt(q)))", lambda p: _double(p, "x/difference")),
          ("Theorem 1 against Theorem 6", "max(1/N, sqrt(T)/(n*sqrt(q)))",
           lambda p: _double(p, "x/refresh") / (C * np.sqrt(np.log(1 / p["delta"])) / p["epsilon"]))),
    *tied("dro.double_spider.printed", PROBLEM,
          ("Theorem 6, C_2, against Lemmas 3 and 4", "G*M/lam", lambda p: _thresholds(p).eta_threshold.per_x),
          ("Theorem 6, C_4, against Lemma 3, eq. (11)", "M*L/lam", lambda p: _thresholds(p).x_threshold.per_eta)),
    *tied("dro.constants.Constants.l0_printed", PROBLEM,
          ("Lemma 1", "G + G**2*M/lam", lambda p: Constants(p["G"], p["L"], p["M"], p["lam"]).l0_printed)),
    *tied("dro.recursive_spider.printed", SIZES,
          ("Theorem 8, sigma_1", f"{SCALE}*sqrt(T)/(n*q)", lambda p: _recursive(p, "x/refresh")),
          ("Theorem 8, sigma_(s_t)", f"{SCALE}*sqrt(T)/n", lambda p: _recursive(p, "value"))),
    *tied("dro.recursive_spider.true_value_sensitivity", VALUE,
          ("Algorithm 3, line 16", "b*(C5 - 1)", lambda p: _value(p, recursive_spider.AS_PRINTED)),
          ("Lemma 8's recursion", "(2 - b)*(C5 - 1)", lambda p: _value(p, recursive_spider.REPAIRED))),
    *tied("dro.constants.theorem_seven", SEVEN,
          ("Theorem 7", "3*max(32*(M*G**2/lam), 8*(G + M*G**2/lam))*(8*G**2 + 10*((M*G**2/lam)**2*s**2/G**2)"
           " + 4*8*((M*G**2/lam)**2*s**2/G**2))*n/(2*(G + M*G**2/lam))", _seven)),
    *tied("dro.constants.theorem_eight", EIGHT,
          ("Theorem 8, T", "max((L**(1/4)*n*epsilon/sqrt(D))**(4/3), n*epsilon/sqrt(D))", _eight, down)),
    *tied("dro.divergences.chi_square", ({"u": 0.7}, {"u": -1.5}),
          ("Table 1, first row, with Definition 8", "-1 + (u + 2)**2/4", lambda p: _printed(chi_square(), p["u"]))),
    *tied("dro.divergences.chi_square", ({"u": 0.7}, {"u": -0.5}),
          ("Table 1, corrected", "((u + 1)**2 - 1)/2", lambda p: _true(chi_square(), p["u"]))),
    *tied("dro.divergences.kl_cvar", ({"alpha": 0.2, "u": 0.3}, {"alpha": 0.5, "u": 2.0}),
          ("Table 1, second row, with Definition 8", "min(exp(u), (1 + u + log(alpha))/alpha) - 1",
           lambda p: _printed(kl_cvar(p["alpha"]), p["u"]))),
    *tied("dro.divergences.cressie_read", ({"k": 1.5, "u": 0.4}, {"k": 3.0, "u": 2.0}),
          ("Table 1, third row", "(max((k - 1)*u + 1, 0)**(k/(k - 1)) - 1)/k",
           lambda p: _true(cressie_read(p["k"]), p["u"]))),
)  # fmt: skip
