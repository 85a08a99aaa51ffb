"""Does a claim follow from facts? The solver says yes or shows numbers, which exact arithmetic checks again."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
import z3

from dpassay.proofs_check.formula import FormulaError, tree

from .language import Language, once, pairs, pieces

EFFORT = 3_000_000  # units of the solver's own count of work, about a second: the same answer on every machine
DIGITS = 40
LONG = 10**20  # a denominator of more digits is that of a root, cut off
_FUNCTIONS = ("log(", "exp(", "sqrt(", "floor(", "ceiling(")  # shown by what is in them
AT_ODDS = "whether the facts contradict each other was not decided"
SLACK = sp.Rational(1, 10**12)  # relative; of numbers with roots, logarithms or exponentials in them
ROUNDS = 20  # in which numbers that no vectors have are excluded
ROUNDED = 1e-9  # relative; a negative square up to that is a rounded 0


class Answer(StrEnum):
    """What is known of a step."""

    FOLLOWS = "follows"
    CITED = "cited"
    SAMPLED = "sampled"  # no violation at many points, and no proof
    GAP = "GAP"
    VACUOUS = "vacuous"
    UNDECIDED = "undecided"
    OPEN = "open"


@dataclass(frozen=True)
class Decision:
    """An answer with its evidence; of a gap the numbers at which the facts hold and the claim does not."""

    answer: Answer
    evidence: str = ""
    numbers: Mapping[str, str] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether the step is shown, taken from a cited place, or true wherever it was tried."""
        return self.answer in (Answer.FOLLOWS, Answer.CITED, Answer.SAMPLED)

    def because(self, evidence: str) -> Decision:
        """The same answer in other words."""
        return replace(self, evidence=evidence)


def follows(language: Language, claim: str, facts: Sequence[str], *, aside: bool = False) -> Decision:
    """Whether the facts, and the laws of what occurs in them, imply the claim.

    ``aside``: not whether the facts are possible together, which the step that they belong to asks of all its facts.
    """
    return _decide(language, claim, tuple(dict.fromkeys(facts)), aside)


@once  # repairs repeat steps
def _decide(language: Language, claim: str, texts: tuple[str, ...], aside: bool) -> Decision:
    known = [language.formula(text) for text in texts]
    wanted = language.formula(claim)
    laws = language.laws([claim, *texts])
    literally = {piece for text in texts for piece in pieces(text)}.issuperset(pieces(claim))
    answer, model = (z3.unsat, None) if literally else _solve(language, [*laws, *known, z3.Not(wanted)], EFFORT)
    if answer == z3.unsat:
        around = [one for one in language.consistent if one.issuperset(texts)]
        for one in around:  # what follows from them is possible with them
            one.add(claim)
        if aside or around:
            return Decision(Answer.FOLLOWS)
        possible, _ = _solve(language, [*laws, *known], EFFORT // 3)
        if possible == z3.unsat:
            return Decision(Answer.VACUOUS, "the facts contradict each other")
        if possible == z3.sat:
            language.consistent.append({*texts, claim})
        return Decision(Answer.FOLLOWS, "" if possible == z3.sat else AT_ODDS)
    if model is None:
        return Decision(Answer.UNDECIDED, "the solver does not decide it within its effort: split the step")
    numbers = _confirmed(language, claim, texts, _numbers(model))
    counts = [name for name in numbers or () if name in language.symbols.count]
    if numbers is not None and any("/" in numbers[name] for name in counts):
        whole = [z3.IsInt(z3.Real(name)) for name in counts]
        _, model = _solve(language, [*laws, *known, z3.Not(wanted), *whole], EFFORT // 10)
        numbers = (model and _confirmed(language, claim, texts, _numbers(model))) or numbers
    if numbers is None:
        return Decision(Answer.UNDECIDED, "the solver's numbers do not respect a logarithm, exponential or power in it")
    return Decision(Answer.GAP, "the facts allow it to fail", numbers)


def possible(language: Language, formulas: Sequence[str], values: Mapping[str, str], denied: str) -> bool:
    """Whether numbers with these values are found that satisfy the formulas and violate the denied one."""
    texts = [*formulas, *(f"{name} == {value}" for name, value in values.items() if value not in ("true", "false"))]
    known = [language.formula(text) for text in texts]
    for name, value in values.items():
        if value in ("true", "false"):
            flag = z3.Bool(language.predicate(tree(name)))
            known.append(flag if value == "true" else z3.Not(flag))
    laws = language.laws([denied, *texts])
    _, model = _solve(language, [*laws, *known, z3.Not(language.formula(denied))], EFFORT)
    return model is not None and _confirmed(language, denied, texts, _numbers(model)) is not None


def impossible(language: Language, formulas: Sequence[str], whole: str) -> bool:
    """Whether no numbers satisfy the formulas, of which this one is whole."""
    known = [*language.laws(formulas), *map(language.formula, formulas), z3.IsInt(z3.Real(whole))]
    return bool(_solve(language, known, EFFORT // 10)[0] == z3.unsat)


def _solve(
    language: Language, formulas: Sequence[z3.BoolRef], effort: int
) -> tuple[z3.CheckSatResult, z3.ModelRef | None]:
    """Numbers that satisfy the formulas; where they stand for inner products, vectors have them."""
    laws: list[z3.BoolRef] = []
    for _ in range(ROUNDS):
        solver = language.tactic.solver()
        solver.set(rlimit=effort)
        solver.add(*(one.translate(language.tactic.ctx) for one in (*formulas, *laws)))
        answer = solver.check()
        model = solver.model().translate(z3.main_ctx()) if answer == z3.sat else None
        broken = [] if model is None else _laws_of_vectors(language, model)
        if not broken:
            return answer, model
        laws += broken
    return z3.unknown, None


def _laws_of_vectors(language: Language, model: z3.ModelRef) -> list[z3.BoolRef]:
    """What inner products satisfy and these numbers do not: Cauchy-Schwarz, or that a combination has a length."""
    found = [language.products[one.name()] for one in model.decls() if one.name() in language.products]
    names = sorted({name for pair in found for name in pair})
    products = [[z3.Real(f"<{min(one, two)}, {max(one, two)}>") for two in names] for one in names]
    values = [[model.eval(one, model_completion=True).as_decimal(DIGITS) for one in row] for row in products]
    table = np.array([[float(one.rstrip("?")) for one in row] for row in values])
    if len(names) < 2:
        return []
    squares, combinations = np.linalg.eigh(table)
    if squares[0] >= -ROUNDED * max(1.0, float(abs(table).max())):
        return []
    pairs_of = [(i, k) for i in range(len(names)) for k in range(i) if table[i, k] ** 2 > table[i, i] * table[k, k]]
    weights = [z3.RealVal(str(Fraction(float(one)).limit_denominator(10**4))) for one in combinations[:, 0]]
    length = z3.Sum([a * b * one for a, row in zip(weights, products, strict=True)
                     for b, one in zip(weights, row, strict=True)])  # fmt: skip
    return [products[i][k] * products[i][k] <= products[i][i] * products[k][k] for i, k in pairs_of] or [length >= 0]


def _numbers(model: z3.ModelRef) -> dict[str, str]:
    found = {}
    for variable in model.decls():
        if variable.arity() == 0:
            value = model[variable]
            text = value.as_decimal(DIGITS).rstrip("?") if z3.is_algebraic_value(value) else str(value)
            found[variable.name()] = text.lower() if text in ("True", "False") else text
    return dict(sorted(found.items()))


def _confirmed(
    language: Language, claim: str, facts: Sequence[str], numbers: Mapping[str, str]
) -> dict[str, str] | None:
    """The numbers, if facts hold and the claim fails there with roots, logarithms and exponentials as they are.

    What a fact defines (``noise(A) == ...``) is computed anew: the solver knows no logarithm's value.
    """
    values = {symbol: sp.Rational(numbers.get(name, "1")) for name, symbol in language.table.items()
              if numbers.get(name, "1") not in ("true", "false")}  # fmt: skip
    found = _at(language, claim, facts, numbers, dict(values))
    if found is None:  # the solver chose x and log(x) apart: keep its log(x)
        by_log = {symbol: sp.N(sp.exp(sp.Rational(numbers[f"log({symbol})"])), DIGITS) for symbol in values
                  if f"log({symbol})" in numbers}  # fmt: skip
        found = _at(language, claim, facts, numbers, {**values, **by_log}) if by_log else None
        found = None if found is None else {**found, **{str(name): str(value) for name, value in by_log.items()}}
    return found


def _at(
    language: Language, claim: str, facts: Sequence[str], numbers: Mapping[str, str], values: dict[Any, Any]
) -> dict[str, str] | None:
    """The numbers if these values are a counterexample."""

    def true(node: ast.expr) -> bool:
        if isinstance(node, ast.BoolOp):
            return (all if isinstance(node.op, ast.And) else any)(true(one) for one in node.values)
        if isinstance(node, ast.UnaryOp):
            return not true(node.operand)
        if isinstance(node, ast.Compare):
            return all(_related(language, *one, values) for one in pairs(node))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "implies":
            return not true(node.args[0]) or true(node.args[1])
        return numbers.get(language.predicate(node), "false") == "true"

    try:
        changed = _defined(language, facts, values)
        if not all(true(tree(fact)) for fact in facts) or true(tree(claim)):
            return None
    except (FormulaError, TypeError, ValueError, ZeroDivisionError):
        return None
    shown = {name: value for name, value in numbers.items() if not name.startswith(_FUNCTIONS) and "**" not in name}
    return {name: changed.get(name, value) for name, value in shown.items()}


def _defined(language: Language, facts: Sequence[str], values: dict[Any, Any]) -> dict[str, str]:
    """Puts what facts define by a function into the values; returns what changed, as text."""
    changed = {}
    for fact in facts:
        for node in ast.walk(tree(fact)):
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq) and len(node.ops) == 1:
                left, right = language.scalar(node.left), language.scalar(node.comparators[0])
                if left.is_Symbol and right.has(sp.log, sp.exp) and left not in right.free_symbols:
                    values[left] = sp.N(right.xreplace(values), DIGITS)
                    changed[left.name] = str(values[left])
    return changed


def _related(language: Language, left: ast.expr, operator: str, right: ast.expr, values: Mapping[Any, Any]) -> bool:
    a, b = (language.scalar(side).xreplace(values) for side in (left, right))
    exact = all(side.is_Rational and side.q < LONG for side in (a, b))
    a, b = sp.N(a, DIGITS), sp.N(b, DIGITS)
    if not (a.is_real and b.is_real):
        raise ValueError("not a real number")
    slack = 0 if exact else SLACK * max(1, abs(a), abs(b))
    return bool({"<=": a <= b + slack, "<": a < b + slack, ">=": a >= b - slack, ">": a > b - slack,
                 "==": abs(a - b) <= slack, "!=": a != b}[operator])  # fmt: skip
