"""Reproduction of `adaptive_batch`, which prints no experiment: what its formulas predict, on a chain of saddles.

Functions used and refreshes against Lemma 3.15, accuracy against n, for every noise that the paper states and for the
repaired algorithm; and the empirical route of Appendix C on the same data.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from dpassay.reference.accounting.cost import account
from dpassay.reference.adaptive_batch import empirical_route, stochastic_spider
from dpassay.reference.adaptive_batch.stochastic_spider import Schedule, printed, repaired
from dpassay.reference.adaptive_batch.theorems import Constants, oracle_count
from dpassay.reference.arrays import Array
from dpassay.reference.noise import Printed
from dpassay.reference.problems.saddles import ChainOfSaddles, SampledLandscape, sample_landscape
from dpassay.reference.tape import LiveTape

from .report import Options, Report, Table, notes_of, saved

EPSILON, DELTA, GAP, LENGTH = 1.0, 1e-5, 3.0, 2
READINGS = ("no noise", "Theorem 3.17", "Lemma 3.13", "repaired")
NOTES = notes_of("adaptive_batch")


def run(options: Options) -> Report:
    """One table of runs, one of predictions, one plot."""
    sizes = (3_000, 10_000) if options.quick else (3_000, 10_000, 30_000, 100_000)
    repetitions = options.runs or (2 if options.quick else 4)
    report = Report("adaptive_batch", notes=list(NOTES))
    rows, curves, starts = [], {}, []
    for n in options.track(sizes, "sizes"):
        problem = sample_landscape(ChainOfSaddles(LENGTH), n, np.random.default_rng(options.seed), 0.1, 0.05)
        c = Constants(n, LENGTH, EPSILON, DELTA, *problem.constants, initial_gap=GAP)
        plain, gamma = printed(c, "Theorem 3.17"), c.accuracy()
        starts.append(_accuracy(problem, np.zeros(problem.d)))
        predicted = oracle_count(c, gamma, plain.drift_limit, plain.batch)
        renewals = f"{c.initial_gap * c.smoothness / (plain.drift_limit * gamma):.3g}"
        for reading in READINGS:
            s = _schedule(c, reading)
            found = np.array([_once(problem, s, options.seed + k) for k in range(repetitions)])
            curves[reading, n] = np.array([found[:, 4], found[:, 0] / predicted])
            spent = "inf" if reading == "no noise" else f"{_spent(problem, s, options.seed):.3g}"
            used, *others = (f"{value:.4g}" for value in found.mean(axis=0))
            rows.append((f"{n}", reading, f"{gamma:.3g}", spent, f"{predicted:.0f}", used, renewals, *others))
        rows.append(_empirical(problem, c, options.seed, repetitions))
    counts = ("Lemma 3.15", "functions", "B M/(kappa gamma)", "refreshes", "escapes")
    heads = ("n", "reading", "alpha", "epsilon spent", *counts, "last", "accuracy")
    report.tables.append(Table(f"Chain of saddles, mean of {repetitions} runs", heads, rows))
    report.files.append(_plot(curves, sizes, starts, options.output))
    return report


def _schedule(c: Constants, reading: str) -> Schedule:
    if reading == "no noise":
        return replace(printed(c, "Theorem 3.17"), noise=Printed({"tree": 0.0, "escape": 1e-4}))
    if reading == "repaired":
        return repaired(printed(c, "Theorem 3.17"), EPSILON, DELTA)
    return printed(c, "Theorem 3.17" if reading == "Theorem 3.17" else "Lemma 3.13")


def _once(problem: SampledLandscape, s: Schedule, seed: int) -> tuple[float, ...]:
    """Functions used, refreshes, escapes, value at the end, accuracy."""
    result = stochastic_spider.run(problem, s, LiveTape(seed))
    quality = min(_accuracy(problem, x) for x in result.iterates)
    return result.functions_used, result.refreshes, result.escapes, problem.value(result.iterates[-1]), quality


def _spent(problem: SampledLandscape, s: Schedule, seed: int) -> float:
    tape = LiveTape(seed)
    stochastic_spider.run(problem, s, tape)
    return account(tape.transcript).epsilon(DELTA)


def _accuracy(problem: SampledLandscape, x: Array) -> float:
    """Smallest alpha of Definition 1.2 at x."""
    tilt = max(0.0, -float(np.linalg.eigvalsh(problem.base.hessian(x))[0]))  # the mean of the records is the base
    return max(float(np.linalg.norm(problem.base.gradient(x))), tilt**2 / problem.constants[2])


def _empirical(problem: SampledLandscape, c: Constants, seed: int, repetitions: int) -> tuple[str, ...]:
    s = empirical_route.calibrated(c, steps=200)
    found = [empirical_route.run(problem, s, LiveTape(seed + k)) for k in range(repetitions)]
    best = np.mean([min(_accuracy(problem, x) for x in result.iterates) for result in found])
    last = np.mean([problem.value(result.iterates[-1]) for result in found])
    cells = (f"{EPSILON:g}", "-", f"{200 * problem.n:.4g}", "-", "-", "-", f"{last:.4g}", f"{best:.4g}")
    return (f"{problem.n}", "Appendix C, T = 200", "-", *cells)


def _plot(curves: dict[tuple[str, int], Any], sizes: tuple[int, ...], starts: list[float], folder: Path) -> Path:
    figure = Figure(figsize=(10, 4.2), dpi=80, layout="constrained")
    panels = figure.subplots(1, 2)
    titles = ("smallest alpha for which an iterate is an alpha-SOSP", "records used / formula of Lemma 3.15")
    for quantity, (axes, title) in enumerate(zip(panels, titles, strict=True)):
        for reading in READINGS:
            values = [curves[reading, n][quantity] for n in sizes]
            means, spreads = [v.mean() for v in values], [v.std() for v in values]
            axes.errorbar(sizes, means, yerr=spreads, marker="o", markersize=3, capsize=2, label=reading)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(sizes, [f"{n:,}" for n in sizes])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("n, number of records")
        axes.set_title(title, fontsize=10)
    ratios = (0.5, 1, 2, 4)  # the panel spans less than a decade: powers of ten would leave one tick
    panels[1].set_yticks(ratios, [f"{ratio:g}" for ratio in ratios])
    panels[1].yaxis.set_minor_locator(NullLocator())
    runs = len(next(iter(curves.values()))[0])
    figure.suptitle(f"Chain of saddles: mean and standard deviation of {runs} runs", fontsize=10)
    panels[0].plot(sizes, starts, color="grey", linewidth=0.8, linestyle=":", label="the start")
    figure.legend(*panels[0].get_legend_handles_labels(), fontsize=8, loc="outside right center")
    return saved(figure, folder, "adaptive_batch_accuracy")
