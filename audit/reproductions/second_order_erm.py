"""Reproduction of `second_order_erm`, Tables 1 to 12: methods x epsilon x tolerances x losses, ours beside the printed.

Every finished run is written to a file at once, so an interrupted reproduction goes on where it stopped.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from dpassay.audit.published.second_order_erm import remarks
from dpassay.reference.arrays import Array
from dpassay.reference.files import there
from dpassay.reference.problems import real_data
from dpassay.reference.problems.erm import ErmProblem
from dpassay.reference.problems.margin_losses import LOSSES
from dpassay.reference.second_order_erm import dp_tr, opt, opt_b, opt_ls, tr_b, two_opt, two_opt_b, two_opt_ls
from dpassay.reference.second_order_erm.common import Accuracy, Outcome
from dpassay.reference.second_order_erm.printed_tables import EPSILONS, METHODS, TABLES, PrintedTable
from dpassay.reference.tape import LiveTape, Tape

from .report import Finished, Options, Report, Table, notes_of

HOPE = 20.0  # phase one of the two-phase methods counts on 20 MIN_DEC per step; the paper says only that T is smaller
BATCH_SHARE = 0.01  # mini-batches of n / 100; the paper does not say
LOSS_NAMES = {"loss_a": "loss_a", "loss_b": "loss_b_named"}
AT_HAND = {"breast_cancer": real_data.breast_cancer, "digits": real_data.digits}  # real, but small for these noises
SETTINGS = (  # data, loss and tolerances; those that the paper does not print have no number and no cells
    *(table for table in TABLES.values() if table.metric == "loss"),
    *(PrintedTable(0, name, "loss_a", "loose", 0.060, 0.245, ()) for name in AT_HAND),
)


@dataclass(frozen=True)
class Run:
    """One finished run."""

    data: str
    n: int
    loss: str
    tolerance: str
    method: str
    epsilon: float
    seed: int
    final: float
    seconds: float
    hessians: int
    steps: int
    certified: bool
    true: bool

    @property
    def key(self) -> tuple[Any, ...]:
        """What identifies the run."""
        return (self.data, self.n, self.loss, self.tolerance, self.method, self.epsilon, self.seed)


def run_key(s: PrintedTable, n: int, method: str, epsilon: float, seed: int) -> tuple[Any, ...]:
    """Of a run."""
    return (s.data, n, s.loss, s.tolerance, method, epsilon, seed)


def run(options: Options) -> Report:
    """Run what is missing, seed by seed, then print ours beside theirs."""
    seeds = range(options.seed, options.seed + (options.runs or (1 if options.quick else 5)))
    store = Finished(options.output / "second_order_erm_runs.jsonl", Run, "run")
    sets = {name: load(name, options) for name in dict.fromkeys(s.data for s in SETTINGS)}
    problems = [ErmProblem(*sets[s.data], LOSSES[LOSS_NAMES[s.loss]]) for s in SETTINGS]
    cells = list(product(seeds, zip(SETTINGS, problems, strict=True), METHODS, EPSILONS))
    for seed, (setting, problem), method, epsilon in options.track(cells, "runs"):
        key = run_key(setting, problem.n, method, epsilon, seed)
        store.make(key, partial(one_run, problem, setting, method, epsilon, seed))
    report = Report("second_order_erm", notes=notes_of("second_order_erm"), files=[store.path])
    report.tables.append(summary(problems, store, seeds))
    for setting, problem in zip(SETTINGS, problems, strict=True):
        report.tables.append(compare(setting, problem.n, store, seeds))
    found: list[tuple[str, ...]] = [(r.kind, r.where, r.printed, r.why) for r in remarks()]
    title = "What the printed tables cannot mean, or take for granted"
    report.tables.append(Table(title, ("kind", "where", "printed", "why"), found))
    return report


def load(name: str, options: Options) -> real_data.Task:
    """The original file if a folder is given, else a stand-in (a tenth of it for --quick); real sets as they are."""
    if name in AT_HAND:
        return AT_HAND[name]()
    if options.data is not None:
        if name == "ijcnn":
            return real_data.ijcnn_file(options.data / "ijcnn1", standardise=True)
        plain, packed = options.data / "covtype.data", options.data / "covtype.data.gz"
        return real_data.covertype_file(packed if there(packed, "--data") else plain, standardise=True)
    rng, share = np.random.default_rng([options.seed, 17]), 10 if options.quick else 1
    if name == "ijcnn":
        return real_data.ijcnn_stand_in(rng, real_data.IJCNN_SHAPE[0] // share)
    return real_data.covertype_stand_in(rng, real_data.COVERTYPE_SHAPE[0] // share)


# one run -------------------------------------------------------------------------------------------------------------


def method_of(
    name: str, problem: ErmProblem, start: Array, accuracy: Accuracy, epsilon: float, delta: float
) -> Callable[[Tape], Outcome]:
    """Build a method of the tables, repaired, with its schedule bound in."""
    public = (problem, start, accuracy, epsilon, delta)
    size = max(1, round(BATCH_SHARE * problem.n))
    methods: dict[str, tuple[Any, Any]] = {
        "TR": (dp_tr, {}),
        "TR-B": (tr_b, {"batch": size}),
        "OPT": (opt, {}),
        "OPT-B": (opt_b, {"batch": size}),
        "OPT-LS": (opt_ls, {}),
        "2OPT": (two_opt, {"hope": HOPE}),
        "2OPT-B": (two_opt_b, {"batch": size, "hope": HOPE}),
        "2OPT-LS": (two_opt_ls, {"hope": HOPE}),
    }
    module, options = methods[name]
    schedule = module.repaired(*public, **options)
    return lambda tape: module.run(problem, schedule, tape)


def one_run(problem: ErmProblem, s: PrintedTable, method: str, epsilon: float, seed: int) -> Run:
    """Run once and look at the result without noise."""
    accuracy = Accuracy(s.epsilon_g, s.epsilon_H)
    start = np.random.default_rng([seed, 23]).normal(size=problem.d) / np.sqrt(problem.d)
    began = time.perf_counter()
    outcome = method_of(method, problem, start, accuracy, epsilon, 1 / (10 * problem.n))(LiveTape(seed))
    seconds = time.perf_counter() - began
    gradient = float(np.linalg.norm(problem.gradient(outcome.w)))
    smallest = float(np.linalg.eigvalsh(problem.hessian(outcome.w))[0])
    true = gradient <= (1 + accuracy.c1) * accuracy.gradient and smallest >= -(1 + accuracy.c) * accuracy.curvature
    return Run(
        s.data, problem.n, s.loss, s.tolerance, method, epsilon, seed,
        final=problem.value(outcome.w),
        seconds=seconds,
        hessians=outcome.hessian_evaluations,
        steps=outcome.gradient_steps + outcome.curvature_steps,
        certified=outcome.certified,
        true=true,
    )  # fmt: skip


# tables --------------------------------------------------------------------------------------------------------------


def compare(s: PrintedTable, n: int, store: Finished[Run], seeds: range) -> Table:
    """Ours beside the printed numbers of one table (and of its Hessian table)."""
    rows = []
    for method, epsilon in product(METHODS, EPSILONS):
        runs = [store[run_key(s, n, method, epsilon, seed)] for seed in seeds]
        loss, seconds, hessians = _printed(s, method, epsilon)
        rows.append({
            "method": method,
            "epsilon": f"{epsilon:g}",
            "loss": _spread([r.final for r in runs], 3),
            "printed loss": loss,
            "seconds": _spread([r.seconds for r in runs], 1),
            "printed seconds": seconds,
            "Hessians": _spread([r.hessians for r in runs], 1),
            "printed Hessians": hessians,
            "failed": f"{sum(not r.certified for r in runs)}/{len(runs)}",
            "true": f"{sum(r.true for r in runs)}/{len(runs)}",
        })  # fmt: skip
    place = f"Table {s.number}" if s.number else "Not in the paper"
    title = f"{place}: {s.data} (n = {n}), {s.loss}, {s.tolerance} ({s.epsilon_g:g}, {s.epsilon_H:g})"
    heads = tuple(head for head in rows[0] if s.number or not head.startswith("printed"))
    return Table(title, heads, [tuple(row[head] for head in heads) for row in rows])


def _printed(table: PrintedTable, method: str, epsilon: float) -> tuple[str, str, str]:
    """Loss, runtime and Hessian count as printed; x: not all five runs finished; -: not printed."""
    if not table.number:
        return "-", "-", "-"
    cell = table.cell(method, epsilon)
    number = next((h for h, one in TABLES.items() if one.losses == table.number), None)
    hessians = TABLES[number].cell(method, epsilon).value if number else None
    return (
        cell.value.text if cell.value else "NA",
        cell.runtime.text if cell.runtime else ("NA" if cell.missing else "x"),
        hessians.text if hessians else "-",
    )


def _spread(values: list[float] | list[int], digits: int) -> str:
    mean = f"{np.mean(values):.{digits}f}"
    return f"{mean}±{np.std(values, ddof=1):.{digits}f}" if len(values) > 1 else mean


def summary(problems: list[ErmProblem], store: Finished[Run], seeds: range) -> Table:
    """How often each method ended, ours and printed, and how far noise threw it."""
    rows = []
    for method in METHODS:
        cells = [(s, p.n, e) for s, p in zip(SETTINGS, problems, strict=True) if s.number for e in EPSILONS]
        runs = [store[run_key(s, n, method, e, seed)] for s, n, e in cells for seed in seeds]
        printed = [s.cell(method, e) for s, _, e in cells]
        known = [cell for cell in printed if not cell.missing]
        rows.append({
            "method": method,
            "runs certified": f"{sum(r.certified for r in runs)} of {len(runs)}",
            "of these true": f"{sum(r.certified and r.true for r in runs)} of {sum(r.certified for r in runs)}",
            "printed: cells in which all runs ended": f"{sum(c.runtime is not None for c in known)} of {len(known)}",
            "Hessians (median)": f"{np.median([r.hessians for r in runs]):.0f}",
            "steps (median)": f"{np.median([r.steps for r in runs]):.0f}",
            "worst final loss": f"{max(r.final for r in runs):.3g}",
        })  # fmt: skip
    return Table("Summary of Tables 1 to 12", tuple(rows[0]), [tuple(row.values()) for row in rows])
