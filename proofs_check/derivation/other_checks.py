"""Steps that another checker decides: intervals and points, rates, privacy by accountant, tables, executed runs.

A check has a region of its own; the region must follow from the facts that the step uses, and what the check decides
must be what the step says.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dpassay.proofs_check.check import check
from dpassay.proofs_check.claim import Assumptions, Claim, Finding, Verdict
from dpassay.proofs_check.formula import FormulaError, tree
from dpassay.proofs_check.region import interval

from .language import Language, names_of, put_in
from .solver import Answer, Decision, follows


def claim_of(table: Mapping[str, Any]) -> Claim:
    """A check's table as the claim that the checkers read."""
    assumed = Assumptions(
        str(table.get("positive", "")), dict(table.get("domain", {})), tuple(table.get("conditions", ()))
    )
    beside = {"kind", "positive", "domain", "conditions"}
    formula = {name: value for name, value in table.items() if name not in beside}
    return Claim(str(table.get("kind", "")), formula, assumed)


def decide_by_check(language: Language, says: str, table: Mapping[str, Any], facts: Sequence[str]) -> Decision:
    """A step's check: its region must be in hand, its claim must be the step's, and a checker decides it."""
    missing = _region_in_hand(language, table, facts)
    if missing is not None:
        return missing
    other = _says_something_else(language, says, table, facts)
    return other if other is not None else _decision(check(claim_of(table)))


def decide_rate(says: str, scale: str, tilde: bool, facts: Sequence[str]) -> Decision:
    """``order(left, right)``: left is of the order of right, where facts ``order(a, b)`` or ``a <= b`` hold."""
    left, right = _order(says)
    conditions = [text for fact in facts for text in _rate_conditions(fact)]
    names = " ".join(sorted(_names([f"{left} <= {right}", *conditions, f"{scale} <= 1"])))
    formula = {"claim": f"{left} <= {right}", "scale": scale, "tilde": tilde}
    return _decision(check(Claim("rates", formula, Assumptions(positive=names, conditions=tuple(conditions)))))


def finding_of(table: Mapping[str, Any]) -> Finding:
    """What a checker says of a slip's, an edge's or a note's check."""
    return check(claim_of(table))


def _decision(finding: Finding) -> Decision:
    if finding.passes:
        sampled = finding.verdict in (Verdict.CHECKED, Verdict.SPOT_CHECKED)
        return Decision(Answer.SAMPLED if sampled else Answer.FOLLOWS, f"{finding.verdict}: {finding.evidence}")
    if finding.verdict in (Verdict.REFUTED, Verdict.ILL_DEFINED):
        return Decision(Answer.GAP, finding.evidence, dict(finding.counterexample))
    return Decision(Answer.UNDECIDED, finding.evidence)


def _region_in_hand(language: Language, table: Mapping[str, Any], facts: Sequence[str]) -> Decision | None:
    needed = [f"{name} > 0" for name in str(table.get("positive", "")).split()]
    for name, text in dict(table.get("domain", {})).items():
        needed += _bounds(name, str(text))
    needed += [substituted_all(str(text), table.get("let", {})) for text in table.get("conditions", ())]
    for relation in needed:
        decision = follows(language, relation, facts)
        if not decision.holds:
            return Decision(decision.answer, f"the check needs {relation}, which is not in hand", decision.numbers)
    return None


def _bounds(name: str, text: str) -> list[str]:
    _, left, low, high, right = interval(name, text)
    found = [] if low == "-inf" else [f"{name} {'>' if left == '(' else '>='} {low}"]
    return found if high == "inf" else [*found, f"{name} {'<' if right == ')' else '<='} {high}"]


def substituted_all(text: str, let: Mapping[str, str]) -> str:
    """The formula with abbreviations put in, the last first."""
    for name in reversed(list(let)):
        text = put_in(text, {name: f"({let[name]})"})
    return text


def _says_something_else(
    language: Language, says: str, table: Mapping[str, Any], facts: Sequence[str]
) -> Decision | None:
    kind, let = table["kind"], table.get("let", {})
    if kind in ("inequality", "identity") and isinstance(tree(says), ast.Compare):
        claim = substituted_all(str(table["claim"]), let)
        same = follows(language, says, [claim])
        return None if same.holds else Decision(same.answer, f"the check decides {claim}, not what the step says")
    call = tree(says)
    if kind == "privacy" and isinstance(call, ast.Call) and getattr(call.func, "id", "") == "private":
        mechanism, epsilon, delta = (ast.unparse(one) for one in call.args)
        inner = call.args[0]
        if isinstance(inner, ast.Call) and getattr(inner.func, "id", "") == "repeat":
            mechanism = ast.unparse(inner.args[0])
        wanted = [f"{epsilon} == {table['epsilon']}", f"{delta} == {table['delta']}",
                  f"move({mechanism}) <= {table['sensitivity']}", f"noise({mechanism}) >= {table['std']}"]  # fmt: skip
        for relation in wanted:
            text = substituted_all(relation, let)
            decision = follows(language, text, facts)
            if not decision.holds:
                return Decision(decision.answer, f"the accountant needs {text}", decision.numbers)
    return None


def _order(text: str) -> tuple[str, str]:
    call = tree(text)
    if not isinstance(call, ast.Call) or getattr(call.func, "id", "") != "order" or len(call.args) != 2:
        raise FormulaError(f"formula = {text!r}: a step by rates says order(left, right)")
    return ast.unparse(call.args[0]), ast.unparse(call.args[1])


def _rate_conditions(fact: str) -> list[str]:
    node = tree(fact)
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return [text for part in node.values for text in _rate_conditions(ast.unparse(part))]
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "order":
        return [" <= ".join(_order(fact))]
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.LtE | ast.GtE | ast.Eq) and len(node.ops) == 1:
        sides = (node.left, node.comparators[0])
        if all(_is_product(side) for side in sides):
            both = isinstance(node.ops[0], ast.Eq)
            return [fact.replace("==", word) for word in ("<=", ">=")] if both else [fact]
    return []


def _is_product(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", "") == "sqrt" and _is_product(node.args[0])
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Pow):
            return _is_product(node.left)
        return isinstance(node.op, ast.Mult | ast.Div) and _is_product(node.left) and _is_product(node.right)
    return isinstance(node, ast.Name) or (isinstance(node, ast.Constant) and node.value != 0)


def _names(texts: Iterable[str]) -> set[str]:
    called = {node.func.id for text in texts for node in ast.walk(tree(text))
              if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}  # fmt: skip
    return names_of(*texts) - called
