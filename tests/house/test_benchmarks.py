"""What holds of the scripts in benchmarks/ without measuring anything."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_a_benchmark_without_its_optional_package_is_skipped_with_one_line(tmp_path, monkeypatch, capsys):
    """`make bench` goes on with the others: exit code 0, nothing measured, nothing written; and it has a --help."""
    absent = tmp_path / "jax_privacy.py"  # found before an installed one, and missing all the same
    absent.write_text("raise ImportError('not installed')\n")
    kept = ROOT / "benchmarks" / "results" / "jax_privacy.md"
    before = kept.read_bytes()
    folder = ROOT / "benchmarks"
    before_modules = set(sys.modules)
    for words in (("--quick", "--write"), ("--help",)):
        with monkeypatch.context() as fresh:
            fresh.setattr(sys, "path", [str(folder), str(tmp_path), *sys.path])
            fresh.setattr(sys, "argv", ["jax_privacy.py", *words])
            with pytest.raises(SystemExit) as ended:
                runpy.run_path(str(folder / "jax_privacy.py"), run_name="__main__")
            for name in {path.stem for path in folder.glob("*.py")} & set(sys.modules) - before_modules:
                del sys.modules[name]
        out, err = capsys.readouterr()
        assert not ended.value.code and not err and kept.read_bytes() == before
        if words[0] == "--quick":
            told = "skipped: benchmarks/jax_privacy.py compares with jax-privacy, which is not installed"
            assert out.splitlines() == [told]
        else:
            assert "--quick" in out


@pytest.mark.slow
def test_fuzzing_every_parser_for_a_moment(tmp_path):
    """Two hundred damaged files of each: fine, or one line. And a reader that raises is called a traceback."""
    done = _run("fuzz.py", "--inputs", "200", "--sample", "100", "--folder", str(tmp_path), first=tmp_path)
    assert done.returncode == 0, done.stderr
    state = json.loads((tmp_path / "state.json").read_text())
    assert len(state) > 30 and all(one["next"] == 200 for one in state.values())
    good = {"fine", "refused"}
    broken = [name for name, one in state.items() if {*one["classes"], *one["commands"], *one.get("odd", ())} - good]
    assert not broken, done.stdout
    planted = "import sys; sys.path.insert(0, sys.argv.pop(1)); import fuzz, fuzz_readers; "
    planted += "fuzz_readers.witness = lambda path: 1 / 0; fuzz.main()"
    words = ("--inputs", "20", "--only", "witness", "--folder", str(tmp_path / "again"))
    command = [sys.executable, "-c", planted, str(ROOT / "benchmarks"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "ZeroDivisionError" in done.stdout and "| witness | 20 | 0 | 0 | 20 |" in done.stdout


def _run(script: str, *options: str, first: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(first), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, str(ROOT / "benchmarks" / script), *options]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False)
