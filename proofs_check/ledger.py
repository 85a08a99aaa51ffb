"""The ledger: all rows of all papers, decided in parallel and cached by content."""

from __future__ import annotations

import hashlib
import importlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from dpassay.reference.errors import BadInput
from dpassay.reference.files import write_text
from dpassay.reference.papers import PAPERS

from .check import check_row
from .claim import Claim, Finding, Result, Row, Saves, Severity, Sharpness, Verdict
from .inventory.items import items

ROWS = "dpassay.proofs_check.rows"
FAILING, UNSAVED = "failing rows", "not saved"


def load_rows(papers: Iterable[str] | None = None) -> list[Row]:
    """Every row, in the order of the papers and of their texts (of the rows' files where a paper has no inventory).

    Raises:
        ValueError: an unknown paper, or an id that occurs twice.
    """
    wanted = tuple(papers) if papers is not None else tuple(PAPERS)
    for paper in wanted:
        if paper not in PAPERS:
            raise ValueError(f"paper = {paper!r}: not one of {', '.join(PAPERS)}")
    rows: list[Row] = [row for paper in PAPERS for row in _rows_of(paper)]
    twice = [row_id for row_id, count in Counter(row.id for row in rows).items() if count > 1]
    if twice:
        raise ValueError(f"id = {twice[0]!r}: occurs twice")
    return [row for row in rows if row.cite.paper in wanted]


@cache
def _rows_of(paper: str) -> list[Row]:
    folder = f"{ROWS}.{paper}"
    modules = importlib.import_module(folder).MODULES
    rows: list[Row] = [row for name in modules for row in importlib.import_module(f"{folder}.{name}").ROWS]
    places = [row_id for item in items(paper) for row_id in item.rows]
    position = {row_id: number for number, row_id in reversed(list(enumerate(places)))}
    return sorted(rows, key=lambda row: position.get(row.id, len(places)))


def chosen(row_id: str = "", place: str = "", papers: Iterable[str] | None = None) -> list[Row]:
    """Rows by a prefix of their id and by the place they cite.

    Args:
        row_id: an id, or its beginning: ``minimax_sosp/eqB2``.
        place: part of a citation, compared without case: ``Lemma 3.1`` does not find Lemma 3.13.
        papers: keys; all by default.
    """
    words = re.compile(rf"(?<![\w.]){re.escape(place.strip())}(?![\w]|\.\d)", re.IGNORECASE)
    return [
        row
        for row in load_rows(papers)
        if row.id.startswith(row_id) and (not place or words.search(row.cite.place) is not None)
    ]


def check_all(
    papers: Iterable[str] | None = None,
    jobs: int = 2,
    cache_dir: Path | str | None = None,
    each: Callable[[Result], None] = lambda _: None,
) -> list[Result]:
    """Decide all rows (of some papers). The order, and every verdict, is the same for any number of jobs.

    Args:
        papers: keys; all by default.
        jobs: worker processes.
        cache_dir: folder of findings keyed by the content of the row and of the checkers; None checks everything.
        each: is told of every row as soon as it is decided.
    """
    return check_rows(load_rows(papers), jobs, cache_dir, each)


def check_rows(
    rows: Sequence[Row],
    jobs: int = 2,
    cache_dir: Path | str | None = None,
    each: Callable[[Result], None] = lambda _: None,
) -> list[Result]:
    """Decide these rows; see :func:`check_all`. An interrupted run resumes from the cache."""
    folder = Path(cache_dir) if cache_dir is not None else None
    code = _code_hash()
    known = {row.id: found for row in rows if folder and (found := _read(folder, _key(row, code), row))}
    todo = [row for row in rows if row.id not in known]
    for result in known.values():
        each(result)
    fresh: Iterable[Result] = map(check_row, todo)
    if jobs > 1 and len(todo) > 1:
        fresh = Parallel(n_jobs=jobs, batch_size=4, return_as="generator")(delayed(check_row)(row) for row in todo)
    for result in fresh:  # one by one, so that an interrupted run goes on where it was
        known[result.row.id] = result
        each(result)
        if folder:
            _write(folder, _key(result.row, code), result)
    return [known[row.id] for row in rows]


def about(prefixes: Iterable[str]) -> list[Row]:
    """The rows on which a privacy claim rests: severity "breaks privacy", id with one of the prefixes.

    The prefixes of an audit case are its ``proofs``; no prefix gives no row.
    """
    starts = tuple(prefixes)
    return [row for row in load_rows() if row.severity is Severity.PRIVACY and row.id.startswith(starts)]


def summary(results: Sequence[Result]) -> dict[str, dict[str, int]]:
    """Rows per paper and verdict; the failing ones also as defects, and by what saves them."""
    table: dict[str, dict[str, int]] = {}
    for result in results:
        line = table.setdefault(
            result.row.cite.paper, dict.fromkeys([*Verdict, "rows", FAILING, "defects", *Saves, UNSAVED], 0)
        )
        line["rows"] += 1
        line[result.verdict] += 1
        if result.failed:
            line[FAILING] += 1
            line[result.saved_by or UNSAVED] += 1
    for paper, line in table.items():
        line["defects"] = len({r.row.shows for r in results if r.failed and r.row.cite.paper == paper})
    return {paper: table[paper] for paper in PAPERS if paper in table}


def as_data(result: Result) -> dict[str, Any]:
    """A result as plain JSON data."""
    data: dict[str, Any] = asdict(result.row)
    data["verdict"] = str(result.verdict)
    data["finding"] = asdict(result.finding)
    for name in _PARTS:
        found = getattr(result, name)
        data[f"{name}_finding"] = asdict(found) if found else None
    data["saved_by"] = result.saved_by
    return data


_PRESENTATION = (  # changes in these decide no row
    "ledger.py",
    "report.py",
    "graph.py",
    "derivations.py",
    "explain.py",
    "cited.py",
    "choices.py",
    "joint.py",
    "statements.py",
    "ties.py",
    "cases.py",
    "corrections.py",
    "effects.py",
    "surroundings.py",
)
_PARTS = ("saving", "sharpness", "corrected", "corrected_sharpness")  # of a result, beside its finding


def _code_hash() -> str:
    digest = hashlib.sha256()
    here = Path(__file__).parent
    for path in sorted([*here.glob("*.py"), *here.glob("checkers/*.py")]):
        if path.name not in _PRESENTATION:
            digest.update(path.read_bytes())
    return digest.hexdigest()


@cache
def _reference_hash() -> str:
    """The algorithms of reference/, on which rows that count releases depend."""
    digest = hashlib.sha256()
    for path in sorted((Path(__file__).parent.parent / "reference").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _key(row: Row, code: str) -> str:
    parts = [asdict(row.claim), asdict(row.saving), row.severity, _claim_data(row.corrects)]
    text = json.dumps(parts, sort_keys=True, default=str)
    if '"releases"' in text:
        text += _reference_hash()
    return hashlib.sha256((code + text).encode()).hexdigest()[:32]


def _claim_data(claim: Claim | None) -> dict[str, Any] | None:
    return asdict(claim) if claim else None


def _read(folder: Path, key: str, row: Row) -> Result | None:
    path = folder / f"{key}.json"
    if not path.is_file():
        return None
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        finding, saving = _finding(data["finding"]), _finding(data["saving"])
        corrected = _finding(data["corrected"])
        sharpness, of_correction = _sharpness(data["sharpness"]), _sharpness(data["corrected_sharpness"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None  # an unreadable entry is checked again
    return Result(row, finding, saving, sharpness, corrected, of_correction) if finding else None


def _finding(data: dict[str, Any] | None) -> Finding | None:
    return None if data is None else Finding(**{**data, "verdict": Verdict(data["verdict"])})


def _sharpness(data: dict[str, Any] | None) -> Sharpness | None:
    return None if data is None else Sharpness(**data)


def _write(folder: Path, key: str, result: Result) -> None:
    parts = {name: getattr(result, name) for name in ("finding", *_PARTS)}
    data = {name: asdict(part) if part else None for name, part in parts.items()}
    with suppress(BadInput):  # in a folder that cannot be written to there is no cache, and that is all
        write_text(folder / f"{key}.json", json.dumps(data, sort_keys=True), "cache")
