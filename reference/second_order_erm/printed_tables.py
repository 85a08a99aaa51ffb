"""Tables 1 to 12 of `second_order_erm` (`printed_tables.csv`, their settings in `printed_tables.toml`).

Mean +- sd over "five runs" for each method and epsilon.
A runtime of None is the printed cross (at least one run failed or did not stop); a value of None is the printed <NA>.
Where the printed group of three runtimes shows one cross only, the cells follow the order OPT, OPT-B, OPT-LS.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, inf, sqrt
from pathlib import Path
from typing import Literal

from dpassay.reference.files import parse_toml, read_text

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
    mean, spread = text.split("±")
    return Figure(text, float(mean), float(spread))


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
HESSIAN_TABLES = {number: table.losses for number, table in TABLES.items() if table.losses}


def possible_counts(figure: str, runs: int, ddof: int = 1, largest: float = inf) -> list[int] | None:
    """Non-negative integers with the printed mean and spread after rounding, or None if there are none."""
    (low, high), spreads = (_rounding_to(text) for text in figure.split("±"))
    spread_low, spread_high = (max(Fraction(0), edge) for edge in spreads)
    for total in range(max(0, ceil(low * runs)), floor(high * runs) + 1):
        base = Fraction(total * total, runs)
        squares_low = ceil(base + spread_low**2 * (runs - ddof))
        squares_high = floor(base + spread_high**2 * (runs - ddof))
        for squares in range(squares_low, squares_high + 1):
            found = _with_sums(total, squares, runs, min(largest, total))
            if found is not None:
                return found
    return None


def _rounding_to(text: str) -> tuple[Fraction, Fraction]:
    digits = len(text.split(".")[1]) if "." in text else 0
    half = Fraction(1, 2 * 10**digits)
    return Fraction(text) - half, Fraction(text) + half


def _with_sums(total: int, squares: int, count: int, largest: float) -> list[int] | None:
    """`count` integers in [0, largest], descending, with the given sum and sum of squares: a pruned search."""
    if count == 1:
        return [total] if total * total == squares and total <= largest else None
    if total * total > count * squares or squares > total * max(largest, 0) or (total - squares) % 2:
        return None
    centre = Fraction(total, count)
    reach = sqrt(max(0.0, float(squares - total * centre)) * (count - 1) / count)  # how far one value can be off
    top = min(largest, floor(float(centre) + reach) + 1)
    for first in range(int(top), max(ceil(float(centre)) - 1, -1), -1):
        rest = _with_sums(total - first, squares - first * first, count - 1, first)
        if rest is not None:
            return [first, *rest]
    return None
