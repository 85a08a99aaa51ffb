"""What `dpassay reproduce` hands to a paper's module and gets back."""

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

from dpassay.audit.plain import json_text
from dpassay.reference.errors import BadInput
from dpassay.reference.files import parse_toml, read_text, there, write_text

NOTES = Path(__file__).with_name("notes.toml")
Found = TypeVar("Found")


def notes_of(name: str) -> list[str]:
    """What is said below the tables of a paper, from ``notes.toml``."""
    found: list[str] = parse_toml(read_text(NOTES, "notes"), str(NOTES))[name]
    return found


class Finished(Generic[Found]):
    """What a reproduction has finished, one line of JSON each: an interrupted one goes on behind the last.

    A last line that was cut off is dropped; BadInput names the file and the first line that is none.

    Args:
        kind: a dataclass with a property or field ``key``.
        what: one is called.
    """

    def __init__(self, path: Path, kind: type[Found], what: str):
        self.path, self._found, read = path, dict[Any, Found](), TypeAdapter(kind).validate_json
        name = f"finished {what}s"
        *lines, rest = read_text(path, name).split("\n") if there(path, name) else [""]
        for number, line in enumerate(lines, 1):
            try:
                one: Any = read(line, strict=True)
            except ValueError:
                raise BadInput(str(path), line[:60], f"line {number} is not a {what}; delete the file") from None
            self._found[one.key] = one
        if rest:
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def __getitem__(self, key: Any) -> Found:
        return self._found[key]

    def make(self, key: Any, made: Callable[[], Found]) -> None:
        """Make it, and keep it at once, unless it is finished."""
        if key not in self._found:
            self._found[key] = one = made()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(asdict(one), sort_keys=True, allow_nan=False) + "\n")  # type: ignore[call-overload]


@dataclass(frozen=True)
class Options:
    """Options of one reproduction.

    Args:
        seed: names all randomness.
        runs: repetitions per cell; None takes the module's own number.
        quick: a small version that shows the shape of the result.
        output: folder for tables, plots and the JSON report.
        data: folder with the paper's own data sets, where they cannot be shipped; None uses what is at hand.
        track: gives the items back one by one and tells the user how many are done.
    """

    seed: int = 0
    runs: int | None = None
    quick: bool = False
    output: Path = Path("reports/reproduce")
    data: Path | None = None
    track: Callable[[Sequence[Any], str], Iterable[Any]] = lambda items, _: items


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
        path = folder / f"{self.paper}.json"
        content = asdict(self) | {"files": [file.name for file in self.files]}
        write_text(path, json_text(content) + "\n", "--output")
        return path

    def write_page(self, page: Path, command: str) -> Path:
        """Write the report as a Markdown page; images are copied beside it."""
        page.parent.mkdir(parents=True, exist_ok=True)
        parts = [f"# Reproduction: `{self.paper}`\n\nWritten by `{command}`.\n"]
        parts += [f"## {table.title}\n\n{markdown(table)}" for table in self.tables]
        for image in (file for file in self.files if file.suffix in (".png", ".svg")):
            if image.parent.resolve() != page.parent.resolve():
                shutil.copyfile(image, page.parent / image.name)
            parts.append(f"![{image.stem.replace('_', ' ')}]({image.name})\n")
        parts.append("## Notes\n\n" + "".join(f"- {note}\n" for note in self.notes))
        write_text(page, "\n".join(parts), "--page")
        return page


def saved(figure: Any, folder: Path, name: str) -> Path:
    """A figure as a picture; the same figure gives the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.png"
    figure.savefig(path, dpi=80, metadata={"Software": None})
    return path


def markdown(table: Table) -> str:
    """One table in Markdown (a bar inside a cell is escaped)."""
    lines = [table.columns, tuple("---" for _ in table.columns), *table.rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)
