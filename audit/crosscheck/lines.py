"""Edits of whole lines: loops over other things, lines in another order."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from .kinds import Kind
from .source import Made, Text


def of_statement(text: Text, node: ast.stmt) -> Iterator[Made]:
    """A loop over other things."""
    if isinstance(node, ast.For):
        code = text.code(node.iter)
        for name, new in (("without the first of", "[1:]"), ("without the last of", "[:-1]")):
            yield text.made(Kind.INDEX_SHIFT, name, node.iter, f"list({code}){new}")
        yield text.made(Kind.INDEX_SHIFT, "backwards through", node.iter, f"list({code})[::-1]")
        yield text.made(Kind.INDEX_SHIFT, "the last once more of", node.iter, f"_edit.longer({code})")


def of_order(text: Text, body: Sequence[ast.stmt], lines: Callable[[int, int], bool], arguments: str) -> Iterator[Made]:
    """Two neighbouring lines that change places, and the last of a loop that comes first."""
    for one, other in pairwise(body):
        simple = all(isinstance(line, ast.Assign | ast.AugAssign | ast.Expr) for line in (one, other))
        if text.code(one).startswith("require"):  # it changes nothing
            continue
        if isinstance(one, ast.Expr) and isinstance(other, ast.Return) and lines(one.lineno, one.lineno):
            yield from _returned_first(text, one, other, arguments)
        if simple and lines(one.lineno, one.lineno) and lines(other.lineno, other.lineno):
            first, last = text.span(one)[0], text.span(other)[1]
            new = f"{text.code(other)}\n{' ' * one.col_offset}{text.code(one)}"
            yield (Kind.INDEX_SHIFT, "two lines in the other order:", one.lineno, first, last, new)
    for one in body:
        for name in ("body", "orelse"):
            yield from of_order(text, getattr(one, name, ()), lines, arguments)


def _returned_first(text: Text, one: ast.Expr, last: ast.Return, arguments: str) -> Iterator[Made]:
    """What is returned is computed before the line above it changes something."""
    if last.value is not None:
        gap = "\n" + " " * one.col_offset
        new = f"_early = _edit.empty({text.code(last.value)}, {arguments}){gap}{text.code(one)}{gap}return _early"
        place = text.span(one)[0], text.span(last)[1]
        yield (Kind.INDEX_SHIFT, "returned before the line above it:", one.lineno, *place, new)
