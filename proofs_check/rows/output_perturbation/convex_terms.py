"""output_perturbation: names that the rows of convex share."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import rows_of

row = rows_of("output_perturbation")

DP = {"epsilon": "(0, 1)", "delta": "(1/100000000, 1/100)"}

BIG = {"epsilon": "(0, 1)", "delta": "(1/100000000, 1/2)", "d": "[1, 10000]"}

X = {"X": "d*log(2.5/delta)/epsilon**2"}

SIGMA1 = "4*L*sqrt(2*log(2.5/delta))/(mu*n*epsilon)"

GAMMA = "delta**2*L**2/(32*mu*n**2)"

THM37 = "9*b + 65*b**2/m + 2*K*a**2/m + m <= 4*K*a + 28*b"
