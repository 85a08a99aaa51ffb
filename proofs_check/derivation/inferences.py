"""Named inferences: what must be in hand for each, and the fact that it adds to a step.

An entry says which arguments are vectors, which relations and predicates must follow from the step's facts, what is
added, with what probability it may fail. Everything else about a step is decided over the reals.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from dpassay.proofs_check.formula import FormulaError, tree
from dpassay.reference.files import parse_toml, read_text

from .language import put_in


@dataclass(frozen=True)
class Inference:
    """A template in its arguments' names: ``needs`` must follow surely, then ``adds`` is a fact."""

    arguments: str
    adds: str
    needs: tuple[str, ...] = ()
    failure: str = ""
    allowed: str = ""  # probability with which what is needed may fail
    why: str = ""


_FILE = Path(__file__).with_suffix(".toml")
INFERENCES = {
    name: Inference(**{**said, "needs": tuple(said.get("needs", ()))})
    for name, said in parse_toml(read_text(_FILE, "inferences"), "inferences.toml").items()
}


@dataclass(frozen=True)
class Instance:
    """An inference with its arguments put in."""

    name: str
    needs: tuple[str, ...]
    adds: str
    failure: str
    allowed: str = ""  # probability with which the needed facts may fail


def instance(text: str) -> Instance:
    """``"cauchy(x - w, g)"`` with its side conditions and the fact that it adds.

    Raises:
        FormulaError: no such inference, or another number of arguments.
    """
    call = tree(text)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise FormulaError(f"by = {text!r}: expected name(arguments)")
    name, given = call.func.id, [ast.unparse(one) for one in call.args]
    if name == "expectation" and len(call.args) == 1 and isinstance(call.args[0], ast.Compare):
        left, *rest = [call.args[0].left, *call.args[0].comparators]
        operator = {ast.LtE: "<=", ast.GtE: ">=", ast.Eq: "=="}.get(type(call.args[0].ops[0]))
        if len(rest) != 1 or operator is None:
            raise FormulaError(f"by = {text!r}: one relation <=, >= or ==")
        return Instance(name, (given[0],), f"E({ast.unparse(left)}) {operator} E({ast.unparse(rest[0])})", "")
    found = INFERENCES.get(name)
    if found is None:
        raise FormulaError(f"by = {text!r}: no such inference; there are expectation, {', '.join(INFERENCES)}")
    names = found.arguments.split()
    if len(names) != len(given):
        raise FormulaError(f"by = {text!r}: takes {found.arguments}, got {len(given)}")
    put = dict(zip(names, given, strict=True))
    failure, allowed = (put_in(text, put) if text else "" for text in (found.failure, found.allowed))
    return Instance(name, tuple(put_in(one, put) for one in found.needs), put_in(found.adds, put), failure, allowed)
