"""output_perturbation: names that the rows of minimax share."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import rows_of

row = rows_of("output_perturbation")

DP = {"epsilon": "(0, 1)", "delta": "(1/100000000, 1/100)"}

BIG = {"epsilon": "(0, 1)", "delta": "(1/100000000, 1/2)", "d": "[1, 10000]"}

X = {"X": "d*log(5/delta)/epsilon**2"}

SIGMA3 = "(8*L/(n*epsilon))*sqrt(2*log(5/delta)/(mu_x*mu))"

SENS3 = "4*L/(n*sqrt(mu_x*mu))"

SC = {**DP, "n": "integer [10, 1000000]", "mu": "(1/1000, 100)", "mu_x": "[mu, 1000*mu]"}

AB = {"K": "[1, 100]"}
