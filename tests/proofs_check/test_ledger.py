"""The ledger as a whole: rows are well formed, verdicts do not depend on jobs or cache, nothing
passes on nothing.
"""

import json
from collections import Counter
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from dpassay.audit.commands.prove import prove
from dpassay.proofs_check import report
from dpassay.proofs_check.cases import PROOFS
from dpassay.proofs_check.check import check_row
from dpassay.proofs_check.cited import named
from dpassay.proofs_check.claim import Finding, Kind, Result, Row, Saves, Saving, Verdict
from dpassay.proofs_check.explain import explain
from dpassay.proofs_check.ledger import about, check_all, check_rows, chosen, load_rows, summary
from dpassay.proofs_check.rows import build
from dpassay.proofs_check.tied import TIES
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import BadInput
from dpassay.reference.marked import LEDGER
from dpassay.reference.papers import PAPERS, Cite

APP = typer.Typer()
ERM = "second_order_erm"
APP.command()(prove)


QUICK = (Kind.RATES, Kind.UNITS, Kind.TABLES, Kind.PRIVACY, Kind.CONSISTENCY)
KNOWN = ("second_order_erm/thm1/bar_rho_schedule", "second_order_erm/thm1/count_of_releases")


@pytest.fixture(scope="module")
def results():
    """Rows of the quick checkers, every seventh one, and of those that account every twelfth (a second each)."""
    quick = [row for row in load_rows() if row.claim.kind in QUICK and row.claim.kind is not Kind.PRIVACY]
    privacy = [row for row in load_rows() if row.claim.kind is Kind.PRIVACY]
    known = [row for row in load_rows() if row.id in KNOWN]
    return [check_row(row) for row in {row.id: row for row in [*quick[::7], *privacy[3::12], *known]}.values()]


@pytest.fixture
def few_rows(monkeypatch):
    rows = chosen(row_id="second_order_erm/eq4")[:4] + chosen(row_id="second_order_erm/eq6")
    monkeypatch.setattr("dpassay.proofs_check.ledger._rows_of", lambda paper: rows if paper == ERM else [])


def test_every_row_is_complete():
    rows = load_rows()
    assert len(rows) >= 30
    assert all(row.statement and row.cite.place for row in rows)
    assert {row.cite.paper for row in rows} <= set(PAPERS)


def test_no_row_is_vacuous_or_unexplained(results):
    assert not [r.row.id for r in results if r.finding.vacuous]
    assert not [r.row.id for r in results if r.finding.passes and r.sharpness is None]
    assert all(result.finding.evidence for result in results)


def test_every_failed_row_says_what_would_be_right_or_was_read_charitably(results):
    failed = [r for r in results if r.verdict in (Verdict.REFUTED, Verdict.ILL_DEFINED)]
    assert not [r.row.id for r in failed if not (r.row.corrected or r.row.saving.text or r.row.explain)]


def test_no_corrected_claim_fails(results):
    corrected = [r for r in results if r.corrected is not None]
    assert len(corrected) >= 20
    assert all(r.corrected.passes for r in corrected)


def test_known_verdicts(results):
    verdicts = {r.row.id.split("/", 1)[1]: r.verdict for r in results}
    assert verdicts["thm1/count_of_releases"] is Verdict.REFUTED
    assert verdicts["thm1/bar_rho_schedule"] is Verdict.PROVED


def test_looks_wrong_but_is_right():
    row = next(row for row in load_rows() if row.id == "second_order_erm/eq6/iterations_suffice")
    assert check_row(row).verdict is Verdict.CHECKED


def test_an_interrupted_run_goes_on_where_it_was(tmp_path, few_rows, monkeypatch):
    rows, decided = load_rows(["second_order_erm"])[:4], []

    def stops_at_the_third(row):
        if len(decided) == 2:
            raise KeyboardInterrupt
        decided.append(row.id)
        return check_row(row)

    monkeypatch.setattr("dpassay.proofs_check.ledger.check_row", stops_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        check_rows(rows, jobs=1, cache_dir=tmp_path)
    assert len(list(tmp_path.glob("*.json"))) == 2
    monkeypatch.setattr("dpassay.proofs_check.ledger.check_row", lambda row: decided.append(row.id) or check_row(row))
    assert len(check_rows(rows, jobs=1, cache_dir=tmp_path)) == 4
    assert decided == [row.id for row in rows]


def test_markdown_has_a_line_per_row(results):
    text = report.markdown(results)
    assert text.count("\n| ") >= len(results)
    assert "refuted" in report.summary_line(results)
    assert sum(line["rows"] for line in summary(results).values()) == len(results)


def test_saved_needs_a_claim_that_holds():
    row = Row("dro/x", Cite("dro", "p"), "s", build.identity("1 == 2"), saving=Saving(Saves.REPAIR, "1 == 1"))
    bad = Finding(Verdict.REFUTED, "no")
    assert Result(row, bad).saved_by is None
    assert Result(row, bad, Finding(Verdict.PROVED, "yes")).saved_by is Saves.REPAIR
    assert Result(row, bad, Finding(Verdict.CHECKED, "yes", vacuous=True)).saved_by is None


def test_a_row_is_saved_in_one_way():
    with pytest.raises(ValueError, match="more than one way"):
        build.rows_of("dro")("x", "p", "s", build.identity("1 == 2"), reading="so", repair="or so")


def test_every_printed_case_of_the_audit_names_rows_about_its_privacy():
    ids = [row.id for row in load_rows()]
    for case_id, prefixes in PROOFS.items():
        assert about(prefixes), case_id
        assert not [prefix for prefix in prefixes if not any(i.startswith(prefix) for i in ids)], case_id
    assert about(()) == []
    assert set(PROOFS) <= {case.id for case in CASES if case.reading == "printed"}


def test_rows_are_chosen_by_place_and_by_prefix():
    """Lemma 3.1 is not found in Lemma 3.13, nor eq. (4) in eq. (41)."""
    tree = chosen(place="lemma 3.13")
    assert tree and all("Lemma 3.13" in row.cite.place for row in tree)
    assert not {row.id for row in chosen(place="Lemma 3.1")} & {row.id for row in tree}
    assert {row.cite.paper for row in chosen(row_id="minimax_sosp/eqB2/")} == {"minimax_sosp"}


def test_bad_rows_are_refused():
    with pytest.raises(ValueError, match="paper"):
        Cite(" ", "p")
    with pytest.raises(ValueError, match="must start"):
        Row("dro/x", Cite("adaptive_batch", "p"), "s", build.identity("1 == 1"))
    with pytest.raises(ValueError, match="paper"):
        load_rows(["nobody"])


def test_command_explains_one_row():
    answer = CliRunner().invoke(APP, ["--id", "second_order_erm/eq6/absolute_noise", "--explain"])
    assert answer.exit_code == 0
    assert "refuted" in answer.output and "condition" in answer.output


def test_command_refuses_unknown_names():
    for option, value in (("--paper", "nobody"), ("--id", "nobody/none")):
        error = CliRunner().invoke(APP, [option, value]).exception
        assert isinstance(error, BadInput) and option in str(error) and value in str(error)


def test_command_refuses_a_row_of_another_paper():
    options = ["--paper", "dro", "--id", "second_order_erm/eq6/absolute_noise"]
    error = CliRunner().invoke(APP, options).exception
    assert isinstance(error, BadInput) and "--id" in str(error) and "dro" in str(error)


def test_command_writes_json_and_markdown(tmp_path, few_rows):
    options = ["--paper", "second_order_erm", "--jobs", "1", "--no-cache"]
    options += ["--output", str(tmp_path / "l.json"), "--ledger", str(tmp_path / "L.md")]
    answer = CliRunner().invoke(APP, options)
    assert answer.exit_code in (0, 3)
    data = json.loads((tmp_path / "l.json").read_text())
    assert data["summary"]["second_order_erm"]["rows"] == len(data["rows"])
    assert (tmp_path / "L.md").read_text().startswith("# Ledger")


def test_command_writes_one_row_where_it_is_told_to(tmp_path):
    row_id, file = "second_order_erm/eq6/absolute_noise", tmp_path / "row.json"
    assert CliRunner().invoke(APP, ["--id", row_id, "--output", str(file)]).exit_code == 0
    data = json.loads(file.read_text())
    assert [row["id"] for row in data["rows"]] == [row_id] and list(data["summary"]) == ["second_order_erm"]
    error = CliRunner().invoke(APP, ["--id", row_id, "--output", str(tmp_path)]).exception
    assert isinstance(error, BadInput) and "--output" in str(error)


def test_command_rewrites_the_readme_block(tmp_path, few_rows):
    readme = tmp_path / "README.md"
    options = ["--paper", "second_order_erm", "--jobs", "1", "--no-cache", "--output", str(tmp_path / "l.json")]
    readme.write_text(f"# T\n\n{LEDGER.begin}\nOLD BLOCK\n{LEDGER.end}\n\nrest\n", encoding="utf-8")
    assert CliRunner().invoke(APP, [*options, "--readme", str(readme)]).exit_code in (0, 3)
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("# T") and text.endswith("rest\n") and "OLD BLOCK" not in text and "| all |" in text
    readme.write_text("# no markers\n", encoding="utf-8")
    answer = CliRunner().invoke(APP, [*options, "--readme", str(readme)])
    assert isinstance(answer.exception, BadInput) and "ledger:begin" in str(answer.exception)


def test_the_most_serious_findings_are_spread_over_the_papers(results):
    chosen = report.serious(results)
    assert len(chosen) == 12
    assert max(Counter(result.row.cite.paper for result in chosen).values()) <= 4
    assert len({result.row.id.rsplit("/", 1)[0] for result in chosen}) == 12
    assert not any(result.row.ours for result in chosen)


def test_citations_name_their_statements():
    assert named("Lemmas 6, 7 and eq. (16)") == {"Lemma 6", "Lemma 7", "eq. (16)"}
    assert named("Algorithms 1 to 5") == {f"Algorithm {n}" for n in range(1, 6)}
    assert named("Theorem 3.17 against B.6") == {"Theorem 3.17"}
    assert named("Theorem 16") == {"Theorem 16"}


def test_explain_says_that_a_count_is_a_count():
    row = next(row for row in load_rows() if row.id == "adaptive_batch/alg3/one_tree_over_the_run")
    found = check_row(row)
    assert found.saved_by is Saves.REPAIR and "k = 5" in found.finding.evidence
    text = explain(found)
    assert "compared with its transcript" in text and "exact accounting" not in text


def test_explain_shows_source_formula_assumptions_and_ties():
    row = next(row for row in load_rows() if row.id == "dro/double_spider/sigma_4_accounted")
    text = explain(check_row(row), TIES)
    for part in ("source", "formula", "assuming", "decided by", "evidence", "corrected", "condition", "tied to"):
        assert f"  {part}" in text
    assert "counted     k = releases 'x/difference*'" in text
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.slow
def test_committed_ledger_and_readme_are_the_generated_ones():
    root = Path(__file__).parents[2]
    results = check_all(jobs=2)
    assert not [r.row.id for r in results if r.finding.vacuous or (r.finding.passes and r.sharpness is None)]
    assert report.markdown(results) == (root / "LEDGER.md").read_text(encoding="utf-8")
    readme = (root / "docs" / "results.md").read_text(encoding="utf-8")
    assert LEDGER.written(readme, report.readme_block(results), "results.md") == readme
