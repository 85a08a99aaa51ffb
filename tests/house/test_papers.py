"""The papers have names, and the map from their statements to files, tests and rows is what the project says."""

import re
import runpy
from pathlib import Path

import pytest

from dpassay.proofs_check import paper_map
from dpassay.proofs_check.derivation.ledger import STATEMENTS
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import BadInput
from dpassay.reference.papers import OTHERS, PAPERS, Cite, paper

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("one", PAPERS.values(), ids=PAPERS)
def test_a_paper_can_be_identified(one):
    """A title with capital letters as printed, a version, and authors unless the text says that it is anonymous."""
    assert one.title and one.version and (one.authors or "anonymous" in one.version)
    assert not set(one.authors) & {""} and one.title in one.citation


def test_every_citation_of_the_project_is_known():
    cites = [case.cite for case in CASES] + [case.claim.cite for case in CASES]
    assert len(cites) > 200
    assert {cite.paper for cite in cites if not cite.known} == set()
    assert not set(PAPERS) & set(OTHERS)


def test_a_user_may_cite_a_paper_of_their_own():
    mine = Cite("mine", "Theorem 2")
    assert str(mine) == "mine, Theorem 2" and not mine.known
    with pytest.raises(BadInput, match="names its paper"):
        Cite("", "Theorem 2")
    with pytest.raises(BadInput, match="must be one of minimax_sosp"):
        paper("mine")


@pytest.mark.parametrize("key", PAPERS)
def test_the_map_leads_to_files_tests_and_statements_that_exist(key):
    named = paper_map.statements(key)
    lines = paper_map.algorithms(key)
    assert [line.id for line in lines] == list(dict.fromkeys(c.id for c in CASES if c.id.startswith(key + "/")))
    for line in lines:
        assert (ROOT / line.file).is_file() and line.place
        assert all((ROOT / test).is_file() for test in line.tests) and set(line.statements) <= set(named)
    assert any(line.statements for line in lines) and any(line.tests for line in lines)
    assert named and all((ROOT / file).is_file() for file in named.values())


def test_the_generated_page_is_up_to_date(tmp_path, monkeypatch, capsys):
    papers = runpy.run_path(str(ROOT / "docs" / "papers.py"))
    assert papers["main"]([]) == 0, "run `make papers`"
    page = tmp_path / "papers.md"
    monkeypatch.setitem(papers["main"].__globals__, "PAGE", page)
    assert papers["main"]([]) == 1 and not page.exists()
    assert papers["main"](["--write"]) == 0 and page.read_text() == papers["page"]()
    assert papers["main"]([]) == 0 and "docs/papers.md" in capsys.readouterr().out


@pytest.mark.parametrize("key", PAPERS)
def test_every_numbered_algorithm_of_a_paper_leads_to_a_file(key):
    """Those that others call, a clipping or an escape, as well as those of the catalogue."""
    places = " ".join(line.place for line in (*paper_map.algorithms(key), *paper_map.parts(key)))
    found = {
        number for group in re.findall(r"Algorithms? ([\d, and]+)", places) for number in re.findall(r"\d+", group)
    }
    assert {name.split()[1] for name in STATEMENTS[key] if name.startswith("Algorithm ")} <= found
    assert all((ROOT / line.file).is_file() and not line.id for line in paper_map.parts(key))


def test_a_title_says_nothing_of_its_place_again():
    lines = [line for key in PAPERS for line in paper_map.algorithms(key)]
    assert [line for line in lines if line.place.split(", ")[-1] in line.title] == []
