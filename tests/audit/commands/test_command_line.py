"""The command line as a user meets it: outputs, exit codes, bad input, interruption, determinism."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from dpassay.audit.report.verdicts import plain_table
from dpassay.audit.running.report_file import Report, load
from dpassay.audit.terminal.finish import Options, show_row
from dpassay.reference.catalogue import CASES

QUICK = ["--runs", "60", "--pilot", "60", "--examples", "0", "--jobs", "1"]  # the search has its own tests
DIGITS = "reports/baselines-dp_sgd-digits.json"  # where named algorithms go
FIRST = ["audit", "baselines/dp_sgd:digits", *QUICK]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Where the first audit of the digits is kept, with what it said, once it is made."""
    return tmp_path_factory.mktemp("first")


@pytest.fixture
def first(dpassay, tmp_path, kept):
    """The folder of the command holds the report of the first audit; its exit code and standard output."""
    if (kept / "said.json").exists():
        shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    else:
        (tmp_path / "said.json").write_text(json.dumps(dpassay(*FIRST)[:2]))
        shutil.copytree(tmp_path, kept, dirs_exist_ok=True)
    return json.loads((kept / "said.json").read_text())


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


@pytest.mark.parametrize(("given", "used"), [({}, "PASSIVE"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "ACTIVE")])
def test_waiting_threads_sleep_unless_the_user_says_otherwise(given, used):
    """Spinning ones made a black-box audit of 1,000 outputs take 15 s in place of 0.7 s on a busy machine."""
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"} | given
    code = "import os, sys, dpassay.audit; print('sklearn' in sys.modules, os.environ['OMP_WAIT_POLICY'])"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", used]


def test_narrow_tables_fold_and_keep_verdicts_whole(capsys):
    table = plain_table("mechanism", "verdict", "by the score")
    table.add_row("baselines/dp_sgd:full-batch@baseline", "inconclusive", "repeated outputs")
    Console(width=36).print(table)
    shown = capsys.readouterr().out
    assert "…" not in shown and "inconclusive" in shown
    assert "baselines/dp_sgd:full-batch@baseline" in "".join(line[:12].strip() for line in shown.splitlines())


def mark(path, **change):
    """Change the rows of a report and of its store."""
    report = Report(path)
    report.keep([replace(row, **change) for row in report.rows()])
    report.write()


@pytest.mark.usefixtures("first")
def test_resume_keeps_finished_rows(dpassay, tmp_path):
    path = tmp_path / DIGITS
    mark(path, seconds=12345.0)  # a second audit of the row would wipe it out
    assert dpassay(*FIRST, "--resume")[0] == 0
    assert json.loads(path.read_text())["rows"][0]["seconds"] == 12345.0


@pytest.mark.some(1)
@pytest.mark.usefixtures("first")
@pytest.mark.parametrize("change", [{"code": "0" * 16}, {"seed": 1}, {"pilot": 61}])
def test_resume_audits_rows_of_other_code_or_effort_again(dpassay, tmp_path, change):
    path = tmp_path / DIGITS
    mark(path, seconds=12345.0, **change)
    _, _, err = dpassay(*FIRST, "--resume")
    (row,) = json.loads(path.read_text())["rows"]
    assert row["seconds"] != 12345.0 and row["seed"] == 0 and "audited again" in err


@pytest.mark.some(1)
@pytest.mark.usefixtures("first")
@pytest.mark.parametrize("resume", [[], ["--resume"]])
def test_named_algorithms_leave_the_other_rows_of_a_report_alone(dpassay, tmp_path, resume):
    dpassay("audit", "output_perturbation/algorithm1@repaired", "--output", DIGITS, *QUICK, *resume)
    rows = json.loads((tmp_path / DIGITS).read_text())["rows"]
    assert [row["algorithm"] for row in rows] == ["baselines/dp_sgd", "output_perturbation/algorithm1"]


def test_a_broken_algorithm_is_one_line_and_exit_code_70(dpassay, monkeypatch):
    def build():
        return 1 / 0

    broken = replace(CASES[0], build=build)
    monkeypatch.setattr("dpassay.audit.commands.audit.find_cases", lambda name: [broken])
    code, _, err = dpassay("audit", "anything", *QUICK)
    assert code == 70 and len(err.strip().splitlines()) == 1
    assert CASES[0].key in err and "ZeroDivisionError" in err and "test_command_line.py" in err


def test_a_broken_table_of_cases_is_one_line_and_exit_code_70(dpassay, monkeypatch, tmp_path):
    code = (
        "import sys; from dpassay.audit.cli import main; sys.argv = ['dpassay', 'list']\n"
        "sys.modules['dpassay.reference.dro.cases'] = None\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 70 and len(done.stderr.strip().splitlines()) == 1 and "dro/cases.py" in done.stderr


def test_a_seed_that_shows_too_little_is_inconclusive(dpassay):
    """10 runs cannot show what this pair carries, and the certificate of a printed row is open: exit code 3, not 0."""
    assert dpassay("audit", "output_perturbation/algorithm3@printed", "--runs", 10, "--pilot", 50, *QUICK[4:])[0] == 3


def test_known_violations_become_an_exit_code_where_that_is_asked_for(dpassay):
    words = ["audit", "output_perturbation/strongly_concave:as-variance", *QUICK]
    assert dpassay(*words)[0] == 0
    for option in ("--strict", "--require=certified"):
        assert dpassay(*words, option, "--resume")[0] == 1


@pytest.mark.more
def test_a_statement_is_shown_with_its_chain(dpassay, monkeypatch):
    code, out, _ = dpassay("prove", "Lemma 3.5", "--paper", "output_perturbation", "--quiet")
    assert code == 0 and out.startswith("output_perturbation, Lemma 3.5") and "=> proved" in out
    assert out.rstrip().endswith("see also Lemma 3.5, generalisation"), "what else has this name in the paper"
    terminal = SimpleNamespace(stdout=SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("dpassay.audit.commands.prove.sys", terminal)
    monkeypatch.setenv("COLUMNS", "70")
    folded = dpassay("prove", "Lemma 3.5", "--paper", "output_perturbation", "--quiet")[1]
    assert max(map(len, folded.splitlines())) <= 70 and folded.split() == out.split(), "as wide as the terminal"


KEY = "second_order_erm/opt@printed"
SMALL = ("--jobs", 1, "--runs", 60, "--pilot", 50, "--examples", 12)
REPORT = Path("reports/second_order_erm-opt@printed.json")
FILE = "reports/second_order_erm-opt@printed.witness-1.json"


def test_explain_tells_premises_movements_source_and_witnesses_which_replay(dpassay, capfd):
    code, out, _ = dpassay("audit", KEY, *SMALL, "--explain")
    told = out.split(f"{KEY}: violated; 12 examples, seed 0\n")[1]
    lines = told.splitlines()
    premises = [line for line in lines if line.startswith("  premise ")]
    fine, broken = "no counterexample found", "does not hold"
    assert [line.rpartition(": ")[2] for line in premises] == [fine, fine, fine, broken, fine]
    place = lines.index(premises[3])
    assert lines[place + 1].startswith("    noise scale at 'gradient', step ")
    place = lines.index("  largest movement of each label, as a share of its declared sensitivity")
    shares = dict(
        line.split()[:2] for line in lines[place + 1 : place + 3]
    )  # what may follow says how much is possible
    assert set(shares) == {"gradient", "hessian"} and all(0 < float(share) <= 1 + 1e-9 for share in shares.values())
    source = next(line for line in lines if line.startswith("  source: "))
    reached, of = (int(word) for word in source.split()[1:4:2])
    assert 0 < reached <= of and "branches of the algorithm's own files" in source
    assert f"\n  again   dpassay neighbours replay {FILE}\n" in told
    assert code in (0, 3)  # with so few examples a declared finding may not show

    code, out, _ = dpassay("neighbours", "replay", FILE)
    assert code == 1 and "Now: the same finding" in out
    Path(FILE).write_text(Path(FILE).read_text().replace("opt@printed", "opt@repaired"))
    code, out, _ = dpassay("neighbours", "replay", FILE)
    assert code == 0 and "Now: not this finding" in out

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
