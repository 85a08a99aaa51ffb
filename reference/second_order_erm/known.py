"""What the printed readings are known to show: in a sentence, and as the findings that an audit must see."""

from __future__ import annotations

from dpassay.reference.findings import Declared, Kind, declare, may_show

LEAK = "T and every noise scale are computed from f(w0) + |z|: private data, one-sided noise (eq. 6)"
SHARED = (
    "one batch serves the gradient and the Hessian (Section 3.3); eq. (29) adds their costs as if each had its own; "
    "elsewhere in its space T and the noise scales are private as in OPT-B (eq. 6)"
)
TOO_LITTLE = declare(Kind.VIOLATED, Kind.OVER_BUDGET)
SHARED_AND_LEAK = (*TOO_LITTLE, *may_show(Kind.EARLY_END, Kind.NOISE_SCALE))  # not every search comes to eq. (6)
SEARCHES = ("line search/gradient", "line search/curvature")


def leak(*scales: str, end: str) -> tuple[Declared, ...]:
    """The findings of LEAK: releases whose noise scale differs, and the call at which one side alone goes on."""
    must = [(Kind.EARLY_END, end), *((Kind.NOISE_SCALE, label) for label in scales)]
    return declare(Kind.VIOLATED, Kind.EARLY_END, Kind.NOISE_SCALE, *must)  # "every noise scale": at other labels, too
