"""``privacy.lock.json``: what a check found of every claim, one block a claim, to be committed and reviewed.

The file holds nothing that changes from one run to the next: no times, no line numbers, numbers to so many digits as
another machine finds as well. The same code and claims give the same file, byte for byte.
"""

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator

from dpassay.audit.plain import checked, json_text, plain, rounded
from dpassay.audit.row import Row
from dpassay.audit.verdict import Verdict
from dpassay.audit.version import installed_version
from dpassay.reference.errors import BadInput
from dpassay.reference.files import read_json, write_text

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
    claimed: Two  # epsilon and delta
    severity: str
    verdict: str
    accounted: Number  # at the claimed delta; None: nothing is accounted
    realised: Number  # a lower bound
    limit: Number  # of the interval whose other end is `realised`: what the audit did not speak against
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


class Lock(_Part):
    """The whole file."""

    format: Literal[2] = 2
    dpassay: str = ""
    confidence: Finite = 0.95
    claims: dict[str, Block]


_LOCK = TypeAdapter(Lock)


def block_of(row: Row, mechanism: str, space: str) -> Block:
    """What is kept of a row."""
    return Block(
        mechanism=mechanism,
        space=space,
        relation=row.relation,
        claimed=[rounded(row.claimed, DIGITS), rounded(row.delta, DIGITS)],
        severity=row.severity,
        verdict=row.verdict,
        accounted=_number(row.accounted, DIGITS),
        realised=_number(row.realised, COARSE),
        limit=_number(row.upper_limit, COARSE),
        by=row.realised_by,
        power=None if row.power is None else rounded(row.power, 2),
        releases=[
            Released(**{**one, "scale": _span(one["scale"]) or 0.0, "sensitivity": _span(one["sensitivity"])})
            for one in ({name: entry[name] for name in Released.model_fields} for entry in row.releases)
        ],
        sequence=row.sequence,
        pair=json.loads(json_text(row.pair)),  # with sorted names: a row from the cache has them so
        missed=sorted(_PLACE.sub(r"\1: ", text) for text in row.missed),
        effort={"runs": row.runs, "pilot": row.pilot, "examples": row.examples, "seed": row.seed},
    )


def read_lock(path: Path) -> Lock:
    """A lock file; BadInput names the file, the field and the value."""
    document = read_json(path, "--baseline")
    try:
        lock: Lock = checked(_LOCK, document, str(path))
        return lock
    except BadInput as error:
        other = of_another_version(str(document.get("dpassay") or "")) if isinstance(document, dict) else ""
        why = f"{error.why}; {other}: delete it, and --update writes it anew" if other else error.why
        raise BadInput(error.field, error.value, why) from None


def of_another_version(made: str) -> str:
    """What to say of a lock that this version of dpassay wrote, if it is another one."""
    now = installed_version()
    return f"the lock is of dpassay {made}, this is {now}" if made not in ("", now) else ""


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


def _span(values: Sequence[float] | None) -> float | list[float] | None:
    if values is None:
        return None
    low, high = (rounded(value, DIGITS) for value in values)
    return low if low == high else [low, high]


def _number(value: float | str | None, digits: int) -> Number:
    found = math.nan if value is None else float(value)  # "infinity" of a row from the cache as well
    number: Number = None if math.isnan(found) else plain(rounded(found, digits))
    return number
