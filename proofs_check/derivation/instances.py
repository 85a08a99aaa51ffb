"""Is a fact that a file takes from another statement what that statement says?

The cited statement's names are read as parameters: they are matched with the fact's expressions, put into the cited
statement, and the fact must follow from the result. What the cited statement is given must then be in hand as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dpassay.proofs_check.formula import FormulaError, tree

from .language import Language, names_of, put_in
from .model import Given, Statement
from .solver import follows

_FIXED = {"E", "P", "norm", "dot", "grad", "log", "exp", "sqrt", "abs", "max", "min", "private", "order", "implies"}
OTHERWISE = "it reads otherwise"
Binding = dict[str, str]  # a name of the cited statement -> an expression of this one


def difference(
    language: Language, fact: Given, cited: Statement, rests_on: Sequence[Given], hand: Sequence[str]
) -> str:
    """What keeps a fact from being an instance of the cited statement; empty where it is one.

    Args:
        fact: from ``cited``, or from its repaired form.
        rests_on: the facts that the chain of that form reaches.
        hand: formulas that the citing statement is given for sure.
    """
    form = cited.repaired if cited.repaired and fact.source.endswith(" repaired") else cited
    says, failure = form.says, form.failure
    given = [ast.unparse(part) for one in rests_on if not one.source and not one.added  # what is added is told as such
             for part in _conjuncts(tree(one.says))]  # fmt: skip
    if fact.holds == "every" and cited.holds != "every":
        return "it is about every data set, and the cited statement about the one at hand"
    whole = says, {name: name for name in names_of(says) - _FIXED}
    for part, conditions in _parts(tree(fact.says), says):
        nearest = OTHERWISE
        for said, binding in (*_matches(says, part), whole):
            # what the cited statement is given of names of its own beside these is its own matter
            needs = [f"{binding[name]} > 0" for name in binding if name in cited.symbols.positive | cited.symbols.count]
            needs += [put_in(text, binding) for text in given if names_of(text) - _FIXED <= set(binding)]
            if failure:
                needs.append(f"{put_in(failure, binding)} <= {fact.failure or '0'}")
            claims = [put_in(said, binding), *conditions]
            why = _missing(language, ast.unparse(part), claims, needs, [*hand, *conditions])
            nearest = why if nearest == OTHERWISE or not why else nearest
            if not why:
                break
        if nearest:
            return nearest
    return ""


def _missing(language: Language, part: str, says: Sequence[str], needs: Sequence[str], hand: Sequence[str]) -> str:
    """The part must follow from what is said, and what is needed for it must be in hand; empty, or what is not so."""
    try:
        if part not in says and not follows(language, part, says).holds:
            return OTHERWISE
    except FormulaError:  # a name of the cited statement that nothing here stands for
        return OTHERWISE
    try:
        literally = {ast.unparse(one) for fact in hand for one in _conjuncts(tree(fact))}
        missing = next((need for need in needs if need not in literally and not follows(language, need, []).holds
                        and not follows(language, need, hand).holds), "")  # fmt: skip
    except FormulaError as error:
        return str(error)
    return f"it needs {missing}, which is not in hand" if missing else ""


def _conjuncts(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return [part for value in node.values for part in _conjuncts(value)]
    return [node]


def _parts(node: ast.expr, cited: str = "") -> list[tuple[ast.expr, list[str]]]:
    """What a fact claims, piece by piece, each with the conditions that the fact itself states for it.

    An implication that reads as one of the cited statement's is a piece as it stands.
    """
    found = []
    for part in _conjuncts(node):
        if isinstance(part, ast.Call) and _conditional(part) and not (cited and any(_matches(cited, part))):
            found += [(inner, [ast.unparse(part.args[0]), *more]) for inner, more in _parts(part.args[1], cited)]
        else:
            found.append((part, []))
    return found


def _conditional(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "implies" and len(node.args) == 2


def _matches(says: str, part: ast.expr) -> Iterator[tuple[str, Binding]]:
    """The pieces of what is said that read as the part, with their conditions, and what their names stand for."""
    asserted = _conjuncts(tree(says))
    for pattern, conditions in [*_parts(tree(says)), *((one, []) for one in asserted if _conditional(one))]:
        text = ast.unparse(pattern)
        found = _matched(pattern, part, names_of(text) - _FIXED, {})
        if found is not None:
            for condition in reversed(conditions):
                text = f"implies({condition}, {text})"
            yield text, {name: name for name in names_of(text) - _FIXED} | found


def _matched(pattern: ast.AST, target: ast.AST, parameters: set[str], known: Binding) -> Binding | None:
    """The binding under which the pattern is the target; sums and products in either order."""
    if isinstance(pattern, ast.Name) and pattern.id in parameters and isinstance(target, ast.expr):
        text = ast.unparse(target)
        return {**known, pattern.id: text} if known.get(pattern.id, text) == text else None
    if type(pattern) is not type(target):
        return None
    if isinstance(pattern, ast.BinOp) and isinstance(target, ast.BinOp) and isinstance(pattern.op, ast.Add | ast.Mult):
        if type(pattern.op) is not type(target.op):
            return None
        orders = [(target.left, target.right), (target.right, target.left)]
        both = [_all([(pattern.left, one), (pattern.right, two)], parameters, known) for one, two in orders]
        return both[0] if both[0] is not None else both[1]
    if isinstance(pattern, ast.Name | ast.Constant):
        return known if ast.unparse(pattern) == ast.unparse(target) else None
    ours, theirs = list(ast.iter_child_nodes(pattern)), list(ast.iter_child_nodes(target))
    return _all(list(zip(ours, theirs, strict=True)), parameters, known) if len(ours) == len(theirs) else None


def _all(pairs: Sequence[tuple[ast.AST, ast.AST]], parameters: set[str], known: Binding) -> Binding | None:
    found: Binding | None = dict(known)
    for pattern, target in pairs:
        found = None if found is None else _matched(pattern, target, parameters, found)
    return found
