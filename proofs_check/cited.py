"""Names of statements in our own citations: which numbered statements a row's place or id names."""

from __future__ import annotations

import re

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
