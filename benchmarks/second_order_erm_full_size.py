"""OPT-LS on the paper's largest set size: seconds and peak memory, against one n x d x d array.

    python benchmarks/second_order_erm_full_size.py [--quick] [--write]

Runs the repaired Algorithm 3 on a stand-in of Covertype's shape (n = 495,141, d = 54; --quick: a tenth of the records)
for both losses and both pairs of tolerances, each until it ends, in one process. Gradients and Hessians are summed in
blocks of rows; the peak is that of the whole process, data included.

Not in the grid: tight tolerances at epsilon 0.2. Such a run is not certified early, may take thousands of steps, and
had not ended after six minutes of one core.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from pathlib import Path

import numpy as np

from dpassay.reference.problems import real_data
from dpassay.reference.problems.erm import ErmProblem
from dpassay.reference.problems.margin_losses import LOSSES
from dpassay.reference.second_order_erm import opt_ls
from dpassay.reference.second_order_erm.common import Accuracy
from dpassay.reference.tape import LiveTape

RESULTS = Path(__file__).parent / "results" / "second_order_erm_full_size"
GRID = (
    ("loss_a", 0.060, 0.245, 1.0), ("loss_a", 0.030, 0.173, 1.0),
    ("loss_b_named", 0.040, 0.200, 1.0), ("loss_b_named", 0.020, 0.141, 1.0),
    ("loss_a", 0.060, 0.245, 0.2), ("loss_b_named", 0.040, 0.200, 0.2),
)  # fmt: skip


def peak_mib() -> float:
    """Peak resident memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def one(features: np.ndarray, labels: np.ndarray, loss: str, gradient: float, curvature: float, epsilon: float) -> dict:
    """Run once; seconds of the processor and of the clock."""
    problem = ErmProblem(features, labels, LOSSES[loss]())
    start = np.random.default_rng(23).normal(size=problem.d) / np.sqrt(problem.d)
    schedule = opt_ls.repaired(problem, start, Accuracy(gradient, curvature), epsilon, 1 / (10 * problem.n))
    clock, cpu = time.perf_counter(), time.process_time()
    outcome = opt_ls.run(problem, schedule, LiveTape(0))
    return {
        "loss": loss,
        "tolerances": [gradient, curvature],
        "epsilon": epsilon,
        "steps": outcome.gradient_steps + outcome.curvature_steps,
        "hessians": outcome.hessian_evaluations,
        "certified": outcome.certified,
        "final": round(problem.value(outcome.w), 4),
        "seconds": round(time.perf_counter() - clock, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "peak_mib": round(peak_mib()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the records")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/")
    options = parser.parse_args()
    n = real_data.COVERTYPE_SHAPE[0] // (10 if options.quick else 1)
    features, labels = real_data.covertype_stand_in(np.random.default_rng([0, 17]), n)
    d = features.shape[1]
    array = 8 * n * d * d / 2**30
    print(f"n = {n}, d = {d}; data {features.nbytes / 2**20:.0f} MiB, one n x d x d array {array:.1f} GiB")
    heads = ("loss", "tolerances", "eps", "steps", "Hess.", "ends", "loss", "s", "MiB")
    print("{:14} {:>14} {:>4} {:>6} {:>6} {:>9} {:>7} {:>7} {:>6}".format(*heads))
    rows = []
    for case in GRID:
        row = one(features, labels, *case)
        rows.append(row)
        print(line(row), flush=True)
    result = {"n": n, "d": d, "cores": len(os.sched_getaffinity(0)), "n_d_d_gib": round(array, 1), "runs": rows}
    if options.write:
        write(result)


def line(row: dict) -> str:
    """One line of the table."""
    ends = "certified" if row["certified"] else "used up"
    tolerances = "/".join(f"{x:.3f}" for x in row["tolerances"])
    return (
        f"{row['loss']:14} {tolerances:>14} {row['epsilon']:4g} {row['steps']:6} {row['hessians']:6} {ends:>9} "
        f"{row['final']:7.4f} {row['seconds']:7.1f} {row['peak_mib']:6.0f}"
    )


def write(result: dict) -> None:
    """JSON, and a page with the same numbers."""
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.with_suffix(".json").write_text(json.dumps(result, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    heads = ("loss", "tolerances", "epsilon", "steps", "Hessians", "ends", "final loss", "seconds", "CPU s", "peak MiB")
    page = [
        "# OPT-LS at full size\n",
        f"`python benchmarks/second_order_erm_full_size.py --write`: n = {result['n']}, d = {result['d']}, "
        f"{result['cores']} cores. One n x d x d array would take {result['n_d_d_gib']} GiB. Tolerances: epsilon_g / "
        "epsilon_H. Seconds of the clock depend on what else the machine does; CPU seconds less so.\n",
        f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}",
    ]
    for row in result["runs"]:
        ends = "certified" if row["certified"] else "used up its steps"
        cells = (
            row["loss"], "{} / {}".format(*row["tolerances"]), row["epsilon"], row["steps"], row["hessians"], ends,
            row["final"], row["seconds"], row["cpu_seconds"], row["peak_mib"],
        )  # fmt: skip
        page.append("| " + " | ".join(map(str, cells)) + " |")
    RESULTS.with_suffix(".md").write_text("\n".join(page) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
