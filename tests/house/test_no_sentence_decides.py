"""What our own code says to a person decides nothing: kinds are enums and fields, a text is made of them at the end."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ASKED = {"startswith", "endswith", "match", "search", "fullmatch"}
TEXTS = re.compile(r"(text|words|why|message|said|note|reason|title|name|label|how|what|line|cell|assumption|step)s?$")
# Where a text is looked into, and rightly: files, or single functions of them (FILE:FUNCTION).
ALLOWED = {
    "files, tables, commands and settings of others are read": """
        audit/attacks/estimators.py audit/claims/reading.py audit/cli.py audit/commands/completion.py
        audit/commands/doctor.py audit/commands/init.py:init audit/live/messages.py:read_line audit/inputs/stored.py
        audit/running/workers.py:require_address audit/plain_numpy/writing.py:_of_the_code
        audit/sequential/session.py:_session audit/report/html/reproduced.py
        audit/report/html/svg.py:inline reference/files.py reference/problems/real_data.py:_read_table
        audit/crosscheck/making.py:main audit/report/pages.py:main""",
    "source code is read, or text that replaces some: names, expressions, files of a module": """
        audit/crosscheck/afterwards.py audit/crosscheck/changes.py audit/crosscheck/copies.py
        audit/crosscheck/deciding.py:_used_by_all audit/crosscheck/deciding.py:_follows audit/crosscheck/edits.py
        audit/crosscheck/deciding.py:_of_calls audit/crosscheck/reached.py:_note_names audit/crosscheck/calls.py
        audit/crosscheck/conditions.py audit/crosscheck/mutants.py:_of_its_place audit/crosscheck/reached.py:_nearness
        audit/crosscheck/mutants.py:_in_a_draw
        audit/crosscheck/mutants.py:systematic audit/crosscheck/decode.py:_value
        audit/plain_numpy/measured.py:_is_generator audit/crosscheck/encode.py:_object audit/crosscheck/fitting.py
        audit/crosscheck/lines.py audit/crosscheck/pairs.py audit/crosscheck/together.py audit/crosscheck/reading.py
        audit/crosscheck/entries.py audit/crosscheck/slips.py audit/crosscheck/edited.py:inside_a_problem
        audit/crosscheck/constants.py audit/crosscheck/bounding.py
        audit/crosscheck/sometimes.py:sometimes audit/running/fingerprint.py audit/lab/source/bugs.py
        audit/lab/source/digest.py audit/libraries/diffprivlib.py:_patches audit/libraries/diffprivlib_models.py:fitted
        audit/libraries/redirect.py:caller audit/plain_numpy/finite.py audit/plain_numpy/noisy.py:__getattr__
        audit/plain_numpy/secret.py:__getattr__ audit/plain_numpy/places.py audit/releases.py:_scales
        reference/extras.py:__getattr__ audit/search/reached.py:reason_for audit/commands/paper_map.py:parts""",
    "MODULE:NAME and PAPER/ALGORITHM, as a user types them, and keys of cases": """
        audit/claims/model.py audit/inputs/foreign.py audit/search/spaces.py:_build audit/crosscheck/derivations.py
        audit/report/html/rows.py:paper_of audit/reproductions/report.py:sandwich_table""",
    "ids of rows of the ledger, numbered statements of a paper, formulas: a small language with a parser": """
        audit/commands/paper_map.py:_line audit/commands/proofs.py:_of proofs_check/checkers/consistency.py
        proofs_check/cited.py proofs_check/claim.py proofs_check/effects.py proofs_check/graph.py
        proofs_check/inventory/told.py proofs_check/ledger.py:chosen proofs_check/ledger.py:about
        proofs_check/ledger.py:_key proofs_check/mutants.py proofs_check/region.py proofs_check/report.py:serious""",
    "fields of problems and schedules, and sizes, by their names": """
        audit/crosscheck/unequal.py audit/crosscheck/recipes.py:odd""",
    "labels of releases, which an algorithm or a user of the library chooses": """
        proofs_check/transcripts.py audit/places.py audit/libraries/library.py:failed
        reference/second_order_erm/dry_run.py:one_step audit/crosscheck/families.py""",
    "what we wrote into a file is read again: pages, reports, marks of scores": """
        audit/libraries/page.py:not_on_page audit/report/pages.py:_agree audit/report/pages.py:_counts
        audit/report/pages.py:read audit/report/problems.py:_places audit/report/html/source.py:unreached
        audit/scores/blocks.py:seen_before audit/published/second_order_erm.py:interval""",
    "only how it looks: where a line is indented, which quotes a text needs": """
        audit/search/witness.py:lines audit/report/markdown.py:code""",
}


def parsed(text: str) -> ast.Module:
    tree = ast.parse(text)
    for parent in ast.walk(tree):
        for child in ast.iter_child_nodes(parent):
            child.parent = parent
    return tree


SUSPECT = re.compile(  # only files with such a line are parsed: of all of them that takes seconds
    r"""\.(startswith|endswith|match|search|fullmatch)\(|["'] (not )?in |"""
    r"""[=!]= ["'][^"'\n]* |["'] [=!]=|[=!]= [\w.]*[A-Z_]{3}"""
)


@cache
def texts() -> dict[str, str]:
    files = [path for room in ("audit", "reference", "proofs_check") for path in sorted((ROOT / room).rglob("*.py"))]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}


def sentences(sources: Iterable[str]) -> tuple[set[str], set[str]]:
    """Choices that have a type (a `Literal`, or a tuple of all of them); names of constants that are a sentence."""
    choices: set[str] = set()
    named: set[str] = set()
    for text in sources:
        for found in re.findall(
            r"Literal\[.*?\]|^[A-Z_]+(?:: [^=\n]*)? = (?:[\w.]*\(|\{).*?[)}]", text, re.DOTALL | re.MULTILINE
        ):
            choices.update(re.findall(r'"([^"\n]*)"', found))
        named.update(re.findall(r'^([A-Z_]+) = "[^"\n]* [^"\n]*"', text, re.MULTILINE))
    return choices, named


def last_name(node: ast.AST) -> str:
    """What is looked into, by its last name; a call of ``str`` or of a method of texts is a text."""
    if isinstance(node, ast.Call):
        text = getattr(node.func, "id", "") == "str" or getattr(node.func, "attr", "") in ("lower", "strip", "format")
        return "text" if text else last_name(node.func)
    return "text" if isinstance(node, ast.JoinedStr) else getattr(node, "attr", "") or getattr(node, "id", "")


def decides(node: ast.AST, choices: set[str], named: set[str]) -> bool:
    """Is a text asked how it begins, ends, what is in it, or whether it is a certain sentence?"""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ASKED and last_name(node.func.value) != "model"  # a model is searched
    if not isinstance(node, ast.Compare):
        return False
    for one, how, other in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
        if isinstance(how, ast.In | ast.NotIn) and is_text(one):
            plain = re.fullmatch(r"[\w-]+", one.value) or (" " in one.value.strip() and one.value in choices)
            if TEXTS.search(last_name(other)) or not plain:
                return True
        elif isinstance(how, ast.Eq | ast.NotEq):
            if any(is_text(side) and " " in side.value.strip() and side.value not in choices for side in (one, other)):
                return True
            if {last_name(side) for side in (one, other) if isinstance(side, ast.Name | ast.Attribute)} & named:
                return True
    return False


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def branches(file: str, source: str, choices: set[str], named: set[str]) -> Iterator[tuple[str, str]]:
    """Place (FILE:FUNCTION) and text of each expression that looks into a text."""
    for node in ast.walk(parsed(source)) if SUSPECT.search(source) else ():
        if decides(node, choices, named):
            above = node
            while not isinstance(above, ast.FunctionDef | ast.Module):
                above = above.parent
            yield f"{file}:{getattr(above, 'name', '')}", ast.unparse(node)


def test_nothing_branches_on_a_text_of_our_own():
    places = {place for group in ALLOWED.values() for place in group.split()}
    known, used, found = sentences(texts().values()), set(), []
    for file, source in texts().items():
        for place, text in branches(file, source, *known):
            if not places & {file, place}:
                found.append(f"{place}: {text}")
            used |= places & {file, place}
    assert not found, "\n".join(found)
    assert used == places, f"no longer needed: {sorted(places - used)}"


BEFORE = {
    "the start of a name": "def f(first):\n    return first.name.startswith('claim')",
    "the start of a cell": "def f(row):\n    return row[5].startswith('**')",
    "the start of an assumption": "def f(bound):\n    return bound.assumption.startswith(SECRETS)",
    "prefixes of columns": "def f(one):\n    return (one.column or '').startswith((*CODED, *MADE))",
    "a part of a text": "def f(words):\n    return '(' not in words",
    "a word in a name": "def f(name):\n    return 1 if 'laplace' in name else 2",
    "a part of a label": "def f(row):\n    return 'no bound' in row[3]",
    "a constant sentence": 'REORDERED = "in another order"\ndef f(said):\n    return said[0][1] == REORDERED',
    "a sentence": "def f(row):\n    return row['answer'] == 'FALSE ALARM'",
    "a pattern": "import re\ndef f(line):\n    return re.match(r'step (\\d+) differs', line)",
}


@pytest.mark.parametrize("name", BEFORE)
def test_what_was_once_there_is_seen(name):
    assert list(branches("old.py", BEFORE[name], *sentences([BEFORE[name]])))


@pytest.mark.parametrize(
    "text",
    [
        "def f(shown):\n    return shown.seen is Seen.REORDERED and not shown.sizes",
        "def f(formula):\n    return 'scale' in formula",  # a key
        'WAYS = ("own", "of the target")\ndef f(way):\n    return way == "of the target"',  # one of a few choices
    ],
)
def test_types_are_not_accused(text):
    assert not list(branches("new.py", text, *sentences([text])))
