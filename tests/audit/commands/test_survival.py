"""Commands that are interrupted, ended or killed: what is finished is kept, and the rest is made as if nothing was."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from dpassay.audit.assaying import assay as assaying
from dpassay.audit.running.interrupts import Interrupts
from dpassay.audit.running.report_file import load
from tests.audit.commands.test_check import claim

QUICK = ["--runs", "60", "--pilot", "60", "--examples", "0", "--jobs", "1"]
BOTH = ["baselines/dp_sgd:digits", "output_perturbation/algorithm1@repaired"]
BROKEN = Path(__file__).parents[2] / "bugs" / "broken.py"
WORDS = {  # `sequential blackbox` is left out: what follows a kill is another session there, with numbers of its own
    "audit": ("audit", *BOTH, *QUICK, "--resume", "--output", "r.json", "--json", "--quiet"),
    "check": ("check", "--update", "--baseline", "lock.json", "--output", "r.json", "--json", "--jobs", "1", "--quiet"),
    "prove": ("prove", "--paper", "dp_ftrl", "--json", "--jobs", "1", "--quiet"),
    "scores": ("sequential", "scores", "a.csv", "b.csv", "--checkpoint", "c", "--epsilon", "0.4", "--json"),
}
AFTER = {"scores": ("sequential", "combine", "c", "--json")}  # scores that were judged are refused: nothing is lost
TIMES = {"seconds", "cached", "versions", "kept"}


def timeless(value):
    if isinstance(value, dict):
        return {name: timeless(one) for name, one in value.items() if name not in TIMES}
    return [timeless(one) for one in value] if isinstance(value, list) else value


def ended(command, folder, kills):
    """Killed with -9 after each of these seconds and started again until it ends: exit code, and what it left."""
    folder.mkdir()
    shutil.copy(BROKEN, folder / "planted.py")
    names = [(f"{run}-{k}", f"planted:{run}") for k in range(3) for run in ("mean", "half_sensitivity")]
    claims = [claim(*one, epsilon=3.0, runs=100, examples=20) for one in names]
    (folder / "claims.toml").write_text("version = 1\n" + "".join(claims))
    for name, shift in (("a", 0), ("b", 2)):
        (folder / f"{name}.csv").write_text("\n".join(str(shift + k * 0.37 % 1) for k in range(200)))

    def started(words):
        with (folder / "said").open("w") as said:
            return subprocess.Popen([sys.executable, "-m", "dpassay.audit", *words], cwd=folder, stdout=said)

    while True:
        running = started(WORDS[command])
        try:
            code = running.wait(kills.pop() if kills else None)
            break
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
    if command in AFTER:
        assert code in (0, 1, 2, 3)
        code = started(AFTER[command]).wait()
    left = [folder / name for name in ("said", "r.json", "lock.json")]
    return code, [timeless(json.loads(path.read_text())) for path in left if path.exists()]


@pytest.mark.slow  # runs the command a dozen times
@pytest.mark.parametrize("command", WORDS)
def test_every_command_that_keeps_something_ends_as_an_undisturbed_one(tmp_path, command):
    """Six kills at random moments (seed 7), in as many folders as it takes."""
    start = time.monotonic()
    code, whole = ended(command, tmp_path / "alone", [])
    length, rng = time.monotonic() - start, random.Random(7)
    assert code in (0, 1, 3) and whole
    kills = [rng.random() * 0.9 * length for _ in range(6)]
    while kills:
        assert ended(command, tmp_path / f"again-{len(kills)}", kills) == (code, whole)


def test_an_interrupted_audit_keeps_what_is_finished_and_says_how_to_go_on(dpassay, monkeypatch):
    """It stops as Ctrl-C would stop it, after its first row; one without names replaces rows only when it has new."""
    whole = assaying.run_suite

    def stops(cases, effort, jobs, done, each, known):
        whole(cases[:1] if len(cases) == 2 else [], effort, jobs, done, each)
        raise KeyboardInterrupt

    report = Path("r.json")
    with monkeypatch.context() as stopped:
        stopped.setattr(assaying, "run_suite", stops)
        code, _, err = dpassay("audit", *BOTH, *QUICK, "--output", report, "--quiet", "--resume")
    nothing, said = err.splitlines()
    assert code == 130 and "nothing is kept to go on from" in nothing
    assert "1 of 2 rows are kept" in said and "--resume" in said
    (first,) = load(report)
    assert dpassay("audit", *BOTH, *QUICK, "--output", report, "--resume")[0] in (0, 3)
    rows = load(report)
    assert rows[0].seconds == first.seconds and len(rows) == 2
    monkeypatch.setattr(assaying, "run_suite", stops)
    assert dpassay("audit", *QUICK, "--output", report)[0] == 130 and load(report) == rows


def test_the_first_signal_interrupts_and_the_second_does_not(monkeypatch):
    ended, handler = [], Interrupts()
    monkeypatch.setattr("dpassay.audit.running.interrupts.os._exit", ended.append)
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    with handler:
        pass
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
    try:
        with handler, pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
        signal.raise_signal(signal.SIGINT)
        assert handler.count == 2 and not ended
        signal.raise_signal(signal.SIGTERM)
        assert handler.count == 3 and ended == [130]
    finally:
        for number, old in zip((signal.SIGTERM, signal.SIGINT), (before[0], inherited), strict=True):
            signal.signal(number, old)


WITH_A_SIGNAL = """
import atexit, os, signal, sys
def hit():
    os.kill(os.getpid(), signal.SIG{name})
class Last:
    def __del__(self):
        hit()
class Hits:
    def find_spec(self, name, path=None, target=None):
        if name == {at!r}:
            try:
                hit()
            except KeyboardInterrupt:
                raise ImportError("initialization failed")
        elif name == "dpassay.audit.cli":
            {{"thrown away": Last, "end": lambda: atexit.register(hit)}}.get({at!r}, int)()
sys.meta_path.insert(0, Hits())
signal.signal(signal.SIGINT, signal.default_int_handler)  # the caller of pytest may ignore it
sys.argv = ["dpassay", "list"]
from dpassay.audit.start import main
main()
"""


@pytest.mark.parametrize(
    ("name", "at", "said"),
    [
        ("TERM", "dpassay.audit.cli", ""),
        ("INT", "dpassay.audit.commands.list", "dpassay: interrupted\n"),
        ("INT", "thrown away", ""),
        ("TERM", "end", ""),
    ],
)
def test_a_signal_while_libraries_are_loaded_or_python_ends_leaves_no_traceback(name, at, said):
    """Modules that are written in C make an error of it."""
    words = [sys.executable, "-c", WITH_A_SIGNAL.format(name=name, at=at)]
    found = subprocess.run(words, capture_output=True, text=True, check=False)
    assert found.returncode == 130 and found.stderr == said


MAIN = "from dpassay.audit.cli import main; main()"


def interruptible(words, folder, **more):
    """A program that heeds Ctrl-C, which pytest's caller may ignore."""
    more["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)
    return subprocess.Popen(words, cwd=folder, stderr=subprocess.PIPE, text=True, **more)


def alive(group):
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = status.read_text().rpartition(")")[2].split()
            found += [status.parent.name] if int(fields[2]) == group and fields[0] != "Z" else []
    return found


def until(group, enough):
    """Waits until so many processes of a group are alive, but not for ever."""
    deadline = time.monotonic() + 60
    while not enough(len(alive(group))) and time.monotonic() < deadline:
        time.sleep(0.1)


WORKERS = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for workers in /proc")


@pytest.mark.slow  # starts the command and two workers each time: eight seconds
@WORKERS
@pytest.mark.parametrize("signals", [["TERM"], ["INT"], ["INT", "INT"], ["TERM", "INT", "INT", "INT"]])
@pytest.mark.parametrize("everybody", [False, True])
def test_no_worker_outlives_a_signal(tmp_path, signals, everybody):
    """To the command alone, and to its whole group, as a terminal sends Ctrl-C: then while workers load libraries."""
    words = [sys.executable, "-c", MAIN, "audit", "output_perturbation", "--runs", "4000", "--output", "r.json"]
    running = interruptible(words, tmp_path, stdout=subprocess.DEVNULL, start_new_session=True)
    until(running.pid, lambda count: count >= 4)  # two workers, and what looks after them
    time.sleep(0.3 if everybody else 1)
    for name in signals:
        (os.killpg if everybody else os.kill)(running.pid, getattr(signal, f"SIG{name}"))
        time.sleep(0.1)
    _, err = running.communicate(timeout=120)
    assert running.returncode in (130, -signal.SIGINT) and "Traceback" not in err, err
    until(running.pid, lambda count: not count)
    assert not alive(running.pid)


SLEEPERS = """
import time
from dpassay.audit.running.workers import worked
list(worked(time.sleep, [(0.01,), (0.01,), (60,)], 2))
"""


@WORKERS
@pytest.mark.more
def test_no_worker_outlives_a_parent_that_is_killed():
    """At that moment one of them works and the other one waits."""
    parent = subprocess.Popen([sys.executable, "-c", SLEEPERS], start_new_session=True)
    until(parent.pid, lambda count: count >= 4)
    time.sleep(2)
    assert len(alive(parent.pid)) >= 4
    parent.kill()
    parent.wait()
    until(parent.pid, lambda count: not count)
    assert not alive(parent.pid)


def many_runs(count):
    little = "import resource; resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30,) * 2)"  # a billion indices take 7.45
    alone = ["audit", BOTH[1], "--runs", str(count), "--examples", "0", "--jobs", "1", "--output", "r.json"]
    return [sys.executable, "-c", f"{little}; {MAIN}", *alone]


@pytest.mark.slow  # starts the command: five seconds
def test_a_billion_runs_are_not_made_and_take_no_memory(tmp_path):
    done = subprocess.run(many_runs(10**9), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "statistics not made: a run makes" in " ".join(done.stdout.split())  # certified


@pytest.mark.slow  # starts the command and waits: ten seconds
def test_an_audit_of_hours_can_be_interrupted(tmp_path):
    running = interruptible(many_runs(20_000_000), tmp_path, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    assert "auditing: 0 of 1 " in running.stderr.readline()
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=120)
    assert running.returncode == 130 and "interrupted; 0 of 1 rows" in err
