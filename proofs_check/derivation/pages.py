"""A page for each statement: what is claimed, its status in one sentence, the chain as a picture, gaps and repairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from html import escape

from dpassay.proofs_check.tied import TIES

from .derive import Chain, Checked
from .ledger import Examined
from .model import Statement
from .solver import Answer
from .words import closing, sentence

BOX, HIGH, GAP_X, GAP_Y = 150, 34, 60, 14
COLOURS = {
    "given": "#e3e8ee", "added": "#ffd9a0", Answer.FOLLOWS: "#cfe8cf", Answer.CITED: "#d7e3f7",
    Answer.SAMPLED: "#eef3c8", Answer.GAP: "#f3b7b7", Answer.VACUOUS: "#f3b7b7", Answer.UNDECIDED: "#eeeeee",
    Answer.OPEN: "#eeeeee",
}  # fmt: skip


def path_of(one: Examined) -> str:
    """Where a statement's page is, below ``docs``."""
    return f"statements/{one.statement.file.removesuffix('.toml')}.md"


def page(one: Examined, titles: dict[str, str]) -> str:
    """The page in Markdown; ``titles`` are the pages of other statements by key."""
    statement = one.statement
    lines = [f"# {statement.paper}: {statement.name}", "", f"{statement.title[:1].upper()}{statement.title[1:]}"
             + (f" ({statement.place})" if statement.place else "") + ".", "",
             f"**{one.status.label[:1].upper()}{one.status.label[1:]}.** {sentence(one)}", "",
             "Claimed:", "", f"    {statement.says}", ""]  # fmt: skip
    lines += [statement.words, ""] if statement.words else []
    lines += [svg(one.derivation.chain), "", *_steps(one.derivation.chain)]
    if closing(one):
        lines += ["## What would close it", "", *(f"- {line}" for line in closing(one)), ""]
    if statement.repaired is not None and one.derivation.repaired is not None:
        lines += ["## Repaired", "", statement.repaired.words, "", f"    {statement.repaired.says}", ""]
        lines += [svg(one.derivation.repaired, "repaired"), "", *_steps(one.derivation.repaired)]
    found_of = one.derivation
    for head, looked in (("Slips", found_of.slips), ("Edges", found_of.edges), ("Notes", found_of.notes)):
        if looked:
            lines += [f"## {head}", "", *(_remark(found.remark.place, found.remark.printed, found.remark.meant,
                                                  found.remark.words) for found in looked), ""]  # fmt: skip
    lines += schedule_table([statement])
    for head, keys in (("Rests on", one.rests_on), ("Used by", one.used_by)):
        if keys:
            lines += [f"{head}: " + ", ".join(_link(key, titles, one) for key in keys) + ".", ""]
    lines += ["Reproduce:", "", f"    dpassay prove \"{statement.name}\" --paper {statement.paper}", ""]
    return "\n".join(lines)


def schedule(statement: Statement) -> list[tuple[str, str, str, str]]:
    """An algorithm's schedule: each name, its formula, where it is printed, and what computes it in ``reference/``."""
    tied = {tie.source for tie in TIES}
    return [(row.name, row.formula, row.place,
             f"{row.code.replace(':', '.')}{', compared at numbers' if row.code.replace(':', '.') in tied else ''}")
            for row in statement.schedule]  # fmt: skip


def schedule_table(of: Iterable[Statement]) -> list[str]:
    """The schedules of these statements as one section of a page; no lines where there is none."""
    rows = dict.fromkeys(f"| {name} | `{_cell(formula)}` | {_cell(place)} | {code or '-'} |"
                         for one in of for name, formula, place, code in schedule(one))  # fmt: skip
    head = ["## Schedule", "", "| | formula | printed in | computed by |", "|---|---|---|---|"]
    return [*head, *rows, ""] if rows else []


def index(found: Sequence[Examined], places: dict[str, str]) -> str:
    """The page that leads to all others, by paper."""
    lines = ["# Every statement of the papers", ""]
    for paper in dict.fromkeys(one.statement.paper for one in found):
        lines += [f"## {paper}", "", "| statement | status | what it says |", "|---|---|---|"]
        for one in found:
            if one.statement.paper == paper:
                name = f"[{one.statement.name}]({places[one.statement.key].removeprefix('statements/')})"
                lines.append(f"| {name} | {_cell(one.status.label)} | {_cell(one.statement.title)} |")
        lines.append("")
    return "\n".join(lines)


def _link(key: str, titles: dict[str, str], one: Examined) -> str:
    if key not in titles:
        return key
    paper, _, name = titles[key].removeprefix("statements/").partition("/")
    return f"[{key}]({name if paper == one.statement.paper else f'../{paper}/{name}'})"


def _remark(place: str, printed: str, meant: str, words: str) -> str:
    change = f"`{printed}` is to be read `{meant}`. " if printed and meant else ""
    return f"- {f'**{place}**: ' if place else ''}{change}{words}"


def _steps(chain: Chain) -> list[str]:
    lines = ["| | what | where | decided |", "|---|---|---|---|"]
    for key, fact in chain.given.items():
        where = "added" if fact.added else fact.source or fact.place
        lines.append(f"| {_cell(key)} | `{_cell(fact.says)}` {_cell(fact.words)} | {_cell(where)} | given |")
    for one in chain.steps:
        step = one.step
        how = f"from {', '.join(step.uses)}" + (f", by {', '.join(step.by)}" if step.by else "")
        what = f"`{_cell(step.says)}` {_cell(step.words)}"
        lines.append(f"| {_cell(step.id)} | {what} | {_cell(step.place)} | {one.decision.answer}: {_cell(how)} |")
    gaps = [one for one in chain.steps if one.decision.numbers and not one.decision.holds]
    lines += ["", *(_gap(one) for one in gaps)] if gaps else []
    return [*lines, ""]


def _gap(one: Checked) -> str:
    numbers = _cell(point(one.decision.numbers))
    return f"- Step {one.step.id}: {_cell(one.decision.evidence)}; for example at `{numbers}`"


def point(numbers: Mapping[str, str]) -> str:
    """Numbers by name; a long one is rounded, never cut."""
    return ", ".join(f"{name} = {_rounded(value)}" for name, value in numbers.items())


def _rounded(value: str) -> str:
    try:
        return value if len(value) <= 12 else f"{float(Fraction(value)):.9g}"
    except ValueError:  # a root, or a rate
        return value


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def svg(chain: Chain, mark: str = "chain") -> str:
    """The chain as a picture: facts on the left, each step to the right of what it uses; gaps are red.

    ``mark`` is the beginning of its ids.
    """
    column: dict[str, int] = dict.fromkeys(chain.given, 0)
    for one in chain.steps:
        column[one.step.id] = 1 + max((column.get(name, 0) for name in one.step.uses), default=0)
    rows: dict[int, int] = {}
    place: dict[str, tuple[int, int]] = {}
    for key in [name for name in (*chain.given, *(one.step.id for one in chain.steps)) if name in chain.reached]:
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
    kinds = {key: "added" if fact.added else "given" for key, fact in chain.given.items()}
    kinds |= {one.step.id: one.decision.answer for one in chain.steps}
    for key, (x, y) in place.items():
        kind = kinds[key]
        parts.append(f'<g><rect x="{x}" y="{y}" width="{BOX}" height="{HIGH}" rx="5" fill="{COLOURS[kind]}" '
                     f'stroke="{"#b00020" if kind in (Answer.GAP, Answer.VACUOUS) else "#7a8794"}"/>'
                     f'<text x="{x + BOX / 2}" y="{y + 15}" text-anchor="middle" font-size="12" fill="#111">'
                     f'{escape(key[:22])}</text><text x="{x + BOX / 2}" y="{y + 28}" text-anchor="middle" '
                     f'font-size="10" fill="#333">{escape(str(kind))}</text></g>')  # fmt: skip
    return "".join([*parts, "</svg>"])
