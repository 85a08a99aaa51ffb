"""Tables 1 to 12 of `second_order_erm` (`printed_tables.csv`): mean +- sd over "five runs" for each method and epsilon.

A runtime of None is the printed cross (at least one run failed or did not stop); a value of None is the printed <NA>.
Where the printed group of three runtimes shows one cross only, the cells follow the order OPT, OPT-B, OPT-LS.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

Metric = Literal["loss", "hessians"]
EPSILONS = (0.2, 0.6, 1.0)
METHODS = ("TR", "TR-B", "OPT", "OPT-B", "OPT-LS", "2OPT", "2OPT-B", "2OPT-LS")


@dataclass(frozen=True)
class Figure:
    """A printed mean and spread, as text too, because the number of printed digits matters."""

    text: str
    mean: float
    spread: float


@dataclass(frozen=True)
class Cell:
    """One method at one epsilon in one table."""

    table: int
    method: str
    epsilon: float
    value: Figure | None
    runtime: Figure | None
    missing: bool  # <NA>


@dataclass(frozen=True)
class PrintedTable:
    """One table: where, which loss, tolerances, what its first column is."""

    number: int
    data: Literal["covertype", "ijcnn"]
    loss: Literal["loss_a", "loss_b"]
    tolerance: Literal["loose", "tight"]
    epsilon_g: float
    epsilon_H: float  # noqa: N815
    metric: Metric
    cells: tuple[Cell, ...]

    def cell(self, method: str, epsilon: float) -> Cell:
        """The cell of one method and epsilon."""
        return next(c for c in self.cells if c.method == method and c.epsilon == epsilon)


_SETTINGS: dict[int, tuple[Literal["covertype", "ijcnn"], Literal["loss_a", "loss_b"], float, float]] = {
    1: ("covertype", "loss_a", 0.060, 0.245),
    2: ("covertype", "loss_a", 0.030, 0.173),
    3: ("ijcnn", "loss_a", 0.040, 0.200),
    4: ("ijcnn", "loss_a", 0.020, 0.141),
    5: ("covertype", "loss_b", 0.040, 0.200),
    6: ("covertype", "loss_b", 0.040, 0.200),
    7: ("covertype", "loss_b", 0.020, 0.141),
    8: ("covertype", "loss_b", 0.020, 0.141),
    9: ("ijcnn", "loss_b", 0.040, 0.200),
    10: ("ijcnn", "loss_b", 0.040, 0.200),
    11: ("ijcnn", "loss_b", 0.020, 0.141),
    12: ("ijcnn", "loss_b", 0.020, 0.141),
}
HESSIAN_TABLES = {6: 5, 8: 7, 10: 9, 12: 11}  # Hessian table -> the loss table of the same runs


def _figure(text: str) -> Figure | None:
    if text in ("x", "na"):
        return None
    mean, spread = text.split("±")
    return Figure(text, float(mean), float(spread))


def _read() -> dict[int, PrintedTable]:
    with files("dpassay.reference.second_order_erm").joinpath("printed_tables.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    tables = {}
    for number, (data, loss, epsilon_g, epsilon_H) in _SETTINGS.items():
        cells = tuple(
            Cell(number, row["method"], float(row["epsilon"]), _figure(row["value"]), _figure(row["runtime"]),
                 row["value"] == "na")
            for row in rows
            if int(row["table"]) == number
        )  # fmt: skip
        tolerance: Literal["loose", "tight"] = "loose" if number in (1, 3, 5, 6, 9, 10) else "tight"
        metric: Metric = "hessians" if number in HESSIAN_TABLES else "loss"
        tables[number] = PrintedTable(number, data, loss, tolerance, epsilon_g, epsilon_H, metric, cells)
    return tables


TABLES = _read()
