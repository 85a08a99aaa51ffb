"""A statement's derivation, step by step: what follows, what does not, and what was added."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dpassay.proofs_check.claim import Finding
from dpassay.proofs_check.formula import FormulaError, tree

from .inferences import Instance, instance
from .instances import difference
from .language import Language, names_of, put_in
from .model import Given, Part, Remark, Statement, Step, parts_of, reference
from .other_checks import decide_by_check, decide_rate, finding_of
from .solver import Answer, Decision, follows, possible


@dataclass(frozen=True)
class Known:
    """A fact or step that later steps may use: what it says, when it may fail, and for which data it holds."""

    says: str
    failures: Mapping[str, str] = field(default_factory=dict)  # event -> its probability
    every: bool = True


@dataclass(frozen=True)
class Checked:
    """A step with the decision on it; ``without`` is the decision when the added facts are left out."""

    step: Step
    decision: Decision
    without: Decision | None = None


@dataclass(frozen=True)
class Chain:
    """All steps of a derivation, and those that the conclusion reaches."""

    steps: tuple[Checked, ...]
    given: Mapping[str, Given]
    reached: frozenset[str]
    restated: Mapping[str, str] = field(default_factory=dict)  # facts from elsewhere that are no instance: why not
    problems: tuple[str, ...] = ()

    def broken(self) -> list[Checked]:
        """Steps that do not follow, on which the conclusion rests."""
        return [one for one in self.steps
                if one.step.id in self.reached and one.decision.answer in (Answer.GAP, Answer.VACUOUS)]  # fmt: skip

    def open(self) -> list[Checked]:
        """Steps that nobody decided, on which the conclusion rests."""
        return [one for one in self.steps
                if one.step.id in self.reached and one.decision.answer in (Answer.OPEN, Answer.UNDECIDED)]  # fmt: skip

    def cited(self) -> list[Checked]:
        """Steps taken from elsewhere, on which the conclusion rests."""
        return [one for one in self.steps if one.step.id in self.reached and one.decision.answer is Answer.CITED]

    def unproved(self) -> dict[str, str]:
        """Steps and facts on which the conclusion rests and that nothing here proves: each with what it is."""
        words = {Answer.CITED: "cited step", Answer.SAMPLED: "sampled step"}
        found = {one.step.id: words[one.decision.answer] for one in self.steps
                 if one.step.id in self.reached and one.decision.answer in words}  # fmt: skip
        return found | dict.fromkeys(self.restated, "restated fact")

    def facts(self) -> list[Given]:
        """Facts on which the conclusion rests."""
        return [fact for key, fact in self.given.items() if key in self.reached]


@dataclass(frozen=True)
class Looked:
    """A slip, an edge or a note with what its check found, and whether that is what the file needs it to be."""

    remark: Remark
    finding: Finding | None
    as_said: bool


@dataclass(frozen=True)
class Derivation:
    """A statement with everything that was decided about it, apart from the other statements."""

    statement: Statement
    chain: Chain
    repaired: Chain | None = None
    false: Decision | None = None  # GAP: the statement was shown to fail
    slips: tuple[Looked, ...] = ()
    edges: tuple[Looked, ...] = ()
    notes: tuple[Looked, ...] = ()

    @property
    def problems(self) -> list[str]:
        """What is wrong with the file itself: none of it says anything about the paper."""
        mended = self.repaired.problems if self.repaired is not None else ()
        found = [*self.chain.problems, *(f"repaired: {one}" for one in mended)]
        for kind, looked in (("slip", self.slips), ("edge", self.edges), ("note", self.notes)):
            found += [f"{kind} at {one.remark.place}: its check says otherwise "
                      f"({one.finding.verdict if one.finding else ''}: {one.finding.evidence if one.finding else ''})"
                      for one in looked if not one.as_said]  # fmt: skip
        if self.statement.false is not None and (self.false is None or self.false.answer is not Answer.GAP):
            found.append(f"false: not shown ({self.false.evidence if self.false else 'nothing to decide'})")
        return found


def derive(statement: Statement, sources: Mapping[str, Statement] | None = None) -> Derivation:
    """Decide every step of a statement's file; ``sources`` are the statements that its facts come from, by key."""
    language, sources = Language(statement.symbols), sources or {}
    printed, *mended = (_chain(language, statement, part, sources) for part in parts_of(statement))
    return Derivation(
        statement, printed, mended[0] if mended else None, _false(statement),
        tuple(_looked(one, passes=False) for one in statement.slip),
        tuple(_looked(one, passes=False) for one in statement.edge),
        tuple(_looked(one, passes=True) for one in statement.note),
    )  # fmt: skip


def _looked(remark: Remark, *, passes: bool) -> Looked:
    if not remark.check:
        return Looked(remark, None, True)
    finding = finding_of(remark.check)
    return Looked(remark, finding, finding.passes if passes else not finding.passes and finding.verdict != "unknown")


def _chain(language: Language, statement: Statement, part: Part, sources: Mapping[str, Statement]) -> Chain:
    given, steps, reached = part.given, part.steps, part.reached
    problems: list[str] = []
    known: dict[str, Known] = {}
    for fact in given:
        try:
            language.formula(fact.says)
        except FormulaError as error:
            problems.append(f"given {fact.id}: {error}")
            continue
        known[fact.id] = Known(fact.says, {fact.id: fact.failure} if fact.failure else {}, fact.holds == "every")
    added = {fact.id for fact in given if fact.added}
    checked = []
    for step in steps:
        try:
            decision, now = _step(language, step, known)
            without = None
            if added & set(step.uses) and decision.holds:
                alone = tuple(name for name in step.uses if name not in added)
                without, _ = _step(language, replace(step, uses=alone), known)
        except FormulaError as error:
            problems.append(f"step {step.id}: {error}")
            decision, now, without = Decision(Answer.UNDECIDED, str(error)), Known("0 == 0"), None
        known[step.id] = now
        checked.append(Checked(step, decision, without))
    needed = {name for one in checked if one.without is not None and not one.without.holds for name in one.step.uses}
    restated = {}
    for fact in given:
        if fact.id in reached and fact.source:
            why, needs = _restated(language, statement, fact, part, sources)
            needed |= needs
            if why:
                restated[fact.id] = why
    problems += [f"given {name}: added, but no step needs it" for name in sorted((added & reached) - needed)]
    problems += _conclusion(language, statement, known[steps[-1].id], part)
    return Chain(tuple(checked), {one.id: one for one in given}, reached, restated, tuple(problems))


def _restated(
    language: Language, statement: Statement, fact: Given, part: Part, sources: Mapping[str, Statement]
) -> tuple[str, set[str]]:
    """What keeps a fact from being what its source says, and the added facts without which it would not be.

    What the source is given must be given here: by the paper, or by a fact on which the conclusion rests, so that it
    counts; of facts from elsewhere, one that stands above, so that no two of them stand on each other.
    """
    cited = sources.get(reference(statement.paper, fact).removesuffix(" repaired"))
    if cited is None:
        return "there is no such statement here", set()
    theirs = parts_of(cited)[-1 if fact.source.endswith(" repaired") else 0]
    above = part.given[: part.given.index(fact)]
    sure = [one for one in part.given if one != fact and not one.failure and one.holds in ("every", fact.holds)]
    hand = [one for one in sure if not (one.added or one.source)
            or (one.id in part.reached and (one.added or one in above))]  # fmt: skip

    def without(dropped: Given | None) -> str:
        return difference(language, fact, cited, theirs, [one.says for one in hand if one != dropped], sources)

    why = without(None)
    return why, set() if why else {one.id for one in hand if one.added and without(one)}


def _conclusion(language: Language, statement: Statement, last: Known, part: Part) -> list[str]:
    given, step, says, failure = part.given, part.steps[-1], part.says, part.failure
    try:
        if not follows(language, says, [last.says]).holds:
            return [f"the last step, {step.id}, is not the statement: {says}"]
        found = []
        hand = [fact.says for fact in given if not fact.added or fact.id in part.reached]
        if _more_than(language, last.failures, failure, hand) is not None:
            found.append(f"the last step holds with another probability than the statement: {failure or '1'}")
        if statement.holds == "every" and not last.every:
            found.append("the last step holds for the data set at hand, the statement is about every one")
        facts = [fact for fact in given if not fact.source and not fact.failure]
        found += [f"given {fact.id}: is the conclusion itself" for fact in facts
                  if step.by[:1] not in (("cited",), ("open",)) and _same(language, says, fact.says)]  # fmt: skip
        return found
    except FormulaError as error:
        return [f"says: {error}"]


def _same(language: Language, one: str, two: str) -> bool:
    try:
        alike = names_of(one) == names_of(two)
        return alike and follows(language, one, [two]).holds and follows(language, two, [one]).holds
    except FormulaError:
        return False


def _step(language: Language, step: Step, known: Mapping[str, Known]) -> tuple[Decision, Known]:
    unknown = [name for name in step.uses if name not in known]
    if unknown:
        raise FormulaError(f"uses {', '.join(unknown)}, which is neither given nor an earlier step")
    used = [known[name] for name in step.uses]
    failures = {event: chance for one in used for event, chance in one.failures.items()}
    declared = {step.id: step.failure} if step.failure else {}
    every = all(one.every for one in used)
    language.formula(step.says)
    first = step.by[0] if step.by else ""
    if first in ("cited", "open"):
        kind = Answer.CITED if first == "cited" else Answer.OPEN
        return Decision(kind, step.source or step.words), Known(step.says, declared, every)
    decision, failures = _decided(language, step, used, failures)
    if decision.holds:
        lost = _more_than(language, failures, step.failure, [one.says for one in used])
        if lost is not None:
            return lost, Known(step.says, declared, every)
        return decision, Known(step.says, failures if failures else declared, every)
    return decision, Known(step.says, declared, every)


def _decided(
    language: Language, step: Step, used: Sequence[Known], failures: dict[str, str]
) -> tuple[Decision, dict[str, str]]:
    facts = [one.says for one in used]
    sure = [one.says for one in used if not one.failures]
    missing = _not_finite(language, [step.says, *facts], facts)
    if missing:
        return Decision(Answer.GAP, f"{missing} may be infinite or undefined, and is used as a number"), failures
    if step.by[:1] == ("check",):
        return decide_by_check(language, step.says, step.check, facts), failures
    if step.by[:1] == ("rates",):
        counts = [f"{name} >= 1" for name in sorted(language.symbols.count)]
        return decide_rate(step.says, step.scale, step.tilde, [*facts, *counts]), failures
    if step.by and step.by[0].startswith("induction("):
        return _induction(language, step, facts), failures
    for text in step.by:
        one = instance(text)
        refused, failures = _side_conditions(language, one, facts, sure, failures)
        if refused is not None:
            return refused, failures
        facts.append(one.adds)
        if not one.allowed and not one.failure:
            sure.append(one.adds)
        if one.failure:
            failures = {**failures, f"{step.id}: {text}": one.failure}
    return follows(language, step.says, facts), failures


def _side_conditions(
    language: Language, one: Instance, facts: Sequence[str], sure: Sequence[str], failures: dict[str, str]
) -> tuple[Decision | None, dict[str, str]]:
    for need in one.needs:
        decision = follows(language, need, facts if one.allowed else sure, aside=True)
        if not decision.holds:
            surely = "" if one.allowed or follows(language, need, facts).answer is not Answer.FOLLOWS else " surely"
            evidence = f"{one.name} needs {need}{surely}: not in hand"
            return Decision(decision.answer, evidence, decision.numbers), failures
    if one.allowed:
        lost = _more_than(language, failures, one.allowed, facts)
        return lost, {} if lost is None else failures
    return None, failures


def _more_than(language: Language, failures: Mapping[str, str], allowed: str, facts: Sequence[str]) -> Decision | None:
    """None if the events together are at most as probable as allowed, by the union bound."""
    if not failures:
        return None
    total = " + ".join(f"({chance})" for chance in failures.values())
    decision = follows(language, f"{total} <= {allowed or '0'}", facts)
    if decision.holds:
        return None
    return Decision(Answer.GAP, f"may fail with probability {total}, and {allowed or 'nothing'} is allowed for",
                    decision.numbers)  # fmt: skip


def _not_finite(language: Language, formulas: Sequence[str], facts: Sequence[str]) -> str:
    names = {node.id for text in formulas for node in ast.walk(tree(text)) if isinstance(node, ast.Name)
             if not text.startswith("finite(")}  # fmt: skip
    stated = {fact for fact in facts if fact.startswith("finite(")}
    return next((name for name in sorted(names & language.symbols.extended) if f"finite({name})" not in stated), "")


def _induction(language: Language, step: Step, facts: Sequence[str]) -> Decision:
    """``induction(k, 0)``: the step at 0, and from k to k + 1; facts are read as true for every k."""
    call = tree(step.by[0])
    if not isinstance(call, ast.Call) or len(call.args) != 2:
        raise FormulaError(f"by = {step.by[0]!r}: write induction(k, first)")
    name, first = ast.unparse(call.args[0]), ast.unparse(call.args[1])
    base = follows(language, put_in(step.says, {name: first}), [put_in(one, {name: first}) for one in facts])
    if not base.holds:
        return Decision(base.answer, f"at {name} = {first}: {base.evidence}", base.numbers)
    after = [put_in(one, {name: f"({name} + 1)"}) for one in facts]
    goal = put_in(step.says, {name: f"({name} + 1)"})
    rise = follows(language, goal, [*facts, *after, step.says, f"{name} >= {first}"])
    return rise if rise.holds else Decision(rise.answer, f"from {name} to {name} + 1: {rise.evidence}", rise.numbers)


def _false(statement: Statement) -> Decision | None:
    """GAP where the file's point or check shows that the printed statement fails."""
    evidence = statement.false
    if evidence is None:
        return None
    if evidence.check:
        finding = finding_of(evidence.check)
        refuted = not finding.passes and finding.verdict != "unknown"
        return Decision(Answer.GAP if refuted else Answer.UNDECIDED, finding.evidence, dict(finding.counterexample))
    language = Language(statement.symbols)
    facts = [fact.says for fact in statement.given if not fact.added]
    try:
        shown = possible(language, facts, evidence.point, statement.says)
    except FormulaError as error:
        return Decision(Answer.UNDECIDED, str(error))
    if shown:
        return Decision(Answer.GAP, "everything that is given holds there, and the statement does not", evidence.point)
    return Decision(Answer.UNDECIDED, "the point does not satisfy what is given, or the statement holds there")
