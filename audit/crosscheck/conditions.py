"""Edits of decisions: conditions that are another one, and what is asked for whether they hold or not."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterator, Sequence
from enum import StrEnum

from .calls import CLIPPING
from .kinds import Kind
from .source import Made, Text


class Turned(StrEnum):
    """What became of a whole condition, as the change is called."""

    NEVER = "never true:"
    ALWAYS = "always true:"
    NEGATED = "negated:"


def is_tested(node: ast.expr, parent: ast.AST) -> bool:
    """Is it looked at for whether it is true?"""
    if isinstance(parent, ast.If | ast.While | ast.IfExp):
        return node is parent.test
    return isinstance(parent, ast.BoolOp) or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not))


def of_test(text: Text, node: ast.expr, parent: ast.AST) -> Iterator[Made]:
    """Never true, always true, the other way round."""
    values = (parent.body, parent.orelse) if isinstance(parent, ast.IfExp) else ()
    bounds = bool(values) and all(CLIPPING.search(text.code(one)) for one in values)
    kind = Kind.CLIP_BOUND if bounds else Kind.BRANCH  # one of two bounds in place of the other
    new = f"(not ({text.code(node)}))"
    for name, made in ((Turned.NEVER, "False"), (Turned.ALWAYS, "True"), (Turned.NEGATED, new)):
        yield text.made(kind, name, node, made)


def of_condition(
    text: Text, node: ast.Compare | ast.BoolOp, parent: ast.AST, whole: Container[str] = ()
) -> Iterator[Made]:
    """A comparison that is never or always true, or one step off; one of its parts alone.

    Args:
        whole: names and constants that count.
    """
    yield from of_test(text, node, parent)
    if isinstance(node, ast.BoolOp):
        other, swapped = ("or", " or ") if isinstance(node.op, ast.And) else ("and", " and ")
        new = swapped.join(f"({text.code(one)})" for one in node.values)
        yield text.made(Kind.BRANCH, f"{other} in", node, f"({new})")
        for one in node.values:
            yield text.made(Kind.BRANCH, f"one condition alone of ({text.code(one)})", node, f"({text.code(one)})")
            word = " and " if isinstance(node.op, ast.And) else " or "
            rest = word.join(f"({text.code(other)})" for other in node.values if other is not one)
            yield text.made(Kind.BRANCH, f"without the condition ({text.code(one)}) of", node, f"({rest})")
    elif len(node.ops) == 1 and isinstance(node.ops[0], ast.Is | ast.IsNot):
        yield from _of_nothing(text, node)
    elif len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        left, right = text.code(node.left), node.comparators[0]
        middle = text.raw[text.span(node.left)[1] : text.span(right)[0]].decode()
        names = {getattr(one, "id", getattr(one, "attr", "")) for one in ast.walk(node)}
        counts = any(isinstance(one, ast.Mod) for one in ast.walk(node)) or any(one in whole for one in names)
        kind = Kind.INDEX_SHIFT if counts else Kind.BRANCH  # of a length it is another bound
        for step in ("+ 1", "- 1"):
            yield text.made(kind, "one step off in", node, f"({left}{middle}({text.code(right)}) {step})")
        yield from _by_size(text, node, right)


def _of_nothing(text: Text, node: ast.Compare) -> Iterator[Made]:
    """Whether something is there, asked as if zero were nothing."""
    other = node.comparators[0]
    if isinstance(other, ast.Constant) and other.value is None:
        value = text.code(node.left)
        new = f"(not ({value}))" if isinstance(node.ops[0], ast.Is) else f"bool({value})"
        yield text.made(Kind.BRANCH, "zero taken for nothing in", node, new)


def _by_size(text: Text, node: ast.Compare, right: ast.expr) -> Iterator[Made]:
    """A number is tested by its size; ``a >= -b`` then reads ``|a| <= b``."""
    left, bound = text.code(node.left), text.code(right)
    if bound.startswith("-"):
        for sign in ("<=", ">="):
            yield text.made(Kind.BRANCH, f"tested by its size, {sign}:", node, f"(abs({left}) {sign} abs({bound}))")
    elif not isinstance(node.ops[0], ast.Eq) and not isinstance(node.left, ast.Constant):
        yield text.made(Kind.BRANCH, "tested by its size:", node.left, f"abs({left})")


def of_asking(
    text: Text, function: ast.FunctionDef, lines: Callable[[int, int], bool], asking: Sequence[str]
) -> Iterator[Made]:
    """What is asked for under a condition is asked for again and again."""
    for one in ast.walk(function):
        if isinstance(one, ast.If) and not one.orelse and lines(*head(one)):
            ends = isinstance(one.body[-1], ast.Continue | ast.Break | ast.Return | ast.Raise)
            body = "\n".join(map(text.code, one.body))
            if not ends and ("tape." in body or any(f"{name}(" in body for name in asking)):
                yield text.made(Kind.CALLS, "asked for whether or not", one.test, "True")


def head(statement: ast.stmt) -> tuple[int, int]:
    """The lines of a statement, without those of the statements inside it."""
    body = getattr(statement, "body", None)
    end = body[0].lineno - 1 if isinstance(body, list) and body else statement.end_lineno or statement.lineno
    return statement.lineno, max(statement.lineno, end)
