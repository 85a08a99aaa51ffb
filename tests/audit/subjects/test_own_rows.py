"""What rows of one's own code say of its releases and of the places of findings."""

from functools import partial
from pathlib import Path

import broken
import numpy as np
import pytest

from dpassay.audit.assaying.assay import Effort, assay
from dpassay.audit.assaying.releases import own_releases
from dpassay.audit.certify.certificate import certify
from dpassay.audit.subjects.own import open_own, own_row, usual_space
from dpassay.reference import Pair, PrivacyClaim
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.errors import BadInput

QUICK = Effort(runs=60, pilot=50, examples=10)
PAIR = Pair(np.zeros((2, 1)), np.ones((2, 1)), 0)
PROGRAMS = Path(__file__).parents[1] / "programs"


def test_a_row_says_what_is_released():
    row = own_row("broken:search_line", "broken:space", PrivacyClaim(20.0, 1e-5), QUICK)
    assert [[one[name] for name in ("label", "law", "count", "scale")] for one in row.releases] == [
        ["line", "AboveThreshold", 1, [8 / 6, 16 / 6]],  # of the largest sizes: n = 6
        ["step", "Gaussian", 1, [4.0, 4.0]],
    ]
    assert [one["sensitivity"] for one in row.releases] == [[2 / 6, 2 / 6]] * 2
    assert [one["finding"] for one in row.places] == [""]  # where it begins


def test_a_finding_has_its_place():
    row = own_row("broken:half_sensitivity", "broken:space", PrivacyClaim(20.0, 1e-5), QUICK)
    (place, _), lines = row.places, Path(broken.__file__).read_text().splitlines()
    assert (place["finding"], Path(place["file"]).name) == ("sensitivity exceeded (gradient)", "broken.py")
    assert lines[place["line"] - 1].strip().startswith("return tape.gaussian") and row.exit_code() == 1


def test_the_sequence_is_that_of_labels_and_laws():
    def repeated(rows, tape, times=1):
        for _ in range(times):
            tape.gaussian("a", rows.sum(), std=1.0, sensitivity=1.0)

    (once, first), (twice, second) = (own_releases(run, PAIR) for run in (repeated, partial(repeated, times=2)))
    assert first != second and (once[0]["count"], twice[0]["count"]) == (1, 2)
    found = assay(repeated, PAIR, PrivacyClaim(9.0, 1e-5), effort=QUICK)
    assert [one.label for one in found.transcript.releases] == ["a"]  # the transcript that is accounted


def test_plain_code_calls_its_releases_by_number(monkeypatch):
    monkeypatch.syspath_prepend(PROGRAMS)
    releases, _ = own_releases(*open_own("right:stdlib_sum", "broken:space", None))
    assert [(one["label"], one["scale"], one["sensitivity"]) for one in releases] == [("noise 1", [8.0, 8.0], None)]


@pytest.mark.parametrize(("raised", "advised"), [("rows[:, 99]", True), ("rows[0, 0] + {}['a']", False)])
def test_other_sizes_are_advised_where_an_index_or_a_shape_is_wrong(tmp_path, monkeypatch, raised, advised):
    (tmp_path / f"sized_{advised}.py").write_text(f"def run(rows, rng):\n    return {raised} + rng.normal()\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BadInput) as found:
        own_row(f"sized_{advised}:run", None, PrivacyClaim(1.0, 1e-5), QUICK)
    assert ("if your data have other sizes" in str(found.value)) is advised


def test_code_for_a_certain_number_of_columns_is_tried_and_certified_with_that_one():
    weights = np.ones((8, 2))

    def projected(rows, rng):
        found = np.clip(rows @ weights, -1.0, 1.0).sum(axis=0)
        return found + rng.normal(scale=4.0, size=2)

    where = usual_space(projected, None, "projected")
    assert where.sizes["d"] == (8,)
    found = certify(projected, where, delta=1e-5)
    assert found.epsilon == pytest.approx(gdp_epsilon(np.sqrt(8) / 4.0, 1e-5), rel=1e-3)
