"""Outputs and scores as they come: stored ones, damaged ones, and all of them as one table."""

import io
import json
from contextlib import nullcontext

import numpy as np
import pytest

from dpassay.audit.blackbox import table
from dpassay.audit.blackbox.detect import audit_outputs
from dpassay.audit.blackbox.table import Column, Origin
from dpassay.audit.inputs import stored
from dpassay.audit.results import Verdict
from dpassay.reference.errors import BadInput
from dpassay.reference.guarantee import approx_dp


def _npy(descr="<f8", shape="3,", body=b"\0" * 64, version=b"\x01\x00", header=None):
    text = (header or f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}").encode("latin1") + b"\n"
    width = 2 if version == b"\x01\x00" else 4
    return b"\x93NUMPY" + version + len(text).to_bytes(width, "little") + text + body


WHOLE = io.BytesIO()
np.save(WHOLE, np.arange(12.0).reshape(3, 4))
BAD = {  # others: `tests/audit/commands/test_bad_input.py`
    "half a header": _npy(header="{"),
    "lines": _npy(header="\n  x\n y"),
    "nested": _npy(header="-" * 3000),
    "a list as key": _npy(header="{[]: 1}"),
    "an unknown type": _npy(",<U1"),
    "more than 64 bits": _npy(shape="99999999999999999999999,"),
    "more than there is": _npy(shape="4000000000,"),
    "many axes": _npy(shape="1," * 65),
    "long texts": _npy("<U99999999999"),
    "no characters": _npy("<U1", "2,", b"\xff\xff\xff\x7f" * 2),
    "an unknown version": _npy(version=b"\x09\x00"),
    **{f"cut at {cut}": WHOLE.getvalue()[:cut] for cut in (0, 3, 7, 8, 11, 60, 128, 130, len(WHOLE.getvalue()) - 1)},
}


@pytest.mark.parametrize("content", BAD)
def test_a_damaged_array_is_one_line(tmp_path, content):
    path = tmp_path / "x.npy"
    path.write_bytes(WHOLE.getvalue())
    assert stored.load(path).shape == (3, 4)
    path.write_bytes(BAD[content])
    with pytest.raises(BadInput) as caught:
        np.asarray(stored.load(path)).tolist()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("text", "rows"), [
    ("score\n1\n2\n", 2), ("score,coin\n1,0\n2,1\n", 2), ("1\n2\n", 2), ("1e-3\nnan\ninf\n", 3), ("inf\n1\n", 2),
    *((text, 0) for text in ("", "score\n", "a\nb\n", "1 # 2\n", "1,2\n3\n")),
])  # fmt: skip
def test_the_header_of_a_table_is_skipped(tmp_path, text, rows):
    path = tmp_path / "x.csv"
    path.write_text(text)
    with nullcontext() if rows else pytest.raises(BadInput):
        assert len(stored.load(path)) == rows


def test_lines_end_at_newlines_only(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('"a\u2028b"\n"\\ud800"\r\n\n3\n{"x": 1}\n', encoding="utf-8")
    assert stored.load(path) == ["a\u2028b", "\ud800", 3, {"x": 1}]
    path.write_text("\n")
    for name, why in (("x.jsonl", "empty"), ("p.pkl", "path")):
        with pytest.raises(BadInput, match=why):
            stored.load(tmp_path / name)


def test_a_header_names_the_columns_if_both_files_have_the_same(tmp_path):
    texts = ('age, "income"\n1,2\n3,4\n', 'age, "income"\n5,6\n', "age,age\n5,6\n", "5,6\n7,8\n")
    one, two, three, four = (tmp_path / f"{i}.csv" for i in range(4))
    for path, text in zip((one, two, three, four), texts, strict=True):
        path.write_text(text)
    assert stored.column_names([one, two]) == ("age", "income") and stored.load(one).shape == (2, 2)
    for pair in ((one, three), (three, three), (one, four), (four, four), (one, tmp_path / "x.npy")):
        assert stored.column_names(pair) is None


# -- one table ----------------------------------------------------------------------------------------------------
def test_strings_dicts_and_ragged_outputs_become_one_table():
    found = table.to_tables([{"a": 1, "b": "x"}, {"a": 2.5}], [{"a": [1, 2]}, {"b": None}])
    assert found.p.shape == found.q.shape == (2, len(found.columns))
    rng = np.random.default_rng(0)
    texts = [["yes" if x else "no" for x in rng.random(600) < rate] for rate in (0.3, 0.8)]
    assert audit_outputs(*texts, approx_dp(0.5), rng).verdict is Verdict.VIOLATED
    assert audit_outputs(texts[0][:300], texts[0][300:], approx_dp(0.5), rng).verdict is not Verdict.VIOLATED


def test_numbers_are_read_in_text_and_in_json_text():
    found = table.to_tables(["x is 3.5 of 10", "x is -2e3 of 10"], ["x is 1 of 10", "y"])
    column = found.columns.index(Column("number 1 in output"))
    assert found.p[:, column].tolist() == [3.5, -2000.0] and np.isnan(found.q[1, column])
    inner = table.to_tables([json.dumps({"a": [1, 2.5]})], [json.dumps({"a": [3, 4]})])
    assert inner.p[0, inner.columns.index(Column("output.json.a[1]"))] == 2.5
    made = {Column("keys(output.json)", Origin.CODE), Column("len(output.json.a)", Origin.SUMMARY)}
    assert made <= set(inner.columns)


def test_odd_texts_and_values():
    strange = ["\ud800", "[" * 3000, '{"a": 1e999}', "1" * 5000, "", b"\xff"]
    assert table.to_tables(strange, strange).p.shape[0] == len(strange)
    deep: list = []
    for _ in range(60):
        deep = [deep]
    for odd, why in ((deep, "nested too deeply"), (1j, "real numbers")):
        with pytest.raises(BadInput, match=why):
            table.to_tables([odd, 1], [1, 2])


def test_columns_that_only_the_test_part_has_change_nothing():
    training = [np.array([[1.0, np.nan, 2.0], [2.0, np.nan, 2.0]])] * 2
    assert table.telling_columns(training).tolist() == [True, False, False]
    assert table.kept(training, np.zeros(3, dtype=bool))[0].shape == (2, 1)


def test_records_of_a_list_are_told_by_what_identifies_them_in_any_order():
    """Equal identifiers, or hundreds of them, make no columns: ids drawn anew would tell every output apart."""
    rows = [[{"bin": k, "count": float(k)} for k in order] for order in ((2, 0, 1), (1, 2, 0))]
    found = table.to_tables(rows[:1], rows[1:])
    for k in range(3):
        values = found.matrices([Column(f"output[bin={k}].count")])
        assert values[0].item() == values[1].item() == k
    same = [[{"bin": 1, "count": 0.0}, {"bin": 1, "count": 1.0}]]
    many = [[{"bin": k + shift, "count": 0.0} for k in range(200)] for shift in (0, 100)]
    for one, other in ((same, same), (many[:1], many[1:])):
        assert not [column for column in table.to_tables(one, other).columns if "bin=" in column.name]
