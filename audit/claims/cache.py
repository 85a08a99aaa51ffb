"""Rows that need not be made again: kept under a hash of all that decides them."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from dpassay.audit.row import Row
from dpassay.audit.running.report_file import load, save
from dpassay.reference.errors import BadInput
from dpassay.reference.kept import environment

from .audited import named
from .model import Claim

FOLDER = ".dpassay_cache"
_MOST = 500  # rows that are kept


class Cache:
    """Rows beside the claims file, one file each.

    A row comes back only for the same code, data, parameters, interpreter and libraries. What cannot be read counts as
    not there.
    """

    def __init__(self, folder: Path):
        self._folder = folder / FOLDER

    def get(self, code: str, claim: Claim) -> Row | None:
        """The row, marked as kept, under the claim's present name and owner."""
        path = self._path(code)
        try:
            (row,) = load(path)
        except (BadInput, ValueError):
            return None
        return replace(named(row, claim), cached=True)

    def put(self, code: str, row: Row) -> None:
        """Keep a row; a folder that cannot be written to keeps none."""
        with suppress(BadInput, OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / ".gitignore").write_text("*\n", encoding="utf-8")
            save(self._path(code), [row], replace=True)
            self._prune()

    def _path(self, code: str) -> Path:
        return self._folder / f"{hashlib.sha256(f'{code} {environment()}'.encode()).hexdigest()[:32]}.json"

    def _prune(self) -> None:
        kept = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in kept[_MOST:]:
            path.unlink(missing_ok=True)
