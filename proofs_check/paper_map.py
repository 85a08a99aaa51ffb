"""Which statement of which paper is which algorithm, file, test and derivation: found, never typed.

The catalogue says which algorithm an id is; the file has the id's name; tests are those that import the file;
statements are those that name the id.
"""

import ast
import inspect
import re
import textwrap
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from dpassay.proofs_check.derivation.model import Statement
from dpassay.proofs_check.derivation.model import statements as read_statements
from dpassay.reference.case import Case
from dpassay.reference.catalogue import CASES
from dpassay.reference.files import read_text
from dpassay.reference.papers import Paper
from dpassay.reference.sources import imported

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Line:
    """One algorithm of a paper; files are from the root of the project."""

    place: str
    id: str  # in the catalogue; empty for a part that others call
    title: str
    file: str
    tests: tuple[str, ...]  # files that import it; empty where they are not installed
    statements: tuple[str, ...]  # names of those about it


def algorithms(key: str) -> list[Line]:
    """The algorithms of a paper, in the order of the catalogue."""
    first = {case.id: case for case in reversed(CASES) if case.paper == key}
    order = dict.fromkeys(case.id for case in CASES if case.id in first)
    return [_line(key, first[name]) for name in order]


def _line(key: str, case: Case) -> Line:
    place = case.cite.place if case.cite.paper == key else str(case.cite)
    file = _file(case)
    about = tuple(one.name for one in _statements(key) if case.id in one.algorithms)
    title = case.title.removesuffix(f" ({case.cite.place})").removeprefix(case.cite.place).lstrip(": ")
    return Line(place, case.id, title, file, _tests(file), about)


def parts(key: str) -> list[Line]:
    """Numbered algorithms of a paper that others call: the files whose first lines cite one and that are no case."""
    cases = {one.file for one in algorithms(key)}
    found = []
    for file, said in _said().items():
        place = re.search(rf"\b{key}, (Algorithm \d+)\b", said)
        if place and file not in cases:
            found.append(Line(place[1], "", re.split(r" \(|[.:\n]", said)[0], file, _tests(file), ()))
    return sorted(found, key=lambda one: one.place)


@cache
def _said() -> dict[str, str]:
    """The docstring of each module of the reference, by file."""
    paths = [path for path in sorted((ROOT / "reference").rglob("*.py")) if path.name != "__init__.py"]
    said = {path: ast.get_docstring(ast.parse(read_text(path, "module"))) for path in paths}
    return {path.relative_to(ROOT).as_posix(): text or "" for path, text in said.items()}


def _file(case: Case) -> str:
    """``reference/<id>.py``, or where the ``run`` of its instance is written."""
    named = Path("reference", *case.id.split("/")).with_suffix(".py")
    if (ROOT / named).is_file():
        return named.as_posix()
    run: Any = case.build().run
    while isinstance(run, partial):
        run = run.func
    return Path(inspect.getfile(run)).resolve().relative_to(ROOT).as_posix()


@cache
def _statements(key: str) -> tuple[Statement, ...]:
    return tuple(read_statements([key]))


def statements(key: str) -> dict[str, str]:
    """Statements of a paper (``Theorem 3``) with the files of their derivations."""
    return {one.name: f"proofs_check/statements/{one.file}" for one in _statements(key)}


@cache
def _imports() -> dict[str, frozenset[str]]:
    """Test files with the modules that they import."""
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    return {path.relative_to(ROOT).as_posix(): frozenset(imported(path).names) for path in paths}


def _tests(file: str) -> tuple[str, ...]:
    module = "dpassay." + file.removesuffix(".py").replace("/", ".")
    return tuple(path for path, names in _imports().items() if module in names)


def lower(title: str) -> str:
    """A title inside a sentence."""
    return title[:1].lower() + title[1:]


def paper_text(paper: Paper) -> str:
    """A paper for the terminal."""
    lines = [paper.title, ", ".join(paper.authors) or "Anonymous authors"]
    named = [("text read", paper.version), ("appeared in", paper.venue), ("link", paper.link)]
    lines += [f"{name}: {value}" for name, value in named if value]
    for one in (*algorithms(paper.key), *parts(paper.key)):
        lines += ["", f"{one.place}: {one.title}" if one.id else f"{one.place}, a part: {lower(one.title)}"]
        facts = [("id", one.id), ("file", one.file), ("tests", ", ".join(one.tests))]
        lines += [f"  {name:8}{value}" for name, value in [*facts, ("proofs", "; ".join(one.statements))] if value]
    lines += ["", f"statements (`dpassay prove --paper {paper.key}`):"]
    lines += textwrap.wrap("; ".join(statements(paper.key)), 116)
    return "\n".join(lines)


def paper_data(paper: Paper) -> dict[str, Any]:
    """A paper as plain data."""
    found = asdict(paper)
    lines = {"algorithms": algorithms(paper.key), "parts": parts(paper.key)}
    listed = {name: [asdict(one) for one in some] for name, some in lines.items()}
    return {**found, **listed, "statements": statements(paper.key)}
