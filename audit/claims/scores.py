"""What ``dpassay scores`` says of attack scores: bound of epsilon, test of the claimed curve, power."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np

from dpassay.audit.evidence.curves import refute_curve
from dpassay.audit.results import Sound, SoundBound, Verdict, decide
from dpassay.audit.scores.files import read_canaries, read_scores
from dpassay.audit.scores.labels import epsilon_labels
from dpassay.audit.scores.one_run import epsilon_one_run, one_run_curve
from dpassay.audit.scores.power import Power, shown_power
from dpassay.reference.arrays import Array
from dpassay.reference.errors import BadInput, require

from .claimed import Claim

Judge = Callable[[Array, Array, np.random.Generator], list[Sound]]
STREAM = 59  # the audit's own: scores may have been drawn from the plain seed, and must not decide their own order
SURE = 4.0  # standard errors: one in thirty thousand pairs of equal laws gets the hint
BOUND_SHARE = 0.5  # of the level when a bound and a test of the claim decide together


def hints(p: Array, q: Array, one_run: bool) -> list[str]:
    """What is plainly amiss with the scores."""
    if not (p.size and q.size):
        return []
    if np.unique(np.concatenate([p, q])).size == 1:
        return ["All scores are equal: they say nothing."]
    if np.array_equal(np.sort(p), np.sort(q)):
        return ["Both sides have the same scores: was one file given twice?"]
    if one_run:
        said = "Included canaries have the lower scores: are these losses? Higher ones must speak for 'in'; negate them"
        return [f"{said}."] if float(np.median(q)) < float(np.median(p)) else []
    ordered = np.sort(p)
    above = np.searchsorted(ordered, q) + np.searchsorted(ordered, q, "right")  # ties by half
    auc = float(above.mean() / (2 * p.size))
    error = np.sqrt((p.size + q.size + 1) / (12 * p.size * q.size))  # of equal laws (Mann and Whitney 1947)
    said = f"Scores on D' tend to be the lower ones (AUC {auc:.3f}): are these losses, or the files swapped?"
    return [f"{said} Both directions are read, so the bound is the same."] if auc < 0.5 - SURE * error else []


def shown_by(bound: Sound) -> list[str]:
    """Which scores show a bound, for a person: how many, from which end, how many guesses of their side are wrong."""
    seen = bound.evidence
    if not isinstance(bound, SoundBound) or bound.epsilon <= 0:
        return []
    if "event" in seen:
        on_d, on_e = cast(tuple[int, int], seen["hits"])
        return [f"Shown by: {seen['event']}, {on_d:,} on D and {on_e:,} on D' of those that judged."]
    words = str(seen.get("by", ""))
    if "guesses" not in seen:
        return [f"Shown by: the most extreme scores, {words}."] if words else []
    made = cast(int, seen["guesses"])
    wrong = cast(int, seen["wrong"]) if "wrong" in seen else made - cast(int, seen["correct"])
    end = str(seen.get("end", "both ends"))
    where = words or f"guessed at {end if end == 'both ends' else f'the {end}'}"
    return [f"Shown by: {made:,} of the scores, {where}; {wrong:,} guesses are wrong."]


def both_sides(first: Path, second: Path | None, one_run: bool) -> tuple[Array, Array]:
    """Scores on D and on D', or of canaries that were left out and of those that were in."""
    if one_run:
        require(second is None, "second file", second, "--one-run reads one file of SCORE,COIN lines")
        values, coins = read_canaries(first)
        return values[~coins], values[coins]
    if second is None:
        raise BadInput("second file", None, "give the scores on D' too, or --one-run")
    return read_scores(first), read_scores(second)


def judge_scores(claim: Claim | None, delta: float, confidence: float, one_run: bool) -> Judge:
    """Bound of epsilon at delta and, with a claim, the joint test of its curve.

    ``one_run``: the two sides are the canaries of one run that were left out and those that were in.
    """
    each = 1 - (BOUND_SHARE if claim else 1.0) * (1 - confidence)
    bounded: Callable[..., SoundBound] = epsilon_one_run if one_run else epsilon_labels
    tested: Callable[..., Sound] = one_run_curve if one_run else refute_curve

    def judge(p: Array, q: Array, rng: np.random.Generator) -> list[Sound]:
        coins = np.arange(p.size + q.size) >= p.size
        sides = (np.concatenate([p, q]), coins) if one_run else (p, q)
        bound = bounded(*sides, delta, rng, each)
        if claim is None:
            return [bound]
        return [replace(bound, claimed=claim.epsilon), tested(*sides, claim.guarantee, rng, each)]

    return judge


def with_power(
    deciding: Sequence[Sound], claim: Claim, judge: Judge, sizes: tuple[int, int], seed: int
) -> tuple[list[Sound], str]:
    """What the same procedure would have seen with an ideal attack: as evidence of the last result, and in words."""

    def refuted(p: Array, q: Array, rng: np.random.Generator) -> bool:
        return decide(judge(p, q, rng)) is Verdict.VIOLATED

    found: list[Power] = [shown_power(refuted, law, sizes, seed) for law in claim.worse()]
    evidence = {**deciding[-1].evidence, "power_if_the_attack_is_ideal": [one.evidence for one in found]}
    lines = [f"Power, were the attack ideal: {one.statement}." for one in found]
    lines += ["How good the attack behind these scores is, nobody knows: so this does not make the claim 'consistent'."]
    return [*deciding[:-1], replace(deciding[-1], evidence=evidence)], "\n".join(lines)
