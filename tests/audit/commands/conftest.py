"""The command line inside the test's own process."""

from __future__ import annotations

import sys

import pytest

from dpassay.audit.cli import main


@pytest.fixture
def dpassay(monkeypatch, capfd, tmp_path):
    """Run a command in an empty folder; returns exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

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
def project(tmp_path, monkeypatch):
    """Writes claims.toml into the empty folder, whose modules can be imported; returns the folder."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(*claims, head="version = 1\n"):
        (tmp_path / "claims.toml").write_text(head + "".join(claims))
        return tmp_path

    return write


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
