"""What helps the solver with a step: named inferences, and checkers of other kinds (rates, accounting, tables, runs).

An inference says which relations and predicates must follow from the step's facts, what is added, with what probability
it may fail. A check has a region of its own: it must follow from the facts, and what is decided must be the step.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dpassay.proofs_check.checkers import check, key_of
from dpassay.proofs_check.finding import Finding, Verdict
from dpassay.proofs_check.formula import FormulaError, tree
from dpassay.proofs_check.region import interval
from dpassay.reference.files import parse_toml, read_text

from .language import SCALAR_FUNCTIONS, Language, conjuncts, names_of, pairs, put_in
from .solver import Answer, Decision, follows


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
_PREDICATES = {"and", "implies"} | {ast.unparse(node.func) for one in INFERENCES.values()
                                    for node in map(tree, (one.adds, *one.needs)) if isinstance(node, ast.Call)}
_CHECKED = {"private": "std", "function_of": "steps"}  # of those that inferences know, by the key of the check


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


def decide_by_check(language: Language, says: str, table: Mapping[str, Any], facts: Sequence[str]) -> Decision:
    """A step's check: its region must be in hand, its claim must be the step's, and a checker decides it.

    What a predicate that no inference knows means (``rounded(a, b)``) is told by the step's words alone.
    """
    for relation in _region(language, table):
        decision = follows(language, relation, facts)
        if not decision.holds:
            return decision.because(f"the check needs {relation}, which is not in hand")
    let, key, node = table.get("let", {}), key_of(table), tree(says)
    related = any(isinstance(part, ast.Compare | ast.Not) for part in ast.walk(node))
    if related and key == "claim":
        claim = _in_full(table["claim"], let)
        decision = follows(language, says, [claim], aside=True)
        if not decision.holds:
            return decision.because(f"the check decides {claim}, not what the step says")
    if key == "std":
        for relation in _privacy(node, table):
            text = _in_full(relation, let)
            decision = follows(language, text, facts)
            if not decision.holds:
                return decision.because(f"the accountant needs {text}")
    decision = decision_of(check(table))
    tied = key == "claim" if related else all(_decided_by(part, key, table) for part in conjuncts(node))
    return decision if tied or not decision.holds else Decision(
        Answer.UNDECIDED, f"a check of {key} does not decide {says}")  # fmt: skip


def decide_rate(language: Language, says: str, scale: str, tilde: bool, facts: Sequence[str]) -> Decision:
    """``order(left, right)``: left is of the order of right, where facts ``order(a, b)`` or ``a <= b`` hold."""
    positive = {name for name, number in language.table.items() if number.is_positive}
    known = positive | SCALAR_FUNCTIONS
    conditions = [text for fact in facts for text in _rate_conditions(fact) if names_of(text) <= known]
    return decision_of(check({"claim": _order(says), "scale": scale, "tilde": tilde,
                              "positive": " ".join(sorted(positive)), "conditions": conditions}))  # fmt: skip


def decision_of(finding: Finding) -> Decision:
    """What a checker found, as an answer."""
    if finding.passes:
        answer = Answer.FOLLOWS if finding.verdict is Verdict.PROVED else Answer.SAMPLED
        return Decision(answer, f"{finding.verdict}: {finding.evidence}")
    return Decision(Answer.GAP if finding.fails else Answer.UNDECIDED, finding.evidence, dict(finding.counterexample))


def _decided_by(node: ast.expr, key: str, table: Mapping[str, Any]) -> bool:
    """Whether a checker decides this predicate: of an order, the rates of its two sides where the check knows them."""
    name = ast.unparse(node.func) if isinstance(node, ast.Call) else "and"
    if not isinstance(node, ast.Call) or name != "order":
        return name not in _PREDICATES or _CHECKED.get(name) == key
    known = {*table.get("positive", "").split(), *table.get("constants", "").split(), *table.get("let", ())}
    claim = ast.unparse(tree(table.get("claim", "0")))
    return key == "scale" and (claim == _order(ast.unparse(node)) or not names_of(ast.unparse(node.args[0])) <= known)


def _region(language: Language, table: Mapping[str, Any]) -> Iterator[str]:
    """What must be true for a point to lie in a check's region."""
    yield from (f"{name} > 0" for name in table.get("positive", "").split())
    for name, text in table.get("domain", {}).items():
        integer, left, low, high, right = interval(name, text)
        if integer and name not in language.symbols.count:
            raise FormulaError(f"the check takes {name} for a whole number, and it need not be one")
        yield f"{name} {'>' if left == '(' else '>='} {low}"
        if high != "inf":
            yield f"{name} {'<' if right == ')' else '<='} {high}"
    yield from (_in_full(text, table.get("let", {})) for text in table.get("conditions", ()))


def _in_full(text: str, let: Mapping[str, str]) -> str:
    """The formula with abbreviations put in, the last first."""
    for name in reversed(list(let)):
        text = put_in(text, {name: let[name]})
    return text


def _privacy(says: ast.expr, table: Mapping[str, Any]) -> list[str]:
    """What must be true for ``private(mechanism, epsilon, delta)`` to be what the accountant decides."""
    if not isinstance(says, ast.Call) or ast.unparse(says.func) != "private":
        return []
    inner, epsilon, delta = says.args
    times = []
    if isinstance(inner, ast.Call) and ast.unparse(inner.func) == "repeat":
        inner, count = inner.args
        times = [f"{ast.unparse(count)} <= {table.get('count', 1)}"]
    drawn = [f"drawn({ast.unparse(inner)}, {table['rate']})"] if "rate" in table else []
    return [f"{ast.unparse(epsilon)} == {table['epsilon']}", f"{ast.unparse(delta)} == {table['delta']}",
            f"move({ast.unparse(inner)}) <= {table['sensitivity']}",
            f"noise({ast.unparse(inner)}) >= {table['std']}", *times, *drawn]  # fmt: skip


def _order(text: str) -> str:
    call = tree(text)
    if not isinstance(call, ast.Call) or ast.unparse(call.func) != "order" or len(call.args) != 2:
        raise FormulaError(f"formula = {text!r}: a step by rates says order(left, right)")
    return " <= ".join(map(ast.unparse, call.args))


def _rate_conditions(fact: str) -> list[str]:
    """Those of a fact's relations that an exponent's linear program can take: between products of powers."""
    found = []
    for node in conjuncts(tree(fact)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "order":
            found.append(_order(ast.unparse(node)))
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            plain = isinstance(node.ops[0], ast.LtE | ast.GtE | ast.Eq)
            if plain and _is_product(node.left) and _is_product(node.comparators[0]):
                found.append(ast.unparse(node))
    return found


def _is_product(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) == "sqrt" and _is_product(node.args[0])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return _is_product(node.left)
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Mult | ast.Div) and _is_product(node.left) and _is_product(node.right)
    return isinstance(node, ast.Name) or (isinstance(node, ast.Constant) and node.value != 0)
