"""Edits of entries of lists and arrays, and of numbers: another index, another end, another name in its place."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from .kinds import Kind
from .records import RECORDS
from .slips import OF_RECORDS
from .source import Made, Text


def of_entry(text: Text, node: ast.Subscript, parent: ast.AST, names: Mapping[str, tuple[int, ...]]) -> Iterator[Made]:
    """Every edit of one entry, or of some of them."""
    yield from _of_index(text, node)
    yield from _of_chosen(text, node, parent, names)


def _of_index(text: Text, node: ast.Subscript) -> Iterator[Made]:
    base = text.code(node.value)
    if isinstance(node.slice, ast.Slice):
        if node.slice.step is not None:
            yield text.made(Kind.INDEX_SHIFT, "in the other order", node, base)
        yield text.made(Kind.MISSING_TERM, "nothing of", node, f"{text.code(node)}[:0]")
        lower, upper = (text.code(one) if one is not None else "" for one in (node.slice.lower, node.slice.upper))
        for step in ("+ 1", "- 1"):
            if lower:
                yield text.made(Kind.INDEX_SHIFT, "begins elsewhere", node, f"{base}[({lower}) {step} : {upper}]")
            if upper:
                yield text.made(Kind.INDEX_SHIFT, "ends elsewhere", node, f"{base}[{lower} : ({upper}) {step}]")
    elif not isinstance(node.slice, ast.Tuple | ast.Constant):
        records = RECORDS.search(text.code(node.slice)) and OF_RECORDS.search(base)
        kind = Kind.BATCH if records else Kind.INDEX_SHIFT  # of something else that has one entry a record
        for step, how in (("+ 1", "large"), ("- 1", "small")):
            new = f"{base}[(({text.code(node.slice)}) {step}) % len({base})]"
            yield text.made(kind, f"an index one too {how}, modulo the length,", node, new)


def _of_chosen(
    text: Text, node: ast.Subscript, parent: ast.AST, names: Mapping[str, tuple[int, ...]]
) -> Iterator[Made]:
    """A name of the same shape for an entry of a list; the first or last one for one that is chosen."""
    if isinstance(node.slice, ast.Slice | ast.Tuple | ast.Constant):
        return
    made = isinstance(parent, ast.Call) and text.code(parent.func)[:1].isupper()  # an object that is returned
    kind = Kind.OUTPUT if made or isinstance(parent, ast.Return) else Kind.INDEX_SHIFT
    code, held = text.code(node), {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    base, place = text.code(node.value), text.code(node.slice)
    for other in ("0", "-1"):
        yield text.made(Kind.INDEX_SHIFT, f"[{other}] for", node, f"{base}[{other}]")
    if not names.get(base):  # a list of numbers, one a phase
        yield text.made(Kind.FACTOR, "growing by the first each time:", node, f"({base}[0] * (({place}) + 1))")
        yield text.made(Kind.FACTOR, "doubling each time:", node, f"({base}[0] * 2.0 ** ({place}))")
        yield text.made(Kind.FACTOR, "halving each time:", node, f"({base}[0] * 0.5 ** ({place}))")
    for name, shape in names.items():
        if shape and name not in held:
            yield text.made(kind, f"{name} for", node, f"_edit.same_shape({name}, {code})")


def of_number(text: Text, node: ast.Constant, shift: Kind = Kind.INDEX_SHIFT) -> Iterator[Made]:
    """Every edit of one number; ``shift``: what one more or less is."""
    if isinstance(node.value, bool) or not isinstance(node.value, int | float):
        return
    if isinstance(node.value, int):
        for value in (node.value - 1, node.value + 1):
            yield text.made(shift, f"{value} for", node, f"({value})")
    if node.value not in (0, 1):
        for factor in (node.value * 2, node.value / 2, 1):
            yield text.made(Kind.FACTOR, f"{factor} for", node, f"({factor})")
