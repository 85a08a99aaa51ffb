"""A claims file: what a project says of its algorithms, as data that a CI can hold it to."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.errors import BadInput
from dpassay.reference.files import read_json
from dpassay.reference.papers import Cite


class ClaimEntry(BaseModel):
    """One claim: an algorithm of the catalogue satisfies (epsilon, delta)-DP."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    algorithm: str
    reading: Literal["printed", "repaired", "baseline"] | None = None
    epsilon: float = Field(gt=0, allow_inf_nan=False)
    delta: float = Field(gt=0, lt=1)
    relation: Relation = "replace-one"

    def stated(self, cite: Cite | None) -> PrivacyClaim:
        """What the entry claims, of an algorithm with this source."""
        return PrivacyClaim(self.epsilon, self.delta, cite, self.relation)


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
        return ClaimsFile.model_validate(read_json(path, "claims file"))
    except ValidationError as error:
        first = error.errors()[0]
        field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
        raise BadInput(f"{path}: {field or 'document'}", first["input"], first["msg"]) from None
