"""Tables 1 to 12 of `second_order_erm` as data: mean +- sd over "five runs" for each method and epsilon.

A runtime of None is the printed cross (at least one run failed or did not stop); a value of None is the printed <NA>.
Where the printed group of three runtimes shows one cross only, the cells follow the order OPT, OPT-B, OPT-LS.
"""

from __future__ import annotations

from dataclasses import dataclass
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


_RUNTIMES = {  # tables 5 and 6 (and so on) print the same runtimes
    1: """10.1±9.9 8.3±8.6 9.5±9.1 / 2.2±2.0 2.2±2.4 2.5±2.4 / x 0.6±0.2 0.5±0.2 / 3.1±2.9 3.2±3.0 2.9±2.9 /
          x 0.4±0.1 0.4±0.1 / x 0.6±0.2 0.6±0.2 / 1.4±0.3 1.4±0.4 2.0±1.7 / 0.5±0.2 0.5±0.2 0.5±0.2""",
    2: """x 99.6±32.2 90.8±21.6 / x 32.6±7.9 33.4±14.4 / x x 1.8±0.5 / 1.3±0.3 1.3±0.2 1.4±0.3 / x x x / x x x /
          2.1±0.4 2.3±0.5 2.3±0.6 / 2.1±1.0 0.6±0.1 0.8±0.2""",
    3: """x 1.3±1.5 0.8±1.1 / x 0.4±0.4 1.3±1.6 / x x 0.1±0.0 / 2.7±2.4 2.6±2.5 2.8±2.3 / x x x / x x x /
          1.0±0.3 1.0±0.3 1.1±0.3 / na 0.045±0.005 0.047±0.005""",
    4: """x x x / x x x / x x x / 1.1±0.3 0.9±0.1 1.0±0.1 / x x x / x x x / 1.1±0.4 1.3±0.6 1.1±0.3 / na x 0.1±0.1""",
    5: """x x x / x x x / x 0.3±0.1 0.4±0.1 / 11.1±1.7 10.6±0.4 10.6±0.4 / x x 0.4±0.1 / 0.3±0.1 0.3±0.1 0.4±0.1 /
          1.0±0.0 1.0±0.1 1.0±0.1 / 0.4±0.1 0.3±0.1 0.4±0.1""",
    7: """x x x / x x x / x x x / 1.3±0.2 1.4±0.4 1.5±0.6 / x x x / x x x / 2.0±0.2 2.0±0.3 1.8±0.2 /
          x 0.6±0.2 0.7±0.2""",
    9: """x x x / x x x / x x x / 8.6±0.2 11.0±4.9 9.0±1.0 / x x x / x 0.0±0.0 0.0±0.0 / 1.0±0.0 1.4±0.9 1.1±0.3 /
          x 0.0±0.0 0.0±0.0""",
    11: """x x x / x x x / x x x / 7.9±6.3 7.8±6.2 9.2±7.4 / x x x / x x 0.0±0.0 / 1.5±0.4 1.3±0.1 1.6±0.3 /
          x x 0.4±0.4""",
}
_VALUES = {
    1: """0.729±0.028 0.729±0.026 0.729±0.026 / 0.729±0.029 0.728±0.027 0.729±0.028 /
          0.581±0.057 0.712±0.018 0.712±0.017 / 0.712±0.018 0.712±0.018 0.712±0.018 /
          0.577±0.032 0.687±0.028 0.699±0.018 / 0.626±0.078 0.712±0.017 0.712±0.018 /
          0.712±0.018 0.712±0.018 0.712±0.018 / 0.699±0.018 0.699±0.018 0.699±0.018""",
    2: """0.516±0.005 0.607±0.007 0.607±0.005 / 0.517±0.005 0.603±0.005 0.607±0.003 /
          0.506±0.001 0.535±0.015 0.592±0.003 / 0.597±0.003 0.597±0.003 0.597±0.003 /
          0.525±0.009 0.527±0.009 0.549±0.006 / 0.502±0.001 0.513±0.003 0.519±0.003 /
          0.597±0.003 0.597±0.003 0.597±0.003 / 0.577±0.008 0.591±0.001 0.591±0.001""",
    3: """0.621±0.009 0.71±0.025 0.718±0.019 / 0.622±0.009 0.718±0.046 0.72±0.043 /
          0.603±0.012 0.644±0.014 0.702±0.015 / 0.71±0.022 0.71±0.022 0.71±0.022 /
          0.671±0.03 0.593±0.02 0.658±0.019 / 0.631±0.052 0.679±0.048 0.676±0.056 /
          0.71±0.022 0.71±0.022 0.71±0.022 / na 0.696±0.013 0.693±0.013""",
    4: """0.625±0.008 0.59±0.009 0.57±0.009 / 0.625±0.009 0.591±0.009 0.574±0.009 /
          0.643±0.011 0.583±0.019 0.515±0.039 / 0.667±0.013 0.667±0.013 0.667±0.013 /
          0.835±0.069 0.635±0.022 0.598±0.024 / 0.537±0.027 0.522±0.074 0.552±0.091 /
          0.666±0.014 0.666±0.014 0.666±0.014 / na 0.623±0.06 0.649±0.004""",
    5: """0.425±0.009 0.388±0.001 0.381±0.001 / 0.425±0.009 0.388±0.002 0.382±0.001 /
          0.442±0.006 0.539±0.022 0.539±0.022 / 0.539±0.022 0.539±0.022 0.539±0.022 /
          0.385±0.002 0.455±0.014 0.539±0.022 / 0.539±0.022 0.539±0.022 0.539±0.022 /
          0.539±0.022 0.539±0.022 0.539±0.022 / 0.539±0.022 0.539±0.022 0.539±0.022""",
    6: """375.0±0.0 375.0±0.0 375.0±0.0 / 375.0±0.0 375.0±0.0 375.0±0.0 / 190.6±32.3 1.0±0.0 1.0±0.0 /
          1.0±0.0 1.0±0.0 1.0±0.0 / 0.0±0.0 282.4±174.252 1.0±0.0 / 1.0±0.0 1.0±0.0 1.0±0.0 /
          1.0±0.0 1.0±0.0 1.0±0.0 / 1.0±0.0 1.0±0.0 1.0±0.0""",
    7: """0.408±0.004 0.381±0.0 0.378±0.0 / 0.408±0.004 0.381±0.0 0.378±0.0 /
          0.379±0.001 0.38±0.001 0.39±0.002 / 0.454±0.004 0.454±0.004 0.454±0.004 /
          0.41±0.005 0.381±0.001 0.378±0.0 / 0.386±0.006 0.378±0.0 0.377±0.0 /
          0.454±0.004 0.454±0.004 0.454±0.004 / 0.441±0.007 0.447±0.009 0.447±0.008""",
    8: """1061.0±0.0 1061.0±0.0 1061.0±0.0 / 1061.0±0.0 1061.0±0.0 1061.0±0.0 /
          0.0±0.0 58.6±24.765 372.6±141.077 / 1.0±0.0 1.0±0.0 1.0±0.0 / 0.0±0.0 0.0±0.0 1.0±1.0 /
          0.0±0.0 0.0±0.0 0.2±0.447 / 1.0±0.0 1.0±0.0 1.0±0.0 / 33.0±6.745 1.0±0.0 1.0±0.0""",
    9: """0.477±0.01 0.454±0.006 0.446±0.004 / 0.477±0.01 0.454±0.006 0.446±0.004 /
          0.46±0.01 0.439±0.002 0.463±0.005 / 0.501±0.008 0.501±0.008 0.501±0.008 /
          0.607±0.076 0.473±0.012 0.454±0.004 / 0.493±0.022 0.501±0.008 0.501±0.008 /
          0.501±0.008 0.501±0.008 0.501±0.008 / 1.002±0.321 0.501±0.008 0.501±0.008""",
    10: """375.0±0.0 375.0±0.0 375.0±0.0 / 375.0±0.0 375.0±0.0 375.0±0.0 / 0.0±0.0 0.5±0.577 85.25±47.647 /
          1.0±0.0 1.0±0.0 1.0±0.0 / 0.0±0.0 0.0±0.0 0.25±0.5 / 6.5±1.732 1.0±0.0 1.0±0.0 /
          1.0±0.0 1.0±0.0 1.0±0.0 / 0.25±0.5 1.0±0.0 1.0±0.0""",
    11: """0.478±0.01 0.454±0.005 0.446±0.003 / 0.479±0.01 0.454±0.005 0.446±0.003 /
          0.484±0.012 0.447±0.007 0.44±0.003 / 0.501±0.007 0.501±0.007 0.501±0.007 /
          0.761±0.066 0.553±0.037 0.492±0.016 / 0.527±0.024 0.462±0.013 0.501±0.007 /
          0.502±0.007 0.502±0.007 0.502±0.007 / 3.504±0.98 0.798±0.081 0.459±0.01""",
    12: """1061.0±0.0 1061.0±0.0 1061.0±0.0 / 1061.0±0.0 1061.0±0.0 1061.0±0.0 / 0.0±0.0 0.0±0.0 0.0±0.0 /
          1.0±0.0 1.0±0.0 1.0±0.0 / 0.0±0.0 0.0±0.0 0.0±0.0 / 0.0±0.0 3.0±1.581 1.0±0.0 /
          1.0±0.0 1.0±0.0 1.0±0.0 / 0.0±0.0 0.4±0.548 4.8±4.97""",
}
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


def _grid(text: str) -> list[list[str]]:
    return [row.split() for row in text.split("/")]


def _figure(text: str) -> Figure | None:
    if text in ("x", "na"):
        return None
    mean, spread = text.split("±")
    return Figure(text, float(mean), float(spread))


def _table(number: int) -> PrintedTable:
    data, loss, epsilon_g, epsilon_H = _SETTINGS[number]
    values, runtimes = _grid(_VALUES[number]), _grid(_RUNTIMES[HESSIAN_TABLES.get(number, number)])
    cells = tuple(
        Cell(number, method, epsilon, _figure(values[i][j]), _figure(runtimes[i][j]), values[i][j] == "na")
        for i, method in enumerate(METHODS)
        for j, epsilon in enumerate(EPSILONS)
    )
    loose = number in (1, 3, 5, 6, 9, 10)
    metric: Metric = "hessians" if number in HESSIAN_TABLES else "loss"
    return PrintedTable(number, data, loss, "loose" if loose else "tight", epsilon_g, epsilon_H, metric, cells)


TABLES = {number: _table(number) for number in _SETTINGS}
