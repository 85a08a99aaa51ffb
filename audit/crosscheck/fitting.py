"""Factors that no list has, and terms that are added: a number is fitted to the first difference, and then held against
everything else.

Each value of the reference that was computed before the first difference is given another factor, or a multiple of
another value is added to it. One run shows how that moves what differs; if it moves it in the right direction, the
amount follows. A fitted number explains nothing until the same number explains every vector to its end.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpassay.reference.types import Array

from .calls import CLIPPING
from .changes import Change
from .conditions import head
from .differences import compare
from .edits import RATE, Scope, functions_of, statements, values_of
from .kinds import Kind
from .mutants import Mutant, answers
from .planting import source
from .reached import Reached
from .recording import VectorTape, events_of
from .rounding import numbers
from .source import Text

STEP = 0.25  # of the number, for the first run
CLOSE = 1e-6  # relative: what a straight line leaves
ROUNDS = 7  # of secants: where the number enters as a power
USUAL = (3.0, 1 / 3, 4.0, 0.25, 10.0, 0.1, 1.5)
TERMS = 4  # other values that are tried as a term
AMOUNT = "AMOUNT"  # stands for the number in a text


@dataclass(frozen=True)
class Fit:
    """A change with a number to be found; ``neutral`` is the one that changes nothing."""

    mutant: Mutant
    neutral: float

    def at(self, amount: float) -> Mutant:
        """The change with this number; as a factor it may be the other sign, or nothing."""
        change = self.mutant.change
        kind, shown = change.kind, f"{amount:.6g}"
        if self.neutral and np.isclose(amount, -1.0, rtol=CLOSE):
            kind = Kind.SIGN
        elif self.neutral and abs(amount) < CLOSE:
            kind = Kind.MISSING_TERM
        name, text = change.name.replace(AMOUNT, shown), change.text.replace(AMOUNT, repr(amount))
        return replace(self.mutant, change=replace(change, kind=kind, name=name, text=text))


def fits(seen: Reached) -> Iterator[Fit]:
    """Every factor, then every term, of what the reference ran."""
    factors, terms = [], []
    for file in seen.files():
        text = Text(source(file))
        for function in functions_of(ast.parse(source(file))):
            scope = seen.scope(file, function)
            for statement in statements(function.body):
                if seen.ran(file, *head(statement)):
                    numbered = [node for node, _ in values_of(statement) if _number(node, scope)]
                    factors += [_factor(text, file, node) for node in numbered]
                    factors += [_decay(text, file, node) for node in numbered if RATE.search(text.code(node))]
                    terms += list(_terms(text, file, statement, scope))
    yield from factors
    yield from terms


def _number(node: ast.expr, scope: Scope) -> bool:
    known = isinstance(node, ast.Attribute | ast.Call | ast.BinOp | ast.Subscript)
    return known or (isinstance(node, ast.Name) and node.id in scope.names)


def _factor(text: Text, file: str, node: ast.expr) -> Fit:
    code = text.code(node)
    kind = Kind.CLIP_BOUND if CLIPPING.search(code) and isinstance(node, ast.Name | ast.Attribute) else Kind.FACTOR
    change = Change(*text.made(kind, f"{AMOUNT} times", node, f"({AMOUNT} * ({code}))"))
    return Fit(Mutant(file, change), 1.0)


def _decay(text: Text, file: str, node: ast.expr) -> Fit:
    """A rate that falls, or grows, by a factor each time."""
    new = f"_edit.shrunk({text.span(node)[0]}, {text.code(node)}, {AMOUNT})"
    return Fit(Mutant(file, Change(*text.made(Kind.FACTOR, f"{AMOUNT} times, each time again,", node, new))), 1.0)


def _terms(text: Text, file: str, statement: ast.stmt, scope: Scope) -> Iterator[Fit]:
    """A multiple of a value of the same shape, or of what was there before, is added to what a name becomes."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return
    name, node = statement.targets[0].id, statement.value
    shape, code = scope.names.get(name), text.code(statement.value)
    if shape is None or shape == ():
        return
    others = [one for one, same in scope.names.items() if same == shape][:TERMS]
    named = [(f"{AMOUNT} times {one} added to", f"({code}) + {AMOUNT} * ({one})") for one in others]
    place = text.span(node)[0]
    named.append((f"{AMOUNT} times its sum so far added to", f"_edit.decayed({place}, {code}, {AMOUNT})"))
    for words, new in named:
        yield Fit(Mutant(file, Change(*text.made(Kind.MISSING_TERM, words, node, f"({new})"))), 0.0)


@dataclass
class Fitting:
    """What is to be met: the field that differs first.

    Args:
        case: the case of ``causes.py``.
        name: of the field.
    """

    case: Any
    name: str

    def __post_init__(self) -> None:
        self._vector, given = self.case.cut or self.case.bare[0]
        self._here, self._there = self._field(self._vector), self._field(given)

    def met(self, fit: Fit) -> Mutant | None:
        """The change with the number that meets it; None where there is none."""
        gap = self._there - self._here
        size = float(np.linalg.norm(gap))
        probe = self._asked(fit.at(fit.neutral + STEP))
        if probe is None or not np.isfinite(gap).all():
            return None
        amount, moved = fit.neutral, (probe - self._here) / STEP
        for _ in range(ROUNDS):
            slope = float(moved @ moved)
            if slope <= 1e-24 * float(self._here @ self._here) or not np.isfinite(slope):
                return None
            share = float(moved @ gap) / slope
            if amount == fit.neutral and float(np.linalg.norm(gap - share * moved)) > 0.5 * size:
                return self._usual(fit, size)
            before, amount = amount, amount + share
            found = self._asked(fit.at(amount))
            if found is None:
                return self._usual(fit, size)
            left = self._there - found
            if float(np.linalg.norm(left)) <= 1e-11 * size:
                return fit.at(_simple(amount))
            moved, gap = (found - (self._there - gap)) / (amount - before), left
        return fit.at(_simple(amount)) if float(np.linalg.norm(gap)) <= CLOSE * size else self._usual(fit, size)

    def _usual(self, fit: Fit, size: float) -> Mutant | None:
        """Where no straight line leads there, one of the factors that people take."""
        for amount in USUAL if fit.neutral else ():
            found = self._asked(fit.at(amount))
            if found is not None and float(np.linalg.norm(self._there - found)) <= CLOSE * size:
                return fit.at(amount)
        return None

    def _asked(self, mutant: Mutant) -> Array | None:
        """The field with this change; None where something differs before it."""
        kept: list[Any] = []

        case = self.case

        def stop(tape: VectorTape) -> bool:
            if tape.position < case.until:
                return True
            kept.append({"events": events_of(tape), "output": None})
            return False

        case.spend()
        made = answers(case.run, case.known[0][0], mutant, case.until, stop if case.cut else None, case.seconds)
        made = kept[0] if kept else made
        expected = _bare(self._vector)
        last = len(expected) if self.name == "output" else len(expected) - 1
        if made is None or len(_bare(made)) < len(expected):
            return None
        before = {**self._vector, "events": expected[:last], "output": None}
        if compare(before, {"events": _bare(made)[:last], "output": None}, float32=case.float32):
            return None
        found = self._field({**made, "events": _bare(made)[: len(expected)]})
        return found if found.shape == self._here.shape else None

    def _field(self, run: Any) -> Array:
        events = _bare(run)
        return np.array(numbers(run["output"] if self.name == "output" else events[-1].get(self.name)), dtype=float)


def _bare(run: Any) -> list[Any]:
    """Events without what is declared, and without those that nobody sees."""
    undeclared = [event for event in run["events"] if event["event"] != "secret"]
    return [{name: one[name] for name in one if name not in ("sensitivity", "batches")} for one in undeclared]


def _simple(amount: float) -> float:
    """A short fraction where the number is one, up to what fitting loses."""
    near = Fraction(amount).limit_denominator(1000)
    return float(near) if abs(float(near) - amount) <= 1e-8 * max(1e-3, abs(amount)) else amount
