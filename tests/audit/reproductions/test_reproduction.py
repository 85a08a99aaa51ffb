"""Printed tables as data, what they cannot mean, and a tiny reproduction that is interrupted and goes on.

Then the membership inference of `dro`: its models and data, and its page.
"""

import shutil
import struct
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from dpassay.audit.attacks.game import ATTACKS
from dpassay.audit.published import second_order_erm as published
from dpassay.audit.reproductions import dro
from dpassay.audit.reproductions import second_order_erm as reproduce
from dpassay.audit.reproductions.report import Finished, Options
from dpassay.reference.dro.training import METHODS as DRO_METHODS
from dpassay.reference.dro.training import Setting, train
from dpassay.reference.errors import BadInput
from dpassay.reference.printed_counts import possible_counts
from dpassay.reference.problems import real_data
from dpassay.reference.problems.erm import ErmProblem
from dpassay.reference.problems.margin_losses import LOSS_A
from dpassay.reference.problems.models import ClassificationLoss, SoftmaxRegression
from dpassay.reference.second_order_erm.printed_tables import METHODS, TABLES, Figure


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
    assert possible_counts("282.4±174.252", 5) is not None
    found = published.remarks()
    where = [r.where for r in found if r.kind == "impossible"]
    assert len(where) == 5 and all(place.startswith("Table 10") for place in where)
    assert {r.kind for r in found} == {"impossible", "contradiction", "unexplained"}
    trust = [r for r in found if r.where.startswith("TR and TR-B")]  # their counts come from one constant
    assert [r.printed for r in trust] == ["375±0.0", "1061±0.0"]
    tops = [float(r.why.split("], ")[0].split(", ")[-1]) for r in trust]
    assert tops == pytest.approx([0.5, 0.5], abs=1e-3)


def test_planted_certificate_without_a_hessian_is_caught():
    table = TABLES[6]
    cell = table.cell("OPT", 1.0)
    planted = replace(table, cells=(replace(cell, value=Figure("0.8±0.4", 0.8)),))
    assert list(published._certificates(table)) == []
    assert [r.kind for r in published._certificates(planted)] == ["contradiction"]


@pytest.fixture(scope="module")
def small():
    return ErmProblem(*real_data.ijcnn_stand_in(np.random.default_rng(1), 150), LOSS_A)


@pytest.mark.some(2)
@pytest.mark.parametrize("method", sorted(METHODS, key=len))
def test_every_method_of_the_tables_runs(small, method):
    run = reproduce.one_run(small, reproduce.SETTINGS[2], method, 20.0, 1)
    assert np.isfinite(run.final)
    assert run.steps + run.hessians > 0
    assert run.n == 150


def test_store_goes_on_after_an_interrupt_and_absent_data_are_named(small, tmp_path):
    store = Finished(tmp_path / "runs.jsonl", reproduce.Run, "run")
    runs = [reproduce.one_run(small, reproduce.SETTINGS[2], "OPT", 20.0, seed) for seed in (1, 2)]
    for one in runs:
        store.make(one.key, lambda one=one: one)
    text = store.path.read_text()
    store.path.write_text(text[: len(text) - 10])  # cut off in the middle of the second line
    again = Finished(store.path, reproduce.Run, "run")
    again.make(runs[0].key, None)  # is not called
    assert again[runs[0].key] == runs[0] and runs[1].key not in again._found
    for name in ("covertype", "ijcnn"):
        with pytest.raises(BadInput, match="no such file"):
            reproduce.load(name, Options(data=tmp_path))


def test_the_command_fills_every_table_and_keeps_what_is_finished(small, tmp_path, monkeypatch):
    """Two methods, one epsilon, a printed setting and one that is not in the paper; the second call runs nothing."""
    for name, value in (
        ("SETTINGS", (reproduce.SETTINGS[2], reproduce.SETTINGS[-1])),
        ("METHODS", ("TR", "OPT")),
        ("EPSILONS", (1.0,)),
        ("load", lambda name, options: (small.features, small.labels)),
    ):
        monkeypatch.setattr(reproduce, name, value)
    options = Options(runs=2, output=tmp_path)
    report = reproduce.run(options)
    summary, printed, at_hand, remarks = report.tables
    assert [len(table.rows) for table in (summary, printed, at_hand)] == [2, 2, 2] and len(remarks.rows) > 20
    assert all(len(row) == len(table.columns) for table in report.tables for row in table.rows)
    assert printed.rows[1][3] == TABLES[3].cell("OPT", 1.0).value.text and "±" in printed.rows[1][2]
    monkeypatch.setattr(reproduce, "one_run", lambda *_: 1 / 0)
    assert reproduce.run(options).tables == report.tables


# -- membership inference of `dro` --------------------------------------------------------------------------------
def _split(seed=3, style="CIFAR10-ST"):
    return dro.imbalanced(style, *dro.pool(None)[1:], seed)


@pytest.fixture(scope="module")
def models():
    return dro.train_models("DP-SGD on z", 5.0, 5, 3, _split())


def test_models_are_reproducible_and_halves_are_halves(models):
    split = _split()
    again = dro.train_models("DP-SGD on z", 5.0, 1, 3, split)
    assert (models.game.confidence[:1] == again.game.confidence).all()
    assert models.game.member.sum(axis=1).tolist() == [split.n // 2] * 5
    assert not (models.game.member[0] == models.game.member[1]).all()
    assert models.test.shape == (5, 300) and len(models.qualities) == len(models.gradient_norms) == 5


def test_attacked_models_are_no_shadow_models(models):
    """What another attacked model says changes no attack on the first; red case: a shadow model does."""
    found = []
    for changed in (None, 1, 4):
        confidence = np.where(np.arange(5)[:, None] == changed, 0.3, models.game.confidence)
        game = replace(models.game, confidence=confidence, population=confidence)
        aucs = dro.attack_aucs(replace(models, game=game), 2, 0)
        found.append({name: values[0] for name, values in aucs.items()})
    assert found[0] == found[1] != found[2]


@pytest.mark.slow  # trains eight models: three seconds; the attacks themselves have quick tests
def test_overfitted_model_is_found_out_and_a_private_one_is_not():
    """80 members: without privacy an AUC exceeds 0.6 (seed 5); with epsilon = 0.5 all stay within 0.15 of a half."""
    whole = _split()
    split = replace(whole, features=whole.features[::5], labels=whole.labels[::5])
    free, tight = (
        dro.attack_aucs(dro.train_models(method, epsilon, 4, 5, split), 1, 0)
        for method, epsilon in (("non-private", 1.0), ("Recursive-SPIDER, repaired", 0.5))
    )
    assert set(free) == set(ATTACKS) and max(found[0] for found in free.values()) > 0.6
    assert all(abs(found[0] - 0.5) < 0.15 for found in tight.values())


def test_shift_alone_lets_a_label_pass_for_membership():
    """The class sizes of members (12 against 150) and of the balanced test set: the label alone reaches 0.7."""
    _, detector, groups = dro.shifted(dro.train_models("DP-SGD on z", 1.0, 1, 1, _split(1)), 0)
    members = sum(inside for inside, _ in groups)
    assert [outside for _, outside in groups] == [30] * 10
    scores = [inside / (inside + 30) for inside, _ in groups]
    expected = sum(
        inside / members * 0.1 * (0.5 * (here == there) + (here > there))
        for (inside, _), here in zip(groups, scores, strict=True)
        for there in scores
    )
    assert detector == pytest.approx(expected, abs=1e-12) and detector > 0.7


@pytest.mark.some(4)
@pytest.mark.parametrize("method", [name for name in DRO_METHODS if name != "non-private"])
def test_every_method_trains(method):
    rng = np.random.default_rng(0)
    loss = ClassificationLoss(SoftmaxRegression(4, 3), rng.normal(size=(150, 4)), rng.integers(0, 3, 150))
    parameters = train(method, Setting(loss, 5.0, 1e-4, np.zeros(loss.d), 0))
    assert parameters.shape == (loss.d,) and np.isfinite(parameters).all()


def test_committed_page_is_that_of_the_committed_cells(tmp_path):
    kept = Path(__file__).parents[3] / "docs" / "reproductions"
    shutil.copy(kept / "dro_cells.jsonl", tmp_path)
    page, command = tmp_path / "dro.md", "dpassay reproduce dro --page docs/reproductions/dro.md"
    dro.run(Options(output=tmp_path)).write_page(page, command)
    assert page.read_text() == (kept / "dro.md").read_text()
    assert (tmp_path / "dro_cells.jsonl").read_text() == (kept / "dro_cells.jsonl").read_text()


@pytest.mark.slow
def test_reproduction_resumes_to_the_same_tables(tmp_path):
    """An interrupted run (half of the finished cells kept) ends with the tables of an uninterrupted one."""
    options = Options(quick=True, runs=1, output=tmp_path)
    report = dro.run(options)
    assert [len(table.rows) for table in report.tables] == [5, 5, 5] * 2
    cells = tmp_path / "dro_cells.jsonl"
    cells.write_text("".join(cells.read_text().splitlines(keepends=True)[:5]))
    assert dro.run(options).tables == report.tables
    assert (tmp_path / "dro_membership.png").stat().st_size > 10_000


def test_pool_reads_original_files(tmp_path):
    rng = np.random.default_rng(0)
    header = b"\0\0\x08\x03" + struct.pack(">3I", 20, 4, 4)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(header + rng.integers(0, 256, 320).astype(np.uint8).tobytes())
    labels = rng.integers(0, 10, 20).astype(np.uint8)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01" + struct.pack(">I", 20) + labels.tobytes())
    _, features, found = dro.pool(tmp_path)
    assert features.shape == (20, 16) and found.tolist() == labels.tolist()
    (tmp_path / "data_batch_1.bin").write_bytes(bytes(3073 * 2))
    assert dro.pool(tmp_path)[0] == "CIFAR-10"
    with pytest.raises(BadInput, match="data"):
        dro.pool(tmp_path / "nowhere")
