"""`--write`: keep what a benchmark prints as benchmarks/results/<name>.md, the file that notes and pages cite."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable
from pathlib import Path
from runpy import run_path

from audit_figures import RESULTS, options

MEASURED = run_path(f"{RESULTS.parents[1]}/tests/reference/output_perturbation/measured.py")  # lies with its tests


class _Both(io.StringIO):
    """Keeps what is written and shows it at once."""

    def write(self, text: str) -> int:
        sys.__stdout__.write(text)
        sys.__stdout__.flush()
        return super().write(text)


def main(script: str, about: str, measure: Callable[[bool], None], only: bool = False) -> None:
    """Run `measure(quick)`; with --write keep its output, headed by the first line of `about`."""
    chosen = options(about, only)
    with contextlib.redirect_stdout(_Both()) as shown:
        measure(chosen.quick)
    if chosen.write:
        name = Path(script).stem
        command = " ".join(["python", f"benchmarks/{name}.py", *sorted(sys.argv[1:])])
        RESULTS.mkdir(exist_ok=True)
        text = f"# {about.strip().splitlines()[0]}\n\nWritten by `{command}`.\n\n```\n{shown.getvalue().strip()}\n```\n"
        (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
