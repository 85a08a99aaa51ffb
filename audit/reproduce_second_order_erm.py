"""Reproduction of `second_order_erm`, Tables 1 to 12: methods x epsilon x tolerances x losses, ours beside the printed
numbers.

Every finished run is written to a file at once, so an interrupted reproduction goes on where it stopped.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track

from dpassay.audit.published_second_order_erm import remarks
from dpassay.audit.reproduction import Options, Report, Table
from dpassay.reference.errors import BadInput
from dpassay.reference.problems import real_data
from dpassay.reference.problems.erm import ErmProblem
from dpassay.reference.problems.margin_losses import LOSSES, FloatArray
from dpassay.reference.second_order_erm import opt_b, opt_ls, short_step, trust_region, two_phase
from dpassay.reference.second_order_erm.common import Accuracy, Outcome
from dpassay.reference.second_order_erm.printed_tables import EPSILONS, HESSIAN_TABLES, METHODS, TABLES, PrintedTable
from dpassay.reference.tape import LiveTape, Tape

BATCH_SHARE = 0.01  # mini-batches of n / 100; the paper does not say
LOSS_NAMES = {"loss_a": "loss_a", "loss_b": "loss_b_named"}
NOTES = (
    "Ours are the repaired readings: (epsilon, delta)-DP with delta = 1/(10 n), replace-one. The paper does not state "
    "delta, the start, the batch size, c, c1, c2, or the parameters of the line search.",
    "Start: N(0, I/d). Batches: n/100 records. Rows of the data have norm at most 1.",
    "Loss B is run as logistic plus ridge, the only reading that the printed losses fit.",
    "failed: runs that used up their steps. certified: the noisy test passed; true: (1 + c1) epsilon_g and (1 + c) "
    "epsilon_H hold for the noise-free derivatives at the returned point.",
    "Without --data the sets are synthetic stand-ins of the same shape: losses are not comparable with the printed "
    "ones, step counts and noise levels are. With --data FOLDER: covtype.data (or .gz) and ijcnn1 are read from it.",
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


def run(options: Options) -> Report:
    """Run what is missing, then print ours beside theirs."""
    seeds = options.runs or (1 if options.quick else 5)
    epsilons = EPSILONS[::2] if options.quick else EPSILONS
    tables = [t for t in TABLES.values() if t.metric == "loss" and not (options.quick and t.tolerance == "tight")]
    store = Store(options.output / "second_order_erm_runs.jsonl")
    sets = {name: load(name, options) for name in dict.fromkeys(t.data for t in tables)}
    cells = [
        (table, method, epsilon, options.seed + k)
        for table in tables
        for method in METHODS
        for epsilon in epsilons
        for k in range(seeds)
    ]
    problems = {t.number: ErmProblem(*sets[t.data], LOSSES[LOSS_NAMES[t.loss]]()) for t in tables}
    for table, method, epsilon, seed in track(cells, description="runs", transient=True):
        store.get_or(problems[table.number], table, method, epsilon, seed)
    report = Report("second_order_erm", notes=list(NOTES), files=[store.path])
    for table in tables:
        n = len(sets[table.data][1])
        report.tables.append(compare(table, n, store, epsilons, range(options.seed, options.seed + seeds)))
    report.tables.append(_impossible())
    return report


def load(name: str, options: Options) -> real_data.Task:
    """The original file if a folder is given, else a stand-in (a tenth of it for --quick)."""
    if options.data is not None:
        if name == "ijcnn":
            return real_data.ijcnn_file(options.data / "ijcnn1", standardise=True)
        plain, packed = options.data / "covtype.data", options.data / "covtype.data.gz"
        return real_data.covertype_file(packed if packed.is_file() else plain, standardise=True)
    rng, share = np.random.default_rng([options.seed, 17]), 10 if options.quick else 1
    if name == "ijcnn":
        return real_data.ijcnn_stand_in(rng, real_data.IJCNN_SHAPE[0] // share)
    return real_data.covertype_stand_in(rng, real_data.COVERTYPE_SHAPE[0] // share)


# one run -------------------------------------------------------------------------------------------------------------


def method_of(
    name: str, problem: ErmProblem, start: FloatArray, accuracy: Accuracy, epsilon: float, delta: float
) -> Callable[[Tape], Outcome]:
    """Build a method of the tables, repaired, with its schedule bound in."""
    public = (problem, start, accuracy, epsilon, delta)
    size = max(1, round(BATCH_SHARE * problem.n))
    bases: dict[str, Callable[[], Any]] = {
        "OPT": lambda: short_step.repaired(*public),
        "OPT-B": lambda: opt_b.repaired(*public, batch_size=size),
        "OPT-LS": lambda: opt_ls.repaired(*public),
    }
    modules: dict[str, Any] = {"OPT": short_step, "OPT-B": opt_b, "OPT-LS": opt_ls}
    if name.startswith("TR"):
        region = trust_region.make("repaired", *public, batch_size=size if name == "TR-B" else None)
        return lambda tape: trust_region.run(problem, region, tape)
    if name.startswith("2"):
        phases = two_phase.Schedule(bases[name[1:]]())
        return lambda tape: two_phase.run(problem, phases, tape)
    base = bases[name]()
    return lambda tape: modules[name].run(problem, base, tape)


def one_run(problem: ErmProblem, table: PrintedTable, method: str, epsilon: float, seed: int) -> Run:
    """Run once and look at the result without noise."""
    accuracy = Accuracy(table.epsilon_g, table.epsilon_H)
    start = np.random.default_rng([seed, 23]).normal(size=problem.d) / np.sqrt(problem.d)
    began = time.perf_counter()
    outcome = method_of(method, problem, start, accuracy, epsilon, 1 / (10 * problem.n))(LiveTape(seed))
    seconds = time.perf_counter() - began
    gradient = float(np.linalg.norm(problem.gradient(outcome.w)))
    smallest = float(np.linalg.eigvalsh(problem.hessian(outcome.w))[0])
    true = gradient <= (1 + accuracy.c1) * accuracy.gradient and smallest >= -(1 + accuracy.c) * accuracy.curvature
    return Run(
        table.data, problem.n, table.loss, table.tolerance, method, epsilon, seed,
        final=problem.value(outcome.w),
        seconds=seconds,
        hessians=outcome.hessian_evaluations,
        steps=outcome.gradient_steps + outcome.curvature_steps,
        certified=outcome.certified,
        true=true,
    )  # fmt: skip


class Store:
    """Finished runs in a JSON-lines file; a line that was cut off by an interrupt is dropped."""

    def __init__(self, path: Path):
        self.path = path
        self.runs: dict[tuple[Any, ...], Run] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        for number, line in enumerate(lines, 1):
            try:
                found = Run(**json.loads(line))
            except (ValueError, TypeError):
                if number < len(lines):
                    raise BadInput(str(path), line[:40], f"line {number} is not a run; delete the file") from None
                path.write_text("".join(f"{kept}\n" for kept in lines[:-1]), encoding="utf-8")
                break
            self.runs[found.key] = found

    def get_or(self, problem: ErmProblem, table: PrintedTable, method: str, epsilon: float, seed: int) -> Run:
        """The stored run, or a new one, stored."""
        key = (table.data, problem.n, table.loss, table.tolerance, method, epsilon, seed)
        if key not in self.runs:
            found = one_run(problem, table, method, epsilon, seed)
            with self.path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(asdict(found)) + "\n")
            self.runs[key] = found
        return self.runs[key]


# tables --------------------------------------------------------------------------------------------------------------


def compare(table: PrintedTable, n: int, store: Store, epsilons: tuple[float, ...], seeds: range) -> Table:
    """Ours beside the printed numbers of one table (and of its Hessian table)."""
    hessian_number = next((h for h, number in HESSIAN_TABLES.items() if number == table.number), None)
    rows: list[tuple[str, ...]] = []
    for method in METHODS:
        for epsilon in epsilons:
            runs = [store.runs[table.data, n, table.loss, table.tolerance, method, epsilon, s] for s in seeds]
            cell = table.cell(method, epsilon)
            printed_hessians = TABLES[hessian_number].cell(method, epsilon).value if hessian_number else None
            rows.append(
                (
                    method,
                    f"{epsilon:g}",
                    _spread([r.final for r in runs], 3),
                    cell.value.text if cell.value else "NA",
                    _spread([r.seconds for r in runs], 1),
                    cell.runtime.text if cell.runtime else ("NA" if cell.missing else "x"),
                    _spread([r.hessians for r in runs], 1),
                    printed_hessians.text if printed_hessians else "-",
                    f"{sum(not r.certified for r in runs)}/{len(runs)}",
                    f"{sum(r.true for r in runs)}/{len(runs)}",
                )
            )
    heads = ("method", "epsilon", "loss", "printed", "seconds", "printed", "Hessians", "printed", "failed", "true")
    title = f"Table {table.number}: {table.data} (n = {n}), {table.loss}, {table.tolerance} ({table.epsilon_g:g}, "
    return Table(f"{title}{table.epsilon_H:g})", heads, rows)


def _spread(values: list[float] | list[int], digits: int) -> str:
    spread = np.std(values, ddof=1) if len(values) > 1 else 0.0
    return f"{np.mean(values):.{digits}f}±{spread:.{digits}f}"


def _impossible() -> Table:
    rows: list[tuple[str, ...]] = [(r.kind, r.where, r.printed, r.why) for r in remarks()]
    return Table("What the printed tables cannot mean, or take for granted", ("kind", "where", "printed", "why"), rows)
