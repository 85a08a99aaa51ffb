"""Imbalanced sets, file formats written by the tests themselves, metrics on hand-made predictions."""

import gzip
import struct

import numpy as np
import pytest

from dpassay.reference.errors import BadInput
from dpassay.reference.problems import imbalanced, real_data
from dpassay.reference.problems.imbalanced import quality


def header(*shape):
    return bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape)


def test_idx_round_trip(tmp_path):
    rng = np.random.default_rng(0)
    pixels, labels = rng.integers(0, 256, (5, 4, 3)), rng.integers(0, 10, 5)
    for name, array in (("images", pixels), ("labels", labels)):
        (tmp_path / name).write_bytes(header(*array.shape) + array.astype(np.uint8).tobytes())
    features, classes = imbalanced.read_mnist(tmp_path / "images", tmp_path / "labels")
    assert features == pytest.approx(pixels.reshape(5, 12) / 255)
    assert classes.tolist() == labels.tolist()
    packed = tmp_path / "images.gz"
    packed.write_bytes(gzip.compress((tmp_path / "images").read_bytes()))
    assert (imbalanced.read_idx(packed) == pixels).all()


def test_cifar_round_trip(tmp_path):
    rng = np.random.default_rng(1)
    table = rng.integers(0, 256, (3, imbalanced.CIFAR_RECORD)).astype(np.uint8)
    table[:, 0] = [9, 0, 4]
    (tmp_path / "a.bin").write_bytes(table[:2].tobytes())
    (tmp_path / "b.bin").write_bytes(table[2:].tobytes())
    features, labels = imbalanced.read_cifar10([tmp_path / "a.bin", tmp_path / "b.bin"])
    assert labels.tolist() == [9, 0, 4]
    assert features.shape == (3, 3072)
    assert features[2, 1000] == table[2, 1001] / 255


def cifar(path):
    return imbalanced.read_cifar10([path])


@pytest.mark.parametrize(
    ("reader", "content", "reason"),
    [
        (imbalanced.read_idx, b"\x01\0\x08\x01\0\0\0\0", "two zero bytes"),
        (imbalanced.read_idx, b"\0\0\x0d\x01\0\0\0\0", "unsigned bytes"),
        (imbalanced.read_idx, header(5) + b"ab", "asks for 13 bytes"),
        (imbalanced.read_idx, header(*(1,) * 65), "dimensions"),
        (imbalanced.read_idx, header(0, 2**32 - 1, 2**32 - 1), "shape"),
        (imbalanced.read_idx, header(0, 28, 28), "shape"),
        (cifar, b"\x03" * 100, "multiple of 3073"),
        (cifar, None, "no such file"),
    ],
)
def test_damaged_images_are_refused(tmp_path, reader, content, reason):
    if content is not None:
        (tmp_path / "bad").write_bytes(content)
    with pytest.raises(BadInput, match=reason):
        reader(tmp_path / "bad")


@pytest.mark.parametrize("ratio", [0.05, 0.2, 0.5])
def test_mnist_st_has_the_ratio_and_a_balanced_test(ratio):
    split = imbalanced.mnist_st(*imbalanced.digits(), np.random.default_rng(2), ratio)
    assert split.labels.mean() == pytest.approx(ratio, abs=0.01)
    assert split.test_labels.mean() == 0.5
    assert set(np.unique(split.labels)) == {0, 1}
    with pytest.raises(BadInput, match=r"ratio = 0\.7"):
        imbalanced.mnist_st(*imbalanced.digits(), np.random.default_rng(4), 0.7)


def test_cifar10_st_keeps_the_last_records_of_the_first_half():
    features, labels = imbalanced.digits()
    split = imbalanced.cifar10_st(features, labels, np.random.default_rng(3), keep=5)
    counts = np.bincount(split.labels)
    assert counts[:5].tolist() == [5] * 5
    assert counts[5:].min() > 100
    assert np.bincount(split.test_labels).tolist() == [30] * 10
    train = {row.tobytes() for row in split.features}
    assert not any(row.tobytes() in train for row in split.test_features)


def test_quality_on_hand_made_predictions():
    probabilities = np.array([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.3, 0.7]])
    result = quality(probabilities, np.array([0, 0, 1, 1]))
    assert result.accuracy == 0.75
    assert result.auc == 1.0
    assert result.worst_group == 0.5
    assert result.f1 == pytest.approx((0.8 + 2 / 3) / 2)


# Data sets: shapes, norms, labels; the two original file formats on small files; clear messages.
@pytest.mark.parametrize(
    ("task", "shape"),
    [
        (real_data.breast_cancer, (569, 30)),
        (real_data.digits, (1797, 64)),
        (lambda: real_data.covertype_stand_in(np.random.default_rng(1), 3000), (3000, 54)),
        (lambda: real_data.ijcnn_stand_in(np.random.default_rng(1), 3000), (3000, 22)),
    ],
)
def test_tasks_are_binary_and_inside_the_unit_ball(task, shape):
    x, y = task()
    assert x.shape == shape
    assert set(y) == {-1.0, 1.0}
    assert np.linalg.norm(x, axis=1).max() <= 1 + 1e-12


def covertype_lines():
    rng = np.random.default_rng(2)
    for cover in (1, 2, 5, 2, 7, 1):
        numerical = rng.integers(1, 200, 10)
        wilderness, soil = np.eye(4, dtype=int)[rng.integers(4)], np.eye(40, dtype=int)[rng.integers(40)]
        yield ",".join(map(str, [*numerical, *wilderness, *soil, cover]))


def test_covertype_file_keeps_two_classes(tmp_path):
    text = "\n".join(covertype_lines()) + "\n"
    plain, packed = tmp_path / "covtype.data", tmp_path / "covtype.data.gz"
    plain.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))
    x, y = real_data.covertype_file(plain)
    assert y.tolist() == [1, -1, -1, 1]
    assert x.shape == (4, 54)
    assert np.array_equal(real_data.covertype_file(packed)[0], x)
    assert real_data.covertype_file(plain, standardise=True)[0].shape == (4, 54)


def test_ijcnn_file(tmp_path):
    path = tmp_path / "ijcnn1"
    path.write_text("-1 5:1 11:-0.73 12:0.17 22:0.9\n1 1:1 13:0.5\n")
    x, y = real_data.ijcnn_file(path)
    assert y.tolist() == [-1, 1]
    assert x.shape == (2, 22)
    assert x[1, 0] > 0 and x[1, 12] > 0


COVER = ",".join(["1"] * 3 + ["{}"] + ["1"] * 51)
READERS = {"ijcnn1": real_data.ijcnn_file, "ijcnn1.bz2": real_data.ijcnn_file, "covtype.data": real_data.covertype_file}


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        *((name, text, name) for name in ("ijcnn1", "covtype.data") for text in ("hello world\n", "1,2,3\n", "")),
        *((name, None, rf"{name}.*no such file") for name in ("ijcnn1", "covtype.data")),
        *(("ijcnn1", f"1 1:0.5 3:{x}\n-1 2:1\n", "record 1, column 3.*finite") for x in ("nan", "inf", "1e999")),
        *(("covtype.data", COVER.format(x), "record 1, column 4.*finite") for x in ("nan", "inf", "1e999")),
        ("covtype.data", "1,2,1\n", "expected 55 columns, found 3"),
        ("ijcnn1", "1 2147483648:1\n", "LIBSVM"),
        ("ijcnn1.bz2", "", "ijcnn1.bz2"),
    ],
)
def test_absent_and_broken_files_are_named(name, text, why, tmp_path):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(BadInput, match=why):
        READERS[name](tmp_path / name)
