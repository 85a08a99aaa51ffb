"""What rows of one's own code say of its releases and of the places of findings."""

from functools import partial

import numpy as np
import pytest

from dpassay.audit.assaying.assay import Effort, assay
from dpassay.audit.assaying.releases import own_releases
from dpassay.audit.subjects.own import open_own, own_row
from dpassay.reference import Pair, PrivacyClaim

QUICK = Effort(runs=60, pilot=50, examples=10)
PAIR = Pair(np.zeros((2, 1)), np.ones((2, 1)), 0)
MINE = """
import numpy as np
from dpassay.reference import Space

space = Space.matrix(n=(2, 4), d=(1,), radius=10.0)


def bounded(rows, tape):
    rows = np.clip(rows, -1, 1)
    total = tape.laplace("sum", rows.sum(), scale=4.0, sensitivity=2.0)
    for _ in range(2):
        total += tape.gaussian("mean", rows.mean(), std=8.0 / len(rows), sensitivity=2.0 / len(rows))
    return total


def unbounded(rows, tape):
    return tape.gaussian("mean", rows.mean(), std=8.0 / len(rows), sensitivity=2.0 / len(rows))


def plain(rows, rng):
    return np.clip(rows, -1, 1).sum() + rng.normal(scale=8.0)
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "subject_mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "subject_mine"


def test_a_row_says_what_is_released(mine):
    row, _ = own_row(f"{mine}:bounded", f"{mine}:space", PrivacyClaim(20.0, 1e-5), QUICK)
    assert [[one[name] for name in ("label", "law", "count", "scale", "sensitivity")] for one in row.releases] == [
        ["sum", "Laplace", 1, [4.0, 4.0], [2.0, 2.0]],
        ["mean", "Gaussian", 2, [2.0, 2.0], [0.5, 0.5]],  # of the largest sizes: n = 4
    ]
    assert [one["finding"] for one in row.places] == [""]  # where it begins


def test_a_finding_has_its_place(mine):
    row, found = own_row(f"{mine}:unbounded", f"{mine}:space", PrivacyClaim(20.0, 1e-5), QUICK)
    places = {one["finding"]: (one["file"], MINE.splitlines()[one["line"] - 1].strip()) for one in row.places}
    file, line = places["sensitivity exceeded (mean)"]
    assert file == f"{mine}.py" and line.startswith("return tape.gaussian") and found.verdict.failed


def test_the_sequence_is_that_of_labels_and_laws():
    def repeated(rows, tape, times=1):
        for _ in range(times):
            tape.gaussian("a", rows.sum(), std=1.0, sensitivity=1.0)

    (once, first), (twice, second) = (own_releases(run, PAIR) for run in (repeated, partial(repeated, times=2)))
    assert first != second and (once[0]["count"], twice[0]["count"]) == (1, 2)
    found = assay(repeated, PAIR, PrivacyClaim(9.0, 1e-5), effort=QUICK)
    assert [one.label for one in found.transcript.releases] == ["a"]  # the transcript that is accounted


def test_plain_code_calls_its_releases_by_number(mine):
    releases, _ = own_releases(*open_own(f"{mine}:plain", f"{mine}:space", None))
    assert [(one["label"], one["scale"], one["sensitivity"]) for one in releases] == [("noise 1", [8.0, 8.0], None)]
