"""dro: noise, thresholds, sizes and conjugates, tied to ``reference/dro``."""

from math import log

import numpy as np

from dpassay.proofs_check.ties import Numbers, down, tied
from dpassay.reference.dro import double_spider, recursive_spider
from dpassay.reference.dro.constants import Constants, Plan, theorem_eight, theorem_seven
from dpassay.reference.dro.divergences import Divergence, chi_square, cressie_read, kl_cvar

SIZES: tuple[Numbers, ...] = (
    {"epsilon": 0.9, "delta": 1e-5, "n": 1000, "N2": 21, "N3": 300, "T": 60, "q": 20, "c": 4.5, "C1": 1.7, "C2": 2.9,
     "C3": 2.2, "C4": 3.7, "G": 2.1, "L": 3.2, "M": 0.7, "lam": 1.5, "H": 1.2, "dx": 0.3, "de": 4.4, "v": 2.8},
    {"epsilon": 0.5, "delta": 1e-6, "n": 400, "N2": 390, "N3": 380, "T": 30, "q": 5, "c": 3.3, "C1": 0.8, "C2": 1.4,
     "C3": 0.6, "C4": 1.9, "G": 0.4, "L": 0.9, "M": 2.1, "lam": 0.3, "H": 2.5, "dx": 1.6, "de": 0.2, "v": 0.07},
)  # fmt: skip


def _constants(p: Numbers) -> Constants:
    return Constants(p["G"], p["L"], p["M"], p["lam"], p.get("H", 1.0))


def _named(p: Numbers) -> Numbers:
    """With the paper's short names."""
    k = _constants(p)
    return {**p, "N4": p["N2"], "b2": p["N2"], "L0": k.l0_printed, "L1": k.l1, "L2": k.l2}


def _plan(p: Numbers) -> Plan:
    return Plan(*(int(p[name]) for name in ("n", "T", "q", "N2", "N3")))


def _double(p: Numbers) -> double_spider.Schedule:
    return double_spider.printed(_plan(p), _constants(p), p["epsilon"], p["delta"], constant=p["c"])


def _recursive(p: Numbers) -> recursive_spider.Schedule:
    return recursive_spider.printed(
        _plan(p), p["epsilon"], p["delta"], lipschitz=p["G"], smoothness=p["L"], constant=p["c"]
    )


def _value(p: Numbers, lines: recursive_spider.Lines) -> float:
    return recursive_spider.true_value_sensitivity(lines, p["b"], p["C5"], int(p["N"]))


def _eight(p: Numbers) -> tuple[int, int]:
    sizes = {"smoothness": p["L"], "lipschitz": p["G"], "gap": p["Psi0"]}
    return theorem_eight(int(p["n"]), int(p["d"]), p["epsilon"], p["delta"], **sizes)


def _printed(divergence: Divergence, u: float) -> float:
    assert divergence.printed_conjugate is not None
    return float(divergence.printed_conjugate(np.array([u]))[0])


def _true(divergence: Divergence, u: float) -> float:
    return float(divergence.conjugate(np.array([u]))[0])


NAMED = tuple(map(_named, SIZES))
EIGHT: tuple[Numbers, ...] = (
    {"n": 1000, "d": 3, "epsilon": 0.9, "delta": 1e-5, "L": 2.1, "G": 1.4, "Psi0": 3.5},
    {"n": 5000, "d": 7, "epsilon": 0.7, "delta": 1e-6, "L": 0.8, "G": 40.5, "Psi0": 0.6},
)
RECURSION = ({"C5": 3.2, "b": 0.25, "N": 6}, {"C5": 5.1, "b": 0.8, "N": 2})
TIES = (
    *tied("dro.double_spider.printed", NAMED,
          ("Theorem 6", "c*C1*sqrt(T*log(1/delta))/(n*sqrt(q)*epsilon)",
           lambda p: p["C1"] * _double(p).noise.std("eta/refresh", 1.0)),
          ("Theorem 6", "c*C2*sqrt(log(1/delta))/(N2*epsilon)",
           lambda p: p["C2"] * _double(p).noise.std("eta/difference", 1.0)),
          ("Theorem 6", "c*C3*sqrt(log(1/delta))/epsilon*max(1/N3, sqrt(T)/(n*sqrt(q)))",
           lambda p: p["C3"] * _double(p).noise.std("x/refresh", 1.0)),
          ("Theorem 6", "c*C4*sqrt(log(1/delta))/epsilon*max(1/N4, sqrt(T)/(n*sqrt(q)))",
           lambda p: p["C4"] * _double(p).noise.std("x/difference", 1.0)),
          ("Theorem 6", "2*max(G**2*M/lam*de, G*M/lam*dx)",
           lambda p: _double(p).eta_threshold.after(p["dx"], p["de"])),
          ("Theorem 6", "2*max(M*L/lam*de, (G + G**2*M/lam + L/G*sqrt(H))*dx)",
           lambda p: _double(p).x_threshold.after(p["dx"], p["de"])),
          ("Theorem 7", "1/(4*L2)", lambda p: _double(p).eta_step),
          ("Theorem 7", "min(1/(2*L0 + L1*sqrt(H)), 1/(L0*sqrt(n)*v))",
           lambda p: min(_double(p).x_step, _double(p).move_cap / p["v"]))),
    *tied("dro.constants.Constants.l0_printed", SIZES,
          ("Lemma 1", "G + G**2*M/lam", lambda p: _constants(p).l0_printed)),
    *tied("dro.recursive_spider.printed", NAMED,
          ("Theorem 8", "c*G*sqrt(T*log(1/delta))/(n*q*epsilon)", lambda p: _recursive(p).noise.std("x/refresh", 1.0)),
          ("Theorem 8", "c*L*sqrt(log(1/delta))/epsilon*max(1/b2, sqrt(T)/n)",
           lambda p: _recursive(p).smoothness * _recursive(p).noise.std("x/difference", 1.0)),
          ("Theorem 8", "c*G*sqrt(T*log(1/delta))/(n*epsilon)", lambda p: _recursive(p).noise.std("value", 1.0))),
    *tied("dro.recursive_spider.true_value_sensitivity", RECURSION,
          ("Algorithm 3, line 16", "b*(C5 - 1)/N", lambda p: _value(p, recursive_spider.AS_PRINTED)),
          ("Lemma 8's recursion", "(2 - b)*(C5 - 1)/N", lambda p: _value(p, recursive_spider.REPAIRED))),
    *tied("dro.constants.theorem_seven",
          ({"n": 500, "G": 0.2, "L": 1.9, "M": 0.8, "lam": 1.2, "s": 0.3},
           {"n": 90, "G": 2.1, "L": 0.7, "M": 1.1, "lam": 0.5, "s": 0.1}),
          ("Theorem 7", "3*max(32*(M*G**2/lam), 8*(G + M*G**2/lam))*(8*G**2 + 10*((M*G**2/lam)**2*s**2/G**2)"
           " + 4*8*((M*G**2/lam)**2*s**2/G**2))*n/(2*(G + M*G**2/lam))",
           lambda p: theorem_seven(int(p["n"]), _constants(p), p["s"]))),
    *tied("dro.constants.theorem_eight", tuple({**p, "T": _eight(p)[0]} for p in EIGHT),
          ("Theorem 8", "max((((Psi0*L)**(1/4)*n*epsilon)/sqrt(G*d*log(1/delta)))**(4/3),"
           " n*epsilon/sqrt(d*log(1/delta)))", lambda p: _eight(p)[0], down),
          ("Theorem 8", "n**2*epsilon**2/(L**2*T*d*log(1/delta))", lambda p: _eight(p)[1], down)),
    *tied("dro.divergences.chi_square", ({"u": 0.7}, {"u": -1.5}),
          ("Table 1, first row, with Definition 8", "-1 + (u + 2)**2/4", lambda p: _printed(chi_square(), p["u"]))),
    *tied("dro.divergences.chi_square", ({"u": 0.7}, {"u": -0.5}),
          ("Table 1, corrected", "((u + 1)**2 - 1)/2", lambda p: _true(chi_square(), p["u"]))),
    *tied("dro.divergences.kl_cvar", ({"alpha": 0.2, "u": 0.3}, {"alpha": 0.5, "u": log(2)}),
          ("Table 1, second row, with Definition 8", "min(exp(u), (1 + u + log(alpha))/alpha) - 1",
           lambda p: _printed(kl_cvar(p["alpha"]), p["u"]))),
    *tied("dro.divergences.cressie_read", ({"k": 1.5, "u": -3.4}, {"k": 3.1, "u": 2.2}),
          ("Table 1, third row", "(max((k - 1)*u + 1, 0)**(k/(k - 1)) - 1)/k",
           lambda p: _true(cressie_read(p["k"]), p["u"]))),
)  # fmt: skip
