"""Rates: is one bound of the order of another? Exponents of the parameters, and exact linear arithmetic over them.

Every parameter p is written as scale^x_p with the scale going to infinity. A product becomes a sum of
exponents, a sum and a maximum become a maximum, and "left = O(right) throughout the region" says that no
exponents of the region give left the larger one. A logarithm is of order zero under O-tilde, and where what is in it
stays constant, else of an arbitrarily small positive exponent. A region without exponents decides nothing.
"""

import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

import sympy as sp
import z3

from dpassay.proofs_check.finding import Finding, Verdict
from dpassay.proofs_check.formula import FormulaError, parse, parse_relation, resolve, symbol

_logarithm = z3.Real("log()")  # no name of a formula
SHOWN = Fraction(1, 1000)  # the exponent of a logarithm, in the numbers that are shown
LEAST = Fraction(1, 10**100)  # and where it decides: below what exponents of formulas differ by
BOXES = (1, 3, 12, None)  # small exponents are tried first: they make plain counterexamples
_COMPARE: dict[str, Callable[..., Any]] = {
    "<=": operator.le, "<": operator.le, ">=": operator.ge, ">": operator.ge, "==": operator.eq,
}  # fmt: skip


def check(table: Mapping[str, Any]) -> Finding:
    """Keys: ``claim`` ("left <= right" or >= for O, == for Theta), ``scale`` ("n"), ``positive`` (the names).

    Optional: ``constants`` (names hidden in the O), ``tilde`` (True hides logarithms), ``let``. The region is
    the list of ``conditions``.
    """
    constants = {symbol(name): 1 for name in table.get("constants", "").split()}
    names = {name: symbol(name) for name in table["positive"].split()} | {str(one): one for one in constants}
    left, relation, right = parse_relation(table["claim"], resolve(table.get("let", {}), names))
    compared = [one for one in ((left, right, "exceeds", "<="), (right, left, "is below", ">="))
                if relation in (one[-1], "==")]  # fmt: skip
    if not compared:
        raise FormulaError(f"rate: claim = {table['claim']!r}: expected <=, >= or ==")
    conditions = [parse_relation(text, names) for text in table.get("conditions", ())]
    hidden, scale = table.get("tilde", True), parse(table["scale"], names)
    region = [_COMPARE[word](order(one), order(other)) for one, word, other in conditions]
    region += [order(scale) == 1, *(order(one) == 0 for one in constants)]
    logarithms = [_logarithm == z3.RealVal(str(size)) for size in ((0,) if hidden else (LEAST, SHOWN))]
    if _solution([*region, logarithms[0]]) is None:
        return Finding(Verdict.UNKNOWN, "no exponents satisfy the conditions, so nothing is decided")
    sides = [left, right, scale, *(side for one, _, other in conditions for side in (one, other))]
    free = sorted({str(one) for side in sides for one in side.free_symbols - set(constants)})
    for larger, smaller, word, _ in compared:
        for term in _terms(larger):
            found = [_violation(order(term) - order(smaller), [*region, size], free) for size in logarithms]
            if found[0] is not None:
                point = found[-1] or found[0]
                gap = _exact(point, order(larger) - order(smaller))
                by = f"by the factor ({table['scale']})^{gap}" if hidden or gap >= 5 * SHOWN else "by logarithms only"
                shown = {name: f"({table['scale']})^{_exact(point, z3.Real(name))}" for name in free}
                at = ", ".join(f"{name} = {value}" for name, value in shown.items())
                plain, bound = (sp.sympify(one).xreplace(constants) for one in (term, smaller))
                told = f"as {table['scale']} grows with {at}: left {word} right {by}; first term too large: {plain}"
                return Finding(Verdict.REFUTED, told + _regime(plain, bound), shown)
    word = "the same order as" if relation == "==" else "at most the order of"
    logs = "logarithms hidden" if hidden else "logarithms counted"
    return Finding(Verdict.PROVED, f"left is {word} right for all exponents in the region (linear programs; {logs})")


def _terms(expression: Any) -> Sequence[Any]:
    return expression.args if expression.func in (sp.Add, sp.Max) else (expression,)


def order(expression: Any) -> Any:
    """The exponent of the scale in a formula, of those of its names.

    Raises:
        FormulaError: a difference, an exponential or another construct without an order.
    """
    if expression.is_number:
        if not expression.is_positive:
            raise FormulaError(f"rate: {expression} is not positive")
        return z3.RealVal(0)
    if expression.is_Symbol:
        return z3.Real(str(expression))
    if expression.func == sp.log:
        if expression.args[0].has(sp.log):
            raise FormulaError(f"rate: no order for {expression}")
        return z3.If(order(expression.args[0]) == 0, z3.RealVal(0), _logarithm)
    parts = [order(argument) for argument in expression.args if not argument.is_number or expression.func != sp.Pow]
    if expression.func in (sp.Add, sp.Max):
        return reduce(lambda one, other: z3.If(one >= other, one, other), parts)
    if expression.func == sp.Min:
        return reduce(lambda one, other: z3.If(one <= other, one, other), parts)
    if expression.func == sp.Mul:
        return z3.Sum(parts)
    if expression.func == sp.Pow and expression.exp.is_Rational:
        return z3.Q(int(expression.exp.p), int(expression.exp.q)) * parts[0]
    if expression.func == sp.ceiling:  # of a positive number: at least 1
        return z3.If(parts[0] >= 0, parts[0], z3.RealVal(0))
    raise FormulaError(f"rate: no order for {expression}")


def _violation(gap: Any, region: Sequence[Any], names: Sequence[str]) -> z3.ModelRef | None:
    """Exponents of the region at which the gap is positive, and as large as such exponents allow."""
    if _solution([*region, gap > 0]) is None:
        return None
    for box in BOXES:
        bounds = [] if box is None else [bound for x in map(z3.Real, names) for bound in (x >= -box, x <= box)]
        found = _solution([*region, gap > 0, *bounds], gap if bounds else None)
        if found is not None:
            return found
    return None


def _solution(formulas: Sequence[Any], most: Any = None) -> z3.ModelRef | None:
    """Exponents that satisfy the formulas, with the most of this where it is bounded; None if there are none."""
    context = z3.Context()  # of its own: what was asked before changes no model
    solver = z3.Solver(ctx=context) if most is None else z3.Optimize(ctx=context)
    solver.add(*(one.translate(context) for one in formulas))
    if most is not None:
        solver.maximize(most.translate(context))
    found = solver.check()
    if found == z3.unknown:
        raise ArithmeticError(f"undecided: {solver.reason_unknown()}")
    return solver.model().translate(z3.main_ctx()) if found == z3.sat else None


def _exact(point: z3.ModelRef, expression: Any) -> Fraction:
    found: Fraction = point.eval(expression, model_completion=True).as_fraction()
    return found


def _regime(term: Any, bound: Any) -> str:
    """Where the term is within the bound: inequalities between powers; empty where that is by a logarithm, or if there
    are other things than powers in them.
    """
    told = set()
    for one in _largest(bound):
        powers = {base: power for base, power in (term / one).as_powers_dict().items()
                  if not base.is_number and base.func != sp.log}  # fmt: skip
        if not powers or not all(base.is_Symbol for base in powers):
            return ""
        told.add(_monomial({str(base): Fraction(str(power)) for base, power in powers.items()}))
    return f"; it is within where {' or '.join(sorted(told))}"


def _largest(expression: Any) -> list[Any]:
    """Products of which the largest has the order of the expression."""
    if expression.func in (sp.Add, sp.Max):
        return [one for part in expression.args for one in _largest(part)]
    if expression.func == sp.Mul:
        return [sp.Mul(*choice) for choice in itertools.product(*map(_largest, expression.args))]
    if expression.func == sp.Pow and expression.exp.is_positive:
        return [one**expression.exp for one in _largest(expression.base)]
    return [expression]


def _monomial(gap: Mapping[str, Fraction]) -> str:
    """``x^a y^b <= 1`` written without negative powers."""
    sides = []
    for sign in (1, -1):
        powers = [(k, v * sign) for k, v in sorted(gap.items()) if v * sign > 0]
        sides.append("*".join(k if v == 1 else f"{k}^({v})" if v.denominator > 1 else f"{k}^{v}" for k, v in powers))
    return f"{sides[0] or '1'} <= {sides[1] or '1'}"
