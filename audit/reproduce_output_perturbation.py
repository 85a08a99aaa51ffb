"""Reproduction of `output_perturbation`: private logistic regression and private AUC maximisation on real data.

The paper prints no experiments; this runs its algorithms end to end against the non-private optimum and the comparators
it names (reconstructed), all calibrated by exact accounting, plus the printed schedules as they stand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from dpassay.audit.reproduction import Options, Report, Table
from dpassay.reference.output_perturbation import (
    algorithm1,
    algorithm2,
    algorithm3,
    algorithm4,
    inexact_proximal,
    noisy_extragradient,
    noisy_gradient,
    phased_erm,
    strongly_concave,
)
from dpassay.reference.output_perturbation.budget import Budget
from dpassay.reference.output_perturbation.phases import (
    convex_concave_regulariser,
    convex_regulariser,
    convex_strongly_concave_regulariser,
)
from dpassay.reference.problems.auc import AUCLoss, auc
from dpassay.reference.problems.domains import Array, Ball
from dpassay.reference.problems.finite_sum import Convex, FiniteSum, Regulariser
from dpassay.reference.problems.real_data import breast_cancer, digits
from dpassay.reference.problems.strongly_convex import LogisticLoss, regularised
from dpassay.reference.solvers.exact import Exact
from dpassay.reference.solvers.extragradient import Extragradient
from dpassay.reference.tape import LiveTape

matplotlib.use("Agg")

RADIUS = 4.0  # ||x|| <= D in the logistic task
AUC_RADIUS = (1.0, 1.0)  # ||(w, a, b)|| and |alpha|
TUNED = 0.05  # regulariser of the strongly convex runs, fixed beforehand, not tuned on the data
Runner = Callable[[LiveTape], Array]


@dataclass(frozen=True)
class Method:
    """One line of a plot: builds a runner for a budget."""

    name: str
    build: Callable[[Budget], Runner]


def run(options: Options) -> Report:
    """Both tasks over a grid of epsilon; one table and one plot each."""
    epsilons = (0.5, 2.0) if options.quick else (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
    repetitions = options.runs or (3 if options.quick else 20)
    report = Report("output_perturbation", notes=list(NOTES))
    for task in (_logistic(), _ranking()):
        results = {
            method.name: [_repeat(method, task, e, options.seed, repetitions) for e in epsilons]
            for method in task.methods
        }
        report.tables.append(_table(task, epsilons, results))
        report.files.append(_plot(task, epsilons, results, options.output))
    return report


NOTES = (
    "All private methods are (epsilon, delta)-DP under replace-one with delta = 1/(10 n); the printed schedules spend "
    "less than that (see `dpassay audit`).",
    "Column ranges, the share of positives, radii and the regulariser 0.05 are treated as public.",
    "Comparators are reconstructions from their papers' descriptions; noise is calibrated by exact accounting.",
    "mean +- standard error over repeated runs on one data set; the score is on the training data.",
)


@dataclass(frozen=True)
class Task:
    """A data set, a score, and the methods compared on it."""

    key: str
    title: str
    size: int
    optimum: float
    score: Callable[[Array], float]
    methods: tuple[Method, ...]


def _logistic() -> Task:
    features, labels = digits()
    loss = LogisticLoss(features, labels)
    problem, n, d = Convex(loss, Ball(RADIUS)), loss.size, loss.primal
    strongly = regularised(loss, TUNED, RADIUS)

    def score(x: Array) -> float:
        return float(loss.values(x, np.arange(n)).mean())

    def mu(budget: Budget) -> float:
        return convex_regulariser(n, d, loss.lipschitz, RADIUS, budget)

    exact = Exact()(regularised(loss, 1e-4, RADIUS), 1e-5, np.random.default_rng(0))
    methods = (
        Method("Algorithm 1, printed", lambda b: _with(algorithm1, strongly, algorithm1.printed(strongly, b))),
        Method("Algorithm 1, repaired", lambda b: _with(algorithm1, strongly, _data_slope(strongly, b))),
        Method("Algorithm 2, printed", lambda b: _with(algorithm2, problem, algorithm2.printed(problem, b, mu(b)))),
        Method("Algorithm 2, repaired", lambda b: _with(algorithm2, problem, algorithm2.repaired(problem, b, mu(b)))),
        Method("phased ERM", lambda b: _with(phased_erm, problem, phased_erm.reconstructed(problem, b, RADIUS))),
        Method("noisy SGD", lambda b: _with(noisy_gradient, problem, noisy_gradient.reconstructed(problem, b, RADIUS))),
    )
    title = f"Private logistic regression, digits (n = {n}, d = {d}): mean loss"
    return Task("logistic", title, n, score(exact.point), score, methods)


def _data_slope(problem: FiniteSum, budget: Budget) -> algorithm1.Schedule:
    """Repaired Algorithm 1 with L of the data part, as Lemma 3.5 allows."""
    return algorithm1.repaired(problem, budget, lipschitz=problem.loss.lipschitz)


def _ranking() -> Task:
    features, labels = breast_cancer()
    loss = AUCLoss(features, labels, float((labels > 0).mean()), *AUC_RADIUS)
    problem, n, d = Convex(loss, *loss.domains), loss.size, loss.primal
    saddle = FiniteSum(loss, Regulariser(TUNED, TUNED), *loss.domains)
    diameter = max(AUC_RADIUS)

    def score(z: Array) -> float:
        return auc(z[: features.shape[1]], features, labels)

    def scalar(rule: Any, budget: Budget) -> float:
        return float(rule(n, d, loss.lipschitz, diameter, budget))

    def jointly(budget: Budget) -> Runner:
        return _with(algorithm3, saddle, algorithm3.repaired(saddle, budget, lipschitz=loss.lipschitz))

    def primal(budget: Budget) -> Runner:
        mu = scalar(convex_concave_regulariser, budget)
        return _with(algorithm4, problem, algorithm4.repaired(problem, budget, mu))

    def curved(budget: Budget) -> Runner:
        mu = scalar(convex_strongly_concave_regulariser, budget)
        return _with(strongly_concave, problem, strongly_concave.repaired(problem, budget, mu))

    def against(module: Any) -> Callable[[Budget], Runner]:
        return lambda budget: _with(module, problem, module.reconstructed(problem, budget, diameter))

    nearly_free = FiniteSum(loss, Regulariser(1e-2, 1e-2), *loss.domains)
    exact = Extragradient()(nearly_free, 1e-4, np.random.default_rng(0))
    methods = (
        Method("Algorithm 3, printed", lambda b: _with(algorithm3, saddle, algorithm3.printed(saddle, b))),
        Method("Algorithm 3, repaired", jointly),
        Method("Algorithm 4, repaired (x only)", primal),
        Method("Section 4.3, repaired (x only)", curved),
        Method("DP-SGDA", against(noisy_gradient)),
        Method("NSEG", against(noisy_extragradient)),
        Method("NISPP", against(inexact_proximal)),
    )
    title = f"Private AUC maximisation, breast cancer (n = {n}, d = {d}): AUC"
    return Task("auc", title, n, score(exact.point), score, methods)


def _with(module: Any, problem: Any, schedule: Any) -> Runner:
    return lambda tape: module.run(problem, schedule, tape)


def _repeat(method: Method, task: Task, epsilon: float, seed: int, repetitions: int) -> tuple[float, float]:
    """Mean score and its standard error."""
    runner = method.build(Budget(epsilon, 1 / (10 * task.size)))
    scores = [task.score(runner(LiveTape(np.random.SeedSequence([seed, k])))) for k in range(repetitions)]
    return float(np.mean(scores)), float(np.std(scores) / np.sqrt(len(scores)))


def _table(task: Task, epsilons: tuple[float, ...], results: dict[str, list[tuple[float, float]]]) -> Table:
    columns = ("method", *(f"epsilon {e:g}" for e in epsilons))
    rows = [(name, *(f"{mean:.3f}±{error:.3f}" for mean, error in cells)) for name, cells in results.items()]
    rows.append(("not private", *(f"{task.optimum:.3f}" for _ in epsilons)))
    return Table(task.title, columns, rows)


def _plot(
    task: Task, epsilons: tuple[float, ...], results: dict[str, list[tuple[float, float]]], folder: Path
) -> Path:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 5))
    axes = figure.subplots()
    for name, cells in results.items():
        means, errors = np.array(cells).T
        axes.errorbar(epsilons, means, yerr=errors, marker="o", markersize=3, capsize=2, label=name)
    axes.axhline(task.optimum, color="black", linestyle="--", label="not private")
    axes.set_xscale("log")
    axes.set_xlabel("epsilon")
    axes.set_title(task.title, fontsize=10)
    axes.legend(fontsize=8)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"output_perturbation_{task.key}.svg"
    figure.savefig(path, bbox_inches="tight")
    return path
