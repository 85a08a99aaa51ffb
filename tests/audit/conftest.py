"""What tests of several rooms share."""

import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from dpassay.audit.cli import main
from dpassay.audit.running import store
from dpassay.audit.scores import power


@pytest.fixture(scope="session", autouse=True)
def _no_power_cut():
    """Stores do not wait for the disk: what a kill leaves is the same, and only a power cut could tell."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "_SYNC", False)
        yield


@pytest.fixture
def brief_power(monkeypatch):
    """Two simulated samples in place of forty beside an inconclusive verdict: for tests of something else."""
    monkeypatch.setattr(power, "REPETITIONS", 2)


@pytest.fixture
def dpassay(monkeypatch, capfd, tmp_path):
    """Run a command in the test's own process, in an empty folder; returns exit code, output and standard error.

    Without the column of what is proved, which takes seconds: `test_assay.py` has it.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])  # commands add the folder
    monkeypatch.setattr("dpassay.audit.commands.audit.with_proofs", lambda rows, *_: rows)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["dpassay", *map(str, words)])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
        out, err = capfd.readouterr()
        return code, out, err

    return run


@pytest.fixture
def gone():
    """Tells whether a process has ended, within two seconds; its parent may be anybody by now."""

    def ended(pid):
        for _ in range(200):
            with suppress(FileNotFoundError, ProcessLookupError):
                if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX":
                    time.sleep(0.01)
                    continue
            return True
        return False

    return ended


@pytest.fixture
def refused():
    """Asserts that a command was refused: one line that holds these words, exit code 2, nothing on standard output."""

    def judge(result, *words):
        code, out, err = result
        assert code == 2 and not out, (code, out)
        assert len(err.strip().splitlines()) == 1 and err.startswith("dpassay: "), err
        for word in words:
            assert word in err, err

    return judge
