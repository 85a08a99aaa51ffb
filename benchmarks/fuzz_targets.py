"""What `fuzz.py` feeds: for each parser some valid files, the reader that the commands use, and a command line."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import fuzz_protocols as protocols
import fuzz_readers as readers
import numpy as np
from fuzz_stores import changed_store

from dpassay.audit.assaying.assay import Effort, assay_case
from dpassay.audit.attacks.estimators import labelled_data
from dpassay.audit.crosscheck import storage
from dpassay.audit.crosscheck.campaign import read_expected
from dpassay.audit.lockstep.script import Script
from dpassay.audit.plain import json_text
from dpassay.audit.reproductions.dro import Store as DroStore
from dpassay.audit.reproductions.second_order_erm import Run, Store
from dpassay.audit.running import checkpoint, report_file
from dpassay.audit.scores.files import read_canaries, read_scores
from dpassay.audit.search.witness import FORMAT as WITNESS_FORMAT
from dpassay.audit.sequential import session
from dpassay.reference.catalogue import CASES
from dpassay.reference.problems import image_files, real_data

TOP = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Target:
    """A parser.

    Args:
        suffixes: of the files, one for each seed; they say which changes are made.
        seeds: contents of valid files.
        read: what a command does with the file before anything else.
        command: arguments of `dpassay` with FILE where the file stands, and OTHER for a valid one.
        other: name and content of OTHER; default: the first seed.
        change: how a file is damaged, where its suffix does not say so.
        alone: what is read is the content alone: a line of a program, a word.
    """

    name: str
    suffixes: Sequence[str]
    seeds: Sequence[bytes]
    read: Callable[[Path], Any]
    command: tuple[str, ...] = ()
    other: tuple[str, bytes] | None = None
    change: Callable[..., bytes] | None = None
    alone: bool = False


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
    return _json(next(one for one in storage.load("baselines/dp_sgd") if one["id"] == SGD))


def _npy(values: Any) -> bytes:
    file = BytesIO()
    np.save(file, values)
    return file.getvalue()


def _checkpoint(folder: Path) -> bytes:
    path = folder / "fresh.checkpoint"
    path.unlink(missing_ok=True)
    checkpoint.write(path, session.KIND, STATE, None)
    return path.read_bytes()


def _store(folder: Path, report: bytes) -> bytes:
    """Of an audit with this one row that was interrupted."""
    path = folder / "fresh.json"
    path.write_bytes(report)
    kept = report_file.store_of(path)
    kept.unlink(missing_ok=True)
    with report_file.Report(path) as found:
        found.keep(found.rows())
    path.unlink()
    return kept.read_bytes()


def _vectors() -> bytes:
    """The shortest three vectors of a file, as a file."""
    document = json.loads((storage.FOLDER / "baselines/dp_sgd.json").read_bytes())
    document["vectors"] = sorted(document["vectors"], key=lambda one: len(json.dumps(one)))[:3]
    document["cases"] = {one["case"]: document["cases"][one["case"]] for one in document["vectors"]}
    return _json(document)


def _answers() -> bytes:
    """Those of the reference itself."""
    vector = readers.expected(SGD)
    return _json({"events": vector["events"], "output": vector["output"], "claim": vector["claim"]})


STATE = {
    "audited": "losses", "claim": "(1, 1e-05)-DP", "seed": 3, "sessions": 2, "runs": 40, "log_wealth": 0.5, "best": 0.7,
    "marks": [], "under_way": None,
}  # fmt: skip


WITNESS = {
    "format": WITNESS_FORMAT,
    "finding": {"kind": "sensitivity exceeded", "label": "g", "step": 2, "detail": "x", "given_secrets": False},
    "sizes": {"n": 3, "d": 2, "steps": 2}, "rows": [[0.0, 1.0], [1.0, 2.0], [0.5, 0.5]], "there": [1.0, 1.0],
    "target": 1, "swapped": False,
    "script": Script().as_dict(), "seed": 5, "line": "a.py:3", "queries": [[1.0], [2.0]],
    "about": {
        "algorithm": "baselines/dp_sgd:full-batch@baseline", "space": "", "epsilon": 1.0, "delta": 1e-5,
        "relation": "replace-one",
    },
}  # fmt: skip
PAIR = {
    "format": 1, "name": "far", "rows": [[0.0, 1.0], [0.5, 0.5]], "there": [1.0, 0.0], "epsilon": 0.5, "delta": 1e-5,
    "confidence": 0.95, "sound": True, "note": "",
    "about": {"algorithm": "baselines/dp_sgd:full-batch@baseline", "problem": "linear", "radius": 1.0, "claimed": 2.0},
}  # fmt: skip
RUN = Run("digits", 100, "a", "loose", "OPT", 1.0, 0, 0.5, 1.0, 3, 4, True, True)
CELL = {"key": "kl 1.0 0", "content": {"aucs": {"loss": [0.5]}, "groups": [[1, 2]], "gradient_norm": [0.5]}}
EXPECTED = (
    b'["baselines/*"]\noutcome = "fail"\nwhy = "known"\n\n["dro/x/[ab]"]\noutcome = "unsupported"\nwhy = "later"\n'
)
CLASSES = b"0.5,1.5,0\n-1,2e-3,1\n0.25,1,2\n"
PAGE = b"""# Title

| a | b |
|---|---|
| 1 | `x` |

![plot](plot.png) and [a link](https://example.org "t") and <b>html</b>; ![other](../x.png)

- item **bold** &amp; [bad](javascript:alert(1))
"""
SCORES = b"\n".join(b"%.3f" % (k * 0.37 % 1) for k in range(30)) + b"\n"
CANARIES = b"\n".join(b"%.3f,%d" % (k * 0.37 % 1, k % 2) for k in range(30)) + b"\n"
PARTS = (b'{"a": [1, 2.5, null], "b": "x 3.5"}', b'[1, "two", {"k": -0.0}]', b'"text 7e3"')
MIXED = b'{"a": [1, 2.5, null], "b": "x 3.5"}\n[1, "two", {"k": -0.0}]\n"text 7e3"\n12\n'
PAIRS = b"[[0.5, 0.1], [1, 1e-5], [2.0, 0]]"
BLACKBOX = ("blackbox", "--outputs", "FILE", "--outputs", "OTHER", "--epsilon", "1")
IDX = struct.pack(">BBBB3I", 0, 0, 8, 3, 4, 5, 5) + bytes(range(100))
CIFAR = bytes([3]) + bytes(3072) + bytes([9]) + bytes([255]) * 3072
COVERTYPE = b"\n".join(
    b",".join(b"%d" % ((j * 7 + i) % 50) for j in range(54)) + b",%d" % (1 + i % 2) for i in range(4)
)
IJCNN = b"1 1:0.5 3:-2.25 22:1e-3\n-1 2:1 4:0.125\n1 1:-1\n"


CLEAN, FOUND = "baselines/dp_sgd:full-batch@baseline", "output_perturbation/algorithm1:early-stop@printed"


def _report(folder: Path, key: str) -> bytes:
    """Of one row; made once a folder."""
    path = folder / f"report-{key.partition(':')[2]}.json"
    if not path.exists():
        case = next(case for case in CASES if case.key == key)
        rows = [assay_case(case, Effort(runs=50, pilot=50, examples=5))]
        path.write_text(json_text(report_file.document(rows)), encoding="utf-8")
    return path.read_bytes()


def targets(folder: Path, only: str = "") -> list[Target]:
    """Those whose name contains one of the words of ``only`` (separated by commas); ``folder`` for files of seeds."""
    wanted = only.split(",")
    kept = any(word in "report store" for word in wanted)
    report, found = (_report(folder, key) if kept else b"" for key in (CLEAN, FOUND))
    table, coins = _npy(np.arange(9.0)), _npy(np.arange(18.0).reshape(9, 2) % 4 // 2)
    words = _npy(np.array(["a", "bc"]))
    lock = (readers.EXAMPLE / "privacy.lock.json").read_bytes()
    claims = (readers.EXAMPLE / "claims.toml").read_bytes()
    check, two = ("--only", "none"), ("scores", "FILE", "OTHER")
    against = ("check", "OTHER", "--baseline", "FILE", *check)
    compare, page = ("crosscheck", "compare", "OTHER", "FILE", "--no-mutants"), ("report", "FILE", "--no-ledger")
    judged, store = ("sequential", "verdict", "FILE"), _store(folder, report) if report else b""
    manifest, names = (storage.FOLDER / "manifest.json").read_bytes(), protocols.NAMES
    for name in ("members.csv", "others.csv"):
        (folder / name).write_bytes(SCORES)
    uniform = ("other.csv", "\n".join(str(k / 30) for k in range(30)).encode())
    found = [
        Target("claims", (".toml", ".toml"), (CLAIMS, claims), readers.claims, ("check", "FILE", *check)),
        Target("lock", (".json",), (lock,), readers.lock, against, ("other.toml", CLAIMS)),
        Target("vector", (".json",), (_vector(),), readers.vector, ("crosscheck", "replay", "FILE")),
        Target("vectors", (".json",), (_vectors(),), readers.vectors),
        Target("manifest", (".json",), (manifest,), readers.manifest, alone=True),
        Target("answers", (".json",), (_answers(),), readers.answers, compare, ("other.json", _vector())),
        Target("expected", (".toml",), (EXPECTED,), read_expected),
        Target("live line", (".json",) * len(protocols.LINES), protocols.LINES, protocols.said, alone=True),
        Target("live greeting", (".json",) * 3, protocols.GREETINGS, protocols.greeted, alone=True),
        Target("live case", (".jsonl",), (protocols.CASE,), protocols.conversation, alone=True),
        Target("live laws", (".json",) * len(protocols.LAWS), protocols.LAWS, protocols.released, alone=True),
        Target("program alive", (".jsonl",) * 3, (*protocols.ANSWERS, protocols.BOX), protocols.answered, alone=True),
        Target("program once", (".json",) * 4, (*PARTS, PAIRS), protocols.talked, alone=True),
        Target("scores", (".csv", ".npy", ".jsonl"), (SCORES, table, SCORES), read_scores, two, uniform),
        Target("canaries", (".csv", ".npy"), (CANARIES, coins), read_canaries, ("scores", "FILE", "--one-run")),
        Target("outputs", (".jsonl", ".npy", ".csv"), (MIXED, words, CANARIES), readers.outputs, BLACKBOX),
        Target("dataset", (".json", ".npy"), (PAIRS, coins), readers.dataset),
        Target("labelled data", (".csv",), (CLASSES,), lambda path: labelled_data(str(path))),
        Target("checkpoint", (".checkpoint",), (_checkpoint(folder),), session.load, judged, change=changed_store),
        Target("state", (".json",), (_json(STATE),), readers.state, alone=True),
        Target("report store", (".store",), (store,), readers.rows_of_store, change=changed_store, alone=True),
        Target("witness", (".json",), (_json(WITNESS),), readers.witness),
        Target("witness again", (".json",), (_json(WITNESS),), readers.replayed, ("neighbours", "replay", "FILE")),
        Target("pair", (".json",), (_json(PAIR),), readers.pair, ("neighbours", "replay", "FILE", "--runs", "20")),
        Target("curve", (".json",), (PAIRS,), readers.curve, ("scores", "OTHER", "OTHER", "--curve", "FILE"), uniform),
        Target("report", (".json",) * 2, (report, found), readers.shown, page),
        Target("page", (".txt",), (PAGE,), readers.page, alone=True),
        Target("kept runs", (".jsonl",), (b"\n".join([_json(asdict(RUN))] * 2),), Store),
        Target("kept cells", (".jsonl",), (_json(CELL) + b"\n",), DroStore),
        Target("IDX", (".idx", ".gz"), (IDX, gzip.compress(IDX, mtime=0)), image_files.read_idx),
        Target("CIFAR", (".bin",), (CIFAR,), lambda path: image_files.read_cifar10([path])),
        Target("covertype", (".data", ".gz"), (COVERTYPE, gzip.compress(COVERTYPE, mtime=0)), real_data.covertype_file),
        Target("libsvm", (".txt", ".gz"), (IJCNN, gzip.compress(IJCNN, mtime=0)), real_data.ijcnn_file),
        Target("names", (".words",) * len(names), names, protocols.named, ("show", "WORD"), alone=True),
    ]  # fmt: skip
    return [one for one in found if any(word in one.name for word in wanted) and one.seeds[0]]
