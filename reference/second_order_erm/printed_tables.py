"""Tables 1 to 12 of `second_order_erm` (`printed_tables.csv`, their settings in `printed_tables.toml`).

Mean +- sd over "five runs" for each method and epsilon.
A runtime of None is the printed cross (at least one run failed or did not stop); a value of None is the printed <NA>.
Where the printed group of three runtimes shows one cross only, the cells follow the order OPT, OPT-B, OPT-LS.
"""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dpassay.reference.files import parse_toml, read_text

Metric = Literal["loss", "hessians"]
EPSILONS = (0.2, 0.6, 1.0)
METHODS = ("TR", "TR-B", "OPT", "OPT-B", "OPT-LS", "2OPT", "2OPT-B", "2OPT-LS")


@dataclass(frozen=True)
class Figure:
    """A printed mean and spread as text, because the number of printed digits matters, and the mean."""

    text: str
    mean: float


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
    data: str
    loss: str
    tolerance: str
    epsilon_g: float
    epsilon_H: float  # noqa: N815
    cells: tuple[Cell, ...]
    losses: int | None = None  # of a table of Hessians: the loss table of the same runs

    @property
    def metric(self) -> Metric:
        """What the first column is."""
        return "loss" if self.losses is None else "hessians"

    def cell(self, method: str, epsilon: float) -> Cell:
        """The cell of one method and epsilon."""
        return next(c for c in self.cells if c.method == method and c.epsilon == epsilon)


def _figure(text: str) -> Figure | None:
    if text in ("x", "na"):
        return None
    return Figure(text, float(text.partition("±")[0]))


def _cell(row: dict[str, str]) -> Cell:
    value, runtime = _figure(row["value"]), _figure(row["runtime"])
    return Cell(int(row["table"]), row["method"], float(row["epsilon"]), value, runtime, row["value"] == "na")


def _read() -> dict[int, PrintedTable]:
    here = Path(__file__)
    cells = [_cell(row) for row in csv.DictReader(read_text(here.with_suffix(".csv"), "tables").splitlines())]
    tables = parse_toml(read_text(here.with_suffix(".toml"), "tables"), "printed_tables.toml")["table"]
    return {
        one["number"]: PrintedTable(**one, cells=tuple(cell for cell in cells if cell.table == one["number"]))
        for one in tables
    }


TABLES = _read()
