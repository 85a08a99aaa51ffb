"""Claims about a name of the catalogue at sizes of one's own."""

import pytest

from dpassay.audit.claims.audited import audited, resolve, space_at
from dpassay.audit.claims.model import Algorithm
from dpassay.reference.catalogue import find
from dpassay.reference.errors import BadInput

SIZES = {"n": 6, "d": 2, "steps": 4, "phase": 2, "batch": 6, "refresh": 6}


def claim(algorithm, sizes, epsilon=1.0, **more):
    about = {"name": "a", "algorithm": algorithm, "sizes": sizes, "epsilon": epsilon, "delta": 1e-5}
    return Algorithm(**about, runs=20, examples=10, **more)


def test_the_noise_is_that_of_the_sizes(tmp_path):
    row = audited(claim("dro/double_spider:chi_square@repaired", SIZES), tmp_path, 0.95)
    assert row.data == "n = 6, d = 2, steps = 4, phase = 2, batch = 6, refresh = 6" and row.reading == "repaired"
    assert 0.95 < row.accounted <= 1.0 and row.upper_bound
    assert all(one["n"] == 6 for one in (row.pair["sizes"],))
    row = audited(claim("dro/double_spider:chi_square@repaired", SIZES, 0.5), tmp_path, 0.95)
    assert row.verdict == "over budget"


@pytest.mark.more
def test_no_more_is_shown_than_accounted(tmp_path):
    """A run may be longer than the one that was accounted: then the search has seen what the longest costs."""
    row = audited(claim("second_order_erm/opt@repaired", {"n": 200, "steps": 10}), tmp_path, 0.95)
    assert row.realised is None or row.realised <= row.accounted
    assert f"{(row.realised or 0) / row.accounted:.0%} of the accounted epsilon" in row.why


@pytest.mark.more
def test_a_defect_shows_at_other_sizes(tmp_path):
    assert audited(claim("dro/double_spider:chi_square@printed", SIZES), tmp_path, 0.95).exit_code(True) == 1


def test_sizes_that_are_not_named_are_tried_as_before():
    (case,) = find("second_order_erm/opt@repaired")
    space = space_at(case, {"n": 40})
    assert space.sizes["n"] == (40,) and space.sizes["steps"] == case.space().sizes["steps"]


@pytest.mark.parametrize(
    ("algorithm", "sizes", "words"),
    [
        ("dro/double_spider:chi_square@repaired", {"n": 7}, "go with none of the other sizes"),
        ("dro/double_spider:chi_square@repaired", {"rows": 7}, "has the sizes d, n, steps"),
        ("mine:run", {"n": 7}, "is for names of the catalogue"),
    ],
)
def test_sizes_that_mean_nothing(algorithm, sizes, words, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("def run(rows, tape):\n    return 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BadInput, match=words) as caught:
        resolve(claim(algorithm, sizes))
    assert caught.value.field.startswith("sizes")
