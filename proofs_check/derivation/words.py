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
        sources = "; ".join(dict.fromkeys(step.step.source for step in chain.cited() if step.step.source))
        return f"Every step follows, but for {status.parts}{f' ({sources})' if sources else ''}."
    if status.kind is Kind.HOLDS_UNDER:
        return f"Holds if also: {'; '.join(status.conditions)}."
    if status.kind is Kind.BROKEN:
        steps = [f"{one.step.id} ({one.step.place})" if one.step.place else one.step.id for one in chain.broken()]
        verb = "Steps {} do" if len(steps) > 1 else "Step {} does"
        rests = "It rests on a statement whose chain breaks."
        text = f"{verb.format(', '.join(steps))} not follow." if steps else rests
        if After.FALSE in status.after and one.statement.false is not None:
            text += f" The statement fails: {one.statement.false.words}"
        if After.REPAIRED in status.after and one.statement.repaired is not None:
            text += f" What follows instead: {one.statement.repaired.words or one.statement.repaired.says}"
        return text
    return f"Not decided here: {', '.join(status.steps)}."


def closing(one: Examined) -> list[str]:
    """What would close each gap or open step: a line each."""
    chain = one.derivation.chain
    lines = [f"{step.step.id}: {step.decision.evidence}" for step in (*chain.broken(), *chain.open())]
    lines += [f"{fact.id} (added): {fact.words}" for fact in chain.facts() if fact.added]
    lines += [f"{key} (restated, from {chain.given[key].source}): {why}" for key, why in chain.restated.items()]
    lines += [f"{key} ({what}): a proof" for key, what in chain.unproved().items() if what == "sampled step"]
    return lines
