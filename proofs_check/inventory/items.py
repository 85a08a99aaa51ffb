"""What a paper asserts, as data: each item names its place in the text and what decides it.

An item is decided by rows of the ledger, points to an item that says the same, has a reason for which nothing can be
decided, or is open. Open ones are counted and listed; a test lets the count only fall.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

KINDS = (
    "display",  # a formula on a line of its own
    "bound",  # a sentence that asserts a bound, an equality or an order
    "comparison",  # better, worse, matches, improves, optimal
    "cause",  # because, hence, by Lemma N, it suffices
    "line",  # of an algorithm; also its inputs and outputs
    "assumption",
    "definition",
    "footnote",
    "caption",
    "setting",  # a hyper-parameter, a data set, a protocol of an experiment
    "cells",  # of a table, or the curves of a figure
)
QUESTIONS: Mapping[str, str] = {
    "condition": "Which condition does it need that is not written?",
    "non-trivial": "From which n, d, epsilon on does it say more than the answer 0 does?",
    "possible": "Can all its assumptions hold at once?",
    "carried": "Do cited lemmas say what they are cited for; are constants, signs and expectations carried on?",
    "optimal": "Is 'optimal', 'improves', 'matches' true, logarithms included?",
    "integers": "Does every schedule give positive integers of at most n, also at the corners?",
    "inputs": "Which inputs of its schedule are private, or unknown in advance?",
    "whole": "Does the privacy of the whole algorithm follow?",
    "cost": "Is the running time or oracle count what the text says?",
    "agree": "Do tables, figures and text agree with it and with each other?",
}


@dataclass(frozen=True)
class Item:
    """One assertion of a paper.

    Args:
        place: begins with the numbered statement or the section: ``Lemma 3, proof, second display``.
        kind: one of `KINDS`.
        says: the assertion in our own words.
        rows: ids of the rows that decide it.
        same_as: the place of an item that says the same.
        reason: why nothing can be decided.
    """

    paper: str
    place: str
    kind: str
    says: str
    rows: tuple[str, ...] = ()
    same_as: str = ""
    reason: str = ""

    @property
    def open(self) -> bool:
        """Nothing decides it yet."""
        return not (self.rows or self.same_as or self.reason)

    @property
    def statement(self) -> str:
        """The first part of the place: a numbered statement, or a section."""
        return self.place.split(",")[0].strip()


@dataclass(frozen=True)
class Answer:
    """One question of the checklist, asked of one statement: rows that answer it, or why it does not apply."""

    paper: str
    statement: str
    question: str
    rows: tuple[str, ...] = ()
    not_applicable: str = ""


@cache
def items(paper: str) -> tuple[Item, ...]:
    """The inventory of a paper, in the order of its text; empty if there is none yet.

    Raises:
        ValueError: an item of a wrong form; the message names file, position and field.
    """
    return tuple(_item(paper, number, table) for number, table in enumerate(_document(paper).get("item", ()), 1))


@cache
def answers(paper: str) -> tuple[Answer, ...]:
    """The checklist of a paper: ``[answers."Theorem 1"]``, and below it question = row ids, or why it does not apply.

    Several statements with one answer stand together: ``[answers."Lemma 3, Lemma 4"]``.

    Raises:
        ValueError: an unknown question, or an answer that is neither.
    """
    found: list[Answer] = []
    asked = _document(paper).get("answers", {})
    for statement, table in ((name.strip(), table) for names, table in asked.items() for name in names.split(",")):
        for question, said in table.items():
            where = f'{paper}.toml: answers."{statement}".{question}'
            if question not in QUESTIONS:
                raise ValueError(f"{where}: not one of {', '.join(QUESTIONS)}")
            if isinstance(said, str) and said:
                found.append(Answer(paper, statement, question, not_applicable=said))
            elif isinstance(said, list) and said and all(isinstance(one, str) for one in said):
                found.append(Answer(paper, statement, question, rows=_ids(paper, said)))
            else:
                raise ValueError(f"{where} = {said!r}: must be a list of rows or a sentence")
    return tuple(found)


@cache
def _document(paper: str) -> dict[str, Any]:
    source = files("dpassay.proofs_check.inventory").joinpath(f"{paper}.toml")
    return tomllib.loads(source.read_text(encoding="utf-8")) if source.is_file() else {}


def _item(paper: str, number: int, table: Mapping[str, Any]) -> Item:
    where = f"{paper}.toml: item {number} ({table.get('place', 'no place')})"
    unknown = set(table) - {"place", "kind", "says", "rows", "same_as", "reason"}
    if unknown:
        raise ValueError(f"{where}: unknown field {sorted(unknown)[0]}")
    for name in ("place", "kind", "says"):
        if not isinstance(table.get(name), str) or not table[name]:
            raise ValueError(f"{where}: {name} is missing")
    if table["kind"] not in KINDS:
        raise ValueError(f"{where}: kind = {table['kind']!r}: not one of {', '.join(KINDS)}")
    if sum(bool(table.get(name)) for name in ("rows", "same_as", "reason")) > 1:
        raise ValueError(f"{where}: rows, same_as and reason exclude each other")
    return Item(
        paper=paper,
        place=table["place"],
        kind=table["kind"],
        says=table["says"],
        rows=_ids(paper, table.get("rows", ())),
        same_as=table.get("same_as", ""),
        reason=table.get("reason", ""),
    )


def _ids(paper: str, names: Any) -> tuple[str, ...]:
    return tuple(f"{paper}/{name}" for name in names)
