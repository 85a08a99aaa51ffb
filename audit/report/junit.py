"""Rows as JUnit XML: one test case a row, for the test page of a code host.

A row that fails is a ``failure``; an inconclusive one is ``skipped`` (nothing was decided, so it has not passed);
a claim that could not be checked is an ``error``; what the printed reading of a paper declares is in ``system-out``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from xml.etree import ElementTree as Xml

from dpassay.audit.row import Row
from dpassay.audit.version import installed_version
from dpassay.reference.errors import printable

from .problems import Level, Unchecked, numbers, outcome, problems, row_title


def junit(rows: Sequence[Row], strict: bool = False, unchecked: Sequence[Unchecked] = ()) -> str:
    """The rows as JUnit XML, one suite a paper (or module) in the order of the rows.

    Args:
        strict: what a printed reading declares counts as well.
        unchecked: what has no row; a suite of its own.
    """
    root = Xml.Element("testsuites", _counts(rows, strict, "dpassay", len(unchecked)))
    for suite, group in groupby(rows, _suite):
        members = list(group)
        element = Xml.SubElement(root, "testsuite", _counts(members, strict, suite))
        properties = Xml.SubElement(element, "properties")
        Xml.SubElement(properties, "property", {"name": "dpassay", "value": printable(installed_version())})
        for row in members:
            element.append(_case(row, strict))
    if unchecked:
        missed = Xml.SubElement(root, "testsuite", _counts([], strict, "not checked", len(unchecked)))
        for one in unchecked:
            case = Xml.SubElement(
                missed, "testcase", {"classname": "dpassay", "name": printable(one.name), "time": "0"}
            )
            Xml.SubElement(case, "error", {"type": "not checked", "message": printable(one.why)})
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _suite(row: Row) -> str:
    paper, mark, _ = row.algorithm.partition("/")
    return printable(paper if mark else row.algorithm.partition(":")[0])


def _counts(rows: Sequence[Row], strict: bool, name: str, errors: int = 0) -> dict[str, str]:
    outcomes = [outcome(row, strict) for row in rows]
    return {
        "name": name,
        "tests": str(len(rows) + errors),
        "failures": str(outcomes.count("failed")),
        "errors": str(errors),
        "skipped": str(outcomes.count("inconclusive")),
        "time": f"{sum(row.seconds for row in rows):.3f}",
    }


def _case(row: Row, strict: bool) -> Xml.Element:
    found = problems(row, strict)
    names = {"classname": printable(f"dpassay.{_suite(row)}"), "name": row_title(row), "time": f"{row.seconds:.3f}"}
    place = next((one.spots[0] for one in found if one.spots), None)
    if place:
        names |= {"file": place.file, "line": str(place.line)}
    case = Xml.Element("testcase", names)
    said = outcome(row, strict)
    lines = [f"{one.level.value}: {one.message}{f' [{one.places}]' if one.places else ''}" for one in found]
    if said == "failed":
        first = found[0].message if found and found[0].level is Level.ERROR else row.why
        failure = Xml.SubElement(
            case, "failure", {"type": row.verdict, "message": printable(f"{row.verdict_shown}: {first}")}
        )
        failure.text = "\n".join(lines)
    elif said == "inconclusive":
        Xml.SubElement(case, "skipped", {"message": printable(f"inconclusive: {row.why}")})
    told = [f"{name}: {value}" for name, value in numbers(row).items()]
    told += [f"verdict: {row.verdict_shown}", f"why: {printable(row.why)}"]
    told += [f"how it was read: {printable(row.as_read)}"] if row.as_read else []
    told += [] if said == "failed" else lines
    Xml.SubElement(case, "system-out").text = "\n".join(told)
    return case
