"""Outputs kept as they are drawn: killed at any moment, an audit ends with the numbers of an undisturbed one."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from dpassay.audit.blackbox.kept import Kept, decoded, draw_both, encoded
from dpassay.audit.blackbox.sources import Named, Source
from dpassay.audit.cli import app
from dpassay.reference.errors import BadInput

MODULE = """
import time
def slow(data, rng):
    time.sleep(0.004)
    child = rng.spawn(1)[0]
    return {"x": rng.normal() + sum(data), "y": [child.laplace(), None], "z": float("inf")}
def right(data, rng): return sum(data) + rng.laplace()
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "mech_kept.py").write_text(MODULE)
    (tmp_path / "d.json").write_text("[1, 2]")
    (tmp_path / "e.json").write_text("[1, 3]")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("mech_kept", None)


def words(name="right", *more):
    base = ["blackbox", f"mech_kept:{name}", "--dataset", "d.json", "--neighbour", "e.json", "--epsilon", "1", "--json"]
    return [*base, "--samples", "400", "--quiet", *more]


def numbers(text):
    return [{k: v for k, v in one.items() if k != "seconds"} for one in json.loads(text)["results"]]


@pytest.mark.slow  # starts the command a dozen times
def test_an_audit_that_is_killed_and_interrupted_ends_as_an_undisturbed_one(here):
    """Killed with -9 or interrupted after a random time (seed 1) until it ends; each output spawns a stream."""
    code = [sys.executable, "-c", "from dpassay.audit.cli import main; main()"]
    alone = subprocess.run([*code, *words("slow")], capture_output=True, text=True, check=False)
    rng, kills = random.Random(1), 0
    while True:
        running = subprocess.Popen(
            [*code, *words("slow", "--checkpoint", "kept")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        try:
            out, _ = running.communicate(timeout=1.0 + 2 * rng.random() + 0.5 * kills)  # it ends on a slow machine, too
            break
        except subprocess.TimeoutExpired:
            os.kill(running.pid, (signal.SIGKILL, signal.SIGINT)[kills % 2])
            _, err = running.communicate()
            assert "Traceback" not in err and (kills % 2 == 0 or "the same command goes on" in err or not err), err
            kills += 1
    assert kills >= 1 and running.returncode == alone.returncode
    assert numbers(out) == numbers(alone.stdout)


def stopping(after):
    """A mechanism that is interrupted at this call, and a counter of its calls."""
    calls = []

    def mechanism(data, rng):
        calls.append(1)
        if len(calls) == after:
            raise KeyboardInterrupt
        return rng.spawn(1)[0].normal() + rng.normal() + sum(data)

    return mechanism, calls


def test_an_interrupted_one_goes_on_and_draws_nothing_twice(tmp_path):
    def drawn(mechanism, kept=None):
        source = Source("m", mechanism, ([1.0], [2.0]), Named("json:loads"))
        if kept is None:
            return draw_both(source, 1000, (3,), 1, lambda n: None)
        return draw_both(source, 1000, (3,), 1, lambda n: None, Kept(kept, source, 1000, (3,)))

    alone = drawn(stopping(0)[0])
    path, total = tmp_path / "kept", 0
    for after in (700, 1, 900, 0):
        mechanism, calls = stopping(after)
        with contextlib.suppress(KeyboardInterrupt):
            found = drawn(mechanism, path)
        total += len(calls)
    assert found == alone
    assert total <= 2000 + 3 * 64, "what an interruption costs is the slice that was being drawn"
    assert drawn(None, path) == alone, "and nothing is drawn when all is there"


def test_another_question_is_refused_in_one_line(here):
    assert CliRunner().invoke(app, words("right", "--checkpoint", "kept")).exit_code == 3
    for more, name in ((["--seed", "1"], "seed"), (["--samples", "500"], "samples")):
        found = CliRunner().invoke(app, words("right", "--checkpoint", "kept", *more))
        assert found.exit_code == 2 or isinstance(found.exception, BadInput)
        assert f"{name}" in str(found.exception or found.output)
    (here / "d.json").write_text("[1, 5]")
    found = CliRunner().invoke(app, words("right", "--checkpoint", "kept"))
    assert "dataset" in str(found.exception or found.output)
    (here / "d.json").write_text("[1, 2]")
    (here / "mech_kept.py").write_text(MODULE + "\n# changed\n")
    found = CliRunner().invoke(app, words("right", "--checkpoint", "kept"))
    assert "its source" in str(found.exception or found.output)


def test_outputs_come_back_with_their_types_and_bits():
    outputs = [
        None, True, 3, 2**80, 0.1, float("nan"), float("-inf"), "text", [1, [2.0]], (1, "a"), {"k": 1.5, 2: None},
        np.float32(0.1), np.int64(-3), np.array([[1.0, np.nan]]), np.array(["a", "bc"]), np.array(2.5),
    ]  # fmt: skip
    back = decoded(json.loads(json.dumps(encoded(outputs), allow_nan=False)))
    for one, other in zip(outputs, back, strict=True):
        assert type(one) is type(other)
        assert repr(one) == repr(other)
    with pytest.raises(BadInput, match="set"):
        encoded([{1, 2}])


def test_a_slow_mechanism_loses_at_most_the_output_that_was_being_drawn(tmp_path):
    """Each output takes longer than a slice may: the file has all but the one that was interrupted."""
    calls = []

    def slow(data, rng):
        calls.append(time.sleep(0.06))
        if len(calls) == 8:
            raise KeyboardInterrupt
        return rng.normal()

    source = Source("m", slow, ([1.0], [2.0]), Named("json:loads"))
    kept = Kept(tmp_path / "kept", source, 100, (3,))
    with pytest.raises(KeyboardInterrupt):
        draw_both(source, 100, (3,), 1, lambda n: None, kept)
    assert kept.count() == 7
