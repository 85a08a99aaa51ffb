"""Is a fact that a file takes from another statement what that statement says?

A cited statement is read as *for all its names: if what it is given, then what it says*. Its names are matched with
the fact's expressions and put into all of it; the fact must follow from what is then said, and what is then given about
these things must be in hand. A name that is not matched stands for itself, unless what is given defines it. Predicates
mean the same everywhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dpassay.proofs_check.formula import FormulaError, tree

from .language import Language, conjuncts, names_of, over, pieces, put_in
from .model import Given, Part, Statement, Symbols, form_of
from .solver import follows

_FIXED = {"E", "P", "norm", "dot", "grad", "log", "exp", "sqrt", "abs", "max", "min", "floor", "ceil"}
OTHERWISE = "it reads otherwise"
Binding = dict[str, str]  # a name of the cited statement -> an expression of this one


@dataclass(frozen=True)
class _Cited:
    """One form of the cited statement: what it says, and on which conditions."""

    symbols: Symbols
    says: str
    failure: str
    given: tuple[str, ...]  # what must be in hand
    added: tuple[str, ...]  # told as a condition of the cited statement, where it is about the same things
    parameters: frozenset[str]  # names that may stand for something else here
    whole: Mapping[str, str]  # those that are whole numbers, with the first one
    averaged: frozenset[str]  # names for which what differs from run to run stands only if they do so too

    @classmethod
    def of(cls, cited: Statement, part: Part, sources: Mapping[str, Statement]) -> _Cited:
        """What the chain of a form rests on."""
        facts = [one for one in part.given if one.id in part.reached]
        given, added = (tuple(piece for one in facts if not one.source and one.added is kind
                              for piece in pieces(one.says)) for kind in (False, True))  # fmt: skip
        texts = (part.says, part.failure or "0", *given)
        parameters = {name for text in texts for name in _things(text)} - _known_elsewhere(cited, part, sources)
        by_induction = dict(over(text) for one in part.steps for text in one.by if text.startswith("induction("))
        random = {"E", *cited.symbols.random, *cited.symbols.random_vectors}
        steps = [one.says for one in part.steps if one.id in part.reached]
        averaged = {name for text in (*texts, *steps) for name in names_of(text)
                    if part.failure or names_of(text) & random}  # fmt: skip
        return cls(cited.symbols, part.says, part.failure, given, added, frozenset(parameters),
                   by_induction | dict.fromkeys(cited.symbols.count, "1"), frozenset(averaged))  # fmt: skip


def _known_elsewhere(
    cited: Statement, part: Part, sources: Mapping[str, Statement], above: tuple[str, ...] = ()
) -> set[str]:
    """Names of which a cited or checked step says something, and no premise of it does: of these things, no others."""
    says = {one.id: one.says for one in part.given} | {one.id: one.says for one in part.steps}
    numbers = cited.symbols.positive | cited.symbols.real | cited.symbols.count  # what is cited holds for all of them
    found: set[str] = set()
    for step in part.steps:
        if step.id in part.reached and step.by[:1] in (("cited",), ("check",)):
            premises = [says[name] for name in step.uses if name in says]
            premises += [text for _, conditions in _parts(tree(step.says)) for text in conditions]
            found |= names_of(step.says) - names_of(*premises) - numbers
    for fact in part.given:
        other, form = form_of(fact, cited.paper, sources) or (cited, part)
        if fact.source and fact.id in part.reached and other.key not in (*above, cited.key):
            found |= _known_elsewhere(other, form, sources, (*above, cited.key)) & names_of(fact.says)
    return found


def difference(
    language: Language, fact: Given, citing: Statement, hand: Sequence[str], sources: Mapping[str, Statement]
) -> str:
    """What keeps a fact from being an instance of the statement that it is from; empty where it is one.

    Args:
        hand: formulas that the citing statement is given for sure.
    """
    found = form_of(fact, citing.paper, sources)
    if found is None:
        return "there is no such statement here"
    cited, part = found
    if fact.holds == "every" and cited.holds != "every":
        return "it is about every data set, and the cited statement about the one at hand"
    form = _Cited.of(cited, part, sources)
    so_far: Binding = {}
    for piece, conditions in _parts(tree(fact.says), form):
        nearest = OTHERWISE
        apart = [] if form.failure else _matches(form, piece, {})  # what may fail is one instance, and fails as one
        for said, binding in (*_matches(form, piece, so_far), *apart, (form.says, so_far if form.failure else {})):
            try:
                why = _missing(language, form, ast.unparse(piece), said, binding, [conditions, hand], fact.failure)
            except FormulaError as error:
                why = str(error)
            nearest = why if nearest == OTHERWISE or not why else nearest
            if not why:
                so_far = so_far | binding
                break
        if nearest:
            return nearest
    return ""


def _missing(
    language: Language, form: _Cited, piece: str, said: str, binding: Binding, facts: Sequence[Sequence[str]], may: str
) -> str:
    """The piece must follow from what is said, and what is needed for it must be in hand; empty, or what is not so."""
    conditions, known = facts[0], [*facts[1], *facts[0]]
    claims = [put_in(said, binding), *conditions]
    try:
        if piece not in claims and not follows(language, piece, claims).holds:
            return OTHERWISE
    except FormulaError:  # a name of the cited statement that nothing here stands for
        return OTHERWISE
    other = {name for name, text in binding.items() if text != name}
    met, here = names_of(said, form.failure or "0"), language.symbols.declared | names_of(piece, *known)
    given = [*form.given, *(text for text in form.added if names_of(text) & other)]
    defined = _definitions(given, names_of(*claims) | met | here)
    needs = [f"{put_in(form.failure, binding)} <= {may or '0'}"] if form.failure else []
    for text in given:  # those about names of its own beside these are the cited statement's own matter
        about = _things(put_in(text, defined))
        if about <= met or (about & other and about <= met | here):
            met |= names_of(text) - set(defined)
            needs.append(put_in(put_in(text, defined), binding))
    needs += [need for name in sorted(met) for need in _of_its_kind(language, form, name, binding.get(name, name))]
    literally = {language.formula(piece).get_id() for text in known for piece in pieces(text)}
    asked = [need for need in needs if language.formula(need).get_id() not in literally]
    missing = next((need for need in asked if not follows(language, need, []).holds
                    and not follows(language, need, known).holds), "")  # fmt: skip
    return f"it needs {missing}, which is not in hand" if missing else ""


def _definitions(given: Sequence[str], taken: set[str]) -> Binding:
    """What the cited statement is given that names of its own are, in other names."""
    found: Binding = {}
    for node in map(tree, given):
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and isinstance(node.ops[0], ast.Eq):
            name, text = node.left.id, put_in(ast.unparse(node.comparators[0]), found)
            if name not in taken | set(found) | names_of(text):
                found = {other: put_in(told, {name: text}) for other, told in found.items()} | {name: text}
    return found


def _of_its_kind(language: Language, form: _Cited, name: str, text: str) -> list[str]:
    """What the text must satisfy to stand for a name of the cited statement.

    Raises:
        FormulaError: it is of another kind: a vector for a number, what is random for what is not, a broken number for
            a whole one.
    """
    theirs, node = form.symbols, tree(text)
    if name not in theirs.declared:
        return []
    vector = name in theirs.vectors | theirs.random_vectors
    made_of = set(language.vector(node)) if vector else {one.name for one in language.scalar(node).free_symbols}
    random = made_of & (language.random | language.symbols.random_vectors)
    if random and name in form.averaged - theirs.random - theirs.random_vectors:
        raise FormulaError(f"{name} is fixed, and {text} differs from run to run")
    kinds = ast.BinOp | ast.Add | ast.Sub | ast.Mult | ast.expr_context
    parts = [part for part in ast.walk(node) if not isinstance(part, kinds)]
    if name in form.whole and text != name and not all(
            part.id in language.symbols.count if isinstance(part, ast.Name) else
            isinstance(part, ast.Constant) and isinstance(part.value, int) for part in parts):  # fmt: skip
        raise FormulaError(f"{name} is a whole number, and {text} need not be one")
    needs = [f"{text} >= {form.whole[name]}"] if name in theirs.count or (name in form.whole and text != name) else []
    needs += [f"{text} > 0"] if name in theirs.positive | theirs.extended else []
    return needs + [f"finite({one})" for one in sorted(made_of & language.symbols.extended - theirs.extended)]


def _things(text: str) -> set[str]:
    """What a formula is about: its names, without those of predicates and of what is the same everywhere."""
    return names_of(text) - _FIXED - _predicates(tree(text))


def _predicates(node: ast.expr) -> set[str]:
    if isinstance(node, ast.BoolOp):
        return {name for value in node.values for name in _predicates(value)}
    if isinstance(node, ast.UnaryOp):
        return _predicates(node.operand)
    if not isinstance(node, ast.Call):
        return set()
    name = ast.unparse(node.func)
    return {name} | {one for part in node.args for one in _predicates(part) if name == "implies"}


def _parts(node: ast.expr, cited: _Cited | None = None) -> list[tuple[ast.expr, list[str]]]:
    """What a fact claims, piece by piece, each with the conditions that the fact itself states for it.

    An implication that reads as one of the cited statement's is a piece as it stands.
    """
    found = []
    for part in conjuncts(node):
        whole = cited is not None and any(_matches(cited, part, {}))
        if isinstance(part, ast.Call) and _conditional(part) and not whole:
            found += [(inner, [ast.unparse(part.args[0]), *more]) for inner, more in _parts(part.args[1], cited)]
        else:
            found.append((part, []))
    return found


def _conditional(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "implies" and len(node.args) == 2


def _matches(form: _Cited, part: ast.expr, known: Binding) -> Iterator[tuple[str, Binding]]:
    """The pieces of what is said that read as the part, with their conditions, and what their names stand for."""
    asserted = conjuncts(tree(form.says))
    for pattern, conditions in [*_parts(tree(form.says)), *((one, []) for one in asserted if _conditional(one))]:
        text = ast.unparse(pattern)
        found = _matched(pattern, part, form.parameters, known)
        if found is not None:
            for condition in reversed(conditions):
                text = f"implies({condition}, {text})"
            yield text, found


def _matched(pattern: ast.AST, target: ast.AST, parameters: frozenset[str], known: Binding) -> Binding | None:
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


def _all(pairs: Sequence[tuple[ast.AST, ast.AST]], parameters: frozenset[str], known: Binding) -> Binding | None:
    found: Binding | None = dict(known)
    for pattern, target in pairs:
        found = None if found is None else _matched(pattern, target, parameters, found)
    return found
