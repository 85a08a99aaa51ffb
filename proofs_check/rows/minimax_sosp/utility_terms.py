"""minimax_sosp: names that the rows of utility share."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import rows_of

row = rows_of("minimax_sosp")

E = {"e": "sqrt(d*ell)/(n*epsilon)"}

REGION = ("d >= 1", "epsilon <= 1", "ell >= 1", "d*ell <= n**2*epsilon**2")

P = "n d epsilon ell"

ERM = {**E, "T": "(F0*L)**(1/3)/(M**(2/3)*e**(4/3))", "q": "1/(T*e**2)"}

POP = {**E, "T": "e**(-2/3)", "S1": "n**(2/3)", "S2": "e**(-1/3)", "q": "e**(-1/3)"}

EXPERIMENT = {  # Appendix D, with the noise of Algorithm 3, lines 1 and 2, and C_u = C_v = C
    "n": "400",
    "T": "400",
    "q": "10",
    "K": "5",
    "S1": "200",
    "S2": "50",
    "lam": "0.8",
    "budget": "sqrt(log(1000000))/2",
    "s_r": "C*budget*max(1/S1, sqrt(T)/(sqrt(q)*n))",
    "s": "C*budget*max(1/S2, sqrt(T)/n)",
}

DATA = {"n": "[100, 1000000]", "epsilon": "(0, 1]", "d": "[1, 1000]", "ell": "[1, 30]"}

SMALL = {"e": "(1/100000, 1/10)"}
