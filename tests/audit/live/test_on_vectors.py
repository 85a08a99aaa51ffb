"""Programs on test vectors: right ones pass, each planted difference is named, what must be refused is."""

import json
import shlex
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dpassay.audit.cli import app
from dpassay.audit.crosscheck.storage import load
from dpassay.audit.live.program import run_live
from dpassay.audit.running.programs import ProgramBroken

SPEAKER = Path(__file__).parent / "speaker.py"
KEY = "baselines/dp_sgd:fixed-size@baseline"
VECTORS = [vector for vector in load("baselines/dp_sgd") if vector["case"] == KEY]


def speaker(mode="good"):
    return shlex.join([sys.executable, "-S", str(SPEAKER), mode])


def outcomes(mode, **options):
    return [(result.outcome, result.message) for result in run_live(speaker(mode), VECTORS, **options)]


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("half the noise", "gradient, std: "),
        ("no clip", "gradient, query"),
        ("un-noised use", "output[0]: "),
        ("undeclared batch", "gradient, batches: expected [0], got []"),
    ],
)
def test_a_difference_is_named_with_its_place(mode, text):
    found = outcomes(mode)
    assert any(outcome == "fail" and text in message for outcome, message in found), found


@pytest.mark.parametrize(
    ("mode", "outcome", "text"),
    [
        ("unsupported", "unsupported", "only dp_ftrl"),
        ("refuses", "error", "batch_size 2 is even"),
        ("crash", "error", "was killed by SIGABRT; it said: Traceback: all is lost"),
        ("nan", "error", "must be finite"),
    ],
)
def test_what_a_program_does_not_answer_is_no_pass(mode, outcome, text):
    for found, message in outcomes(mode):
        assert found == outcome and text in message


def test_a_program_that_breaks_the_protocol_is_bad_input():
    with pytest.raises(ProgramBroken, match="no line of JSON"):
        outcomes("garbage")


def test_another_call_than_the_references_is_named():
    """Twice the steps: after the last release of the vector there is nothing to hand back."""
    vector = VECTORS[0]
    longer = {**vector, "schedule": {**vector["schedule"], "steps": 2 * vector["schedule"]["steps"]}}
    (result,) = run_live(speaker(), [longer])
    assert result.outcome == "fail" and "number of events" in result.message


def test_the_command_explains_and_counts(tmp_path):
    runner, output = CliRunner(), tmp_path / "junit.xml"
    done = runner.invoke(app, ["crosscheck", "live", KEY, "--program", speaker(), "--seeds", "1", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["vectors"] == len(VECTORS) + 1
    options = ["--program", speaker("half the noise"), "--seeds", "0", "--no-mutants", "--junit", str(output)]
    done = runner.invoke(app, ["crosscheck", "live", KEY, *options])
    assert done.exit_code == 1, done.output
    assert "numbers: yours is 0.5 times the reference's" in done.output and "<failure" in output.read_text()
    done = runner.invoke(app, ["crosscheck", "live", KEY, "--program", speaker("unsupported"), "--seeds", "0"])
    assert done.exit_code == 3


def test_the_command_shows_the_change_of_the_reference_that_does_the_same():
    """The loop of the un-noised twin: the query stands where the released value should be."""
    done = CliRunner().invoke(app, ["crosscheck", "live", KEY, "--program", speaker("un-noised use"), "--seeds", "0"])
    assert done.exit_code == 1, done.output
    assert "what goes on is the query, not the released value, on 2 of 2 vectors" in done.output
