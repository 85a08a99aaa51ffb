"""``docs/libraries.md``: what was found about each library, written between markers; its words are in ``page.md``."""

import math
import re
import textwrap
from functools import cache, partial
from importlib.resources import files

from jinja2 import DictLoader, Environment, StrictUndefined, Template

from dpassay.audit.marked import Block

from .library import RELATIONS, Examined

_MANY = 1e6
_SEARCHED = "| searched | replace-one | add-remove | largest / claimed | claim is kept for |"
SEEDLESS = " (the draws take no seed: other runs print other numbers)"


def block(name: str) -> Block:
    """The place of a library on the page."""
    return Block(f"library {name}")


def section(found: Examined) -> str:
    """Everything about one library, as Markdown."""
    return _template("page.md").render(found=found, tables=table(found), seedless=SEEDLESS).rstrip()


def table(found: Examined) -> str:
    """The searched models and mechanisms, for a terminal and for the page."""
    searched = "\n".join(_searched(found)) if found.outcomes else ""
    return _template("tables.md").render(found=found, searched=searched).strip("\n")


@cache
def _template(name: str) -> Template:
    texts = {one: files(__package__).joinpath("described", one).read_text("utf-8") for one in ("page.md", "tables.md")}
    environment = Environment(
        loader=DictLoader(texts), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    wrapped = partial(textwrap.fill, width=120, break_long_words=False, break_on_hyphens=False)
    environment.filters |= {"wrapped": wrapped, "number": _number}
    return environment.get_template(name)


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


def _number(value: float | None) -> str:
    """How far beyond any use a number lies is decided by how large the search's data are."""
    return "-" if value is None else f"over {_MANY:.0e}" if _MANY < value < math.inf else f"{value:.4g}"
