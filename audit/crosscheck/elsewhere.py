"""Another value of the same function where one belongs: whatever is computed in it, by its own text.

Names are exchanged among the other edits; here it is sums, products, calls and fields. They are many, so that they
are tried when nothing else explains the difference.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from .conditions import head
from .edits import Scope, functions_of, statements, values_of
from .kinds import Kind
from .source import Made, Text

LONGEST = 70  # characters of a text that is used elsewhere
VALUES = ast.Name | ast.Attribute | ast.Call | ast.BinOp | ast.Subscript | ast.UnaryOp
COMPUTED = ast.Attribute | ast.Call | ast.BinOp | ast.Subscript
OWN = (ast.comprehension, ast.Lambda, ast.Starred, ast.NamedExpr)  # what has names of its own


def from_elsewhere(
    source: str, lines: Callable[[int, int], bool], scope: Callable[[ast.FunctionDef], Scope]
) -> Iterator[Made]:
    """Each value of a function for each other one, as far as they are of one shape.

    Args:
        lines: were lines of this range run?
        scope: what the names of a function were.
    """
    text = Text(source)
    for function in functions_of(ast.parse(source)):
        known, found = scope(function), []
        texts: dict[str, None] = {}
        for statement in statements(function.body):
            if lines(*head(statement)):
                found += [(node, parent) for node, parent in values_of(statement) if isinstance(node, VALUES)]
        for node, _ in found:
            code = text.code(node)
            plain = not any(isinstance(one, OWN) for one in ast.walk(node)) and "tape" not in code
            if isinstance(node, COMPUTED) and plain and len(code) <= LONGEST:
                texts.setdefault(code)
        for node, parent in found:
            code = text.code(node)
            if isinstance(node, ast.Name) and node.id not in known.names:
                continue
            kind = Kind.BRANCH if isinstance(parent, ast.Compare) else Kind.FACTOR
            kind = Kind.INDEX_SHIFT if _array(node, known) else kind
            for other in texts:
                if other != code and code not in other and other not in code:  # else it is another edit's
                    yield text.made(kind, f"{other} for", node, f"_edit.same_shape({other}, {code})")
        fields = [f"{one}.{name}" for one, held in known.fields.items() for name, same in held.items() if same is float]
        for node, parent in found:
            yield from _in_other_units(text, node, parent, fields)


def _in_other_units(text: Text, node: ast.expr, parent: ast.AST, fields: Sequence[str]) -> Iterator[Made]:
    """A value multiplied or divided by a constant of the schedule, as steps are by their size."""
    code = text.code(node)
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mult | ast.Div):
        return  # the whole product stands for its factors
    for field in fields:
        if field not in code:
            yield text.made(Kind.FACTOR, f"{field} times", node, f"({field} * ({code}))")
            yield text.made(Kind.FACTOR, f"divided by {field}:", node, f"(({code}) / {field})")


def _array(node: ast.expr, scope: Scope) -> bool:
    return isinstance(node, ast.Name) and bool(scope.names[node.id])
