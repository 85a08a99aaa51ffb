"""Test of a claimed trade-off curve from a single run with many canaries: the f-DP recursion on guesses.

The recursion (`evidence/fdp.py`) needs numbers of guesses that are fixed beforehand; the claim suggests one.
"""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from dpassay.audit.evidence.fdp import fdp_p_value
from dpassay.audit.results import ClaimTest
from dpassay.reference.errors import BadInput
from dpassay.reference.guarantee import Guarantee

from .one_run import RELATION, Canaries, check_canaries, plans

SHARES = tuple(math.exp2(-k / 2) for k in range(25))  # of the canaries that may be guessed: 1 to 1 / 4096
FEWEST = 8  # guesses must be made, or a share is not looked at
MANY_GUESSES = 30_000  # are enough where one claim is tested
FEW_GUESSES = 3_000  # are enough for a comparison: the recursion takes them one by one


def telling_share(curve: Guarantee, canaries: int) -> float:
    """The share of canaries to guess against a claimed curve, from the claim alone.

    If scores were the best that the claim allows, and their log odds half as large again: where is the p-value least?
    """
    false = np.geomspace(1e-9, 0.5, 400)  # canaries left out, among the guesses at one end
    true = 1 - curve.trade_off(false)
    best, least = 1.0, math.inf
    for share in (one for one in SHARES if one * canaries >= FEWEST):
        rate = float(expit(1.5 * logit(np.interp(share, false + true, true / (false + true)))))
        guesses = int(min(share * canaries, FEW_GUESSES))
        p_value = fdp_p_value(curve, int(guesses / share), guesses, int(rate * guesses), steps=8)
        if p_value < least:
            best, least = share, p_value
    return best


def one_run_curve(
    scores: ArrayLike,
    included: ArrayLike,
    curve: Guarantee,
    rng: np.random.Generator,
    confidence: float = 0.95,
    guesses: int | None = None,
) -> ClaimTest:
    """Test a claimed trade-off curve on one run; arguments as in `epsilon_one_run`.

    Args:
        guesses: most of the level is for so many, made at both ends; None: as many as the claim suggests.
    """
    start = time.perf_counter()
    values, coins = check_canaries(scores, included, rng)
    if values.size < 2:
        raise BadInput("scores", f"{values.size} canary", "a test of a curve needs at least two")
    if guesses is not None and not 2 <= guesses <= values.size:
        raise BadInput("guesses", guesses, f"must lie in 2..{values.size}, the number of canaries")
    share = telling_share(curve, values.size) if guesses is None else guesses / values.size
    order, found = rng.permutation(values.size), []
    for plan in plans(share):
        used = order[: max(2, int(MANY_GUESSES / plan.share))]
        canaries = Canaries.of(values[used], coins[used])
        made, right = plan.guess(canaries, rng)
        p_value = fdp_p_value(curve, canaries.count, made, right) / plan.level
        found.append((p_value, {"used": canaries.count, "guesses": made, "correct": right, "end": plan.end}))
    p_value, evidence = min(found, key=lambda one: one[0])
    return ClaimTest(
        claim=curve.name,
        p_value=min(1.0, p_value),
        confidence=confidence,
        method="one run, f-DP recursion",
        relation=RELATION,
        runs=1,
        seconds=time.perf_counter() - start,
        evidence={"canaries": values.size, **evidence},
    )
