"""Where in the source a finding is: the file and the line that a reviewer, an editor or a code host can open."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

from dpassay.audit.plain_numpy.mechanism import PlainMechanism
from dpassay.audit.search.coverage import own_functions
from dpassay.audit.search.witness import Witness
from dpassay.reference.findings import Declared, Finding

_SHOWN = re.compile(r"([^:/]+\.py):(\d{1,9}) in ")
_LABEL = re.compile(r"([^:/\s]+\.py):(\d{1,9})")
_PACKAGE = Path(__file__).resolve().parents[2]


def places_of(
    run: Callable[..., Any],
    findings: Sequence[Finding],
    witnesses: Sequence[Witness],
    shown: Iterable[Declared] = (),
    lost: str = "",
) -> list[dict[str, Any]]:
    """One entry a finding: ``finding`` (its kind, and its label in brackets), ``file``, ``line``.

    A witness knows the line where the two runs part. What is about the whole run (over budget, violated) stands at the
    line that a certificate names, else where the algorithm begins; there stands a last entry with an empty
    ``finding`` too, for what has no place of its own.
    Files are relative to the working directory where they lie in it.

    Args:
        shown: what was found in the words of a declaration; what is of the whole run has an entry of its own.
        lost: why a certificate has no bound, in words that begin with a line.
    """
    functions = _functions(run)
    files = {Path(one.__code__.co_filename).name: one.__code__.co_filename for one in reversed(functions)}
    seen = {(one.finding.kind, one.finding.label): _SHOWN.match(one.line) for one in witnesses}
    start = (functions[0].__code__.co_filename, functions[0].__code__.co_firstlineno) if functions else None
    named = _LABEL.search(lost)
    whole = (files[named[1]], int(named[2])) if named and named[1] in files else start
    found: list[dict[str, Any]] = []

    def put(name: str, place: tuple[str, int] | None) -> None:
        entry = place and {"finding": name, "file": shown_path(place[0]), "line": place[1]}
        if entry and entry not in found:
            found.append(entry)

    for finding in findings:
        match = seen.get((finding.kind, finding.label)) or _LABEL.match(finding.label)  # plain code: labels are lines
        name = finding.kind.value + (f" ({finding.label})" if finding.label else "")
        put(name, (files[match[1]], int(match[2])) if match and match[1] in files else whole)
    for one in sorted(shown, key=lambda one: one.kind.value):
        if one.kind.of_the_run:
            put(one.kind.value, whole)
    put("", start)
    return found


def place_of(run: Callable[..., Any]) -> tuple[str, int] | None:
    """File and line where a run begins; None for what has no source."""
    first = next(iter(_functions(run)), None)
    return None if first is None else (shown_path(first.__code__.co_filename), first.__code__.co_firstlineno)


def _functions(run: Callable[..., Any]) -> Sequence[FunctionType]:
    return own_functions(run.mechanism if isinstance(run, PlainMechanism) else run)


def shown_path(name: str | Path) -> str:
    """A file as seen from the working directory, else as a module's path in this package, else its bare name."""
    path = Path(name).resolve()
    if path.is_relative_to(Path.cwd().resolve()):
        return path.relative_to(Path.cwd().resolve()).as_posix()
    return path.relative_to(_PACKAGE).as_posix() if path.is_relative_to(_PACKAGE) else path.name
