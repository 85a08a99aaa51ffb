"""Findings about a library, as they are told to a person: each with a few lines that show it without dpassay."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

_LIMIT = 900  # seconds for one program; the longest takes half a minute on an idle machine


@dataclass(frozen=True)
class Known:
    """One finding.

    Args:
        id: short name.
        models: names of what it is about; it accounts for their findings.
        says: what does not hold, for which neighbours.
        documented: what the library's own documentation says about it.
        thread: address of a thread that reports it; empty if none was found.
        program: a few lines that show it; they use the library, NumPy and SciPy only.
        shows: is it seen in these numbers? They are all that the program prints, in order (True and False are 1, 0).
        reads: what the printed numbers are.
        varies: the library draws from a generator that takes no seed, so another run prints other numbers.
    """

    id: str
    models: tuple[str, ...]
    says: str
    documented: str
    thread: str
    program: str
    shows: Callable[[list[float]], bool]
    reads: str
    varies: bool = False


def run_program(known: Known) -> tuple[str, bool]:
    """What the program prints, run by itself, and whether it shows the finding.

    It sees neither this package nor its folder: only what is installed.
    """
    with tempfile.TemporaryDirectory() as folder:
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        try:
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", known.program],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=_LIMIT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"no end after {_LIMIT} seconds", False
    printed = done.stdout.strip()
    if done.returncode:
        return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no output", False
    try:
        return printed, bool(known.shows(numbers(printed)))
    except IndexError:
        return printed, False


def numbers(text: str) -> list[float]:
    """All numbers in what a program printed; True and False are 1 and 0."""
    found = []
    for word in text.replace("[", " ").replace("]", " ").replace(",", " ").split():
        try:
            found.append({"True": 1.0, "False": 0.0}[word] if word in ("True", "False") else float(word))
        except ValueError:
            continue
    return found
