"""``dpassay scores``: audits of stored attack scores, whoever made them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from dpassay.audit.report.verdicts import print_results
from dpassay.audit.results import AuditResult, Sound, Verdict, decide
from dpassay.audit.scores.assumed import bayesian, gdp_fit
from dpassay.audit.scores.curve_claim import refute_curve
from dpassay.audit.scores.files import read_canaries, read_scores
from dpassay.audit.scores.labels import epsilon_labels
from dpassay.audit.scores.one_run import epsilon_one_run
from dpassay.audit.scores.one_run_claim import one_run_curve
from dpassay.audit.scores.power import Power, shown_power
from dpassay.audit.scores.thresholds import epsilon_simultaneous
from dpassay.reference.errors import BadInput, require
from dpassay.reference.types import Array

from .claimed import Claim, Delta, Epsilon, Mu, PairsFile, Sampled, read_claim

Judge = Callable[[Array, Array, np.random.Generator], list[Sound]]
MOST_CONFIDENCE = 1 - 1e-9  # what is left of the level beyond is rounding
STREAM = 59  # the audit's own: scores may have been drawn from the plain seed, and must not decide their own order
BOUND_SHARE = 0.5  # of the level when a bound and a test of the claim decide together


def scores(
    first: Annotated[Path, typer.Argument(help="Scores of runs on D; with --one-run: one line a canary, SCORE,COIN.")],
    second: Annotated[Path | None, typer.Argument(help="Scores of runs on D' (with the record).")] = None,
    epsilon: Epsilon = None,
    delta: Delta = 0.0,
    mu: Mu = None,
    sampled: Sampled = None,
    pairs: PairsFile = None,
    one_run: Annotated[
        bool, typer.Option("--one-run", help="One training run, each canary included by a coin.")
    ] = False,
    estimates: Annotated[bool, typer.Option("--estimates", help="Also print estimates under an assumption.")] = False,
    confidence: Annotated[float, typer.Option(help="Confidence of the verdict.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Seed of the random order in which scores are read.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Lower bounds of epsilon from attack scores, and a test of the claimed guarantee.

    Files: .npy (no pickles), .csv or .jsonl, one score each; infinite scores are allowed. Higher or lower scores may
    speak for the record, the audit finds out; but with --one-run higher ones must speak for included canaries (negate
    losses). With a claim, the level is halved between the bound of epsilon at --delta and the test of the whole claimed
    curve; without one, only bounds are printed. Where nothing is refuted, the power against mechanisms twice as bad is
    shown, for an ideal attack. Each file is for one look: bounds computed anew as scores are added hold one by one, not
    all together (use `dpassay sequential scores`). Exit 1: the claim is refuted.
    """
    require(0 < confidence <= MOST_CONFIDENCE, "--confidence", confidence, f"must lie in (0, {MOST_CONFIDENCE}]")
    require(seed >= 0, "--seed", seed, "must not be negative")
    claim, rng = read_claim(epsilon, delta, mu, sampled, pairs), np.random.default_rng([seed, STREAM])
    p, q = _both_sides(first, second, one_run)
    judge = (_judge_canaries if one_run else _judge_runs)(claim, delta, confidence)
    deciding: list[Sound] = judge(p, q, rng)
    more: list[AuditResult] = []
    if not one_run:
        more += [] if claim else [epsilon_simultaneous(p, q, delta, confidence)]
        more += _estimates(p, q, delta, confidence, rng) if estimates else []
    overall, note = None, "No claim was given, so nothing is decided; the bounds hold one by one, not jointly."
    if claim:
        overall, note = decide(deciding), ""
        if overall is Verdict.INCONCLUSIVE:
            deciding, note = _with_power(deciding, claim, judge, (p.size, q.size), seed)
    note = "\n".join([note, *_hints(p, q, one_run)]).strip()
    print_results([*deciding, *more], overall, as_json, note)
    raise typer.Exit(overall.exit_code if overall else 0)


def _hints(p: Array, q: Array, one_run: bool) -> list[str]:
    """What is plainly amiss with the scores."""
    if p.size and q.size and np.unique(np.concatenate([p, q])).size == 1:
        return ["All scores are equal: they say nothing."]
    if one_run and p.size and q.size and float(np.median(q)) < float(np.median(p)):
        return [
            "Included canaries have the lower scores: are these losses? Higher ones must speak for 'in'; negate them."
        ]
    return []


def _both_sides(first: Path, second: Path | None, one_run: bool) -> tuple[Array, Array]:
    """Scores on D and on D', or of canaries that were left out and of those that were in."""
    if one_run:
        require(second is None, "second file", second, "--one-run reads one file of SCORE,COIN lines")
        values, coins = read_canaries(first)
        return values[~coins], values[coins]
    if second is None:
        raise BadInput("second file", None, "give the scores on D' too, or --one-run")
    return read_scores(first), read_scores(second)


def _judge_runs(claim: Claim | None, delta: float, confidence: float) -> Judge:
    """Bound of epsilon at delta and, with a claim, the joint test of its curve."""
    each = 1 - (BOUND_SHARE if claim else 1.0) * (1 - confidence)

    def judge(p: Array, q: Array, rng: np.random.Generator) -> list[Sound]:
        bound = epsilon_labels(p, q, delta, rng, each)
        if claim is None:
            return [bound]
        return [replace(bound, claimed=claim.epsilon), refute_curve(p, q, claim.guarantee, rng, each)]

    return judge


def _judge_canaries(claim: Claim | None, delta: float, confidence: float) -> Judge:
    """The same from one run, out-canaries and in-canaries."""
    each = 1 - (BOUND_SHARE if claim else 1.0) * (1 - confidence)

    def judge(out: Array, inside: Array, rng: np.random.Generator) -> list[Sound]:
        values, coins = np.concatenate([out, inside]), np.arange(out.size + inside.size) >= out.size
        bound = epsilon_one_run(values, coins, delta, rng, each)
        if claim is None:
            return [bound]
        return [replace(bound, claimed=claim.epsilon), one_run_curve(values, coins, claim.guarantee, rng, each)]

    return judge


def _with_power(
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


def _estimates(p: Array, q: Array, delta: float, confidence: float, rng: np.random.Generator) -> list[AuditResult]:
    found: list[AuditResult] = [bayesian(p, q, delta, rng, confidence)]
    return [*found, gdp_fit(p, q, delta, rng, confidence)] if delta > 0 else found
