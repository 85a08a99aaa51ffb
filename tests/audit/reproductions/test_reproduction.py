"""Printed tables as data, what they cannot mean, and a tiny reproduction that is interrupted and goes on."""

import dataclasses
from itertools import product

import numpy as np
import pytest

from dpassay.audit.published import second_order_erm as published
from dpassay.audit.reproductions import second_order_erm as reproduce
from dpassay.audit.reproductions.report import Finished, Report, Table
from dpassay.reference.errors import BadInput
from dpassay.reference.problems import real_data
from dpassay.reference.problems.erm import ErmProblem
from dpassay.reference.problems.margin_losses import loss_a
from dpassay.reference.second_order_erm.printed_tables import HESSIAN_TABLES, METHODS, TABLES, Figure, possible_counts


def figure(mean, spread):
    return Figure(f"{mean}±{spread}", float(mean), float(spread))


def test_all_tables_are_complete():
    assert sorted(TABLES) == list(range(1, 13))
    assert all(len(table.cells) == 24 for table in TABLES.values())
    assert sum(cell.missing for table in TABLES.values() for cell in table.cells) == 2
    assert sum(cell.runtime is None for cell in TABLES[2].cells) == 10
    for hessians, losses in HESSIAN_TABLES.items():
        for cell in TABLES[hessians].cells:
            assert cell.runtime == TABLES[losses].cell(cell.method, cell.epsilon).runtime


def test_integer_search_agrees_with_enumeration():
    """All 4-tuples of integers up to 6, both denominators: each printed summary is found possible, others are not."""
    seen = set()
    for counts in product(range(7), repeat=4):
        seen.add((f"{np.mean(counts):.2f}", f"{np.std(counts, ddof=1):.2f}"))
    for mean, spread in product(("0.50", "1.25", "3.00", "5.75"), ("0.00", "0.50", "0.58", "1.00", "2.45", "2.87")):
        found = possible_counts(f"{mean}±{spread}", 4, 1, largest=6)
        assert (found is not None) == ((mean, spread) in seen)
        if found:
            assert f"{np.mean(found):.2f}" == mean and f"{np.std(found, ddof=1):.2f}" == spread


@pytest.mark.more
def test_impossible_statistics_are_found_and_possible_ones_are_not():
    assert possible_counts("0.5±0.577", 5) is None
    assert possible_counts("0.5±0.577", 4) == [1, 1, 0, 0]
    assert possible_counts("0.2±0.447", 5) == [1, 0, 0, 0, 0]
    assert possible_counts("282.4±174.252", 5) is not None
    found = published.remarks()
    where = [r.where for r in found if r.kind == "impossible"]
    assert len(where) == 5 and all(place.startswith("Table 10") for place in where)
    assert {r.kind for r in found} == {"impossible", "contradiction", "unexplained"}


def test_planted_certificate_without_a_hessian_is_caught():
    table = TABLES[6]
    cell = table.cell("OPT", 1.0)
    planted = dataclasses.replace(table, cells=(dataclasses.replace(cell, value=figure("0.8", "0.4")),))
    assert list(published._certificates(table)) == []
    assert [r.kind for r in published._certificates(planted)] == ["contradiction"]


@pytest.fixture(scope="module")
def small():
    return ErmProblem(*real_data.ijcnn_stand_in(np.random.default_rng(1), 150), loss_a())


@pytest.mark.some(2)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_of_the_tables_runs(small, method):
    run = reproduce.one_run(small, reproduce.SETTINGS[2], method, 20.0, 1)
    assert np.isfinite(run.final)
    assert run.steps + run.hessians > 0
    assert run.n == 150


def test_store_goes_on_after_an_interrupt(small, tmp_path):
    store = Finished(tmp_path / "runs.jsonl", reproduce.Run, "run")
    runs = [reproduce.one_run(small, reproduce.SETTINGS[2], "OPT", 20.0, seed) for seed in (1, 2)]
    for one in runs:
        store.make(one.key, lambda one=one: one)
    text = store.path.read_text()
    store.path.write_text(text[: len(text) - 10])  # cut off in the middle of the second line
    again = Finished(store.path, reproduce.Run, "run")
    again.make(runs[0].key, None)  # is not called
    assert again[runs[0].key] == runs[0] and runs[1].key not in again._found
    store.path.write_text("nonsense\n" + text)
    with pytest.raises(BadInput, match="line 1 is not a run"):
        Finished(store.path, reproduce.Run, "run")


def test_absent_files_are_named(tmp_path):
    options = reproduce.Options(data=tmp_path)
    for name in ("covertype", "ijcnn"):
        with pytest.raises(BadInput, match="no such file"):
            reproduce.load(name, options)


@pytest.mark.more
def test_trust_region_counts_come_from_one_constant():
    found = [r for r in published.remarks() if r.where.startswith("TR and TR-B")]
    assert [r.printed for r in found] == ["375±0.0", "1061±0.0"]
    tops = [float(r.why.split("], ")[0].split(", ")[-1]) for r in found]
    assert tops == pytest.approx([0.5, 0.5], abs=1e-3)


def test_the_command_fills_every_table_and_keeps_what_is_finished(small, tmp_path, monkeypatch):
    """Two methods, one epsilon, a printed setting and one that is not in the paper; the second call runs nothing."""
    for name, value in (
        ("SETTINGS", (reproduce.SETTINGS[2], reproduce.SETTINGS[-1])),
        ("METHODS", ("TR", "OPT")),
        ("EPSILONS", (1.0,)),
        ("load", lambda name, options: (small.features, small.labels)),
    ):
        monkeypatch.setattr(reproduce, name, value)
    options = reproduce.Options(runs=2, output=tmp_path)
    report = reproduce.run(options)
    summary, printed, at_hand, remarks = report.tables
    assert [len(table.rows) for table in (summary, printed, at_hand)] == [2, 2, 2] and len(remarks.rows) > 20
    assert all(len(row) == len(table.columns) for table in report.tables for row in table.rows)
    assert printed.rows[1][3] == TABLES[3].cell("OPT", 1.0).value.text and "±" in printed.rows[1][2]
    monkeypatch.setattr(reproduce, "one_run", lambda *_: 1 / 0)
    assert reproduce.run(options).tables == report.tables


def test_page_has_the_tables_the_notes_and_its_images_beside_it(tmp_path):
    image = tmp_path / "plots" / "figure_1.png"
    image.parent.mkdir()
    image.write_bytes(b"image")
    report = Report("minimax_sosp", [Table("A table", ("|x|", "y"), [("1", "a|b")])], [image], ["A note."])
    page = report.write_page(tmp_path / "docs" / "page.md", "dpassay reproduce minimax_sosp")
    text = page.read_text(encoding="utf-8")
    assert "| \\|x\\| | y |\n| --- | --- |\n| 1 | a\\|b |\n" in text
    assert "![figure 1](figure_1.png)" in text and "- A note." in text and "`dpassay reproduce minimax_sosp`" in text
    assert (tmp_path / "docs" / "figure_1.png").read_bytes() == b"image"
    assert report.write_page(image.parent / "page.md", "x").exists()  # image in place already
