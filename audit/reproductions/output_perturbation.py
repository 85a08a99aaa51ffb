"""Reproduction of `output_perturbation`: private logistic regression and private AUC maximisation on real data.

The paper prints no experiments; this runs its algorithms end to end against the non-private optimum and the comparators
it names (reconstructed), all calibrated by exact accounting, plus the printed schedules as they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib.figure import Figure

from dpassay.reference.arrays import Array
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
from dpassay.reference.output_perturbation.phases import (
    convex_concave_regulariser,
    convex_regulariser,
    convex_strongly_concave_regulariser,
)
from dpassay.reference.problems.auc import AUCLoss, auc
from dpassay.reference.problems.domains import Ball
from dpassay.reference.problems.finite_sum import Convex, FiniteSum, Regulariser
from dpassay.reference.problems.real_data import breast_cancer, digits
from dpassay.reference.problems.strongly_convex import LogisticLoss, regularised
from dpassay.reference.solvers.exact import Exact
from dpassay.reference.solvers.extragradient import Extragradient
from dpassay.reference.tape import LiveTape

from .report import Options, Report, Table, notes_of, saved

RADIUS = 4.0  # ||x|| <= D in the logistic task
AUC_RADIUS = (1.0, 1.0)  # ||(w, a, b)|| and |alpha|
TUNED = 0.05  # regulariser of the strongly convex runs, fixed beforehand, not tuned on the data
LOWER = 0.1  # share of the theorems' mu in the lines marked "mu/10", chosen in hindsight
HELD_OUT = 5  # every fifth record, after a public permutation
Runner = Callable[[LiveTape], Array]
Budget = tuple[float, float]  # epsilon, delta
Cell = tuple[float, float]  # mean, standard error
Results = dict[str, list[Cell]]  # of each method, for each epsilon
Panel = tuple[str, float, float, Results, Sequence[str]]  # score, without privacy, without knowledge, results, lines

NOTES = notes_of("output_perturbation")


@dataclass(frozen=True)
class Method:
    """One line of a plot: builds a runner for a budget."""

    name: str
    build: Callable[[Budget], Runner]
    line: Literal["--", "-", ":"] = "-"  # printed, repaired, a method to compare with


@dataclass(frozen=True)
class Measure:
    """A score of an output; `trivial` is what an output that knows nothing gets."""

    name: str
    of: Callable[[Array], float]
    trivial: float


@dataclass(frozen=True)
class Task:
    """A data set, scores, the non-private solution, and the methods compared on it."""

    key: str
    title: str
    size: int
    optimum: Array
    measures: tuple[Measure, ...]
    methods: tuple[Method, ...]


def run(options: Options) -> Report:
    """Both tasks over a grid of epsilon: a table per score and a plot per task."""
    epsilons = (0.5, 2.0) if options.quick else (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
    repetitions = options.runs or (3 if options.quick else 40)
    report = Report("output_perturbation", notes=list(NOTES))
    for task in (_logistic(), _ranking()):
        shown = options.track(task.methods, f"{task.key}: methods")
        cells = [
            [_repeat(method, task, e, options.seed, repetitions) for e in epsilons] for method in shown
        ]  # [method][epsilon][measure]
        panels = []
        for which, measure in enumerate(task.measures):
            results = {m.name: [cell[which] for cell in row] for m, row in zip(task.methods, cells, strict=True)}
            lines = [method.line for method in task.methods]
            optimum = measure.of(task.optimum)
            report.tables.append(_table(task, measure, optimum, epsilons, results))
            panels.append((measure.name, optimum, measure.trivial, results, lines))
        report.files.append(write_plot(task.key, task.title, epsilons, panels, options.output))
    return report


def _split(features: Array, labels: Array) -> tuple[Array, Array, Array, Array]:
    """Training and held-out records."""
    order = np.random.default_rng(0).permutation(len(labels))
    features, labels = features[order], labels[order]
    out = np.arange(len(labels)) % HELD_OUT == 0
    return features[~out], labels[~out], features[out], labels[out]


def _logistic() -> Task:
    features, labels, unseen, truth = _split(*digits())
    loss = LogisticLoss(features, labels)
    problem, n, d = Convex(loss, Ball(RADIUS)), loss.n, loss.d
    strongly = regularised(loss, TUNED, RADIUS)

    def training_loss(x: Array) -> float:
        return float(loss.values(x, np.arange(n)).mean())

    def accuracy(x: Array) -> float:
        return float((np.sign(unseen @ x) == truth).mean())

    phased = partial(_phased, problem, RADIUS, convex_regulariser)
    exact = Exact()(regularised(loss, 1e-4, RADIUS), 1e-5, np.random.default_rng(0))
    methods = (
        Method("Algorithm 1, printed", lambda b: _with(algorithm1, strongly, algorithm1.printed(strongly, *b)), "--"),
        Method("Algorithm 1, repaired", lambda b: _with(algorithm1, strongly, _data_slope(strongly, b))),
        Method("Algorithm 2, printed", phased(algorithm2, algorithm2.printed), "--"),
        Method("Algorithm 2, repaired", phased(algorithm2, algorithm2.repaired)),
        Method("Algorithm 2, repaired, mu/10", phased(algorithm2, algorithm2.repaired, LOWER)),
        Method("phased ERM", _against(problem, RADIUS, phased_erm), ":"),
        Method("noisy SGD", _against(problem, RADIUS, noisy_gradient), ":"),
    )
    majority = float(max((truth > 0).mean(), (truth < 0).mean()))
    measures = (
        Measure("mean loss on the training records", training_loss, float(np.log(2))),
        Measure("accuracy on held-out records", accuracy, majority),
    )
    title = f"Private logistic regression, digits odd against even (n = {n}, d = {d})"
    return Task("logistic", title, n, exact.point, measures, methods)


def _data_slope(problem: FiniteSum, budget: Budget) -> algorithm1.Schedule:
    """Repaired Algorithm 1 with L of the data part, as Lemma 3.5 allows."""
    return algorithm1.repaired(problem, *budget, lipschitz=problem.loss.lipschitz)


def _ranking() -> Task:
    features, labels, unseen, truth = _split(*breast_cancer())
    loss = AUCLoss(features, labels, float((labels > 0).mean()), *AUC_RADIUS)
    problem, n, d = Convex(loss, *loss.domains), loss.n, loss.d
    saddle = FiniteSum(loss, Regulariser(TUNED, TUNED), *loss.domains)
    diameter, columns = max(AUC_RADIUS), features.shape[1]

    def jointly(budget: Budget) -> Runner:
        return _with(algorithm3, saddle, algorithm3.repaired(saddle, *budget, lipschitz=loss.lipschitz))

    phased, against = partial(_phased, problem, diameter), partial(_against, problem, diameter)
    nearly_free = FiniteSum(loss, Regulariser(1e-2, 1e-2), *loss.domains)
    exact = Extragradient()(nearly_free, 1e-4, np.random.default_rng(0))
    curved = convex_strongly_concave_regulariser
    methods = (
        Method("Algorithm 3, printed", lambda b: _with(algorithm3, saddle, algorithm3.printed(saddle, *b)), "--"),
        Method("Algorithm 3, repaired", jointly),
        Method("Algorithm 4, repaired", phased(convex_concave_regulariser, algorithm4, algorithm4.repaired)),
        Method("Section 4.3, repaired", phased(curved, strongly_concave, strongly_concave.repaired)),
        Method("Section 4.3, repaired, mu/10", phased(curved, strongly_concave, strongly_concave.repaired, LOWER)),
        Method("DP-SGDA", against(noisy_gradient), ":"),
        Method("NSEG", against(noisy_extragradient), ":"),
        Method("NISPP", against(inexact_proximal), ":"),
    )
    measures = (
        Measure("AUC on the training records", lambda z: auc(z[:columns], features, labels), 0.5),
        Measure("AUC on held-out records", lambda z: auc(z[:columns], unseen, truth), 0.5),
    )
    title = f"Private AUC maximisation, breast cancer (n = {n}, d = {d})"
    return Task("auc", title, n, exact.point, measures, methods)


def _phased(
    problem: Convex, diameter: float, rule: Any, module: Any, schedule: Any, share: float = 1.0
) -> Callable[[Budget], Runner]:
    """In phases, with a share of the regulariser that a theorem asks for."""
    loss: Any = problem.loss

    def build(budget: Budget) -> Runner:
        mu = share * float(rule(loss.n, loss.d, loss.lipschitz, diameter, *budget))
        return _with(module, problem, schedule(problem, mu, *budget))

    return build


def _against(problem: Convex, diameter: float, module: Any) -> Callable[[Budget], Runner]:
    """A method to compare with."""
    return lambda budget: _with(module, problem, module.calibrated(problem, diameter, *budget))


def _with(module: Any, problem: Any, schedule: Any) -> Runner:
    return lambda tape: module.run(problem, schedule, tape)


def _repeat(method: Method, task: Task, epsilon: float, seed: int, repetitions: int) -> list[Cell]:
    """Mean and standard error of each score."""
    runner = method.build((epsilon, 1 / (10 * task.size)))
    outputs = [runner(LiveTape(np.random.SeedSequence([seed, k]))) for k in range(repetitions)]
    scores = np.array([[measure.of(output) for measure in task.measures] for output in outputs])
    errors = scores.std(axis=0) / np.sqrt(repetitions)
    return [(float(mean), float(error)) for mean, error in zip(scores.mean(axis=0), errors, strict=True)]


def _table(task: Task, measure: Measure, optimum: float, epsilons: tuple[float, ...], results: Results) -> Table:
    columns = ("method", *(f"epsilon {e:g}" for e in epsilons), "half way at")
    rows = []
    for name, cells in results.items():
        way = [(mean - measure.trivial) / (optimum - measure.trivial) for mean, _ in cells]
        reached = next((f"{e:g}" for e, share in zip(epsilons, way, strict=True) if share >= 0.5), "never")
        rows.append((name, *(f"{mean:.3f}±{error:.3f}" for mean, error in cells), reached))
    rows.append(("not private", *(f"{optimum:.3f}" for _ in epsilons), ""))
    rows.append(("knows nothing", *(f"{measure.trivial:.3f}" for _ in epsilons), ""))
    return Table(f"{task.title}: {measure.name}", columns, rows)


def write_plot(key: str, title: str, epsilons: tuple[float, ...], panels: Sequence[Panel], folder: Path) -> Path:
    """One panel per score over epsilon; returns the path of the PNG."""
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    for axes, (score, optimum, trivial, results, lines) in zip(figure.subplots(1, len(panels)), panels, strict=True):
        for number, (name, cells) in enumerate(results.items()):
            means, errors = np.array(cells).T
            marker = "osv^Dx+*"[number % 8]
            axes.errorbar(epsilons, means, errors, marker=marker, markersize=4, capsize=2, ls=lines[number], label=name)
        axes.axhline(optimum, color="black", linewidth=1, label="not private")
        axes.axhline(trivial, color="gray", linewidth=1, ls="--", label="knows nothing")
        axes.set_xscale("log")
        axes.set_xticks(epsilons, [f"{e:g}" for e in epsilons])
        axes.minorticks_off()
        axes.set_xlabel("epsilon")
        axes.set_title(score, fontsize=9)
        axes.margins(y=0.08)  # "not private" is the outermost line: keep it off the frame
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, loc="outside right center")
    figure.suptitle(f"{title}: mean and standard error", fontsize=10)
    return saved(figure, folder, f"output_perturbation_{key}")
