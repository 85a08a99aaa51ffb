"""A failure as data: the smallest example that shows a finding, printed for people and kept as a file that replays.

A file names an algorithm; it never decides what is imported. Whoever replays it says which code it may run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.audit.lockstep.script import Script, read_script
from dpassay.audit.plain import json_text
from dpassay.reference.errors import BadInput, printable, require
from dpassay.reference.files import read_json, write_text
from dpassay.reference.findings import Finding, Kind
from dpassay.reference.types import Array

from .ground import Data

FORMAT = 2
_LARGEST = 10**6  # numbers in the rows of a file
Key = tuple[Kind, str]  # of a finding: kind and label


@dataclass(frozen=True)
class Made:
    """A line that made what a finding shows: what it does, ``file.py:12 in run: text``, and where it is."""

    role: str
    text: str
    file: str = ""
    line: int = 0


@dataclass(frozen=True, eq=False)
class Witness:
    """One finding with the example that shows it.

    Args:
        data: rows of D, the target's row on D', sizes.
        line: of the algorithm's source where the runs part, ``file:line in function: text``: of outputs that of the
            return (of several, where the sides return at different ones).
        here: the query on D there, if the finding is about one, or the part of the output; ``there``: on D'.
        about: what was run (algorithm, space, epsilon, delta, relation), as the user named it.
        made: the lines that made what it shows, the most telling first; a file keeps their words.
    """

    finding: Finding
    data: Data
    script: Script
    seed: int
    line: str = ""
    here: Array | None = None
    there: Array | None = None
    about: Mapping[str, str | float] = field(default_factory=dict)
    made: tuple[Made, ...] = ()

    def lines(self) -> list[str]:
        """What a person reads."""
        finding = self.finding
        found = [f"{finding}" if finding.label else f"{finding.kind.value}: {finding.detail}"]
        told = [f"{one.text}  <- {one.role}" for one in self.made] or [self.line] * bool(self.line)
        found += [f"  {'at' if not number else '':7} {line}" for number, line in enumerate(told)]
        if self.here is not None and self.there is not None:
            what = "outputs" if finding.kind is Kind.OUTPUT else "queries"
            found.append(f"  {what} {_short(self.here)} on D, {_short(self.there)} on D'")
        found += pair_lines(self.data)
        values = [f"{label!r} {choice}" for label, choice in self.script.values.items()]
        values += [
            f"{label!r} number {number} {choice}"
            for label, others_ in self.script.exceptions.items()
            for number, choice in others_.items()
        ]
        if values:
            more = f"; and {len(values) - 6} more" if len(values) > 6 else ""
            found.append(f"  values  {'; '.join(values[:6])}{more}{self._reach}")
        out = [str(number) for number, part in enumerate(self.script.participation) if not part]
        if self.script.participation:
            left = f"out of secret draws {', '.join(out)}" if out else "in every secret draw"
            found.append(f"  target  {left}")
        head = len("  sizes   ")  # the words on the left keep their column
        return [
            printable(line) if not line.startswith("  ") else line[:head] + printable(line[head:]) for line in found
        ]

    @property
    def _reach(self) -> str:
        """Of plain code, which is known by its reading: no value is dictated that its noise does not give."""
        far = any(one.how not in ("drawn", "query") for one in self.script.values.values()) or self.script.exceptions
        return " (as far that way as noise goes)" if far and "reading" in self.about else ""

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        finding = self.finding
        return {
            "format": FORMAT,
            "finding": {
                "kind": finding.kind.value,
                "label": finding.label,
                "step": finding.step,
                "detail": finding.detail,
                "given_secrets": finding.given_secrets,
            },
            "sizes": dict(self.data.sizes),
            "rows": None if self.data.rows is None else self.data.rows.tolist(),
            "there": None if self.data.there is None else self.data.there.tolist(),
            "target": self.data.target,
            "swapped": self.data.swapped,
            "script": self.script.as_dict(),
            "seed": self.seed,
            "line": self.line,
            "made": [[one.role, one.text] for one in self.made],
            "queries": None if self.here is None or self.there is None else [self.here.tolist(), self.there.tolist()],
            "about": dict(self.about),
        }

    def save(self, path: Path) -> None:
        """Write the witness as JSON; floats keep every bit."""
        write_text(path, json_text(self.as_dict()) + "\n", "witness")


def read_witness(path: Path) -> Witness:
    """A witness from its file.

    Raises:
        BadInput: naming the file and the first field that is not as it should be.
    """
    return witness_of(read_json(path, "witness"), path)


def witness_of(document: Any, path: Path | str) -> Witness:
    """A witness from plain data (a file, a row of a report); ``path`` says in messages where it stands.

    Raises:
        BadInput: naming ``path`` and the first field that is not as it should be.
    """
    require(isinstance(document, dict), str(path), type(document).__name__, "must be a JSON object")
    require(document.get("format") == FORMAT, f"{path}: format", document.get("format"), f"must be {FORMAT}")
    data = Data(
        _sizes(path, document.get("sizes")),
        _numbers(path, "rows", document.get("rows"), 2),
        _numbers(path, "there", document.get("there"), 1),
        _whole(path, "target", document.get("target")),
        document.get("swapped") is True,
    )
    require((data.rows is None) == (data.there is None), f"{path}: there", None, "must come with rows")
    if data.rows is not None and data.there is not None:
        size = len(data.rows)
        require(data.target < size, f"{path}: target", data.target, f"must be the number of one of {size} rows")
        shape, wanted = data.there.shape, data.rows.shape[1:]
        require(shape == wanted, f"{path}: there", shape, f"must be a row of the shape {wanted}")
    queries = document.get("queries")
    pair: list[Array | None] = [None, None]
    if isinstance(queries, list) and len(queries) == 2:
        pair = [_numbers(path, "queries", one, None) for one in queries]
    return Witness(
        _finding(path, document.get("finding")),
        data,
        read_script(f"{path}: script", document.get("script")),
        _whole(path, "seed", document.get("seed")),
        str(document.get("line", "")),
        pair[0],
        pair[1],
        _about(path, document.get("about")),
        _lines_made(path, document.get("made", [])),
    )


def _lines_made(path: Path | str, found: Any) -> tuple[Made, ...]:
    try:
        return tuple(Made(str(role), str(text)) for role, text in found)
    except (TypeError, ValueError):
        raise BadInput(f"{path}: made", type(found).__name__, "must be a list of pairs of texts") from None


def _finding(path: Path | str, found: Any) -> Finding:
    require(isinstance(found, dict), f"{path}: finding", found, "must be an object")
    kinds = {kind.value: kind for kind in Kind}
    kind, label, detail = found.get("kind"), found.get("label"), found.get("detail")
    if not isinstance(kind, str) or kind not in kinds:
        raise BadInput(f"{path}: finding.kind", kind, f"must be one of {', '.join(kinds)}")
    for name, value in (("label", label), ("detail", detail)):
        require(isinstance(value, str), f"{path}: finding.{name}", value, "must be of type str")
    step = _whole(path, "finding.step", found.get("step"))
    return Finding(kinds[kind], str(label), step, str(detail), found.get("given_secrets") is True)


def _about(path: Path | str, found: Any) -> dict[str, str | float]:
    require(isinstance(found, dict), f"{path}: about", found, "must be an object")
    for name, value in found.items():
        good = isinstance(value, str | int | float) and not isinstance(value, bool)
        require(good, f"{path}: about.{name}", value, "must be a text or a number")
    return dict(found)


def _sizes(path: Path | str, found: Any) -> dict[str, int]:
    require(isinstance(found, dict), f"{path}: sizes", found, "must be an object")
    return {str(name): _whole(path, f"sizes.{name}", value) for name, value in found.items()}


def _whole(path: Path | str, name: str, value: Any) -> int:
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
    require(good, f"{path}: {name}", value, "must be a whole number from 0")
    return int(value)


def _numbers(path: Path | str, name: str, found: Any, dimensions: int | None) -> Array | None:
    if found is None:
        return None
    try:
        array = np.array(found, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise BadInput(f"{path}: {name}", type(found).__name__, "must be numbers, equally many in each row") from None
    good = array.size <= _LARGEST and (dimensions is None or array.ndim == dimensions)
    require(good, f"{path}: {name}", array.shape, f"must have {dimensions} dimensions")
    require(bool(np.isfinite(array).all()), f"{path}: {name}", "not finite", "must be finite numbers")
    return array


def _short(values: Array) -> str:
    if values.ndim == 0:
        return f"{float(values):.6g}"
    flat = values.ravel()
    text = ", ".join(f"{value:.6g}" for value in flat[:6]) if values.ndim == 1 else ", ".join(map(_short, values[:6]))
    more = len(values) - 6 if values.ndim > 1 else flat.size - 6
    return f"[{text}{f', and {more} more' if more > 0 else ''}]"


def pair_lines(data: Data) -> list[str]:
    """What a person reads of two neighbours."""
    if data.rows is None or data.there is None:
        return [f"  data    the given pair{', D and D exchanged' if data.swapped else ''}"]
    sizes = ", ".join(f"{name} = {value}" for name, value in data.sizes.items())
    lines = [f"  sizes   {sizes}; the neighbours differ in record {data.target}"]
    lines.append(f"  D       {_short(data.rows[data.target])} there, D' {_short(data.there)}")
    others = np.delete(data.rows, data.target, axis=0)
    if len(others):
        same = bool(np.all(others == others[0]))
        lines.append(f"  others  {'all ' + _short(others[0]) if same else _short(others)}")
    return lines


def weight(data: Data, script: Script) -> tuple[float, ...]:
    """How much there is to read: the smaller, the better a witness."""
    rows = np.zeros((0, 1)) if data.rows is None else data.rows
    nonzero = float(np.count_nonzero(rows)) + (0 if data.there is None else float(np.count_nonzero(data.there)))
    told = sum(len(one) for one in script.exceptions.values())
    drawn = sum(choice.how in ("drawn", "huge", "norm") for choice in script.values.values())
    odd = float(sum(not math.isclose(value, round(value)) for value in rows.ravel()))
    return (float(sum(data.sizes.values())), float(told), float(drawn), nonzero, odd, float(data.target))
