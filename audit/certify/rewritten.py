"""Statements that do what they did, written so that a decision ends where it began: one return, no `continue`.

A decision between new values of names becomes an expression; that is for the ways of a private decision alone, since
both of its values are asked for.
"""

from __future__ import annotations

import ast
from typing import Any


def one_return(body: list[ast.stmt]) -> list[ast.stmt]:
    """What returns early returns once, at its end, where nothing but assignments and decisions stand before that."""
    before: list[ast.stmt] = []
    for one in body:
        before.append(one)
        if isinstance(one, ast.If) and isinstance(one.body[-1], ast.Return):  # else: whatever comes after it
            before[-1] = at(one, ast.If(one.test, one.body, []))
            before += one.orelse
    if len(before) > len(body):
        return one_return(before)
    tail = [before.pop()]
    while before:
        one = before.pop()
        if isinstance(one, ast.If):
            tail = _either_returned(one, tail) or [one, *tail]
        elif isinstance(one, ast.Assign | ast.AugAssign):
            tail = [one, *tail]
        else:
            return [*before, one, *tail]
    return tail


def _either_returned(one: ast.If, tail: list[ast.stmt]) -> list[ast.stmt] | None:
    """A decision of which one way returns, and what comes after it; None where there is more to it than that."""
    ways, values = [one_return(one.body), tail], []
    if one.orelse:
        return None
    for way in ways:
        end = way[-1]
        if not isinstance(end, ast.Return) or end.value is None or any(isinstance(line, ast.If) for line in way):
            return None
        values.append(end.value)
    if all(len(way) == 1 for way in ways):
        return [at(one, ast.Return(ast.IfExp(one.test, *values)))]
    name = "_dpassay_returned"
    kept = [
        [*way[:-1], at(way[-1], ast.Assign([ast.Name(name, ast.Store())], value))]
        for way, value in zip(ways, values, strict=True)
    ]
    made = ast.If(one.test, *kept), ast.Return(ast.Name(name, ast.Load()))
    return [at(one, line) for line in made]


def can_be_read_again(value: ast.expr) -> bool:
    """Names and entries, at places that are sums: nothing is called."""
    parts = ast.Name | ast.Constant | ast.Subscript | ast.Tuple | ast.BinOp | ast.UnaryOp | ast.expr_context
    parts |= ast.Add | ast.Sub | ast.USub
    return all(isinstance(one, parts) for one in ast.walk(value))


def adds_to_entry(one: ast.stmt) -> bool:
    """Is it ``counts[k] += x``?"""
    of = one.target if isinstance(one, ast.AugAssign) and type(one.op) in (ast.Add, ast.Sub) else None
    return isinstance(of, ast.Subscript) and can_be_read_again(of) and bool(name_of(of))


def name_of(entry: ast.expr) -> str:
    """The name of that of which it is an entry, or none."""
    return name_of(entry.value) if isinstance(entry, ast.Subscript) else getattr(entry, "id", "")


def gives_value(one: ast.stmt) -> bool:
    """Does it give one name a new value, or add to a name or an entry, and nothing else?"""
    if isinstance(one, ast.AugAssign):
        return adds_to_entry(one) or (type(one.op) in (ast.Add, ast.Sub) and isinstance(one.target, ast.Name))
    return isinstance(one, ast.Assign) and len(one.targets) == 1 and isinstance(one.targets[0], ast.Name)


def by_expressions(truth: str, first: list[Any], second: list[Any]) -> list[Any]:
    """What two ways assign, each by an expression that keeps the value where the other way is taken."""
    targets = [[ast.dump(_with_value(line, ast.Constant(0))) for line in way] for way in (first, second)]
    if targets[0] == targets[1] and len(first) == 1:
        both = ast.IfExp(ast.Name(truth, ast.Load()), first[0].value, second[0].value)
        return [_with_value(first[0], both)]
    found = []
    for number, way in enumerate((first, second)):
        for line in way:
            added = isinstance(line, ast.AugAssign)
            if not added and line.targets[0].id.startswith("_dpassay_"):  # a test within
                found.append(line)
                continue
            kept = ast.Constant(0) if added else ast.Name(line.targets[0].id, ast.Load())
            values = [line.value, kept][:: -1 if number else 1]
            found.append(_with_value(line, ast.IfExp(ast.Name(truth, ast.Load()), *values)))
    return found


def _with_value(line: Any, value: ast.expr) -> Any:
    """The same statement with another value."""
    if isinstance(line, ast.AugAssign):
        return at(line, ast.AugAssign(line.target, line.op, value))
    return at(line, ast.Assign(line.targets, value))


def without_continue(body: list[ast.stmt]) -> list[ast.stmt]:
    """``if t: continue`` before other statements leaves them to the other way."""
    for number, one in enumerate(body[:-1]):
        if isinstance(one, ast.If) and not one.orelse and isinstance(one.body[-1], ast.Continue):
            rest = without_continue(body[number + 1 :])
            return [*body[:number], at(one, ast.If(one.test, one.body[:-1] or [at(one, ast.Pass())], rest))]
    return body


def at(place: ast.AST, made: Any) -> Any:
    """A new node there; what it holds stays where it is."""
    return ast.fix_missing_locations(ast.copy_location(made, place))
