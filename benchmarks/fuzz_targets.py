"""What `fuzz.py` feeds: for each parser some valid files, the reader that the commands use, and a command line."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.audit import checkpoint, report_file, stored
from dpassay.audit.assay import Effort, assay_case
from dpassay.audit.blackbox.table import to_tables
from dpassay.audit.claims.lock import read_lock
from dpassay.audit.claims.reading import read_claims
from dpassay.audit.commands import claimed, crosscheck
from dpassay.audit.crosscheck.storage import load as load_vectors
from dpassay.audit.live import messages
from dpassay.audit.live.conversation import Conversation
from dpassay.audit.lockstep.script import Script
from dpassay.audit.plain import json_text
from dpassay.audit.report.annotations import annotations
from dpassay.audit.report.junit import junit
from dpassay.audit.report.markdown import markdown
from dpassay.audit.report.sarif import sarif
from dpassay.audit.report.table import table_lines
from dpassay.audit.scores.files import read_canaries, read_scores
from dpassay.audit.search.witness import FORMAT as WITNESS_FORMAT
from dpassay.audit.search.witness import read_witness
from dpassay.audit.sequential import session
from dpassay.reference import guarantee
from dpassay.reference.catalogue import CASES
from dpassay.reference.problems import image_files, real_data
from dpassay.reference.tape import LiveTape

TOP = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Target:
    """A parser.

    Args:
        suffixes: of the files, one for each seed.
        seeds: contents of valid files.
        read: what a command does with the file before anything else.
        command: arguments of `dpassay` with FILE where the file stands, and OTHER for a valid one.
    """

    name: str
    suffixes: Sequence[str]
    seeds: Sequence[bytes]
    read: Callable[[Path], Any]
    command: tuple[str, ...] = ()


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


CLAIMS = b"""
version = 1

[[claim]]
name = "scores"
scores = ["members.csv", "others.csv"]
epsilon = 1.0
delta = 1e-5

[[claim]]
name = "sgd"
algorithm = "baselines/dp_sgd:full-batch@baseline"
epsilon = 2.0
delta = 1e-5
"""
SGD = "baselines/dp_sgd:fixed-size@baseline/smallest"


def _vector() -> bytes:
    return _json(next(one for one in load_vectors("baselines/dp_sgd") if one["id"] == SGD))


def _npy(values: Any) -> bytes:
    file = BytesIO()
    np.save(file, values)
    return file.getvalue()


def _checkpoint(folder: Path) -> bytes:
    path = folder / "fresh.checkpoint"
    path.unlink(missing_ok=True)
    checkpoint.write(path, session.KIND, STATE, None)
    return path.read_bytes()


STATE = {
    "audited": "losses", "claim": "(1, 1e-05)-DP", "seed": 3, "sessions": 2, "runs": 40, "log_wealth": 0.5, "best": 0.7,
    "marks": [], "under_way": None,
}  # fmt: skip


def _state(path: Path) -> Any:
    """The state inside a sound store is what was changed."""
    kept = path.with_suffix(".store")
    kept.unlink(missing_ok=True)
    try:
        state = json.loads(path.read_bytes())
        if not isinstance(state, dict):
            return None
        checkpoint.write(kept, session.KIND, state, None)
    except (ValueError, RecursionError):  # no state at all: the writer is ours, and not what is tried here
        return None
    return session.load(kept)


def _line(path: Path) -> Any:
    said = messages.read_line(path.read_bytes())
    if hasattr(said, "query"):
        messages.numbers(said.query, "query")
    return said


class _Program:
    """A program that says the lines of a file."""

    name, complaint, budget = "fuzz", "", 0.0

    def __init__(self, said: Sequence[bytes]):
        self._said = iter(said)

    def send(self, line: bytes) -> None:
        """Nobody listens."""

    def receive(self, timeout: float | None = None) -> bytes:
        """The next line."""
        return next(self._said, b'{"output": 0}')


def _conversation(path: Path) -> Any:
    return Conversation(_Program(path.read_bytes().split(b"\n")), LiveTape(0)).hold(b"{}\n")  # type: ignore[arg-type]


ASKS: tuple[object, ...] = (
    {"ask": "batch", "label": "b", "n": 9, "size": 3},
    {"ask": "poisson", "label": "p", "n": 9, "rate": 0.5},
    {"ask": "gaussian", "label": "g", "query": [1.0, -2.5e-3], "std": 2.0, "sensitivity": 0.5, "batches": [0]},
    {"ask": "gaussian", "label": "g", "query": [[1.0, 2.0]], "std": 2.0, "sensitivity": 0.5},
    {"ask": "laplace", "label": "l", "query": 1.0, "scale": 2.0, "sensitivity": None},
    {"ask": "secret", "label": "r", "draw": "normal", "shape": [2]},
    {"ask": "noise", "label": "n", "std": 1.0},
    {"ask": "reveal", "label": "v", "value": {"a": [1, 2]}},
    {"output": [1.0, 2.0]},
)
LINES = tuple(_json(one) for one in ASKS)
WITNESS = {
    "format": WITNESS_FORMAT,
    "finding": {"kind": "sensitivity exceeded", "label": "g", "step": 2, "detail": "x", "given_secrets": False},
    "sizes": {"n": 3}, "rows": [[0.0, 1.0], [1.0, 2.0], [0.5, 0.5]], "there": [1.0, 1.0], "target": 1, "swapped": False,
    "script": Script().as_dict(), "seed": 5, "line": "a.py:3", "queries": [[1.0], [2.0]],
    "about": {"problem": "x", "epsilon": 1.0},
}  # fmt: skip
SCORES = b"\n".join(b"%.3f" % (k * 0.37 % 1) for k in range(30)) + b"\n"
CANARIES = b"\n".join(b"%.3f,%d" % (k * 0.37 % 1, k % 2) for k in range(30)) + b"\n"
MIXED = b'{"a": [1, 2.5, null], "b": "x 3.5"}\n[1, "two", {"k": -0.0}]\n"text 7e3"\n12\n'
PAIRS = b"[[0.5, 0.1], [1, 1e-5], [2.0, 0]]"
BLACKBOX = ("blackbox", "--outputs", "FILE", "--outputs", "OTHER", "--epsilon", "1")
IDX = struct.pack(">BBBB3I", 0, 0, 8, 3, 4, 5, 5) + bytes(range(100))
CIFAR = bytes([3]) + bytes(3072) + bytes([9]) + bytes([255]) * 3072
COVERTYPE = b"\n".join(
    b",".join(b"%d" % ((j * 7 + i) % 50) for j in range(54)) + b",%d" % (1 + i % 2) for i in range(4)
)
IJCNN = b"1 1:0.5 3:-2.25 22:1e-3\n-1 2:1 4:0.125\n1 1:-1\n"


def _report(folder: Path) -> bytes:
    """Of one row; made once a folder."""
    path = folder / "report.json"
    if not path.exists():
        case = next(case for case in CASES if case.key == "baselines/dp_sgd:full-batch@baseline")
        rows = [assay_case(case, Effort(runs=50, pilot=50, examples=5))]
        path.write_text(json_text(report_file.document(rows)), encoding="utf-8")
    return path.read_bytes()


def targets(folder: Path, only: str = "") -> list[Target]:
    """Those whose name contains ``only``; ``folder`` for files that a seed is made from."""
    report = _report(folder) if only in "report" else b""
    table, coins = _npy(np.arange(9.0)), _npy(np.arange(18.0).reshape(9, 2) % 4 // 2)
    words = _npy(np.array(["a", "bc"]))
    lock = (TOP / "examples/private-training/privacy.lock.json").read_bytes()
    claims = (TOP / "examples/private-training/claims.toml").read_bytes()
    found = [
        Target("claims", (".toml", ".toml"), (CLAIMS, claims), read_claims, ("check", "FILE", "--only", "none")),
        Target("lock", (".json",), (lock,), read_lock, ("check", "OTHER", "--baseline", "FILE", "--only", "none")),
        Target("vector", (".json",), (_vector(),), _replay, ("crosscheck", "replay", "FILE")),
        Target("live line", (".json",) * len(LINES), LINES, _line),
        Target("live case", (".jsonl",), (b"\n".join(LINES),), _conversation),
        Target("scores", (".csv", ".npy", ".jsonl"), (SCORES, table, SCORES), read_scores, ("scores", "FILE", "OTHER")),
        Target("canaries", (".csv", ".npy"), (CANARIES, coins), read_canaries, ("scores", "FILE", "--one-run")),
        Target("outputs", (".jsonl", ".npy", ".csv"), (MIXED, words, CANARIES), _outputs, BLACKBOX),
        Target("checkpoint", (".checkpoint",), (_checkpoint(folder),), session.load),
        Target("state", (".json",), (_json(STATE),), _state),
        Target("witness", (".json",), (_json(WITNESS),), read_witness, ("neighbours", "replay", "FILE")),
        Target("curve", (".json",), (PAIRS,), _curve, ("scores", "OTHER", "OTHER", "--curve", "FILE")),
        Target("report", (".json",), (report,), _shown, ("report", "FILE", "--no-ledger", "--output", "page.html")),
        Target("IDX", (".idx", ".gz"), (IDX, gzip.compress(IDX, mtime=0)), image_files.read_idx),
        Target("CIFAR", (".bin",), (CIFAR,), lambda path: image_files.read_cifar10([path])),
        Target("covertype", (".data", ".gz"), (COVERTYPE, gzip.compress(COVERTYPE, mtime=0)), real_data.covertype_file),
        Target("libsvm", (".txt",), (IJCNN,), real_data.ijcnn_file),
    ]  # fmt: skip
    return [one for one in found if only in one.name]


def _replay(path: Path) -> Any:
    return crosscheck.replay(path, False)


def _outputs(path: Path) -> Any:
    found = stored.load(path)
    return to_tables(found, found)


def _curve(path: Path) -> Any:
    return guarantee.from_pairs(claimed._pairs(path))


def _shown(path: Path) -> Any:
    """Read it and write it in every form: no control character of a name may reach a terminal, XML or a comment."""
    rows = report_file.load(path)
    texts = [form(rows) for form in (sarif, junit, markdown, annotations)]
    texts += [str(line) for line in table_lines(rows, 100)]
    for text in texts:
        bad = {letter for letter in text if not letter.isprintable() and letter != "\n"}
        if bad:
            raise AssertionError(f"control characters {sorted(map(ascii, bad))} in what is shown")
    return texts
