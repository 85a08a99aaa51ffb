"""Shared by the benchmarks: options, and what is kept in `benchmarks/results/`, the files that notes and pages cite."""

import argparse
import contextlib
import io
import json
import os
import platform
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.audit.plain import json_text

RESULTS = Path(__file__).resolve().parent / "results"


def options(description: str | None, only: bool = False) -> argparse.Namespace:
    """`--quick` (small, for looking) and `--write` (keep the figures); `--only` if a part of the rows makes sense."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small version: seconds to a few minutes")
    parser.add_argument("--write", action="store_true", help="keep the figures in benchmarks/results/")
    parser.add_argument("--partial", type=Path, help="rows as they are measured; those that it holds are not repeated")
    if only:
        parser.add_argument("--only", default="", help="rows whose name contains this, for looking")
    chosen = parser.parse_args()
    if only and chosen.only and chosen.write:
        parser.error("--only is for looking: --write keeps all rows")
    return chosen


def text(value: Any) -> str:
    """A cell: three or four digits for floats, everything else as it is."""
    if isinstance(value, float | np.floating):
        return "infinity" if np.isinf(value) else f"{value:.4g}"
    return str(value)


def markdown(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A pipe table; a bar inside a cell is escaped."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return (
        "\n".join([*lines, *("| " + " | ".join(text(cell).replace("|", "\\|") for cell in row) + " |" for row in rows)])
        + "\n"
    )


def write(
    name: str,
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[Any]],
    notes: Sequence[str],
    command: str | None = None,
) -> None:
    """Keep one table: figures as JSON, and for the eye as Markdown, with the command that makes them."""
    RESULTS.mkdir(exist_ok=True)
    command = command or f"python benchmarks/{name}.py --write"
    records = [dict(zip(header, row, strict=True)) for row in rows]
    where = {"python": platform.python_version(), "numpy": np.__version__, "cores": os.cpu_count()}
    document = {"title": title, "command": command, "machine": where}
    document |= {"notes": list(notes), "rows": records}
    (RESULTS / f"{name}.json").write_text(json_text(document) + "\n")
    lines = [f"# {title}", "", f"`{command}`", "", markdown(header, rows), *notes, ""]
    (RESULTS / f"{name}.md").write_text("\n".join(lines))


def show(header: Sequence[str], row: Sequence[Any]) -> None:
    """One line on the screen, as soon as it is known."""
    print("  ".join(f"{name} {text(value)}" for name, value in zip(header, row, strict=True)), flush=True)


def finish(
    name: str, title: str, header: Sequence[str], rows: Sequence[Sequence[Any]], notes: Sequence[str], keep: bool
) -> None:
    """Every row and the notes on the screen; with `keep` as a table of the results too."""
    for row in rows:
        show(header, row)
    print("\n".join(notes))
    if keep:
        write(name, title, header, rows, notes)


def record(path: Path | None, one: Any) -> None:
    """Add one record to a file of JSON lines, if there is one: what is cut short has kept what it did."""
    if path is not None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(one) + "\n")


def recorded(paths: Iterable[Path]) -> list[Any]:
    """The records of files of JSON lines; a file that is not there holds none."""
    lines = [line for path in paths if path.exists() for line in path.read_text(encoding="utf-8").splitlines()]
    return [json.loads(line) for line in lines]


def known_or(path: Path | None, key: str, measured: Callable[[], list[Any]]) -> list[Any]:
    """What `measured` gives, from the file if it is in it, else appended to it: an interrupted run goes on."""
    known = dict(recorded([] if path is None else [path]))
    if key not in known:
        known[key] = measured()
        record(path, [key, known[key]])
    return list(known[key])


class _Both(io.StringIO):
    """Keeps what is written and shows it at once."""

    def write(self, text: str) -> int:
        sys.__stdout__.write(text)
        sys.__stdout__.flush()
        return super().write(text)


def keep_printed(script: str, about: str, measure: Callable[[bool], None], only: bool = False) -> None:
    """Run `measure(quick)`; with --write keep what it prints, headed by the first line of `about`."""
    chosen = options(about, only)
    with contextlib.redirect_stdout(_Both()) as shown:
        measure(chosen.quick)
    if chosen.write:
        name = Path(script).stem
        command = " ".join(["python", f"benchmarks/{name}.py", *sorted(sys.argv[1:])])
        RESULTS.mkdir(exist_ok=True)
        text = f"# {about.strip().splitlines()[0]}\n\nWritten by `{command}`.\n\n```\n{shown.getvalue().strip()}\n```\n"
        (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
