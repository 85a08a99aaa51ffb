"""One row of a report as the page shows it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tokenize import TokenError
from typing import Any

from dpassay.audit.inputs.foreign import is_code
from dpassay.audit.plain import json_text, number
from dpassay.audit.report.problems import spots_of
from dpassay.audit.row import Row
from dpassay.audit.running.fingerprint import fingerprint
from dpassay.audit.search.coverage import own_functions
from dpassay.audit.search.witness import witness_of
from dpassay.reference.case import Case
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import printable
from dpassay.reference.papers import PAPERS

from .figures import Curves, curves_of, delta_figure, trade_off_figure
from .records import Example, Known, Line, Listing, Release, RowView

_PLACE = re.compile(r"([^:]+\.py):(\d{1,9}): ?(.*)", re.DOTALL)


def listings(row: Row, case: Case | None) -> tuple[list[Listing], int]:
    """The functions of a case with a line that was not reached, and how many functions were reached in full.

    Nothing where the row is of no case, or was made by other code than what is installed: lines could have moved.
    """
    places = unreached(row)
    if case is None or not row.code or fingerprint(case) != row.code:
        return [], 0
    found, whole = [], 0
    for function in own_functions(case.build().run):
        try:
            texts, first = inspect.getsourcelines(function)
        except (OSError, TypeError, TokenError):
            continue
        file = Path(function.__code__.co_filename).name
        lines = tuple(
            Line(number, text.rstrip("\n"), (file, number, text.strip()) in places)
            for number, text in enumerate(texts, first)
        )
        if any(line.missed for line in lines):
            found.append(Listing(file, function.__qualname__, _dedented(lines)))
        else:
            whole += 1
    return found, whole


def unreached(row: Row) -> set[tuple[str, int, str]]:
    """File, number and text of each line that the row says was not reached."""
    matches = (_PLACE.fullmatch(text) for text in row.unreached)
    return {(match[1], int(match[2]), match[3].strip()) for match in matches if match}


def _dedented(lines: Sequence[Line]) -> tuple[Line, ...]:
    margin = min((len(line.text) - len(line.text.lstrip()) for line in lines if line.text.strip()), default=0)
    return tuple(Line(line.number, line.text[margin:], line.missed) for line in lines)


_ROUNDING = 1e-6  # a query that moves by all that it declares may do so up to the last bits
_LONGEST = 4000  # letters of a witness as data; a longer one is found beside the report


def paper_of(row: Row) -> str:
    """The part of a key that filters go by."""
    return row.algorithm.partition("/")[0] if row.reading != "own" and "/" in row.algorithm else "own"


def row_view(place: int, row: Row, case: Case | None) -> RowView:
    """A row, the ``place``-th of its page; ``case`` is its entry of the catalogue, if it has one."""
    found = curves_of(row)
    name = f"row-{place}"
    paper = paper_of(row)
    shown, whole = listings(row, case)
    return RowView(
        row=row,
        id=name,
        paper=paper,
        name=printable(row.algorithm),
        numbers=_numbers(row),
        figures=(delta_figure(row, found, name), trade_off_figure(row, found, name)) if found else (),
        points=_points(found),
        curve_note=_curve_note(row, found),
        releases=tuple(_release(row, one) for one in row.releases),
        findings=_findings(row),
        witnesses=tuple(_example(row, one) for one in row.witnesses),
        premises=tuple(printable(text) for text in row.certificate if _place_of(text) not in row.source),
        known=_known(row),
        listings=tuple(shown),
        whole=whole,
        about=tuple((name, printable(value)) for name, value in _about(row, case) if value),
        repairs=_repairs(row),
        completions=case.completions if case else (),
    )


def _numbers(row: Row) -> dict[str, str]:
    how = "" if row.realised is None or row.realised_by == "likelihood" else f" ({printable(row.realised_by)})"
    return {
        "claimed": number(row.claimed),
        "certified": "" if row.certified is None else number(row.certified),
        "accounted": number(row.accounted) + ("" if row.upper_bound else " (no bound)"),
        "realised": number(row.realised) + how,
        "delta": f"{row.delta:.3g}",
    }


def _points(found: Curves | None) -> tuple[tuple[str, ...], ...]:
    if found is None:
        return ()
    columns = [found.epsilons, found.accounted]
    columns += [found.realised, found.pointwise, found.hits] if found.realised.size else []
    return tuple(tuple(f"{value:.3g}" for value in values) for values in zip(*columns, strict=True))


def _curve_note(row: Row, found: Curves | None) -> str:
    if found is None:
        return "The report holds no curves of this row."
    if not found.realised.size and row.realised is None:
        return f"No curve of what is realised: {printable(row.realised_by)}."
    if not found.realised.size:
        return (
            "No curve of what is realised: the runs tell what an adversary learns who also sees secrets of the "
            f"algorithm, which decides nothing. What is realised is shown otherwise ({printable(row.realised_by)})."
        )
    return (
        f"realised: lower bounds from {row.runs} runs; with {row.confidence:.0%} confidence all of them hold together, "
        f"and the steps between them too. pointwise: each by itself, at the same confidence. Points of the second "
        f"figure: tests that an adversary has, again all together. The dot at the claimed delta is the bound of the "
        f"verdict, with a confidence of its own."
    )


def _release(row: Row, one: Mapping[str, Any]) -> Release:
    label = str(one.get("label", ""))
    shares = [share for share in (row.movements.get(label), row.shares.get(label)) if share is not None]
    return Release(
        label=printable(label),
        law=printable(str(one.get("law", ""))),
        count=printable(str(one.get("count", ""))),
        scale=_span(one.get("scale")),
        sensitivity=_span(one.get("sensitivity")) or "none declared",
        moved="-" if not shares else f"{max(shares):.0%}" if max(shares) < 2 else f"{max(shares):.3g} times",
        exceeded=max(shares, default=0.0) > 1 + _ROUNDING,
        participation=printable(str(one.get("participation", ""))),
    )


def _span(values: Any) -> str:
    """``0.5`` or ``0.1 to 0.5``; a file of others may hold anything."""
    if not isinstance(values, list) or not 1 <= len(values) <= 2:
        return ""
    try:
        texts = [number(value) for value in values]
    except (TypeError, ValueError):
        return ""
    return texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"


def _example(row: Row, data: Mapping[str, Any]) -> Example:
    witness = witness_of(data, f"{row.key}: witness")
    text = json_text(witness.as_dict())
    names = [str(witness.about.get(name, "")) for name in ("algorithm", "space")]
    modules = dict.fromkeys(name.partition(":")[0] for name in names if is_code(name))
    again = "dpassay neighbours replay witness.json" + "".join(f" --module {printable(name)}" for name in modules)
    return Example(tuple(witness.lines()), text if len(text) <= _LONGEST else "", again)


def _findings(row: Row) -> tuple[tuple[str, str], ...]:
    """Each finding with the line of source where it is, as far as that is known; findings of the whole run last."""
    places = {name: ", ".join(map(str, spots)) for name, spots in spots_of(row).items()}
    names = [f"{one.kind.value} ({one.label})" for one in row.findings]
    found = [(str(one), places.pop(name, "")) for one, name in zip(row.findings, names, strict=True)]
    found += [(name, place) for name, place in places.items() if name]
    return tuple((printable(name), printable(place)) for name, place in found)


def _place_of(text: str) -> str:
    return text.partition(": ")[0]


def _known(row: Row) -> tuple[Known, ...]:
    """The lines of a derivation in the order of the source; a loop comes by more than once."""
    values: dict[str, list[str]] = {}
    for text in row.certificate:
        place, _, value = text.partition(": ")
        if place in row.source:
            values.setdefault(place, []).append(printable(value))
    ordered = sorted(values, key=lambda place: (place.partition(":")[0], _number_of(place)))
    return tuple(Known(printable(one), printable(row.source[one]), tuple(values[one])) for one in ordered)


def _number_of(place: str) -> int:
    """Of a line in a file."""
    digits = place.rpartition(":")[2]
    return int(digits) if digits.isdecimal() and len(digits) < 10 else 0


def _about(row: Row, case: Case | None) -> list[tuple[str, str]]:
    paper = PAPERS.get(row.algorithm.partition("/")[0])
    found = [("what", case.title if case else ""), ("in the paper", str(case.cite) if case else "")]
    found += [("paper", paper.citation if paper else "")]
    facts = ", ".join(f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}"
                      for name, value in row.facts.items())  # fmt: skip
    found += [("variant", row.variant), ("data", row.data), ("neighbours", row.relation), ("constants", facts)]
    found += [("accounting", row.accounting), ("ledger", row.proved if row.proved != "-" else "")]
    found += [("effort", f"{row.runs} runs, {row.pilot} of the pilot, {row.examples} examples of the search")]
    found += [("confidence", f"{row.confidence:.0%}"), ("seed", str(row.seed)), ("power", number(row.power))]
    found += [("seconds", f"{row.seconds:.1f}"), ("code", row.code), ("sequence of releases", row.sequence)]
    return found


def _repairs(row: Row) -> tuple[str, ...]:
    """What the repaired readings of the same algorithm change; of any reading of it."""
    texts = [text for case in CASES if case.id == row.algorithm and case.repairs for text in case.repairs]
    return tuple(dict.fromkeys(texts))
