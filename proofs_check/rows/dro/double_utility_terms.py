"""dro: names that the rows of double utility share."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import rows_of

row = rows_of("dro")

P = "G M lam L0 L1 L2 D0 D1 D2 N1 N2 N3 N4 q n"

E = {"e": "sqrt(d*ell)/(n*epsilon)"}

REGION = ("d >= 1", "ell >= 1", "epsilon <= 1", "d*ell <= n**2*epsilon**2")

HARD = (*REGION, "d**2*ell**2 >= n*epsilon**4")  # e >= n^(-3/4): the private term of the claim dominates

EASY = (*REGION, "d**2*ell**2 <= n*epsilon**4")

U = {"L0": "v/l**2", "L1": "1/l", "L2": "v/l**2", "D0": "v**2/l**2", "D2": "v**2/l**2"}

FREE = "D1 n q N1 N3"

T7 = {"Gam": "M*G**2/lam", "L0": "G + Gam", "D2": "Gam**2*s**2/G**2", "D0": "8*G**2 + 10*D2", "c0": "max(32*Gam, 8*L0)"}
