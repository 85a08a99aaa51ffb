"""adaptive_batch: names that the rows of utility share."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import rows_of

row = rows_of("adaptive_batch")

XI = {"Xi": "sqrt(gamma/rho)", "eta": "1/M", "Gam": "c*M/sqrt(rho*gamma)"}

ALPHA = {
    "e": "sqrt(d)/(n*epsilon)",
    "alpha": "sqrt(e) + n**(-1/3)",
    "kappa": "max(alpha*sqrt(d)/epsilon, 1)",
    "b": "sqrt(d)/(epsilon*alpha) + 1/alpha**2 + sqrt(d)/epsilon + 1/alpha",
}

REGION = ("d >= 1", "epsilon <= 1", "d <= n**2*epsilon**2")

C3 = "B G M n d epsilon"
