"""Stored outputs and scores: damaged .npy files, headers of tables, lines with odd characters."""

import io
import os

import numpy as np
import pytest

from dpassay.audit.inputs import stored
from dpassay.reference.errors import BadInput


def _npy(header, body=b"\0" * 64, version=b"\x01\x00"):
    text = header.encode("latin1") + b"\n"
    width = 2 if version == b"\x01\x00" else 4
    return b"\x93NUMPY" + version + len(text).to_bytes(width, "little") + text + body


GOOD = "{'descr': '<f8', 'fortran_order': False, 'shape': (%s,), }"
BAD = [
    b"PK\x03\x04" + b"\0" * 40,
    b"",
    b"\x93NUMPY\x01\x00",
    _npy("{"),
    _npy("\n  x\n y"),
    _npy("-" * 3000),
    _npy("{[]: 1}"),
    _npy("{'descr': ',<U1', 'fortran_order': False, 'shape': (3,), }"),
    _npy("{'descr': '|O', 'fortran_order': False, 'shape': (3,), }"),
    _npy(GOOD % "99999999999999999999999"),
    _npy(GOOD % "4000000000"),
    _npy(GOOD % "0"),
    _npy("{'descr': '<f8', 'fortran_order': False, 'shape': (), }"),
    _npy("{'descr': '<f8', 'fortran_order': False, 'shape': (" + "1," * 65 + "), }"),
    _npy("{'descr': '<U99999999999', 'fortran_order': False, 'shape': (3,), }"),
    _npy("{'descr': '<U1', 'fortran_order': False, 'shape': (2,), }", b"\xff\xff\xff\x7f" * 2),
    _npy(GOOD % "3", version=b"\x09\x00"),
]


@pytest.mark.parametrize("content", BAD, ids=range(len(BAD)))
def test_a_damaged_array_is_one_line(tmp_path, content):
    path = tmp_path / "x.npy"
    path.write_bytes(content)
    with pytest.raises(BadInput) as caught:
        stored.load(path)
        np.asarray(stored.load(path)).tolist()
    assert "\n" not in str(caught.value)


def test_a_sparse_array_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "x.npy"
    path.write_bytes(_npy(GOOD % "400000000"))
    os.truncate(path, path.stat().st_size + 3_200_000_000)
    with pytest.raises(BadInput, match="holds 3200000000 bytes, more than"):
        stored.load(path)


@pytest.mark.parametrize("cut", range(0, 200, 7))
def test_every_cut_of_a_good_file_is_refused(tmp_path, cut):
    buffer = io.BytesIO()
    np.save(buffer, np.arange(12.0).reshape(3, 4))
    path = tmp_path / "x.npy"
    path.write_bytes(buffer.getvalue())
    assert stored.load(path).shape == (3, 4)
    path.write_bytes(buffer.getvalue()[: min(cut, len(buffer.getvalue()) - 1)])
    with pytest.raises(BadInput):
        stored.load(path)


@pytest.mark.parametrize(
    ("text", "rows"),
    [("score\n1\n2\n", 2), ("score,coin\n1,0\n2,1\n", 2), ("1\n2\n", 2), ("1e-3\nnan\ninf\n", 3), ("inf\n1\n", 2)],
)
def test_the_header_of_a_table_is_skipped(tmp_path, text, rows):
    path = tmp_path / "x.csv"
    path.write_text(text)
    assert len(stored.load(path)) == rows


@pytest.mark.parametrize("text", ["", "score\n", "a\nb\n", "1 # 2\n", "1,2\n3\n"])
def test_tables_that_are_none(tmp_path, text):
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(BadInput):
        stored.load(path)


def test_lines_end_at_newlines_only(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('"a\u2028b"\n"\\ud800"\r\n\n3\n', encoding="utf-8")
    assert stored.load(path) == ["a\u2028b", "\ud800", 3]
    path.write_text("\n")
    with pytest.raises(BadInput, match="empty"):
        stored.load(path)


def test_a_header_names_the_columns_if_both_files_have_the_same(tmp_path):
    one, two, three = (tmp_path / f"{i}.csv" for i in range(3))
    one.write_text('age, "income"\n1,2\n3,4\n')
    two.write_text('age, "income"\n5,6\n')
    three.write_text("age,age\n5,6\n")
    assert stored.column_names([one, two]) == ("age", "income") and stored.load(one).shape == (2, 2)
    assert stored.column_names([one, three]) is None and stored.column_names([three, three]) is None
    two.write_text("5,6\n7,8\n")
    assert stored.column_names([one, two]) is None and stored.column_names([two, two]) is None
    assert stored.column_names([one, tmp_path / "x.npy"]) is None
