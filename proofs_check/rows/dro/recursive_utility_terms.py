"""dro: names that the rows of recursive utility share."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import identity, inequality, rates, rows_of

row = rows_of("dro")

E = {"e": "sqrt(d*ell)/(n*epsilon)"}

N = "n d ell epsilon"

REGION = ("d >= 1", "ell >= 1", "epsilon <= 1", "d*ell <= n**2*epsilon**2")

T8 = {
    **E,
    "T": "max(e**(-4/3), 1/e)",
    "q": "n**2*epsilon**2/(T*d*ell)",
    "b2": "max((1/e)**(2/3), (n*d*ell)**(1/3)/epsilon**(2/3))",
}

U = {"G": "v/l", "L": "v/l**2", "Psi0": "v"}

F = "n d epsilon"

K9 = {"k": "sigma**(2/3)/LP"}

M9 = {**K9, "m": "max(2*sigma**2, (16*LP**2*k)**2)", "eta1": "k/(m + sigma**2)**(1/3)"}

C9 = "sigma**2/(14*LP*k**3)"

CUBE = {**K9, "m": "max(2*sigma**2, (16*LP*k)**3)", "eta1": "k/(m + sigma**2)**(1/3)"}  # Lemma 9 with a cube in m

FULL_VALUES = rates(  # the noise of s when every step reads all n records: d^4 log(1/delta) >= (n epsilon)^2
    "T*ell/(n*epsilon)**2 <= e**(4/3)", "n", N, conditions=(*REGION, "d**3*(d*ell) >= n**2*epsilon**2"), let=T8
)

LEMMA_7 = inequality(
    "(4*Lg**2*Lh**2 + 2)*X + 4*Lf**2*(V + U) <= 4*LP**2*(X + V + U)",
    "Lg Lh Lf X V U",
    {"LP": "[sqrt(max(Lg**2*Lh**2 + 1/2, Lf**2)), inf)"},
)

STORM = identity(  # Lemma 8's recursion s' = x' + (1 - b)(s - x)
    "x1 + (1 - b)*(s - x0) - g1 == (1 - b)*(s - g0) + b*(x1 - g1) + (1 - b)*((x1 - x0) - (g1 - g0))",
    "x0 x1 g0 g1 s b",
)
