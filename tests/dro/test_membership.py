"""The training and data side of the membership-inference experiment."""

import struct

import numpy as np
import pytest

from dpassay.audit import membership_dro as m
from dpassay.audit.reproduce_dro import interval, run
from dpassay.audit.reproduction import Options
from dpassay.reference.dro.training import METHODS, Setting, train
from dpassay.reference.errors import BadInput
from dpassay.reference.problems.models import ClassificationLoss, SoftmaxRegression


def test_signal_is_the_log_odds_of_the_true_label():
    found = m.signal(np.array([[0.2, 0.8], [0.5, 0.5]]), np.array([1, 0]))
    assert found == pytest.approx([np.log(4.0), 0.0])


def test_same_distribution_is_reproducible_and_balanced():
    one, two = (m.same_distribution("DP-SGD on z", 5.0, 2, seed=3, source=m.pool(None), records=120) for _ in range(2))
    assert (one.game.confidence == two.game.confidence).all()
    assert one.game.member.sum(axis=1).tolist() == [60, 60]
    assert not (one.game.member[0] == one.game.member[1]).all()
    assert len(one.qualities) == len(one.gradient_norms) == 2


def test_overfitted_model_is_found_out_and_a_private_one_is_not():
    """60 members: without privacy an AUC exceeds 0.6 (seed 5), with epsilon = 0.1 all stay within 0.15 of a half."""
    free = m.attack_aucs(m.same_distribution("non-private", 1.0, 4, seed=5, source=m.pool(None), records=120), 1, 0)
    tight = m.attack_aucs(
        m.same_distribution("Double-SPIDER, repaired", 0.1, 4, seed=5, source=m.pool(None), records=120), 1, 0
    )
    assert len(free) >= 4
    assert max(found[0] for found in free.values()) > 0.6
    assert all(abs(found[0] - 0.5) < 0.15 for found in tight.values())


def test_shift_alone_lets_a_label_pass_for_membership():
    """98 % of the members and half of the non-members are from the common half: the label alone reaches 0.74."""
    found = m.shifted("DP-SGD on z", 1.0, seed=1, source=m.pool(None))
    (rare_members, rare_others), (members, others) = found.groups
    assert rare_others == others == 150
    expected = 0.5 + 0.5 * (members / (members + rare_members) - 0.5)
    assert found.detector == pytest.approx(expected, abs=1e-9)
    assert found.detector > 0.73


@pytest.mark.parametrize("method", [name for name in METHODS if name != "non-private"])
def test_every_method_trains(method):
    rng = np.random.default_rng(0)
    loss = ClassificationLoss(SoftmaxRegression(4, 3), rng.normal(size=(150, 4)), rng.integers(0, 3, 150))
    parameters = train(method, Setting(loss, 5.0, 1e-4, np.zeros(loss.dimension), 0))
    assert parameters.shape == (loss.dimension,)
    assert np.isfinite(parameters).all()


def test_unknown_method():
    with pytest.raises(BadInput, match="method = 'x'"):
        train("x", None)


def test_interval():
    assert interval([0.5]) == "0.500"
    assert interval([0.4, 0.6]) == "0.500 ± 1.271"  # Student quantile 12.706 times 0.1


@pytest.mark.slow
def test_reproduction_runs(tmp_path):
    report = run(Options(quick=True, output=tmp_path))
    assert [len(table.rows) for table in report.tables] == [5, 5, 5]


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
