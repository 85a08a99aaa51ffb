"""A status in one sentence, what would close a gap, and all that was decided about a statement as plain data."""

from __future__ import annotations

from typing import Any

from .derive import Chain, Looked
from .ledger import Examined
from .solver import Answer
from .status import After, Kind


def sentence(one: Examined) -> str:
    """The status of a statement in one sentence or two."""
    chain, status = one.derivation.chain, one.status
    if status.kind is Kind.PROVED:
        return "Every step follows from what the paper gives."
    if status.kind is Kind.UP_TO:
        here = [step.step.source for step in chain.answered(Answer.CITED) if step.step.source]
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
    given = {fact.id: fact for fact in chain.part.given}
    lines = [f"{step.step.id}: {step.decision.evidence}" for step in (*chain.broken(), *chain.open())]
    lines += [f"{fact.id} (added): {fact.words}" for fact in chain.facts() if fact.added]
    lines += [f"{key} (restated, from {given[key].source}): {why}" for key, why in chain.restated.items()]
    lines += [f"{key} ({what}): a proof" for key, what in chain.unproved().items() if what == "sampled step"]
    return lines


def record(one: Examined) -> dict[str, Any]:
    """Everything that was decided about a statement, of strings, numbers and lists."""
    statement, derivation = one.statement, one.derivation
    remarks = {f"{kind}s": _looked(looked) for kind, looked in derivation.remarks.items()}
    found = {
        "paper": statement.paper, "name": statement.name, "place": statement.place, "title": statement.title,
        "sides": list(statement.sides), "algorithms": list(statement.algorithms), "says": statement.says,
        "words": statement.words, "status": str(one.status.kind), "label": one.status.label,
        "sentence": sentence(one), "open": closing(one), "rests_on": list(one.rests_on), "used_by": list(one.used_by),
        **_chain(derivation.chain), **remarks,
    }  # fmt: skip
    if derivation.repaired is not None and statement.repaired is not None:
        label = one.repaired.label if one.repaired is not None else ""
        found["repaired"] = {"says": statement.repaired.says, "status": label, **_chain(derivation.repaired)}
    return found


def _chain(chain: Chain) -> dict[str, Any]:
    given = [{"id": fact.id, "says": fact.says, "place": fact.place, "from": fact.source, "added": fact.added,
              "restated": chain.restated.get(fact.id, ""), "words": fact.words}
             for fact in chain.part.given]  # fmt: skip
    steps = [{"id": one.step.id, "says": one.step.says, "place": one.step.place, "uses": list(one.step.uses),
              "by": list(one.step.by), "answer": str(one.decision.answer), "evidence": one.decision.evidence,
              "numbers": dict(one.decision.numbers)} for one in chain.steps]  # fmt: skip
    return {"given": given, "steps": steps}


def _looked(found: tuple[Looked, ...]) -> list[dict[str, str]]:
    return [
        {"place": one.remark.place, "printed": one.remark.printed, "meant": one.remark.meant,
         "words": one.remark.words, "evidence": one.finding.evidence if one.finding else ""}
        for one in found
    ]  # fmt: skip
