"""How `fuzz.py` reads a file: as the commands do, and on to where what it says is used and shown."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

from dpassay.audit.blackbox.programs import _json
from dpassay.audit.blackbox.sources import read_dataset
from dpassay.audit.blackbox.suspicions import of_outputs, same_data
from dpassay.audit.blackbox.table import to_tables
from dpassay.audit.claims import claimed
from dpassay.audit.claims.compare import compare as worse_than
from dpassay.audit.claims.lock import lock_text, read_lock
from dpassay.audit.claims.model import Algorithm
from dpassay.audit.claims.reading import read_claims
from dpassay.audit.claims.stored import data_files
from dpassay.audit.commands import check, crosscheck, neighbours
from dpassay.audit.crosscheck import storage
from dpassay.audit.crosscheck.differences import compare
from dpassay.audit.inputs import stored
from dpassay.audit.report.annotations import annotations
from dpassay.audit.report.html.page import render
from dpassay.audit.report.html.reproduced import pages
from dpassay.audit.report.html.view import view_of
from dpassay.audit.report.junit import junit
from dpassay.audit.report.markdown import markdown
from dpassay.audit.report.sarif import sarif
from dpassay.audit.report.table import table_lines
from dpassay.audit.running import checkpoint, report_file
from dpassay.audit.search.neighbours import load_witness
from dpassay.audit.search.neighbours import read_witness as read_pair
from dpassay.audit.search.replay import replay
from dpassay.audit.search.witness import read_witness
from dpassay.audit.sequential import session
from dpassay.reference import guarantee
from dpassay.reference.problems import real_data

real_data.datasets.load_breast_cancer = lru_cache(real_data.datasets.load_breast_cancer)
TOP = Path(__file__).resolve().parent.parent
EXAMPLE = TOP / "examples/private-training"


def claims(path: Path) -> Any:
    """Claims, and the files that they name."""
    file, lines = read_claims(path)
    for one in file.claim:
        if not isinstance(one, Algorithm):
            data_files(one, path.parent)
    return [lines.where(number, "epsilon") for number in range(len(file.claim))]


@lru_cache(maxsize=1)
def _sound() -> Any:
    return read_lock(EXAMPLE / "privacy.lock.json")


def lock(path: Path) -> Any:
    """A lock file against a sound one, and written again."""
    found, sound = read_lock(path), _sound()
    for name, block in found.claims.items():
        other = next(iter(sound.claims.values()))
        said = [str(one) for pair in ((block, other), (other, block)) for one in worse_than(name, *pair, frozenset())]
        check._as_it_was(block, block.code)
        assert said is not None
    return lock_text(found)


def vector(path: Path) -> Any:
    """A vector, run again."""
    return crosscheck.replay(path, False)


def vectors(path: Path) -> Any:
    """A file of vectors, and what the commands take from each."""
    return [(one["id"], one["algorithm"], one["case"], len(one["events"])) for one in storage.read_vectors(path)]


def manifest(path: Path) -> Any:
    """A damaged manifest beside sound vectors."""
    folder, name = storage.FOLDER, "baselines/dp_sgd.json"
    beside = path.parent / "vectors"
    with suppress(FileExistsError):
        (beside / "baselines").mkdir(parents=True)
        (beside / name).symlink_to(folder / name)
    (beside / "manifest.json").write_bytes(path.read_bytes())
    storage.FOLDER = beside
    try:
        storage.count.cache_clear()
        return storage.count(), sum(1 for _ in storage.load("baselines/dp_sgd"))
    finally:
        storage.FOLDER = folder
        storage.count.cache_clear()


@lru_cache(maxsize=1)
def expected(name: str) -> Any:
    """A sound vector."""
    return next(one for one in storage.load("baselines/dp_sgd") if one["id"] == name)


def answers(path: Path) -> Any:
    """Answers of another implementation, held against a vector."""
    given = storage.read_object(path, "answers")
    found = compare(expected("baselines/dp_sgd:fixed-size@baseline/smallest"), given)
    return [str(one) for one in found]


def outputs(path: Path) -> Any:
    """Stored outputs as a table, and what is said of them."""
    found = stored.load(path)
    stored.column_names([path, path])
    return of_outputs(to_tables(found, found), found, found)


def dataset(path: Path) -> Any:
    """A dataset: held against another, and sent to a program."""
    found = read_dataset(path)
    return same_data((found, read_dataset(path))), _json(found)


def state(path: Path) -> Any:
    """The state inside a sound checkpoint is what was changed."""
    kept = path.with_suffix(".store")
    kept.unlink(missing_ok=True)
    try:
        document = json.loads(path.read_bytes())
        if not isinstance(document, dict):
            return None
        checkpoint.write(kept, session.KIND, document, None)
    except (ValueError, RecursionError):  # no state at all: the writer is ours, and not what is tried here
        return None
    return session.load(kept).so_far()


def rows_of_store(path: Path) -> Any:
    """The store of an audit that was interrupted: what `--resume` finds, and the report that is written from it."""
    report = path.parent / "resumed.json"
    report.unlink(missing_ok=True)
    report_file.store_of(report).write_bytes(path.read_bytes())
    with report_file.Report(report) as found:
        return found.write()


def witness(path: Path) -> Any:
    """A witness as it is printed."""
    return str(read_witness(path))


def replayed(path: Path) -> Any:
    """A witness of a row of the catalogue, run again."""
    return replay(read_witness(path), (), str(path))


def pair(path: Path) -> Any:
    """A pair of neighbours, and what the file says of them."""
    target, _, _ = neighbours._described(path, read_pair(path), load_witness(path))
    return target.modules


def curve(path: Path) -> Any:
    """A claimed curve."""
    found = guarantee.from_pairs(claimed._pairs(path))
    return found.epsilon(1e-5), found.delta(1.0)


def shown(path: Path) -> Any:
    """A report in every form: no control character of a name may reach a terminal, XML, a page or a comment.

    The page is looked at for one report in forty: it takes longer than all the others.
    """
    rows = report_file.load(path)
    texts = [form(rows) for form in (sarif, junit, markdown, annotations)]
    texts += [str(line) for line in table_lines(rows, 100)]
    texts += [render(view_of(rows, path.name))] if crc32(path.read_bytes()) % 40 == 0 else []
    for text in texts:
        text.encode()
        bad = {letter for letter in text if not letter.isprintable() and letter != "\n"}
        if bad - {"\t", "\u2009", "\u00a0", "\u202f"}:
            raise AssertionError(f"control characters {sorted(map(ascii, bad))} in what is shown")
        if "<script>alert" in text and "</html>" in text:
            raise AssertionError("a name became a script")
    return texts


def page(path: Path) -> Any:
    """A page of a reproduced experiment, as part of the report."""
    kept = path.parent / "dro.md"
    kept.write_bytes(path.read_bytes())
    found = pages(path.parent, ["dro"])
    text = str(found[0].body)
    if "<script" in text or "onerror=" in text.replace("&lt;", ""):
        raise AssertionError("HTML of a page came through")
    return text
