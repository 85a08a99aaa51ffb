"""The documentation site: built strictly, with every page, and nothing that is fetched from another host."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dpassay.audit.cli import COMMANDS
from dpassay.reference import __all__ as names

ROOT = Path(__file__).resolve().parents[2]
FETCHED = re.compile(r"""<(?:script|img|iframe|source|link)[^>]*?(?:src|href)=["']?((?:https?:)?//[^"' >]+)""")


def build(config: Path, target: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config), "-d", str(target)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs", reason="the extra docs is not installed")
    target = tmp_path_factory.mktemp("site")
    (ROOT / ".links" / "dpassay").mkdir(parents=True, exist_ok=True)
    subprocess.run(["make", "-s", "links"], cwd=ROOT, check=True)
    done = build(ROOT / "mkdocs.yml", target)
    assert done.returncode == 0, done.stderr[-3000:]
    return target


@pytest.mark.slow
def test_every_page_is_on_the_site(site):
    pages = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
    missing = [page for page in pages if not (site / page).with_suffix(".html").is_file() and page.stem != "README"]
    assert missing == [] and (site / "index.html").is_file() and (site / "ledger.html").is_file()
    assert (site / "reproductions" / "index.html").is_file()


@pytest.mark.slow
def test_nothing_is_fetched_from_another_host(site):
    found = {(page.name, url) for page in site.rglob("*.html") for url in FETCHED.findall(page.read_text("utf-8"))}
    assert found == set()
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    assert not re.search(r"@import|url\([\"']?(https?:)?//", styles)
    assert (site / "assets" / "iframe-worker.js").is_file()


@pytest.mark.slow
def test_generated_pages_hold_what_they_are_made_of(site):
    reference = (site / "reference.html").read_text("utf-8")
    assert all(f".{name}" in reference for name in names)
    assert 'class="gp"' in reference  # examples are shown as code
    opt = (site / "algorithms" / "second_order_erm" / "opt.html").read_text("utf-8")
    assert "statements/second_order_erm/algorithm_1.html" in opt  # its statements, its schedule, its readings
    assert "<td><code>min((1 - 2*c1)" in opt and "opt:worst@repaired" in opt
    options = (site / "options.html").read_text("utf-8")
    assert all(f"dpassay {name}" in options for name in (*COMMANDS, "crosscheck live"))
    assert all(option in options for option in ("--sarif", "--keep-alive", "--one-run", "--timeout"))


@pytest.mark.parametrize(
    ("link", "place", "name", "new"),
    [
        ("docs/own.md#plain-numpy-code", "README.md", "index.md", "own.md#plain-numpy-code"),
        ("../../README.md", "docs/reproductions/README.md", "reproductions/README.md", "../index.md"),
        ("../benchmarks/results/zoo.md", "docs/proofs.md", "proofs.md", "benchmarks/zoo.md"),
        ("https://example.org/a", "docs/api.md", "api.md", "https://example.org/a"),
        ("nowhere.md", "docs/api.md", "api.md", "nowhere.md"),
    ],
)
def test_links_are_changed_to_names_of_the_site(link, place, name, new):
    pytest.importorskip("mkdocs", reason="the extra docs is not installed")
    spec = importlib.util.spec_from_file_location("dpassay_site", ROOT / "docs" / "site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.linked(f"[a]({link})", place, name) == f"[a]({new})"
    assert module.linked("[the licence](LICENSE)", "README.md", "index.md") == "the licence"  # not on the site
