"""Edits of calls: another function, other arguments, none."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from .kinds import Kind
from .source import Made, Text

CLIPPING = re.compile("clip|threshold|radius|(?<!es)cap|(?<!lower_)bound")  # names of bounds
ELSE = {
    "sin": "cos", "cos": "sin", "log": "log1p", "log1p": "log", "floor": "ceil", "ceil": "floor", "argmin": "argmax",
    "argmax": "argmin", "triu": "tril", "tril": "triu", "maximum": "minimum", "minimum": "maximum", "any": "all",
    "all": "any", "zeros": "ones", "zeros_like": "ones_like",
}  # fmt: skip
EIGEN = {"largest": "eigenvalues from the largest on:", "rows": "rows for eigenvectors:",
         "by size": "eigenvalues by their size:", "least by size": "eigenvalues by their size, the least first:",
         "rows of NumPy's": "rows for eigenvectors, with the signs that NumPy gives them:"}  # fmt: skip
BASES = {"log": ("log2", "log10"), "log2": ("log", "log10"), "exp": ("exp2", "expm1"), "expm1": ("exp",)}
WHOLE = ("ceil", "floor", "round", "int")
STATISTICS = ("max", "min", "mean", "sum")


def of_call(text: Text, node: ast.Call) -> Iterator[Made]:
    """Every edit of one call."""
    head, code = text.code(node.func), text.code(node)
    module, _, name = head.rpartition(".")
    if name in ELSE:
        new = f"{module}.{ELSE[name]}" if module else f"_edit.maths({ELSE[name]!r})"
        kind = Kind.CALLS if name in WHOLE else Kind.INDEX_SHIFT  # one round less, or one more
        yield text.made(kind, f"{ELSE[name]} for {name}", node, new + code[len(head) :])
    for other in BASES.get(name, ()) if len(node.args) == 1 else ():
        yield text.made(Kind.FACTOR, f"{other} for {name}", node, f"_edit.numpy({other!r})" + code[len(head) :])
    for other in WHOLE if name in WHOLE and len(node.args) == 1 else ():
        if other not in (name, ELSE.get(name)):
            new = f"_edit.maths({other!r})" + code[len(head) :]
            yield text.made(Kind.INDEX_SHIFT, f"{other} for {name}", node, new)
    if name in ("argmin", "argmax") and node.args:
        new = f"(len({text.code(node.args[0])}) - 1 - {head}(np.asarray({text.code(node.args[0])})[::-1]))"
        yield text.made(Kind.INDEX_SHIFT, "the last of several for", node, new)
    if name in ("eigh", "eigh_tridiagonal"):
        for how in EIGEN:
            new = f"_edit.eigen({head}, {how!r}, {code[len(head) + 1 :]}"
            yield text.made(Kind.INDEX_SHIFT, EIGEN[how], node, new)
    if name == "mean" or name.endswith("mean") or name == "mean_of":
        rows = text.code(node.args[0]) if node.args else module
        yield text.made(Kind.FACTOR, "divided by the number of all records:", node, f"_edit.over_all({code}, {rows})")
    if name in ("max", "maximum", "hypot") and len(node.args) == 2:
        one, other = (text.code(one) for one in node.args)
        for how, new in (
            ("the sum", f"(({one}) + ({other}))"),
            ("the larger", f"np.maximum({one}, {other})"),
            ("the 2-norm", f"_edit.numpy('hypot')({one}, {other})"),
            ("the mean", f"((({one}) + ({other})) / 2)"),
        ):
            kind = Kind.CLIP_BOUND if CLIPPING.search(code) else Kind.FACTOR
            yield text.made(kind, f"{how} of both for {name}", node, new)
    if name in ("min", "max", "minimum", "maximum") and len(node.args) == 2 and not node.keywords:
        for argument in node.args:
            yield from _chosen(text, node, argument)
        for factor, rest in (map(text.code, node.args), map(text.code, node.args[::-1])):
            new = f"(({factor}) * {head}(1.0, {rest}))"
            yield text.made(Kind.FACTOR, f"{factor} times the {name} of 1 and the other, for", node, new)
        if name == "min":
            yield from _tested(text, node)
    if name in ("minimum", "clip") and len(node.args) > 1 and CLIPPING.search(code):
        values, rest = text.code(node.args[0]), text.raw[text.span(node.args[0])[1] : text.span(node)[1]].decode()
        new = f"_edit.mean_first({values}, lambda mean: {head}(mean{rest})"
        yield text.made(Kind.CLIP_ORDER, "clipped after averaging:", node, new)
        new = f"_edit.as_one({values}, {text.code(node.args[-1])})"
        yield text.made(Kind.CLIP_NORM, "clipped as one vector:", node, new)
    if "simplex" in name and len(node.args) == 1:
        new = f"_edit.shares(np.maximum({text.code(node.args[0])}, 0.0))"
        yield text.made(Kind.MISSING_TERM, "cut at zero and divided by its sum for", node, new)
    if name in ("array", "asarray", "stack", "vstack", "tuple", "list") and node.args:
        listed, rest = text.code(node.args[0]), text.raw[text.span(node.args[0])[1] : text.span(node)[1]].decode()
        for words, new in (("all as the last of", "_edit.alike({})"), ("without the first of", "list({})[1:]"),
                           ("without the last of", "list({})[:-1]")):  # fmt: skip
            yield text.made(Kind.INDEX_SHIFT, words, node, f"{head}({new.format(listed)}{rest}")
    if name in STATISTICS and module and not node.args:
        for other in STATISTICS:
            if other != name:
                yield text.made(Kind.FACTOR, f"{other} for {name}", node, f"{module}.{other}" + code[len(head) :])
    if node.args and not any(isinstance(one, ast.Starred) for one in node.args):
        first = text.code(node.args[0])
        kind = Kind.NO_CLIP if "clip" in name else Kind.MISSING_TERM
        yield text.made(kind, f"{name} left out", node, f"_edit.same_shape({first}, {code})")
        gap, rest = node.args[0], text.raw[text.span(node.args[0])[1] : text.span(node)[1]].decode()
        if "clip" in name and isinstance(gap, ast.BinOp) and isinstance(gap.op, ast.Sub):
            apart = f"({head}({text.code(gap.left)}{rest} - {head}({text.code(gap.right)}{rest})"
            yield text.made(Kind.CLIP_ORDER, "clipped apart, then subtracted:", node, apart)
    for left, right in pairwise(node.args):
        a, b = text.span(left), text.span(right)
        new = text.code(right) + text.raw[a[1] : b[0]].decode() + text.code(left)
        yield (Kind.INDEX_SHIFT, "arguments exchanged", left.lineno, a[0], b[1], new)


def _tested(text: Text, node: ast.Call) -> Iterator[Made]:
    """``min(a, b / c)`` as the condition that it stands for, with ``c > b``."""
    for one, other in (node.args, node.args[::-1]):
        while isinstance(other, ast.IfExp):
            other = other.body
        if isinstance(other, ast.BinOp) and isinstance(other.op, ast.Div):
            above = f"({text.code(other.right)}) > ({text.code(other.left)})"
            new = f"(({text.code(other)}) if {above} else ({text.code(one)}))"
            yield text.made(Kind.BRANCH, "another condition for", node, new)


def _chosen(text: Text, node: ast.Call, argument: ast.expr) -> Iterator[Made]:
    """Where a quotient or a product is the one that is chosen, half of it is used: it is tested as it should be."""
    whole, value = text.code(argument), text.code(node)
    for part in ast.walk(argument):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div | ast.Mult):
            first = text.span(argument)[0]
            a, b = (one - first for one in text.span(part))
            for kept in (part.left, part.right) if isinstance(part.op, ast.Mult) else (part.left,):
                new = (whole.encode()[:a] + f"({text.code(kept)})".encode() + whole.encode()[b:]).decode()
                words = f"{text.code(kept)} alone, where it is chosen, for {text.code(part)} in"
                yield text.made(Kind.FACTOR, words, node, f"(({new}) if ({whole}) == ({value}) else ({value}))")
