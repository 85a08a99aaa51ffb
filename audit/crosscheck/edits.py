"""Every small edit of every expression that was computed: what people get wrong, whatever the algorithm is.

``changes.py`` and ``slips.py`` know what is wrong in DP optimisation; this knows nothing of it. Each value may have
the other sign, another factor, be left out, be moved along, be that of the step before or of another name; each
comparison, loop, index and pair of lines may be another one. ``edited.py`` does what has no short text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from .arithmetic import of_arithmetic
from .at_once import blocks, one_after_the_other
from .calls import CLIPPING, of_call
from .conditions import head, is_tested, of_asking, of_condition, of_test
from .constants import of_field, of_its_name
from .entries import of_entry, of_number
from .kinds import Kind
from .lines import of_order, of_rounds, of_statement
from .otherwise_clipped import AGAIN, BLOCKS
from .records import DRAWN_LAST, NEXT_RECORDS, OTHER_RECORDS, RECORDS
from .slips import OF_RECORDS
from .source import Made, Text

Shape = tuple[int, ...]
RATE = re.compile("step|rate|size")


@dataclass
class Scope:
    """What the names of a function were when it ran.

    Args:
        names: shapes of arrays and of numbers ``()``.
        fields: for a name that holds a dataclass, its numbers.
        whole: the names that hold a whole number.
        tuples: lengths of those that hold a few values together, such as a point in two blocks.
        problems: what computes gradients of records.
        records: what numbers records.
    """

    names: dict[str, Shape] = field(default_factory=dict)
    fields: dict[str, dict[str, type]] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)
    tuples: dict[str, int] = field(default_factory=dict)
    problems: set[str] = field(default_factory=set)
    records: set[str] = field(default_factory=set)


def edits(source: str, lines: Callable[[int, int], bool], scope: Callable[[ast.FunctionDef], Scope]) -> list[Made]:
    """Every edit of the functions of a file.

    Args:
        lines: were lines of this range run?
        scope: what the names of a function were.
    """
    text, found = Text(source), []
    tree = ast.parse(source)
    asking = [one.name for one in functions_of(tree) if "tape." in text.code(one)]
    for function in functions_of(tree):
        known = scope(function)
        compared = {id(part) for one in ast.walk(function) if isinstance(one, ast.Compare) for part in ast.walk(one)}
        for statement in statements(function.body):
            if lines(*head(statement)):
                found += [*of_statement(text, statement), *_added_up(text, statement, known)]
                for node, parent in values_of(statement):
                    found += list(_of_value(text, node, parent, known, id(node) in compared))
        arguments = [one.arg for one in function.args.args if one.arg != "self"]
        found += list(of_order(text, function.body, lines, ", ".join(arguments)))
        found += list(of_rounds(text, function, known.names))
        found += list(of_asking(text, function, lines, asking))
        for block in blocks(function.body):
            if lines(block[0].lineno, block[-1].lineno):
                found += list(one_after_the_other(text, block, asking))
    return found


def functions_of(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """The functions of a file, and the methods of its classes."""
    for node in tree.body:
        held = node.body if isinstance(node, ast.ClassDef) else [node]
        yield from (one for one in held if isinstance(one, ast.FunctionDef))


def statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement, those inside others too."""
    for one in body:
        yield one
        for name in ("body", "orelse", "finalbody"):
            yield from statements(getattr(one, name, ()))


def values_of(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.AST]]:
    """Expressions whose value is used, each with what holds it; not names of what is called, nor labels."""
    waiting: list[tuple[ast.AST, ast.AST]] = [(one, statement) for one in ast.iter_child_nodes(statement)]
    while waiting:
        node, parent = waiting.pop()
        if isinstance(node, ast.stmt | ast.JoinedStr | ast.expr_context | ast.excepthandler):
            continue
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            waiting.append((node.slice, node))  # what is written into is no value
            continue
        if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            called = isinstance(parent, ast.Call) and parent.func is node
            based = isinstance(parent, ast.Attribute)
            annotated = isinstance(parent, ast.AnnAssign) and parent.annotation is node
            if annotated:
                continue
            if not called and not based:
                yield node, parent
        waiting += [(one, node) for one in ast.iter_child_nodes(node)]


def _of_value(text: Text, node: ast.expr, parent: ast.AST, scope: Scope, compared: bool) -> Iterator[Made]:
    code = text.code(node)
    if isinstance(node, ast.Constant):
        tested = compared and isinstance(parent, ast.Subscript)  # another entry is looked at
        yield from of_number(text, node, Kind.BRANCH if tested else Kind.INDEX_SHIFT)
        return
    if isinstance(node, ast.Compare | ast.BoolOp):
        whole = {name for held in scope.fields.values() for name, same in held.items() if same is int}
        yield from of_condition(text, node, parent, scope.whole | whole)
        return
    if is_tested(node, parent):
        yield from of_test(text, node, parent)
    if not isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.BinOp | ast.Subscript):
        return
    if isinstance(node, ast.Name) and node.id not in scope.names:
        yield from _of_tuple(text, node, scope)
        return
    bound = CLIPPING.search(code) and isinstance(node, ast.Name | ast.Attribute)
    factor = Kind.CLIP_BOUND if bound else Kind.FACTOR
    weights = isinstance(parent, ast.Subscript) and not OF_RECORDS.search(text.code(parent.value))
    number = scope.names[node.id] == () if isinstance(node, ast.Name) else _kind_of(text, node, scope) is not None
    for kind, name, new in (
        (Kind.SIGN, "the other sign of", f"(-({code}))"),
        (factor, "twice", f"(2 * ({code}))"),
        (factor, "half of", f"(({code}) / 2)"),
        (Kind.BRANCH if compared else Kind.FACTOR, "the square of", f"(({code}) ** 2)"),
        (Kind.BRANCH if compared else Kind.FACTOR, "the root of", f"_edit.root({code})"),
        (Kind.MISSING_TERM, "zero for", f"(0 * ({code}))"),
    ):
        if not (isinstance(node, ast.Name) and node.id in scope.whole and kind in (Kind.SIGN, Kind.MISSING_TERM)):
            yield text.made(kind, name, node, new)  # nobody turns or drops a number that counts
    place = text.span(node)[0]
    for name, how in (("the value one step before of", "before"), ("the first value for ever of", "first")):
        kind = Kind.BATCH if is_records(node) else Kind.INDEX_SHIFT
        yield text.made(kind, name, node, f"_edit.{how}({place}, {code})")
    if not number:
        yield from _of_array(text, node, code, is_records(node) and not weights)
        for size in sorted({shape[0] for shape in scope.names.values() if len(shape) == 1 and shape[0] > 1}):
            for block, words in ((size, "first"), (-size, "last")):
                new = f"_edit.turned_block({code}, {block})"
                yield text.made(Kind.SIGN, f"the {words} {size} entries turned in", node, new)
    if not number or isinstance(node, ast.Name):
        yield text.made(Kind.UN_NOISED, "the query in place of the released", node, f"_edit.bare({code})")
    if RATE.search(code) and number:
        for name, power in (("divided by how often it was used:", "1"), ("divided by the root of that:", "0.5")):
            yield text.made(Kind.FACTOR, name, node, f"_edit.fewer({place}, {code}, {power})")
    if is_records(node):
        for name in DRAWN_LAST:
            yield text.made(Kind.BATCH, f"{name} for", node, f"_edit.drawn_last({code})")
        for name in OTHER_RECORDS:
            kind = Kind.INDEX_SHIFT if weights and name == NEXT_RECORDS else Kind.BATCH
            yield text.made(kind, f"{name} for", node, f"_edit.records({code}, {name!r})")
    if isinstance(node, ast.Name):
        yield from _of_name(text, node, scope)
        yield from of_its_name(text, node, scope.fields)
        yield from _again(text, node, scope)
        yield from _anew(text, node, scope)
    elif isinstance(node, ast.Attribute):
        yield from of_field(text, node, scope.fields.get(text.code(node.value), {}), compared)
    elif isinstance(node, ast.Call):
        yield from of_call(text, node)
    elif isinstance(node, ast.Subscript):
        yield from of_entry(text, node, parent, scope.names)
    elif isinstance(node, ast.BinOp):
        yield from of_arithmetic(text, node)


def _added_up(text: Text, statement: ast.stmt, scope: Scope) -> Iterator[Made]:
    """What a name becomes is added to what it was."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        name, node = statement.targets[0].id, statement.value
        if name in scope.names and not any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node)):
            yield text.made(Kind.MISSING_TERM, f"added to what {name} was:", node, f"({name} + ({text.code(node)}))")


def _again(text: Text, node: ast.Name, scope: Scope) -> Iterator[Made]:
    """What was released is clipped as well."""
    if node.id in scope.whole:
        return
    held_by = {holder: held for holder, held in scope.fields.items() if holder not in scope.problems}
    fields = {one: f"{holder}.{one}" for holder, held in held_by.items() for one, kind in held.items() if kind is float}
    for bound in (*fields.values(), *(one for one, shape in scope.names.items() if shape == ())):
        if CLIPPING.search(bound.rpartition(".")[2]):
            for how in AGAIN:
                new = f"_edit.clipped_again({node.id}, {bound}, {how!r})"
                words = f"clipped to {bound}{how and ', '}{how}, when it is released already:"
                yield text.made(Kind.CLIP_ORDER if "clip" in bound else Kind.FACTOR, words, node, new)


def _kind_of(text: Text, node: ast.expr, scope: Scope) -> type | None:
    """Of a field that holds a number."""
    known = scope.fields.get(text.code(node.value), {}) if isinstance(node, ast.Attribute) else {}
    return known.get(node.attr) if isinstance(node, ast.Attribute) else None


def is_records(node: ast.expr) -> bool:
    """Is it called as numbers of records are?"""
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return RECORDS.search(name) is not None


def _of_array(text: Text, node: ast.expr, code: str, records: bool) -> Iterator[Made]:
    for name, new in (
        ("the entries one place on of", f"_edit.rolled({code}, 1)"),
        ("the entries one place back of", f"_edit.rolled({code}, -1)"),
        ("the entries backwards of", f"_edit.rolled({code}, 0)"),
        ("transposed", f"_edit.turned({code})"),
    ):
        yield text.made(Kind.BATCH if records else Kind.INDEX_SHIFT, name, node, new)
    for how in BLOCKS:
        yield text.made(Kind.SIGN, f"{how} turned in", node, f"_edit.turned_block({code}, {how!r})")
    yield text.made(Kind.MISSING_TERM, "the diagonal alone of", node, f"np.diag(np.diag({code}))")
    yield text.made(Kind.MISSING_TERM, "without the first coordinate", node, f"_without({code}, 0)")
    yield text.made(Kind.MISSING_TERM, "without the last coordinate", node, f"_without({code}, -1)")
    yield text.made(Kind.FACTOR, "of length one", node, f"_edit.unit({code})")
    yield text.made(Kind.FACTOR, "the signs of", node, f"np.sign({code})")
    yield text.made(Kind.FACTOR, "divided by its sum:", node, f"_edit.shares({code})")
    yield text.made(Kind.MISSING_TERM, "all entries alike in", node, f"_edit.even({code})")
    weights = isinstance(node, ast.Name) and len(node.id) == 1  # no record's gradient is called so
    if not weights and not isinstance(node, ast.Attribute):  # the fields of a problem are data: they are not clipped
        yield text.made(Kind.CLIP_ORDER, "averaged before they are clipped:", node, f"_edit.averaged({code})")


def _of_tuple(text: Text, node: ast.Name, scope: Scope) -> Iterator[Made]:
    """Another one of as many values in its place, or one of its values."""
    length = scope.tuples.get(node.id)
    for other, same in scope.tuples.items():
        if other != node.id and same == length:
            yield text.made(Kind.INDEX_SHIFT, f"{other} for", node, other)
            for place in range(same):
                parts = (f"{other if one == place else node.id}[{one}]" for one in range(same))
                yield text.made(Kind.INDEX_SHIFT, f"{other}[{place}] in", node, f"({', '.join(parts)})")
    for place in range(length or 0):
        for other, shape in scope.names.items():
            if shape:
                new = f"_edit.same_shape({other}, {node.id}[{place}])"
                rest = (f"*{node.id}[:{place}]", new, f"*{node.id}[{place + 1}:]")
                yield text.made(Kind.INDEX_SHIFT, f"{other} in", node, f"({', '.join(rest)})")


def _of_name(text: Text, node: ast.Name, scope: Scope) -> Iterator[Made]:
    shape = scope.names[node.id]
    if node.id in scope.whole:
        for step, how in (("+ 1", "large"), ("- 1", "small")):
            yield text.made(Kind.INDEX_SHIFT, f"one too {how}:", node, f"({node.id} {step})")
    for other, same in scope.names.items():
        if other != node.id and same == shape:
            pair = f"{node.id} {other}"
            time = other.startswith(node.id) or node.id.startswith(other)  # x, x_before, x_next
            kind = Kind.FACTOR if shape == () and not time else Kind.INDEX_SHIFT
            if any(CLIPPING.search(one) for one in pair.split()) and shape == ():
                kind = Kind.CLIP_BOUND
            elif all(RECORDS.search(one) for one in pair.split()):
                kind = Kind.BATCH
            yield text.made(kind, f"{other} for", node, other)
            if shape:
                new = f"_edit.unreleased({other}, {node.id})"
                yield text.made(Kind.UN_NOISED, f"{other}, before it is released, for", node, new)


def _anew(text: Text, node: ast.Name, scope: Scope) -> Iterator[Made]:
    """A gradient or Hessian without noise for an array, at each point that there is."""
    shape = scope.names[node.id]
    if len(shape) not in (1, 2) or node.id in scope.records:
        return
    points: list[tuple[str, ...]] = [
        (one,) for one, same in scope.names.items() if same == shape[-1:] and one not in scope.records
    ]
    if {"x", "y"} <= set(scope.names):
        points.append(("x", "y"))
    own = {one for one in scope.problems if "." not in one}
    for problem in sorted(own or scope.problems):
        for point in points:
            for records in ("None", *sorted(scope.records)):
                of = "all records" if records == "None" else records
                words = f"what {problem} computes anew, without noise, at {' and '.join(point)}, of {of}, for"
                new = f"_edit.exact({problem}, {node.id}, [{', '.join(point)}], {records})"
                yield text.made(Kind.UN_NOISED, words, node, new)
