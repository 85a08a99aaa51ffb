"""Slips of the pen: one place of a line that says something a little different, at every place where it can.

The other operators (``operators.py``) are mistakes about privacy, made at calls of the tape. These are mistakes of
anybody who writes a formula down: a sign, a factor, a term or a step left out, one name for another, an index one off,
a comparison turned around. Each changes one expression or one statement; nothing needs more than its text.
"""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence

from .operators import Operator, Site, Source

TERM = Operator("term left out", False, "a part of a sum, a product or a condition is forgotten")
SIGN = Operator("other sign", False, "plus for minus, or a difference the other way around")
OPERATION = Operator("other operation", False, "times for divided by, or a power that is forgotten")
FACTOR = Operator("other factor", False, "a constant factor, a square or a root too many")
CONSTANT = Operator("other number", False, "a number that is written down is another one")
INDEX = Operator("other index", False, "the entry, or the step, before or behind; the first, the last")
FUNCTION = Operator("other function", False, "a function for a similar one, or none")
NAME = Operator("other name", False, "a name for another one of the same kind")
DECISION = Operator("other decision", False, "a comparison is turned around, strict, or always the same")
STATEMENT = Operator("statement left out", False, "a line is forgotten")
ORDER = Operator("other order", False, "two statements, or two arguments, stand the other way around")

SIMILAR = (
    ("min", "max"), ("ceil", "floor"), ("ceil", "int"), ("minimum", "maximum"), ("argmin", "argmax"), ("any", "all"),
    ("sum", "mean"), ("sum", "max"), ("mean", "max"), ("zeros", "ones"), ("append", "extend"),
)  # fmt: skip
OPERATIONS: Mapping[type[ast.operator], tuple[tuple[str, Operator], ...]] = {
    ast.Add: (("-", SIGN),),
    ast.Sub: (("+", SIGN),),
    ast.Mult: (("/", OPERATION),),
    ast.Div: (("*", OPERATION),),
    ast.FloorDiv: (("/", OPERATION),),
    ast.Pow: (),
    ast.Mod: (),
    ast.MatMult: (),
}
COMPARED: Mapping[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">"),
    ast.LtE: ("<", ">="),
    ast.Gt: (">=", "<"),
    ast.GtE: (">", "<="),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
}
TIMES = ("-({})", "2 * ({})", "({}) / 2", "({}) ** 2", "({}) ** 0.5", "0 * ({})")
Alike = Callable[[ast.FunctionDef, str], Sequence[str]]  # other names of a function that hold the same kind of value


def slips(text: str, ran: Callable[[int], bool], alike: Alike) -> list[Site]:
    """Every slip at the places of a file that were run.

    Args:
        text: the file.
        ran: was a line run?
        alike: for a function and a name (``size``, ``s.clip``), the other names that may be taken for it.

    Returns:
        In the order of the lines; no two make the same text.
    """
    source = Source(text)
    found: dict[tuple[int, int, str], Site] = {}
    for function in ast.walk(source.tree):
        if isinstance(function, ast.FunctionDef):
            for one in _in(source, function, alike):
                if ran(one.line) and text[one.first : one.last] != one.text:
                    found.setdefault((one.first, one.last, one.text), one)
    return sorted(found.values(), key=lambda one: (one.line, one.first, one.last))


def _in(source: Source, function: ast.FunctionDef, alike: Alike) -> Iterator[Site]:
    for node in ast.walk(function):
        if isinstance(node, ast.expr) and not isinstance(node, ast.Starred):
            for operator, text in _of_expression(source, node):
                yield source.site(operator, node, text)
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            for name in alike(function, source.code(node)):
                yield source.site(NAME, node, name)
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield from _of_block(source, block)
        value = getattr(node, "value", None)
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Return) and isinstance(value, ast.expr):
            yield from (source.site(FACTOR, value, way.format(source.code(value))) for way in TIMES)
        if isinstance(node, ast.keyword) and not isinstance(node.value, ast.Constant):
            yield from (source.site(FACTOR, node.value, way.format(source.code(node.value))) for way in TIMES)


def _of_expression(source: Source, node: ast.expr) -> Iterator[tuple[Operator, str]]:
    code = source.code
    match node:
        case ast.BinOp():
            left, right = code(node.left), code(node.right)
            yield from ((TERM, f"({one})") for one in (left, right))
            for sign, operator in OPERATIONS.get(type(node.op), ()):
                yield operator, f"(({left}) {sign} ({right}))"
            if isinstance(node.op, ast.Mod | ast.FloorDiv):
                yield from ((INDEX, f"(({left}) {step} 1) {_sign(node.op)} ({right})") for step in ("-", "+"))
            if isinstance(node.op, ast.Sub | ast.Div):
                yield SIGN if isinstance(node.op, ast.Sub) else ORDER, f"(({right}) {_sign(node.op)} ({left}))"
        case ast.UnaryOp():
            yield SIGN if isinstance(node.op, ast.USub) else DECISION, f"({code(node.operand)})"
        case ast.BoolOp():
            parts = [code(one) for one in node.values]
            yield DECISION, (" or " if isinstance(node.op, ast.And) else " and ").join(f"({one})" for one in parts)
            yield from ((TERM, f"({one})") for one in parts)
        case ast.Compare(ops=[op]):
            for sign in COMPARED.get(type(op), ()):
                yield DECISION, f"({code(node.left)}) {sign} ({code(node.comparators[0])})"
        case ast.IfExp():
            yield from ((DECISION, f"({code(one)})") for one in (node.body, node.orelse))
        case ast.Subscript(slice=index) if not isinstance(index, ast.Slice | ast.Tuple):
            value = code(node.value)
            yield from (
                (INDEX, f"{value}[{one}]") for one in (f"({code(index)}) - 1", f"({code(index)}) + 1", "-1", "0")
            )
        case ast.Constant(value=bool() as value):
            yield DECISION, str(not value)
        case ast.Constant(value=int() | float() as value):
            others = (value - 1, value + 1) if isinstance(value, int) else (value / 2, value * 2)
            yield from ((CONSTANT, f"({one})") for one in (*others, -value))
        case ast.Call():
            yield from _of_call(source, node)
        case ast.Attribute(attr="T"):
            yield TERM, code(node.value)


def _of_call(source: Source, node: ast.Call) -> Iterator[tuple[Operator, str]]:
    function, inside = source.code(node.func), [source.code(one) for one in node.args]
    name, whole = function.rpartition(".")[2], source.code(node)
    for pair in SIMILAR:
        if name in pair:
            other = pair[1 - pair.index(name)]
            yield FUNCTION, f"{function.removesuffix(name)}{other}{whole.removeprefix(function)}"
    if len(inside) >= 1 and isinstance(node.func, ast.Name | ast.Attribute):
        yield FUNCTION, f"({inside[0]})"
    if not inside and isinstance(node.func, ast.Attribute):
        yield FUNCTION, f"({source.code(node.func.value)})"
    if len(inside) == 2:
        rest = [f"{one.arg}={source.code(one.value)}" for one in node.keywords if one.arg]
        yield ORDER, f"{function}({', '.join([inside[1], inside[0], *rest])})"
    if name == "range" and inside:
        last = min(1, len(inside) - 1)
        for step in ("- 1", "+ 1"):
            yield INDEX, f"range({', '.join([*inside[:last], f'({inside[last]}) {step}', *inside[last + 1 :]])})"


def _of_block(source: Source, block: list[ast.stmt]) -> Iterator[Site]:
    for place, one in enumerate(block):
        if isinstance(one, ast.Assign | ast.AugAssign | ast.Expr) and not _docstring(one):
            yield source.site(STATEMENT, one, "pass")
        if isinstance(one, ast.AugAssign):
            yield source.site(TERM, one, f"{source.code(one.target)} = {source.code(one.value)}")
        if isinstance(one, ast.If | ast.While):
            yield from (source.site(DECISION, one.test, word) for word in ("True", "False"))
            yield source.site(DECISION, one.test, f"not ({source.code(one.test)})")
        following = block[place + 1] if place + 1 < len(block) else None
        if following is not None and not isinstance(one, ast.Return) and not _docstring(one):
            (first, end), (begin, last) = source.span(one), source.span(following)
            text = f"{source.text[begin:last]}{source.text[end:begin]}{source.text[first:end]}"
            yield Site(ORDER, one.lineno, first, last, text)


def _docstring(one: ast.stmt) -> bool:
    return isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)


def _sign(op: ast.operator) -> str:
    return {ast.Sub: "-", ast.Div: "/", ast.Mod: "%", ast.FloorDiv: "//"}[type(op)]
