"""Small changes of arithmetic, found in a file of source: what a second implementation gets wrong most often.

They are beside the bugs of ``lab/source/operators.py``, which change what is released and drawn. Each change is one
place of one file, with the text that takes its place and the kind of difference that it makes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from dpassay.audit.mutate.operators import sites

from .kinds import Kind
from .otherwise_clipped import BLOCKS
from .slips import slips
from .source import Source

SIZES = ("n", "size", "batch", "steps")  # names that are taken for one another
OPPOSITE: dict[type[ast.cmpop], str] = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
RELEASING: dict[str, Kind] = {
    "noise_dropped": Kind.UN_NOISED,
    "query_in_its_place": Kind.UN_NOISED,
    "query_in_part": Kind.UN_NOISED,
    "sensitivity_halved": Kind.SENSITIVITY,
    "sensitivity_and_noise_halved": Kind.SENSITIVITY,
    "moves_half_as_far_again": Kind.FACTOR,
    "released_twice": Kind.CALLS,
    "one_step_more": Kind.INDEX_SHIFT,
    "one_step_less": Kind.INDEX_SHIFT,
    "clip_removed": Kind.NO_CLIP,
    "clip_by_coordinates": Kind.CLIP_NORM,
    "clip_twice_as_wide": Kind.CLIP_BOUND,
    "batch_undeclared": Kind.BATCH,
    "batch_reused": Kind.BATCH,
    "batch_smaller": Kind.BATCH,
    "less_or_equal": Kind.BRANCH,
    "threshold_bare": Kind.UN_NOISED,
}
IN_WORDS = {
    "noise_dropped": "no noise added in",
    "query_in_its_place": "going on with the query, not with the released value, in",
    "query_in_part": "going on with the query and the released value, half of each, in",
    "released_twice": "released twice in",
}
LEFT_OUT = ("of_the_data", "of_the_run_before", "used_again")  # no second implementation does these by accident


@dataclass(frozen=True)
class Change:
    """The text from ``first`` to ``last`` (bytes of the file) becomes ``text``."""

    kind: Kind
    name: str
    line: int
    first: int
    last: int
    text: str


class _Text(Source):
    def __init__(self, source: str):
        super().__init__(source)
        self.tree = ast.parse(source)
        tests = (one for one in ast.walk(self.tree) if isinstance(one, ast.Compare))
        self.compared = {id(part) for one in tests for part in ast.walk(one)}

    def change(self, kind: Kind, name: str, node: ast.expr | ast.stmt, text: str) -> Change:
        return Change(kind, name, node.lineno, *self.span(node), text)


def changes(source: str) -> list[Change]:
    """Every change of a file, the bugs of the laboratory first."""
    text = _Text(source)
    found = [
        Change(
            kind,
            IN_WORDS.get(site.operator.name, site.operator.name.replace("_", " ")),
            site.line,
            *_bytes(source, site.first, site.last),
            site.text,
        )
        for site in sites(source)
        if (kind := _kind(site.operator.name)) is not None
    ]
    for node in ast.walk(text.tree):
        found += _of_node(text, node)
        found += [text.change(*one) for one in slips(text.code, node)]
    return found


def applied(source: str, change: Change) -> str:
    """The file with one change; its lines keep their numbers."""
    raw = source.encode()
    return (raw[: change.first] + change.text.encode() + raw[change.last :]).decode()


def _kind(operator: str) -> Kind | None:
    if any(operator.endswith(end) for end in LEFT_OUT):
        return None
    return RELEASING.get(operator, Kind.NOISE_SCALE if operator.startswith("noise") else None)


def _bytes(source: str, first: int, last: int) -> tuple[int, int]:
    return len(source[:first].encode()), len(source[:last].encode())


def _of_node(text: _Text, node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.BinOp):
        yield from _binary(text, node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield text.change(Kind.SIGN, "minus dropped", node, f"({text.code(node.operand)})")
    elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub):
        other = "-=" if isinstance(node.op, ast.Add) else "+="
        target, value = text.code(node.target), text.code(node.value)
        yield text.change(Kind.SIGN, "sign of an update", node, f"{target} {other} {value}")
        yield text.change(Kind.MISSING_TERM, "update dropped", node, f"{target} += 0 * ({value})")
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OPPOSITE:
        left, right = text.code(node.left), text.code(node.comparators[0])
        yield text.change(Kind.BRANCH, "bound of a comparison", node, f"{left} {OPPOSITE[type(node.ops[0])]} {right}")
    elif isinstance(node, ast.Subscript):
        yield from _subscript(text, node)
    elif isinstance(node, ast.Call):
        yield from _call(text, node)
    elif isinstance(node, ast.Return) and node.value is not None:
        value = text.code(node.value)
        yield text.change(Kind.SIGN, "sign of a value", node, f"return -({value})")
        yield text.change(Kind.FACTOR, "value doubled", node, f"return 2 * ({value})")
        yield text.change(Kind.FACTOR, "value halved", node, f"return ({value}) / 2")
    elif isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load):
        yield from _size(text, node)


def _binary(text: _Text, node: ast.BinOp) -> Iterator[Change]:
    left, right = f"({text.code(node.left)})", f"({text.code(node.right)})"
    if isinstance(node.op, ast.Add | ast.Sub):
        other = "-" if isinstance(node.op, ast.Add) else "+"
        small = isinstance(node.right, ast.Constant) and isinstance(node.right.value, int)  # it counts
        kind = Kind.INDEX_SHIFT if small else Kind.SIGN
        yield text.change(kind, "sign of a term", node, f"({left} {other} {right})")
        yield text.change(Kind.INDEX_SHIFT if small else Kind.MISSING_TERM, "term dropped", node, left)
        if not small:
            first = f"(-{right})" if isinstance(node.op, ast.Sub) else right
            yield text.change(Kind.MISSING_TERM, "first term dropped", node, f"(0 * {left} + {first})")
    elif isinstance(node.op, ast.Mult | ast.Div):
        kind = Kind.BRANCH if id(node) in text.compared else Kind.FACTOR
        yield text.change(kind, "factor dropped", node, left)
        if isinstance(node.op, ast.Mult):
            minus = isinstance(node.left, ast.UnaryOp) and isinstance(node.left.op, ast.USub)  # it stays
            yield text.change(kind, "first factor dropped", node, f"(-{right})" if minus else right)
        else:
            yield text.change(kind, "divided where it is multiplied", node, f"({left} * {right})")
    elif isinstance(node.op, ast.Pow):
        yield text.change(Kind.FACTOR, "power dropped", node, left)


def _subscript(text: _Text, node: ast.Subscript) -> Iterator[Change]:
    if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int) and isinstance(node.ctx, ast.Load):
        base = text.code(node.value)
        for step in (-1, 1):
            kind = Kind.BRANCH if id(node) in text.compared else Kind.INDEX_SHIFT  # another eigenvalue is tested
            yield text.change(kind, "another index", node, f"{base}[{node.slice.value + step}]")


def _call(text: _Text, node: ast.Call) -> Iterator[Change]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "sqrt" and len(node.args) == 1:
        yield text.change(Kind.FACTOR, "root dropped", node, f"({text.code(node.args[0])})")
    if name in ("min", "max", "minimum", "maximum"):
        other = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}[name]
        head = text.code(node.func)
        yield text.change(Kind.BRANCH, f"{other} for {name}", node.func, head[: len(head) - len(name)] + other)
    if name in ("sum", "_sum") and node.args and isinstance(node.args[0], ast.List):
        yield text.change(Kind.MISSING_TERM, "the last of a sum alone", node, f"({text.code(node.args[0])})[-1]")
    if name == "mean" and isinstance(node.func, ast.Attribute):
        head = text.code(node.func)
        yield text.change(Kind.FACTOR, "sum for mean", node.func, f"{head[: -len('mean')]}sum")
    if name == "mean_of" and len(node.args) == 1:
        yield text.change(Kind.FACTOR, "sum for mean", node, f"np.add.reduce({text.code(node.args[0])}, axis=0)")
    if name in ("norm", "row_norms") and len(node.args) == 1:
        axis = ", ".join(f"{one.arg}={text.code(one.value)}" for one in node.keywords if one.arg)
        axis = "axis=1" if name == "row_norms" else axis
        for order, reduced in (("1", "sum"), ("inf", "max")):
            new = f"np.abs({text.code(node.args[0])}).{reduced}({axis})"
            yield text.change(Kind.CLIP_NORM, f"norm of order {order}", node, new)
    if name == "row_norms" and len(node.args) == 1:
        rows = text.code(node.args[0])
        new = f"np.full(len({rows}), np.linalg.norm({rows}))"
        yield text.change(Kind.CLIP_NORM, "one norm of all rows", node, new)
    yield from _clipping(text, node, name)


def _clipping(text: _Text, node: ast.Call, name: str) -> Iterator[Change]:
    """Averaged before it is clipped: all records, or in pairs (microbatches of two)."""
    if name in ("clip_rows", "clipped_mean") and node.args:
        pairs = (
            "lambda r: np.array([r[i - i % 2 : i - i % 2 + 2].mean(axis=0) for i in range(len(r))]).reshape(r.shape)"
        )
        rows = f"({pairs})(np.asarray({text.code(node.args[0])}))"
        yield text.change(Kind.CLIP_ORDER, "pairs of records averaged, then clipped", node.args[0], rows)
    if name == "clip_rows" and len(node.args) == 2:
        rows, bound = text.code(node.args[0]), text.code(node.args[1])
        shares = f"len({rows}) * {text.code(node.func)}(({rows}) / len({rows}), {bound})"
        yield text.change(Kind.CLIP_ORDER, "divided by their number before they are clipped", node, shares)
    if name in ("clip_rows", "clipped_mean") and len(node.args) > 1:
        for how in BLOCKS:
            mean = "" if name == "clip_rows" else ".mean(axis=0)"
            new = f"_edit.by_blocks({text.code(node.args[0])}, {text.code(node.args[1])}, {how!r}){mean}"
            yield text.change(Kind.CLIP_NORM, f"{how} clipped apart from the rest in", node, new)
            new = f"_edit.but_for({text.code(node.args[0])}, {text.code(node.args[1])}, {how!r}){mean}"
            yield text.change(Kind.NO_CLIP, f"{how} not clipped in", node, new)
    if name in ("clip_rows", "clipped_mean") and node.args:
        for order in ("1", "inf", "0") if len(node.args) > 1 else ():
            said = f"norm of order {order} here alone" if order != "0" else "each coordinate clipped, here alone,"
            new = f"_edit.clipped({text.code(node.args[0])}, {text.code(node.args[1])}, {order!r})"
            mean = "" if name == "clip_rows" else ".mean(axis=0)"
            yield text.change(Kind.CLIP_NORM, said, node, f"np.asarray({new}{mean})")
        for wide in node.args[1:2]:
            yield text.change(Kind.CLIP_BOUND, "clip half as wide", wide, f"({text.code(wide)}) / 2")
    if name == "clipped_mean" and len(node.args) == 3:
        for mode, words in (("mean", "clipped after averaging"), ("each", "each clipped before averaging")):
            yield text.change(Kind.CLIP_ORDER, words, node.args[2], f'"{mode}"')
        yield text.change(
            Kind.NO_CLIP, "clipping dropped", node, f"np.asarray(({text.code(node.args[0])}).mean(axis=0))"
        )
    if name in ("mean", "mean_of") and node.args and isinstance(node.args[0], ast.Call):  # of clip_rows(rows, bound)
        clipping = node.args[0]
        if getattr(clipping.func, "id", "") == "clip_rows" and len(clipping.args) == 2:
            rows, bound = text.code(clipping.args[0]), text.code(clipping.args[1])
            mean = f"clip_rows(({rows}).mean(axis=0)[None], {bound})[0]"
            yield text.change(Kind.CLIP_ORDER, "clipped after averaging", node, mean)
            total = f"clip_rows(({rows}).sum(axis=0)[None], {bound})[0] / len({rows})"
            yield text.change(Kind.CLIP_ORDER, "summed, clipped, then divided", node, f"({total})")
    if name == "clip" and len(node.args) == 2 and isinstance(node.args[0], ast.Call) and node.args[0].args:
        mean, rows, bound = *(text.code(one) for one in (node.args[0], node.args[0].args[0])), text.code(node.args[1])
        if text.code(node.args[0].func).endswith("mean_of"):
            total = f"({text.code(node.func)}(len({rows}) * {mean}, {bound}) / len({rows}))"
            yield text.change(Kind.CLIP_ORDER, "summed, clipped, then divided", node, total)
    inner = node.func.value if isinstance(node.func, ast.Attribute) and name in ("mean", "sum") else None
    if isinstance(inner, ast.Call) and getattr(inner.func, "id", "") == "clip_rows" and len(inner.args) == 2:
        rows, bound = text.code(inner.args[0]), text.code(inner.args[1])
        mean = f"clip_rows(({rows}).mean(axis=0)[None, :], {bound})[0]"
        count = f"len({rows}) * " if name == "sum" else ""
        yield text.change(Kind.CLIP_ORDER, "clipped after averaging", node, f"({count}{mean})")
        if name == "sum":
            running = f"_edit.running({rows}, {bound})"
            yield text.change(Kind.CLIP_ORDER, "the sum so far clipped as each record is added", node, running)
            total = f"clip_rows(({rows}).sum(axis=0)[None, :], {bound})[0]"
            yield text.change(Kind.CLIP_ORDER, "summed, then clipped", node, total)


def _size(text: _Text, node: ast.Attribute | ast.Name) -> Iterator[Change]:
    name = node.attr if isinstance(node, ast.Attribute) else node.id
    for end in ("_next", "_before"):
        if isinstance(node, ast.Name) and name.endswith(end):
            yield text.change(Kind.INDEX_SHIFT, f"{name} is that of another step", node, name.removesuffix(end))
    if name in ("n", "size"):
        other = "size" if name == "n" else "n"
        head = text.code(node)[: -len(name)] if isinstance(node, ast.Attribute) else ""
        for new in (f"{head}{other}", "problem.n", "len(indices)"):
            yield text.change(Kind.FACTOR, f"{new} for {name}", node, new)
