"""second_order_erm: names that the rows of line search share."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import rows_of

row = rows_of("second_order_erm")

LEMMA6 = {"c": "(0, 1/3)", "c_H": "(0, 1 - c)", "c2": "(0, 3*(1 - c - c_H)**2/8)"}

ROOT = {"h": "(1 - c - c_H)/2", "disc": "sqrt(h**2 - 2*c2/3)"}

SMALL = ("eps_g <= 1", "eps_H <= 1", "rho <= 1", "d >= 1")

STEP = {"gamma": "t*lam/M"}
