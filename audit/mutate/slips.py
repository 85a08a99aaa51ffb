"""Slips of the pen: one place of a line that says something a little different, at every place where it can.

The other operators (``operators.py``) are mistakes about privacy, made at calls of the tape. These are mistakes of
anybody who writes a formula down: a sign, a factor, a term or a step left out, one name for another, an index one off,
a comparison turned around. Each changes one expression or one statement; nothing needs more than its text.
"""

import ast
from collections.abc import Callable, Iterator, Sequence

from .operators import KINDS, Operator, Site, Source

SIMILAR, OPERATIONS, COMPARED = KINDS["similar"], KINDS["operations"], KINDS["compared"]
SLIPS = {name: Operator(name, False, why) for name, why in KINDS["slips"].items()}
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
            for slip, text in _of_expression(source, node):
                yield source.site(SLIPS[slip], node, text)
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            for name in alike(function, source.code(node)):
                yield source.site(SLIPS["other name"], node, name)
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield from _of_block(source, block)
        value = getattr(node, "value", None)
        named = isinstance(node, ast.keyword) and not isinstance(value, ast.Constant)
        if (named or isinstance(node, ast.Assign | ast.AugAssign | ast.Return)) and isinstance(value, ast.expr):
            yield from (source.site(SLIPS["other factor"], value, way.format(source.code(value))) for way in TIMES)


def _of_expression(source: Source, node: ast.expr) -> Iterator[tuple[str, str]]:
    code = source.code
    match node:
        case ast.BinOp():
            left, right = code(node.left), code(node.right)
            yield from (("term left out", f"({one})") for one in (left, right))
            if sign := OPERATIONS.get(type(node.op).__name__):
                yield "other sign" if sign in "+-" else "other operation", f"(({left}) {sign} ({right}))"
            if isinstance(node.op, ast.Mod | ast.FloorDiv):
                yield from (("other index", f"(({left}) {step} 1) {_sign(node.op)} ({right})") for step in ("-", "+"))
            if isinstance(node.op, ast.Sub | ast.Div):
                slip = "other sign" if isinstance(node.op, ast.Sub) else "other order"
                yield slip, f"(({right}) {_sign(node.op)} ({left}))"
        case ast.UnaryOp():
            yield "other sign" if isinstance(node.op, ast.USub) else "other decision", f"({code(node.operand)})"
        case ast.BoolOp():
            parts = [code(one) for one in node.values]
            other = " or " if isinstance(node.op, ast.And) else " and "
            yield "other decision", other.join(f"({one})" for one in parts)
            yield from (("term left out", f"({one})") for one in parts)
        case ast.Compare(ops=[op]):
            for sign in COMPARED.get(type(op).__name__, ()):
                yield "other decision", f"({code(node.left)}) {sign} ({code(node.comparators[0])})"
        case ast.IfExp():
            yield from (("other decision", f"({code(one)})") for one in (node.body, node.orelse))
        case ast.Subscript(slice=index) if not isinstance(index, ast.Slice | ast.Tuple):
            value = code(node.value)
            places = f"({code(index)}) - 1", f"({code(index)}) + 1", "-1", "0"
            yield from (("other index", f"{value}[{one}]") for one in places)
        case ast.Constant(value=bool() as value):
            yield "other decision", str(not value)
        case ast.Constant(value=int() | float() as value):
            others = (value - 1, value + 1) if isinstance(value, int) else (value / 2, value * 2)
            yield from (("other number", f"({one})") for one in (*others, -value))
        case ast.Call():
            yield from _of_call(source, node)
        case ast.Attribute(attr="T"):
            yield "term left out", code(node.value)


def _of_call(source: Source, node: ast.Call) -> Iterator[tuple[str, str]]:
    function, inside = source.code(node.func), [source.code(one) for one in node.args]
    name, whole = function.rpartition(".")[2], source.code(node)
    for pair in SIMILAR:
        if name in pair:
            other = pair[1 - pair.index(name)]
            yield "other function", f"{function.removesuffix(name)}{other}{whole.removeprefix(function)}"
    if len(inside) >= 1 and isinstance(node.func, ast.Name | ast.Attribute):
        yield "other function", f"({inside[0]})"
    if not inside and isinstance(node.func, ast.Attribute):
        yield "other function", f"({source.code(node.func.value)})"
    if len(inside) == 2:
        rest = [f"{one.arg}={source.code(one.value)}" for one in node.keywords if one.arg]
        yield "other order", f"{function}({', '.join([inside[1], inside[0], *rest])})"
    if name == "range" and inside:
        last = min(1, len(inside) - 1)
        for step in ("- 1", "+ 1"):
            yield (
                "other index",
                f"range({', '.join([*inside[:last], f'({inside[last]}) {step}', *inside[last + 1 :]])})",
            )


def _of_block(source: Source, block: list[ast.stmt]) -> Iterator[Site]:
    for place, one in enumerate(block):
        if isinstance(one, ast.Assign | ast.AugAssign | ast.Expr) and not _docstring(one):
            yield source.site(SLIPS["statement left out"], one, "pass")
        if isinstance(one, ast.AugAssign):
            yield source.site(SLIPS["term left out"], one, f"{source.code(one.target)} = {source.code(one.value)}")
        if isinstance(one, ast.If | ast.While):
            yield from (source.site(SLIPS["other decision"], one.test, word) for word in ("True", "False"))
            yield source.site(SLIPS["other decision"], one.test, f"not ({source.code(one.test)})")
        following = block[place + 1] if place + 1 < len(block) else None
        if following is not None and not isinstance(one, ast.Return) and not _docstring(one):
            (first, end), (begin, last) = source.span(one), source.span(following)
            text = f"{source.text[begin:last]}{source.text[end:begin]}{source.text[first:end]}"
            yield Site(SLIPS["other order"], one.lineno, first, last, text)


def _docstring(one: ast.stmt) -> bool:
    return isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)


def _sign(op: ast.operator) -> str:
    return {ast.Sub: "-", ast.Div: "/", ast.Mod: "%", ast.FloorDiv: "//"}[type(op)]
