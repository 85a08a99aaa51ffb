"""`dpassay demo` catches its bug and nothing else; `dpassay doctor` names what is missing; shells complete names."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from dpassay.audit.commands import demo, doctor
from dpassay.audit.row import Effort
from dpassay.audit.zoo import demo as loops


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(demo, "_EFFORT", Effort(runs=60, pilot=50, examples=40))


def test_the_demo_catches_its_bug_and_explains_it(dpassay, quick, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    code, out, err = dpassay("demo")
    assert code == 0 and "\nCaught, in " in out and not err, out
    assert "sensitivity exceeded at 'gradient'" in out and "in clips_the_mean: w = w - 0.5 * tape" in out
    assert "- gradient = shorten(gradients.mean(axis=0))" in out
    assert "\x1b" not in out and max(map(len, out.splitlines())) <= 100
    assert [line[0] for line in out.splitlines() if line[1:3] == ". "] == list("12345")


def test_the_demo_fails_where_the_bug_is_not_caught_or_the_mended_loop_is_accused(dpassay, quick, monkeypatch):
    monkeypatch.setattr(demo, "clips_the_mean", loops.clips_each_record)
    code, out, _ = dpassay("demo")
    assert code == 1 and "NOT as it should be" in out
    monkeypatch.undo()


def test_doctor_says_that_all_is_well_here(dpassay):
    code, out, _ = dpassay("doctor")
    lines = out.splitlines()
    assert code == 0 and lines[-1] == "Everything that is needed is there."
    assert all(line[:4] in ("ok  ", "--  ") for line in lines[:-1])
    code, out, _ = dpassay("doctor", "--json")
    assert {"cores", "reports"} < {one["name"] for one in json.loads(out)["checks"]}


def test_doctor_names_what_is_missing_too_old_or_cannot_be_written(dpassay, monkeypatch, tmp_path):
    of_audit, of_proofs = 'nosuchthing>=1.2; extra == "audit"', 'sympy>=99; extra == "proofs"'
    wanted = ["numpy>=99.0", 'greenlet>=1; extra == "audit"', of_audit, 'dpassay[a]; extra == "all"', of_proofs]
    monkeypatch.setattr(doctor, "requires", lambda name: wanted)
    (tmp_path / "reports").write_text("a file where the folder should be")
    code, out, _ = dpassay("doctor")
    lines = {line[4:19].strip(): line for line in out.splitlines()}
    assert code == 1 and "needs 99.0" in lines["packages"] and lines["packages"].startswith("NO")
    assert "missing nosuchthing>=1.2" in lines["extra audit"] and 'pip install ".[audit]"' in out
    assert lines["extra proofs"].startswith("--")  # optional
    assert out.splitlines()[-1] == "Not as it should be: packages, extra audit, reports."


def test_doctor_of_folders(tmp_path, monkeypatch):
    assert doctor.folder("x", tmp_path / "a" / "b", "why").state == "ok" and not list(tmp_path.iterdir())
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda place: SimpleNamespace(free=2**20))
    assert doctor.folder("x", tmp_path, "because").state == "note"


def test_a_shell_completes_commands_without_loading_them():
    variables = {"_DPASSAY_COMPLETE": "complete_bash", "COMP_WORDS": "dpassay d", "COMP_CWORD": "1"}
    program = (
        "import sys; sys.argv = ['dpassay']\nfrom dpassay.audit.cli import main\ntry: main()\nexcept SystemExit: pass\n"
        "print('loaded', *sorted({name.split('.')[0] for name in sys.modules} & {'numpy', 'scipy', 'hypothesis'}))"
    )
    run = [sys.executable, "-c", program]
    out = subprocess.run(run, capture_output=True, text=True, env=os.environ | variables, check=True).stdout
    assert out.split() == ["demo", "doctor", "loaded"]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("audit dr", ["dro"]),
        ("audit dro/si", ["dro/single_sample"]),
        ("show dp_", ["dp_ftrl"]),
        ("list baselines/dp_sgd:p", ["baselines/dp_sgd:poisson@baseline"]),
        ("audit --juni", ["--junit"]),
    ],
)
def test_a_shell_completes_names_and_options(dpassay, monkeypatch, words, offered):
    for name, value in (
        ("_DPASSAY_COMPLETE", "complete_bash"),
        ("COMP_WORDS", f"dpassay {words}"),
        ("COMP_CWORD", "2"),
    ):
        monkeypatch.setenv(name, value)
    assert dpassay()[1].split() == offered
