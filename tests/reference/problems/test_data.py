"""Imbalanced sets, file formats written by the tests themselves, metrics on hand-made predictions."""

import gzip
import struct

import numpy as np
import pytest

from dpassay.reference.errors import BadInput
from dpassay.reference.problems import image_files, imbalanced
from dpassay.reference.problems.imbalanced import quality


def write_idx(path, array):
    header = b"\0\0\x08" + bytes([array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    path.write_bytes(header + array.astype(np.uint8).tobytes())


def test_idx_round_trip(tmp_path):
    rng = np.random.default_rng(0)
    pixels, labels = rng.integers(0, 256, (5, 4, 3)), rng.integers(0, 10, 5)
    write_idx(tmp_path / "images", pixels)
    write_idx(tmp_path / "labels", labels)
    features, classes = image_files.read_mnist(tmp_path / "images", tmp_path / "labels")
    assert features == pytest.approx(pixels.reshape(5, 12) / 255)
    assert classes.tolist() == labels.tolist()
    packed = tmp_path / "images.gz"
    packed.write_bytes(gzip.compress((tmp_path / "images").read_bytes()))
    assert (image_files.read_idx(packed) == pixels).all()


def test_cifar_round_trip(tmp_path):
    rng = np.random.default_rng(1)
    table = rng.integers(0, 256, (3, image_files.CIFAR_RECORD)).astype(np.uint8)
    table[:, 0] = [9, 0, 4]
    (tmp_path / "a.bin").write_bytes(table[:2].tobytes())
    (tmp_path / "b.bin").write_bytes(table[2:].tobytes())
    features, labels = image_files.read_cifar10([tmp_path / "a.bin", tmp_path / "b.bin"])
    assert labels.tolist() == [9, 0, 4]
    assert features.shape == (3, 3072)
    assert features[2, 1000] == table[2, 1001] / 255


@pytest.mark.parametrize(
    "content, reason",
    [
        (b"\x01\0\x08\x01\0\0\0\0", "two zero bytes"),
        (b"\0\0\x0d\x01\0\0\0\0", "unsigned bytes"),
        (b"\0\0\x08\x01\0\0\0\x05ab", "asks for 13 bytes"),
    ],
)
def test_damaged_idx_is_refused(tmp_path, content, reason):
    (tmp_path / "bad").write_bytes(content)
    with pytest.raises(BadInput, match=reason):
        image_files.read_idx(tmp_path / "bad")


def test_damaged_cifar_is_refused(tmp_path):
    (tmp_path / "bad").write_bytes(b"\x03" * 100)
    with pytest.raises(BadInput, match="multiple of 3073"):
        image_files.read_cifar10([tmp_path / "bad"])
    with pytest.raises(BadInput, match="no such file"):
        image_files.read_cifar10([tmp_path / "missing"])


@pytest.mark.parametrize("ratio", [0.05, 0.2, 0.5])
def test_mnist_st_has_the_ratio_and_a_balanced_test(ratio):
    split = imbalanced.mnist_st(*imbalanced.digits(), np.random.default_rng(2), ratio)
    assert split.labels.mean() == pytest.approx(ratio, abs=0.01)
    assert split.test_labels.mean() == 0.5
    assert set(np.unique(split.labels)) == {0, 1}


def test_cifar10_st_keeps_the_last_records_of_the_first_half():
    features, labels = imbalanced.digits()
    split = imbalanced.cifar10_st(features, labels, np.random.default_rng(3), keep=5)
    counts = np.bincount(split.labels)
    assert counts[:5].tolist() == [5] * 5
    assert counts[5:].min() > 100
    assert np.bincount(split.test_labels).tolist() == [30] * 10
    train = {row.tobytes() for row in split.features}
    assert not any(row.tobytes() in train for row in split.test_features)


def test_bad_ratio_is_named():
    with pytest.raises(BadInput, match=r"ratio = 0\.7"):
        imbalanced.mnist_st(*imbalanced.digits(), np.random.default_rng(4), 0.7)


def test_quality_on_hand_made_predictions():
    probabilities = np.array([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.3, 0.7]])
    result = quality(probabilities, np.array([0, 0, 1, 1]))
    assert result.accuracy == 0.75
    assert result.auc == 1.0
    assert result.worst_group == 0.5
    assert result.f1 == pytest.approx((0.8 + 2 / 3) / 2)
