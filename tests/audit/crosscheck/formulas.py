"""Evaluates the formulas of a vector's ``noise``: paths into the vector, arithmetic, and six functions."""

from __future__ import annotations

import ast
import math
from typing import Any

FUNCTIONS = {"sqrt": math.sqrt, "log": math.log, "log2": math.log2, "max": max, "min": min, "ceil": math.ceil}


def evaluate(text: str, names: dict[str, Any]) -> float:
    """The value of a formula; anything but arithmetic on known names is an error."""
    return _value(ast.parse(text, mode="eval").body, names)


def _value(node: ast.AST, names: dict[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.Attribute):
        return _value(node.value, names)[node.attr]
    if isinstance(node, ast.Subscript):
        return _value(node.value, names)[_value(node.slice, names)]
    if isinstance(node, ast.Call):
        assert isinstance(node.func, ast.Name)
        return FUNCTIONS[node.func.id](*(_value(one, names) for one in node.args))
    assert isinstance(node, ast.BinOp), ast.dump(node)
    left, right = _value(node.left, names), _value(node.right, names)
    if isinstance(node.op, ast.Add):
        return left + right
    if isinstance(node.op, ast.Sub):
        return left - right
    if isinstance(node.op, ast.Mult):
        return left * right
    if isinstance(node.op, ast.Div):
        return left / right
    assert isinstance(node.op, ast.Pow)
    return left**right
