"""``privacy.lock.json``: what a check found of every claim, one block a claim, to be committed and reviewed.

The file holds nothing that changes from one run to the next: no times, no line numbers, numbers to so many digits as
another machine finds as well. The same code and claims give the same file, byte for byte.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator, model_validator

from dpassay.audit.plain import checked
from dpassay.audit.row import Row
from dpassay.audit.verdict import Verdict
from dpassay.reference.errors import BadInput
from dpassay.reference.files import read_json, write_text

FORMAT = 1
DIGITS, COARSE = 7, 4  # significant digits of what is exact, and of what is estimated
_PLACE = re.compile(r"^([^:]+):\d+: ")
Finite = Annotated[float, Field(allow_inf_nan=False)]
Number = Finite | Literal["infinity"] | None
Two = Annotated[list[Finite], Field(min_length=2, max_length=2)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Released(_Part):
    """One label: how often, with which noise and sensitivity (two numbers where they differ from use to use)."""

    label: str
    law: str
    count: int
    scale: Finite | Two
    sensitivity: Finite | Two | None
    participation: str


class Block(_Part):
    """What is kept of one claim."""

    mechanism: str
    space: str
    relation: str
    claimed: Annotated[list[Two], Field(min_length=1)]  # pairs of epsilon and delta
    severity: str
    verdict: str
    accounted: list[Number]  # one for each claimed pair, at its delta; None: nothing is accounted
    realised: list[Number]  # lower bounds, likewise
    limit: list[Number]  # of the intervals whose other ends are `realised`: what the audit did not speak against
    by: str  # what shows it
    power: Finite | None
    releases: list[Released]
    sequence: str
    pair: dict[str, Any]  # the neighbours that were audited, where a search found them
    missed: list[str]  # lines with a release or a decision that the search did not reach
    effort: dict[str, int]
    code: str  # content hash of what the claim reaches

    @field_validator("verdict")
    @classmethod
    def _known(cls, value: str) -> str:
        known = [one.value for one in Verdict]
        if value not in known:
            raise ValueError(f"must be one of {', '.join(known)}")
        return value

    @field_validator("pair")
    @classmethod
    def _finite(cls, value: dict[str, Any]) -> dict[str, Any]:
        json.dumps(value, allow_nan=False)  # a ValueError: what is kept of a lock must be written again
        return value

    @model_validator(mode="after")
    def _one_for_each_pair(self) -> Self:
        """A list that is too short would be held against nothing, and pass."""
        for name in ("accounted", "realised", "limit"):
            if len(getattr(self, name)) not in (1, len(self.claimed)):
                raise ValueError(f"{name}: must have one number for each claimed pair, or one for all of them")
        return self


class Lock(_Part):
    """The whole file."""

    format: Literal[1] = 1
    dpassay: str = ""
    confidence: Finite = 0.95
    claims: dict[str, Block]


_LOCK = TypeAdapter(Lock)


def block_of(row: Row, pairs: Sequence[tuple[float, float]], mechanism: str, space: str, code: str) -> Block:
    """What is kept of a row."""
    return Block(
        mechanism=mechanism,
        space=space,
        relation=row.relation,
        claimed=[[rounded(epsilon), rounded(delta)] for epsilon, delta in pairs],
        severity=row.severity,
        verdict=row.verdict,
        accounted=_at_pairs(row, pairs, "accounted", DIGITS),
        realised=_at_pairs(row, pairs, "realised", COARSE),
        limit=_at_pairs(row, pairs, "upper_limit", COARSE),
        by=row.realised_by,
        power=None if row.power is None else rounded(row.power, 2),
        releases=[_released(one) for one in row.releases],
        sequence=row.sequence,
        pair=in_order(row.pair),
        missed=sorted(_PLACE.sub(r"\1: ", text) for text in row.missed),
        effort={"runs": row.runs, "pilot": row.pilot, "examples": row.examples, "seed": row.seed},
        code=code,
    )


def read_lock(path: Path) -> Lock:
    """A lock file.

    Raises:
        BadInput: naming the file, the field and the value.
    """
    document = read_json(path, "--baseline")
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        found = document.get("format") if isinstance(document, dict) else type(document).__name__
        raise BadInput(f"{path}: format", found, f"must be {FORMAT}: it is no lock file of this version")
    lock: Lock = checked(_LOCK, document, str(path))
    return lock


def write_lock(path: Path, lock: Lock) -> None:
    """Write it, atomically."""
    write_text(path, lock_text(lock), "--baseline")


def lock_text(lock: Lock) -> str:
    """The file: one block a claim, one line a field, one line a release."""
    lines = ["{", f' "format": {lock.format},', f' "dpassay": {_json(lock.dpassay)},']
    lines += [f' "confidence": {_json(lock.confidence)},', ' "claims": {']
    names = list(lock.claims)
    for name in names:
        lines += [f"  {_json(name)}: {{", *_fields(lock.claims[name]), "  }" + "," * (name != names[-1])]
    return "\n".join([*lines, " }", "}"]) + "\n"


def _fields(block: Block) -> list[str]:
    data = block.model_dump()
    found = []
    for field, value in data.items():
        comma = "," * (field != list(data)[-1])
        if field in ("releases", "missed") and value:
            rows = [f"    {_json(one)}{',' * (number < len(value))}" for number, one in enumerate(value, 1)]
            found += [f'   "{field}": [', *rows, f"   ]{comma}"]
        else:
            found.append(f'   "{field}": {_json(value)}{comma}')
    return found


def in_order(found: Mapping[str, Any]) -> dict[str, Any]:
    """The same with sorted names: a row of the cache has them so, and its lock is that of a new row."""
    return {name: in_order(one) if isinstance(one, Mapping) else one for name, one in sorted(found.items())}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _released(entry: Mapping[str, Any]) -> Released:
    kept = {name: entry[name] for name in ("label", "law", "count", "participation")}
    return Released(**kept, scale=_span(entry["scale"]) or 0.0, sensitivity=_span(entry["sensitivity"]))


def _span(values: Sequence[float] | None) -> float | list[float] | None:
    if values is None:
        return None
    low, high = map(rounded, values)
    return low if low == high else [low, high]


def _at_pairs(row: Row, pairs: Sequence[tuple[float, float]], name: str, digits: int) -> list[Number]:
    """Of a claim about several pairs the row has what was found at each among its facts."""
    if len(pairs) == 1 or f"{name} at delta {pairs[0][1]!r}" not in row.facts:
        return [_number(getattr(row, name), digits)]
    return [_number(row.facts[f"{name} at delta {delta!r}"], digits) for _, delta in pairs]


def _number(value: float | str | None, digits: int) -> Number:
    if value is None or value == "none":
        return None
    found = float(value)  # "infinity" of a row from the cache as well
    if math.isnan(found):
        return None
    return "infinity" if math.isinf(found) else rounded(found, digits)


def rounded(value: float, digits: int = DIGITS) -> float:
    """With so many significant digits."""
    return float(f"{value:.{digits}g}")


def size(number: Number) -> float | None:
    """A number of a lock as a float."""
    return math.inf if number == "infinity" else None if number is None else float(number)
