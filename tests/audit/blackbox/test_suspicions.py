"""Two samples that were not drawn by themselves are refused; independent ones, whatever their type, are not."""

import itertools
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from dpassay.audit.blackbox.detect import audit_outputs, epsilon_of_outputs, require_independent
from dpassay.audit.blackbox.table import to_tables
from dpassay.audit.cli import app
from dpassay.audit.results import Verdict
from dpassay.audit.sequential.black_box import audit_sequentially
from dpassay.reference import guarantee
from dpassay.reference.errors import BadInput

RNG = np.random.default_rng(7)
NOISE = RNG.normal(size=(300, 4))


@pytest.mark.parametrize(
    ("p", "q"),
    [
        pytest.param(NOISE, NOISE, id="one file twice"),
        pytest.param(NOISE, NOISE[::-1], id="the same in another order"),
        pytest.param(NOISE, np.concatenate([NOISE[:30], RNG.normal(size=(100, 4))]), id="a part of the other side"),
        pytest.param(NOISE, NOISE + np.array([1.0, 0.0, 0.0, 2.0]), id="one seed for both sides"),
        pytest.param(NOISE[:, 0].round(2), NOISE[:, 0].round(2) + 1, id="the same, rounded"),
    ],
)
def test_runs_that_depend_on_each_other_are_refused(p, q):
    with pytest.raises(BadInput, match="must be independent"):
        require_independent(to_tables(p, q))


@pytest.mark.parametrize(
    ("p", "q"),
    [
        pytest.param(NOISE, RNG.normal(size=(300, 4)), id="numbers"),
        pytest.param(RNG.integers(50, size=300), RNG.integers(50, size=300), id="few values"),
        pytest.param(np.c_[np.arange(300), NOISE[:, 0]], np.c_[np.arange(300), RNG.normal(size=300)], id="numbered"),
        pytest.param(np.ones(300), np.ones(300), id="a constant"),
        pytest.param(NOISE[:12], NOISE[:12], id="too few to say"),
        pytest.param(NOISE, np.where(np.arange(300)[:, None] < 5, NOISE, 1 - NOISE[::-1] ** 3), id="five by chance"),
    ],
)
def test_independent_runs_are_not(p, q):
    require_independent(to_tables(p, q))


def test_the_command_refuses_one_file_twice_and_one_noise_for_both(tmp_path):
    """60 numbers, audited against themselves, were 'violated': what is learned on one side recalls the other."""
    names = [tmp_path / f"{name}.jsonl" for name in ("one", "moved", "other")]
    rows = RNG.normal(size=(300, 60))
    for name, some in zip(names, (rows, rows + 0.1, RNG.normal(size=(300, 60))), strict=True):
        name.write_text("".join(json.dumps(row) + "\n" for row in some.tolist()))
    for other, refused in ((names[0], True), (names[1], True), (names[2], False)):
        for claim, code in ((["--epsilon", "1"], 3), ([], 0)):
            files = ["--outputs", str(names[0]), "--outputs", str(other)]
            found = CliRunner().invoke(app, ["blackbox", *files, *claim, "--quiet"])
            assert isinstance(found.exception, BadInput) if refused else found.exit_code == code


def test_so_do_the_library_and_the_sequential_audit():
    claim = guarantee.approx_dp(1.0)
    for judged in (lambda rng: audit_outputs(NOISE, NOISE + 1, claim, rng),
                   lambda rng: epsilon_of_outputs(NOISE, NOISE + 1, 0.0, rng)):  # fmt: skip
        with pytest.raises(BadInput, match="must be independent"):
            judged(np.random.default_rng(0))
    calls = itertools.count()

    def seeded_by_its_number(data, rng):
        return data + float(np.random.default_rng(next(calls) % 100).normal())

    with pytest.raises(BadInput, match="must be independent"):
        audit_sequentially(seeded_by_its_number, (0.0, 0.1), claim, np.random.default_rng(0), limit=400, first=100)


@pytest.mark.parametrize("nothing", [[[]] * 50, np.zeros((50, 0)), [{}] * 50, [""] * 50])
def test_outputs_that_hold_nothing_are_a_constant(nothing):
    """Lists without entries were refused as 'no outputs'; against something they give themselves away."""
    claim = guarantee.approx_dp(1.0)
    assert audit_outputs(nothing, nothing, claim, np.random.default_rng(0)).verdict is not Verdict.VIOLATED
    assert epsilon_of_outputs(nothing, nothing, 0.0, np.random.default_rng(0)).epsilon == 0.0
    others = RNG.normal(size=(50, 1)).tolist()
    assert audit_outputs(list(nothing), others, claim, np.random.default_rng(0)).verdict is Verdict.VIOLATED
