"""Outputs of any shape as one numeric table, with a name for each column.

Numbers stay as they are, also those that stand inside text, JSON text or a table that is text; strings, keys and types
become codes (only equality matters for these); what is missing is NaN. Sequences of different lengths have summaries
beside their entries. A text of binary or hexadecimal digits is a list of bits, and a whole number that is no float has
columns for its halves.
"""

import csv
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from dpassay.reference.arrays import Array, Bools
from dpassay.reference.errors import BadInput, require

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?")
BINARY, HEXADECIMAL = re.compile("[01]{8,256}"), re.compile("[0-9a-fA-F]{8,64}")
MOST_READ = 256  # numbers, and lines, of one text
DEEPEST = 40  # nested lists and dicts
LONGEST_JSON = 1_000_000  # characters of a text that are tried as JSON
SEPARATORS = "\t;,"  # of the cells in a line of a table
WHOLE = 2**53  # whole numbers from here on are no floats
HALF = 32  # bits
ROOT = "output"
MOST_TEXTS = 10_000  # whose codes are known
MOST_RECORDS = 256  # records of lists that have a column each, told by what identifies them: with more, none has


class Origin(IntEnum):
    """Where the numbers of a column come from."""

    VALUE = 0  # a number of the outputs, as it is
    TEXT = 1  # a code of a whole text
    CODE = 2  # a code of the words of a text, of keys, of a type
    SUMMARY = 3  # of a list or a text: its length, sum, largest entry
    MADE = 4  # of other columns: a difference, a sum, an order statistic

    @property
    def coded(self) -> bool:
        """Codes have no order: only equality matters."""
        return self in (Origin.TEXT, Origin.CODE)


class Column(NamedTuple):
    """One column."""

    name: str
    origin: Origin = Origin.VALUE

    def __str__(self) -> str:
        return self.name


NOTHING = (Column("nothing"),)  # the columns where none says anything


class Cell(str):
    """A text inside another one: a number, of which the digits count too, or a word."""


@dataclass(frozen=True)
class Tables:
    """Both samples as matrices with the same columns, one row per run."""

    columns: tuple[Column, ...]
    p: Array
    q: Array
    texts: Mapping[float, str] = field(default_factory=dict)  # what a code stands for, of the first texts

    def part(self, rows: slice) -> "Tables":
        """Some rows of both."""
        return replace(self, p=self.p[rows], q=self.q[rows])

    def matrices(self, columns: Sequence[Column]) -> tuple[Array, Array]:
        """These columns of both; NaN where there is none such."""
        if tuple(columns) == self.columns:
            return self.p, self.q
        places = {column: j for j, column in enumerate(self.columns)}
        here = [(i, places[column]) for i, column in enumerate(columns) if column in places]
        found = tuple(np.full((len(side), len(columns)), np.nan) for side in (self.p, self.q))
        for matrix, side in zip(found, (self.p, self.q), strict=True):
            matrix[:, [i for i, _ in here]] = side[:, [j for _, j in here]]
        return found[0], found[1]


def to_tables(outputs_p: Any, outputs_q: Any) -> Tables:
    """Both samples with the same columns; BadInput where one is empty, or not of numbers, texts, lists or dicts."""
    arrays = _regular(outputs_p), _regular(outputs_q)
    if arrays[0] is not None and arrays[1] is not None and arrays[0].shape[1:] == arrays[1].shape[1:]:
        shape = arrays[0].shape[1:]
        places = [f"{ROOT}[{','.join(map(str, index))}]" for index in np.ndindex(*shape)]
        p, q = (np.asarray(one, dtype=float).reshape(len(one), len(places)) for one in arrays)
        found = Tables(tuple(map(Column, places if len(places) != 1 else [ROOT])), p, q)
    else:
        found = _spread(outputs_p, outputs_q)
    sizes = len(found.p), len(found.q)
    require(0 not in sizes, "outputs", sizes, "both samples need at least one output")
    return found


def _regular(side: Any) -> Any:
    """An array of numbers, if the outputs are one or are lists of numbers of one length; else None.

    Also None where a whole number may have more digits than a float.
    """
    given = isinstance(side, np.ndarray)
    if not given:
        if not len(side) or not isinstance(side[0], int | float | list | tuple | np.ndarray | np.number):
            return None
        try:
            side = np.asarray(side)
        except (ValueError, TypeError, OverflowError):
            return None
    if not side.ndim or side.dtype.kind not in ("fiub" if given else "fiu"):
        return None
    exact = side.dtype.kind in ("fb" if given else "")  # a list of numbers may have been of whole ones
    return None if not exact and ((np.abs(side) >= WHOLE) & np.isfinite(side)).any() else side


def _spread(outputs_p: Any, outputs_q: Any) -> Tables:
    """Any outputs. Records have columns if they are few on both sides together: names drawn anew would be no end."""
    texts: dict[float, str] = {}
    rows: list[list[_Cells]] = [[], []]
    for side, target in zip((outputs_p, outputs_q), rows, strict=True):
        for output in side:
            target.append(_Cells(texts))
            _flatten(output, ROOT, target[-1])
    every = {column for side in rows for row in side for column in row}
    records = {column for side in rows for row in side for column in row.records}
    columns = sorted(every - records if len(records) > MOST_RECORDS else every)
    p, q = (np.array([[row.get(one, np.nan) for one in columns] for row in side], dtype=float) for side in rows)
    if not columns:  # nothing in any output, such as lists without entries: a constant
        columns, p, q = [Column(ROOT)], np.zeros((len(p), 1)), np.zeros((len(q), 1))
    return Tables(tuple(columns), p, q, texts)


class _Cells(dict[Column, float]):
    """The cells of one output; codes are noted in `texts`, which all outputs share."""

    def __init__(self, texts: dict[float, str]):
        super().__init__()
        self._texts = texts
        self.records: set[Column] = set()  # cells that stand for a record wherever it is in its list

    def encode(self, name: str, text: str | bytes, origin: Origin = Origin.CODE) -> None:
        """A text as a code: only equality matters."""
        code = float(zlib.crc32(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")))
        self[Column(name, origin)] = code
        if len(self._texts) < MOST_TEXTS and code not in self._texts:
            self._texts[code] = repr(text)

    def summary(self, name: str, value: float) -> None:
        """A number about an entry."""
        self[Column(name, Origin.SUMMARY)] = float(value)

    def summaries(self, name: str, numbers: Sequence[float]) -> None:
        """Sum, last, largest and smallest of the finite ones."""
        values = np.array(numbers)
        values = values[np.isfinite(values)]
        if values.size:
            with np.errstate(over="ignore"):
                known = {"sum": values.sum(), "last": values[-1], "max": values.max(), "min": values.min()}
            for what, value in known.items():
                self.summary(f"{what}({name})", value)


def _flatten(output: Any, name: str, row: _Cells, depth: int = 0) -> None:
    """Spread one output over named cells."""
    require(depth <= DEEPEST, "outputs", name[:60], "are nested too deeply")
    if isinstance(output, Cell):
        if NUMBER.fullmatch(output):
            row[Column(name)] = float(output)
            row.summary(f"digits of {name}", len(output))
        else:
            row.encode(name, output)
        return
    row.encode(f"type({name})", _kind(output))
    if isinstance(output, Mapping):
        row.encode(f"keys({name})", ", ".join(str(key) for key in output))
        for key in output:
            _flatten(output[key], f"{name}.{key}", row, depth + 1)
    elif isinstance(output, str | bytes):
        _text(output, name, row, depth)
    elif output is None:
        row[Column(name)] = np.nan
    elif isinstance(output, np.ndarray | list | tuple):
        _sequence(output, name, row, depth)
    else:
        row[Column(name)] = _number(output)
        if isinstance(output, int | np.integer) and abs(int(output)) >= WHOLE:
            for half, value in zip(("upper", "lower"), divmod(int(output), 1 << HALF), strict=True):
                row.summary(f"{half} half of {name}", _number(value))


_KINDS = {Mapping: "dict", np.ndarray | list | tuple: "list", bool | np.bool_: "bool", str | bytes: "text"}


def _kind(output: Any) -> str:
    other = "none" if output is None else "number"
    return next((name for kind, name in _KINDS.items() if isinstance(output, kind)), other)


def _sequence(output: Any, name: str, row: _Cells, depth: int) -> None:
    for index, item in enumerate(output):
        _flatten(item, f"{name}[{index}]", row, depth + 1)
    if len(output) > 1 and all(isinstance(item, Mapping) for item in output):
        _records(output, name, row)
    row.summary(f"len({name})", len(output))
    cells = [Column(f"{name}[{i}]") for i in range(len(output))]
    row.summaries(name, [row[cell] for cell in cells if cell in row])


def _records(items: Sequence[Mapping[Any, Any]], name: str, row: _Cells) -> None:
    """The numbers of each record under the record's own name: lists may come in any order. And of each field."""
    found = [{key: _number(value) for key, value in item.items() if _counts(value)} for item in items]
    for one in dict.fromkeys(key for numbers in found for key in numbers):
        row.summaries(f"{name}[].{one}", [numbers[one] for numbers in found if one in numbers])
    key = _identifier(items)
    for item, numbers in zip(items, found, strict=True) if key is not None else ():
        for one in numbers.keys() - {key}:
            cell = Column(f"{name}[{key}={item[key]!r}].{one}")
            row[cell] = numbers[one]
            row.records.add(cell)


def _counts(value: Any) -> bool:
    """Is this a number, perhaps in a cell of a text?"""
    return isinstance(value, int | float | np.number) or (isinstance(value, Cell) and bool(NUMBER.fullmatch(value)))


def _identifier(items: Sequence[Any]) -> str | None:
    """The first field that tells the dicts of a list apart: a whole number or a word, another one in each."""

    def identifies(value: Any) -> bool:
        word = isinstance(value, str) and (value.isdecimal() or not NUMBER.fullmatch(value))
        return isinstance(value, int) or word

    for key in items[0]:
        values = [item.get(key) for item in items]
        if all(map(identifies, values)) and len(set(values)) == len(values):
            return str(key) if isinstance(key, str) else None
    return None


def _text(output: str | bytes, name: str, row: _Cells, depth: int) -> None:
    """The text as a code, its length, and what it says: as JSON, bits or a table, or its numbers and words by line."""
    row.encode(f"text({name})", output, Origin.TEXT)
    text = output.decode("utf-8", "replace") if isinstance(output, bytes) else output
    row.summary(f"len({name})", len(text))
    for reader, what in ((_as_json, "json"), (_as_bits, "bits"), (_as_table, "table")):
        inner = reader(text)
        if inner is not None:
            _flatten(inner, f"{name}.{what}", row, depth + 1)
            return
    numbers, words = NUMBER.findall(text), NUMBER.sub("#", text)
    row.encode(f"words({name})", words)
    lines = words.splitlines()[:MOST_READ]
    for index, line in enumerate(lines if len(lines) > 1 else ()):
        row.encode(f"line {index + 1} of {name}", line)
    row.summary(f"numbers({name})", len(numbers))
    for index, number in enumerate(numbers[:MOST_READ]):
        _flatten(Cell(number), f"number {index + 1} in {name}", row, depth + 1)


def _as_json(text: str) -> Any:
    """What a text says that is a JSON list or dict; None for all others."""
    if text.lstrip()[:1] not in ("{", "[") or len(text) > LONGEST_JSON:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _as_bits(text: str) -> list[int] | None:
    """The bits of binary digits, or of hexadecimal ones that may be grouped by hyphens; None for other texts."""
    digits = text.replace("-", "")
    if HEXADECIMAL.fullmatch(digits) and not digits.isdecimal():
        digits = f"{int(digits, 16):0{4 * len(digits)}b}"
    return [int(one) for one in digits] if BINARY.fullmatch(digits) else None


def _as_table(text: str) -> list[dict[str, Cell]] | None:
    """The records of a text whose lines have equally many cells, at least two; None for all others.

    A first line of words alone names the fields.
    """
    lines = text.splitlines()
    for separator in SEPARATORS if 1 < len(lines) <= MOST_READ else "":
        found = [[Cell(cell.strip()) for cell in line] for line in csv.reader(lines, delimiter=separator)]
        width = len(found[0])
        if width > 1 and all(len(line) == width for line in found):
            named = len(set(found[0])) == width and not any(NUMBER.fullmatch(cell) for cell in found[0])
            names = found.pop(0) if named else [f"column {j + 1}" for j in range(width)]
            return [dict(zip(names, line, strict=True)) for line in found]
    return None


def _number(output: Any) -> float:
    try:
        if not isinstance(output, complex | np.complexfloating):
            return float(output)
    except (TypeError, ValueError):
        pass
    except OverflowError:
        raise BadInput("outputs", output, "is too large for a float") from None
    raise BadInput("outputs", output, "must be real numbers, arrays, strings or dicts of them")


def appended(past: Tables, fresh: Tables, most: int) -> Tables:
    """Both, with the columns of either; only the last `most` rows a side."""
    same = past.columns == fresh.columns
    columns = past.columns if same else tuple(dict.fromkeys([*past.columns, *fresh.columns]))
    sides = zip(past.matrices(columns), fresh.matrices(columns), strict=True)
    p, q = (np.concatenate(side)[-most:] for side in sides)
    return Tables(columns, p, q, {**fresh.texts, **past.texts})


def telling_columns(training: Sequence[Array]) -> Bools:
    """Which columns take more than one value (NaN is one) in the training tables.

    A score must be fixed before it is judged: which cells only the fresh outputs have must not change what is learned.
    """
    first = training[0][:1]
    same = np.ones(first.shape[1], dtype=bool)
    for table in training:
        equal = (table == first) & (np.signbit(table) == np.signbit(first))  # 0.0 is not -0.0
        same &= np.all(equal | (np.isnan(table) & np.isnan(first)), axis=0)
    return np.asarray(~same)


def kept(tables: Sequence[Array], columns: Bools) -> list[Array]:
    """Some columns of each; never none."""
    if not columns.any():
        return [np.zeros((len(table), 1)) for table in tables]
    return [table if columns.all() else table[:, columns] for table in tables]
