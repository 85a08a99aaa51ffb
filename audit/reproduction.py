"""What `dpassay reproduce` hands to a paper's module and gets back."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Options:
    """Options of one reproduction.

    Args:
        seed: names all randomness.
        runs: repetitions per cell; None takes the module's own number.
        quick: a small version that shows the shape of the result.
        output: folder for tables, plots and the JSON report.
        data: folder with the paper's own data sets, where they cannot be shipped; None uses what is at hand.
    """

    seed: int = 0
    runs: int | None = None
    quick: bool = False
    output: Path = Path("reports/reproduce")
    data: Path | None = None


@dataclass(frozen=True)
class Table:
    """One table: a title, column heads and rows of printable cells."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]


@dataclass(frozen=True)
class Report:
    """Tables, files written, and notes in full sentences (what was assumed, what the reader should not conclude)."""

    paper: str
    tables: list[Table] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def write(self, folder: Path) -> Path:
        """Write the report as JSON into `folder`; return the path."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.paper}.json"
        content = asdict(self) | {"files": [file.name for file in self.files]}
        path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        return path
