"""``dpassay scores``: audits of stored attack scores, whoever made them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from dpassay.audit.claimed import Delta, Epsilon, Mu, PairsFile, Sampled, claimed_at, claimed_curve
from dpassay.audit.report.results import exit_code, print_results
from dpassay.audit.results import AuditResult, Sound, decide
from dpassay.audit.scores.assumed import bayesian, gdp_fit
from dpassay.audit.scores.curve_test import refute_curve
from dpassay.audit.scores.files import read_canaries, read_scores
from dpassay.audit.scores.labels import epsilon_labels
from dpassay.audit.scores.one_run import epsilon_one_run, one_run_curve
from dpassay.audit.scores.thresholds import epsilon_simultaneous
from dpassay.reference.errors import BadInput, require

Floats = NDArray[np.float64]
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
    seed: Annotated[int, typer.Option(help="Of the random order in which scores are read.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Lower bounds of epsilon from attack scores, and a test of the claimed guarantee.

    Files: .npy (no pickles), .csv or .jsonl, one score each; infinite scores are allowed. Higher or lower scores may
    speak for the record, the audit finds out. With a claim, the level is halved between the bound of epsilon at --delta
    and the test of the whole claimed curve; without one, only bounds are printed. Exit 1: the claim is refuted.
    """
    require(0 < confidence < 1, "--confidence", confidence, "must lie in (0, 1)")
    require(seed >= 0, "--seed", seed, "must not be negative")
    claim = claimed_curve(epsilon, delta, mu, sampled, pairs)
    claimed = epsilon if epsilon is not None else claimed_at(claim, delta) if claim else None
    rng = np.random.default_rng(seed)
    each = 1 - (BOUND_SHARE if claim else 1.0) * (1 - confidence)
    more: list[AuditResult] = []
    if one_run:
        require(second is None, "second file", second, "--one-run reads one file of SCORE,COIN lines")
        values, coins = read_canaries(first)
        deciding: list[Sound] = [replace(epsilon_one_run(values, coins, delta, rng, each), claimed=claimed)]
        deciding += [one_run_curve(values, coins, claim, rng, each)] if claim else []
    else:
        if second is None:
            raise BadInput("second file", None, "give the scores on D' too, or --one-run")
        p, q = read_scores(first), read_scores(second)
        deciding = [replace(epsilon_labels(p, q, delta, rng, each), claimed=claimed)]
        deciding += [refute_curve(p, q, claim, rng, each)] if claim else []
        more += [] if claim else [epsilon_simultaneous(p, q, delta, confidence)]
        more += _estimates(p, q, delta, confidence, rng) if estimates else []
    overall = decide(deciding) if claim else None
    note = "" if claim else "No claim was given, so nothing is decided; the bounds hold one by one, not jointly."
    print_results([*deciding, *more], overall, as_json, note)
    raise typer.Exit(exit_code(overall) if overall else 0)


def _estimates(p: Floats, q: Floats, delta: float, confidence: float, rng: np.random.Generator) -> list[AuditResult]:
    found: list[AuditResult] = [bayesian(p, q, delta, rng, confidence)]
    return [*found, gdp_fit(p, q, delta, rng, confidence)] if delta > 0 else found
