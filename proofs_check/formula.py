"""Formulas from text by a whitelist of names, operators and functions; nothing is ever evaluated as Python."""

import ast
import operator
import re
from collections.abc import Callable, Collection, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

import sympy as sp

MAX_LENGTH = 2000
MOST = 1000  # as the exponent of a number
_DECIMAL = re.compile(r"(?<!\w)(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?")


class FormulaError(ValueError):
    """The text is not a formula of the whitelist, or names a symbol that was not declared."""


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
    "Gamma": (1, sp.gamma),
    "Phi": (1, lambda x: (1 + sp.erf(x / sp.sqrt(2))) / 2),
    "chi2_sf": (2, lambda x, d: sp.uppergamma(d / 2, x / 2) / sp.gamma(d / 2)),
}
OPERATORS: dict[type[ast.operator], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}  # fmt: skip
RELATIONS: dict[type[ast.cmpop], str] = {ast.LtE: "<=", ast.Lt: "<", ast.GtE: ">=", ast.Gt: ">", ast.Eq: "=="}


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
    return Builder(symbols).build(tree(text))


def parse_relation(text: str, symbols: Mapping[str, Any] | Collection[str]) -> tuple[Any, str, Any]:
    """``"a <= b"`` as (left, operator, right); operators are <=, <, >=, > and ==."""
    node = tree(text)
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or type(node.ops[0]) not in RELATIONS:
        raise refused(node, "expected one relation <=, <, >=, > or ==")
    builder = Builder(symbols)
    return builder.build(node.left), RELATIONS[type(node.ops[0])], builder.build(node.comparators[0])


def resolve(let: Mapping[str, str], symbols: Mapping[str, Any]) -> dict[str, Any]:
    """The symbols extended by definitions, each of which may use those before it."""
    table = dict(symbols)
    for name, text in let.items():
        table[name] = parse(text, table)
    return table


@lru_cache(maxsize=20_000)  # the same facts are asked again and again
def tree(text: str) -> ast.expr:
    """The syntax of a formula, which nobody must change; nothing is evaluated."""
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"formula of {len(text)} characters: longer than {MAX_LENGTH}")
    try:
        found = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise FormulaError(f"formula = {text!r}: {error}") from None
    for number in _DECIMAL.findall(text):
        if Decimal(number) != Decimal(repr(float(number))):
            raise FormulaError(f"formula = {text!r}: {number} has more digits than are kept; write a fraction")
    return found


class Builder:
    """Arithmetic over declared names and the functions in ``FUNCTIONS``; other readers extend it."""

    def __init__(self, symbols: Mapping[str, Any] | Collection[str]) -> None:
        self.table = dict(symbols) if isinstance(symbols, Mapping) else {name: symbol(name) for name in symbols}

    def build(self, node: ast.expr) -> Any:
        """The expression of a node; raises FormulaError on what is not allowed."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return sp.Integer(node.value) if isinstance(node.value, int) else sp.Rational(str(node.value))
        if isinstance(node, ast.Name):
            if node.id not in self.table:
                raise refused(node, f"unknown name {node.id!r}")
            return self.table[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.build(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            value = self._operation(node, self.build(node.left), self.build(node.right))
            return _real(node, value) if isinstance(node.op, ast.Pow) else value
        if isinstance(node, ast.Call):
            value = self._call(node)
            return value if value.is_Symbol else _real(node, value)
        raise refused(node, f"{type(node).__name__} is not allowed")

    def _operation(self, node: ast.BinOp, left: Any, right: Any) -> Any:
        if isinstance(node.op, ast.Div) and right == 0:
            raise refused(node, "division by zero")
        if isinstance(node.op, ast.Pow) and left.is_number and right.is_number and abs(right) > MOST:
            raise refused(node, f"exponent beyond {MOST}")
        return OPERATORS[type(node.op)](left, right)

    def _call(self, node: ast.Call) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) else "?"
        if name not in FUNCTIONS or node.keywords:
            raise refused(node, f"unknown function {name!r}")
        count, function = FUNCTIONS[name]
        if count is not None and count != len(node.args):
            raise refused(node, f"{name} takes {count} argument(s), got {len(node.args)}")
        return function(*(self.build(argument) for argument in node.args))


def _real(node: ast.expr, value: Any) -> Any:
    """The value, unless there is none: of a root or logarithm of a negative number, or of a power of 0."""
    if value.is_extended_real is False or value.is_finite is False:
        raise refused(node, "has no real value")
    return value


def refused(node: ast.AST, why: str) -> FormulaError:
    """The error that names a part of a formula, and why it is none."""
    return FormulaError(f"formula = {ast.unparse(node)!r}: {why}")
