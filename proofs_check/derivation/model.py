"""What a statement's file says, read from TOML and checked for its form; nothing in it is evaluated."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import parse_toml, read_text
from dpassay.reference.papers import PAPERS

FOLDER = Path(__file__).resolve().parents[1] / "statements"
REMARKS = ("slip", "edge", "note")
_PLACE = re.compile(r"\d|assumption|algorithm|definition|proof|appendix", re.IGNORECASE)
_KINDS = {"check": "check", "scale": "rates", "source": "cited"}  # a part of a step: by what it is decided


def _split(value: Any) -> Any:
    return value.split() if isinstance(value, str) else value


def _one(value: Any) -> Any:
    return [value] * bool(value) if isinstance(value, str) else value


Names = Annotated[frozenset[str], BeforeValidator(_split)]
Sides = Annotated[tuple[Literal["privacy", "utility", "complexity"], ...], BeforeValidator(_split)]
Words = Annotated[tuple[str, ...], BeforeValidator(_one)]


class _Form:
    """A part of a file: a field that it does not have is refused."""

    __pydantic_config__ = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class Symbols(_Form):
    """What the names of a statement stand for; each is a set of names.

    ``positive`` and ``real`` are numbers, ``count`` whole numbers from 1; ``random`` ones differ from run to run;
    ``extended`` ones may be infinite or undefined; ``vectors`` and ``random_vectors`` are vectors.
    """

    positive: Names = frozenset()
    real: Names = frozenset()
    count: Names = frozenset()
    random: Names = frozenset()
    vectors: Names = frozenset()
    random_vectors: Names = frozenset()
    extended: Names = frozenset()

    @property
    def declared(self) -> frozenset[str]:
        """Every name of a number or a vector."""
        return frozenset().union(*(getattr(self, one.name) for one in fields(self)))


@dataclass(frozen=True)
class Part:
    """What one chain of a statement's file starts from, in order, and what it must end in."""

    given: tuple[Given, ...]
    steps: tuple[Step, ...]
    says: str
    failure: str

    @cached_property
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


@dataclass(frozen=True)
class Given(_Form):
    """A fact: an assumption, the algorithm's contract, a definition, or an earlier statement (``source``)."""

    id: str
    says: str
    place: str = ""
    words: str = ""
    source: Annotated[str, Field(alias="from")] = ""
    added: bool = False
    failure: str = ""
    holds: str = "every"


@dataclass(frozen=True)
class Step(_Form):
    """A step of the paper's proof, with the facts that it uses and how it is decided."""

    id: str
    says: str
    place: str = ""
    uses: Words = ()
    by: Words = ()
    words: str = ""
    failure: str = ""
    source: str = ""
    scale: str = ""
    tilde: bool = True
    check: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Remark(_Form):
    """A slip, an edge or a note: what a reader should know, with a check where there is one."""

    words: str = ""
    place: str = ""
    printed: str = ""
    meant: str = ""
    check: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Parameter(_Form):
    """One line of an algorithm's schedule: a formula, where it is printed, and what computes it in ``reference/``."""

    name: str
    formula: str
    place: str = ""
    code: str = ""


@dataclass(frozen=True)
class Refutation(_Form):
    """Evidence that the printed statement is false: a point, or a check that is refuted."""

    words: str = ""
    point: Mapping[str, str] = field(default_factory=dict)
    check: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Repaired(_Form):
    """A corrected statement, with what its derivation adds to the printed one."""

    says: str
    words: str = ""
    given: tuple[Given, ...] = ()
    step: tuple[Step, ...] = ()
    failure: str = ""


@dataclass(frozen=True)
class Statement(_Form):
    """One statement of a paper: what is given, the steps, the conclusion."""

    paper: str
    file: str
    name: str
    says: str
    place: str = ""
    title: str = ""
    sides: Sides = ()
    words: str = ""
    algorithms: Words = ()
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

    @cached_property
    def parts(self) -> list[Part]:
        """The printed chain, and the repaired one where the file has one."""
        parts = [Part(self.given, self.step, self.says, self.failure)]
        wanted = self.repaired
        if wanted is not None:
            given = {one.id: one for one in (*self.given, *wanted.given)}
            steps = _mended(self.step, wanted, {one.id for one in wanted.given})
            facts = tuple(one for key, one in given.items() if key not in {two.id for two in wanted.step})
            parts.append(Part(facts, tuple(steps), wanted.says, wanted.failure))
        return parts


_STATEMENT = TypeAdapter(Statement)


def read(path: Path) -> Statement:
    """A statement's file.

    Raises:
        BadInput: unreadable, or a field that is missing, unknown or of the wrong kind.
    """
    where = f"{path.parent.name}/{path.name}"
    return parse(parse_toml(read_text(path, where), where), path.parent.name, where)


def parse(data: Mapping[str, Any], paper: str, where: str) -> Statement:
    """A statement from the content of its file; ``where`` names the file in messages. Raises as :func:`read` does."""
    require(paper in PAPERS, where, paper, f"the folder is none of {', '.join(PAPERS)}")
    own = str(data.get("name", "")).partition(",")[0]
    full, wanted = {**_in_full(data, own, where), "paper": paper, "file": where}, data.get("repaired")
    if isinstance(wanted, dict):
        full["repaired"] = _in_full(wanted, "", f"{where}: repaired")
    try:
        statement = _STATEMENT.validate_python(full)
    except ValidationError as error:
        wrong = error.errors()[0]
        raise BadInput(f"{where}: {'.'.join(map(str, wrong['loc']))}", wrong["input"], wrong["msg"]) from None
    _require_form(statement, where)
    return statement


def statements(papers: list[str] | None = None, folder: Path = FOLDER) -> list[Statement]:
    """All statements of these papers, in the order of their files' names."""
    paths = [path for key in papers or PAPERS for path in sorted((folder / key).glob("*.toml"), key=_in_order)]
    return [read(path) for path in paths if path.name != "left_out.toml"]


def left_out(paper: str) -> list[str]:
    """Places of displays that no statement uses; the file has a reason for each."""
    where = f"{paper}/left_out.toml"
    text = read_text(FOLDER / where, where) if (FOLDER / where).exists() else ""
    return [one["place"] for one in parse_toml(text, where).get("display", []) if one["reason"]]


def reference(paper: str, fact: Given) -> str:
    """The statement that a fact is, as a key; of a repaired form with ``repaired`` behind it."""
    return fact.source if ": " in fact.source else f"{paper}: {fact.source}"


def form_of(fact: Given, paper: str, sources: Mapping[str, Statement]) -> tuple[Statement, Part] | None:
    """The statement that a fact is from, and the chain of the form that it is; None if it is not among the sources."""
    key = reference(paper, fact)
    found = sources.get(key.removesuffix(" repaired"))
    return None if found is None else (found, found.parts[-1 if key.endswith(" repaired") else 0])


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


def _in_full(part: Mapping[str, Any], place: str, where: str) -> dict[str, Any]:
    """A form of the statement with its facts and steps in order: the last step says what the form says, a place not
    told is the statement itself, and what a step has beside its formula tells how it is decided.
    """
    for kind in ("given", "step"):
        named = part.get(kind, {})
        whole = isinstance(named, dict) and all(isinstance(one, dict) for one in named.values())
        require(whole, f"{where}: {kind}", named, f"expected a table for each, [{kind}.NAME]")
    steps = [{"by": next((kind for key, kind in _KINDS.items() if key in one), ""), "place": place, **one, "id": name}
             for name, one in part.get("step", {}).items()]  # fmt: skip
    steps[-1:] = [{"says": part.get("says"), **last} for last in steps[-1:]]
    return {**part, "given": [{**one, "id": name} for name, one in part.get("given", {}).items()], "step": steps}


def _require_form(statement: Statement, where: str) -> None:
    require(bool(statement.step), where, statement.name, "has no step")
    require("E" not in statement.symbols.declared, f"{where}: symbols", "E", "is the expectation, and no number")
    for name in {fact.id for fact in statement.given} & {step.id for step in statement.step}:
        require(False, f"{where}: {name}", name, "is a fact and a step")
    changed = statement.repaired.given if statement.repaired is not None else ()
    for fact in (*statement.given, *changed):
        found = fact.place if fact in changed else _PLACE.search(fact.place)
        require(bool(found or fact.source or fact.added), f"{where}: given {fact.id}", fact.place,
                "is no place in the paper (a number, an appendix, proof, algorithm, assumption, definition); what it "
                "does not give is added")  # fmt: skip
        require(bool(fact.words) or not fact.added, f"{where}: given {fact.id}", fact.says,
                "is added, and no words say what it is")  # fmt: skip


def _in_order(path: Path) -> tuple[str, list[tuple[int, str]]]:
    kind, *numbers = path.stem.split("_")
    return kind, [(int(part), "") if part.isdigit() else (1000, part) for part in numbers]
