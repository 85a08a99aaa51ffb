"""A program's exact losses, run by run, under any stopping rule."""

import shlex
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dpassay.audit.cli import app
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
