"""Edits of whole lines: loops over other things, lines in another order."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from .kinds import Kind
from .source import Made, Text

SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr)
BLOCKS = (ast.If, ast.For, ast.While)
MOVED = "two lines in the other order:"
DRAWN = re.compile("indices|batch|records|drawn")


def of_statement(text: Text, node: ast.stmt) -> Iterator[Made]:
    """A loop over other things."""
    if isinstance(node, ast.For):
        code = text.code(node.iter)
        for name, new in (("without the first of", "[1:]"), ("without the last of", "[:-1]")):
            yield text.made(Kind.INDEX_SHIFT, name, node.iter, f"list({code}){new}")
        yield text.made(Kind.INDEX_SHIFT, "backwards through", node.iter, f"list({code})[::-1]")
        yield text.made(Kind.INDEX_SHIFT, "the last once more of", node.iter, f"_edit.longer({code})")


def of_order(text: Text, body: Sequence[ast.stmt], lines: Callable[[int, int], bool], arguments: str) -> Iterator[Made]:
    """Of the lines of a block: in another order, left out, or made once where they are made again and again."""
    for one, other in pairwise(body):
        if text.code(one).startswith("require") or not lines(one.lineno, one.lineno):  # that changes nothing
            continue
        if isinstance(one, ast.Expr) and isinstance(other, ast.Return):
            yield from _returned_first(text, one, other, arguments)
        moved = [line for line in (one, other) if isinstance(line, SIMPLE)]
        if moved and all(isinstance(line, (*SIMPLE, *BLOCKS)) for line in (one, other)):
            first, last = text.span(one)[0], text.span(other)[1]
            new = f"{text.code(other)}\n{' ' * one.col_offset}{text.code(one)}"
            asks = len(moved) == 1 and "tape." in text.code(moved[0])
            yield (Kind.CALLS if asks else Kind.INDEX_SHIFT, MOVED, one.lineno, first, last, new)
    for one in body[:-2] if body and isinstance(body[-1], (*SIMPLE, *BLOCKS)) else ():
        if isinstance(one, (*SIMPLE, *BLOCKS)) and lines(one.lineno, one.lineno):
            yield from _to_the_end(text, one, body[-1])
    for one in body:
        if lines(one.lineno, one.lineno):
            yield from _of_line(text, one)
        for name in ("body", "orelse"):
            inner = getattr(one, name, ())
            for last in inner[-1:]:
                if isinstance(last, ast.Return | ast.Break | ast.Continue) and lines(one.lineno, last.lineno):
                    yield text.made(Kind.CALLS, "goes on after", last, "pass")
            yield from of_order(text, inner, lines, arguments)


def of_rounds(text: Text, function: ast.FunctionDef, names: Iterable[str]) -> Iterator[Made]:
    """What a loop hands on from round to round begins every round where it began; of loops with loops inside."""
    for loop in ast.walk(function):
        if not isinstance(loop, ast.For):
            continue
        inner = [one for line in loop.body for one in ast.walk(line)]
        if not any(isinstance(one, ast.For | ast.While) for one in inner):
            continue
        bound = {one.id for one in inner if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        line = loop.body[0]
        for name in sorted(bound & set(names)):
            new = f"{name} = _edit.first({text.span(line)[0]}, {name})\n{' ' * line.col_offset}{text.code(line)}"
            yield text.made(Kind.INDEX_SHIFT, f"{name} begins every round where it began:", line, new)


def _to_the_end(text: Text, one: ast.stmt, last: ast.stmt) -> Iterator[Made]:
    """A line, or what is done under a condition, comes last."""
    code = text.code(one)
    first, end, final = text.span(one)[0], text.span(one)[1], text.span(last)[1]
    if not code.startswith("require"):
        new = f"pass{text.raw[end:final].decode()}\n{' ' * one.col_offset}{code}"
        kind = Kind.CALLS if "tape." in code else Kind.INDEX_SHIFT
        yield (kind, "at the end of its block:", one.lineno, first, final, new)


def _of_line(text: Text, one: ast.stmt) -> Iterator[Made]:
    code = text.code(one)
    if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call) and not code.startswith("require"):
        yield text.made(Kind.CALLS if "tape." in code else Kind.MISSING_TERM, "line left out:", one, "pass")
    if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call) and "tape" in text.code(one.value):
        kind = Kind.BATCH if DRAWN.search(text.code(one.targets[0])) else Kind.CALLS
        place, value = text.span(one)[0], text.code(one.value)
        for name, how in (("once for ever:", "once"), ("only every other time:", "in_turn")):
            yield text.made(kind, name, one.value, f"_edit.{how}({place}, lambda: {value})")


def _returned_first(text: Text, one: ast.Expr, last: ast.Return, arguments: str) -> Iterator[Made]:
    """What is returned is computed before the line above it changes something."""
    if last.value is not None:
        gap = "\n" + " " * one.col_offset
        new = f"_early = _edit.empty({text.code(last.value)}, {arguments}){gap}{text.code(one)}{gap}return _early"
        place = text.span(one)[0], text.span(last)[1]
        yield (Kind.INDEX_SHIFT, "returned before the line above it:", one.lineno, *place, new)
