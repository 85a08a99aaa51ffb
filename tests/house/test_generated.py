"""What is generated: README's table and docs/results.md, the map of the papers, the documentation site."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dpassay.audit import marked
from dpassay.audit.cli import COMMANDS
from dpassay.audit.row import Row
from dpassay.audit.running.report_file import FORMAT
from dpassay.audit.version import installed_version
from dpassay.proofs_check import paper_map
from dpassay.proofs_check.derivation.ledger import STATEMENTS
from dpassay.reference import __all__ as names
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import BadInput
from dpassay.reference.papers import OTHERS, PAPERS

ROOT = Path(__file__).resolve().parents[2]


def script(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


pages = script("results")
RESULTS = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
ROW = Row(
    "baselines/x", "", "baseline", "", 1.0, 1e-5, "replace-one", 0.999, "", True, 0.981, "likelihood", "tight",
    "98% shown", True, [], [], [], {}, None, 10, 60, 0.95, 0, 0.1, "0" * 16, {},
).as_dict()  # fmt: skip


def report(*more, **change):
    return json.dumps({"format": FORMAT, "dpassay": installed_version(), "rows": [{**ROW, **change}, *more]})


COUNTS = "5 statements: 3 proved, 2 broken, open (`dpassay prove`)."
LEDGER = f"{marked.LEDGER.begin}\n{COUNTS}\n{marked.LEDGER.end}"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pages, "CAUSES", {"baselines/x@baseline": "none"})
    monkeypatch.setattr(pages, "ROWS", {"baselines/x@baseline"})
    (tmp_path / "docs").mkdir()
    Path("docs/results.md").write_text(f"before\n{marked.AUDIT.begin}\n{marked.AUDIT.end}\nafter\n{LEDGER}\n")
    Path("README.md").write_text(f"first\n{marked.SHORT.begin}\n{marked.SHORT.end}\nlast\n")
    Path("audit.json").write_text(report())
    return tmp_path


def test_the_committed_table_has_the_default_suite_and_the_readme_shows_eight_of_its_rows():
    """The quick cases in their order (`.ci/run` holds the numbers); eight of all papers and a baseline."""
    wanted = [case.key for case in CASES if case.quick]
    assert [line.key for line in pages.lines_of(RESULTS)] == wanted, "run `make audit tables`"
    assert marked.SHORT.read(README, "README.md").strip() == pages.short_block(RESULTS)
    assert len(pages.CAUSES) == 8 and max(map(len, pages.CAUSES.values())) <= pages.LONGEST_CAUSE
    assert len({key.split("/")[0] for key in pages.CAUSES}) == 6
    assert len(README.splitlines()) <= 125 and max(map(len, README.splitlines())) <= 200


def test_the_plot_is_of_these_rows_and_the_same_rows_give_the_same_plot():
    text, lines = (ROOT / pages.PLOT).read_text(encoding="utf-8"), pages.lines_of(RESULTS)
    assert pages.fingerprint(lines) in text, "run `python docs/results.py`"
    assert pages.fingerprint(lines[:-1]) not in text
    first = pages.draw(lines[:3])
    assert pages.draw(lines[:3]) == first and "baselines/dp_sgd:digits@baseline" in first


SEEN = [{"realised": 0.8}, {"verdict": "consistent"}, {"realised": "infinity", "realised_by": "exact"}]
SEEN += [{"reading": "printed"}, {"accounted": 1.2}, {"upper_bound": False}]


@pytest.mark.parametrize(
    ("change", "noticed"), [({}, False), ({"realised": 0.97}, False), *((one, True) for one in SEEN)]
)
def test_a_change_of_what_is_shown_is_noticed(place, change, noticed):
    assert pages.main(["audit.json"]) == 0
    text = Path("docs/results.md").read_text()
    assert text.startswith("before\n") and text.endswith(f"after\n{LEDGER}\n")
    assert "| `baselines/x` | baseline | 1 | open | 0.999 | 0.981 | tight | none |" in Path("README.md").read_text()
    assert "The papers make 5 statements: 3 proved, 2 broken" in Path("README.md").read_text()
    assert pages.fingerprint(pages.lines_of(text)) in Path("docs/results.svg").read_text()
    Path("audit.json").write_text(report(**change))
    assert pages.main(["audit.json", "--check"]) == int(noticed)


def test_a_row_that_is_gone_is_noticed_and_one_of_another_suite_left_out(place):
    Path("audit.json").write_text(report({**ROW, "variant": "y"}))
    assert pages.main(["audit.json"]) == 0 and len(pages.lines_of(Path("docs/results.md").read_text())) == 1
    Path("audit.json").write_text(report(variant="y"))
    with pytest.raises(BadInput, match="baselines/x@baseline"):
        pages.main(["audit.json"])
    assert pages.differences(pages.table([ROW, ROW]), pages.table([ROW]))


def test_a_page_has_its_markers_once_a_block_has_none_and_a_cell_neither_link_nor_markup():
    """A line of code in a row's reason was read as a reference to a footnote, and stopped the site's build."""
    begin, end = marked.SHORT.begin, marked.SHORT.end
    for text in ("nothing here", f"{end} {begin}", 2 * f"{begin} x {end}"):
        with pytest.raises(BadInput, match=r"README\.md.*markers"):
            marked.SHORT.written(text, "new", "README.md")
    with pytest.raises(BadInput, match="holds a marker"):
        marked.SHORT.written(f"{begin}\n{end}", f"x {end} y", "README")
    assert pages.cell("x = y[-1][1] | <b>") == r"x = y\[-1]\[1] \| &lt;b>"


# -- the papers: they have names, and the map from their statements to files, tests and rows is what the project says
def test_a_paper_can_be_identified_and_every_citation_of_the_project_is_known():
    """A title, a version, and authors unless the text says that it is anonymous."""
    for one in PAPERS.values():
        assert one.title and one.version and (one.authors or "anonymous" in one.version), one
        assert all(one.authors) and one.title in one.citation, one
    cites = [case.cite for case in CASES] + [case.claim.cite for case in CASES]
    assert len(cites) > 200 and not set(PAPERS) & set(OTHERS)
    assert {cite.paper for cite in cites if not cite.known} == set()


@pytest.mark.parametrize("key", PAPERS)
def test_the_map_has_every_algorithm_with_its_tests_and_statements(key):
    """Also each numbered one, a clipping or an escape that others call. Its files are there: `test_pages.py`."""
    named, lines, parts = paper_map.statements(key), paper_map.algorithms(key), paper_map.parts(key)
    assert [line.id for line in lines] == list(dict.fromkeys(c.id for c in CASES if c.id.startswith(key + "/")))
    assert any(line.statements for line in lines) and any(line.tests for line in lines) and named
    places = " ".join(line.place for line in (*lines, *parts))
    found = {one for group in re.findall(r"Algorithms? ([\d, and]+)", places) for one in re.findall(r"\d+", group)}
    assert {name.split()[1] for name in STATEMENTS[key] if name.startswith("Algorithm ")} <= found


def test_the_generated_page_is_up_to_date(tmp_path, monkeypatch, capsys):
    papers, page = script("papers"), tmp_path / "papers.md"
    assert papers.main([]) == 0, "run `make papers`"
    monkeypatch.setattr(papers, "PAGE", page)
    assert papers.main([]) == 1 and not page.exists()
    assert papers.main(["--write"]) == 0 and page.read_text() == papers.page()
    assert papers.main([]) == 0 and "docs/papers.md" in capsys.readouterr().out


# -- the documentation site: built strictly, with every page, and nothing that is fetched from another host
FETCHED = re.compile(r"""<(?:script|img|iframe|source|link)[^>]*?(?:src|href)=["']?((?:https?:)?//[^"' >]+)""")


@pytest.mark.slow
def test_the_site_has_every_page_what_is_generated_and_nothing_of_another_host(tmp_path):
    pytest.importorskip("mkdocs", reason="the extra docs is not installed")
    site = tmp_path / "site"
    (ROOT / ".links" / "dpassay").mkdir(parents=True, exist_ok=True)
    subprocess.run(["make", "-s", "links"], cwd=ROOT, check=True)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", "mkdocs.yml", "-d", site]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]

    pages = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
    missing = [page for page in pages if not (site / page).with_suffix(".html").is_file() and page.stem != "README"]
    assert missing == [] and (site / "index.html").is_file() and (site / "ledger.html").is_file()
    assert (site / "reproductions" / "index.html").is_file()

    found = {(page.name, url) for page in site.rglob("*.html") for url in FETCHED.findall(page.read_text("utf-8"))}
    assert found == set()
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    assert not re.search(r"@import|url\([\"']?(https?:)?//", styles)
    assert (site / "assets" / "iframe-worker.js").is_file()

    reference = (site / "reference.html").read_text("utf-8")
    assert all(f".{name}" in reference for name in names)
    assert 'class="gp"' in reference  # examples are shown as code
    opt = (site / "algorithms" / "second_order_erm" / "opt.html").read_text("utf-8")
    assert "statements/second_order_erm/algorithm_1.html" in opt  # its statements, its schedule, its readings
    assert "<td><code>min((1 - 2*c1)" in opt and "opt:worst@repaired" in opt
    options = (site / "options.html").read_text("utf-8")
    assert all(f"dpassay {name}" in options for name in (*COMMANDS, "crosscheck live"))
    assert all(option in options for option in ("--sarif", "--keep-alive", "--one-run", "--timeout"))
