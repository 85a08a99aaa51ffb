"""The claims file as data: ``claims.toml``, one table a claim.

What is not understood is refused, in one line with file, line, claim, field and value.
"""

import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from dpassay.audit.plain import in_words
from dpassay.audit.row import Effort
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import parse_toml, read_text, there

DEFAULT = Path("claims.toml")
_HEADER = re.compile(r"\s*\[\[\s*claim\s*\]\]")
_KEY = re.compile(r"\s*([A-Za-z0-9_-]+)\s*=")
_STRICT = ConfigDict(extra="forbid", frozen=True, strict=True)
Text = Annotated[str, Field(min_length=1, max_length=500)]
Runs = Annotated[int, Field(ge=10, le=10**9)]

_SHORTEST = 50  # pilot that teaches anything
EFFORTS = {"quick": Effort(runs=400, pilot=200, examples=100), "full": Effort()}


class Claim(BaseModel):
    """One claim: a name, an algorithm, a guarantee, and who answers for it."""

    model_config = _STRICT

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$")] = Field(
        description="Unique in the file: letters, digits, dots, dashes."
    )
    algorithm: Text = Field(
        description="A key of `dpassay list`, or MODULE:NAME of your own function, on a tape or plain NumPy."
    )
    space: Text | None = Field(None, description="MODULE:NAME of the data that the claim of your own code covers.")
    relation: Relation | None = Field(None, description="Of the neighbours; default: that of the space or the case.")
    program: Text | None = Field(
        None,
        description="A command on the live protocol (docs/live.md), no shell: it runs the algorithm, a name of the "
        "catalogue; or, on a space of its own, any word that it is told.",
    )
    timeout: Annotated[float, Field(gt=0, lt=1e6)] = Field(10.0, description="Seconds for one line of the program.")
    epsilon: Annotated[float, Field(gt=0, allow_inf_nan=False, description="Of (epsilon, delta)-DP.")]
    delta: Annotated[float, Field(gt=0, lt=1, description="A pure claim is held at a small one.")]
    effort: Literal["quick", "full"] = Field("full", description="quick: 400 runs, 100 examples; full: 1,000 and 150.")
    runs: Runs | None = Field(None, description="Runs of the likelihood audit, in place of those of the effort.")
    examples: Annotated[int, Field(ge=1, le=10**6)] | None = Field(None, description="Of the search, likewise.")
    seed: Annotated[int, Field(ge=0, lt=2**63)] = Field(0, description="Same seed, same result.")
    severity: Literal["error", "warning"] = Field(
        "error", description="A warning is shown, and does not change the exit code."
    )
    owner: Annotated[str, Field(max_length=200)] = Field("", description="Who answers for it; shown where it fails.")
    cite: Annotated[str, Field(max_length=500)] = Field("", description="Where it is stated: free text.")
    files: Annotated[list[Text], Field(max_length=1000)] = Field(
        [],
        description="Further files that decide the result, relative to this one: a change of one of them is a change.",
    )

    @model_validator(mode="after")
    def _named_by_a_word(self) -> Self:
        if self.program is not None and ":" in self.algorithm.partition("/")[0]:
            raise ValueError("algorithm: a name of the catalogue; or any word that the program is told, with space")
        return self

    def effort_at(self, confidence: float) -> Effort:
        """How hard to look; a pilot is not longer than the runs that it is for, but for the shortest of 50."""
        base = EFFORTS[self.effort]
        runs, examples = self.runs or base.runs, self.examples or base.examples
        return Effort(runs, min(base.pilot, max(runs, _SHORTEST)), confidence, self.seed, examples)


class ClaimsFile(BaseModel):
    """``claims.toml``."""

    model_config = _STRICT | ConfigDict(title="dpassay claims, version 1")

    version: Literal[1] = Field(description="Of this format.")
    false_alarms: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.05, description="Chance that any claim of the file that holds is called violated; shared equally by them."
    )
    claim: Annotated[list[Claim], Field(min_length=1, max_length=10_000)]

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        names = [one.name for one in self.claim]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"claim: the name {twice!r} is there twice")
        return self

    @property
    def confidence(self) -> float:
        """Of each claim's lower bounds, so that all of them together keep to ``false_alarms``."""
        return 1 - self.false_alarms / len(self.claim)


# -- reading -----------------------------------------------------------------------------------------------------------
def read_claims(path: Path) -> "tuple[ClaimsFile, Lines]":
    """The claims of a file, and where they stand in it; BadInput names the file, the line, the field and the value."""
    missing = "is not there: `dpassay init --algorithm MODULE:RUN` writes a first one"
    require(there(path, "claims file"), "claims file", str(path), missing)
    text = read_text(path, "claims file")
    document = parse_toml(text, str(path), "the claims file is TOML (`dpassay init` writes one)")
    lines = Lines(path, text)
    try:
        return ClaimsFile.model_validate(document), lines
    except ValidationError as error:
        raise _refused(error, document, lines) from None


class Lines:
    """On which line a claim, or a field of it, stands."""

    def __init__(self, path: Path, text: str):
        self.path = path
        self._found: dict[tuple[int, str], int] = {}
        number = -1
        for line, content in enumerate(text.split("\n"), 1):
            if _HEADER.match(content):
                number += 1
                self._found[number, ""] = line
            elif match := _KEY.match(content):
                self._found.setdefault((number, match[1]), line)

    def where(self, number: int, field: str = "", name: str = "") -> str:
        """``claims.toml:12: claim[1].epsilon``; a claim is called by its name if it is known. -1: of the file."""
        line = self._found.get((number, field), self._found.get((number, ""), 0))
        claim = "" if number < 0 else f"claim {name}" if name else f"claim[{number}]"
        what = ".".join(part for part in (claim, field) if part)
        return f"{self.path}{f':{line}' if line else ''}{f': {what}' if what else ''}"


def _refused(error: ValidationError, document: dict[str, Any], lines: Lines) -> BadInput:
    """The first thing that is wrong; a field too many before one that is missing: it is often a typing error."""
    first = min(error.errors(), key=lambda one: one["type"] == "missing")
    place: list[Any] = list(first["loc"])
    why, value = in_words(first), None if first["type"] == "missing" else first["input"]
    if len(place) < 2 or place[0] != "claim" or not isinstance(place[1], int):
        field = ".".join(str(part) for part in place)
        return BadInput(lines.where(-1, field), value if field else "malformed", why)
    (number, *rest), claim = place[1:], document["claim"][place[1]]
    name = claim.get("name", "") if isinstance(claim, dict) else ""
    where = lines.where(number, str(rest[0]) if rest else "", name if isinstance(name, str) else "")
    return BadInput(where + "".join(f"[{part}]" for part in rest[1:]), value if rest else name or "malformed", why)
