"""A claims file: what a project says of its algorithms, as data that a CI can hold it to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dpassay.reference.errors import BadInput


class ClaimEntry(BaseModel):
    """One claim: an algorithm of the catalogue satisfies (epsilon, delta)-DP."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    algorithm: str
    reading: Literal["printed", "repaired", "baseline"] | None = None
    epsilon: float = Field(gt=0, allow_inf_nan=False)
    delta: float = Field(gt=0, lt=1)
    relation: Literal["replace-one", "add-remove"] = "replace-one"


class ClaimsFile(BaseModel):
    """The file: ``{"version": 1, "claims": [...]}``."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    version: Literal[1]
    claims: list[ClaimEntry] = Field(min_length=1)


def read_claims(path: Path) -> ClaimsFile:
    """Parse a claims file.

    Raises:
        BadInput: one line naming the file, the field and the value.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput("claims file", str(path), getattr(error, "strerror", None) or str(error)) from None
    try:
        return ClaimsFile.model_validate(json.loads(text))
    except json.JSONDecodeError as error:
        raise BadInput(f"{path}: line {error.lineno}", error.msg, "the file must be JSON") from None
    except ValidationError as error:
        first = error.errors()[0]
        field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
        raise BadInput(f"{path}: {field or 'document'}", first["input"], first["msg"]) from None
