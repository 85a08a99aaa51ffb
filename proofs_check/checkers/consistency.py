"""Equal expressions, one quantity in several places, equal units, and variables written before they are read."""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy as sp

from dpassay.proofs_check.finding import Finding, Verdict, refuted
from dpassay.proofs_check.formula import FormulaError, parse, parse_relation, resolve, symbol
from dpassay.proofs_check.region import Region, holds, region
from dpassay.proofs_check.visits import sample

POINTS = 24
_STEP = re.compile(r"^(?P<line>[\w.-]+): (?P<writes>[^<]*)<-(?P<reads>.*)$")


def compare(left: Any, right: Any, space: Region) -> Finding:
    """Decide ``left == right`` on the region."""
    points = sample(space, POINTS)
    if not points:
        return Finding(Verdict.UNKNOWN, "no point satisfies the assumptions")
    confirmed = 0
    for point in points:
        answer = holds(left, "==", right, point)
        if answer is False:
            ratio = sp.simplify(left / right) if right != 0 else None
            hint = f"; left / right = {ratio}" if ratio is not None and len(str(ratio)) < 80 else ""
            return refuted(left, "==", right, space, point, hint, digits=2)
        confirmed += answer is True
    if not confirmed:
        return Finding(Verdict.UNKNOWN, "could not be evaluated anywhere in the region")
    if sp.simplify(left - right) != 0:
        return Finding(Verdict.CHECKED, f"equal to 40 digits at {confirmed} points, no symbolic proof")
    told = f"sympy reduces the difference to 0; mpmath agrees to 40 digits at {confirmed} points"
    return Finding(Verdict.PROVED, told)


def same(table: Mapping[str, Any]) -> Finding:
    """Keys: ``places`` (formula by place), optional ``let``. The weakest comparison decides."""
    space = region(table)
    symbols = resolve(table.get("let", {}), space.symbols)
    (first_place, first), *places = table["places"].items()
    if not places:
        raise FormulaError("same: needs two places or more")
    findings = []
    for place, text in places:
        finding = compare(parse(first, symbols), parse(text, symbols), space)
        if finding.verdict is Verdict.REFUTED:
            told = f"{first_place} has {first}, {place} has {text}; {finding.evidence}"
            return Finding(Verdict.ILL_DEFINED, told, finding.counterexample)
        findings.append(finding)
    strength = (Verdict.UNKNOWN, Verdict.CHECKED, Verdict.PROVED)
    return min(findings, key=lambda finding: strength.index(finding.verdict))


def program(table: Mapping[str, Any]) -> Finding:
    """Keys: ``steps`` and ``given``. Definite assignment over straight lines, branches and loops.

    A step is ``"7: a b <- c d"`` (line, written names, read names), or one of ``loop``, ``if``, ``else``, ``end``.
    The first pass through a loop is the one that counts: a name that only an earlier pass could have written is
    undefined.
    """
    steps, known = table["steps"], set(str(table.get("given", "")).split())
    stack: list[tuple[str, set[str], set[str] | None]] = []
    missing: list[str] = []
    for step in steps:
        if step in ("loop", "if"):
            stack.append((step, set(known), None))
        elif step == "else":
            kind, before, _ = stack.pop()
            stack.append((kind, before, known))
            known = set(before)
        elif step == "end":
            kind, before, first = stack.pop()
            if kind == "if":
                known = (first if first is not None else before) & known
        else:
            match = _STEP.match(step)
            if match is None:
                raise FormulaError(f"step = {step!r}: expected 'line: writes <- reads'")
            missing += [f"{name} at line {match['line']}" for name in match["reads"].split() if name not in known]
            known = known | set(match["writes"].split())
    if missing:
        told = "read before it is written: " + "; ".join(dict.fromkeys(missing))
        return Finding(Verdict.ILL_DEFINED, told, {"undefined": "; ".join(missing)})
    return Finding(Verdict.PROVED, f"every variable is written before it is read ({len(steps)} steps)")


# UNITS: both sides of a relation, and all terms of a sum, must carry the same ones

Unit = dict[str, Fraction]


class UnitError(Exception):
    """Terms of different units are added, compared or put into a transcendental function."""


def units(table: Mapping[str, Any]) -> Finding:
    """Keys: ``claim`` (a relation), ``units`` (name -> "v/l**2" over base units), ``free`` (without unit)."""
    known: dict[str, Unit] = {name: {} for name in str(table.get("free", "")).split()}
    bases = {base: {base: Fraction(1)} for base in "vls"}
    for name, text in table["units"].items():
        known[name] = _unit(parse(str(text), bases.keys()), bases)
    left, _, right = parse_relation(table["claim"], {name: symbol(name) for name in known})
    try:
        one, two = _unit(left, known), _unit(right, known)
    except UnitError as error:
        return Finding(Verdict.REFUTED, str(error))
    if one != two:
        return Finding(Verdict.REFUTED, f"left has units {_show(one)}, right has units {_show(two)}")
    return Finding(Verdict.PROVED, f"both sides have units {_show(one)}")


def _unit(expression: Any, units: dict[str, Unit]) -> Unit:
    if expression.is_number:
        return {}
    if expression.is_Symbol:
        return units[str(expression)]
    parts = [_unit(argument, units) for argument in expression.args]
    if expression.func in (sp.Add, sp.Max, sp.Min):
        if any(part != parts[0] for part in parts):
            kinds = " and ".join(sorted({_show(part) for part in parts}))
            raise UnitError(f"terms of different units ({kinds}) are combined in {expression}")
        return parts[0]
    if expression.func == sp.Mul:
        total: Unit = {}
        for part in parts:
            total = {k: total.get(k, Fraction(0)) + part.get(k, Fraction(0)) for k in {*total, *part}}
        return {k: v for k, v in total.items() if v}
    if expression.func == sp.Pow and expression.exp.is_Rational:
        power = Fraction(int(expression.exp.p), int(expression.exp.q))
        return {k: v * power for k, v in parts[0].items()}
    if expression.func in (sp.floor, sp.ceiling, sp.Abs):
        return parts[0]
    if any(parts):
        raise UnitError(f"{expression.func} of a quantity with units {_show(parts[0])}")
    return {}


def _show(unit: Unit) -> str:
    names = {"v": "value", "l": "length", "s": "sample"}
    return " ".join(f"{names.get(k, k)}^{v}" for k, v in sorted(unit.items())) or "1"
