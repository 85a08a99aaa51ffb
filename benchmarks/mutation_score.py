"""Does a test fail when a line is wrong? Slips of the pen in modules, judged by the fast tests of their rooms.

python benchmarks/mutation_score.py [MODULE=TESTS ...] [--sample 12] [--seed 0] [--write]

`MODULE` is a file of the package (`reference/blocks/tree.py`), `TESTS` what pytest is given, several with commas.
A line that no test runs is judged too: the share counts what nobody looks at as well. A slip that means the same (a
`>` for `>=` where both sides never agree) cannot be killed, so 100 % is not the aim: compare before and after a change.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import audit_figures as figures
import numpy as np

from dpassay.audit.mutate.judge import FOLDERS
from dpassay.audit.mutate.operators import Site
from dpassay.audit.mutate.slips import slips

ROOT = Path(__file__).resolve().parents[1]
MODULES = (
    "reference/blocks/tree.py=tests/reference/blocks",
    "audit/bounds.py=tests/audit/test_bounds.py",
    "audit/claims/compare.py=tests/audit/claims",
)
HEADER = ("module", "tests", "slips", "planted", "killed", "CPU seconds of the tests")
LIMIT = 20  # times as long as the tests take without a slip


def main() -> None:
    """One line a module, and every slip that lived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", default=MODULES, help="MODULE=TESTS")
    parser.add_argument("--sample", type=int, default=12, help="slips of a module, drawn by chance")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="keep the table in benchmarks/results")
    chosen = parser.parse_args()
    rows, alive = [], []
    for one in chosen.modules:
        file, _, tests = one.partition("=")
        row, lived = score(file, tests.split(","), chosen.sample, chosen.seed)
        rows.append(row)
        alive += lived
    title = "Slips of the pen that the fast tests of a room kill"
    figures.finish("mutation_score", title, HEADER, rows, [f"- lived: {one}" for one in alive], chosen.write)


def score(file: str, tests: Sequence[str], sample: int, seed: int) -> tuple[tuple[str | int | float, ...], list[str]]:
    """The row of one module, and the slips that its tests do not see."""
    text = (ROOT / file).read_text(encoding="utf-8")
    sites = slips(text, lambda line: True, lambda function, name: ())
    drawn = [sites[i] for i in sorted(np.random.default_rng(seed).permutation(len(sites))[:sample])]
    with tempfile.TemporaryDirectory(prefix="dpassay-slips-") as folder:
        for name in FOLDERS:
            shutil.copytree(ROOT / name, Path(folder) / "dpassay" / name)
        code, seconds = _run(folder, tests, None)
        if code != 0:
            sys.exit(f"{file}: {' '.join(tests)} ends with {code} before anything is planted")
        alive = [site for site in drawn if not _kills(folder, file, text, site, tests, LIMIT * seconds)]
    row = (file, " ".join(tests), len(sites), len(drawn), len(drawn) - len(alive), seconds)
    return row, [f"{file}:{site.line} {site.operator.name}: {site.text.splitlines()[0]}" for site in alive]


def _kills(folder: str, file: str, text: str, site: Site, tests: Sequence[str], limit: float) -> bool:
    (Path(folder) / "dpassay" / file).write_text(text[: site.first] + site.text + text[site.last :], encoding="utf-8")
    return _run(folder, [*tests, "-x"], limit)[0] != 0


def _run(folder: str, words: Sequence[str], limit: float | None) -> tuple[int | None, float]:
    """Exit code of the tests on the copy, None where they do not end, and their CPU seconds."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow and not more", *words]
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    environment = os.environ | threads | {"PYTHONPATH": folder}
    before = os.times()
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return None, 0.0
    after = os.times()
    return done.returncode, after.children_user + after.children_system - before.children_user - before.children_system


if __name__ == "__main__":
    main()
