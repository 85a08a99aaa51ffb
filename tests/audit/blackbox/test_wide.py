"""Wide outputs, texts, nested and ragged ones, small samples and huge numbers."""

import json

import numpy as np
import pytest

from dpassay.audit.blackbox import columns, screen, table
from dpassay.audit.blackbox.detect import audit_outputs
from dpassay.audit.blackbox.table import Column, Origin
from dpassay.audit.results import Verdict
from dpassay.audit.zoo.entries import zoo
from dpassay.audit.zoo.shapes import prefix_mu, prefix_sums
from dpassay.reference.errors import BadInput
from dpassay.reference.guarantee import approx_dp, gdp

WIDE = [
    "column 37 of 64 exact",
    "histogram of 100 bins, bin 60 at epsilon 20",
    "16 prefix sums, one leaf bare",
    "64 prefix sums, one leaf bare",
    "laplace at epsilon 4 as text",
    "laplace at epsilon 4 as JSON text",
    "laplace at epsilon 4 as nested dict",
    "optional field, wrong rate",
    "one entry a record",
    "the same noise in two of ten columns",
    "column 700 of 1000 at epsilon 4",
    pytest.param("picture of 28 x 28, one pixel at epsilon 4", marks=pytest.mark.slow),
    "lists of changing length, the last entry at epsilon 3",
    "several answers, one at epsilon 3",
    "a key for the record alone",
    "noise rounded to four digits, output not",
]


@pytest.mark.some(1)
@pytest.mark.parametrize("name", WIDE)
def test_wide_and_written_bugs_are_found_with_a_thousand_outputs(name):
    """Each p-value is below 1e-6 with 1,000 outputs a side (seed 3)."""
    entry = next(one for one in zoo() if one.name == name)
    rng = np.random.default_rng(3)
    p, q = (entry.mechanism.many(data, rng, 1000) for data in (entry.dataset, entry.neighbour))
    assert audit_outputs(p, q, entry.claim, rng).p_value < 1e-6


def _with_bit(number, place, bit):
    return number & ~(1 << place) | bit << place


def _lines(bit, rng, shown, count=40):
    """Random lines, one of which (line 31) shows the bit."""
    return [shown(i, bit if i == 30 else int(rng.integers(2)), rng) for i in range(count)]


HIDDEN = {
    "output[1] <= -0": lambda bit, rng: [rng.laplace(), 0.0 if bit else -0.0],
    "bit 11 of output[1]": lambda bit, rng: np.array([rng.laplace(), _with_bit(int(rng.integers(2**31)), 11, bit)]),
    "bit 3 of lower half of output.id": lambda bit, rng: {"id": _with_bit(int(rng.integers(2**62)) << 2, 3, bit)},
    "output.bits[40]": lambda bit, rng: "".join(map(str, [*rng.integers(0, 2, 40), bit, *rng.integers(0, 2, 9)])),
    "output.bits[46]": lambda bit, rng: f"{_with_bit(int(rng.integers(2**62)) << 2, 17, bit):016x}",
    "output[60] modulo 0.01": lambda bit, rng: [round(rng.laplace(), 2 + bit * (j == 60)) for j in range(80)],
    "digits of number 31 in output": lambda bit, rng: " ".join(
        _lines(bit, rng, lambda i, one, rng: f"{rng.random():.2f}{'0' * one}")
    ),
    "output.table[30].member": lambda bit, rng: "\n".join(
        ["name;member", *_lines(bit, rng, lambda i, one, rng: f'"a;b";{"yes" if one else "no"}')]
    ),
    "output.table[name='p30'].n": lambda bit, rng: "\n".join(
        ["name,n", *rng.permutation(_lines(bit, rng, lambda i, one, rng: f"p{i},{rng.normal() + 9 * one}"))]
    ),
    "sum(output.table[].n)": lambda bit, rng: "\n".join(
        ["m\tn", *(f"{rng.normal()}\t{x}" for x in (lambda x: x - x.mean() + bit)(rng.normal(size=20)))]
    ),
    "line 31 of output": lambda bit, rng: "\n".join(
        _lines(bit, rng, lambda i, one, rng: f"person {i}: {'yes' if one else 'no'}")
    ),
}


@pytest.mark.parametrize("event", HIDDEN)
def test_one_bit_in_a_zero_a_number_or_a_text_is_found_and_named(event):
    """It shows the side in 97 % of 240 runs; red case: a fair coin in its place is no alarm."""
    rng, mechanism = np.random.default_rng(5), HIDDEN[event]
    sides = [[mechanism(int(rng.random() < rate), rng) for _ in range(240)] for rate in (0.03, 0.97, 0.5, 0.5)]
    found = audit_outputs(*sides[:2], approx_dp(1.0), rng)
    assert found.p_value < 1e-6 and event in str(found.evidence["event"])
    assert audit_outputs(*sides[2:], approx_dp(1.0), rng).verdict is not Verdict.VIOLATED


def test_a_pair_of_columns_is_seen_through_their_difference():
    """Two of 16 columns are alike but for the answer; each alone says nothing."""
    rng = np.random.default_rng(1)
    p, q = rng.normal(size=(2, 800, 16))
    p[:, 9], q[:, 9] = p[:, 8] + 0.5, q[:, 8] + 1.5
    names = [Column(f"x{j}") for j in range(16)]
    assert screen.screen(p, q, gdp(0.5), names)[0].base.name == "x9 less x8"


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_noise_taken_out_elsewhere_is_seen_among_many_columns(sign):
    """Columns 30 and 65 together are the answer with hardly any noise, and no single one or lag shows it; red case:
    with noise of its own in column 65 there is no pair, and nothing stands out.
    """
    rng, names, claim = np.random.default_rng(2), [Column(f"x{j}") for j in range(80)], approx_dp(1.0)
    p, q = rng.laplace(size=(2, 400, 80))
    assert not list(columns.correlated(p, q, names)) and screen.screen(p, q, claim, names)[0].errors < 5
    for side, answer in ((p, 0.0), (q, 1.0)):
        side[:, 65] = answer + sign * side[:, 30] + rng.laplace(0, 0.1, 400)
    best = screen.screen(p, q, claim, names)[0]
    assert best.base.name == f"x65 {'less' if sign > 0 else 'plus'} x30" and best.errors > 15


@pytest.mark.parametrize(
    ("shape", "size"),
    [(s, z) for s in ((20, 50), (10, 1), (15, 3)) for z in (1.0, 1e200, 1e307, 1e-300)] + [((12, 400), 1e307)],
)
def test_small_samples_of_wide_and_huge_outputs_are_audited(shape, size):
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=(2, *shape)) * size
    assert audit_outputs(p, q, gdp(8.0), rng).verdict is not Verdict.VIOLATED


def test_missing_and_infinite_entries_are_ordered():
    given = np.array([[np.nan, -np.inf, -1e200, 0.0, 1e200, np.inf]])
    assert (np.diff(columns.tamed(given)) >= 0).all() and np.isfinite(columns.tamed(given)).all()
    assert np.isfinite(columns.summaries(columns.tamed(given))).all()


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
    found = table.to_tables(strange, strange)
    assert found.p.shape[0] == len(strange)
    with pytest.raises(BadInput, match="nested too deeply"):
        deep: list = []
        for _ in range(60):
            deep = [deep]
        table.to_tables([deep, 1], [1, 2])
    with pytest.raises(BadInput, match="real numbers"):
        table.to_tables([1j, 1], [1, 2])


def test_columns_that_only_the_test_part_has_change_nothing():
    training = [np.array([[1.0, np.nan, 2.0], [2.0, np.nan, 2.0]])] * 2
    assert table.telling_columns(training).tolist() == [True, False, False]
    assert table.kept(training, np.zeros(3, dtype=bool))[0].shape == (2, 1)


def test_the_exact_mu_of_prefix_sums_is_that_of_their_noise():
    """All covariances by sampling: mu of the best linear score within 3 % of the closed form (200,000 draws)."""
    mechanism = prefix_sums(8, 1.0, None)
    drawn = np.asarray(mechanism.many(None, np.random.default_rng(0), 200_000))
    moved = np.asarray(mechanism.many(5, np.random.default_rng(0), 200_000)).mean(axis=0) - drawn.mean(axis=0)
    mu = float(np.sqrt(moved @ np.linalg.solve(np.cov(drawn.T), moved)))
    assert mu == pytest.approx(prefix_mu(8, 1.0, 5), rel=0.03)
    assert moved.round(6).tolist() == [0, 0, 0, 0, 0, 1, 1, 1]


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


def test_a_column_is_a_code_by_its_origin_and_not_by_its_name():
    """A user may call a column of numbers what codes are called: it is still ordered; red case: codes are not."""
    p, q = np.random.default_rng(3).laplace(size=(2, 400, 1))
    q += 3

    def seen(origin):
        return screen.screen(p, q, approx_dp(0.5), [Column("text(answer)", origin)])

    assert seen(Origin.VALUE)[0].errors > 5 and seen(Origin.VALUE)[0].value is None
    assert all(one.value is not None for one in seen(Origin.TEXT) if one.family.one is not None)
