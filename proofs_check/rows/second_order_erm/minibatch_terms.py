"""second_order_erm: names that the rows of minibatch share."""

from __future__ import annotations

from math import comb

from dpassay.proofs_check.rows.build import rows_of

row = rows_of("second_order_erm")

SMALL = ("eps_g <= 1", "eps_H <= 1", "rho <= 1", "d >= 1")

B8 = {
    "eps0": "(epsilon - eps_f)/(8*s*sqrt(2*T*log(2/(delta - delta_f))))",
    "delta0": "(delta - delta_f)/(4*s*T)",
    "sigma": "sqrt(2*log(1.25/delta0))/eps0",
}

B8_REGION = {
    "epsilon": "(0, 1)",
    "eps_f": "(0, epsilon)",
    "delta": "(1/1000000, 1/100)",
    "delta_f": "(0, delta)",
    "s": "(0, 1)",
    "T": "integer [1, 10000]",
}

ONE_BATCH = "log(1 + s**2*(exp(2/sigma**2) - 1))"  # order 2, exactly: two unit releases on one sampled batch

SIGMA_B9 = {"T": "max(eps_g**(-2), eps_H**(-3))", "sigma": "s*sqrt(T)*sqrt(ell*(ell + 1))/epsilon"}

TAIL_27 = " + ".join(
    f"2*s**{j}*{comb(16, j)}*exp({j - 1}*{j}/(2*sigma**2))" for j in range(3, 17)
)  # of (27), alpha = 16
