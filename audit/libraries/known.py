"""Findings about a library, as they are told to a person: each with a few lines that show it without dpassay."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_LIMIT = 900  # seconds for one program; the longest takes half a minute on an idle machine


@dataclass(frozen=True)
class Known:
    """One finding.

    Args:
        id: short name.
        models: names of what it is about; it accounts for their findings.
        says: what does not hold, for which neighbours.
        documented: what the library's own documentation says about it.
        program: a few lines that show it; they use the library, NumPy and SciPy only.
        reads: what the printed numbers are.
        shows: is it seen in these numbers? They are all that the program prints, in order (True and False are 1, 0).
        thread: address of a thread that reports it; empty if none was found.
        varies: the library draws from a generator that takes no seed, so another run prints other numbers.
    """

    id: str
    models: tuple[str, ...]
    says: str
    documented: str
    program: str
    reads: str
    shows: Callable[[list[float]], bool]
    thread: str = ""
    varies: bool = False


SHOWS: Mapping[str, Callable[[list[float]], bool]] = {
    "linear-regression-square": lambda seen: seen[0] == seen[1],
    "linear-regression-budget": lambda seen: seen[0] > 1.4,
    "linear-regression-bounds": lambda seen: seen[1] > 1e9 > seen[0],
    "k-means-labels": lambda seen: seen[0] == 1 and abs(seen[1]) < 1e-9,
    "k-means-empty": lambda seen: seen[1] > 1.5 * seen[0] > 0 and seen[2] > 1.5 * seen[0],
    "gaussian-nb-sums": lambda seen: seen[0] > 0.03 and seen[1] < 0.002,
    "classes-from-data": lambda seen: seen == [0, 1, 0, 1, 7, 0, 1, 0, 1, 7],
    "logistic-regression-norm": lambda seen: seen[0] > 3 * seen[1] > 0,
    "forest-order": lambda seen: seen[0] > 0.9 and seen[1] < 0.02,
    "nan-tools": lambda seen: seen[0] < 0.4 < 0.6 < seen[1],
    "bingham-sampler": lambda seen: abs(seen[0] - seen[1]) > 0.1,
    "threshold-at-equality": lambda seen: seen[1] > 2 * seen[0],
    "eigenvector-sampler": lambda seen: abs(seen[0] - seen[1]) > 0.1,
    "number-of-records": lambda seen: seen[0] > 1.6 * seen[1],
    "batches-in-order": lambda seen: seen[1] > 1.5 * seen[3],
    "adaptive-clipping": lambda seen: seen[0] > 1.6 * seen[1],
    "adaptive-clipping-sampled": lambda seen: seen[0] > 1.6 * seen[1] and seen[2] == seen[3] > 0,
    "ghost-column": lambda seen: seen[0] <= 2 < 100 < seen[1],
    "replace-one-multiplier": lambda seen: seen[1] > 1.5 * seen[0],
    "default-tolerance": lambda seen: abs(seen[1] - seen[0]) > 2 * seen[2],
    "intercept": lambda seen: abs(seen[1] - seen[0]) > 2 * seen[2],
    "balanced-weights": lambda seen: abs(seen[1] - seen[0]) > 2 * seen[2],
    "stochastic-rate": lambda seen: abs(seen[1] - seen[0]) > 2 * seen[2],
    "refused-data": lambda seen: seen == [1, 0, 1, 0],
}


def known_of(said: Mapping[str, Any]) -> Known:
    """A finding as the file of its library describes it."""
    return Known(**{**said, "models": tuple(said["models"])}, shows=SHOWS[said["id"]])


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
