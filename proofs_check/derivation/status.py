"""The status of a statement: derived from its chain and from the statements that it uses, and from nothing else."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from .derive import Chain, Derivation
from .model import reference
from .solver import Answer


class Kind(StrEnum):
    """What is known of a statement as printed."""

    PROVED = "proved"
    UP_TO = "proved up to named parts"
    HOLDS_UNDER = "holds under"
    BROKEN = "broken"
    NOT_EXAMINED = "not examined"


class After(StrEnum):
    """What becomes of a broken statement."""

    FALSE = "false"
    REPAIRED = "repaired"
    OPEN = "open"


@dataclass(frozen=True)
class Status:
    """A kind with its reasons: step ids, added facts, or statements that it rests on.

    ``up_to`` are the parts that nobody proved here, as (what, where): a ``cited step`` is taken from elsewhere, a
    ``sampled step`` was tried at many points, a ``restated fact`` is what the file reads in another statement, and no
    instance of what that statement's file says. ``conditions`` are the added facts in words, with those of the
    statements that it rests on. ``gaps`` are the steps that do not follow, here or where the chain leads to: each as
    (the statement's key, step).
    """

    kind: Kind
    steps: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    up_to: frozenset[tuple[str, str]] = frozenset()
    after: tuple[After, ...] = ()
    circular: bool = False
    conditions: tuple[str, ...] = ()
    gaps: tuple[tuple[str, str], ...] = ()

    @property
    def label(self) -> str:
        """``broken at 9b: false, repaired``."""
        if self.kind is Kind.UP_TO:
            return f"proved up to {self.parts}"
        if self.kind is Kind.HOLDS_UNDER:
            return f"holds under {', '.join(self.under)}{f', up to {self.parts}' if self.parts else ''}"
        if self.kind is Kind.BROKEN:
            return f"broken at {', '.join(self.steps)}: {', '.join(self.after)}"
        if self.kind is Kind.NOT_EXAMINED:
            return f"not examined: {', '.join(self.steps)}"
        return str(self.kind)

    @property
    def parts(self) -> str:
        """``2 cited steps and 1 restated fact``."""
        counted = sorted(Counter(what for what, _ in self.up_to).items())
        told = [f"{number} {what}{'s' if number > 1 else ''}" for what, number in counted]
        return " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told)

    @property
    def stands(self) -> bool:
        """Proved, or proved but for named parts."""
        return self.kind in (Kind.PROVED, Kind.UP_TO)


def statuses(derivations: Sequence[Derivation]) -> dict[str, Status]:
    """The status of every statement (``paper: name``), with those of repaired forms as ``paper: name repaired``."""
    by_key = {one.statement.key: one for one in derivations}
    chains = {}
    for key, one in by_key.items():
        chains[key] = one.statement.paper, one.chain
        if one.repaired is not None:
            chains[f"{key} repaired"] = one.statement.paper, one.repaired
    found: dict[str, Status] = {}

    def of(key: str, stack: tuple[str, ...] = ()) -> Status:
        if key in stack:
            circle = " -> ".join(one.partition(": ")[2] for one in (*stack[stack.index(key) :], key))
            return Status(Kind.NOT_EXAMINED, (f"circular: {circle}",), circular=True)
        if key not in chains:
            return Status(Kind.NOT_EXAMINED, (f"{key.removesuffix(' repaired')}: no such statement here",))
        if key not in found:
            paper, chain = chains[key]
            sources = {reference(paper, fact): of(reference(paper, fact), (*stack, key))
                       for fact in chain.facts() if fact.source}  # fmt: skip
            found[key] = _of_chain(key, chain, sources)
        return found[key]

    for key in chains:
        of(key)
    return {key: replace(status, after=_after(by_key.get(key), found.get(f"{key} repaired")))
            if status.kind is Kind.BROKEN else status for key, status in found.items()}  # fmt: skip


def _of_chain(key: str, chain: Chain, sources: Mapping[str, Status]) -> Status:
    own, undecided = [one.step.id for one in chain.broken()], chain.open()
    circles = [one.steps[0] for one in sources.values() if one.circular]
    if not own and (chain.problems or circles):
        return Status(Kind.NOT_EXAMINED, (*circles, *chain.problems), circular=bool(circles))
    if not own and undecided:
        return Status(Kind.NOT_EXAMINED, tuple(one.step.id for one in undecided))
    through = [name for name, status in sources.items() if status.kind is Kind.BROKEN]
    if own or through:
        gaps = dict.fromkeys([*((key, step) for step in own), *(gap for name in through for gap in sources[name].gaps)])
        used = (f"what it uses ({name.partition(': ')[2]})" for name in through)
        return Status(Kind.BROKEN, (*own, *used), gaps=tuple(gaps))
    up_to = {(what, f"{key}: {name}") for name, what in chain.unproved().items()}
    up_to |= {part for status in sources.values() for part in status.up_to}
    added = {fact.id: (fact.words,) for fact in chain.facts() if fact.added}
    rests = {name.partition(": ")[2]: status for name, status in sources.items() if not status.stands}
    rested = {name: status.conditions or (f"{name} stands",) for name, status in rests.items()}
    kind = Kind.HOLDS_UNDER if added or rested else Kind.UP_TO if up_to else Kind.PROVED
    conditions = dict.fromkeys(words for told in (*added.values(), *rested.values()) for words in told)
    return Status(kind, under=(*added, *rested), up_to=frozenset(up_to), conditions=tuple(conditions))


def _after(derivation: Derivation | None, repaired: Status | None) -> tuple[After, ...]:
    """What is known beside the broken chain; a repaired form that rests on a broken statement repairs nothing."""
    shown = derivation is not None and derivation.false is not None and derivation.false.answer is Answer.GAP
    mended = repaired is not None and (repaired.stands or repaired.kind is Kind.HOLDS_UNDER)
    return (*[After.FALSE] * shown, *[After.REPAIRED] * mended) or (After.OPEN,)
