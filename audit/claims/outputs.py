"""What ``dpassay blackbox`` says of two samples of outputs: tests, bound, floats, power, and notes."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpassay.audit.blackbox.detect import Detail, audit_in_detail, audit_outputs, bound_of_scores, of_outputs
from dpassay.audit.blackbox.power import branch_power, event_power
from dpassay.audit.blackbox.table import Column, Tables, to_tables
from dpassay.audit.results import Sound, Verdict, decide
from dpassay.audit.verdict import POWER_SHOWN, TIGHT_SHARE

from .claimed import Claim

NOT_STATED = "not stated"  # nobody said how D and D' differ, so no report does
BRANCH = 30  # `--power` also wants a branch seen that shows the dataset in one run of so many


@dataclass(frozen=True)
class Question:
    """A claim, how it is to be judged, and what else is wanted."""

    claim: Claim
    delta: float
    confidence: float
    seed: int
    relation: str
    power: float | None  # an epsilon so many times larger must have been seen
    floats: bool = False  # are the floating-point numbers judged too?
    names: tuple[str, ...] | None = None  # of the columns, where the outputs come with some


def answer(p: Any, q: Any, question: Question, rng: np.random.Generator) -> tuple[list[Sound], Verdict, list[str]]:
    """Judge the mechanism in real numbers and, if asked, in floats; show what gave it away, or what would have.

    Returns results that decide together, the verdict, and lines for a person.
    """
    tables = to_tables(p, q)
    if question.names is not None and len(question.names) == len(tables.columns):
        given = zip(question.names, tables.columns, strict=True)
        tables = replace(tables, columns=tuple(Column(name, column.origin) for name, column in given))
    deciding, notes, shown, detail = judge(tables, (p, q), question, rng)
    in_floats: list[Sound] = []
    if question.floats:
        each = 1 - (1 - question.confidence) / 2  # half of the level
        grid = audit_outputs(p, q, question.claim.guarantee, rng, each, low_bits=True)
        in_floats = [replace(grid, method="grid of the floats")]
        notes.append(f"In real numbers: {decide(deciding)}. In floating point: {grid.verdict}.")
    verdict = decide([*deciding, *in_floats])
    if not verdict.failed:
        notes += shown
        empty = of_outputs(tables, p, q)
        if empty:
            return [*deciding, *in_floats], Verdict.INCONCLUSIVE, [*notes, *empty]
        deciding, said = with_power(deciding, tables, detail, question)
        notes += said
        verdict = decide(deciding)
    return [*deciding, *in_floats], verdict, notes


def judge(
    tables: Tables, outputs: tuple[Any, Any], question: Question, rng: np.random.Generator
) -> tuple[list[Sound], list[str], list[str], Detail]:
    """Test of the claim and (nine to one) bound of the epsilon claimed at delta; notes, notes if nothing falls, detail.

    A bound that stays below the claim decides nothing: that it comes near does not show that the claim holds.
    """
    claim, level = question.claim, 1 - question.confidence
    share = 1.0 if claim.epsilon is None else 0.9
    test, detail = audit_in_detail(tables, claim.guarantee, rng, 1 - share * level)
    test, notes = replace(test, relation=question.relation), []
    if test.verdict is Verdict.VIOLATED:
        shown = detail.most_telling(*outputs)
        test = replace(test, evidence={**test.evidence, "most_telling_outputs": shown})
        notes = [f"Given away by: {detail.telling.statement}." if detail.telling else ""]
        if detail.telling is None or str(detail.telling.column) != test.evidence["score"]:
            notes.append(f"Decided by the score: {test.evidence['score']}.")
        notes += [f"Most telling {side}: {'; '.join(ones)}" for side, ones in shown.items()]
    if claim.epsilon is None:
        return [test], notes, [], detail
    bound = bound_of_scores(detail.parts, detail.candidates, question.delta, rng, 1 - 0.1 * level)
    near = TIGHT_SHARE * claim.epsilon <= bound.epsilon <= claim.epsilon
    bound = replace(bound, claimed=None if near else claim.epsilon, relation=question.relation)
    shares = bound.epsilon / claim.epsilon if claim.epsilon > 0 else 0.0
    near_it = [f"The bound reaches {shares:.0%} of the claimed epsilon."] if shares > 0.5 else []
    return [test, bound], notes, near_it, detail


def with_power(
    deciding: list[Sound], tables: Tables, detail: Detail, question: Question
) -> tuple[list[Sound], list[str]]:
    """Planted violations that the first result, the test of the claim, would have refuted: as evidence, in words."""
    test, curve = deciding[0], question.claim.guarantee
    branch = branch_power(tables, curve, test.confidence, question.seed)
    said, evidence = [branch.statement], {**test.evidence, "planted_branch": branch.evidence}
    if question.power is None:
        said.append("That says nothing of quieter violations, so the claim is not called 'consistent' (see --power).")
        return [replace(test, evidence=evidence), *deciding[1:]], said
    planted, seen = event_power(tables, detail, curve, test.confidence, question.power, question.seed)
    evidence["planted_event"] = seen | {"power_at_least": planted.at_least}
    rare = branch.at_least if branch.runs is not None and branch.runs >= BRANCH else 0.0
    needed = f"a power of {POWER_SHOWN} against each, and a branch of one run in {BRANCH} or rarer"
    said += [planted.statement, f"'consistent' needs {needed}."]
    return [replace(test, evidence=evidence, power=min(rare, planted.at_least)), *deciding[1:]], said
