"""The three games of an attack: many records, one record over many models, gradient canaries in one run.

Many records: each joins each training set by a coin, five attacks on one model, the others are shadows. One record: one
coin per model, the plain loss over many models. Gradient canaries: one training run, a coin for each canary's gradient.

What is asked is checked as a whole: what makes no sense together is refused, nothing is ignored.
"""

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from dpassay.audit.evidence.curves import refute_curve
from dpassay.audit.results import Sound
from dpassay.audit.scores.labels import epsilon_labels
from dpassay.audit.scores.one_run import epsilon_one_run, one_run_curve
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.arrays import Array, Bools, Indices
from dpassay.reference.baselines import dp_sgd
from dpassay.reference.blocks.clipping import clip_rows
from dpassay.reference.errors import require
from dpassay.reference.guarantee import Guarantee, approx_dp, gdp
from dpassay.reference.problems.models import ClassificationLoss, SoftmaxRegression, TwoLayerNetwork
from dpassay.reference.tape import LiveTape

from . import estimators
from .estimators import DP_SGD
from .game import ATTACKS, auc, crafted_softmax, gradient_canaries, loss_threshold, mislabelled, play

RECORDS = ("none", "mislabelled")
GRADIENTS = "gradient orthogonal"  # canaries
STARTS = ("usual", "crafted")
MANY, ONE, GRADIENT = "many records", "one record", "gradient canaries"  # the three games
CANDIDATES = {  # least, most, and how to say it
    MANY: (10, 10**6, "must be 1, or lie in 10..1e6"),
    ONE: (1, 1, ""),
    GRADIENT: (20, 10**5, "of gradient canaries must lie in 20..1e5"),
}
USUAL = {MANY: (200, 12, 0), ONE: (1, 400, 0), GRADIENT: (1000, 1, 32)}  # candidates, models, hidden units unless told


@dataclass(frozen=True)
class Plan:
    """What the user asked for; None where the default depends on the rest."""

    estimator: str = DP_SGD
    data: str = "breast cancer"
    candidates: int | None = None
    models: int | None = None
    canaries: str = "none"
    initialisation: str = "usual"
    hidden: int | None = None
    noise_multiplier: float | None = None
    epsilon: float | None = None
    delta: float = 1e-5
    trusted: bool = False  # a file that may run any code is read

    def __post_init__(self) -> None:
        """Refuse what makes no sense together."""
        kinds = (*RECORDS, GRADIENTS)
        require(self.canaries in kinds, "--canaries", self.canaries, f"must be one of {', '.join(kinds)}")
        starts = f"must be {' or '.join(STARTS)}"
        require(self.initialisation in STARTS, "--initialisation", self.initialisation, starts)
        require(0 <= self.delta < 1, "--delta", self.delta, "must lie in [0, 1)")
        good = self.epsilon is None or 0 <= self.epsilon < math.inf
        require(good, "--epsilon", self.epsilon, "must be finite and not negative")
        require(self.hidden is None or 0 <= self.hidden <= 4096, "--hidden", self.hidden, "must lie in 0..4096")
        if self.estimator == DP_SGD:
            estimators.dp_sgd_schedule(self.noise)
        else:
            estimators.trainer_named(self.estimator, 2, self.trusted)
            for option, value in (("--noise-multiplier", self.noise_multiplier), ("--hidden", self.hidden)):
                require(value is None, option, value, f"belongs to {DP_SGD}, not to {self.estimator}")
            why = f"{self.estimator} shows no gradients, {DP_SGD} does"
            require(self.game != GRADIENT, "--canaries", self.canaries, why)
            require(not self.crafted, "--initialisation", "crafted", f"only {DP_SGD} can be told where to start")
        least, most, limits = CANDIDATES[self.game]
        require(least <= self.count <= most, "--candidates", self.candidates, limits)
        if self.game == GRADIENT:
            require(self.models is None, "--models", self.models, "gradient canaries sit in one run: leave it out")
            why = "changes nothing for gradient canaries, whose gradients are the same from any start: leave it out"
            require(not self.crafted, "--initialisation", "crafted", why)
        elif self.game == ONE:
            why = "of one candidate must lie in 50..1e5"
            require(50 <= self.trained <= 10**5, "--models", self.models, why)
            good = not (self.crafted and self.units)
            require(good, "--hidden", self.hidden, "must be 0 for a crafted initialisation")
        else:
            require(3 <= self.trained <= 10**4, "--models", self.models, "must lie in 3..10000")
            why = "is made for one canary, no start suits many: add --candidates 1"
            require(not self.crafted, "--initialisation", "crafted", why)

    @property
    def game(self) -> str:
        """Which of the three games is played."""
        return GRADIENT if self.canaries == GRADIENTS else ONE if self.candidates == 1 else MANY

    @property
    def crafted(self) -> bool:
        """Does training begin where the canary shows best?"""
        return self.initialisation == "crafted"

    @property
    def count(self) -> int:
        """Candidates, or canaries."""
        return USUAL[self.game][0] if self.candidates is None else self.candidates

    @property
    def trained(self) -> int:
        """Models that are trained."""
        return USUAL[self.game][1] if self.models is None else self.models

    @property
    def noise(self) -> float:
        """The noise multiplier of dp-sgd."""
        return 9.0 if self.noise_multiplier is None else self.noise_multiplier

    @property
    def units(self) -> int:
        """Hidden units of dp-sgd's model."""
        return USUAL[self.game][2] if self.hidden is None else self.hidden

    @property
    def relation(self) -> str:
        """Of the two training sets that are told apart; n of dp-sgd is public."""
        if self.game == GRADIENT:
            return "a canary's gradient or zero"
        return "a record or a zero gradient" if self.estimator == DP_SGD else "add or remove one record"

    @property
    def claim(self) -> Guarantee | None:
        """What is audited: the claimed epsilon at delta, or what dp-sgd's accounting says; None: nothing."""
        if self.epsilon is not None:
            return approx_dp(self.epsilon, self.delta)
        return gdp(estimators.dp_sgd_mu(self.noise)) if self.estimator == DP_SGD else None

    @property
    def claimed(self) -> float | None:
        """The claim's epsilon at delta, where it has one."""
        if self.epsilon is None and self.estimator == DP_SGD and self.delta > 0:
            return gdp_epsilon(estimators.dp_sgd_mu(self.noise), self.delta)
        return self.epsilon


TEST_SHARE = 0.9  # of the level for the test of the claim with gradient canaries, the rest for the bound


def play_plan(plan: Plan, rng: np.random.Generator, confidence: float) -> list[Sound]:
    """Bounds and tests that share the level 1 - confidence.

    Training that stops before it converges is attacked as it is, so each model's warning of that is left out.
    """
    x, y = estimators.labelled_data(plan.data)
    order = rng.permutation(len(x))
    games = {MANY: _many_records, ONE: _one_record, GRADIENT: _gradient_canaries}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return games[plan.game](plan, x[order], y[order], rng, confidence)


def _model(plan: Plan, features: int, classes: int, rng: np.random.Generator) -> tuple[Any, Array]:
    """The model of dp-sgd and its usual start."""
    if not plan.units:
        softmax = SoftmaxRegression(features, classes)
        return softmax, softmax.initial(rng)
    network = TwoLayerNetwork(features, plan.units, classes)
    return network, network.initial(rng)


def _trainer(
    plan: Plan, features: int, classes: int, size: int, rng: np.random.Generator, start: Array | None = None
) -> estimators.Trainer:
    """The training algorithm; n of dp-sgd is the public `size`, and it begins at `start` (None: as usual)."""
    if plan.estimator != DP_SGD:
        return estimators.trainer_named(plan.estimator, classes, plan.trusted)
    model, usual = _model(plan, features, classes, rng)
    return estimators.dp_sgd_trainer(
        model, estimators.dp_sgd_schedule(plan.noise), size, usual if start is None else start
    )


def _visible(plan: Plan, x: Array, y: Indices, classes: int, rng: np.random.Generator) -> tuple[Array, Indices]:
    """The candidates: ordinary records of all records (x, y), or canaries in their place."""
    labels = y[: plan.count]
    return x[: plan.count], mislabelled(labels, classes, rng) if plan.canaries == "mislabelled" else labels


def _many_records(plan: Plan, x: Array, y: Indices, rng: np.random.Generator, confidence: float) -> list[Sound]:
    """Five attacks, a fifth of the level each. Canaries join half of the records that are no candidates."""
    count = plan.count
    require(len(x) >= count + 10, "--candidates", count, f"the data have {len(x)} records; leave 10 or more")
    fixed = count + ((len(x) - count) // 2 if plan.canaries != "none" else 0)
    always, population = (x[count:fixed], y[count:fixed]), (x[fixed:], y[fixed:])
    classes = int(y.max()) + 1
    mine, labels = _visible(plan, x, y, classes, rng)
    trainer = _trainer(plan, x.shape[1], classes, fixed, rng)
    game = play(trainer, mine, labels, plan.trained, rng, always, population)
    each = 1 - (1 - confidence) / len(ATTACKS)
    results: list[Sound] = []
    for name, score in ATTACKS.items():
        start = time.perf_counter()
        scores = score(game, 0, rng)
        bound = replace(epsilon_one_run(scores, game.member[0], plan.delta, rng, each), method="", claimed=plan.claimed)
        results += _labelled([bound], name, plan, auc(scores, game.member[0]), start)
    return results


def _one_record(plan: Plan, x: Array, y: Indices, rng: np.random.Generator, confidence: float) -> list[Sound]:
    """The loss of one candidate over all models; all other records are always in."""
    start = time.perf_counter()
    classes = int(y.max()) + 1
    mine, labels = _visible(plan, x, y, classes, rng)
    crafted = crafted_softmax(x[1:], y[1:], classes, mine[0]) if plan.crafted else None
    trainer = _trainer(plan, x.shape[1], classes, len(x), rng, crafted)
    game = play(trainer, mine, labels, plan.trained, rng, (x[1:], y[1:]), (x[:10], y[:10]))
    scores = np.array([loss_threshold(game, k)[0] for k in range(len(game.member))])
    inside = game.member[:, 0]
    each = 1 - (1 - confidence) / 2 if plan.claim else confidence
    sides = scores[~inside], scores[inside]
    bound = replace(epsilon_labels(*sides, plan.delta, rng, each), claimed=plan.claimed)
    tests = [refute_curve(*sides, plan.claim, rng, each)] if plan.claim else []
    return _labelled([bound, *tests], "loss of one record", plan, auc(scores, inside), start)


def _gradient_canaries(plan: Plan, x: Array, y: Indices, rng: np.random.Generator, confidence: float) -> list[Sound]:
    """One run; test of the whole claim, and (nine to one) bound of epsilon, which sees less."""
    start, claim = time.perf_counter(), plan.claim
    assert claim is not None  # dp-sgd always claims something
    model, origin = _model(plan, x.shape[1], int(y.max()) + 1, rng)
    room = f"at most {model.d} canaries fit: one for each parameter (more with --hidden)"
    require(plan.count <= model.d, "--candidates", plan.count, room)
    schedule = estimators.dp_sgd_schedule(plan.noise)
    rows = gradient_canaries(plan.count, model.d, schedule.clip, rng)
    scores, coins = _gradient_game(ClassificationLoss(model, x, y), origin, schedule, rows, rng)
    test = one_run_curve(scores, coins, claim, rng, 1 - TEST_SHARE * (1 - confidence))
    bound = epsilon_one_run(scores, coins, plan.delta, rng, 1 - (1 - TEST_SHARE) * (1 - confidence))
    found: list[Sound] = [replace(bound, claimed=plan.claimed), test]
    return _labelled(found, "gradients, orthogonal", plan, auc(scores, coins), start)


def _gradient_game(
    loss: ClassificationLoss, start: Array, schedule: dp_sgd.Schedule, rows: Array, rng: np.random.Generator
) -> tuple[Array, Bools]:
    """One run with canaries by coin, zero gradients if it falls the other way: their scores, and the coins.

    The score is the inner product with the sum of all releases, less what that sum would be without canaries and noise:
    the auditor knows the iterates, hence the records' part, and any function of the releases is fair.
    """
    included = rng.random(len(rows)) < 0.5
    problem, tape = estimators.Samples(loss, start, rows * included[:, None]), LiveTape(int(rng.integers(2**31)))
    dp_sgd.run(problem, schedule, tape)
    releases = [np.asarray(release.value) for release in tape.transcript.releases]
    w, expected = np.zeros(loss.d), np.zeros(loss.d)
    for released in releases:
        expected += clip_rows(problem.gradients(w, np.arange(loss.n)), schedule.clip).sum(axis=0) / problem.n
        w = w - schedule.learning_rate * released
    return np.asarray(rows @ (np.sum(releases, axis=0) - expected)), included


def _labelled(found: Sequence[Sound], label: str, plan: Plan, area: float, start: float) -> list[Sound]:
    """Say in each result what was attacked, and how well the scores sort; the time is that of the game."""
    seconds = time.perf_counter() - start
    method = f"{label} (AUC {area:.3f})"
    return [
        replace(one, method=f"{method}: {one.method}" if one.method else method, relation=plan.relation,
                seconds=seconds, evidence={**one.evidence, "auc": area})
        for one in found
    ]  # fmt: skip
