"""A derivation as text: what is given, each step with its decision, the gap's numbers, and the status."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dpassay.reference.errors import BadInput

from .derive import Chain, Derivation
from .ledger import Examined
from .model import Statement
from .pages import point, schedule
from .solver import Answer
from .status import Status


def text(derivation: Derivation, status: Status) -> str:
    """The whole statement, for the terminal."""
    one = derivation.statement
    lines = [f"{one.paper}, {one.name} ({one.place}): {one.title}", f"  claims   {one.says}"]
    lines += [f"           {one.words}"] if one.words else []
    every = {*derivation.chain.given, *(one.step.id for one in derivation.chain.steps)}
    lines += _chain(derivation.chain, every)
    for kind, looked in (("slip", derivation.slips), ("edge", derivation.edges), ("note", derivation.notes)):
        for found in looked:
            printed = f"{found.remark.printed} is {found.remark.meant}: " if found.remark.printed else ""
            lines.append(f"  {kind:8} {found.remark.place}: {printed}{found.remark.words}")
    if derivation.false is not None and derivation.false.answer is Answer.GAP and one.false is not None:
        lines.append(f"  false    {one.false.words} {_numbers(derivation.false.numbers)}".rstrip())
    if derivation.repaired is not None and one.repaired is not None:
        lines += [f"  repaired {one.repaired.says}", f"           {one.repaired.words}".rstrip()]
        lines += _chain(derivation.repaired, derivation.repaired.reached)
    lines += [f"  problem  {problem}" for problem in derivation.problems]
    return "\n".join([*lines, f"  => {status.label}"])


def step_text(one: Examined, name: str) -> str:
    """One step with what it uses and what was decided.

    Raises:
        BadInput: the statement has no such step.
    """
    chains = [one.derivation.chain, *([one.derivation.repaired] if one.derivation.repaired is not None else [])]
    for chain in chains:
        for checked in chain.steps:
            if checked.step.id == name:
                uses = {**{key: fact.says for key, fact in chain.given.items()},
                        **{other.step.id: other.step.says for other in chain.steps}}  # fmt: skip
                lines = [f"{one.statement.key}, step {name} ({checked.step.place}): {checked.decision.answer}",
                         f"  {checked.step.words}", f"  says  {checked.step.says}",
                         *(f"  uses  {key}: {uses[key]}" for key in checked.step.uses),
                         *(f"  by    {text}" for text in checked.step.by)]  # fmt: skip
                lines += [f"  {checked.decision.evidence} {_numbers(checked.decision.numbers)}".rstrip()]
                return "\n".join(line for line in lines if line.strip())
    known = ", ".join(checked.step.id for checked in one.derivation.chain.steps)
    raise BadInput("--step", name, f"{one.statement.key} has the steps {known}")


def schedule_lines(statement: Statement) -> list[str]:
    """The schedule of an algorithm for the terminal."""
    lines = [f"    {name} = {formula}   [{place}]{f'; computed by {code}' if code else ''}"
             for name, formula, place, code in schedule(statement)]  # fmt: skip
    return ["  schedule", *lines] if lines else []


def _chain(chain: Chain, shown: Collection[str]) -> list[str]:
    """Facts and steps; of a repaired form only what its conclusion reaches."""
    lines = []
    for key, fact in chain.given.items():
        if key not in shown:
            continue
        where = "ADDED" if fact.added else fact.source or fact.place
        chance = f"  but for {fact.failure}" if fact.failure else ""
        lines.append(f"  given    {key}: {fact.says}{chance}   [{where}]")
        lines += [f"             {fact.words}"] if fact.added and fact.words else []
        if key in chain.restated:
            lines.append(f"             restated, and not what is cited: {chain.restated[key]}")
    for one in chain.steps:
        step = one.step
        if step.id not in shown:
            continue
        by = f" by {', '.join(step.by)}" if step.by else ""
        uses = f"from {', '.join(step.uses)}"
        lines.append(f"  {one.decision.answer:8} {step.id}: {step.says}   [{step.place}] {uses}{by}")
        lines += [f"             {step.words}"] if step.words else []
        if one.decision.evidence:
            lines.append(f"             {one.decision.evidence} {_numbers(one.decision.numbers)}".rstrip())
        if one.without is not None and not one.without.holds:
            lines.append(f"             without what is added: {one.without.evidence} {_numbers(one.without.numbers)}")
    return lines


def _numbers(numbers: Mapping[str, str]) -> str:
    return f"at {point(numbers)}" if numbers else ""
