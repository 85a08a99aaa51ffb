"""Where in the source a finding is: the file and the line that a reviewer, an editor or a code host can open."""

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

from dpassay.audit.lockstep.source_lines import trade
from dpassay.audit.plain_numpy.mechanism import PlainMechanism
from dpassay.audit.search.coverage import own_functions
from dpassay.audit.search.placing import BESIDE, READS
from dpassay.audit.search.witness import Witness
from dpassay.reference.findings import Declared, Finding, Kind

_LABEL = re.compile(r"([^:/\s]+\.py):(\d{1,9})")
_OURS = re.compile(r"\((reference/[\w/]+\.py):(\d{1,9})\)")
_ESCAPES = re.compile("private data (decides|leaves)|noise is used twice|a fixed seed")  # words of a certificate
_REASON = re.compile(r":\d+: (.*?)(?:: `|$)")  # between its line and the code that stands there
_PACKAGE = Path(__file__).resolve().parents[2]
_Place = tuple[str, int]


def places_of(
    run: Callable[..., Any],
    findings: Sequence[Finding],
    witnesses: Sequence[Witness],
    shown: Iterable[Declared] = (),
    lost: str = "",
    unbounded: bool = False,
) -> list[dict[str, Any]]:
    """The lines of each finding, most telling first: ``finding`` (its kind, its label in brackets), ``file``, ``line``.

    ``role`` says what that line does with it. A witness knows which lines made what it shows, and where the two runs
    part. Where it does not know where private data get out, the line comes first at which the certificate saw it, and
    before what spends too much the line at which nothing bounds a query. What is about the whole run (over budget,
    violated) stands where its witness says, else where the first finding is, at the line that a certificate names, or
    where the algorithm begins; these two stand in last entries with an empty ``finding`` too, for what has no place of
    its own. Files are relative to the working directory where they lie in it.

    Args:
        shown: what was found in the words of a declaration; what is of the whole run has entries of its own.
        lost: why a certificate has no bound, in words that begin with a line.
        unbounded: it has none because nothing bounds a query there.
    """
    functions = _functions(run)
    files = {Path(one.__code__.co_filename).name: one.__code__.co_filename for one in reversed(functions)}
    start = (functions[0].__code__.co_filename, functions[0].__code__.co_firstlineno) if functions else None
    known = {(one.finding.kind, one.finding.label): one for one in witnesses}
    of_kind = {kind: one for (kind, _), one in known.items()}
    opened = _named(_LABEL.search(lost), files)
    whole, why = opened or start, _REASON.search(lost)
    ends = [("nothing bounds it" if unbounded or why is None else why[1], opened)] if opened else []
    home = {Path(one[0]).parent for one in (opened, start) if one}  # its own line, no helper's of the package
    escapes = (
        opened is not None and _ESCAPES.search(lost) is not None and (len(home) == 1 or trade(opened[0]) == "theirs")
    )
    found: list[dict[str, Any]] = []
    leading: list[tuple[str, _Place]] = []

    def put(name: str, lines: Sequence[tuple[str, _Place]]) -> None:
        for role, (file, line) in lines:
            entry = {"finding": name, "file": shown_path(file), "line": line, "role": role}
            if all((one["finding"], one["file"], one["line"]) != (name, entry["file"], line) for one in found):
                found.append(entry)

    def begun(kind: Kind, lines: list[tuple[str, _Place]]) -> list[tuple[str, _Place]]:
        spends = kind is Kind.SENSITIVITY_EXCEEDED or kind.of_the_run
        seen = any(role in (BESIDE, READS) for role, _ in lines) or kind is Kind.APPARATUS
        return [*ends, *lines] if (spends if unbounded else escapes and not seen) else lines

    for finding in findings:
        witness = known.get((finding.kind, finding.label))
        lines = begun(finding.kind, _lines(finding, witness, files) or ([("", whole)] if whole else []))
        leading = leading or lines
        put(finding.kind.value + (f" ({finding.label})" if finding.label else ""), lines)
    for one in sorted(shown, key=lambda one: one.kind.value):
        if one.kind.of_the_run:
            witness = of_kind.get(one.kind) or of_kind.get(Kind.OVER_BUDGET)
            lines = [] if witness is None else _lines(witness.finding, witness, files)
            lines = begun(one.kind, lines or leading or ([("", whole)] if whole else []))
            put(one.kind.value, [*(line for line in leading if line[0] in (BESIDE, READS)), *lines])
    put("", [*ends, *([("", start)] if start else [])])
    return found


def _lines(finding: Finding, witness: Witness | None, files: dict[str, str]) -> list[tuple[str, _Place]]:
    """What is known of a finding's lines; of the apparatus that is its own source, of plain code its label."""
    ours = _OURS.search(finding.label) if finding.kind is Kind.APPARATUS else None
    if ours:
        return [("", (str(_PACKAGE / ours[1]), int(ours[2])))]
    if witness is not None and witness.made:
        return [(one.role, (one.file, one.line)) for one in witness.made]
    place = _named(_LABEL.match(finding.label), files)
    return [("", place)] if place else []


def _named(match: re.Match[str] | None, files: dict[str, str]) -> _Place | None:
    """The place that words name: a file of the algorithm, else one that is loaded."""
    if match is None:
        return None
    loaded = (getattr(one, "__file__", None) or "" for one in list(sys.modules.values()))
    file = files.get(match[1]) or next((one for one in loaded if Path(one).name == match[1]), None)
    return (file, int(match[2])) if file else None


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
