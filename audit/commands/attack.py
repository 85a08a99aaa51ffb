"""``dpassay attack``: membership inference against a training algorithm, end to end."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
import typer

from dpassay.audit.attacks.canaries import mislabelled, out_of_distribution
from dpassay.audit.attacks.estimators import DP_SGD, dp_sgd_epsilon, labelled_data, trainer_named
from dpassay.audit.attacks.game import Game, one_run_bound, play
from dpassay.audit.attacks.membership import ATTACKS, auc
from dpassay.audit.report.results import exit_code, print_results
from dpassay.audit.results import AuditResult, SoundBound, decide
from dpassay.reference.errors import require

CANARIES = ("none", "mislabelled", "out of distribution")


def attack(
    estimator: Annotated[str, typer.Option(help=f"A scikit-learn class name of a closed list, or {DP_SGD}.")] = DP_SGD,
    data: Annotated[str, typer.Option(help="'breast cancer', 'digits' or FILE.csv (class last).")] = "breast cancer",
    candidates: Annotated[int, typer.Option(help="Records that join each training set by a coin.")] = 200,
    models: Annotated[int, typer.Option(help="Models trained: the first is attacked, the others are shadows.")] = 12,
    canaries: Annotated[
        str, typer.Option(help=f"Candidates that are easy to see, beside ordinary records: {', '.join(CANARIES)}.")
    ] = "none",
    noise_multiplier: Annotated[float, typer.Option(help="Of dp-sgd: noise on the sum over the clip.")] = 9.0,
    epsilon: Annotated[float | None, typer.Option(help="Claim about one record; default for dp-sgd: its own.")] = None,
    delta: Annotated[float, typer.Option(help="Where epsilon is bounded.")] = 1e-5,
    confidence: Annotated[float, typer.Option(help="Of the verdict; the attacks share the level.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Of coins, training and attacks.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Loss threshold, LiRA (on-line, off-line), RMIA and a classifier against one trained model.

    Each candidate is in the training set by its own fair coin, so every attack gives a sound lower bound of epsilon
    from one trained model, whatever it uses. The area under its ROC curve is shown beside it: it decides nothing.
    Exit 1: the claim is refuted; without a claim nothing is decided.
    """
    require(10 <= candidates <= 10**6, "--candidates", candidates, "must lie in 10..1e6")
    require(3 <= models <= 10**4, "--models", models, "must lie in 3..10000")
    require(canaries in CANARIES, "--canaries", canaries, f"must be one of {', '.join(CANARIES)}")
    require(0 <= delta < 1, "--delta", delta, "must lie in [0, 1)")
    require(0 < confidence < 1, "--confidence", confidence, "must lie in (0, 1)")
    require(seed >= 0, "--seed", seed, "must not be negative")
    if estimator == DP_SGD and epsilon is None and delta > 0:
        require(noise_multiplier > 0, "--noise-multiplier", noise_multiplier, "must be positive")
        epsilon = dp_sgd_epsilon(noise_multiplier, delta)
    rng = np.random.default_rng(seed)
    game = _game(estimator, data, candidates, models, canaries, noise_multiplier, rng)
    each = 1 - (1 - confidence) / len(ATTACKS)
    results: list[SoundBound] = []
    for name, score in ATTACKS.items():
        start = time.perf_counter()
        scores = score(game, 0, rng)
        bound = one_run_bound(game, 0, scores, delta, rng, each)
        area = auc(scores, game.member[0])
        seconds = time.perf_counter() - start
        evidence: dict[str, Any] = {**bound.evidence, "auc": area}
        label = f"{name} (AUC {area:.3f})"
        results.append(replace(bound, claimed=epsilon, method=label, seconds=seconds, evidence=evidence))
    overall = decide(results) if epsilon is not None else None
    claim = f"claimed epsilon {epsilon:.3g}" if epsilon is not None else "no claim"
    shown: list[AuditResult] = list(results)
    note = f"{estimator} on {data}: {models} models, {candidates} candidates, canaries: {canaries}; {claim}."
    print_results(shown, overall, as_json, note)
    raise typer.Exit(exit_code(overall) if overall else 0)


def _game(
    estimator: str, data: str, candidates: int, models: int, canaries: str, noise: float, rng: np.random.Generator
) -> Game:
    """Train all models. Records that are no candidates are the population; canaries join half of those."""
    x, y = labelled_data(data)
    require(len(x) >= candidates + 10, "--candidates", candidates, f"the data have {len(x)} records; leave 10 or more")
    classes = int(y.max()) + 1
    trainer = trainer_named(estimator, classes, x.shape[1], noise)
    order = rng.permutation(len(x))
    x, y = x[order], y[order]
    fixed = candidates + ((len(x) - candidates) // 2 if canaries != "none" else 0)
    always, population = (x[candidates:fixed], y[candidates:fixed]), (x[fixed:], y[fixed:])
    mine, labels = x[:candidates], y[:candidates]
    if canaries == "mislabelled":
        labels = mislabelled(labels, classes, rng)
    elif canaries == "out of distribution":
        mine, labels = out_of_distribution(x, candidates, classes, rng)
    return play(trainer, mine, labels, models, rng, always, population)
