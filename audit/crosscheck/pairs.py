"""Edits that need a second place: values at the beginning of a step, names that a line uses twice, clipped parts."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from .conditions import head
from .edits import Scope, functions_of, is_records, statements, values_of
from .kinds import Kind
from .records import OTHER_RECORDS
from .source import Made, Text

Pair = tuple[Made, ...]  # places that go together
MOST = 4  # names of the same shape that one is taken for


def pairs(source: str, lines: Callable[[int, int], bool], scope: Callable[[ast.FunctionDef], Scope]) -> list[Pair]:
    """Edits that need a second place: values at the beginning of a step, and differences that are clipped apart."""
    text, found = Text(source), []
    for function in functions_of(ast.parse(source)):
        known = scope(function)
        for loop in ast.walk(function):
            if isinstance(loop, ast.For | ast.While) and lines(*head(loop)):
                found += list(_of_loop(text, loop, lines, known))
                found += list(_behind(text, function, loop, known))
        for statement in statements(function.body):
            if lines(*head(statement)):
                found += list(_of_repeated(text, statement, known))
        found += list(_of_clipped(text, function, lines))
    return found


def _of_loop(text: Text, loop: ast.For | ast.While, lines: Callable[[int, int], bool], scope: Scope) -> Iterator[Pair]:
    """A name that is bound in a loop has the value that it had one or two beginnings of the loop ago."""
    bound = {one.id for one in ast.walk(loop) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    begin = loop.body[0]
    place = text.span(begin)[0]
    for statement in statements(loop.body):
        if lines(*head(statement)):
            for node, _ in values_of(statement):
                if isinstance(node, ast.Name) and node.id in bound and node.id in scope.names:
                    noted = f"_edit.note(lambda: {node.id})\n{' ' * begin.col_offset}"
                    for ago, words in ((1, "at the beginning of the step"), (2, "one step earlier")):
                        kind = Kind.BATCH if is_records(node) else Kind.INDEX_SHIFT
                        use = text.made(kind, f"its value {words} for", node, f"_edit.ago({node.id}, {ago})")
                        yield use, (Kind.INDEX_SHIFT, "", begin.lineno, place, place, noted)


def _behind(text: Text, function: ast.FunctionDef, loop: ast.For | ast.While, scope: Scope) -> Iterator[Pair]:
    """What is returned behind a loop is the mean of what a name was in its steps."""
    bound = {one.id for one in ast.walk(loop) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    begin = loop.body[0]
    place = text.span(begin)[0]
    behind = [one for one in function.body if isinstance(one, ast.Return) and one.lineno > loop.lineno]
    for statement in behind:
        for node, _ in values_of(statement):
            if isinstance(node, ast.Name) and node.id in bound and scope.names.get(node.id):
                noted = f"_edit.note(lambda: {node.id})\n{' ' * begin.col_offset}"
                for first in (0, 1):
                    words = "the mean of all steps of" if first else "the mean, with the start, of"
                    use = text.made(Kind.INDEX_SHIFT, words, node, f"_edit.on_average({node.id}, {first})")
                    yield use, (Kind.INDEX_SHIFT, "", begin.lineno, place, place, noted)


def _of_repeated(text: Text, statement: ast.stmt, scope: Scope) -> Iterator[Pair]:
    """A name that a statement uses more than once is taken for another one wherever it stands there."""
    places: dict[str, list[ast.Name]] = {}
    for node, _ in values_of(statement):
        if isinstance(node, ast.Name) and node.id in scope.names:
            places.setdefault(node.id, []).append(node)
    for name, nodes in places.items():
        others = [one for one, shape in scope.names.items() if one != name and shape == scope.names[name]]
        news = [(Kind.UN_NOISED, "the query in place of the released", f"_edit.bare({name})")]
        news += [(Kind.INDEX_SHIFT, f"{one} for", one) for one in others[:MOST]]
        if is_records(nodes[0]):
            news += [(Kind.BATCH, f"{one} for", f"_edit.records({name}, {one!r})") for one in OTHER_RECORDS]
        for kind, words, new in news if len(nodes) > 1 else ():
            first, *rest = nodes
            yield (text.made(kind, words, first, new), *(text.made(kind, "", one, new) for one in rest))


def _of_clipped(text: Text, function: ast.FunctionDef, lines: Callable[[int, int], bool]) -> Iterator[Pair]:
    """Both parts of a difference are clipped, and then subtracted."""
    every = [(node, one) for one in statements(function.body) if lines(*head(one)) for node, _ in values_of(one)]
    parts = [node for node, _ in every if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)]
    ran = [one for one in statements(function.body) if lines(*head(one))]
    for call in (node for one in ran for node in ast.walk(one) if not isinstance(one, ast.If | ast.For | ast.While)):
        name = text.code(call.func).rpartition(".")[2] if isinstance(call, ast.Call) else ""
        if isinstance(call, ast.Call) and "clip" in name and call.args:
            for one in parts:
                a, b = text.span(one), text.span(call)
                if a[1] <= b[0]:
                    apart = f"_edit.parts({text.code(one.left)}, {text.code(one.right)})"
                    each = f"_edit.each({text.code(call.func)}, {text.raw[text.span(call.args[0])[0] : b[1]].decode()}"
                    yield (
                        text.made(Kind.CLIP_ORDER, "clipped apart, then subtracted:", one, apart),
                        text.made(Kind.CLIP_ORDER, "", call, each),
                    )
                    for bound in call.args[1:2]:
                        parted = (
                            f"_edit.clipped_before({text.code(side)}, {text.code(bound)})"
                            for side in (one.left, one.right)
                        )
                        yield (text.made(Kind.CLIP_ORDER, "clipped before they are subtracted, too:", one,
                                         f"({' - '.join(parted)})"),)  # fmt: skip
