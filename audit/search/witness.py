"""A failure as data: the smallest example that shows a finding, printed for people and kept as a file that replays;
and all that one search saw.

A file names an algorithm; it never decides what is imported. Whoever replays it says which code it may run.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, Field, StrictFloat, StrictInt, StrictStr, TypeAdapter

from dpassay.audit.lockstep.script import Script
from dpassay.audit.plain import array_of, checked, json_text
from dpassay.reference.accounting.cost import Account
from dpassay.reference.arrays import Array
from dpassay.reference.errors import printable, require
from dpassay.reference.files import read_json, write_text
from dpassay.reference.findings import Finding, Kind

from .coverage import Coverage
from .ground import Data, Setting

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
        here: the query on D there, if the finding is about one, or the part of the output; ``there``: on D'.
        about: what was run (algorithm, space, epsilon, delta, relation), as the user named it.
        made: the lines that made what it shows, the most telling first; a file keeps their words.
    """

    finding: Finding
    data: Data
    script: Script
    seed: int
    here: Array | None = None
    there: Array | None = None
    about: Mapping[str, str | float] = field(default_factory=dict)
    made: tuple[Made, ...] = ()

    def lines(self) -> list[str]:
        """What a person reads."""
        finding = self.finding
        found = [f"{finding}" if finding.label else f"{finding.kind.value}: {finding.detail}"]
        found += [f"  {'' if number else 'at':7} {one.text}  <- {one.role}" for number, one in enumerate(self.made)]
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
            far = (
                any(one.how not in ("drawn", "query") for one in self.script.values.values()) or self.script.exceptions
            )
            # plain code is known by its reading: no value is dictated that its noise does not give
            reach = " (as far that way as noise goes)" if far and "reading" in self.about else ""
            found.append(f"  values  {'; '.join(values[:6])}{more}{reach}")
        out = [str(number) for number, part in enumerate(self.script.participation) if not part]
        if self.script.participation:
            left = f"out of secret draws {', '.join(out)}" if out else "in every secret draw"
            found.append(f"  target  {left}")
        head = len("  sizes   ")  # the words on the left keep their column
        return [
            printable(line) if not line.startswith("  ") else line[:head] + printable(line[head:]) for line in found
        ]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "format": FORMAT,
            "finding": vars(self.finding) | {"kind": self.finding.kind.value},
            "sizes": dict(self.data.sizes),
            "rows": None if self.data.rows is None else self.data.rows.tolist(),
            "there": None if self.data.there is None else self.data.there.tolist(),
            "target": self.data.target,
            "swapped": self.data.swapped,
            "script": self.script.as_dict(),
            "seed": self.seed,
            "made": [[one.role, one.text] for one in self.made],
            "queries": None if self.here is None or self.there is None else [self.here.tolist(), self.there.tolist()],
            "about": dict(self.about),
        }

    def save(self, path: Path) -> None:
        """Write the witness as JSON; floats keep every bit."""
        write_text(path, json_text(self.as_dict()) + "\n", "witness")


@dataclass(eq=False)
class Searched:
    """What a search saw.

    Args:
        findings: each kind and label once, most serious first found.
        witnesses: the smallest example of each, in the same order.
        shares: by label the largest movement over the declared sensitivity.
        measured: nobody declares one, and the largest movements stand for them.
        coverage: of the algorithm's own source.
        accounted, account: the largest epsilon that a transcript added up to; None where no run could be accounted.
        gap: why some run could not be accounted; empty if all could.
        worst: the setting whose queries move the most, in units of the noise, with drawn values; None without a space.
        raised: exceptions of the algorithm on data inside the space, with how often.
        note: why the search ended early; empty if it did not.
    """

    findings: list[Finding] = field(default_factory=list)
    witnesses: list[Witness] = field(default_factory=list)
    shares: dict[str, float] = field(default_factory=dict)
    measured: bool = False
    coverage: Coverage = field(default_factory=Coverage)
    accounted: float | None = None
    account: Account | None = None
    gap: str = ""
    worst: Setting | None = None
    examples: int = 0
    raised: dict[str, int] = field(default_factory=dict)
    note: str = ""
    seconds: float = 0.0


def read_witness(path: Path) -> Witness:
    """A witness from its file; BadInput names the file and the first field that is not as it should be."""
    return witness_of(read_json(path, "witness"), path)


def witness_of(document: Any, path: Path | str) -> Witness:
    """A witness from plain data (a file, a row of a report); ``path`` says in messages where it stands."""
    stored: _Stored = checked(_STORED, document, str(path))
    data = Data(stored.sizes, array_of(stored.rows), array_of(stored.there), stored.target, stored.swapped)
    if data.rows is not None and data.there is not None:
        size, shape, wanted = len(data.rows), data.there.shape, data.rows.shape[1:]
        require(data.target < size, f"{path}: target", data.target, f"must be the number of one of {size} rows")
        require(shape == wanted, f"{path}: there", shape, f"must be a row of the shape {wanted}")
    require((data.rows is None) == (data.there is None), f"{path}: there", None, "must come with rows")
    here, there = map(array_of, stored.queries or (None, None))
    made = tuple(Made(role, text) for role, text in stored.made)
    return Witness(stored.finding, data, stored.script, stored.seed, here, there, stored.about, made)


def _finite(value: Any, gone: bool = False) -> Any:
    """Numbers of JSON, equally many in each row, and none of them infinite; ``gone``: "nan" in all of a row will do."""
    found = np.zeros(0) if value is None else array_of(value)
    known = found is not None and np.isfinite(found) | (gone & np.isnan(found).all(axis=-1, keepdims=True))
    if found is None or found.size > _LARGEST or not np.all(known):
        raise ValueError("must be finite numbers, equally many in each row")
    return value


Whole = Annotated[int, Field(strict=True, ge=0, lt=2**63)]
Numbers = Annotated[Any, AfterValidator(_finite)]
Row = AfterValidator(partial(_finite, gone=True))


@dataclass(frozen=True)
class _Stored:
    """A witness in its file."""

    format: Literal[2]
    finding: Finding
    target: Whole
    script: Script
    seed: Whole
    about: dict[str, StrictStr | StrictFloat | StrictInt]
    sizes: dict[str, Whole]
    rows: Annotated[list[list[Any]] | None, Row] = None
    there: Annotated[list[Any] | None, Row] = None
    swapped: bool = False
    queries: tuple[Numbers, Numbers] | None = None
    made: tuple[tuple[str, str], ...] = ()


_STORED = TypeAdapter(_Stored)


def _short(values: Array) -> str:
    if values.ndim < 2 and np.isnan(values).all():
        return "no record"
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
    rows, there = (np.nan_to_num(np.zeros((0, 1)) if one is None else one) for one in (data.rows, data.there))
    nonzero = float(np.count_nonzero(rows)) + float(np.count_nonzero(there))
    told = sum(len(one) for one in script.exceptions.values())
    drawn = sum(choice.how in ("drawn", "huge", "norm") for choice in script.values.values())
    odd = float(np.count_nonzero(~np.isclose(rows, np.rint(rows), rtol=1e-9, atol=0.0)))
    return (float(sum(data.sizes.values())), float(told), float(drawn), nonzero, odd, float(data.target))
