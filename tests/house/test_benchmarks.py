"""What holds of the scripts in benchmarks/ without measuring anything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_benchmark_without_its_optional_package_is_skipped_with_one_line(tmp_path):
    """`make bench` goes on with the others: exit code 0, nothing measured, nothing written."""
    absent = tmp_path / "jax_privacy.py"  # found before an installed one, and missing all the same
    absent.write_text("raise ImportError('not installed')\n")
    kept = ROOT / "benchmarks" / "results" / "jax_privacy.md"
    before = kept.read_bytes()
    done = _run("jax_privacy.py", "--quick", "--write", first=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "skipped: benchmarks/jax_privacy.py compares with jax-privacy, which is not installed"
    ]
    assert not done.stderr and kept.read_bytes() == before
    assert "--quick" in _run("jax_privacy.py", "--help", first=tmp_path).stdout


def _run(script: str, *options: str, first: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(first), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, str(ROOT / "benchmarks" / script), *options]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False)
