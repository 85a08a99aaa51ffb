"""Names of statements in our own citations: which numbered statements and equations a place names."""

from __future__ import annotations

import re

_KINDS = "Theorem|Lemma|Definition|Assumption|Proposition|Corollary|Remark|Claim|Algorithm|Table|Figure"
_NUMBER = r"[A-Z]?\.?\d+(?:\.\d+)?"
_LIST = re.compile(rf"\b({_KINDS})s?\s+((?:{_NUMBER})(?:(?:, | and | to |, and )(?:{_NUMBER}))*)")
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


def own_names(place: str) -> set[str]:
    """The names that a statement has by its place: ``"Section 3.1; again as Lemma D.1"`` gives Lemma D.1."""
    parts = (part.removeprefix("again as ") for part in place.split("; "))
    return {name for part in parts if _LIST.match(part) for name in named(part)}
