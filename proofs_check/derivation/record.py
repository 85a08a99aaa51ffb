"""An examined statement as plain data, for reports and other programs."""

from __future__ import annotations

from typing import Any

from .derive import Chain, Looked
from .ledger import Examined
from .words import closing, sentence


def record(one: Examined) -> dict[str, Any]:
    """Everything that was decided about a statement, of strings, numbers and lists."""
    statement, derivation = one.statement, one.derivation
    found = {
        "paper": statement.paper, "name": statement.name, "place": statement.place, "title": statement.title,
        "sides": list(statement.sides), "algorithms": list(statement.algorithms), "says": statement.says,
        "words": statement.words, "status": str(one.status.kind), "label": one.status.label,
        "sentence": sentence(one), "open": closing(one), "rests_on": list(one.rests_on), "used_by": list(one.used_by),
        **_chain(derivation.chain),
        "slips": _looked(derivation.slips), "edges": _looked(derivation.edges), "notes": _looked(derivation.notes),
    }  # fmt: skip
    if derivation.repaired is not None and statement.repaired is not None:
        label = one.repaired.label if one.repaired is not None else ""
        found["repaired"] = {"says": statement.repaired.says, "status": label, **_chain(derivation.repaired)}
    return found


def _chain(chain: Chain) -> dict[str, Any]:
    given = [{"id": key, "says": fact.says, "place": fact.place, "from": fact.source, "added": fact.added,
              "restated": chain.restated.get(key, ""), "words": fact.words}
             for key, fact in chain.given.items()]  # fmt: skip
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
