"""Probability statements about random objects, by simulation with an exact binomial confidence bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.special import betaincinv

from dpassay.proofs_check.claim import Claim, Finding, Verdict
from dpassay.proofs_check.formula import FormulaError, parse
from dpassay.proofs_check.region import SEED

CONFIDENCE = 1 - 1e-6  # per side and claim
TRIALS = 20_000
FEW = 6  # fewer sizes than that are a spot check
Sampler = Callable[[Mapping[str, int], int, np.random.Generator], Any]


def _gaussian_norm(p: Mapping[str, int], trials: int, rng: np.random.Generator) -> Any:
    return np.sqrt(rng.chisquare(p["d"], size=trials))


def _gaussian_max(p: Mapping[str, int], trials: int, rng: np.random.Generator) -> Any:
    return rng.standard_normal((trials, p["k"])).max(axis=1)


def _laplace_max(p: Mapping[str, int], trials: int, rng: np.random.Generator) -> Any:
    return np.abs(rng.laplace(size=(trials, p["k"]))).max(axis=1)


def _svt_slack(p: Mapping[str, int], trials: int, rng: np.random.Generator) -> Any:
    """max_i |Lap(4)| + |Lap(2)| in units of lambda * sensitivity."""
    return np.abs(rng.laplace(scale=4.0, size=(trials, p["k"]))).max(axis=1) + np.abs(
        rng.laplace(scale=2.0, size=trials)
    )


def _wigner_norm(p: Mapping[str, int], trials: int, rng: np.random.Generator) -> Any:
    d = p["d"]
    upper = np.triu(rng.standard_normal((trials, d, d)))
    return np.abs(np.linalg.eigvalsh(upper + np.triu(upper, 1).transpose(0, 2, 1))).max(axis=1)


def _sampled_mean(p: Mapping[str, int], trials: int, rng: np.random.Generator) -> Any:
    """|mean of a batch - mean of all| for +-1 records, batch m of n without replacement, in one of d coordinates."""
    heads = rng.hypergeometric(p["n"] // 2, p["n"] - p["n"] // 2, p["m"], size=trials)
    return np.abs(2 * heads / p["m"] - (2 * (p["n"] // 2) / p["n"] - 1) - 1)


SAMPLERS: dict[str, Sampler] = {
    "gaussian_norm": _gaussian_norm,
    "gaussian_max": _gaussian_max,
    "laplace_max": _laplace_max,
    "svt_slack": _svt_slack,
    "wigner_norm": _wigner_norm,
    "sampled_mean": _sampled_mean,
}


def check(claim: Claim) -> Finding:
    """Formula keys: ``sampler``, ``below`` (threshold), ``probability`` (lower bound of P(value <= below)),
    ``instances`` (numbers for every name used), optional ``trials``.
    """
    sampler = SAMPLERS.get(str(claim.formula["sampler"]))
    if sampler is None:
        raise FormulaError(f"sampler = {claim.formula['sampler']!r}: not one of {', '.join(SAMPLERS)}")
    rng = np.random.default_rng(SEED)
    trials = int(claim.formula.get("trials", TRIALS))
    worst, narrow = "", float("inf")
    for instance in claim.formula["instances"]:
        table = {name: parse(str(value), {}) for name, value in instance.items()}
        threshold = float(parse(claim.formula["below"], table))
        wanted = float(parse(str(claim.formula["probability"]), table))
        sizes = {k: int(v) for k, v in table.items() if v.is_Integer}
        hits = int(np.sum(sampler(sizes, trials, rng) <= threshold))
        low, high = clopper_pearson(hits, trials)
        at = ", ".join(f"{k} = {v}" for k, v in instance.items())
        told = f"at {at}: claimed P >= {wanted:.6g}, observed {hits}/{trials}, interval [{low:.6g}, {high:.6g}]"
        if high < wanted:
            return Finding(
                Verdict.REFUTED,
                f"{told} at confidence {CONFIDENCE}",
                dict(map(_text, instance.items())),
                trials,
            )
        if low - wanted < narrow:
            worst, narrow = told, low - wanted
    count = len(claim.formula["instances"])
    return Finding(
        Verdict.CHECKED if count >= FEW else Verdict.SPOT_CHECKED,
        f"not contradicted on {count} instances of {trials} trials; closest {worst}",
        points=count,
    )


def _text(item: tuple[str, Any]) -> tuple[str, str]:
    return item[0], str(item[1])


def clopper_pearson(hits: int, trials: int) -> tuple[float, float]:
    """Two-sided exact interval, each side at ``CONFIDENCE``."""
    level = 1 - CONFIDENCE
    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, level))
    high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1 - level))
    return low, high
