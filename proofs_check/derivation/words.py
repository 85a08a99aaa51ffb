"""A status in one sentence, and what would close a gap: what follows and what does not, in plain English."""

from __future__ import annotations

from .ledger import Examined
from .status import After, Kind


def sentence(one: Examined) -> str:
    """The status of a statement in one sentence or two."""
    chain, status = one.derivation.chain, one.status
    if status.kind is Kind.PROVED:
        return "Every step follows from what the paper gives."
    if status.kind is Kind.UP_TO:
        here = [step.step.source for step in chain.cited() if step.step.source]
        places = (where.rpartition(": ")[0] for _, where in sorted(status.up_to))
        there = [f"in {key.partition(': ')[2]}" for key in places if key.removesuffix(" repaired") != one.statement.key]
        sources = "; ".join(dict.fromkeys(here + there))
        return f"Every step follows, but for {status.parts}{f' ({sources})' if sources else ''}."
    if status.kind is Kind.HOLDS_UNDER:
        return f"Holds if also: {'; '.join(status.conditions)}."
    if status.kind is Kind.BROKEN:
        steps = [f"{one.step.id} ({one.step.place})" if one.step.place else one.step.id for one in chain.broken()]
        verb = "Steps {} do" if len(steps) > 1 else "Step {} does"
        used = " and ".join(name.removeprefix("what it uses (").removesuffix(")") for name in status.steps)
        rests = f"It rests on {used}, whose chain{'s break' if len(status.steps) > 1 else ' breaks'}."
        text = f"{verb.format(', '.join(steps))} not follow." if steps else rests
        if After.FALSE in status.after and one.statement.false is not None:
            text += f" The statement fails: {_ended(one.statement.false.words)}"
        if After.REPAIRED in status.after and one.statement.repaired is not None:
            text += f" What follows instead: {_ended(one.statement.repaired.words or one.statement.repaired.says)}"
        return text
    return f"Not decided here: {', '.join(status.steps)}."


def _ended(text: str) -> str:
    return text if text.endswith((".", ".)")) else f"{text}."


def closing(one: Examined) -> list[str]:
    """What would close each gap or open step: a line each."""
    chain = one.derivation.chain
    lines = [f"{step.step.id}: {step.decision.evidence}" for step in (*chain.broken(), *chain.open())]
    lines += [f"{fact.id} (added): {fact.words}" for fact in chain.facts() if fact.added]
    lines += [f"{key} (restated, from {chain.given[key].source}): {why}" for key, why in chain.restated.items()]
    lines += [f"{key} ({what}): a proof" for key, what in chain.unproved().items() if what == "sampled step"]
    return lines
