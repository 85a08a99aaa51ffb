"""The status of a statement: derived from its chain and from the statements that it uses, and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from .derive import Chain, Derivation
from .model import Given
from .solver import Answer


class Kind(StrEnum):
    """What is known of a statement as printed."""

    PROVED = "proved"
    CITED = "proved up to cited steps"
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
    """A kind with its reasons: step ids, added facts, or statements that it rests on."""

    kind: Kind
    steps: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    cited: int = 0
    after: tuple[After, ...] = ()
    circular: bool = False

    @property
    def label(self) -> str:
        """``broken at 9b: false, repaired``."""
        if self.kind is Kind.CITED:
            return f"proved up to {self.cited} cited step{'s' if self.cited > 1 else ''}"
        if self.kind is Kind.HOLDS_UNDER:
            return f"holds under {', '.join(self.under)}"
        if self.kind is Kind.BROKEN:
            return f"broken at {', '.join(self.steps)}: {', '.join(self.after)}"
        if self.kind is Kind.NOT_EXAMINED:
            return f"not examined: {', '.join(self.steps)}"
        return str(self.kind)

    @property
    def stands(self) -> bool:
        """Proved, or proved but for what is cited."""
        return self.kind in (Kind.PROVED, Kind.CITED)


def statuses(derivations: Sequence[Derivation]) -> dict[str, Status]:
    """The status of every statement (``paper: name``), with those of repaired forms as ``paper: name repaired``."""
    by_key = {one.statement.key: one for one in derivations}
    found: dict[str, Status] = {}

    def of(key: str, stack: tuple[str, ...]) -> Status:
        if key in found:
            return found[key]
        if key in stack:
            circle = " -> ".join(one.partition(": ")[2] for one in (*stack[stack.index(key) :], key))
            return Status(Kind.NOT_EXAMINED, (f"circular: {circle}",), circular=True)
        name = key.removesuffix(" repaired")
        derivation = by_key.get(name)
        chain = None if derivation is None else derivation.repaired if name != key else derivation.chain
        if derivation is None or chain is None:
            return Status(Kind.NOT_EXAMINED, steps=(f"{name}: no such statement here",))
        sources = {reference(derivation.statement.paper, fact): of(reference(derivation.statement.paper, fact),
                                                                   (*stack, key))
                   for fact in chain.facts() if fact.source}  # fmt: skip
        status = _of_chain(chain, sources)
        if status.kind is Kind.BROKEN:
            status = Status(Kind.BROKEN, status.steps, after=_after(derivation))
        found[key] = status
        return status

    for key, derivation in by_key.items():
        of(key, ())
        if derivation.repaired is not None:
            of(f"{key} repaired", ())
    return found


def reference(paper: str, fact: Given) -> str:
    """The statement that a fact is, as a key."""
    return fact.source if ": " in fact.source else f"{paper}: {fact.source}"


def _of_chain(chain: Chain, sources: Mapping[str, Status]) -> Status:
    broken, undecided = chain.broken(), chain.open()
    if broken:
        return Status(Kind.BROKEN, tuple(one.step.id for one in broken))
    circles = [one.steps[0] for one in sources.values() if one.circular]
    if chain.problems or circles:
        return Status(Kind.NOT_EXAMINED, (*circles, *chain.problems), circular=bool(circles))
    if undecided:
        return Status(Kind.NOT_EXAMINED, tuple(one.step.id for one in undecided))
    through = [name for name, status in sources.items() if status.kind is Kind.BROKEN]
    if through:
        return Status(Kind.BROKEN, tuple(f"what it uses ({name.partition(': ')[2]})" for name in through))
    under = [fact.id for fact in chain.facts() if fact.added]
    under += [key.partition(": ")[2] for key, status in sources.items() if not status.stands]
    if under:
        return Status(Kind.HOLDS_UNDER, under=tuple(under))
    cited = len(chain.cited()) + sum(status.cited for status in sources.values())
    return Status(Kind.CITED, cited=cited) if cited else Status(Kind.PROVED)


def _after(derivation: Derivation) -> tuple[After, ...]:
    found = []
    if derivation.false is not None and derivation.false.answer is Answer.GAP:
        found.append(After.FALSE)
    if derivation.repaired is not None and derivation.repaired.complete:
        found.append(After.REPAIRED)
    return tuple(found) or (After.OPEN,)
