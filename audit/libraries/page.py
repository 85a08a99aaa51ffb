"""``docs/libraries.md``: what was found about each library, written between markers."""

import math
import re
import textwrap

from dpassay.audit.marked import Block

from .exact import Line
from .library import RELATIONS, Examined

WIDTH = 120
_MANY = 1e6
_SEARCHED = "| searched | replace-one | add-remove | largest / claimed | claim is kept for |"
SEEDLESS = " (the draws take no seed: other runs print other numbers)"


def block(name: str) -> Block:
    """The place of a library on the page."""
    return Block(f"library {name}")


def section(found: Examined) -> str:
    """Everything about one library, as Markdown."""
    parts = [f"## {found.library.name} {found.version}", "", *_wrapped(found.library.relation), ""]
    parts += [*_wrapped(f"Written with {found.library.versions()}."), ""]
    if found.outcomes:
        parts += [*_searched(found), "", *_numbers(found), ""]
    if found.lines:
        parts += [*_lines(found.lines), ""]
    parts += ["### Findings", "", *(() if found.known else ("Nothing was found.",))]
    for known, printed, _ in found.known:
        parts += [f"#### {known.id}", "", *_wrapped(known.says), ""]
        parts += _wrapped(f"About {'; '.join(known.models)}. Documentation: {known.documented}.")
        parts += ["", f"Thread: {known.thread}" if known.thread else "No thread about it was found.", ""]
        parts += ["```python", *known.program.splitlines(), "```", ""]
        parts += [
            *_wrapped(f"It prints {known.reads}; seen{SEEDLESS if known.varies else ''}:"),
            "",
            "```text",
            *printed.splitlines(),
            "```",
            "",
        ]
    return "\n".join(parts).rstrip()


def not_on_page(found: Examined, inside: str) -> list[str]:
    """Kinds of findings of a model that its row on the page does not have, by relation; a new model has none there."""
    rows: dict[str, list[str]] = {}
    for line in inside.partition(_SEARCHED)[2].partition("\n\n")[0].splitlines():
        if line.startswith("| "):
            name, *cells = line.strip("| ").split(" | ")
            rows[name] = cells
    news = []
    for one in found.outcomes:
        cells = rows.get(one.model.name, ["", ""])
        cell = re.sub(r" \([^)]*\)", "", cells[RELATIONS.index(one.relation)])
        new = [kind for kind in one.kinds if kind not in cell.split(", ")]
        if new:
            news.append(f"{one.model.name}, {one.relation}: not on the page: {', '.join(new)}")
    return news


def table(found: Examined) -> str:
    """The searched models and mechanisms, for a terminal."""
    parts = [_searched(found), _numbers(found)] if found.outcomes else []
    parts += [_lines(found.lines) if found.lines else []]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _searched(found: Examined) -> list[str]:
    rows = [_SEARCHED, "|---|---|---|---|---|"]
    for name, seen in found.models.items():
        ours = [seen.get(relation) for relation in RELATIONS]
        cells = ["not searched" if one is None else ", ".join(one.failed) or "nothing found" for one in ours]
        shares = ["-" if one is None else f"{one.share:.2f}" for one in ours]
        kept = ", ".join(relation for relation, one in seen.items() if not one.failed)
        if not kept and None in ours:  # of a model that may keep its claim for other neighbours, that is not known
            kept = "not known" if found.library.either else f"not {next(iter(seen))}"
        rows.append(f"| {name} | {' | '.join(cells)} | {' / '.join(shares)} | {kept or 'neither'} |")
    return rows


def _numbers(found: Examined) -> list[str]:
    """Epsilon, claimed, added up and realised, with what shows the last."""
    rows = [
        "| searched | neighbours | claimed epsilon | releases add up to | realised at least | by |",
        "|---|---|---|---|---|---|",
    ]
    for one in found.outcomes:
        claimed = f"{one.model.epsilon:.4g}" + (f" (delta {one.model.delta:g})" if one.model.delta else "")
        numbers = " | ".join("-" if value is None else _number(value) for value in (one.added, one.realised))
        rows.append(f"| {one.model.name} | {one.relation} | {claimed} | {numbers} | {one.by or '-'} |")
    return rows


def _number(value: float) -> str:
    """How far beyond any use a number lies is decided by how large the search's data are."""
    return f"over {_MANY:.0e}" if _MANY < value < math.inf else f"{value:.4g}"


def _lines(lines: list[Line]) -> list[str]:
    rows = ["| mechanism | pair | claimed | exact | kept | draws follow the law |", "|---|---|---|---|---|---|"]
    for line in lines:
        tested = "-" if line.p_value is None else "yes" if line.follows else "no"
        kept = "yes" if line.kept else "no"
        claimed = f"{line.measure} {line.claimed:.4g}"
        rows.append(f"| {line.name} | {line.pair} | {claimed} | {line.exact:.4g} | {kept} | {tested} |")
    return rows


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)
