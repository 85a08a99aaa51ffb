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

from dpassay.audit.plain import checked, json_text, plain, rounded
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


def block_of(row: Row, pairs: Sequence[tuple[float, float]], mechanism: str, space: str) -> Block:
    """What is kept of a row."""
    return Block(
        mechanism=mechanism,
        space=space,
        relation=row.relation,
        claimed=[[rounded(epsilon, DIGITS), rounded(delta, DIGITS)] for epsilon, delta in pairs],
        severity=row.severity,
        verdict=row.verdict,
        accounted=_at_pairs(row, pairs, "accounted", DIGITS),
        realised=_at_pairs(row, pairs, "realised", COARSE),
        limit=_at_pairs(row, pairs, "upper_limit", COARSE),
        by=row.realised_by,
        power=None if row.power is None else rounded(row.power, 2),
        releases=[_released(one) for one in row.releases],
        sequence=row.sequence,
        pair=json.loads(json_text(row.pair)),  # with sorted names: a row from the cache has them so
        missed=sorted(_PLACE.sub(r"\1: ", text) for text in row.missed),
        effort={"runs": row.runs, "pilot": row.pilot, "examples": row.examples, "seed": row.seed},
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
    head = [f' "{field}": {_json(getattr(lock, field))}' for field in ("format", "dpassay", "confidence")]
    blocks = [f"  {_json(name)}: {{\n{_fields(block)}\n  }}" for name, block in lock.claims.items()]
    return "{\n" + ",\n".join([*head, ' "claims": {\n' + ",\n".join(blocks) + "\n }"]) + "\n}\n"


def _fields(block: Block) -> str:
    found = []
    for field, value in block.model_dump().items():
        rows = ",\n".join(f"    {_json(one)}" for one in value) if field in ("releases", "missed") else ""
        found.append(f'   "{field}": ' + (f"[\n{rows}\n   ]" if rows else _json(value)))
    return ",\n".join(found)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _released(entry: Mapping[str, Any]) -> Released:
    kept = {name: entry[name] for name in ("label", "law", "count", "participation")}
    return Released(**kept, scale=_span(entry["scale"]) or 0.0, sensitivity=_span(entry["sensitivity"]))


def _span(values: Sequence[float] | None) -> float | list[float] | None:
    if values is None:
        return None
    low, high = (rounded(value, DIGITS) for value in values)
    return low if low == high else [low, high]


def _at_pairs(row: Row, pairs: Sequence[tuple[float, float]], name: str, digits: int) -> list[Number]:
    """Of a claim about several pairs the row has what was found at each among its facts."""
    if len(pairs) == 1 or f"{name} at delta {pairs[0][1]!r}" not in row.facts:
        return [_number(getattr(row, name), digits)]
    return [_number(row.facts[f"{name} at delta {delta!r}"], digits) for _, delta in pairs]


def _number(value: float | str | None, digits: int) -> Number:
    found = math.nan if value in (None, "none") else float(value or 0)  # "infinity" of a row from the cache as well
    number: Number = None if math.isnan(found) else plain(rounded(found, digits))
    return number


def size(number: Number) -> float | None:
    """A number of a lock as a float."""
    return None if number is None else float(number)
