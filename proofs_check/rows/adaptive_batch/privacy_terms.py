"""adaptive_batch: names that the rows of privacy share."""

from __future__ import annotations

from dpassay.proofs_check.claim import Claim
from dpassay.proofs_check.rows.build import privacy, rows_of

row = rows_of("adaptive_batch")

TREE = {"epsilon": "(0, 1)", "delta": "(1/100000000, 1/100)", "S": "integer [2, 1000000]"}

ONE = [{"epsilon": "1", "delta": "1/100000", "S": "1024"}]

ESC = {"epsilon": "(0, 1]", "delta": "(0, 1/100)", "Gam": "[1, 10000]", "tau": "(0, 1000)"}

NODES = "ceil(log2(S))"

SIZES = {
    "b": "G*sqrt(d)/(epsilon*alpha) + G**2/alpha**2 + M*sqrt(d)/(rho*epsilon) + M**2/(rho*alpha)",
    "kappa": "max(alpha*sqrt(d)/epsilon, (B*G*M)**(1/3))",
}

ESCAPE = {  # Lemma 3.14: the larger weight of one record in H, from O_3's batch or an O_4's (b_t is slope times |g|)
    **SIZES,
    "slope": "max(sqrt(d)/(alpha*epsilon), kappa/alpha**2, rho*kappa/(M**2*alpha))",
    "s_H": "max(M/b, rho/(M*slope))",
    "s": "2*s_H*sqrt(alpha/rho)",
}

ESCAPE_REGION = {"epsilon": "(0, 1]", "delta": "(0, 1/100)", "alpha": "(0, 1)", "d": "[1, inf)", "c": "[1, 1000]"}

UNIT = {
    "B": "[1, 1]",
    "G": "[1, 1]",
    "M": "[1, 1]",
    "rho": "[1, 1]",
    **ESCAPE_REGION,
    "alpha": "(0, 1/10]",
    "c": "[1, 10]",
}


def escapes(noise: str, count: str, c: str, *sizes: tuple[str, str]) -> Claim:
    """Escape steps with Lemma 3.14's batches at B = G = M = rho = 1; c is Gamma's logarithms."""
    ones = {"epsilon": "1", "delta": "1/100000", "B": "1", "G": "1", "M": "1", "rho": "1", "c": c}
    return privacy(
        noise,
        "s",
        "epsilon",
        "delta",
        "",
        UNIT,
        count=count,
        let=ESCAPE,
        instances=[{**ones, "alpha": alpha, "d": d} for alpha, d in sizes],
        note="gamma = alpha; replace-one",
    )


ESCAPES_ALONE = privacy(
    "2*sqrt(Gam*tau*log(1/delta))/epsilon",
    "1",
    "epsilon",
    "delta",
    "",
    ESC,
    count="Gam*tau",
    instances=[{"epsilon": "1", "delta": "1/100000", "Gam": "100", "tau": "10"}],
    note="s_H Xi = 1",
)

ONE_ESCAPE = "c*M/sqrt(rho*alpha)"

SMALL_RHO = {  # B = G = M = 1, rho = alpha = 1/1000
    "epsilon": "1",
    "delta": "1/100000",
    "B": "1",
    "G": "1",
    "M": "1",
    "rho": "1/1000",
    "alpha": "1/1000",
    "d": "100000000",
    "c": "1",
}

LEMMA_314 = escapes(
    "2*log(1/delta)*alpha/sqrt(d)",
    ONE_ESCAPE,
    "10",
    ("1/10", "100"),
    ("1/100", "100"),
    ("1/100", "1000000"),
    ("1/1000", "1000000"),
)
