"""A statement's derivation, step by step: what follows, what does not, and what was added."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from dpassay.proofs_check.checkers import check
from dpassay.proofs_check.finding import Finding
from dpassay.proofs_check.formula import FormulaError, tree

from .inferences import decide_by_check, decide_rate, decision_of, instance
from .instances import difference
from .language import SCALAR_FUNCTIONS, Language, names_of, over, pieces, put_in
from .model import REMARKS, Given, Part, Remark, Statement, Step, reference
from .solver import Answer, Decision, follows, impossible, possible


@dataclass(frozen=True)
class Known:
    """A fact or step that later steps may use: what it says, when it may fail, and for which data it holds."""

    says: str
    failures: Mapping[str, str] = field(default_factory=dict)  # event -> its probability
    every: bool = True


@dataclass(frozen=True)
class Checked:
    """A step with the decision on it; ``without`` is the decision when an added fact is left out that it needs."""

    step: Step
    decision: Decision
    without: Decision | None = None


@dataclass(frozen=True)
class Chain:
    """All steps of a derivation, decided."""

    part: Part
    steps: tuple[Checked, ...]
    restated: Mapping[str, str] = field(default_factory=dict)  # facts from elsewhere that are no instance: why not
    problems: tuple[str, ...] = ()

    def answered(self, *answers: Answer) -> list[Checked]:
        """Steps with one of these answers, on which the conclusion rests."""
        return [one for one in self.steps if one.step.id in self.part.reached and one.decision.answer in answers]

    def broken(self) -> list[Checked]:
        """Steps that do not follow, on which the conclusion rests."""
        return self.answered(Answer.GAP, Answer.VACUOUS)

    def open(self) -> list[Checked]:
        """Steps that nobody decided, on which the conclusion rests."""
        return self.answered(Answer.OPEN, Answer.UNDECIDED)

    def unproved(self) -> dict[str, str]:
        """Steps and facts on which the conclusion rests and that nothing here proves: each with what it is."""
        found = {one.step.id: f"{one.decision.answer} step" for one in self.answered(Answer.CITED, Answer.SAMPLED)}
        return found | dict.fromkeys(self.restated, "restated fact")

    def facts(self) -> list[Given]:
        """Facts on which the conclusion rests."""
        return [fact for fact in self.part.given if fact.id in self.part.reached]


@dataclass(frozen=True)
class Looked:
    """A slip, an edge or a note with what its check found."""

    remark: Remark
    finding: Finding | None


@dataclass(frozen=True)
class Derivation:
    """A statement with everything that was decided about it, apart from the other statements."""

    statement: Statement
    chain: Chain
    repaired: Chain | None = None
    false: Decision | None = None  # GAP: the statement was shown to fail
    remarks: Mapping[str, tuple[Looked, ...]] = field(default_factory=dict)  # by kind

    @property
    def undecided(self) -> list[str]:
        """Steps that the solver left undecided, beyond those that the file says are not examined."""
        steps = [*self.chain.steps, *(self.repaired.steps if self.repaired is not None else ())]
        return [one.step.id for one in steps if one.decision.answer is Answer.UNDECIDED]

    @property
    def problems(self) -> list[str]:
        """What is wrong with the file itself: none of it says anything about the paper."""
        mended = self.repaired.problems if self.repaired is not None else ()
        found = [*self.chain.problems, *(f"repaired: {one}" for one in mended)]
        for kind, looked in self.remarks.items():
            for one in looked:
                seen = one.finding
                if seen is not None and not (seen.passes if kind == "note" else seen.fails):
                    told = f"({seen.verdict}: {seen.evidence})"
                    found.append(f"{kind} at {one.remark.place}: its check says otherwise {told}")
        if self.false is not None and self.false.answer is not Answer.GAP:
            found.append(f"false: not shown ({self.false.evidence})")
        return found


def derive(statement: Statement, sources: Mapping[str, Statement] | None = None) -> Derivation:
    """Decide every step of a statement's file; ``sources`` are the statements that its facts come from, by key."""
    language, sources = Language(statement.symbols), sources or {}
    printed, *mended = (_chain(language, statement, part, sources) for part in statement.parts)
    remarks = {kind: tuple(Looked(one, check(one.check) if one.check else None) for one in getattr(statement, kind))
               for kind in REMARKS}  # fmt: skip
    repaired = _closed(mended[0], printed) if mended else None
    return Derivation(statement, printed, repaired, _false(statement, sources), remarks)


def _closed(repaired: Chain, printed: Chain) -> Chain:
    """Without the words of steps that follow in it, and not in the printed chain: they say why not there."""
    gaps = [one.step for one in printed.steps if not one.decision.holds]
    steps = (replace(one, step=replace(one.step, words="")) if one.step in gaps and one.decision.holds else one
             for one in repaired.steps)  # fmt: skip
    return replace(repaired, steps=tuple(steps))


def _chain(language: Language, statement: Statement, part: Part, sources: Mapping[str, Statement]) -> Chain:
    problems: list[str] = []
    known: dict[str, Known] = {}
    for fact in part.given:
        try:
            language.formula(fact.says)
            known[fact.id] = Known(fact.says, {fact.id: fact.failure} if fact.failure else {}, fact.holds == "every")
        except FormulaError as error:
            problems.append(f"given {fact.id}: {error}")
    added, needed = {fact.id for fact in part.given if fact.added}, set()
    checked = []
    for step in part.steps:
        try:
            decision, now = _step(language, step, known)
            without = None
            for name in [one for one in step.uses if one in added and decision.holds]:
                alone, _ = _step(language, replace(step, uses=tuple(one for one in step.uses if one != name)), known)
                needed |= set() if alone.holds else {name}
                without = without if alone.holds else alone
        except FormulaError as error:
            problems.append(f"step {step.id}: {error}")
            decision, now, without = Decision(Answer.UNDECIDED, str(error)), Known("0 == 0"), None
        known[step.id] = now
        checked.append(Checked(step, decision, without))
    apart = partial(_restated, language, statement, part, sources)
    cited = [fact for fact in part.given if fact.id in part.reached and fact.source]
    restated = {fact.id: why for fact in cited if (why := apart(fact, ""))}
    needed |= {name for name in (added & part.reached) - needed
               if any(apart(fact, name) for fact in cited if fact.id not in restated)}  # fmt: skip
    problems += [f"given {name}: added, but no step needs it" for name in sorted((added & part.reached) - needed)]
    problems += _conclusion(language, statement, known, part)
    return Chain(part, tuple(checked), restated, tuple(problems))


def _restated(
    language: Language, statement: Statement, part: Part, sources: Mapping[str, Statement], fact: Given, without: str
) -> str:
    """What keeps a fact from being what its source says, ``without`` one of the other facts.

    What the source is given must be given here: by the paper, or by a fact on which the conclusion rests, so that it
    counts; of facts from elsewhere, one that stands above, so that no two of them stand on each other.
    """
    above = part.given[: part.given.index(fact)]
    others = [one for one in part.given if one != fact and one.id != without]
    sure = [one for one in others if not one.failure and one.holds in ("every", fact.holds)]
    hand = [one.says for one in sure if not (one.added or one.source)
            or (one.id in part.reached and (one.added or one in above))]  # fmt: skip
    return difference(language, fact, statement, hand, sources)


def _conclusion(language: Language, statement: Statement, known: Mapping[str, Known], part: Part) -> list[str]:
    """What keeps the last step from being the statement; a fact that is the statement itself."""
    step, says, given = part.steps[-1], part.says, [fact for fact in part.given if fact.id in known]
    last, found = known[step.id], []
    try:
        if not follows(language, says, [last.says]).holds:
            return [f"the last step, {step.id}, is not the statement: {says}"]
        hand = [fact.says for fact in given if not fact.added or fact.id in part.reached]
        if _more_than(language, last.failures, part.failure, hand) is not None:
            found.append(f"the last step holds with another probability than the statement: {part.failure or '1'}")
    except FormulaError as error:
        return [f"says: {error}"]
    if statement.holds == "every" and not last.every:
        found.append("the last step holds for the data set at hand, the statement is about every one")
    if step.by[:1] in (("cited",), ("open",)):
        return found
    alike = [fact for fact in given
             if not fact.source and not fact.failure and names_of(says) == names_of(fact.says)]  # fmt: skip
    return found + [
        f"given {fact.id}: is the conclusion itself"
        for fact in alike
        if all(follows(language, *one, aside=True).holds for one in ((says, [fact.says]), (fact.says, [says])))
    ]


def _step(language: Language, step: Step, known: Mapping[str, Known]) -> tuple[Decision, Known]:
    unknown = [name for name in step.uses if name not in known]
    if unknown:
        raise FormulaError(f"uses {', '.join(unknown)}, which is neither given nor an earlier step")
    language.formula(step.says)
    if step.by and step.by[0].startswith("induction("):
        _require_every(language, step, known)
    used = [known[name] for name in step.uses]
    now = Known(step.says, {step.id: step.failure} if step.failure else {}, all(one.every for one in used))
    if step.by[:1] in (("cited",), ("open",)):
        kept = {event: chance for one in used for event, chance in one.failures.items()}
        return Decision(Answer(step.by[0]), step.source or step.words), replace(now, failures=now.failures or kept)
    decision, failures = _decided(language, step, used)
    lost = _more_than(language, failures, step.failure, [one.says for one in used]) if decision.holds else None
    if lost is not None:
        return lost, now
    return decision, replace(now, failures=failures) if decision.holds and failures else now


def _decided(language: Language, step: Step, used: Sequence[Known]) -> tuple[Decision, dict[str, str]]:
    """The decision, and what of the step may fail with which probability."""
    facts = [one.says for one in used]
    sure = [one.says for one in used if not one.failures]
    failures = {event: chance for one in used for event, chance in one.failures.items()}
    in_hand = {piece for text in facts for piece in pieces(text)}
    finite = {f"finite({name})" for name in language.symbols.extended}
    for name in sorted(names_of(*(in_hand.union(pieces(step.says)) - finite)) & language.symbols.extended):
        if f"finite({name})" not in in_hand:
            return Decision(Answer.GAP, f"{name} may be infinite or undefined, and is used as a number"), failures
    if step.by[:1] == ("check",):
        return decide_by_check(language, step.says, step.check, facts), failures
    if step.by[:1] == ("rates",):
        counts = [f"{name} >= 1" for name in sorted(language.symbols.count)]
        return decide_rate(language, step.says, step.scale, step.tilde, [*facts, *counts]), failures
    if step.by and step.by[0].startswith("induction("):
        return _induction(language, step, facts), failures
    for text in step.by:
        one = instance(text)
        for need in one.needs:
            decision = follows(language, need, facts if one.allowed else sure, aside=True)
            if not decision.holds:
                surely = not one.allowed and follows(language, need, facts).answer is Answer.FOLLOWS
                name = text.partition("(")[0]
                return decision.because(f"{name} needs {need}{' surely' if surely else ''}: not in hand"), failures
        if one.allowed:
            lost = _more_than(language, failures, one.allowed, facts)
            if lost is not None:
                return lost, failures
            failures, facts = {}, list(sure)  # what may fail has served
        facts.append(one.adds)
        if one.failure:
            failures = {**failures, f"{step.id}: {text}": one.failure}
        else:
            sure.append(one.adds)
    decision = follows(language, step.says, facts)
    for divisor in language.cancelled(step.says) if decision.holds else ():
        if not follows(language, f"{divisor} != 0", facts, aside=True).holds:
            return Decision(Answer.GAP, f"it divides by {divisor}, which may be 0"), failures
    return decision, failures


def _more_than(language: Language, failures: Mapping[str, str], allowed: str, facts: Sequence[str]) -> Decision | None:
    """None if the events together are at most as probable as allowed, by the union bound."""
    if not failures:
        return None
    for chance in (*failures.values(), allowed or "0"):
        if language.random & {one.name for one in language.scalar(tree(chance)).free_symbols}:
            raise FormulaError(f"the probability {chance} differs from run to run")
    total = " + ".join(f"({chance})" if language.scalar(tree(chance)).is_nonnegative else f"max({chance}, 0)"
                       for chance in failures.values())  # fmt: skip
    decision = follows(language, f"{total} <= {allowed or '0'}", facts, aside=True)
    words = f"may fail with probability {total}, and {allowed or 'nothing'} is allowed for"
    return None if decision.holds else Decision(Answer.GAP, words, decision.numbers)


def _induction(language: Language, step: Step, facts: Sequence[str]) -> Decision:
    """``induction(k, 0)``: the step at 0, and from k to k + 1; facts are read as true for every k."""
    name, first = over(step.by[0])
    base = follows(language, put_in(step.says, {name: first}), [put_in(one, {name: first}) for one in facts])
    if not base.holds:
        return base.because(f"at {name} = {first}: {base.evidence}")
    goal, *after = (put_in(one, {name: f"{name} + 1"}) for one in (step.says, *facts))
    rise = follows(language, goal, [*facts, *after, step.says, f"{name} >= {first}"])
    return rise if rise.holds else rise.because(f"from {name} to {name} + 1: {rise.evidence}")


def _require_every(language: Language, step: Step, known: Mapping[str, Known]) -> None:
    """What an induction uses must hold for every number together; what else is in hand, for a whole one."""
    (name, first), which, plain = over(step.by[0]), list[str](), {*SCALAR_FUNCTIONS, "implies"}
    for key, one in known.items():
        about = [piece for piece in pieces(one.says) if name in names_of(piece)]
        alone = [piece for piece in about if not any(
            name in names_of(*map(ast.unparse, node.args)) for node in ast.walk(tree(piece))
            if isinstance(node, ast.Call) and ast.unparse(node.func) not in plain)]  # fmt: skip
        if key in step.uses and (alone or (about and one.failures)):
            why = "says which it is" if alone else "may fail each time"
            raise FormulaError(f"the induction is for every {name}, and {key} {why}")
        which += alone
    if which and impossible(language, [*which, f"{name} >= {first}"], name):
        raise FormulaError(f"the induction is for whole {name} from {first} on, and none has {' and '.join(which)}")


def _false(statement: Statement, sources: Mapping[str, Statement]) -> Decision | None:
    """GAP where the file's point or check shows that the printed statement fails, or where a false one follows."""
    evidence = statement.false
    if evidence is None:
        cited = [sources.get(reference(statement.paper, fact)) for fact in statement.given if fact.source]
        tried = (_false_with(statement, other, sources) for other in cited if other is not None)
        return next((shown for shown in tried if shown is not None), None)
    if evidence.check:
        return decision_of(check(evidence.check))
    facts = [fact.says for fact in statement.given if not fact.added]
    try:
        shown = possible(Language(statement.symbols), facts, evidence.point, statement.says)
    except FormulaError as error:
        return Decision(Answer.UNDECIDED, str(error))
    if shown:
        return Decision(Answer.GAP, "everything that is given holds there, and the statement does not", evidence.point)
    return Decision(Answer.UNDECIDED, "the point does not satisfy what is given, or the statement holds there")


def _false_with(statement: Statement, other: Statement, sources: Mapping[str, Statement]) -> Decision | None:
    """GAP where the other statement fails, and would follow: it is given all that this one is, and says no more."""
    language, hand = Language(other.symbols), [fact.says for fact in other.given if not fact.added]
    claim = Given("claim", other.says, source=statement.key, failure=other.failure, holds=other.holds)
    own = [fact.says for fact in statement.given if not fact.source]
    try:
        given = all(follows(language, says, hand).holds for says in own)
    except FormulaError:  # of something that the other one does not know
        return None
    if not given or difference(language, claim, other, hand, {statement.key: statement}):
        return None
    shown = _false(other, {key: one for key, one in sources.items() if one != statement})
    if shown is None or shown.answer is not Answer.GAP:
        return None
    words = shown.evidence if other.false is None else f"{other.name} is part of it, and fails: {other.false.words}"
    return shown.because(words)
