"""Mutants of a claim: the same statement with one small thing wrong, nearest first."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from .claim import Assumptions, Claim, Kind, Row, Severity

Mutant = tuple[str, Claim]
HIDDEN = "D data x_data"  # names under which a pseudocode line reads the data
_FREE = "(0, inf)"


def mutants(row: Row) -> Iterator[Mutant]:
    """Mutants of a row's claim, each with what was changed; the last one turns the direction."""
    claim = row.claim
    if claim.kind is Kind.TABLES:
        yield from _tables(claim)
    elif "program" in claim.formula:
        yield from _programs(claim, private=row.severity is Severity.PRIVACY)
    elif claim.kind is Kind.MONTECARLO:
        yield from _of_text(claim, "below")
    elif claim.kind is Kind.UNITS:
        yield from _units(claim)
    elif "same" in claim.formula:
        for place in list(claim.formula["same"])[1:]:
            yield from _of_text(claim, "same", place)
        yield from _of_let(claim)
    elif claim.kind is Kind.PRIVACY and "claim" not in claim.formula:
        yield from _noise(claim)
        yield from _of_let(claim)
    else:
        yield from _of_text(claim, "claim")
        yield from _of_let(claim)
        yield from _assumptions(claim)


def turned(claim: Claim) -> Mutant | None:
    """The claim with its direction turned: refuted for nearly every row, so it alone makes none sharp."""
    text = claim.formula.get("claim")
    if not isinstance(text, str) or "==" in text:
        return None
    pairs = (("<=", ">="), (">=", "<="), ("<", ">"), (">", "<"))
    for one, other in pairs:
        if one in text:
            return "direction turned", _with(claim, text.replace(one, other, 1), "claim")
    return None


def texts(text: str) -> Iterator[tuple[str, str]]:
    """A formula with one thing changed: constants, logarithms, powers, summands, arguments, factors."""
    tree = ast.parse(text, mode="eval")
    for change in (_constants, _sides, _logarithms, _powers, _summands, _arguments, _symbols):
        yield from change(tree)


def _edited(tree: ast.Expression, index: int, make: Callable[[ast.expr], ast.expr]) -> str:
    """The text when the index-th node (in the order of ``ast.walk``) is replaced; the tree stays as it is."""
    nodes = list(ast.walk(tree))
    target = nodes[index]
    assert isinstance(target, ast.expr)
    for parent in nodes:
        for name, held in ast.iter_fields(parent):
            if held is not target and not (isinstance(held, list) and target in held):
                continue
            new = make(target)
            setattr(parent, name, [new if one is target else one for one in held] if isinstance(held, list) else new)
            try:
                return ast.unparse(tree)
            finally:
                setattr(parent, name, held)
    raise AssertionError("a node of the tree has a parent")  # but for the first, which is no expression


def _exponents(tree: ast.AST) -> set[int]:
    """Positions of nodes inside exponents."""
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)
              for part in ast.walk(node.right)}  # fmt: skip
    return {index for index, node in enumerate(ast.walk(tree)) if id(node) in inside}


def _constants(tree: ast.Expression) -> Iterator[tuple[str, str]]:
    powers = _exponents(tree)
    for index, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.Constant) and index not in powers and node.value not in (0, None):
            for factor in (Fraction(1, 2), Fraction(2)):
                value = Fraction(str(node.value)) * factor
                new = ast.parse(f"({value})" if value.denominator > 1 else str(value), mode="eval").body
                yield f"{node.value!r} becomes {value}", _edited(tree, index, lambda _, new=new: new)  # type: ignore[misc]


def _sides(tree: ast.Expression) -> Iterator[tuple[str, str]]:
    if isinstance(tree.body, ast.Compare):
        left, right = ast.unparse(tree.body.left), ast.unparse(tree.body.comparators[0])
        sign = {ast.LtE: "<=", ast.Lt: "<", ast.GtE: ">=", ast.Gt: ">", ast.Eq: "=="}[type(tree.body.ops[0])]
        for factor in ("1/2", "2"):
            yield f"the right side times {factor}", f"{left} {sign} ({factor})*({right})"
    else:
        for factor in ("1/2", "2"):
            yield f"times {factor}", f"({factor})*({ast.unparse(tree.body)})"


def _logarithms(tree: ast.Expression) -> Iterator[tuple[str, str]]:
    for index, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("log", "log2"):
            yield f"{ast.unparse(node)} dropped", _edited(tree, index, lambda _: ast.Constant(1))


def _powers(tree: ast.Expression) -> Iterator[tuple[str, str]]:
    for index, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            base, power = ast.unparse(node.left), ast.unparse(node.right)
            for change in ("- 1/2", "+ 1/2"):
                new = ast.parse(f"({base})**({power} {change})", mode="eval").body
                yield f"exponent {power} {change}", _edited(tree, index, lambda _, new=new: new)  # type: ignore[misc]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "sqrt":
            yield f"{ast.unparse(node)} without the root", _edited(tree, index, lambda n: n.args[0])  # type: ignore[attr-defined]


def _summands(tree: ast.Expression) -> Iterator[tuple[str, str]]:
    powers = _exponents(tree)
    for index, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub) and index not in powers:
            yield f"{ast.unparse(node.right)} dropped", _edited(tree, index, lambda n: n.left)  # type: ignore[attr-defined]
            if isinstance(node.op, ast.Add):
                yield f"{ast.unparse(node.left)} dropped", _edited(tree, index, lambda n: n.right)  # type: ignore[attr-defined]


def _arguments(tree: ast.Expression) -> Iterator[tuple[str, str]]:
    for index, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("min", "max"):
            for place in range(len(node.args) if len(node.args) > 1 else 0):
                kept = ", ".join(ast.unparse(a) for i, a in enumerate(node.args) if i != place)
                new = ast.parse(f"{node.func.id}({kept})", mode="eval").body
                yield f"{ast.unparse(node.args[place])} left out", _edited(tree, index, lambda _, new=new: new)  # type: ignore[misc]


def _symbols(tree: ast.Expression) -> Iterator[tuple[str, str]]:
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for index, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.Name) and id(node) not in called:
            yield f"{node.id} left out", _edited(tree, index, lambda _: ast.Constant(1))


def _with(claim: Claim, text: str, *keys: str) -> Claim:
    formula = dict(claim.formula)
    inner: Any = formula
    for key in keys[:-1]:
        inner[key] = dict(inner[key])
        inner = inner[key]
    inner[keys[-1]] = text
    return replace(claim, formula=formula)


def _of_text(claim: Claim, *keys: str) -> Iterator[Mutant]:
    value: Any = claim.formula
    for key in keys:
        value = value[key]
    for told, text in texts(str(value)):
        yield told, _with(claim, text, *keys)


def _of_let(claim: Claim) -> Iterator[Mutant]:
    let: Mapping[str, str] = claim.formula.get("let", {})
    for name in let:
        for told, mutant in _of_text(claim, "let", name):
            yield f"in {name}: {told}", mutant


def _noise(claim: Claim) -> Iterator[Mutant]:
    """Less noise, more sensitivity, a logarithm or a root dropped, no amplification."""
    for told, text in texts(str(claim.formula["std"])):
        yield f"noise: {told}", _with(claim, text, "std")
    yield "sensitivity times 2", _with(claim, f"2*({claim.formula['sensitivity']})", "sensitivity")
    if claim.formula.get("count", "1") != "1":
        yield "twice as many releases", _with(claim, f"2*({claim.formula['count']})", "count")
    if claim.formula.get("rate", "1") != "1":
        yield "no amplification by sampling", _with(claim, "1", "rate")


def _assumptions(claim: Claim) -> Iterator[Mutant]:
    given = claim.assumptions
    for index, condition in enumerate(given.conditions):
        kept = given.conditions[:index] + given.conditions[index + 1 :]
        yield f"without {condition}", replace(claim, assumptions=replace(given, conditions=kept))
    for name, text in given.domain.items():
        free = "integer [1, inf)" if text.startswith("integer") else _FREE
        if text != free and "-" not in text.split(",")[0]:
            fresh = Assumptions(given.positive, {**given.domain, name: free}, given.conditions, given.note)
            yield f"{name} > 0 in place of {text}", replace(claim, assumptions=fresh)


def _units(claim: Claim) -> Iterator[Mutant]:
    tree = ast.parse(claim.formula["claim"], mode="eval")
    for change in (_powers, _arguments, _symbols):  # a constant, a logarithm or a summand has no units
        for told, text in change(tree):
            yield told, _with(claim, text, "claim")


def _programs(claim: Claim, *, private: bool) -> Iterator[Mutant]:
    """A line that reads the data, where privacy is at stake; else a line that forgets to write."""
    steps = list(claim.formula["program"])
    lines = [index for index, step in enumerate(steps) if "<-" in step]
    for index in lines:
        head, _, reads = steps[index].partition("<-")
        if private:
            fresh = [*steps[:index], f"{head}<- {HIDDEN.split()[0]} {reads.strip()}", *steps[index + 1 :]]
            yield f"line {head.split(':')[0]} reads the data", _with_steps(claim, fresh)
        elif head.partition(":")[2].strip():
            fresh = [*steps[:index], f"{head.split(':')[0]}: <-{reads}", *steps[index + 1 :]]
            yield f"line {head.split(':')[0]} writes nothing", _with_steps(claim, fresh)


def _with_steps(claim: Claim, steps: list[str]) -> Claim:
    return replace(claim, formula={**claim.formula, "program": steps})


def _tables(claim: Claim) -> Iterator[Mutant]:
    formula = dict(claim.formula)
    if formula["test"] == "rounds_to":
        digits = str(formula["printed"])
        last = "1" if digits[-1] != "1" else "2"
        yield "last printed digit", replace(claim, formula={**formula, "printed": digits[:-1] + last})
        for told, text in texts(str(formula["formula"])):
            yield told, replace(claim, formula={**formula, "formula": text})
    elif formula["test"] == "at_most":
        yield "bound halved", replace(claim, formula={**formula, "bound": f"({formula['bound']})/2"})
    elif formula["test"] == "monotone":
        other = "down" if formula["direction"] == "up" else "up"
        yield "direction turned", replace(claim, formula={**formula, "direction": other})
    elif formula["test"] == "largest_auc":
        yield "epsilon halved", replace(claim, formula={**formula, "epsilon": f"({formula['epsilon']})/2"})
        yield "epsilon / 10", replace(claim, formula={**formula, "epsilon": f"({formula['epsilon']})/10"})
    elif formula["test"] == "integer_means":
        for runs in (3, 4, 6, 7):
            if runs != formula["runs"]:
                yield f"{runs} runs", replace(claim, formula={**formula, "runs": runs})
    elif formula["test"] == "complete":
        yield "an entry is missing", replace(claim, formula={**formula, "entries": [*formula["entries"], "<NA>"]})
