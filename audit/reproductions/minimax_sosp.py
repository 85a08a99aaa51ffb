"""Reproduction of `minimax_sosp`: Table 2 and Figure 1 (synthetic matrix sensing), with what the noise really costs.

Every method runs with the noise as Appendix D describes it, with exact accounting, without noise, and blind: the same
noise on gradients that are all zero, so that nothing of the data is used. What the paper does not print is named.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import brentq

from dpassay.reference import LiveTape, Multipliers, Tape, account
from dpassay.reference.arrays import Array
from dpassay.reference.baselines import dp_sgda, private_diff
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.minimax_sosp import baseline_methods as baselines
from dpassay.reference.minimax_sosp import dp_rgda
from dpassay.reference.minimax_sosp.experiment import DELTA, EPSILON, experiment_schedule
from dpassay.reference.problems.interfaces import Flat
from dpassay.reference.problems.matrix_sensing import MatrixSensing, initial_point, make_matrix_sensing

from .report import Options, Report, Table, notes_of, saved

PRINTED = {  # Table 2: Phi, gradient norm, smallest eigenvalue at x_399, one run with seed 0
    "DP-RGDA": (0.9119, 0.4251, -4.8504e-2),
    "Sto-SPIDER": (13.7046, 3.4505, -2.1862e-1),
    "Ada-DP-SPIDER": (8.0751, 2.2753, -1.4378e-1),
    "PrivateDiff": (0.6546, 0.3344, -4.3622e-2),
}
LABELS = {"exact": "private", "blind, exact": "blind", "none": "no noise"}
REACH = 2.0  # standard deviations
SIGNAL_NORM = 1.0  # |X*|_F, "a rescaling" in the text; see the last table for other sizes
BLIND = frozenset({"blind", "blind, described", "blind, exact"})  # kinds of noise that see no data


@dataclass(frozen=True)
class Method:
    """A method with one schedule for each kind of noise; ``view`` is how it sees the problem."""

    name: str
    run: Callable[[Any, Any, Tape], Any]
    schedules: dict[str, Any]
    minimax: bool
    view: Callable[[Any], Any] = lambda problem: problem

    def once(self, noise: str, problem: MatrixSensing, seed: int) -> tuple[Any, LiveTape]:
        """One run from the printed initialisation, drawn anew for each seed."""
        start = initial_point(problem, np.random.default_rng([seed, 1]))
        tape = LiveTape(seed)
        # the same sizes, and gradients that are all zero
        target: Any = Flat(problem.n, problem.d, problem.d_y) if noise in BLIND else problem
        schedule = replace(self.schedules[noise], start=start if self.minimax else start[0])
        return self.run(self.view(target), schedule, tape), tape


def _sizes(steps: int, step_x: float) -> baselines.Sizes:
    """Appendix D's, for all baselines."""
    return baselines.Sizes(400, steps, 5, 10, 200, 50, step_x=step_x, step_y=0.8)


def methods(steps: int = 400) -> list[Method]:
    """DP-RGDA and the baselines of Table 2 (and Figure 1's DP-SGDA) with all their noises."""
    described = experiment_schedule(steps=steps)
    mended = dp_rgda.repaired(described, EPSILON, DELTA)
    rgda = {
        "as described": described,
        "Algorithm 3": replace(dp_rgda.printed(described, EPSILON, DELTA), clip_mode="mean"),
        "exact": mended,
        "none": replace(described, noise=dp_rgda.SILENT),
        "none, no escape": replace(mended, noise=dp_rgda.SILENT, tolerance=1e-9),
        "blind, described": described,
        "blind, exact": mended,
    }
    return [
        Method("DP-RGDA", dp_rgda.run, rgda, True),
        _baseline(baselines.STO_SPIDER, _sizes(steps, 0.005)),
        _baseline(baselines.ADA_DP_SPIDER, _sizes(steps, 0.02)),
        _baseline(baselines.PRIVATE_DIFF, _sizes(steps, 0.2)),
        _baseline(baselines.DP_SGDA, _sizes(steps, 0.2)),
    ]


def _baseline(method: baselines.Method, sizes: baselines.Sizes) -> Method:
    kinds: tuple[tuple[str, baselines.Noise], ...] = (("as described", "described"), ("exact", "exact"))
    found = {name: method.schedule(sizes, noise, EPSILON, DELTA) for name, noise in kinds}
    found["none"] = method.plain(sizes, Multipliers(dict.fromkeys(("refresh", "difference", "x", "y"), 0.0)))
    found |= {"blind, described": found["as described"], "blind, exact": found["exact"]}
    minimax = method in (baselines.PRIVATE_DIFF, baselines.DP_SGDA)
    return Method(method.title, method.file.run, found, minimax, method.view)


def noise_lengths(schedule: Any, d: int) -> tuple[float, float]:
    """Length of the noise in one refreshed gradient and in one gradient difference (root mean square)."""
    if isinstance(schedule, dp_rgda.Schedule):
        stds = (
            schedule.noise.std("refresh", schedule.refresh_sensitivity),
            schedule.noise.std("step", schedule.step_sensitivity(0.0)),
        )
    elif isinstance(schedule, dp_sgda.Schedule):
        stds = (schedule.noise.std("x", 2 * schedule.clip_x / schedule.batch_x),) * 2
    else:
        stds = (
            schedule.noise.std("refresh", 2 * schedule.clip / schedule.refresh_batch),
            schedule.noise.std("difference", 2 * schedule.clip / schedule.step_batch),
        )
    return stds[0] * d**0.5, stds[1] * d**0.5


# tables and the figure -----------------------------------------------------------------------------------------------


def run(options: Options) -> Report:
    """Table 2 with all noises, which printed numbers can be reached and why, what is not printed, and Figure 1."""
    problem = make_matrix_sensing(np.random.default_rng(options.seed), signal_norm=SIGNAL_NORM)
    repetitions = options.runs or (2 if options.quick else 10)
    stride, steps = (50, 100) if options.quick else (10, 400)
    found = methods(steps)
    report = Report("minimax_sosp", notes=notes_of("minimax_sosp"))
    finals: dict[tuple[str, str], Array] = {}
    rows, curves = [], {}
    for method in options.track(found, "methods"):
        for noise in method.schedules:
            ends = []
            for k in range(repetitions):
                result, tape = method.once(noise, problem, options.seed + k)
                ends.append(_diagnostics(problem, result.iterates[-2]))
                if k == 0:
                    spent = account(tape.transcript).epsilon(DELTA)
                    curves[method.name, noise] = np.array(
                        [_diagnostics(problem, x) for x in result.iterates[:-1:stride]]
                    )
            finals[method.name, noise] = np.array(ends)
            rows.append(_row(method.name, noise, spent, finals[method.name, noise]))
    heads = ("method", "noise", "epsilon spent", "Phi", "|grad Phi|", "lambda_min", "printed Phi / |grad| / lambda")
    report.tables.append(Table(f"Table 2 at t = {steps - 1}, mean ± sd of {repetitions} runs", heads, rows))
    if not options.quick:  # the printed numbers are those of t = 399
        report.tables.append(_reachable(finals))
    report.tables.append(_noise(found, problem.d))
    report.tables.append(_data_in_x(found[0], problem, options.seed))
    report.tables.append(_unprinted(problem, options.seed, repetitions, steps))
    report.tables.append(_without_data(problem, 20 if options.quick else 200))
    report.tables.append(_scales(options.seed))
    report.files.append(_plot(curves, stride, options.output))
    return report


def _reachable(finals: dict[tuple[str, str], Array]) -> Table:
    """Distance of the printed numbers from the runs, in standard deviations of the runs."""
    rows = []
    for (name, noise), ends in finals.items():
        if name not in PRINTED:
            continue
        away = (np.array(PRINTED[name]) - ends.mean(axis=0)) / ends.std(axis=0)
        verdict = "yes" if float(np.abs(away).max()) <= REACH else "no"
        rows.append((name, noise, *(f"{value:+.2g}" for value in away), verdict))
    heads = ("method", "noise", "Phi: sd away", "|grad Phi|: sd away", "lambda_min: sd away", "reached")
    return Table(f"Which printed numbers are reached (within {REACH:g} sd of these runs)", heads, rows)


def _noise(found: list[Method], dimension: int) -> Table:
    """The noise of one release against the longest gradient that passes the clip."""
    rows: list[tuple[str, ...]] = []
    for method in found:
        for noise in ("as described", "exact"):
            refresh, difference = noise_lengths(method.schedules[noise], dimension)
            rows.append((method.name, noise, f"{refresh:.3g}", f"{difference:.3g}", "1"))
    heads = ("method", "noise", "length in a refresh", "length in a difference", "clip C")
    return Table("Length of the noise in one released gradient of x (d = 120)", heads, rows)


def _data_in_x(rgda: Method, problem: MatrixSensing, seed: int) -> Table:
    """How much of the data enters the path of x of DP-RGDA: one run of each kind."""
    rows: list[tuple[str, ...]] = []
    for noise, schedule in rgda.schedules.items():
        if noise in BLIND:
            continue
        result, tape = rgda.once(noise, problem, seed)
        same = replace(rgda, schedules={"blind": schedule}).once("blind", problem, seed)[0]
        steps = min(len(result.iterates), len(same.iterates))
        gap = float(np.abs(result.iterates[:steps] - same.iterates[:steps]).max())
        means = [release.law for release in tape.transcript.releases if release.label == "refresh/v"]
        longest = max(float(np.linalg.norm(law.query)) for law in means if isinstance(law, Gaussian))
        rows.append((noise, f"{longest:.3g}", f"{gap:.3g}"))
    heads = ("noise", "longest mean gradient of x at a refresh", "largest |x_t - x_t of the blind run|")
    return Table("DP-RGDA: what of the data enters x (one seed, the same noise with and without data)", heads, rows)


def _unprinted(problem: MatrixSensing, seed: int, repetitions: int, steps: int) -> Table:
    """What the paper leaves open, varied: escape parameters of DP-RGDA, step size of PrivateDiff (exact accounting)."""
    mended = dp_rgda.repaired(experiment_schedule(steps=steps), EPSILON, DELTA)
    base = baselines.PRIVATE_DIFF.schedule(_sizes(steps, 0.2), "exact", EPSILON, DELTA)
    changes: list[dict[str, Any]] = [{"tolerance": 1e-3}, {"tolerance": 1e3, "average_movement": 1e-4}]
    changes += [{"tolerance": 1e3, "average_movement": 0.04}, {"escape_step": 1e-3, "tolerance": 1e3}]
    rgda = Method("DP-RGDA", dp_rgda.run, {}, True)
    difference = Method("PrivateDiff", private_diff.run, {}, True, baselines.PRIVATE_DIFF.view)
    varied: list[tuple[str, Method, Any]] = [
        *((", ".join(f"{key.replace('_', ' ')} {value:g}" for key, value in change.items()), rgda,
           replace(mended, **change)) for change in changes),
        *((f"step size {step:g}", difference, replace(base, step_x=step)) for step in (0.05, 0.02, 0.01, 0.005, 0.002)),
    ]  # fmt: skip
    rows = []
    for text, method, schedule in varied:
        cells = []
        for noise in ("exact", "blind, exact"):
            one = replace(method, schedules={noise: schedule})
            runs = (one.once(noise, problem, seed + k)[0].iterates[-2] for k in range(min(repetitions, 5)))
            ends = [problem.value(x) for x in runs]
            cells.append(f"{np.mean(ends):.4g} ± {np.std(ends):.2g}")
        rows.append((method.name, text, *cells, f"{PRINTED[method.name][0]:.4g}"))
    heads = ("method", "parameter", "Phi, exact accounting", "Phi, blind", "printed Phi")
    return Table("What the paper does not print, varied", heads, rows)


def _diagnostics(problem: MatrixSensing, x: Array) -> tuple[float, float, float]:
    return problem.value(x), float(np.linalg.norm(problem.value_gradient(x))), problem.smallest_eigenvalue(x)


def _row(name: str, noise: str, spent: float, finals: Array) -> tuple[str, ...]:
    means, spreads = finals.mean(axis=0), finals.std(axis=0)
    cells = tuple(f"{mean:.4g} ± {spread:.2g}" for mean, spread in zip(means, spreads, strict=True))
    printed = " / ".join(f"{value:.4g}" for value in PRINTED[name]) if name in PRINTED else "-"
    return (name, noise, "inf" if spent == np.inf else f"{spent:.3g}", *cells, printed)


def gaussian_points(problem: MatrixSensing, value: float, count: int, seed: int = 0) -> Array:
    """Diagnostics of Gaussian points scaled so that Phi has the given value: shape (count, 3), no data used."""
    found = []
    for k in range(count):
        direction = np.random.default_rng([seed, k]).standard_normal(problem.d)

        def excess(scale: float, direction: Array = direction) -> float:
            return problem.value(scale * direction) - value

        found.append(_diagnostics(problem, float(brentq(excess, 1e-3, 10.0)) * direction))
    return np.array(found)


def _without_data(problem: MatrixSensing, count: int) -> Table:
    rows = []
    for name, (value, gradient, smallest) in PRINTED.items():
        points = gaussian_points(problem, value, count)
        cells = []
        for printed, sample in ((gradient, points[:, 1]), (smallest, points[:, 2])):
            deviation = (printed - sample.mean()) / sample.std()
            cells += [f"{printed:.4g}", f"{sample.mean():.4g} ± {sample.std():.2g}", f"{deviation:+.1f}"]
        rows.append((name, f"{value:.4g}", *cells))
    heads = ("printed row", "Phi", "|grad| printed", "no data", "sd away", "lambda printed", "no data", "sd away")
    return Table(f"Printed rows against {count} Gaussian points of the same Phi that use no data", heads, rows)


def _scales(seed: int) -> Table:
    rows = []
    for norm in (1.0, 5.0, 20.0, 34.6):
        problem = make_matrix_sensing(np.random.default_rng(seed), signal_norm=norm)
        start, _ = initial_point(problem, np.random.default_rng([seed, 1]))
        at_start = _diagnostics(problem, start)
        zero = problem.value(np.zeros_like(start))
        better = [name for name, (value, _, _) in PRINTED.items() if value < zero]
        rows.append((f"{norm:g}", f"{zero:.4g}", *(f"{value:.4g}" for value in at_start), ", ".join(better) or "none"))
    heads = ("|X*|_F", "Phi(0)", "Phi(x_0)", "|grad Phi(x_0)|", "lambda_min(x_0)", "printed rows below Phi(0)")
    return Table("The scale of the true matrix is not printed: where the runs start", heads, rows)


def _plot(curves: dict[tuple[str, str], Array], stride: int, folder: Path) -> Path:
    """Figure 1: three panels; private runs solid, blind runs dashed, noise-free runs dotted."""
    figure = Figure(figsize=(14, 5), dpi=80, layout="constrained")
    panels = figure.subplots(1, 3)
    styles = {"exact": "-", "blind, exact": "--", "none": ":"}
    colours = {name: f"C{k}" for k, name in enumerate(dict.fromkeys(name for name, _ in curves))}
    titles = ("Phi(x_t)", "|grad Phi(x_t)|", "-lambda_min(Hessian of Phi)")
    for column, (axes, title) in enumerate(zip(panels, titles, strict=True)):
        for (name, noise), curve in curves.items():
            if noise in styles:
                steps = stride * np.arange(len(curve))
                heights = np.abs(curve[:, column])
                label = f"{name}, {LABELS[noise]}"
                axes.plot(steps, heights, styles[noise], color=colours[name], label=label, linewidth=1)
        axes.set_yscale("log")
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("step t")
        for name, printed in PRINTED.items():
            label = f"{name}, printed in Table 2"
            axes.plot(399, abs(printed[column]), "x", color=colours[name], label=label)
    handles, labels = panels[0].get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda k: list(colours).index(labels[k].split(",")[0]))  # a column a method
    shown = [handles[k] for k in order], [labels[k] for k in order]
    figure.legend(*shown, fontsize=8, ncols=len(colours), loc="outside lower center")
    figure.suptitle(
        "Matrix sensing, one run each: private with exact accounting (solid), blind to the data (dashed), "
        "no noise (dotted)"
    )
    return saved(figure, folder, "minimax_sosp_figure1")
