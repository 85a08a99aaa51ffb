"""All statements together: each with its status, what it rests on, and what rests on it."""

import gc
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from pydantic import TypeAdapter

from dpassay.proofs_check import ties
from dpassay.reference.errors import BadInput
from dpassay.reference.kept import keep, kept
from dpassay.reference.papers import NUMBERED, PAPERS
from dpassay.reference.sources import code_of

from .derive import Derivation, derive
from .model import REMARKS, Statement, left_out, reference, statements
from .status import Kind, Status, statuses

GROUPS = ("proved", "proved up to named parts", "holds under", "broken, repaired", "broken, false", "broken, open",
          "not examined")  # fmt: skip
_KINDS = "Theorem|Lemma|Definition|Assumption|Proposition|Corollary|Remark|Claim|Algorithm|Table|Figure"
_NUMBER = r"[A-Z]?\.?\d+(?:\.\d+)?"
_LIST = re.compile(rf"\b({_KINDS})s?\s+((?:{_NUMBER})(?:(?:, | and | to |, and )(?:{_NUMBER}))*)")
_EQUATION = re.compile(r"(?:(?<![\w(])|(?<=\bto ))\((\d{1,2})[a-z]?\)")
_DERIVATION = TypeAdapter(Derivation)
STATEMENTS: dict[str, list[str]] = {  # the numbered statements of the papers, in their order
    paper: [f"{kind} {number}" for kind, numbers in kinds.items() for number in (
        [f"({n})" for n in range(1, numbers + 1)] if isinstance(numbers, int) else numbers.split())]
    for paper, kinds in NUMBERED.items()
}  # fmt: skip


@dataclass(frozen=True)
class Examined:
    """A statement with all that was decided about it."""

    derivation: Derivation
    status: Status
    repaired: Status | None = None
    rests_on: tuple[str, ...] = ()
    used_by: tuple[str, ...] = ()

    @property
    def statement(self) -> Statement:
        """What the file says."""
        return self.derivation.statement

    @property
    def group(self) -> str:
        """One of GROUPS."""
        if self.status.kind is not Kind.BROKEN:
            return str(self.status.kind)
        return f"broken, {self.status.after[-1]}"


def derived(statement: Statement, sources: Mapping[str, Statement], anew: bool = False) -> Derivation:
    """As :func:`derive`, or what it said last time of the same files by the same code.

    What has a problem or an undecided step is decided anew: a check may have run out of time.
    """
    found = None if anew else _recalled(statement, sources)
    if found is None:
        gc.set_threshold(50_000, 20, 100)  # formulas are many small objects that stay
        found = derive(statement, sources)
        if not found.problems and not found.undecided:
            keep(*_kept_under(statement, sources), _DERIVATION.dump_python(found, mode="json", by_alias=True))
    return found


def _recalled(statement: Statement, sources: Mapping[str, Statement]) -> Derivation | None:
    answer = kept(*_kept_under(statement, sources))
    return None if answer is None else _DERIVATION.validate_python(answer)


def _kept_under(statement: Statement, sources: Mapping[str, Statement]) -> tuple[str, str]:
    files = json.dumps([asdict(one) for one in (statement, *sources.values())], default=sorted)  # symbols are sets
    code = f"{_code(_not_counted(statement))} {hashlib.sha256(files.encode()).hexdigest()}"
    return f"statements/{Path(statement.file).with_suffix('')}", code


@cache
def _code(but: frozenset[str]) -> str:
    return code_of([Derivation.__module__], but=but)


def _not_counted(statement: Statement) -> frozenset[str]:
    """The modules of ``ties`` by which no check of a statement counts releases."""
    evidence = [statement.false] if statement.false is not None else []
    parts = [*evidence, *(one for part in statement.parts for one in part.steps),
             *(one for kind in REMARKS for one in getattr(statement, kind))]  # fmt: skip
    checks = json.dumps([one.check for one in parts], default=str)
    return frozenset(f"{ties.__name__}.{paper}" for paper in PAPERS if f'"{paper}/' not in checks)


def examine(
    found: Sequence[Statement], jobs: int = 1, say: Callable[[str], None] | None = None, anew: bool = False
) -> list[Examined]:
    """Decide statements; those that they use must be among them (:func:`with_sources`).

    What was decided before, of the same files by the same code, is not decided again but with ``anew``.
    """
    sources = {one.key: {two.key: two for two in with_sources([one], found) if two != one} for one in found}
    decided = {one.key: None if anew else _recalled(one, sources[one.key]) for one in found}
    missing = [one for one in found if decided[one.key] is None]  # to start a worker takes seconds
    tasks = (delayed(derived)(one, sources[one.key], anew) for one in missing)
    worked = Parallel(n_jobs=min(jobs, len(missing)) or 1, return_as="generator")(tasks)
    for one in chain([one for one in decided.values() if one is not None], worked):
        decided[one.statement.key] = one
        if say is not None:
            say(one.statement.key)
    derivations = [one for one in decided.values() if one is not None]
    known = statuses(derivations)
    rests = {one.statement.key: _sources(one.statement) for one in derivations}
    return [
        Examined(
            one, known[one.statement.key], known.get(f"{one.statement.key} repaired"), rests[one.statement.key],
            tuple(key for key, sources in rests.items() if one.statement.key in sources),
        )
        for one in derivations
    ]  # fmt: skip


def _sources(statement: Statement) -> tuple[str, ...]:
    given = [*statement.given, *(statement.repaired.given if statement.repaired else ())]
    keys = (reference(statement.paper, fact).removesuffix(" repaired") for fact in given if fact.source)
    return tuple(dict.fromkeys(keys))


def with_sources(wanted: Iterable[Statement], among: Sequence[Statement]) -> list[Statement]:
    """The wanted statements and all that they rest on, in the order of the papers."""
    by_key, todo, keys = {one.key: one for one in among}, list(wanted), set()
    while todo:
        one = todo.pop()
        if one.key not in keys:
            keys.add(one.key)
            todo += [by_key[key] for key in _sources(one) if key in by_key]
    return [one for one in among if one.key in keys]


_SHORT = {"thm": "theorem", "lem": "lemma", "cor": "corollary", "alg": "algorithm", "def": "definition"}


def named(text: str, papers: list[str] | None = None) -> list[Statement]:
    """Statements of this name (``Theorem 3.17``), or about this algorithm; without any, those whose place names it.

    Raises:
        BadInput: there is none.
    """
    plain = " ".join(_SHORT.get(word.rstrip("."), word) for word in text.lower().split())
    among = statements(papers)
    found = _called(plain, text, among)
    if not found:
        others = sorted({one.paper for one in _called(plain, text, statements())})
        names = sorted({one.name for one in among}) if plain[:-1] else []
        near = [name for name in names if plain in name.lower() or name.lower().startswith(plain[:-1])]
        hint = f"is it one of these: {'; '.join(near[:8])}?" if near else "`dpassay prove` lists them"
        hint = f"there is one in {' and '.join(others)}" if others else hint
        hint = f"of a paper: --paper {text}" if text in PAPERS else hint
        raise BadInput("statement", text, f"no statement of this name, and no algorithm; {hint}")
    return found


def _called(plain: str, text: str, among: Sequence[Statement]) -> list[Statement]:
    found = [one for one in among if one.name.lower() == plain or text in one.algorithms]
    return found or [one for one in among if plain in map(str.lower, own_names(one.place))]


def counts(found: Iterable[Examined]) -> dict[str, int]:
    """How many statements of each group, in the order of GROUPS."""
    counted = Counter(one.group for one in found)
    return {group: counted[group] for group in GROUPS if counted[group]}


def unnamed(paper: str, among: Iterable[Statement]) -> list[str]:
    """Numbered statements and displays of a paper that no statement's file and no reason in ``left_out.toml`` names."""
    said = left_out(paper)
    for one in among:
        if one.paper == paper:
            parts: list[Any] = [*one.given, *one.step, *one.slip, *one.edge, *one.note, *one.schedule]
            parts += [*one.repaired.given, *one.repaired.step] if one.repaired is not None else []
            said += [one.name, one.place, *(part.place for part in parts)]
            said += [fact.source for fact in one.given]
    seen = {name for text in said for name in places_in(text)}
    return [name for name in STATEMENTS[paper] if name not in seen]


def places_in(place: str) -> set[str]:
    """The statements that a citation names: ``"Lemmas 6, 7 and eq. (16)"`` gives Lemma 6, Lemma 7 and eq. (16)."""
    place = re.sub(r"(?i)\b(item|line|node|part)s? ?\(\d+\)", "", place)  # numbers of other things
    found = {f"eq. ({number})" for number in _EQUATION.findall(place)}
    for kind, numbers in _LIST.findall(place):
        found |= {f"{kind} {number}" for number in re.findall(_NUMBER, numbers)}
        span = re.search(r"(\d+) to (\d+)", numbers)
        if span:
            found |= {f"{kind} {n}" for n in range(int(span[1]), int(span[2]) + 1)}
    return found


def own_names(place: str) -> set[str]:
    """The names that a statement has by its place: ``"Section 3.1; again as Lemma D.1"`` gives Lemma D.1."""
    parts = (part.removeprefix("again as ") for part in place.split("; "))
    return {name for part in parts if _LIST.match(part) for name in places_in(part)}


def summary(found: Sequence[Examined]) -> str:
    """``101 statements: 40 proved, 12 ...``."""
    return f"{len(found)} statements: {', '.join(f'{number} {group}' for group, number in counts(found).items())}"


def ledger(found: Sequence[Examined]) -> str:
    """LEDGER.md: one line a statement."""
    lines = ["# The ledger: what becomes of each statement", "",
             "Generated by `make tables`. One line a statement; its chain: `dpassay prove \"NAME\" --paper PAPER`.",
             "What a status means: [the proofs](docs/proofs.md).", "", f"{summary(found)}."]  # fmt: skip
    for paper in PAPERS:
        own = [one for one in found if one.statement.paper == paper]
        if own:
            left = unnamed(paper, [one.statement for one in own])
            lines += ["", f"## {paper}", ""]
            lines += [f"Named by no file: {', '.join(left)}." if left else "Every numbered display is named by a file.",
                      "", "| statement | status | what it says |", "|---|---|---|"]  # fmt: skip
            lines += [f"| {one.statement.name} | {_cell(one.status.label)} | {_cell(one.statement.title)} |"
                      for one in own]  # fmt: skip
    return "\n".join(lines) + "\n"


def block(found: Sequence[Examined]) -> str:
    """The ledger's block of docs/results.md: counts by paper, and the statements that do not stand as printed."""
    lines = [f"{summary(found)} (`dpassay prove`; one line each: `LEDGER.md`).", "",
             f"| paper | {' | '.join(GROUPS)} |", f"|---|{'---|' * len(GROUPS)}"]  # fmt: skip
    for paper in dict.fromkeys(one.statement.paper for one in found):
        number = counts(one for one in found if one.statement.paper == paper)
        lines.append(f"| {paper} | {' | '.join(str(number.get(group, 0)) for group in GROUPS)} |")
    lines += ["", "| statement whose chain breaks | at | then |", "|---|---|---|"]
    for one in found:
        if one.status.kind is Kind.BROKEN:
            after = ", ".join(one.status.after)
            lines.append(f"| {one.statement.paper}, {one.statement.name} | {', '.join(one.status.steps)} | {after} |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("_", "\\_")
