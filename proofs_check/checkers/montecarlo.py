"""How large the norm of a random symmetric matrix is, by simulation with an exact binomial confidence bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import betaincinv

from dpassay.proofs_check.finding import Finding, Verdict
from dpassay.proofs_check.formula import parse
from dpassay.proofs_check.region import SEED

CONFIDENCE = 1 - 1e-6  # per side and claim
LEVEL = 1 - CONFIDENCE
FEW = 6  # fewer sizes than that are a spot check


def wigner_norm(d: int, trials: int, rng: np.random.Generator) -> Any:
    """Spectral norms of symmetric ``d`` by ``d`` matrices with standard Gaussian entries."""
    upper = np.triu(rng.standard_normal((trials, d, d)))
    return np.abs(np.linalg.eigvalsh(upper + np.triu(upper, 1).transpose(0, 2, 1))).max(axis=1)


def check(table: Mapping[str, Any]) -> Finding:
    """Keys: ``below`` (threshold), ``probability`` (lower bound of P(norm <= below)), ``instances`` (numbers
    for every name used, ``d`` among them), ``trials``.
    """
    rng, trials, instances = np.random.default_rng(SEED), int(table["trials"]), table["instances"]
    worst, narrow = "", float("inf")
    for instance in instances:
        numbers = {name: parse(str(value), {}) for name, value in instance.items()}
        threshold = float(parse(table["below"], numbers))
        wanted = float(parse(str(table["probability"]), numbers))
        hits = int(np.sum(wigner_norm(int(numbers["d"]), trials, rng) <= threshold))
        low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, LEVEL))  # Clopper and Pearson
        high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1 - LEVEL))
        at = ", ".join(f"{k} = {v}" for k, v in instance.items())
        told = f"at {at}: claimed P >= {wanted:.6g}, observed {hits}/{trials}, interval [{low:.6g}, {high:.6g}]"
        if high < wanted:
            where = {name: str(value) for name, value in instance.items()}
            return Finding(Verdict.REFUTED, f"{told} at confidence {CONFIDENCE}", where)
        if low - wanted < narrow:
            worst, narrow = told, low - wanted
    verdict = Verdict.CHECKED if len(instances) >= FEW else Verdict.SPOT_CHECKED
    evidence = f"not contradicted on {len(instances)} instances of {trials} trials; closest {worst}"
    return Finding(verdict, evidence)
