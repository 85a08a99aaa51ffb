"""``dpassay attack``: membership inference against a training algorithm, end to end."""

from typing import Annotated

import numpy as np
import typer

from dpassay.audit.attacks.estimators import DP_SGD, ESTIMATORS
from dpassay.audit.attacks.play import GRADIENT, GRADIENTS, MANY, ONE, RECORDS, STARTS, Plan, play_plan
from dpassay.audit.report.verdicts import print_results
from dpassay.audit.results import decide
from dpassay.audit.terminal.options import AsJson, Confidence, Seed
from dpassay.reference.errors import require

Trusted = Annotated[bool, typer.Option("--trusted", help="Read a .joblib file of --estimator, which may run any code.")]


def attack(
    estimator: Annotated[
        str,
        typer.Option(help=f"{DP_SGD}, MODULE:NAME that is or makes an estimator, a .joblib file, or of scikit-learn "
                     f"{', '.join(ESTIMATORS)}."),
    ] = DP_SGD,
    trusted: Trusted = False,
    data: Annotated[str, typer.Option(help="'breast cancer', 'digits' or FILE.csv (class last).")] = "breast cancer",
    candidates: Annotated[
        int | None,
        typer.Option(help="Records (or canaries) that join by a coin; 1: one record over many models.  [default: 200; "
                     "gradient canaries: 1000]", show_default=False),
    ] = None,
    models: Annotated[
        int | None,
        typer.Option(help="Models trained; of many candidates the first is attacked, the others are shadows.  "
                     "[default: 12; one candidate: 400]", show_default=False),
    ] = None,
    canaries: Annotated[
        list[str] | None,
        typer.Option(help=f"What the candidates are: {', '.join((*RECORDS, GRADIENTS))}.  [default: none]"),
    ] = None,
    initialisation: Annotated[
        str,
        typer.Option(help=f"{' or '.join(STARTS)} start of dp-sgd; crafted: all other records are learned already, the "
                     "one candidate is undecided."),
    ] = "usual",
    hidden: Annotated[
        int | None,
        typer.Option(help="Hidden units of dp-sgd's model, 0: softmax regression.  [default: 0; gradient canaries: 32]",
                     show_default=False),
    ] = None,
    noise_multiplier: Annotated[
        float | None, typer.Option(help="Noise multiplier of dp-sgd.  [default: 9]", show_default=False)
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(help="Claim about one candidate.  [default: what dp-sgd's noise gives; other estimators: none]",
                     show_default=False),
    ] = None,
    delta: Annotated[float, typer.Option(help="Where epsilon is bounded.")] = 1e-5,
    confidence: Confidence = 0.95,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Attack trained models: membership inference on many records or on one, or gradient canaries in one run.

    Each candidate is in the training set by its own fair coin, so every attack gives a sound lower bound of epsilon,
    whatever it uses. The area under its ROC curve is shown beside it: it decides nothing. Without canaries of gradients
    the trained model is all that is seen. Exit 1: the claim is refuted; without a claim nothing is decided.
    """
    kinds = canaries or ["none"]
    require(len(kinds) == 1, "--canaries", kinds, "one kind at a time: each kind has a relation and a claim of its own")
    plan = Plan(estimator, data, candidates, models, kinds[0], initialisation, hidden, noise_multiplier, epsilon, delta,
                trusted)  # fmt: skip
    results = play_plan(plan, np.random.default_rng(seed), confidence)
    overall = decide(results) if plan.claim else None
    print_results(results, overall, as_json, _note(plan, results[0].relation))
    raise typer.Exit(overall.exit_code if overall else 0)


def _note(plan: Plan, relation: str) -> str:
    """What was attacked, what was claimed about it, and for which relation."""
    what = {
        MANY: f"{plan.count} candidates, canaries: {plan.canaries}",
        ONE: f"one candidate, canaries: {plan.canaries}" + (", crafted start" if plan.crafted else ""),
        GRADIENT: f"{plan.units} hidden units, {plan.count} canaries, {plan.canaries}",
    }[plan.game]
    models = f"{plan.trained} model{'s' if plan.trained > 1 else ''}"
    where = f" (epsilon {plan.claimed:.3g} at delta {plan.delta:g})" if plan.claimed and plan.epsilon is None else ""
    claim = f"Claimed: {plan.claim.name}{where}" if plan.claim else "Nothing is claimed"
    return f"{plan.estimator} on {plan.data}: {models}, {what}. {claim} for '{relation}'."
