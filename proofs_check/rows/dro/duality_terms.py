"""dro: names that the rows of duality share."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import rows_of

row = rows_of("dro")

KL = "t*log(t) - t + 1"

CR = "(t**k - t*k + k - 1)/(k*(k - 1))"

CR_STAR = "(max((k - 1)*u + 1, 0)**(k/(k - 1)) - 1)/k"

UNIT = {"G": "v/l", "L": "v/l**2", "lam": "v", "h": "v/l", "r": "l"}
