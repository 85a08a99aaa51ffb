"""JUnit XML, for the test page of a code host: one test case a row of an audit, or a vector of a campaign.

A row that fails is a ``failure``; an inconclusive one is ``skipped`` (nothing was decided, so it has not passed);
a claim that could not be checked is an ``error``; what the printed reading of a paper declares is in ``system-out``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from xml.etree import ElementTree as Xml

from dpassay.audit.row import Row
from dpassay.audit.version import installed_version
from dpassay.reference.errors import printable

from .problems import Level, Unchecked, numbers, outcome, problems, row_title


@dataclass(frozen=True)
class Case:
    """One test case; every text may be somebody else's."""

    suite: str
    classname: str
    name: str
    seconds: float = 0.0
    kind: str = ""  # failure, error or skipped; empty: it passed
    said: Mapping[str, str] = field(default_factory=dict)  # attributes of that
    lines: Sequence[str] = ()  # inside of that
    place: Mapping[str, str] = field(default_factory=dict)  # attributes file and line
    out: Sequence[str] = ()  # lines of its system-out


def junit_xml(name: str, cases: Sequence[Case]) -> str:
    """The document; cases of one suite follow each other."""
    root = Xml.Element("testsuites", _counts(name, cases))
    for suite, group in groupby(cases, key=lambda one: one.suite):
        members = list(group)
        element = Xml.SubElement(root, "testsuite", _counts(suite, members))
        properties = Xml.SubElement(element, "properties")
        Xml.SubElement(properties, "property", {"name": "dpassay", "value": printable(installed_version())})
        for one in members:
            names = {"classname": one.classname, "name": one.name, "time": f"{one.seconds:.3f}"}
            case = Xml.SubElement(element, "testcase", _printable({**names, **one.place}))
            if one.kind:
                Xml.SubElement(case, one.kind, _printable(one.said)).text = "\n".join(map(printable, one.lines))
            if one.out:
                Xml.SubElement(case, "system-out").text = "\n".join(map(printable, one.out))
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _counts(name: str, cases: Sequence[Case]) -> dict[str, str]:
    kinds = [one.kind for one in cases]
    return {
        "name": printable(name),
        "tests": str(len(cases)),
        "failures": str(kinds.count("failure")),
        "errors": str(kinds.count("error")),
        "skipped": str(kinds.count("skipped")),
        "time": f"{sum(one.seconds for one in cases):.3f}",
    }


def _printable(attributes: Mapping[str, str]) -> dict[str, str]:
    return {name: printable(text) for name, text in attributes.items()}


def junit(rows: Sequence[Row], strict: bool = False, unchecked: Sequence[Unchecked] = ()) -> str:
    """The rows as JUnit XML, one suite a paper (or module) in the order of the rows, then one of what has no row."""
    missed = [
        Case("not checked", "dpassay", one.name, 0.0, "error", {"type": "not checked", "message": one.why})
        for one in unchecked
    ]
    return junit_xml("dpassay", [*(_of_row(row, strict) for row in rows), *missed])


def _of_row(row: Row, strict: bool) -> Case:
    paper, mark, _ = row.algorithm.partition("/")
    suite = paper if mark else row.algorithm.partition(":")[0]
    found, said = problems(row, strict), outcome(row, strict)
    lines = [f"{one.level.value}: {one.message}{f' [{one.places}]' if one.places else ''}" for one in found]
    kind, about = "", {}
    if said == "failed":
        first = found[0].message if found and found[0].level is Level.ERROR else row.why
        kind, about = "failure", {"type": row.verdict, "message": f"{row.verdict_shown}: {first}"}
    elif said == "inconclusive":
        kind, about = "skipped", {"message": f"inconclusive: {row.why}"}
    place = next(({"file": one.spots[0].file, "line": str(one.spots[0].line)} for one in found if one.spots), {})
    told = [*(f"{name}: {value}" for name, value in numbers(row).items()), f"verdict: {row.verdict_shown}"]
    told += [f"why: {row.why}", *([f"how it was read: {row.as_read}"] if row.as_read else [])]
    inside, beside = (lines, []) if said == "failed" else ([], lines)
    names = f"dpassay.{suite}", row_title(row)
    return Case(suite, *names, row.seconds, kind, about, inside, place, [*told, *beside])
