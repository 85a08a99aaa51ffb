"""Reading ``claims.toml``: what is wrong is said in one line with file, line, claim, field and value."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dpassay.reference.errors import BadInput
from dpassay.reference.files import parse_toml, read_text

from .model import TAGS, ClaimsFile

DEFAULT = Path("claims.toml")
_HEADER = re.compile(r"\s*\[\[\s*claim\s*\]\]")
_KEY = re.compile(r"\s*([A-Za-z0-9_-]+)\s*=")


def read_claims(path: Path) -> tuple[ClaimsFile, Lines]:
    """The claims of a file, and where they stand in it.

    Raises:
        BadInput: one line naming the file, the line where it is known, the field and the value.
    """
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
    place: list[Any] = [*first["loc"][:2], *(part for part in first["loc"][2:3] if part not in TAGS), *first["loc"][3:]]
    why = str(first["msg"]).removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        why = "is no field of such a claim"
    value = None if first["type"] == "missing" else first["input"]
    if len(place) < 2 or place[0] != "claim" or not isinstance(place[1], int):
        field = ".".join(str(part) for part in place)
        return BadInput(lines.where(-1, field), value if field else "malformed", why)
    (number, *rest), claim = place[1:], document["claim"][place[1]]
    name = claim.get("name", "") if isinstance(claim, dict) else ""
    where = lines.where(number, str(rest[0]) if rest else "", name if isinstance(name, str) else "")
    return BadInput(where + "".join(f"[{part}]" for part in rest[1:]), value if rest else name or "malformed", why)
