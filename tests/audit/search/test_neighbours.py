import json

import numpy as np
import pytest
from typer.testing import CliRunner

from dpassay.audit.commands import neighbours as command
from dpassay.audit.commands.neighbours import app
from dpassay.audit.results import SoundBound, Verdict
from dpassay.audit.search import neighbours
from dpassay.audit.search.ground import Data
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.baselines import dp_sgd
from dpassay.reference.case import PrivacyClaim, bind
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Kind
from dpassay.reference.neighbours import Pair
from dpassay.reference.problems.linear import LinearLosses


def _build(rows, there):
    problem = LinearLosses(rows)
    return Pair(problem, problem.replace(0, there), 0)


def _where(radius=1.0, n=6, d=3):
    return neighbours.Where(n, d, radius, _build)


def _claim(epsilon):
    return PrivacyClaim(epsilon, 1e-5)


FULL = bind(dp_sgd.run, dp_sgd.with_multiplier(steps=3, learning_rate=0.1, clip=1.0, noise_multiplier=4.0))
WORST = np.sqrt(3) * 2 / 4.0  # root of steps times 2 clip / (multiplier clip)


def test_the_search_attains_the_sensitivity_and_the_rank_is_exact():
    plainest = _where().plainest(-1.0)
    assert neighbours.separation(FULL, _where().pair(plainest)) == pytest.approx(WORST, rel=1e-9)
    found = neighbours.search(FULL, _where(), _claim(4.0), examples=30)
    assert found.searched.shares["gradient"] == pytest.approx(1.0) and found.searched.findings == []
    assert neighbours.separation(FULL, _where().pair(found.candidates[0])) == pytest.approx(WORST, rel=1e-3)


def test_the_target_is_the_row_that_is_replaced():
    """Wherever the search has it, it goes to row 0, which ``build`` replaces; the others keep their order."""
    rows = np.arange(6.0).reshape(3, 2)
    found = neighbours.candidate_of("", Data({"n": 3, "d": 2}, rows, -rows[1], 1))
    assert found.rows.tolist() == [[2, 3], [0, 1], [4, 5]] and found.there.tolist() == [-2, -3]
    pair = neighbours.Paired(FULL, _where(n=3, d=2)).setting(Data({"n": 3, "d": 2}, rows, -rows[1], 1)).pair
    assert (pair.here.rows == found.rows).all() and pair.there.rows[0].tolist() == [-2, -3]


def test_search_confirm_and_witness_of_a_missing_clip(tmp_path):
    """DP-SGD that clips the mean, records up to 20: refuted on fresh runs, saved, replayed (seed 3)."""
    run = bind(_clip_of_the_mean, None)
    where = _where(radius=20.0, n=5, d=2)
    claimed = gdp_epsilon(2 / 4.0, 1e-5)
    found = neighbours.search(run, where, _claim(claimed), examples=40, seed=3)
    assert [(one.kind, one.label) for one in found.searched.findings] == [(Kind.SENSITIVITY_EXCEEDED, "mean")]
    best = neighbours.simplify(run, where, found.candidates[0])
    bound, witness = neighbours.confirm(run, where, [best], 1e-5, claimed, seed=9, runs=200)
    assert isinstance(bound, SoundBound) and bound.verdict is Verdict.VIOLATED
    path = tmp_path / "witness.json"
    neighbours.save_witness(path, witness, bound, "clips the mean")
    again = neighbours.load_witness(path)
    assert (again.rows == witness.rows).all() and (again.there == witness.there).all()
    assert neighbours.separation(run, where.pair(again)) > 2 / 4.0


def _clip_of_the_mean(problem, schedule, tape):
    mean = problem.rows.mean(axis=0)
    mean = mean * min(1.0, 1.0 / max(np.linalg.norm(mean), 1e-300))
    return tape.gaussian("mean", mean, std=4.0 / problem.n, sensitivity=2 / problem.n)


def test_a_correct_algorithm_is_not_accused_after_a_search():
    """The level is spent on fresh runs only: bound below the exact epsilon (seed 4), level split over two."""
    exact = gdp_epsilon(WORST, 1e-5)
    found = neighbours.search(FULL, _where(), _claim(exact * (1 + 1e-9)), examples=30, seed=4)
    assert found.searched.findings == []
    bound, _ = neighbours.confirm(FULL, _where(), found.candidates, 1e-5, exact, seed=5, runs=200)
    assert 0.85 * exact < bound.epsilon <= exact


def test_simplify_keeps_what_matters():
    """The second number of the target alone moves the query: a pair along the first axis would not do."""

    def second(problem, tape):
        return tape.gaussian("sum", problem.rows[:, 1].sum(), std=4.0, sensitivity=2.0)

    rows = _where().inside(np.random.default_rng(6).normal(size=(7, 3)))
    simple = neighbours.simplify(second, _where(), neighbours.Candidate("random", rows[:-1], rows[-1]))
    assert not simple.rows[1:].any() and simple.rows[0, 1] != 0 and simple.name == "random, simplified"


def test_bad_witness_files(tmp_path):
    path = tmp_path / "w.json"
    for text in (
        "{",
        "{}",
        json.dumps({"format": 9}),
        json.dumps({"format": 1, "name": "x", "rows": [1], "there": []}),
    ):
        path.write_text(text)
        with pytest.raises(BadInput):
            neighbours.load_witness(path)
    with pytest.raises(BadInput, match="radius"):
        neighbours.Where(3, 1, float("inf"), _build)


ALGORITHM = """
import numpy as np

def clip_of_the_mean(problem, tape):
    mean = problem.rows.mean(axis=0)
    mean = mean * min(1.0, 1.0 / max(np.linalg.norm(mean), 1e-300))
    return tape.gaussian("mean", mean, std=4.0 / problem.n, sensitivity=2 / problem.n)
"""


def test_search_and_replay_from_the_command_line(tmp_path, monkeypatch):
    """A user's algorithm that clips the mean is refuted and replayed; a catalogue case is tight (seed 0)."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "algorithm_of_a_test.py").write_text(ALGORITHM)
    few = ("--budget", "20", "--runs", "100")
    words = ("search", "algorithm_of_a_test:clip_of_the_mean", "--epsilon", "2", "--radius", "20")
    found = CliRunner().invoke(app, [*words, "--witness", "w.json", *few])
    again = CliRunner().invoke(app, ["replay", "w.json", "--runs", "100", "--module", "algorithm_of_a_test"])
    assert (found.exit_code, again.exit_code) == (1, 1)
    rows = neighbours.load_witness(tmp_path / "w.json").rows
    assert np.count_nonzero(rows) == 1  # the smallest: all but the target are silent
    known = ("search", "baselines/dp_sgd:full-batch@baseline", "--epsilon", "2", "--witness", "v.json")
    assert CliRunner().invoke(app, [*known, *few]).exit_code in (0, 3)
    document = json.loads((tmp_path / "w.json").read_text())
    (tmp_path / "x.json").write_text(json.dumps(document | {"about": document["about"] | {"claimed": "2"}}))
    for bad in (["replay", "x.json"], [*words[:1], "second_order_erm/opt@repaired", *words[2:], "--witness", "y.json"]):
        assert isinstance(CliRunner().invoke(app, bad).exception, BadInput)


def _replay(path, *words):
    return CliRunner().invoke(app, ["replay", str(path), "--runs", "20", *words])


KNOWN = ("search", "baselines/dp_sgd:full-batch@baseline", "--epsilon", "2", "--budget", "5", "--runs", "20")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The witness document of a catalogue case."""
    path = tmp_path_factory.mktemp("witness") / "w.json"
    assert CliRunner().invoke(app, [*KNOWN, "--witness", str(path)]).exit_code in (0, 3)
    return json.loads(path.read_text())


def test_a_witness_is_called_what_it_is(saved):
    """Along the first axis, the other rows silent, and the name says so."""
    assert not np.any(saved["rows"][1:])
    assert saved["name"] == "along the first axis, simplified"


@pytest.mark.parametrize(
    ("where", "value", "what"),
    [
        ("claimed", -1.0, "about.claimed"),
        ("claimed", float("nan"), "NaN"),
        ("claimed", True, "about.claimed"),
        ("claimed", 10**400, "about.claimed"),
        ("radius", 0.0, "about.radius"),
        ("radius", 0.5, "longer than the radius"),
        ("algorithm", 5, "about.algorithm"),
        ("problem", None, "about.problem"),
    ],
)
def test_a_damaged_witness_is_one_clear_line(saved, tmp_path, where, value, what):
    path = tmp_path / "w.json"
    path.write_text(json.dumps(saved | {"about": saved["about"] | {where: value}}))
    error = _replay(path).exception
    assert isinstance(error, BadInput) and "\n" not in str(error)
    assert what in str(error) or "must be a number" in str(error)


def test_a_witness_file_does_not_choose_what_is_imported(saved, tmp_path, monkeypatch):
    """Importing a module runs it: only one that the user names as well."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "planted_module_of_a_test.py").write_text("open('ran', 'w').close()\ndef run(problem, tape): ...\n")
    for where in ("algorithm", "problem"):
        document = saved | {"about": saved["about"] | {where: "planted_module_of_a_test:run"}}
        (tmp_path / "w.json").write_text(json.dumps(document))
        error = _replay("w.json", "--module", "another").exception
        assert isinstance(error, BadInput) and "--module planted_module_of_a_test" in str(error)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("second_order_erm/opt@repaired", "--problem", "logistic", "--dimension", "30"), "--records 100"),
        (("second_order_erm/dp_gd@repaired", "--problem", "logistic", "--dimension", "30"), "--records 100"),
        (("baselines/dp_sgd:fixed-size@baseline", "--records", "12"), "--records 100"),
        (("second_order_erm/dp_gd@repaired", "--problem", "logistic", "--radius", "4"), "length 1 at most"),
    ],
)
def test_a_schedule_for_other_data_is_not_accused(words, what, tmp_path):
    """Noise for 100 records is too small for six, whatever was claimed for the hundred (OPT: 9.8 against 1 shown)."""
    few = ("--epsilon", "1", "--budget", "5", "--runs", "20", "--witness", str(tmp_path / "w.json"))
    error = CliRunner().invoke(app, ["search", *words, *few]).exception
    assert isinstance(error, BadInput) and "is made for" in str(error) and what in str(error)


def test_on_as_many_records_as_it_is_made_for_the_claim_stands(tmp_path):
    """DP-GD on 100 records, claimed epsilon 1 (seed 0)."""
    words = ("search", "second_order_erm/dp_gd@repaired", "--problem", "logistic", "--dimension", "30")
    few = ("--epsilon", "1", "--records", "100", "--budget", "5", "--runs", "100")
    assert CliRunner().invoke(app, [*words, *few, "--witness", str(tmp_path / "w.json")]).exit_code in (0, 3)


@pytest.mark.parametrize("words", [("--seed", "-1"), ("--runs", "0"), ("--runs", "9")])
def test_bad_options_are_named(words, saved, tmp_path):
    (tmp_path / "w.json").write_text(json.dumps(saved))
    for which in ([*KNOWN, "--witness", str(tmp_path / "v.json")], ["replay", str(tmp_path / "w.json")]):
        error = CliRunner().invoke(app, [*which, *words]).exception
        assert isinstance(error, BadInput) and str(error).startswith(words[0])


@pytest.mark.parametrize("body", ["1 / 0", "{}['key']", "assert False, 'no'", "tape.gaussian('x')"])
def test_whatever_an_algorithm_raises_is_one_line(body, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = f"raising_{len(body)}_of_a_test"
    (tmp_path / f"{name}.py").write_text(f"def run(problem, tape):\n    {body}\n")
    error = (
        CliRunner()
        .invoke(app, ["search", f"{name}:run", "--epsilon", "1", "--witness", "w.json", "--budget", "10"])
        .exception
    )
    assert isinstance(error, BadInput) and "does not run on 'linear' problems" in str(error)


def test_an_interrupted_search_leaves_the_old_witness(saved, tmp_path, monkeypatch):
    path = tmp_path / "w.json"
    path.write_text(json.dumps(saved))

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "confirm", interrupted)
    assert CliRunner().invoke(app, [*KNOWN, "--witness", str(path)]).exit_code == 130
    assert json.loads(path.read_text()) == saved and list(tmp_path.iterdir()) == [path]


LEAKS = """
def branch(problem, tape):
    if problem.rows.mean(axis=0)[0] > 0.1:
        tape.public("extra", lambda rng: rng.random())
    return tape.gaussian("mean", problem.rows.mean(axis=0), std=4.0 / problem.n, sensitivity=2 / problem.n)

def revealed(problem, tape):
    return tape.reveal("mean", problem.rows.mean(axis=0))

def silent(problem, tape):
    return tape.gaussian("mean", problem.rows.mean(axis=0), std=0.0, sensitivity=2 / problem.n)
"""


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("branch", 1, "outside the accounting: call at"),
        ("revealed", 1, "outside the accounting: revealed value at 'mean'"),
        ("silent", 1, "epsilon >= infinite"),
    ],
)
def test_what_replay_finds_is_said(name, code, said, tmp_path, monkeypatch):
    """Data that leave without noise are no bound of 0: the finding is shown, as in the table of the audit."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "leaks_of_a_test.py").write_text(LEAKS)
    few = ("--budget", "12", "--runs", "20")
    words = ("search", f"leaks_of_a_test:{name}", "--epsilon", "2", "--witness", "w.json", *few)
    for result in (CliRunner().invoke(app, words), _replay("w.json", "--module", "leaks_of_a_test")):
        assert result.exit_code == code, result.output
        assert said in " ".join(result.output.split())
