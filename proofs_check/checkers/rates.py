"""Rates: is one bound of the order of another? Exponents of the parameters, and a linear program over them.

Every parameter p is written as scale^x_p with the scale going to infinity. A product becomes a sum of
exponents, a sum and a maximum become a maximum, so the order of a formula is a maximum of minima of linear
forms, and "left = O(right) throughout the region" is a finite set of linear programs. A logarithm is a
variable of its own: zero under O-tilde, an arbitrarily small positive exponent under O.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy as sp
from scipy.optimize import linprog

from dpassay.proofs_check.finding import Finding, Verdict
from dpassay.proofs_check.formula import FormulaError, parse, parse_relation, resolve, symbol

Form = Mapping[str, Fraction]
Order = list[list[dict[str, Fraction]]]  # maximum over the outer list of the minimum over the inner one
Found = tuple[dict[str, Fraction], Fraction] | str | None
LOG = "log"
TINY = Fraction(1, 1000)
BOXES = (1, 3, 12)  # small exponents are tried first: they make plain counterexamples
DENOMINATORS = (12, 120, 5000, 10**6, 10**9)  # plain fractions first


def check(table: Mapping[str, Any]) -> Finding:
    """Keys: ``claim`` ("left <= right" for O, == for Theta), ``scale`` ("n", "1/alpha"), ``positive`` (the names).

    Optional: ``constants`` (names hidden in the O), ``tilde`` (True hides logarithms), ``let``. The region is
    the list of ``conditions``, each between two products of powers.
    """
    names = {name: symbol(name) for name in table["positive"].split()}
    names |= {name: sp.Integer(1) for name in table.get("constants", "").split()}
    left, operator, right = parse_relation(table["claim"], resolve(table.get("let", {}), names))
    rows = [_row(text, names) for text in table.get("conditions", ())]
    scale = _linear(parse(table["scale"], names))
    hidden = table.get("tilde", True)
    log_weight = Fraction(0) if hidden else TINY
    pairs = [(left, right, "exceeds")]
    if operator == "==":
        pairs.append((right, left, "is below"))
    for larger, smaller, word in pairs:
        bad = violation(order(larger), order(smaller), rows, scale, log_weight)
        if isinstance(bad, str):
            return Finding(Verdict.UNKNOWN, bad)
        if bad is not None:
            finding = _refuted(left, right, bad, table["scale"], word)
            return replace(finding, evidence=finding.evidence + _regime(larger, smaller, rows, scale, log_weight))
    word = "the same order as" if operator == "==" else "at most the order of"
    logs = "logarithms hidden" if hidden else "logarithms counted"
    return Finding(Verdict.PROVED, f"left is {word} right for all exponents in the region (linear programs; {logs})")


def order(expression: Any) -> Order:
    """The order of a formula as a maximum of minima of linear forms in the exponents.

    Raises:
        FormulaError: a difference, an exponential or another construct without an order.
    """
    if expression.is_number:
        if not expression.is_positive:
            raise FormulaError(f"rate: {expression} is not positive")
        return [[{}]]
    if expression.is_Symbol:
        return [[{str(expression): Fraction(1)}]]
    if expression.func in (sp.Add, sp.Max):
        return [alternative for argument in expression.args for alternative in order(argument)]
    if expression.func == sp.Min:
        return [list(itertools.chain(*choice)) for choice in itertools.product(*map(order, expression.args))]
    if expression.func == sp.Mul:
        result: Order = [[{}]]
        for argument in expression.args:
            result = _add(result, order(argument))
        return result
    if expression.func == sp.Pow and expression.exp.is_Rational:
        return _scaled(order(expression.base), Fraction(int(expression.exp.p), int(expression.exp.q)))
    if expression.func == sp.log:
        return [[{LOG: Fraction(1)}]]
    if expression.func in (sp.floor, sp.ceiling):
        return order(expression.args[0])
    raise FormulaError(f"rate: no order for {expression}")


def _add(left: Order, right: Order) -> Order:
    return [[_plus(a, b) for a in one for b in two] for one in left for two in right]


def _plus(a: Form, b: Form) -> dict[str, Fraction]:
    names = set(a) | set(b)
    return {name: a.get(name, Fraction(0)) + b.get(name, Fraction(0)) for name in names}


def _scaled(value: Order, factor: Fraction) -> Order:
    if factor >= 0:
        return [[{k: factor * v for k, v in form.items()} for form in inner] for inner in value]
    choices = itertools.product(*value)  # minus a max of mins = max over choices of a min of the negatives
    return [[{k: factor * v for k, v in form.items()} for form in choice] for choice in choices]


def _linear(expression: Any) -> dict[str, Fraction]:
    forms = order(expression)
    if [len(inner) for inner in forms] != [1]:
        raise FormulaError(f"rate: {expression} is not a product of powers")
    ((form,),) = forms
    return form


def _row(text: str, table: Mapping[str, Any]) -> dict[str, Fraction]:
    """A condition as a linear form that must be <= 0."""
    left, operator, right = parse_relation(text, table)
    if operator in (">=", ">"):
        left, right = right, left
    return _plus(_linear(left), {k: -v for k, v in _linear(right).items()})


def violation(left: Order, right: Order, rows: list[dict[str, Fraction]], scale: Form, log_weight: Fraction) -> Found:
    """Exponents in the region at which left has the larger order, with the gap; None when there are none.

    A text says that the solver reports some, and that exact arithmetic confirms none of them.
    """
    alternatives = [
        one
        for one in _add(left, _scaled(right, Fraction(-1)))
        if _solve(one, rows, scale, log_weight, BOXES[-1]) is not None
    ]  # smaller boxes lie in it
    doubt = None
    for box, one in itertools.product(BOXES, alternatives):
        found = _solve(one, rows, scale, log_weight, box)
        if isinstance(found, tuple):
            return found
        doubt = found or doubt
    return doubt


def _solve(
    forms: list[dict[str, Fraction]], rows: list[dict[str, Fraction]], scale: Form, log_weight: Fraction, box: int
) -> Found:
    """Maximise t with every form >= t inside the region; exact verification of the optimum.

    A text says that it is positive, but that no fractions near it lie in the region and give a positive gap.
    """
    names = sorted({name for form in [*forms, *rows, scale] for name in form} - {LOG})
    objective = [0.0] * len(names) + [-1.0]
    upper = [[-float(f.get(k, 0)) for k in names] + [1.0] for f in forms]
    limit = [float(f.get(LOG, 0)) * float(log_weight) for f in forms]
    upper += [[float(row.get(k, 0)) for k in names] + [0.0] for row in rows]
    limit += [-float(row.get(LOG, 0)) * float(log_weight) for row in rows]
    equal = [[float(scale.get(k, 0)) for k in names] + [0.0]]
    bounds = [(-box, box)] * len(names) + [(-100, 100)]
    solution = linprog(objective, A_ub=upper, b_ub=limit, A_eq=equal, b_eq=[1.0], bounds=bounds, method="highs")
    if not solution.success or solution.x is None or solution.fun is None or solution.fun > -1e-7:
        return None
    for denominator in DENOMINATORS:
        exact = {
            k: Fraction(float(x)).limit_denominator(denominator) for k, x in zip(names, solution.x[:-1], strict=True)
        }
        exact[LOG] = log_weight
        gap = min(_value(form, exact) for form in forms)
        if gap > 0 and all(_value(row, exact) <= 0 for row in rows) and _value(scale, exact) == 1:
            return exact, gap
    return f"a linear program reports a gap of {-solution.fun:.1e} that no exact fractions confirm"


def _value(form: Form, at: Form) -> Fraction:
    return sum((weight * at.get(name, Fraction(0)) for name, weight in form.items()), Fraction(0))


def _regime(larger: Any, smaller: Any, rows: list[dict[str, Fraction]], scale: Form, log_weight: Fraction) -> str:
    """The first term that is too large, and where it is within the other side: inequalities between exponents."""
    terms = larger.args if larger.func in (sp.Add, sp.Max) else (larger,)
    bound = order(smaller)
    large = (t for t in terms if isinstance(violation(order(t), bound, rows, scale, log_weight), tuple))
    term = next(large, None)
    if term is None:  # only the sum of several is confirmed to be too large
        return ""
    mine = order(term)
    if {len(mine), *(len(inner) for inner in [*mine, *bound])} != {1}:
        return f"; first term too large: {term}"
    gaps = [_plus(mine[0][0], {k: -v for k, v in inner[0].items()}) for inner in bound]
    if any(not any(v for k, v in gap.items() if k != LOG) for gap in gaps):
        return f"; first term too large: {term}"  # by a logarithm or nowhere within
    told = sorted({_monomial(gap) for gap in gaps})
    return f"; first term too large: {term}; it is within where {' or '.join(told)}"


def _monomial(gap: Mapping[str, Fraction]) -> str:
    """``x^a y^b <= 1`` written without negative powers."""
    sides = []
    for sign in (1, -1):
        powers = [(k, v * sign) for k, v in sorted(gap.items()) if k != LOG and v * sign > 0]
        sides.append("*".join(k if v == 1 else f"{k}^({v})" if v.denominator > 1 else f"{k}^{v}" for k, v in powers))
    return f"{sides[0] or '1'} <= {sides[1] or '1'}"


def _refuted(left: Any, right: Any, bad: tuple[dict[str, Fraction], Fraction], scale: str, word: str) -> Finding:
    exponents, gap = bad
    shown = {k: f"({scale})^{v}" for k, v in exponents.items() if k != LOG}
    at = ", ".join(f"{k} = {v}" for k, v in shown.items())
    by = f"by the factor ({scale})^{gap}" if gap >= TINY * 5 or not exponents[LOG] else "by logarithms only"
    return Finding(Verdict.REFUTED, f"as {scale} grows with {at}: left {word} right {by}", shown)
