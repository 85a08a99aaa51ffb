"""Named inferences: what must be in hand for each, and the fact that it adds to a step.

An entry says which arguments are vectors, which relations and predicates must follow from the step's facts, what is
added, with what probability it may fail. Everything else about a step is decided over the reals.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from pathlib import Path

from dpassay.proofs_check.formula import FormulaError, tree
from dpassay.reference.files import parse_toml, read_text

from .language import pairs, put_in


@dataclass(frozen=True)
class Inference:
    """``needs`` must follow surely, then ``adds`` is a fact; in the table in its arguments' names."""

    adds: str
    needs: tuple[str, ...] = ()
    arguments: str = ""
    failure: str = ""
    allowed: str = ""  # probability with which what is needed may fail
    why: str = ""


_FILE = Path(__file__).with_suffix(".toml")
INFERENCES = {
    name: Inference(**{**said, "needs": tuple(said.get("needs", ()))})
    for name, said in parse_toml(read_text(_FILE, "inferences"), "inferences.toml").items()
}


def instance(text: str) -> Inference:
    """``"cauchy(x - w, g)"``: the inference of this name with these arguments put in.

    Raises:
        FormulaError: no such inference, or another number of arguments.
    """
    call = tree(text)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise FormulaError(f"by = {text!r}: expected name(arguments)")
    given = [ast.unparse(one) for one in call.args]
    if call.func.id == "expectation" and len(call.args) == 1 and isinstance(call.args[0], ast.Compare):
        (left, operator, right), *more = pairs(call.args[0])
        if more or operator not in ("<=", ">=", "=="):
            raise FormulaError(f"by = {text!r}: one relation <=, >= or ==")
        return Inference(f"E({ast.unparse(left)}) {operator} E({ast.unparse(right)})", (given[0],))
    found = INFERENCES.get(call.func.id)
    if found is None:
        raise FormulaError(f"by = {text!r}: no such inference; there are expectation, {', '.join(INFERENCES)}")
    if len(found.arguments.split()) != len(given):
        raise FormulaError(f"by = {text!r}: takes {found.arguments}, got {len(given)}")
    values = dict(zip(found.arguments.split(), given, strict=True))
    adds, failure, allowed = (put_in(one, values) if one else "" for one in (found.adds, found.failure, found.allowed))
    needs = tuple(put_in(one, values) for one in found.needs)
    return replace(found, adds=adds, needs=needs, failure=failure, allowed=allowed)
