"""Where the results of `audit` and `check` go beside the terminal: one set of options, one function that writes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from dpassay.audit.report.annotations import annotations as as_annotations
from dpassay.audit.report.junit import junit
from dpassay.audit.report.markdown import markdown
from dpassay.audit.report.problems import Unchecked, summary_line
from dpassay.audit.report.sarif import sarif
from dpassay.audit.row import Row
from dpassay.reference.errors import BadInput
from dpassay.reference.files import require_writable, write_text

JUnit = Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML here, one test case a row.")]
Sarif = Annotated[Path | None, typer.Option("--sarif", help="Write SARIF 2.1.0 here, findings at their source lines.")]
Markdown = Annotated[Path | None, typer.Option("--markdown", help="Write Markdown here, for a comment or a summary.")]
GitHub = Annotated[
    bool, typer.Option("--github", help="Print annotations for GitHub Actions, and add to the job's summary.")
]


@dataclass(frozen=True)
class Wanted:
    """What the command line asks for; see :meth:`check` before the work, :meth:`write` after it."""

    junit: Path | None = None
    sarif: Path | None = None
    markdown: Path | None = None
    github: bool = False

    def _files(self) -> list[tuple[str, Path, Callable[[Sequence[Row], bool, Sequence[Unchecked]], str]]]:
        named = [
            ("--junit", self.junit, junit),
            ("--sarif", self.sarif, sarif),
            ("--markdown", self.markdown, markdown),
        ]
        return [(option, path, made) for option, path, made in named if path is not None]

    def check(self, *taken: Path) -> None:
        """Say before the work begins what cannot be written.

        Args:
            taken: files that the command reads or writes itself.

        Raises:
            BadInput: naming the option.
        """
        used = {os.path.realpath(path) for path in taken}
        for option, path, _ in self._files():
            require_writable(path, option)
            regular = not path.exists() or path.is_file()
            if regular and os.path.realpath(path) in used:
                raise BadInput(option, str(path), "is used by the command as well")
            used.add(os.path.realpath(path))

    def write(
        self, rows: Sequence[Row], strict: bool = False, as_json: bool = False, unchecked: Sequence[Unchecked] = ()
    ) -> None:
        """Write the files; print annotations and the summary line, and add to the summary of the job.

        Args:
            strict: what a printed reading declares counts as well.
            as_json: standard output is a JSON document: the rest goes to standard error.
            unchecked: what has no row.
        """
        stream = sys.stderr if as_json else sys.stdout
        for option, path, made in self._files():
            write_text(path, made(rows, strict, unchecked), option)
        if self.github:
            print(as_annotations(rows, strict, unchecked), end="", file=stream)
            page = os.environ.get("GITHUB_STEP_SUMMARY")
            if page:
                _append(Path(page), markdown(rows, strict, unchecked))
        if not as_json:
            print(summary_line(rows, strict, unchecked))


def _append(path: Path, text: str) -> None:
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text + "\n")
    except (OSError, ValueError) as error:
        raise BadInput("GITHUB_STEP_SUMMARY", str(path), getattr(error, "strerror", None) or str(error)) from None
