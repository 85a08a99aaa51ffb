"""The store: what was put is there after any kill, damage is noticed, several processes get along; and workers."""

import gc
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from dpassay.audit.running.fingerprint import fingerprint
from dpassay.audit.running.store import Store, read_state, write_state
from dpassay.audit.running.workers import rarely_collected, worked
from dpassay.reference import BadInput, find, sources

RECORDS = {"b": {"x": 1.5, "why": 'quotes " and\n lines'}, "a": [1, "ü", None]}


def stored(path, **more):
    Store(path, "--output").put("row", RECORDS | more)


def read(path):
    return Store(path, "--output").records("row")


def test_records_come_back_in_their_order_and_replace_their_namesakes_all_or_none(tmp_path):
    path = tmp_path / "new folder" / "a.store"
    stored(path)
    store = Store(path, "--output")
    assert list(store.records("row")) == ["b", "a"] and store.records("row") == RECORDS
    with pytest.raises(ZeroDivisionError), store.transaction():
        store.put("row", {}, clear=True)
        _ = 1 / 0
    with pytest.raises(ValueError, match="JSON"):
        store.put("row", {"a": float("nan")})
    assert store.records("row") == RECORDS
    store.put("row", {"b": 3})
    store.put("other", {"b": 4})
    assert store.records("row") == RECORDS | {"b": 3} and store.records("other") == {"b": 4}
    store.put("row", {"c": 5}, clear=True)
    assert read(path) == {"c": 5} and [one.name for one in path.parent.iterdir()] == ["a.store"]


def test_damage_is_one_line_that_names_the_file_and_never_another_content(tmp_path):
    """One to three bytes changed, 200 times (seed 0); without one of its lines; and cut off at every length."""
    path, damaged, rng = tmp_path / "s", tmp_path / "damaged", random.Random(0)
    states = [{}]
    for k in range(3):
        stored(path, more=k)
        states.append(read(path))
    raw = path.read_bytes()
    for _ in range(200):
        changed = bytearray(raw)
        for _ in range(rng.choice((1, 1, 2, 3))):
            changed[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        damaged.write_bytes(changed)
        try:
            assert read(damaged) in states
        except BadInput as error:
            assert str(damaged) in str(error) and "\n" not in str(error)
    lines = raw.splitlines(keepends=True)
    for number in range(2, len(lines)):
        damaged.write_bytes(b"".join(lines[: number - 1] + lines[number:]))
        for use in (read, stored):
            with pytest.raises(BadInput, match=f"line {number} is not what was written"):
                use(damaged)
    for length in range(len(raw)):
        damaged.write_bytes(raw[:length])
        assert read(damaged) in states, "a torn last line is dropped"
        if length % 50 == 0:
            stored(damaged)
            assert read(damaged).items() >= RECORDS.items()


def test_other_files_are_refused_untouched(tmp_path):
    (tmp_path / "text").write_text("precious " * 1000)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("text", "pipe", "folder", "text/below"):
        with pytest.raises(BadInput, match=name):
            stored(tmp_path / name)
    assert (tmp_path / "text").read_text() == "precious " * 1000


def test_a_limit_on_file_sizes_loses_nothing(tmp_path):
    """A real refusal of the system to write any more: the process's limit is 40 kB."""
    code = (
        "import resource, signal, sys; from pathlib import Path; from dpassay.audit.running.store import Store\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))\n"
        "store = Store(Path('s'), '--output')\n"
        "for k in range(100): store.put('row', {str(k): 'x' * 1000}); print(k, flush=True)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    kept = [int(line) for line in done.stdout.split()]
    assert done.returncode == 1 and "BadInput" in done.stderr.splitlines()[-1] and 5 < len(kept) < 40
    assert list(read(tmp_path / "s")) == [str(k) for k in kept]


WRITER = """
import sys
from pathlib import Path
from dpassay.audit.running.store import Store
store = Store(Path("s"), "--output")
for k in range(int(sys.argv[2])):
    store.put("row", {f"{sys.argv[1]}{k}": k})
    print(k, flush=True)
"""


def test_writers_at_the_same_time_lose_nothing(tmp_path):
    words = [sys.executable, "-c", WRITER]
    writers = [subprocess.Popen([*words, name, "20"], cwd=tmp_path, stdout=subprocess.DEVNULL) for name in "pqr"]
    assert [writer.wait() for writer in writers] == [0] * 3
    assert read(tmp_path / "s") == {f"{name}{k}": k for name in "pqr" for k in range(20)}


@pytest.mark.parametrize("kills", [3, pytest.param(50, marks=pytest.mark.slow)])
def test_a_kill_at_any_moment_loses_no_record_that_was_put(tmp_path, kills):
    """Killed with -9 at random moments (seed 0): all that was said to be kept is there, at most one record is more."""
    rng = random.Random(0)
    for attempt in range(kills):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, f"{attempt}-", "100000"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        first = writer.stdout.readline()
        time.sleep(rng.random() * 0.2)
        writer.send_signal(signal.SIGKILL)
        said = [first, *writer.stdout.read().splitlines()]
        writer.wait()
        writer.stdout.close()
        kept = [key for key in read(tmp_path / "s") if key.startswith(f"{attempt}-")]
        assert len(said) <= len(kept) <= len(said) + 1
        assert kept == [f"{attempt}-{k}" for k in range(len(kept))]


def test_a_checkpoint_is_replaced_by_who_read_it_only(tmp_path):
    path = tmp_path / "c"
    assert read_state(path, "session") is None
    one = {"runs": 64, "wealths": (0.1, -1e-300)}
    write_state(path, "session", one, None)
    assert read_state(path, "session") == {"runs": 64, "wealths": [0.1, -1e-300]}
    write_state(path, "session", {"runs": 128}, one)
    for before in (one, None):
        with pytest.raises(BadInput, match="another process"):
            write_state(path, "session", {"runs": 129}, before)
    assert read_state(path, "session") == {"runs": 128}


@pytest.mark.parametrize(("name", "changed", "other"), [
    ("dp_ftrl/dp_ftrl@repaired", "reference/written.toml", True),  # of what no run comes to: certificates lean on it
    ("dp_ftrl/dp_ftrl@repaired", "dp_ftrl/formulas.toml", False),
    ("dp_ftrl/dp_ftrl@repaired", "dro/constants.py", False),
    ("dp_ftrl/dp_ftrl@repaired", "report/html.py", False),
    ("second_order_erm/opt@printed", "second_order_erm/cases.py", True),  # builders stand in another module
    ("second_order_erm/opt@printed", "apparatus/tapes.py", True),
])  # fmt: skip
def test_a_row_is_of_other_code_where_what_it_hangs_on_has_changed(name, changed, other, monkeypatch):
    (case,) = find(name)[:1]
    before, content = fingerprint(case), sources._content
    monkeypatch.setattr(sources, "_content", lambda path: content(path) + b"#" * path.as_posix().endswith(changed))
    assert (fingerprint(case) != before) == other


# -- workers
@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows has no masks of signals")
def test_ctrl_c_is_for_the_parent_alone():
    """A terminal sends it to the whole group; a worker that was loading its libraries died with a traceback."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    blocked = list(worked(signal.pthread_sigmask, [(signal.SIG_BLOCK, ())] * 2, 2))
    assert all(signal.SIGINT in one and signal.SIGTERM not in one for one in blocked) and len(blocked) == 2
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before and signal.SIGINT not in before


def test_a_row_leaves_the_collector_as_it_was(monkeypatch):
    monkeypatch.setattr(gc, "get_freeze_count", gc.get_freeze_count.__wrapped__)  # it is kept by tests/conftest.py
    before = gc.get_threshold(), gc.get_freeze_count() > 0
    with pytest.raises(ZeroDivisionError), rarely_collected():
        assert gc.get_threshold()[0] == 20_000 and gc.get_freeze_count() > 0
        raise ZeroDivisionError
    assert (gc.get_threshold(), gc.get_freeze_count() > 0) == before
