"""Edits of sums and products: what is left of one, a factor of a sum that one term alone has, or the reverse."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .kinds import Kind
from .source import Made, Text

SIGNS = {ast.Add: "+", ast.Sub: "-"}
PRODUCTS = {ast.Mult: "*", ast.Div: "/"}


def of_arithmetic(text: Text, node: ast.BinOp) -> Iterator[Made]:
    """Every such edit of one operation."""
    left, right = node.left, node.right
    yield from _of_quotient(text, node)
    if isinstance(node.op, ast.Pow) and isinstance(right, ast.Name):
        for step, how in (("+ 1", "large"), ("- 1", "small")):
            new = f"(({text.code(left)}) ** ({right.id} {step}))"
            yield text.made(Kind.INDEX_SHIFT, f"an exponent one too {how}:", node, new)
    if isinstance(node.op, ast.Sub) and isinstance(left, ast.Constant):
        yield text.made(Kind.FACTOR, f"{text.code(right)} itself for", node, f"({text.code(right)})")
    sign, product = SIGNS.get(type(node.op)), PRODUCTS.get(type(node.op))
    if product:
        yield from _handed_down(text, node, left, text.code(right), product)
        if product == "*":
            yield from _handed_down(text, node, right, text.code(left), product)
    if sign:
        for one, other in ((left, right), (right, left)):
            inner = PRODUCTS.get(type(one.op)) if isinstance(one, ast.BinOp) else None
            if isinstance(one, ast.BinOp) and inner:
                for kept, factor in ((one.left, one.right), (one.right, one.left)):
                    if kept is one.left or inner == "*":
                        parts = (kept, other) if one is left else (other, kept)
                        total = f" {sign} ".join(f"({text.code(part)})" for part in parts)
                        new = f"(({total}) {inner} ({text.code(factor)}))"
                        yield text.made(Kind.FACTOR, f"{text.code(factor)} for both terms in", node, new)


def _handed_down(text: Text, node: ast.BinOp, held: ast.expr, factor: str, product: str) -> Iterator[Made]:
    """``(a + b) * c`` becomes ``a * c + b``, or ``a + b * c``."""
    if isinstance(held, ast.BinOp) and type(held.op) in SIGNS:
        a, b, sign = f"({text.code(held.left)})", f"({text.code(held.right)})", SIGNS[type(held.op)]
        for new in (f"({a} {product} ({factor}) {sign} {b})", f"({a} {sign} {b} {product} ({factor}))"):
            yield text.made(Kind.FACTOR, f"{factor} for one term alone in", node, new)


def _of_quotient(text: Text, node: ast.BinOp) -> Iterator[Made]:
    if isinstance(node.op, ast.Div):
        left, right = text.code(node.left), text.code(node.right)
        yield text.made(Kind.FACTOR, "turned over", node, f"(({right}) / ({left}))")
    elif isinstance(node.op, ast.FloorDiv):
        quotient = f"({text.code(node.left)}) / ({text.code(node.right)})"
        for how in ("ceil", "round"):
            yield text.made(Kind.INDEX_SHIFT, f"{how} for floor in", node, f"_edit.maths({how!r})({quotient})")
    elif isinstance(node.op, ast.MatMult) and text.code(node.left) == text.code(node.right):
        for order, words in (("1", "1"), ("inf", "infinity")):
            new = f"_edit.squared({text.code(node.left)}, {order!r})"
            yield text.made(Kind.CLIP_NORM, f"norm of order {words} in", node, new)
