"""Formulas from text by a whitelist of names, operators and functions; nothing is ever evaluated as Python."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from typing import Any

import sympy as sp

MAX_LENGTH = 2000
MAX_CONSTANT_EXPONENT = 1000


class FormulaError(ValueError):
    """The text is not a formula of the whitelist, or names a symbol that was not declared."""


def _chi2_sf(x: Any, d: Any) -> Any:
    return sp.uppergamma(d / 2, x / 2) / sp.gamma(d / 2)


FUNCTIONS: dict[str, tuple[int | None, Callable[..., Any]]] = {  # name -> (number of arguments, None = any; function)
    "sqrt": (1, sp.sqrt),
    "log": (1, sp.log),
    "log2": (1, lambda x: sp.log(x) / sp.log(2)),
    "exp": (1, sp.exp),
    "abs": (1, sp.Abs),
    "floor": (1, sp.floor),
    "ceil": (1, sp.ceiling),
    "min": (None, sp.Min),
    "max": (None, sp.Max),
    "binomial": (2, sp.binomial),
    "Gamma": (1, sp.gamma),
    "Phi": (1, lambda x: (1 + sp.erf(x / sp.sqrt(2))) / 2),
    "chi2_sf": (2, _chi2_sf),
}
OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
RELATIONS = {ast.LtE: "<=", ast.Lt: "<", ast.GtE: ">=", ast.Gt: ">", ast.Eq: "=="}


def symbol(name: str, *, positive: bool = True) -> Any:
    """The one sympy symbol that stands for this name."""
    return sp.Symbol(name, positive=True) if positive else sp.Symbol(name, real=True)


def parse(text: str, symbols: Mapping[str, Any] | Collection[str]) -> Any:
    """A sympy expression from text such as ``"2*L/(mu*n)"``.

    Args:
        text: arithmetic over declared names, numbers (kept exact) and the functions in ``FUNCTIONS``.
        symbols: mapping from name to sympy expression, or a collection of names (each becomes a positive symbol).

    Raises:
        FormulaError: unknown name or function, or a construct outside the whitelist.
    """
    return Builder(text, symbols).build(tree(text))


def parse_relation(
    text: str, symbols: Mapping[str, Any] | Collection[str], build: type[Builder] | None = None
) -> tuple[Any, str, Any]:
    """``"a <= b"`` as (left, operator, right); operators are <=, <, >=, > and ==.

    ``build`` may be :class:`Opaque`, which leaves functions and roots unevaluated.
    """
    node = tree(text)
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or type(node.ops[0]) not in RELATIONS:
        raise FormulaError(f"formula = {text!r}: expected one relation <=, <, >=, > or ==")
    builder = (build or Builder)(text, symbols)
    return builder.build(node.left), RELATIONS[type(node.ops[0])], builder.build(node.comparators[0])


def resolve(let: Mapping[str, str], symbols: Mapping[str, Any]) -> dict[str, Any]:
    """The symbols extended by definitions, each of which may use those before it."""
    table = dict(symbols)
    for name, text in let.items():
        table[name] = parse(text, table)
    return table


def tree(text: str) -> ast.expr:
    """The syntax of a formula; nothing is evaluated."""
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"formula of {len(text)} characters: longer than {MAX_LENGTH}")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise FormulaError(f"formula = {text!r}: {error}") from None


class Builder:
    """Arithmetic over declared names and the functions in ``FUNCTIONS``; other readers extend it."""

    def __init__(self, text: str, symbols: Mapping[str, Any] | Collection[str]) -> None:
        self.text = text
        self.table = dict(symbols) if isinstance(symbols, Mapping) else {name: symbol(name) for name in symbols}

    def build(self, node: ast.expr) -> Any:
        """The expression of a node; raises FormulaError on what is not allowed."""
        if isinstance(node, ast.Constant):
            return self._number(node)
        if isinstance(node, ast.Name):
            if node.id not in self.table:
                raise FormulaError(f"formula = {self.text!r}: unknown name {node.id!r}")
            return self.table[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.build(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return self._binary(OPERATORS[type(node.op)], self.build(node.left), self.build(node.right))
        if isinstance(node, ast.Call):
            return self._call(node)
        raise FormulaError(f"formula = {self.text!r}: {type(node).__name__} is not allowed")

    def _number(self, node: ast.Constant) -> Any:
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            raise FormulaError(f"formula = {self.text!r}: {node.value!r} is not a number")
        return sp.Integer(node.value) if isinstance(node.value, int) else sp.Rational(str(node.value))

    def _binary(self, operator: str, left: Any, right: Any) -> Any:
        if operator == "**":
            if right.is_number and abs(right) > MAX_CONSTANT_EXPONENT and left.is_number:
                raise FormulaError(f"formula = {self.text!r}: exponent beyond {MAX_CONSTANT_EXPONENT}")
            return left**right
        if operator == "/" and right == 0:
            raise FormulaError(f"formula = {self.text!r}: division by zero")
        if operator == "+":
            return left + right
        if operator == "-":
            return left - right
        return left * right if operator == "*" else left / right

    def _call(self, node: ast.Call) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) else "?"
        if name not in FUNCTIONS or node.keywords:
            raise FormulaError(f"formula = {self.text!r}: unknown function {name!r}")
        count, function = FUNCTIONS[name]
        if count is not None and count != len(node.args):
            raise FormulaError(f"formula = {self.text!r}: {name} takes {count} argument(s), got {len(node.args)}")
        return function(*(self.build(argument) for argument in node.args))


class Opaque(Builder):
    """Functions and broken powers stay symbols, so that only arithmetic can make two sides equal."""

    def _call(self, node: ast.Call) -> Any:
        super()._call(node)  # refuses what is not allowed
        name = node.func.id if isinstance(node.func, ast.Name) else "?"
        return sp.Function(f"{name}_")(*(self.build(argument) for argument in node.args))

    def _binary(self, operator: str, left: Any, right: Any) -> Any:
        if operator == "**" and not (right.is_Integer and right > 0):
            return sp.Function("power_")(left, right)
        return super()._binary(operator, left, right)
