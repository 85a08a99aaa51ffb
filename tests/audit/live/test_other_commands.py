"""Programs in sequential audits, and in the search for the worst neighbours."""

import shlex
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dpassay.audit.cli import app
from dpassay.audit.subjects.replay import agreed
from dpassay.reference.errors import BadInput

SPEAKER = Path(__file__).parent / "speaker.py"
PROGRAM = shlex.join([sys.executable, "-S", str(SPEAKER)])
KEY = "baselines/dp_sgd:fixed-size@baseline"


@pytest.mark.slow
def test_a_claim_that_is_too_small_falls_after_a_few_runs(tmp_path):
    """Realised is about 2.3: a claim of 1 at delta 1e-5 falls in the first block (seed 0, p-value below 1e-40)."""
    options = ["--program", PROGRAM, "--epsilon", "1", "--limit", "64", "--checkpoint", str(tmp_path / "state.json")]
    done = CliRunner().invoke(app, ["sequential", "algorithm", KEY, *options])
    assert done.exit_code == 1, done.output
    assert "violated" in done.output and "speaker.py" in done.output
    options[1] = f"{PROGRAM} good"  # another program: not that audit
    done = CliRunner().invoke(app, ["sequential", "algorithm", KEY, *options])
    assert isinstance(done.exception, BadInput) and "audited" in str(done.exception)


def test_a_program_that_breaks_the_protocol_is_bad_input(tmp_path):
    options = ["--program", f"{PROGRAM} garbage", "--limit", "64", "--checkpoint", str(tmp_path / "state.json")]
    done = CliRunner().invoke(app, ["sequential", "algorithm", KEY, *options])
    assert isinstance(done.exception, BadInput) and "no line of JSON" in str(done.exception)


def test_a_file_does_not_choose_the_program():
    assert agreed(None, None, "w.json") is None
    assert agreed("./mine", "./theirs", "w.json") == "./mine"
    with pytest.raises(BadInput, match=r"w\.json: program = './theirs': is a command, and a file must not choose"):
        agreed(None, "./theirs", "w.json")
    with pytest.raises(BadInput, match="the witness is not of a program"):
        agreed("./mine", None, "w.json")


@pytest.mark.slow
def test_the_worst_neighbours_of_a_program(tmp_path):
    """The search finds the pair of the fixed-size row (others silent, or against it); a replay needs the command."""
    witness = tmp_path / "witness.json"
    sizes = ["--records", "100", "--dimension", "1", "--budget", "10", "--runs", "50"]
    options = ["--epsilon", "2.44", "--witness", str(witness), "--program", PROGRAM, *sizes]
    done = CliRunner().invoke(app, ["neighbours", "search", KEY, *options])
    assert done.exit_code in (0, 3), done.output
    done = CliRunner().invoke(app, ["neighbours", "replay", str(witness), "--runs", "50"])
    assert isinstance(done.exception, BadInput)
    done = CliRunner().invoke(app, ["neighbours", "replay", str(witness), "--runs", "50", "--program", PROGRAM])
    assert done.exit_code in (0, 3), done.output
