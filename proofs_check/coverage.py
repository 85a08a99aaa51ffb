"""Which numbered statements of the papers the ledger treats, and why the others have no row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from .claim import Row
from .not_checkable import NOT_CHECKABLE
from .statements import STATEMENTS

KINDS = (
    "Theorem",
    "Lemma",
    "Definition",
    "Assumption",
    "Proposition",
    "Corollary",
    "Remark",
    "Claim",
    "Algorithm",
    "Table",
    "Figure",
)
_NUMBER = r"[A-Z]?\.?\d+(?:\.\d+)?"
_LIST = re.compile(rf"\b({'|'.join(KINDS)})s?\s+((?:{_NUMBER})(?:(?:, | and | to |, and )(?:{_NUMBER}))*)")
_EQUATION = re.compile(r"(?:(?<![\w(])|(?<=\bto ))\((\d{1,2})[a-z]?\)")


def named(place: str) -> set[str]:
    """The statements that a citation names: ``"Lemmas 6, 7 and eq. (16)"`` gives Lemma 6, Lemma 7 and eq. (16)."""
    place = re.sub(r"(?i)\b(item|line|node|part)s? ?\(\d+\)", "", place)  # numbers of other things
    found = {f"eq. ({number})" for number in _EQUATION.findall(place)}
    for kind, numbers in _LIST.findall(place):
        found |= {f"{kind} {number}" for number in re.findall(_NUMBER, numbers)}
        span = re.search(r"(\d+) to (\d+)", numbers)
        if span:
            found |= {f"{kind} {n}" for n in range(int(span[1]), int(span[2]) + 1)}
    return found


def rows_by_statement(rows: Iterable[Row]) -> dict[str, dict[str, list[str]]]:
    """Paper, statement, ids of the rows whose citation, id or statement names it."""
    table: dict[str, dict[str, list[str]]] = {
        paper: {name: [] for name in names} for paper, names in STATEMENTS.items()
    }
    for row in rows:
        paper = row.cite.paper
        for name in named(row.cite.place) | named(row.statement) | {named_by_id(row.id)}:
            if name in table[paper]:
                table[paper][name].append(row.id)
    return table


_SHORT = {"thm": "Theorem", "lemma": "Lemma", "prop": "Proposition", "cor": "Corollary", "def": "Definition"}
_SECTIONED = ("adaptive_batch", "output_perturbation")  # numbers like 3.14


def named_by_id(row_id: str) -> str:
    """``minimax_sosp/eq30/...`` is about eq. (30), ``adaptive_batch/thm317/...`` about Theorem 3.17."""
    match = re.match(r"^([^/]+)/(eq|thm|lemma|prop|cor|def)([A-Z]?)(\d+)/", row_id)
    if match is None:
        return ""
    paper, kind, letter, digits = match.groups()
    if kind == "eq":
        return f"eq. ({digits})"
    if letter:
        return f"{_SHORT[kind]} {letter}.{digits}"
    number = f"{digits[0]}.{digits[1:]}" if paper in _SECTIONED and len(digits) > 1 else digits
    return f"{_SHORT[kind]} {number}"


def uncovered(rows: Iterable[Row]) -> dict[str, list[str]]:
    """Statements without a row and without a reason, by paper."""
    table = rows_by_statement(rows)
    return {
        paper: [name for name, ids in names.items() if not ids and name not in NOT_CHECKABLE[paper]]
        for paper, names in table.items()
    }


def markdown(rows: Sequence[Row], papers: Iterable[str]) -> list[str]:
    """The coverage of each paper as lines of LEDGER.md."""
    table: Mapping[str, Mapping[str, list[str]]] = rows_by_statement(rows)
    lines: list[str] = []
    for paper in papers:
        treated = {name: ids for name, ids in table[paper].items() if ids}
        lines += ["", f"### {paper}: {len(treated)} of {len(table[paper])} numbered statements have rows", ""]
        lines.append("; ".join(f"{name} ({len(ids)})" for name, ids in treated.items()) + ".")
        if NOT_CHECKABLE[paper]:
            lines += ["", "No row of its own:", ""]
            lines += [f"- {name}: {reason}" for name, reason in NOT_CHECKABLE[paper].items()]
    return lines
