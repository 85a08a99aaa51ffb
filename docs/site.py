"""What the documentation site has beside the pages of this folder: README, LEDGER, benchmarks, and what is generated.

A hook of mkdocs (``mkdocs.yml``). Pages elsewhere in the repository keep their places, so that links between files work
on a code host too; here they are copied under a name of the site, and links to them are changed.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import click
import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.main import get_command

import dpassay.audit
import dpassay.reference
from dpassay.audit.cli import app
from dpassay.audit.commands.show import described, described_lines
from dpassay.proofs_check.derivation.derive import Chain
from dpassay.proofs_check.derivation.ledger import Examined, examine
from dpassay.proofs_check.derivation.model import Remark, Statement, statements
from dpassay.proofs_check.derivation.show import closing, gaps, point, schedule, sentence, svg
from dpassay.reference.catalogue import CASES
from dpassay.reference.papers import PAPERS

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = sorted((ROOT / "benchmarks" / "results").glob("*.md"))
EXAMPLES = sorted((ROOT / "examples").glob("*/README.md"))
ELSEWHERE = {  # a page of the repository: its name on the site
    "README.md": "index.md",
    "LEDGER.md": "ledger.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    **{f"benchmarks/results/{path.name}": f"benchmarks/{path.name}" for path in BENCHMARKS},
    **{path.relative_to(ROOT).as_posix(): f"examples/{path.parent.name}.md" for path in EXAMPLES},
}
NOTEBOOK = "examples/claim_to_curve.ipynb"
MADE = {"reference.md", "options.md", "notebook.md"}
_LINK = re.compile(r"\[([^\]]*)\]\(([^)#:\s]+)(#[\w-]+)?\)")
BELOW = {  # pages that are made for the site are linked below a page of the repository
    "commands.md": "[Every option of every command](options.md).",
    "api.md": "[Every stable name with its docstring](reference.md).",
    "tutorial.md": "The same way in Python: [a notebook](notebook.md).",
}
_UNSEARCHED = ("ledger.md",)  # a thousand lines of tables would be all that a search finds
_NAME = re.compile(r"(?<=<td><code>)([^<]*)")
_SHIM = re.compile(r"https://unpkg\.com/iframe-worker/shim")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages that are not in this folder, and the generated ones."""
    for place, name in ELSEWHERE.items():
        text = linked((ROOT / place).read_text(encoding="utf-8"), place, name)
        if name in _UNSEARCHED:
            text = "---\nsearch:\n  exclude: true\n---\n" + text
        files.append(File.generated(config, name, content=text))
    files.append(File.generated(config, "reference.md", content=reference()))
    files.append(File.generated(config, "options.md", content=options()))
    found = examine(statements(), jobs=2)
    places = {one.statement.key: path_of(one) for one in found}
    for one in found:
        files.append(File.generated(config, path_of(one), content=statement(one, places)))
    files.append(File.generated(config, "statements/index.md", content=statement_index(found, places)))
    for name in dict.fromkeys(case.id for case in CASES):
        files.append(File.generated(config, f"algorithms/{name}.md", content=algorithm(name, found, places)))
    files.append(File.generated(config, "algorithms/index.md", content=algorithms()))
    text = linked(notebook(ROOT / NOTEBOOK), NOTEBOOK, "notebook.md")
    files.append(File.generated(config, "notebook.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: MkDocsConfig, files: Files) -> str:
    """Links out of this folder lead to the copies."""
    name = page.file.src_uri
    if name in {*ELSEWHERE.values(), *MADE}:
        return markdown
    return "\n\n".join([linked(markdown, f"docs/{name}", name), *([BELOW[name]] if name in BELOW else [])])


def on_page_content(html: str, page: Any, config: MkDocsConfig, files: Files) -> str:
    """Names in tables are broken between their parts only."""
    return _NAME.sub(lambda found: re.sub("[/:_]", r"\g<0><wbr>", found[1]), html)


def on_post_page(output: str, page: Any, config: MkDocsConfig) -> str:
    """The one script that the theme would fetch comes with the site (``assets/iframe-worker.js``)."""
    steps = "../" * page.file.src_uri.count("/")
    return _SHIM.sub(f"{steps}assets/iframe-worker.js", output)


def on_post_template(output: str, template_name: str, config: MkDocsConfig) -> str:
    """The same for pages that have no source (404)."""
    return _SHIM.sub("assets/iframe-worker.js", output)


def linked(text: str, place: str, name: str) -> str:
    """A page's text with its links changed from places in the repository to names on the site.

    A link to a file that is not on the site (source code) becomes its text.

    Args:
        place: where the page stands in the repository.
        name: its name on the site.
    """

    def change(found: re.Match[str]) -> str:
        target = (ROOT / place).parent.joinpath(found[2]).resolve()
        if not target.is_relative_to(ROOT) or not target.exists():
            return found[0]  # of another host, or broken: the build says so
        inside = target.relative_to(ROOT).as_posix()
        new = "notebook.md" if inside == NOTEBOOK else ""
        new = new or ELSEWHERE.get(inside, inside.removeprefix("docs/") if inside.startswith("docs/") else "")
        return f"[{found[1]}]({'../' * name.count('/')}{new}{found[3] or ''})" if new else found[1]

    return _LINK.sub(change, text)


def reference() -> str:
    """Every stable name with its docstring, from the lists that ``docs/api.md`` has."""
    lines = ["# Python reference", "", "The stable names ([what that means](api.md)), from their docstrings."]
    for package in (dpassay.reference, dpassay.audit):
        lines += ["", f"## {package.__name__}"]
        for one in package.__all__:
            lines += ["", f"::: {package.__name__}.{package._HOMES[one]}.{one}"]
    return "\n".join(lines) + "\n"


def algorithms() -> str:
    """The page that leads to all algorithms, by paper."""
    lines = ["# Every algorithm", ""]
    for paper, cases in groupby(CASES, key=lambda case: case.id.partition("/")[0]):
        titles = {case.id: case.title for case in cases}
        lines += [f"## {paper}", "", *(f"- [{name}]({name}.md): {title}" for name, title in titles.items()), ""]
    return "\n".join(lines)


def algorithm(name: str, found: Sequence[Examined], places: Mapping[str, str]) -> str:
    """An algorithm: the statements about it, its schedule, and what is known of each reading."""
    mine = [one for one in found if name in one.statement.algorithms]
    first = next(case for case in CASES if case.id == name)
    asks = f"`dpassay audit {name}` audits it, `dpassay prove {name}` checks what is claimed of it."
    lines = [f"# {name}", "", f"{first.title} ({first.cite}). {asks}", ""]
    if mine:
        lines += ["## Statements about it", "", "| statement | status |", "|---|---|"]
        up = "../" * (1 + name.count("/"))
        lines += [f"| [{one.statement.name}]({up}{places[one.statement.key]}) | {one.status.label} |" for one in mine]
    lines += ["", *schedule_table(one.statement for one in mine), "## Readings"]
    before: dict[str, Any] = {}
    for case in CASES:
        if case.id == name:
            now = described(case)
            lines += ["", "```text", *(part for line in described_lines(now, before) for part in wrapped(line)), "```"]
            before = now
    return "\n".join(lines) + "\n"


def path_of(one: Examined) -> str:
    """Where a statement's page is, below ``docs``."""
    return f"statements/{one.statement.file.removesuffix('.toml')}.md"


def statement(one: Examined, places: dict[str, str]) -> str:
    """The page in Markdown; ``places`` are the pages of other statements by key."""
    said = one.statement
    lines = [f"# {said.paper}: {said.name}", "", f"{said.title[:1].upper()}{said.title[1:]}"
             f" ({said.place or said.name} of *{PAPERS[said.paper].title}*).", "",
             f"**{one.status.label[:1].upper()}{one.status.label[1:]}.** {sentence(one)}", "",
             "Claimed:", "", f"    {said.says}", ""]  # fmt: skip
    lines += [said.words, ""] if said.words else []
    lines += [svg(one.derivation.chain), "", *_steps(one.derivation.chain)]
    if closing(one):
        lines += ["## What would close it", "", *(f"- {line}" for line in closing(one)), ""]
    if said.repaired is not None and one.derivation.repaired is not None:
        lines += ["## Repaired", "", said.repaired.words, "", f"    {said.repaired.says}", ""]
        lines += [svg(one.derivation.repaired, "repaired"), "", *_steps(one.derivation.repaired)]
    for kind, looked in one.derivation.remarks.items():
        if looked:
            lines += [f"## {kind.title()}s", "", *(_remark(found.remark) for found in looked), ""]
    lines += schedule_table([said])
    for head, keys in (("Rests on", one.rests_on), ("Used by", one.used_by)):
        if keys:
            lines += [f"{head}: " + ", ".join(_link(key, places, one) for key in keys) + ".", ""]
    commands = [f"dpassay prove '{said.name}' --paper {said.paper}", *gaps(one)]
    return "\n".join([*lines, "Reproduce:", "", *(f"    {line}" for line in commands), ""])


def _link(key: str, places: dict[str, str], one: Examined) -> str:
    if key not in places:
        return key
    paper, _, name = places[key].removeprefix("statements/").partition("/")
    return f"[{key}]({name if paper == one.statement.paper else f'../{paper}/{name}'})"


def _remark(said: Remark) -> str:
    change = f"`{said.printed}` is to be read `{said.meant}`. " if said.printed and said.meant else ""
    return f"- {f'**{said.place}**: ' if said.place else ''}{change}{said.words}"


def _steps(chain: Chain) -> list[str]:
    lines = ["| | what | where | decided |", "|---|---|---|---|"]
    for fact in chain.part.given:
        where = "added" if fact.added else fact.source or fact.place
        lines.append(f"| {_cell(fact.id)} | `{_cell(fact.says)}` {_cell(fact.words)} | {_cell(where)} | given |")
    for one in chain.steps:
        step = one.step
        how = f"from {', '.join(step.uses)}" + (f", by {', '.join(step.by)}" if step.by else "")
        what = f"`{_cell(step.says)}` {_cell(step.words)}"
        lines.append(f"| {_cell(step.id)} | {what} | {_cell(step.place)} | {one.decision.answer}: {_cell(how)} |")
    gaps = [(one.step.id, one.decision) for one in chain.steps if one.decision.numbers and not one.decision.holds]
    told = [f"- Step {name}: {_cell(gap.evidence)}; for example at `{_cell(point(gap.numbers))}`" for name, gap in gaps]
    return [*lines, *(["", *told] if told else []), ""]


def schedule_table(of: Iterable[Statement]) -> list[str]:
    """The schedules of these statements as one section of a page; no lines where there is none."""
    rows = dict.fromkeys(f"| {name} | `{_cell(formula)}` | {_cell(place)} | {code or '-'} |"
                         for one in of for name, formula, place, code in schedule(one))  # fmt: skip
    head = ["## Schedule", "", "| | formula | printed in | computed by |", "|---|---|---|---|"]
    return [*head, *rows, ""] if rows else []


def statement_index(found: Sequence[Examined], places: dict[str, str]) -> str:
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


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def wrapped(line: str) -> list[str]:
    """A line of a text block in lines that fit a page; what goes on is indented."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(line, 100, subsequent_indent=indent, break_long_words=False) or [""]


def notebook(path: Path) -> str:
    """The cells of a notebook, with what they printed and drew when it was last run."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
        for output in cell.get("outputs", ()):
            if "text" in output:
                parts.append("```text\n" + "".join(output["text"]).rstrip() + "\n```")
            if "image/png" in output.get("data", {}):
                picture = "".join(output["data"]["image/png"].split())
                parts.append(f"![what the cell above draws](data:image/png;base64,{picture})")
    return "\n\n".join(parts) + "\n"


def options() -> str:
    """The help of every command, as the terminal shows it."""
    lines = ["# Every option", "", "What `--help` prints after each command ([what they do](commands.md))."]
    for path, command in commands("dpassay", get_command(app)):
        with click.Context(command, info_name=path, max_content_width=100, terminal_width=100) as context:
            lines += ["", f"## {path}", "", "```text", command.get_help(context), "```"]
    return "\n".join(lines) + "\n"


def commands(path: str, command: Any) -> list[tuple[str, Any]]:
    """A command and those below it, by name."""
    found = [(path, command)]
    for name, inner in getattr(command, "commands", {}).items():
        found += commands(f"{path} {name}", command.loaded(name) if hasattr(command, "loaded") else inner)
    return found


class Examples(griffe.Extension):
    """Our docstrings say "Example:"; the parser knows "Examples:"."""

    def on_object(self, *, obj: griffe.Object, **more: Any) -> None:
        """Change the docstring of each object as it is read."""
        if obj.docstring:
            obj.docstring.value = re.sub(r"^(\s*)Example:$", r"\1Examples:", obj.docstring.value, flags=re.MULTILINE)
