"""What a statement's file says, read from TOML and checked for its form; nothing in it is evaluated."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from dpassay.reference.errors import BadInput
from dpassay.reference.papers import PAPERS

from .language import Symbols

FOLDER = Path(__file__).resolve().parents[1] / "statements"
SIDES = ("privacy", "utility", "complexity")


@dataclass(frozen=True)
class Given:
    """A fact: an assumption, the algorithm's contract, a definition, or an earlier statement (``source``)."""

    id: str
    says: str
    place: str = ""
    words: str = ""
    source: str = ""  # `from` in the file
    added: bool = False
    failure: str = ""
    holds: str = "every"


@dataclass(frozen=True)
class Step:
    """A step of the paper's proof, with the facts that it uses and how it is decided."""

    id: str
    says: str
    place: str = ""
    uses: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    words: str = ""
    failure: str = ""
    source: str = ""
    scale: str = ""
    tilde: bool = True
    check: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Remark:
    """A slip, an edge or a note: what a reader should know, with a check where there is one."""

    words: str = ""
    place: str = ""
    printed: str = ""
    meant: str = ""
    check: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Parameter:
    """One line of an algorithm's schedule: a formula, where it is printed, and what computes it in ``reference/``."""

    name: str
    formula: str
    place: str = ""
    code: str = ""


@dataclass(frozen=True)
class Refutation:
    """Evidence that the printed statement is false: a point, or a check that is refuted."""

    words: str = ""
    point: Mapping[str, str] = field(default_factory=dict)
    check: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Repaired:
    """A corrected statement, with what its derivation adds to the printed one."""

    says: str
    words: str = ""
    given: tuple[Given, ...] = ()
    step: tuple[Step, ...] = ()
    failure: str = ""


@dataclass(frozen=True)
class Statement:
    """One statement of a paper: what is given, the steps, the conclusion."""

    paper: str
    file: str
    name: str
    says: str
    place: str = ""
    title: str = ""
    sides: tuple[str, ...] = ()
    words: str = ""
    algorithms: tuple[str, ...] = ()
    holds: str = "every"
    failure: str = ""
    symbols: Symbols = field(default_factory=Symbols)
    given: tuple[Given, ...] = ()
    step: tuple[Step, ...] = ()
    false: Refutation | None = None
    repaired: Repaired | None = None
    slip: tuple[Remark, ...] = ()
    edge: tuple[Remark, ...] = ()
    note: tuple[Remark, ...] = ()
    schedule: tuple[Parameter, ...] = ()

    @property
    def key(self) -> str:
        """``paper: name``: how another statement cites it."""
        return f"{self.paper}: {self.name}"


@dataclass(frozen=True)
class LeftOut:
    """A display of a paper that no statement uses, and why."""

    place: str
    reason: str


def read(path: Path) -> Statement:
    """A statement's file.

    Raises:
        BadInput: unreadable, or a field that is missing, unknown or of the wrong kind.
    """
    where = f"{path.parent.name}/{path.name}"
    return parse(_toml(path, where), path.parent.name, where)


def parse(data: Mapping[str, Any], paper: str, where: str) -> Statement:
    """A statement from the content of its file; ``where`` names the file in messages. Raises as :func:`read` does."""
    if paper not in PAPERS:
        raise BadInput(where, paper, f"the folder is none of {', '.join(PAPERS)}")
    parts: dict[str, Any] = {"paper": paper, "file": where}
    own = str(data.get("name", "")).partition(",")[0]
    for name, value in data.items():
        if name == "symbols":
            parts[name] = _symbols(value, where)
        elif name in ("given", "step", "slip", "edge", "note", "schedule"):
            full = _concluded(value, data.get("says"), own) if name == "step" else value
            parts[name] = _records(_CLASSES[name], full, f"{where}: {name}")
        elif name == "false":
            parts[name] = _record(Refutation, value, f"{where}: false")
        elif name == "repaired":
            steps = {"step": _concluded(value["step"], value.get("says"), "")} if "step" in value else {}
            inside = {key: _records(_CLASSES[key], one, f"{where}: repaired.{key}")
                      for key, one in {**value, **steps}.items() if key in ("given", "step")}  # fmt: skip
            parts[name] = _record(Repaired, {**value, **inside}, f"{where}: repaired")
        else:
            parts[name] = value
    statement: Statement = _record(Statement, parts, where)
    _require_form(statement, where)
    return statement


def statements(papers: list[str] | None = None, folder: Path = FOLDER) -> list[Statement]:
    """All statements of these papers, in the order of their files' names."""
    paths = [path for key in papers or PAPERS for path in sorted((folder / key).glob("*.toml"), key=_in_order)]
    return [read(path) for path in paths if path.name != "left_out.toml"]


def left_out(paper: str, folder: Path = FOLDER) -> list[LeftOut]:
    """Displays that no statement uses."""
    path = folder / paper / "left_out.toml"
    if not path.exists():
        return []
    where = f"{paper}/left_out.toml"
    return list(_records(LeftOut, _toml(path, where).get("display", []), where))


def reference(paper: str, fact: Given) -> str:
    """The statement that a fact is, as a key."""
    return fact.source if ": " in fact.source else f"{paper}: {fact.source}"


@dataclass(frozen=True)
class Part:
    """What one chain of a statement's file starts from, in order, and what it must end in."""

    given: tuple[Given, ...]
    steps: tuple[Step, ...]
    says: str
    failure: str

    @property
    def reached(self) -> frozenset[str]:
        """The steps and facts on which the conclusion, the last step, rests."""
        uses = {step.id: step.uses for step in self.steps}
        found, todo = set(), [self.steps[-1].id]
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo += uses.get(name, ())
        return frozenset(found)


def parts_of(statement: Statement) -> list[Part]:
    """The printed chain, and the repaired one where the file has one."""
    parts = [Part(statement.given, statement.step, statement.says, statement.failure)]
    wanted = statement.repaired
    if wanted is not None:
        given = {one.id: one for one in (*statement.given, *wanted.given)}
        steps = _mended(statement.step, wanted, {one.id for one in wanted.given})
        facts = tuple(one for key, one in given.items() if key not in {two.id for two in wanted.step})
        parts.append(Part(facts, tuple(steps), wanted.says, wanted.failure))
    return parts


def _mended(printed: Sequence[Step], wanted: Repaired, facts: set[str]) -> list[Step]:
    """Printed steps, changed ones in their place, and new ones, each after what it uses; the conclusion is the last.

    The conclusion is the repaired form's last step if that says the statement, else the printed proof's last one.
    Printed steps that it does without are left out.
    """
    steps = {one.id: one for one in printed if one.id not in facts} | {one.id: one for one in wanted.step}
    last = wanted.step[-1] if wanted.step else printed[-1]
    if "".join(last.says.split()) != "".join(wanted.says.split()) and printed[-1].id in steps:
        last = steps[printed[-1].id]
    ordered: dict[str, Step] = {}

    def put(step: Step, above: tuple[str, ...] = ()) -> None:
        for name in step.uses:
            if name in steps and name not in ordered and name not in above:
                put(steps[name], (*above, step.id))
        ordered[step.id] = step

    put(last)
    return list(ordered.values())


_CLASSES: dict[str, type] = {
    "given": Given, "step": Step, "slip": Remark, "edge": Remark, "note": Remark, "schedule": Parameter,
}  # fmt: skip
_PLACE = re.compile(r"\d|assumption|algorithm|definition|proof|appendix", re.IGNORECASE)
_KINDS = {"check": "check", "scale": "rates", "source": "cited"}  # a part of a step: by what it is decided
_WORDS = {"sides", "by", "uses", "algorithms"}


def _toml(path: Path, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(where, str(path), f"cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(where, str(error), "not a TOML file") from None


def _symbols(value: Any, where: str) -> Symbols:
    known = {one.name for one in fields(Symbols)}
    if not isinstance(value, dict) or not set(value) <= known:
        raise BadInput(f"{where}: symbols", value, f"takes {', '.join(sorted(known))}")
    return Symbols(**{name: frozenset(str(text).split()) for name, text in value.items()})


def _concluded(steps: Any, says: Any, place: str) -> Any:
    """Steps in full: the last one says what the statement says, a place not told is the statement itself, and what a
    step has beside its formula tells how it is decided.
    """
    if not (isinstance(steps, list) and steps and all(isinstance(one, dict) for one in steps)):
        return steps
    filled = [{"by": next((kind for part, kind in _KINDS.items() if part in one), ""), "place": place, **one}
              for one in steps]  # fmt: skip
    return [*filled[:-1], {"says": says, **filled[-1]}]


def _records(kind: type, values: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(values, list):
        raise BadInput(where, values, f"write [[{where.split()[-1]}]]")
    return tuple(_record(kind, value, f"{where} {value.get('id', number)}") for number, value in enumerate(values, 1))


def _record(kind: type, value: Mapping[str, Any], where: str) -> Any:
    known = {one.name for one in fields(kind)}
    parts = {("source" if name == "from" else name): content for name, content in value.items()}
    if not set(parts) <= known:
        raise BadInput(where, sorted(set(parts) - known), f"not among {', '.join(sorted(known))}")
    for name in _WORDS & set(parts):
        content = parts[name]
        parts[name] = tuple(content) if isinstance(content, list | tuple) else _split(name, str(content))
    try:
        return kind(**parts)
    except TypeError as error:
        raise BadInput(where, sorted(parts), str(error).split("() ")[-1]) from None


def _split(name: str, text: str) -> tuple[str, ...]:
    return tuple(text.split()) if name == "sides" else (text,) if text else ()


def _require_form(statement: Statement, where: str) -> None:
    if not statement.step:
        raise BadInput(where, statement.name, "has no step")
    if not set(statement.sides) <= set(SIDES):
        raise BadInput(f"{where}: sides", statement.sides, f"any of {', '.join(SIDES)}")
    seen: set[str] = set()
    both: list[Given | Step] = [*statement.given, *statement.step]
    for one in both:
        if one.id in seen:
            raise BadInput(f"{where}: {one.id}", one.id, "there are two of this id")
        seen.add(one.id)
    changed = statement.repaired.given if statement.repaired is not None else ()
    for fact in (*statement.given, *changed):
        found = fact.place if fact in changed else _PLACE.search(fact.place)
        if not (found or fact.source or fact.added):
            raise BadInput(f"{where}: given {fact.id}", fact.place, "is no place in the paper (a number, an appendix, "
                           "proof, algorithm, assumption, definition); what it does not give is added")  # fmt: skip
        if fact.added and not fact.words:
            raise BadInput(f"{where}: given {fact.id}", fact.says, "is added, and no words say what it is")


def _in_order(path: Path) -> tuple[str, list[tuple[int, str]]]:
    kind, *numbers = path.stem.split("_")
    return kind, [(int(part), "") if part.isdigit() else (1000, part) for part in numbers]
