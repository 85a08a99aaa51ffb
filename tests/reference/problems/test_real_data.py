"""Data sets: shapes, norms, labels; the two original file formats on small files; clear messages."""

import gzip

import numpy as np
import pytest

from dpassay.reference.errors import BadInput
from dpassay.reference.problems import real_data


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


@pytest.mark.parametrize("reader", [real_data.covertype_file, real_data.ijcnn_file])
def test_absent_and_broken_files_are_named(reader, tmp_path):
    with pytest.raises(BadInput, match=r"absent.*no such file"):
        reader(tmp_path / "absent")
    for text in ("hello world\n", "1,2,3\n", ""):
        broken = tmp_path / "broken"
        broken.write_text(text)
        with pytest.raises(BadInput, match="broken"):
            reader(broken)
