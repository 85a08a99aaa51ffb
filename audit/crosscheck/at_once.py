"""Edits of what is computed at once, from the same old values: one part after the other, so that the later ones see the
new value of the earlier ones, as Gauss and Seidel differ from Jacobi.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from .kinds import Kind
from .source import Made, Text

NEW = "computed from the new value of"


def blocks(body: Sequence[ast.stmt]) -> Iterator[Sequence[ast.stmt]]:
    """Every list of statements, those inside others too."""
    if body:
        yield body
    for one in body:
        for name in ("body", "orelse", "finalbody"):
            yield from blocks(getattr(one, name, ()))


def one_after_the_other(text: Text, block: Sequence[ast.stmt], asking: Sequence[str]) -> Iterator[Made]:
    """The assignments of a block that bind more than one name, or a state of several parts, at once.

    Args:
        asking: names of functions that ask something of the tape.
    """
    for place, one in enumerate(block):
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Tuple) and isinstance(one.value, ast.Tuple):
            names, values = one.targets[0].elts, one.value.elts
            if len(names) == len(values) and all(isinstance(name, ast.Name) for name in names):
                yield from _in_turn(text, one, names, values)
                state = values[-1]
                kept = len(names) == 2 and text.code(values[0]) == text.code(names[1])  # before, now = now, (.., ..)
                if kept and isinstance(state, ast.Tuple):
                    yield from _parts(text, block[: place + 1], names, state, asking)


def _in_turn(text: Text, one: ast.Assign, names: Sequence[ast.expr], values: Sequence[ast.expr]) -> Iterator[Made]:
    """``a, b = f(a), g(a)`` becomes ``a = f(a)`` and then ``b = g(a)``, or the other way round."""
    pairs = [(text.code(name), value) for name, value in zip(names, values, strict=True)]
    for order in (pairs, pairs[::-1]):
        bound: set[str] = set()
        for name, value in order:
            used = {part.id for part in ast.walk(value) if isinstance(part, ast.Name)}
            if used & bound:  # else it is the same
                gap = "\n" + " " * one.col_offset
                new = gap.join(f"{other} = {text.code(it)}" for other, it in order)
                yield text.made(Kind.INDEX_SHIFT, f"{name} {NEW} {', '.join(sorted(used & bound))}:", one, new)
                break
            bound.add(name)


def _parts(
    text: Text, block: Sequence[ast.stmt], names: Sequence[ast.expr], state: ast.Tuple, asking: Sequence[str]
) -> Iterator[Made]:
    """The lines that compute a new state are run twice: the second time from one new part and the old others."""
    lines: list[ast.stmt] = []
    for line in reversed(block):
        code = text.code(line)
        if not isinstance(line, ast.Assign) or "tape" in code or any(f"{name}(" in code for name in asking):
            break
        lines.insert(0, line)
    before, now = (text.code(name) for name in names)
    gap = "\n" + " " * block[-1].col_offset
    body = gap.join(map(text.code, lines))
    count = len(state.elts)
    for place in range(count):
        mixed, last = (
            ", ".join(f"{new if part == place else other}[{part}]" for part in range(count))
            for new, other in (("_first", "_old"), ("_first", now))
        )
        new = gap.join(
            [f"_old = {now}", body, f"_first, {now} = {now}, {before}", f"{now} = ({mixed})", body,
             f"{before}, {now} = _old, ({last})"]
        )  # fmt: skip
        first, end = text.span(lines[0])[0], text.span(lines[-1])[1]
        words = f"the other parts of {now} {NEW} part {place}:"
        yield (Kind.INDEX_SHIFT, words, lines[0].lineno, first, end, new)
