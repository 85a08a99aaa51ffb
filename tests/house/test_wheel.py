"""The wheel, installed alone into a clean environment: every module imports, the command runs."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
IMPORT_ALL = """
import importlib, pkgutil, sys
import dpassay
names = [m.name for m in pkgutil.walk_packages(dpassay.__path__, "dpassay.")]
# the plugin is loaded by pytest, which is not installed there
[importlib.import_module(name) for name in names if not name.startswith("dpassay.audit.pytest_")]
assert not any("site-packages" not in p for p in dpassay.__path__), list(dpassay.__path__)
print(len(names))
"""


@pytest.mark.slow
def test_wheel_and_sdist_install_and_import(tmp_path):
    """Dependencies come from the environment that runs the tests; dpassay itself from the wheel alone."""
    source = tmp_path / "source"
    clone = ["git", "ls-files", "-z"]
    for file in subprocess.run(clone, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0"):
        if file and (ROOT / file).is_file():
            (source / file).parent.mkdir(parents=True, exist_ok=True)
            (source / file).write_bytes((ROOT / file).read_bytes())
    build = [sys.executable, "-m", "build", "--outdir", str(tmp_path / "dist"), str(source)]
    subprocess.run(build, check=True, capture_output=True)
    wheel = next((tmp_path / "dist").glob("*.whl"))
    assert next((tmp_path / "dist").glob("*.tar.gz"))
    folder = tmp_path / "venv"
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", str(wheel)], check=True, capture_output=True)
    here = next((folder / "lib").glob("python*")) / "site-packages"
    others = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    # .pth files of the outer environment are not processed for added paths, so its editable dpassay stays out
    (here / "outer.pth").write_text("\n".join(others) + "\n")
    run = [python, "-c", IMPORT_ALL]
    found = subprocess.run(run, cwd=tmp_path, check=True, capture_output=True, text=True)
    modules = [path for name in ("reference", "audit", "proofs_check") for path in (ROOT / name).rglob("*.py")]
    assert int(found.stdout) >= len(modules), "every module of the source tree is in the wheel"
    command = [folder / "bin" / "dpassay", "list"]
    show = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "baselines/dp_sgd" in show.stdout
    report_of_the_wheel(folder / "bin" / "dpassay", tmp_path)


def report_of_the_wheel(dpassay, place):
    """The templates of the HTML report are data of the package: they must be in the wheel."""
    audit = ["audit", "baselines/dp_sgd:full-batch", "--runs", "20", "--pilot", "50", "--examples", "0"]
    subprocess.run([dpassay, *audit, "--output", "a.json"], cwd=place, check=False, capture_output=True)
    subprocess.run([dpassay, "report", "a.json", "--no-ledger"], cwd=place, check=True, capture_output=True)
    page = (place / "a.html").read_text(encoding="utf-8")
    assert page.rstrip().endswith("</html>") and "<svg" in page
