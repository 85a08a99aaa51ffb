"""Slips of whoever writes an algorithm a second time: a term twice, a value of the step before, one coordinate, a
transposed matrix, weights before the clipping. Each is a change of one expression of the reference.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

import numpy as np

from dpassay.reference.types import Array

from .kinds import Kind

Made = tuple[Kind, str, ast.expr | ast.stmt, str]  # kind, name, what is replaced, by which text
Code = Callable[[ast.expr | ast.stmt], str]
RECORDS = ("indices", "batch")  # names of what numbers records
SCHEDULES = ("s", "schedule")  # names of what holds the constants
OF_RECORDS = re.compile("rows|records|features|labels|data|targets|gradients")  # what has one entry a record
_CLIPPING = re.compile("clip|threshold|radius|cap")


def slips(code: Code, node: ast.AST) -> Iterator[Made]:
    """Every slip at one place.

    Args:
        code: the text of a node.
    """
    if isinstance(node, ast.BinOp):
        yield from _binary(code, node)
    elif isinstance(node, ast.Call):
        yield from _call(code, node)
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        if isinstance(node.slice, ast.Name | ast.Attribute):
            index = code(node.slice)
            records = index.rpartition(".")[2] in RECORDS and OF_RECORDS.search(code(node.value)) is not None
            kind, name = (Kind.BATCH, "every record number") if records else (Kind.INDEX_SHIFT, "an index")
            for step, how in (("- 1", "small"), ("+ 1", "large")):
                yield kind, f"{name} is one too {how}", node, f"{code(node.value)}[({index}) {step}]"
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        yield from _stale(code, node.targets[0], node.value)
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        yield from _constant(code, node)
    elif isinstance(node, ast.FunctionDef):
        yield from _of_before(code, node)


def _binary(code: Code, node: ast.BinOp) -> Iterator[Made]:
    left, right = f"({code(node.left)})", f"({code(node.right)})"
    if isinstance(node.op, ast.Add | ast.Sub) and not isinstance(node.right, ast.Constant):
        sign = "+" if isinstance(node.op, ast.Add) else "-"
        yield Kind.FACTOR, "term counted twice", node, f"({left} {sign} 2 * {right})"
        yield Kind.FACTOR, "term halved", node, f"({left} {sign} 0.5 * {right})"
        yield Kind.FACTOR, "first term counted twice", node, f"(2 * {left} {sign} {right})"
        for name, place in (("first", 0), ("last", -1)):
            text = f"({left} {sign} _without({right}, {place}))"
            yield Kind.MISSING_TERM, f"{name} coordinate of a term dropped", node, text
    elif isinstance(node.op, ast.Mult):
        yield Kind.FACTOR, "product doubled", node, f"(2 * {left} * {right})"
        yield Kind.FACTOR, "product halved", node, f"(0.5 * {left} * {right})"
    elif isinstance(node.op, ast.Mod):
        for step, how in (("+ 1", "earlier"), ("- 1", "later")):
            yield Kind.INDEX_SHIFT, f"restart one step {how}:", node, f"(({left} {step}) % {right})"
    elif isinstance(node.op, ast.Div):
        yield Kind.FACTOR, "1 in place of a quotient", node, "1.0"
    elif isinstance(node.op, ast.MatMult):
        yield Kind.INDEX_SHIFT, "matrix transposed", node, f"({left}.T @ {right})"
        clipping = node.right
        if isinstance(clipping, ast.Call) and code(clipping.func) == "clip_rows" and len(clipping.args) == 2:
            rows, bound = (code(one) for one in clipping.args)
            text = f"clip_rows({left}.reshape(-1, 1) * ({rows}), {bound}).sum(axis=0)"
            yield Kind.CLIP_ORDER, "weighted before it is clipped", node, text
            text = f"(clip_rows(_edit.n * {left}.reshape(-1, 1) * ({rows}), {bound}).sum(axis=0) / _edit.n)"
            yield Kind.CLIP_ORDER, "weighted, by n times the weights, before it is clipped", node, text


def _call(code: Code, node: ast.Call) -> Iterator[Made]:
    name = code(node.func).rpartition(".")[2]
    if name in ("min", "max", "minimum", "maximum") and len(node.args) == 2:
        first, second = (code(one) for one in node.args)
        kind = Kind.NO_CLIP if name.startswith("min") and _CLIPPING.search(second) else Kind.MISSING_TERM
        yield kind, f"{name} left out", node, f"({first})"
        yield Kind.MISSING_TERM, f"{name} left out: its second argument alone", node, f"({second})"
        inner = node.args[0]
        if isinstance(inner, ast.Call) and len(inner.args) == 2 and {name[:3], code(inner.func)[:3]} == {"min", "max"}:
            words = "the lower end" if name.startswith("min") else "the upper end"
            yield Kind.CLIP_BOUND, f"{words} of an interval left out", inner, f"({code(inner.args[0])})"
    if "project" in name and len(node.args) == 1:
        yield Kind.MISSING_TERM, "projection left out", node, f"({code(node.args[0])})"
    if name in ("clip", "clip_rows") and len(node.args) == 2:
        yield Kind.NO_CLIP, "clipping dropped", node, f"np.asarray({code(node.args[0])})"


def _stale(code: Code, target: ast.expr, value: ast.expr) -> Iterator[Made]:
    """A name that keeps what it had before; where it had nothing yet, the changed run does not go on."""
    if isinstance(target, ast.Name) and (not isinstance(value, ast.Constant) or _is_sum(value)):
        kind = Kind.BATCH if target.id in (*RECORDS, "records") else _kept(value)
        yield kind, f"{target.id} keeps its value of before", value, target.id
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for one, new in zip(target.elts, value.elts, strict=True):
            if isinstance(one, ast.Name):
                yield _kept(new), f"{one.id} keeps its value of before", new, one.id


def _kept(value: ast.expr) -> Kind:
    """A sum that does not begin anew: sums of numbers, as of squares or of moves, are there to decide by."""
    return Kind.BRANCH if _is_sum(value) else Kind.INDEX_SHIFT


def _is_sum(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, float) and value.value == 0


def _constant(code: Code, node: ast.Attribute) -> Iterator[Made]:
    """A number of the schedule halved, doubled, or taken from the other block of variables."""
    if not isinstance(node.value, ast.Name) or node.value.id not in SCHEDULES:
        return
    kind = Kind.CLIP_BOUND if _CLIPPING.search(node.attr) else Kind.FACTOR
    for name, factor in (("halved", "0.5"), ("doubled", "2")):
        yield kind, f"{node.attr} {name}", node, f"({factor} * {code(node)})"
    block, other = node.attr[-2:], {"_x": "_y", "_y": "_x"}.get(node.attr[-2:])
    if other is not None:
        new = node.attr.removesuffix(block) + other
        yield kind, f"{new} for {node.attr}", node, f"{node.value.id}.{new}"


def _of_before(code: Code, function: ast.FunctionDef) -> Iterator[Made]:
    """``before, x = x, ...`` keeps the last x: an argument is the one of before, or the other way round."""
    pairs = set()
    for one in ast.walk(function):
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Tuple) and isinstance(one.value, ast.Tuple):
            for kept, now in zip(one.targets[0].elts, one.value.elts, strict=False):
                if isinstance(kept, ast.Name) and isinstance(now, ast.Name):
                    pairs |= {(now.id, kept.id), (kept.id, now.id)}
    for call in ast.walk(function):
        for argument in call.args if isinstance(call, ast.Call) else ():
            for name, other in sorted(pairs):
                if isinstance(argument, ast.Name) and argument.id == name:
                    yield Kind.INDEX_SHIFT, f"{other} for {name}", argument, other


def without(values: Array, place: int) -> Array:
    """An array whose last axis has a zero at one place.

    Raises:
        IndexError: it is a number.
    """
    found = np.array(values, dtype=float)
    if found.ndim == 0 or found.shape[-1] < 2:
        raise IndexError("no coordinates")
    found[..., place] = 0.0
    return found
