"""A program: `python killed.py KILLS` kills `dpassay audit` at random moments and compares what is left in the end.

Each run is a fork that audits six small cases (two if it is killed a few times only); it is killed with -9 after a
random time and started again with --resume until it ends. Every report that comes out must have the rows of a run that
nobody disturbed. Prints how many kills hit which number of kept rows.
"""

import contextlib
import io
import json
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from pathlib import Path

from dpassay.audit.cli import main
from dpassay.audit.commands import audit
from dpassay.audit.running.store import Store
from dpassay.reference.case import Case, Instance, PrivacyClaim
from dpassay.reference.neighbours import Pair
from dpassay.reference.papers import Cite

HERE = Cite("dwork2014", "Theorem 3.22")
REPORT = Path("reports/audit.json")
WORDS = ["dpassay", "audit", "--runs", "60", "--pilot", "60", "--examples", "2", "--jobs", "1", "--json"]


def honest(x, tape):
    return tape.gaussian("g", x, std=1.0, sensitivity=1.0)


def case(number):
    def build():
        return Instance(honest, None, Pair(number / 10, 0.0, 0)).with_mechanism(honest)

    return Case(f"test/c{number}", "repaired", "a test", HERE, PrivacyClaim(5.0, 1e-5, HERE), build)


def command(*more):
    """The command in this process: its exit code."""
    sys.argv = [*WORDS, *more]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            main()
        except SystemExit as stop:
            return stop.code or 0
    return 99


def forked(*more):
    """The command in a process of its own: its id."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os._exit(command(*more))
    return child


def rows():
    found = json.loads(REPORT.read_text())["rows"]
    return [{name: value for name, value in row.items() if name != "seconds"} for row in found]


def main_program(kills):
    count = 6 if kills > 10 else 2
    audit.CASES = [case(number) for number in range(1, count + 1)]
    command()  # loads the libraries: else most kills come before anything is kept
    start = time.monotonic()
    code = os.waitpid(forked(), 0)[1]
    whole, length, rng = rows(), time.monotonic() - start, random.Random(0)
    assert len(whole) == count
    hit = Counter()
    while kills:
        shutil.rmtree(REPORT.parent)
        more, ended = (), False
        while not ended:
            child = forked(*more)
            time.sleep(rng.random() * length * 0.9 if kills else 0.0)
            if kills:
                os.kill(child, signal.SIGKILL)
                kills -= 1
            status = os.waitpid(child, 0)[1]
            ended = os.WIFEXITED(status)
            more = ("--resume",)
            store = REPORT.with_name(".audit.json.store")
            if not ended and store.exists():
                with Store(store, "--output") as kept:
                    hit[len(kept.records("row"))] += 1
        assert status == code, status
        assert rows() == whole
    print(dict(sorted(hit.items())))


if __name__ == "__main__":
    main_program(int(sys.argv[1]))
