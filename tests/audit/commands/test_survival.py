"""Commands that are interrupted, ended or killed: what is finished is kept, and the rest is made as if nothing was."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dpassay.audit.running.interrupts import Interrupts
from dpassay.audit.running.report_file import load

QUICK = ["--runs", "60", "--pilot", "60", "--examples", "0", "--jobs", "1"]
KILLED = Path(__file__).with_name("killed_commands.py")
BOTH = ["baselines/dp_sgd:digits", "output_perturbation/algorithm1@repaired"]


@pytest.mark.slow  # runs the command a dozen times
@pytest.mark.parametrize("command", ["audit", "check", "prove", "scores"])
def test_every_command_that_keeps_something_ends_as_an_undisturbed_one(tmp_path, command):
    """Six kills; `python killed_commands.py COMMAND 50` in an empty folder makes as many as one likes."""
    words = [sys.executable, str(KILLED), command, "6"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{command}: 6 kills"), done.stdout


def interrupted_after_one(monkeypatch):
    """The suite stops as Ctrl-C would stop it, after its first row."""
    import dpassay.audit.assaying.suite as suite

    whole = suite.run_suite

    def stops(cases, effort, jobs, done, each, known):
        whole(cases[:1], effort, jobs, done, each)
        raise KeyboardInterrupt

    monkeypatch.setattr(suite, "run_suite", stops)


def test_an_interrupted_audit_keeps_what_is_finished_and_says_how_to_go_on(dpassay, monkeypatch):
    with monkeypatch.context() as stopped:
        interrupted_after_one(stopped)
        code, _, err = dpassay("audit", *BOTH, *QUICK, "--output", "r.json", "--quiet")
    assert code == 130 and "1 of 2 rows are kept" in err and "--resume" in err and len(err.splitlines()) == 1
    (first,) = load(Path("r.json"))
    assert dpassay("audit", *BOTH, *QUICK, "--output", "r.json", "--resume")[0] in (0, 3)
    assert load(Path("r.json"))[0].seconds == first.seconds and len(load(Path("r.json"))) == 2


def test_an_interrupted_audit_without_names_replaces_the_old_rows_only_when_it_has_new_ones(dpassay, monkeypatch):
    dpassay("audit", BOTH[0], *QUICK, "--output", "r.json")
    before = load(Path("r.json"))

    def stops(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("dpassay.audit.assaying.suite.run_suite", stops)
    assert dpassay("audit", *QUICK, "--output", "r.json")[0] == 130
    assert load(Path("r.json")) == before


def test_there_may_be_nothing_to_go_on_from(dpassay):
    code, _, err = dpassay("audit", BOTH[0], *QUICK, "--output", "r.json", "--resume")
    assert code == 0 and "nothing is kept to go on from" in err


def test_the_first_signal_interrupts_and_the_second_does_not(monkeypatch):
    ended = []
    monkeypatch.setattr("dpassay.audit.running.interrupts.os._exit", ended.append)
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    handler = Interrupts()
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
    def __del__(self, kill=os.kill, me=os.getpid(), number=signal.SIG{name}):
        kill(me, number)
class Hits:
    def find_spec(self, name, path=None, target=None):
        if {at!r} == "thrown away" and name == "dpassay.audit.cli":
            Last()
        if name == {at!r} and {swallowed}:
            try:
                hit()
            except KeyboardInterrupt:
                raise ImportError("initialization failed")
        elif name == {at!r}:
            hit()
        elif {at!r} == "end" and name == "dpassay.audit.cli":
            atexit.register(hit)
sys.meta_path.insert(0, Hits())
signal.signal(signal.SIGINT, signal.default_int_handler)  # the caller of pytest may ignore it
if {at!r} == "last":
    sys.last = Last()  # lives until modules are taken apart
sys.argv = ["dpassay", "list"]
from dpassay.audit.start import main
main()
"""


@pytest.mark.parametrize(
    ("name", "at", "swallowed", "said"),
    [
        ("INT", "dpassay.audit.cli", False, ""),
        ("TERM", "dpassay.audit.cli", True, ""),
        ("INT", "dpassay.audit.commands.list", True, "dpassay: interrupted\n"),
        ("TERM", "thrown away", False, ""),
        ("INT", "thrown away", False, ""),
        ("TERM", "end", False, ""),
    ],
)
def test_a_signal_while_libraries_are_loaded_or_python_ends_leaves_no_traceback(name, at, swallowed, said):
    """Ctrl-C in the first quarter of a second ended in one, with exit code -2; modules written in C make an error of
    it, and the exit code was 70.
    """
    words = [sys.executable, "-c", WITH_A_SIGNAL.format(name=name, at=at, swallowed=swallowed)]
    found = subprocess.run(words, capture_output=True, text=True, check=False)
    assert found.returncode == 130 and found.stderr == said


def alive(group):
    """Processes of a group that still run."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(status.parent.name)
    return found


@pytest.mark.slow  # starts the command and two workers each time: eight seconds
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for workers in /proc")
@pytest.mark.parametrize("signals", [["TERM"], ["INT"], ["INT", "INT"], ["TERM", "INT", "INT", "INT"]])
@pytest.mark.parametrize("everybody", [False, True])
def test_no_worker_outlives_a_signal(tmp_path, signals, everybody):
    """To the command alone, and to its whole group, as a terminal sends Ctrl-C: then while workers load libraries."""
    code = "from dpassay.audit.cli import main; main()"
    words = [sys.executable, "-c", code, "audit", "output_perturbation", "--runs", "4000"]
    running = subprocess.Popen(
        [*words, "--output", "r.json"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # pytest's caller may ignore it
    )
    deadline = time.monotonic() + 60
    while len(alive(running.pid)) < 4 and time.monotonic() < deadline:  # two workers, and what looks after them
        time.sleep(0.1)
    time.sleep(0.3 if everybody else 1)
    for name in signals:
        (os.killpg if everybody else os.kill)(running.pid, getattr(signal, f"SIG{name}"))
        time.sleep(0.1)
    _, err = running.communicate(timeout=120)
    assert running.returncode in (130, -signal.SIGINT) and "Traceback" not in err, err
    deadline = time.monotonic() + 60
    while alive(running.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not alive(running.pid)


LITTLE_MEMORY = (
    "import resource; resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30,) * 2); "  # a billion indices take 7.45
    "from dpassay.audit.cli import main; main()"
)


def many_runs(count):
    alone = ["audit", BOTH[1], "--runs", str(count), "--examples", "0", "--jobs", "1", "--output", "r.json"]
    return [sys.executable, "-c", LITTLE_MEMORY, *alone]


@pytest.mark.slow  # starts the command: five seconds
def test_a_billion_runs_are_not_made_and_take_no_memory(tmp_path):
    done = subprocess.run(many_runs(10**9), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "statistics not made: a run makes" in " ".join(done.stdout.split())  # certified


@pytest.mark.slow  # starts the command and waits: ten seconds
def test_an_audit_of_hours_can_be_interrupted(tmp_path):
    running = subprocess.Popen(
        many_runs(20_000_000),
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    time.sleep(8)
    assert running.poll() is None
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=120)
    assert running.returncode == 130 and "interrupted; 0 of 1 rows" in err
