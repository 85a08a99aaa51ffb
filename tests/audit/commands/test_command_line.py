"""The command line as a user meets it: outputs, exit codes, resuming, demo, completion, stored scores."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dpassay.audit.claims import scores as judged_scores
from dpassay.audit.commands import demo
from dpassay.audit.commands import demo_loops as loops
from dpassay.audit.results import SoundBound, Verdict
from dpassay.audit.row import Effort
from dpassay.audit.running.report_file import load, save
from dpassay.audit.running.store import read_state, write_state
from dpassay.audit.sequential import session
from dpassay.audit.terminal.finish import Options, show_row
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import BadInput

QUICK = ["--runs", "60", "--pilot", "60", "--examples", "0", "--jobs", "1"]  # the search has its own tests
DIGITS = "reports/baselines-dp_sgd-digits.json"  # where named algorithms go
FIRST = ["audit", "baselines/dp_sgd:digits", *QUICK]


def test_no_bound_is_claimed_of_a_reading_that_leaks(dpassay):
    """Printed, the number of steps is computed from private data: what the releases add up to bounds nothing."""
    code, out, _ = dpassay("show", "second_order_erm/opt")
    rows = json.loads(dpassay("show", "second_order_erm/opt", "--json")[1])
    told = {row["key"].split("@")[1]: row["accounted"] for row in rows}
    assert code == 0 and "no bound, as this reading declares: early end, noise scale" in told["printed"]
    assert told["printed"] in out and "exact" in told["repaired"] and "no bound" not in told["repaired"]
    assert "file: reference/second_order_erm/opt.py, run at line" in out and "repairs: as above" in out


def test_the_list_has_each_title_once_in_its_paper(dpassay):
    assert len(json.loads(dpassay("list", "--json")[1])) > 50 and dpassay("--version")[1].startswith("dpassay ")
    *papers, legend = dpassay("list")[1].split("\n\n")
    assert "claimed (epsilon, delta)" in legend and "quick" in legend
    for part in papers:
        titles = [line for line in part.splitlines() if line.startswith("  ") and not line.startswith("    ")]
        assert titles and len(titles) == len(set(titles))


def python(code, environment=None):
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)


def test_resume_keeps_finished_rows_and_audits_those_of_other_code_or_effort_again(dpassay, tmp_path):
    """A second audit of a row wipes out the seconds that are written into it."""
    path = tmp_path / DIGITS
    dpassay(*FIRST)
    for change in ({}, {"code": "0" * 16}, {"seed": 1}, {"versions": {"numpy": "0.1"}}):
        save(path, [replace(row, seconds=12345.0, **change) for row in load(path)])
        code, _, err = dpassay(*FIRST, "--resume")
        assert code == 0 and (load(path)[0].seconds == 12345.0) == (not change) == ("audited again" not in err)
    dpassay("audit", "output_perturbation/algorithm1@repaired", "--output", DIGITS, *QUICK)
    assert [row.algorithm for row in load(path)] == ["baselines/dp_sgd", "output_perturbation/algorithm1"]


def test_a_broken_algorithm_is_one_line_and_exit_code_70(dpassay, monkeypatch):
    broken = replace(CASES[0], build=lambda: 1 / 0)
    monkeypatch.setattr("dpassay.audit.commands.audit.find", lambda name: [broken])
    code, _, err = dpassay("audit", "anything", *QUICK)
    assert code == 70 and len(err.strip().splitlines()) == 1
    assert CASES[0].key in err and "ZeroDivisionError" in err and "test_command_line.py" in err


def test_a_broken_table_of_cases_is_one_line_and_exit_code_70():
    done = python(
        "import sys; from dpassay.audit.cli import main; sys.argv = ['dpassay', 'list']\n"
        "sys.modules['dpassay.reference.dro.cases'] = None\nmain()"
    )
    assert done.returncode == 70 and len(done.stderr.strip().splitlines()) == 1 and "dro/cases.py" in done.stderr


def test_known_violations_are_an_exit_code_where_that_is_asked_for_and_too_few_runs_are_another(dpassay):
    """10 runs cannot show what this pair carries, and the certificate of a printed row is open: exit code 3, not 0."""
    assert dpassay("audit", "output_perturbation/algorithm3@printed", "--runs", 10, "--pilot", 50, *QUICK[4:])[0] == 3
    words = ["audit", "output_perturbation/strongly_concave:as-variance", *QUICK]
    assert dpassay(*words)[0] == 0
    for option in ("--strict", "--require=certified"):
        assert dpassay(*words, option, "--resume")[0] == 1


KEY = "second_order_erm/opt@printed"
SMALL = ("--jobs", 1, "--runs", 60, "--pilot", 50, "--examples", 12)
REPORT = Path("reports/second_order_erm-opt@printed.json")
FILE = "reports/second_order_erm-opt@printed.witness-1.json"


def test_explain_tells_premises_movements_source_and_witnesses_which_replay(dpassay, capfd):
    code, out, _ = dpassay("audit", KEY, *SMALL, "--explain")
    told = out.split(f"{KEY}: violated; 12 examples, seed 0\n")[1]
    premises = re.findall(r"^  premise \d: .*: (.*)$", told, re.MULTILINE)
    assert premises == [*3 * ["no counterexample found"], "does not hold", "no counterexample found"]
    assert "does not hold\n    noise scale at 'gradient', step " in told
    shares = told.partition("  largest movement of each label, as a share of its declared sensitivity\n")[2]
    largest = dict(line.split()[:2] for line in shares.splitlines()[:2])  # what may follow says what is possible
    assert set(largest) == {"gradient", "hessian"} and all(0 < float(one) <= 1 + 1e-9 for one in largest.values())
    source = re.search(r"  source: (\d+) of (\d+) lines and .* branches of the algorithm's own files", told)
    assert 0 < int(source[1]) <= int(source[2])
    assert f"\n  again   dpassay neighbours replay {FILE}\n" in told
    assert code in (0, 3)  # with so few examples a declared finding may not show

    for reading, now in (("printed", (1, "Now: the same finding")), ("repaired", (0, "Now: not this finding"))):
        Path(FILE).write_text(Path(FILE).read_text().replace("opt@printed", f"opt@{reading}"))
        code, out, _ = dpassay("neighbours", "replay", FILE)
        assert (code, now[1] in out) == (now[0], True)

    (row,) = load(REPORT)
    assert row.witnesses and not row.undeclared
    show_row(REPORT, row, Options())
    assert not capfd.readouterr().out  # what was declared prints no witness


def test_one_s_own_algorithm_is_explained_too(dpassay, tmp_path):
    (tmp_path / "ours.py").write_text(
        "def run(rows, tape):\n"
        "    v = tape.gaussian('sum', rows.sum(axis=0), std=9.0, sensitivity=2.0)\n"
        "    if len(rows) < 0:\n"
        "        tape.gaussian('never', v, std=9.0, sensitivity=2.0)\n"
        "    return v, float(rows[0, 0])\n"
    )
    code, out, _ = dpassay("audit", "ours:run", "--epsilon", 5, "--explain", *SMALL)
    assert code == 1 and "    output at" in out
    assert "    ours.py:4: tape.gaussian('never', v, std=9.0, sensitivity=2.0)\n" in out
    assert "reports/ours-run.witness-1.json --module ours" in out
    (row,) = load(Path("reports/ours-run.json"))
    (target,) = re.findall(r"the worst neighbours .*\n    sizes   .*; the neighbours differ in record (\d+)\n", out)
    assert int(target) == row.pair["target"]


def test_the_demo_catches_its_bug_and_explains_it_and_fails_where_it_does_not(dpassay, monkeypatch):
    monkeypatch.setattr(demo, "_EFFORT", Effort(runs=60, pilot=50, examples=30))
    monkeypatch.setenv("COLUMNS", "100")
    code, out, err = dpassay("demo")
    assert code == 0 and "\nCaught, in " in out and not err, out
    assert "sensitivity exceeded at 'gradient'" in out and "in clips_the_mean: w = w - 0.5 * tape" in out
    assert "- gradient = shorten(gradients.mean(axis=0))" in out
    assert "\x1b" not in out and max(map(len, out.splitlines())) <= 100
    assert [line[0] for line in out.splitlines() if line[1:3] == ". "] == list("12345")
    monkeypatch.setattr(demo, "clips_the_mean", loops.clips_each_record)
    code, out, _ = dpassay("demo")
    assert code == 1 and "NOT as it should be" in out


COMPLETED = {
    "audit dr": "dro", "audit dro/si": "dro/single_sample", "show dp_": "dp_ftrl", "audit --juni": "--junit",
    "list baselines/dp_sgd:p": "baselines/dp_sgd:poisson@baseline",
}  # fmt: skip


@pytest.mark.parametrize("words", COMPLETED)
def test_a_shell_completes_names_and_options(dpassay, monkeypatch, words):
    variables = {"_DPASSAY_COMPLETE": "complete_bash", "COMP_WORDS": f"dpassay {words}", "COMP_CWORD": "2"}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert dpassay()[1].split() == [COMPLETED[words]]


# -- audits of other people's mechanisms and scores
INPUTS = Path(__file__).parents[2] / "frozen" / "inputs"
PAIR = ("--dataset", "d.json", "--neighbour", "e.json")


@pytest.fixture
def run(dpassay, tmp_path):
    for name in ("boxes.py", "d.json", "e.json"):
        shutil.copy(INPUTS / name, tmp_path)
    return lambda *words: dpassay(*words)[:2]


def test_floating_point_has_a_verdict_of_its_own(run):
    """The naive Laplace sampler is fine in real numbers and leaks in floats (3,000 runs a side, seed 0)."""
    code, out = run("blackbox", "boxes:laplace", *PAIR, "--epsilon", 1, "--samples", 3000, "--floats")
    assert code == 1 and "In real numbers: inconclusive. In floating point: violated." in out


@pytest.mark.usefixtures("brief_power")
def test_stored_scores(run):
    """N(1,1) against N(0,1), 5,000 a side: the claim mu = 0.8 falls, mu = 1 stays (seed 1)."""
    rng = np.random.default_rng(1)
    np.savetxt("p.csv", rng.normal(0, 1, 5000))
    np.savetxt("q.csv", rng.normal(1, 1, 5000))
    Path("curve.json").write_text("[[0.1, 0.2], [1, 0.001]]")
    files = ("scores", "p.csv", "q.csv", "--delta", 1e-5)
    for claim, code in (("--gdp 0.8", 1), ("--gdp 1", 3), ("--curve curve.json", 1), ("--sampled-gaussian 0.9:1:1", 3)):
        assert run(*files, *claim.split())[0] == code, claim
    shown = run(*files)[1]
    assert re.search(r"Shown by: [\d,]+ of the scores, high scores guessed to be of D'; \d+ guesses are wrong\.", shown)


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        ({"event": "scores < 1.5", "hits": (2, 30)}, "scores < 1.5, 2 on D and 30 on D' of those that judged."),
        ({"by": "low scores guessed to be of D"}, "the most extreme scores, low scores guessed to be of D."),
        (
            {"guesses": 1200, "correct": 1180, "end": "high end"},
            "1,200 of the scores, guessed at the high end; 20 guesses are wrong.",
        ),
    ],
)
def test_which_scores_show_a_bound(evidence, said):
    """Sides are those of the user's files: an event more frequent on D is not said to be of D'; 0 says nothing."""
    bound = SoundBound(epsilon=1.0, delta=0.0, confidence=0.95, method="x", runs=1, evidence=evidence)
    assert judged_scores.shown_by(bound) == [f"Shown by: {said}"]
    assert judged_scores.shown_by(replace(bound, epsilon=0.0)) == []


@pytest.mark.usefixtures("brief_power")
def test_scores_in_a_table_with_names(run):
    rng = np.random.default_rng(2)
    coins = rng.integers(0, 2, 3000)
    np.savetxt("canaries.csv", np.column_stack([rng.normal(coins), coins]), delimiter=",")
    assert run("scores", "canaries.csv", "--one-run", "--epsilon", 5, "--delta", 1e-5)[0] == 3
    lines = [f"{bool(coin)},r{number},{rng.normal(coin)}" for number, coin in enumerate(coins)]
    Path("t.csv").write_text("\n".join(["Member,id,score", *lines]))
    assert run("scores", "t.csv", "--one-run", "--epsilon", 0.5, "--delta", 1e-5)[0] == 1
    Path("s.csv").write_text("\n".join(["id,score", *(line.partition(",")[2] for line in lines)]))
    assert run("scores", "s.csv", "s.csv", "--epsilon", 1, "--delta", 1e-5)[0] == 3


def test_a_black_box_session_is_kept(run):
    words = ("sequential", "blackbox", "boxes:half_noise", *PAIR, "--epsilon", 1, "--checkpoint", "c.json")
    assert run(*words, "--limit", 3000)[0] == 1
    kept = session.load(Path("c.json"))
    assert session.verdict([kept]).verdict is Verdict.VIOLATED and kept.runs < 6000
    for field, value in (("seed", "x"), ("log_wealth", None), ("best", "1e9"), ("more", 1)):
        state = read_state(Path("c.json"), session.KIND) | {field: value}
        Path("d2.json").unlink(missing_ok=True)
        write_state(Path("d2.json"), session.KIND, state, None)
        with pytest.raises(BadInput, match=field):
            session.load(Path("d2.json"))
