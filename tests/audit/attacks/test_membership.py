"""The training and data side of the membership-inference experiment."""

import shutil
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dpassay.audit.attacks.game import ATTACKS
from dpassay.audit.reproductions import dro_membership as m
from dpassay.audit.reproductions.dro import plan, run
from dpassay.audit.reproductions.report import Options
from dpassay.reference.dro.training import METHODS, Setting, train
from dpassay.reference.errors import BadInput
from dpassay.reference.problems.models import ClassificationLoss, SoftmaxRegression


def small(seed=3, style="CIFAR10-ST"):
    return m.imbalanced(style, m.pool(None), seed)


@pytest.fixture(scope="module")
def models():
    """Five models on one split."""
    return m.train_models("DP-SGD on z", 5.0, 5, 3, small())


def test_models_are_reproducible_and_halves_are_halves(models):
    split = small()
    again = m.train_models("DP-SGD on z", 5.0, 5, 3, split)
    assert (models.game.confidence == again.game.confidence).all()
    assert models.game.member.sum(axis=1).tolist() == [split.n // 2] * 5
    assert not (models.game.member[0] == models.game.member[1]).all()
    assert models.test.shape == (5, 300) and len(models.qualities) == len(models.gradient_norms) == 5


def test_attacked_models_are_no_shadow_models(models):
    alone = m.with_shadows(models.game, 1, 2)
    assert (alone.confidence == models.game.confidence[[1, 2, 3, 4]]).all()
    assert (alone.member == models.game.member[[1, 2, 3, 4]]).all()
    with pytest.raises(BadInput, match="targets"):
        m.with_shadows(models.game, 0, 5)


def test_styles():
    """CIFAR10-ST: 12 records of each class of the first half; MNIST-ST: one positive in ten; balanced tests."""
    cifar, mnist = small(), small(style="MNIST-ST")
    assert np.bincount(cifar.labels)[:5].tolist() == [12] * 5
    assert np.mean(mnist.labels) == pytest.approx(0.1, abs=0.005)
    assert len(set(np.bincount(cifar.test_labels))) == len(set(np.bincount(mnist.test_labels))) == 1
    with pytest.raises(BadInput, match="style = 'x'"):
        m.imbalanced("x", m.pool(None), 0)


@pytest.mark.slow  # trains eight models: three seconds; the attacks themselves have quick tests
def test_overfitted_model_is_found_out_and_a_private_one_is_not():
    """80 members: without privacy an AUC exceeds 0.6 (seed 5); with epsilon = 0.5 all stay within 0.15 of a half."""
    whole = small()
    split = replace(whole, features=whole.features[::5], labels=whole.labels[::5])
    free = m.attack_aucs(m.train_models("non-private", 1.0, 4, 5, split), 1, 0)
    tight = m.attack_aucs(m.train_models("Recursive-SPIDER, repaired", 0.5, 4, 5, split), 1, 0)
    assert set(free) == set(ATTACKS)
    assert max(found[0] for found in free.values()) > 0.6
    assert all(abs(found[0] - 0.5) < 0.15 for found in tight.values())


def test_shift_alone_lets_a_label_pass_for_membership():
    """The class sizes of members (12 against 150) and of the balanced test set: the label alone reaches 0.7."""
    found = m.shifted(m.train_models("DP-SGD on z", 1.0, 1, 1, small(1)), 0)
    members = sum(inside for inside, _ in found.groups)
    assert [outside for _, outside in found.groups] == [30] * 10
    scores = [inside / (inside + 30) for inside, _ in found.groups]
    expected = sum(
        inside / members * 0.1 * (0.5 * (here == there) + (here > there))
        for (inside, _), here in zip(found.groups, scores, strict=True)
        for there in scores
    )
    assert found.detector == pytest.approx(expected, abs=1e-12)
    assert found.detector > 0.7


@pytest.mark.some(4)
@pytest.mark.parametrize("method", [name for name in METHODS if name != "non-private"])
def test_every_method_trains(method):
    rng = np.random.default_rng(0)
    loss = ClassificationLoss(SoftmaxRegression(4, 3), rng.normal(size=(150, 4)), rng.integers(0, 3, 150))
    parameters = train(method, Setting(loss, 5.0, 1e-4, np.zeros(loss.d), 0))
    assert parameters.shape == (loss.d,)
    assert np.isfinite(parameters).all()


def test_plan_covers_the_papers_grid():
    """Five seeds; six budgets of Table 2 for both algorithms, printed and repaired; four of Table 3 for everybody."""
    cells = plan(Options(), "digits")
    attacked = {(cell.style, cell.method, cell.epsilon) for cell in cells if cell.shadows}
    for style in m.STYLES:
        for method in ("Double-SPIDER", "Recursive-SPIDER"):
            for reading in ("printed", "repaired"):
                assert {(style, f"{method}, {reading}", e) for e in (0.1, 1.0, 3.0, 5.0, 8.0, 10.0)} <= attacked
    assert {cell.seeds for cell in cells} == {5}
    assert len({cell.key for cell in cells}) == len(cells)


def test_committed_page_is_that_of_the_committed_cells(tmp_path):
    """docs/reproductions/dro.md is the page of the kept cells."""
    kept = Path(__file__).parents[3] / "docs" / "reproductions"
    shutil.copy(kept / "dro_cells.jsonl", tmp_path)
    page, command = tmp_path / "dro.md", "dpassay reproduce dro --page docs/reproductions/dro.md"
    run(Options(output=tmp_path)).write_page(page, command)
    assert page.read_text() == (kept / "dro.md").read_text()
    assert (tmp_path / "dro_cells.jsonl").read_text() == (kept / "dro_cells.jsonl").read_text()


@pytest.mark.slow
def test_reproduction_resumes_to_the_same_tables(tmp_path):
    """An interrupted run (half of the finished cells kept) ends with the tables of an uninterrupted one."""
    report = run(Options(quick=True, runs=1, output=tmp_path))
    assert [len(table.rows) for table in report.tables] == [5, 5, 5] * 2
    cells = tmp_path / "dro_cells.jsonl"
    cells.write_text("".join(cells.read_text().splitlines(keepends=True)[:5]))
    assert run(Options(quick=True, runs=1, output=tmp_path)).tables == report.tables
    assert (tmp_path / "dro_membership.png").stat().st_size > 10_000


def test_pool_reads_original_files(tmp_path):
    rng = np.random.default_rng(0)
    header = b"\0\0\x08\x03" + struct.pack(">3I", 20, 4, 4)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(header + rng.integers(0, 256, 320).astype(np.uint8).tobytes())
    labels = rng.integers(0, 10, 20).astype(np.uint8)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01" + struct.pack(">I", 20) + labels.tobytes())
    found = m.pool(tmp_path)
    assert found.features.shape == (20, 16)
    assert found.labels.tolist() == labels.tolist()
    (tmp_path / "data_batch_1.bin").write_bytes(bytes(3073 * 2))
    assert m.pool(tmp_path).name == "CIFAR-10"
    with pytest.raises(BadInput, match="data"):
        m.pool(tmp_path / "nowhere")
