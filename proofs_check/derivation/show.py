"""A derivation in a sentence, as text, as plain data and as a picture."""

import shlex
from collections.abc import Collection, Mapping
from fractions import Fraction
from html import escape
from itertools import groupby
from typing import Any

from dpassay.proofs_check.ties import ties
from dpassay.reference.errors import BadInput

from .derive import Chain, Looked
from .language import pieces
from .ledger import Examined
from .model import Statement
from .solver import Answer, Decision
from .status import After, Kind

BOX, HIGH, GAP_X, GAP_Y = 150, 34, 60, 14
COLOURS = {
    "given": "#e3e8ee", "added": "#ffd9a0", Answer.FOLLOWS: "#cfe8cf", Answer.CITED: "#d7e3f7",
    Answer.SAMPLED: "#eef3c8", Answer.GAP: "#f3b7b7", Answer.VACUOUS: "#f3b7b7", Answer.UNDECIDED: "#eeeeee",
    Answer.OPEN: "#eeeeee",
}  # fmt: skip


def text(one: Examined) -> str:
    """The whole statement, for the terminal."""
    derivation, said = one.derivation, one.statement
    lines = [f"{said.paper}, {said.name} ({said.place}): {said.title}", f"  claims   {said.says}"]
    lines += [f"           {said.words}"] if said.words else []
    lines += _chain(derivation.chain, {*(fact.id for fact in said.given), *(step.id for step in said.step)})
    for kind, looked in derivation.remarks.items():
        for found in looked:
            printed = f"{found.remark.printed} is {found.remark.meant}: " if found.remark.printed else ""
            lines.append(f"  {kind:8} {found.remark.place}: {printed}{found.remark.words}")
    if derivation.repaired is not None and said.repaired is not None:
        lines += [f"  repaired {said.repaired.says}", f"           {said.repaired.words}".rstrip()]
        lines += _chain(derivation.repaired, derivation.repaired.part.reached)
    lines += [f"  problem  {problem}" for problem in derivation.problems]
    lines += [f"  => {one.status.label}", f"     {sentence(one)}"]
    lines += ["  schedule"] if said.schedule else []
    lines += [f"    {name} = {formula}   [{place}]{f'; computed by {code}' if code else ''}"
              for name, formula, place, code in schedule(said)]  # fmt: skip
    lines += [f"     gap: {line}" for line in gaps(one)]
    lines += [f"     rests on {'; '.join(one.rests_on)}"] if one.rests_on else []
    return "\n".join([*lines, f"     used by {'; '.join(one.used_by)}"] if one.used_by else lines)


def step_text(one: Examined, name: str) -> str:
    """One step with what it uses and what was decided.

    Raises:
        BadInput: the statement has no such step.
    """
    chains = [one.derivation.chain, *([one.derivation.repaired] if one.derivation.repaired is not None else [])]
    for chain in chains:
        for checked in chain.steps:
            if checked.step.id == name:
                uses = {fact.id: fact.says for fact in chain.part.given}
                uses |= {step.id: step.says for step in chain.part.steps}
                lines = [f"{one.statement.key}, step {name} ({checked.step.place}): {checked.decision.answer}",
                         f"  {checked.step.words}", f"  says  {checked.step.says}",
                         *(f"  uses  {key}: {uses[key]}" for key in checked.step.uses),
                         *(f"  by    {text}" for text in checked.step.by)]  # fmt: skip
                lines += [f"  {_evidence(checked.decision)}"]
                return "\n".join(line for line in lines if line.strip())
    known = ", ".join(checked.step.id for checked in one.derivation.chain.steps)
    raise BadInput("--step", name, f"{one.statement.key} has the steps {known}")


def schedule(statement: Statement) -> list[tuple[str, str, str, str]]:
    """An algorithm's schedule: each name, its formula, where it is printed, and what computes it in ``reference/``."""
    tied, rows = {(tie.source, pieces(tie.formula)) for tie in ties()}, []
    for row in statement.schedule:
        code = row.code.replace(":", ".")
        compared = (code, pieces(row.formula)) in tied
        rows.append((row.name, row.formula, row.place, f"{code}{', compared at numbers' * compared}"))
    return rows


def _chain(chain: Chain, shown: Collection[str]) -> list[str]:
    """Facts and steps; of a repaired form only what its conclusion reaches."""
    lines = []
    for fact in (fact for fact in chain.part.given if fact.id in shown):
        where = "ADDED" if fact.added else fact.source or fact.place
        chance = f"  but for {fact.failure}" if fact.failure else ""
        lines.append(f"  given    {fact.id}: {fact.says}{chance}   [{where}]")
        lines += [f"             {fact.words}"] if fact.added and fact.words else []
        if fact.id in chain.restated:
            lines.append(f"             restated, and not what is cited: {chain.restated[fact.id]}")
    for one in (one for one in chain.steps if one.step.id in shown):
        step = one.step
        by = f" by {', '.join(step.by)}" if step.by else ""
        place, uses = f"[{step.place}] " if step.place else "", f"from {', '.join(step.uses)}"
        lines.append(f"  {one.decision.answer:8} {step.id}: {step.says}   {place}{uses}{by}")
        lines += [f"             {step.words}"] if step.words else []
        if one.decision.evidence:
            lines.append(f"             {_evidence(one.decision)}")
        if one.without is not None and not one.without.holds:
            lines.append(f"             without what is added: {_evidence(one.without)}")
    return lines


def _evidence(decision: Decision) -> str:
    """With the numbers, where the words do not have them."""
    named = all(f"{name} = " in decision.evidence for name in decision.numbers)
    return decision.evidence if named else f"{decision.evidence} at {point(decision.numbers)}"


def point(numbers: Mapping[str, str]) -> str:
    """Numbers by name; a long one is rounded, never cut."""
    return ", ".join(f"{name} = {_rounded(value)}" for name, value in numbers.items())


def _rounded(value: str) -> str:
    try:
        return value if len(value) <= 12 else f"{float(Fraction(value)):.9g}"
    except ValueError:  # a root, or a rate
        return value


def svg(chain: Chain, mark: str = "chain") -> str:
    """The chain as a picture: facts on the left, each step to the right of what it uses; gaps are red.

    ``mark`` is the beginning of its ids.
    """
    kinds: dict[str, str] = {fact.id: "added" if fact.added else "given" for fact in chain.part.given}
    kinds |= {one.step.id: one.decision.answer for one in chain.steps}
    column = dict.fromkeys(kinds, 0)
    for one in chain.steps:
        column[one.step.id] = 1 + max((column.get(name, 0) for name in one.step.uses), default=0)
    rows: dict[int, int] = {}
    place: dict[str, tuple[int, int]] = {}
    for key in [name for name in kinds if name in chain.part.reached]:
        row = rows.get(column[key], 0)
        rows[column[key]] = row + 1
        place[key] = (10 + column[key] * (BOX + GAP_X), 10 + row * (HIGH + GAP_Y))
    wide = max((x for x, _ in place.values()), default=0) + BOX + 10
    high = max((y for _, y in place.values()), default=0) + HIGH + 10
    title = f'<title id="{mark}-title">which facts each step uses</title>'
    parts = [f'<svg viewBox="0 0 {wide} {high}" width="{wide}" role="img" aria-labelledby="{mark}-title" '
             f'xmlns="http://www.w3.org/2000/svg">{title}']  # fmt: skip
    for one in chain.steps:
        for name in one.step.uses:
            if name in place and one.step.id in place:
                (x1, y1), (x2, y2) = place[name], place[one.step.id]
                parts.append(f'<path d="M{x1 + BOX} {y1 + HIGH / 2} C{x1 + BOX + 30} {y1 + HIGH / 2} {x2 - 30} '
                             f'{y2 + HIGH / 2} {x2} {y2 + HIGH / 2}" fill="none" stroke="#7a8794"/>')  # fmt: skip
    for key, (x, y) in place.items():
        kind = kinds[key]
        parts.append(f'<g><rect x="{x}" y="{y}" width="{BOX}" height="{HIGH}" rx="5" fill="{COLOURS[kind]}" '
                     f'stroke="{"#b00020" if kind in (Answer.GAP, Answer.VACUOUS) else "#7a8794"}"/>'
                     f'<text x="{x + BOX / 2}" y="{y + 15}" text-anchor="middle" font-size="12" fill="#111">'
                     f'{escape(key[:22])}</text><text x="{x + BOX / 2}" y="{y + 28}" text-anchor="middle" '
                     f'font-size="10" fill="#333">{escape(str(kind))}</text></g>')  # fmt: skip
    return "".join([*parts, "</svg>"])


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
        used = [name[len("what it uses (") : -1] for name in status.steps if name.startswith("what it uses (")]
        at = list(dict.fromkeys(key.partition(": ")[2] for key, _ in status.gaps if key != one.statement.key))
        rests = f"It rests on {' and '.join(used)}, whose chain{'s break' if len(used) > 1 else ' breaks'}"
        rests += "." if at == used else f": the gaps are in {'; '.join(at)}."
        text = " ".join([*[f"{verb.format(', '.join(steps))} not follow."] * bool(steps), *[rests] * bool(used)])
        false, shown = one.statement.false, one.derivation.false
        if After.FALSE in status.after and shown is not None:
            where = f" (at {point(shown.numbers)})" if shown.numbers else ""
            text += f" The statement fails: {(false.words if false else shown.evidence).rstrip('.')}{where}."
        if After.REPAIRED in status.after and one.statement.repaired is not None:
            text += f" What follows instead: {_ended(one.statement.repaired.words or one.statement.repaired.says)}"
        return text
    return f"Not decided here: {', '.join(status.steps)}."


def gaps(one: Examined) -> list[str]:
    """The command that shows a gap, for each statement that one of this one's chain is in."""
    lines = []
    for key, found in groupby(one.status.gaps, lambda gap: gap[0]):
        paper, _, name = key.removesuffix(" repaired").partition(": ")
        first, *others = [step for _, step in found]
        words = ["dpassay", "prove", name, "--paper", paper, "--step", first]
        lines.append(shlex.join(words) + (f"  # and {', '.join(others)}" if others else ""))
    return lines


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
        **_chain_record(derivation.chain), **remarks,
    }  # fmt: skip
    if derivation.repaired is not None and statement.repaired is not None:
        label = one.repaired.label if one.repaired is not None else ""
        found["repaired"] = {"says": statement.repaired.says, "status": label, **_chain_record(derivation.repaired)}
    return found


def _chain_record(chain: Chain) -> dict[str, Any]:
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
