"""The page of `mutation_testing.py`: a table of modules, then each survivor with its explanation."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutation_explanations import EXPLAINED

TOP = Path(__file__).resolve().parent.parent
RESULT = TOP / "benchmarks" / "results" / "mutation_testing.md"
HEAD = """# Mutation testing of our own code

Written by `python benchmarks/mutation_testing.py --write`: a sample of at most {places} places a module,
seed {seed}; mutants by cosmic-ray, each against its module's own fast tests. Each row was run on the text
that `git rev-parse HEAD:MODULE` names; a kill is not run again when a test is added, a survivor is.

| module | its text | mutants | killed | survive | of these equivalent |
|---|---|---|---|---|---|
"""
ROW = re.compile(r"\| `(.+?)` \| `(\w+)`.*? \| (\d+) \| (\d+) \| \d+ \| (\d+) \|")


@dataclass(frozen=True)
class Told:
    """What the page says of one module: its text, mutants, killed, survivors that change nothing, sections of all."""

    code: str
    count: int
    killed: int
    same: int
    survivors: tuple[str, ...]


def code_of(module: str) -> str:
    """The start of the name that git gives to the module's text: `git rev-parse HEAD:audit/bounds.py` shows it."""
    text = (TOP / module).read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(text) + text, usedforsecurity=False).hexdigest()[:10]


def latest(rows: list[dict[str, Any]], module: str) -> list[dict[str, Any]]:
    """What was run on the module's text of today; where that is not done, on the last text that was."""
    samples: dict[object, list[dict[str, Any]]] = {}
    for row in rows:
        if row["module"] == module:
            samples.setdefault(row["code"], []).append(row)
    done = [one for one in samples.values() if len(one) == max(map(len, samples.values()))]
    return next((one for one in done if one[0]["code"] == code_of(module)), done[-1]) if done else []


def from_runs(rows: list[dict[str, Any]]) -> Told:
    """Of the mutants of one text of a module."""
    left = [row for row in rows if not row["killed"]]
    reasons = [next((why for part, why in EXPLAINED.items() if part in row["mutant"]), "") for row in left]
    sections = [
        f"`{row['module']}`, line {row['line']}: {reason or 'not looked at'}\n\n"
        "```diff\n" + "\n".join(row["difference"]) + "\n```\n"
        for row, reason in zip(left, reasons, strict=True)
    ]
    same = sum(reason.startswith("equivalent") for reason in reasons)
    return Told(rows[0]["code"], len(rows), len(rows) - len(left), same, tuple(sections))


def from_page(text: str) -> dict[str, Told]:
    """Each module of the page as it stands: one that was not run now keeps its row."""
    sections = re.split(r"\n(?=`\S+\.py`, line \d)", text)[1:]
    return {
        module: Told(code, int(count), int(killed), int(same), tuple(
            f"{one.rstrip()}\n" for one in sections if one.startswith(f"`{module}`,")
        ))
        for module, code, count, killed, same in ROW.findall(text)
    }  # fmt: skip


def page(rows: list[dict[str, Any]], modules: list[str], places: int, seed: int) -> str:
    """The result as Markdown."""
    told = from_page(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}
    told |= {module: from_runs(found) for module in modules if (found := latest(rows, module))}
    told = {module: told[module] for module in modules if module in told}
    table = [
        f"| `{module}` | `{one.code}`{'' if one.code == code_of(module) else ' (older)'} "
        f"| {one.count} | {one.killed} | {one.count - one.killed} | {one.same} |"
        for module, one in told.items()
    ]
    count, killed, same = (sum(getattr(one, name) for one in told.values()) for name in ("count", "killed", "same"))
    share = f"{killed} of {count} are killed ({killed / max(1, count):.1%}); {same} of the {count - killed} survivors"
    share += f" change nothing that a caller can see ({(killed + same) / max(1, count):.1%} with them)."
    survivors = [section for one in told.values() for section in one.survivors]
    head = HEAD.format(places=places, seed=seed) + "\n".join(table)
    return "\n".join([head, "", share, "", "## Survivors", "", *survivors]).rstrip("\n") + "\n"
