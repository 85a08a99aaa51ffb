"""What holds of the scripts in benchmarks/ without measuring anything."""

from __future__ import annotations

import runpy
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
