"""A program: `python killed_commands.py COMMAND KILLS` kills a command of `dpassay` at random moments until it ends.

Each run is a fork in a folder of its own, killed with -9 after a random time and started again with the same words
until it ends by itself; then a new folder, until there were KILLS kills. Exit code, what is printed and what is written
must be those of a run that nobody disturbed, but for times and for whether something was kept. Prints the kills,
and how many of them found something kept. (`sequential blackbox` is not among them: what follows a kill is another
session there, with numbers of its own that are as valid; `tests/audit/sequential/test_sequential.py`.)
"""

import contextlib
import json
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from dpassay.audit.cli import main

MINE = """
import numpy as np
from dpassay.reference.space import Rows, Space

space = Space(Rows(1, None, box=(0.0, 1.0)), {"n": (2, 3)}, lambda rows, sizes: rows)

def mean(rows, tape):
    return tape.gaussian("mean", rows.mean(axis=0), std=8.0 / len(rows), sensitivity=1.0 / len(rows))

def forgets(rows, tape):
    return tape.gaussian("mean", rows.mean(axis=0), std=1.0 / len(rows), sensitivity=1.0 / len(rows))
"""
CLAIM = """[[claim]]
name = "{name}"
algorithm = "mine_killed:{run}"
space = "mine_killed:space"
epsilon = 1.0
delta = 1e-5
runs = 100
examples = 20
effort = "quick"
"""
WORDS = {
    "audit": ("audit", "baselines/dp_sgd:digits", "output_perturbation/algorithm1@repaired", "--runs", "60", "--pilot",
              "60", "--examples", "0", "--jobs", "1", "--resume", "--output", "r.json", "--json", "--quiet"),
    "check": ("check", "--update", "--baseline", "lock.json", "--output", "r.json", "--json", "--jobs", "1", "--quiet"),
    "prove": ("prove", "--paper", "dp_ftrl", "--json", "--jobs", "1", "--quiet"),
    "scores": ("sequential", "scores", "a.csv", "b.csv", "--checkpoint", "c", "--epsilon", "0.4", "--json"),
}  # fmt: skip
AFTER = {"scores": ("sequential", "combine", "c", "--json")}  # scores that were judged are refused: nothing is lost
GIVEN = {"mine_killed.py", "claims.toml", "a.csv", "b.csv", "said", "complained"}
TIMES = {"seconds", "cached", "versions", "kept"}


def project(folder: Path) -> Path:
    """What the commands read."""
    folder.mkdir()
    (folder / "mine_killed.py").write_text(MINE)
    claims = [CLAIM.format(name=f"{run}-{k}", run=run) for k in range(3) for run in ("mean", "forgets")]
    (folder / "claims.toml").write_text("version = 1\n" + "".join(claims))
    for name, shift in (("a", 0), ("b", 2)):
        (folder / f"{name}.csv").write_text("\n".join(str(shift + k * 0.37 % 1) for k in range(200)))
    return folder


def forked(words: tuple[str, ...], folder: Path) -> int:
    """The command in a process of its own: its id."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    sys.argv = ["dpassay", *words]
    out, err = (folder / "said").open("w"), (folder / "complained").open("w")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            out.flush()
            err.flush()
            os._exit(stop.code if isinstance(stop.code, int) else 0)
    os._exit(99)


def timeless(value: Any) -> Any:
    """Without what differs from run to run."""
    if isinstance(value, dict):
        return {name: timeless(one) for name, one in value.items() if name not in TIMES}
    return [timeless(one) for one in value] if isinstance(value, list) else value


def left(folder: Path) -> dict[str, Any]:
    """What was said and written, as far as it may not differ."""
    found: dict[str, Any] = {}
    for path in sorted(folder.iterdir()):
        if path.name in ("said", "r.json", "lock.json"):
            text = path.read_text()
            found[path.name] = timeless(json.loads(text)) if text.startswith(("{", "[")) else text
    return found


def kept(folder: Path) -> bool:
    """Is there anything of an earlier run."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.parent.name != "__pycache__"]
    return any(path.stat().st_size for path in files if path.name not in GIVEN)


def disturbed(command: str, folder: Path, length: float, kills: Iterator[float]) -> tuple[int, int]:
    """Runs until one ends; exit code, and how many kills found something kept."""
    found = 0
    while True:
        child = forked(WORDS[command], folder)
        share = next(kills, None)
        if share is not None:
            time.sleep(share * length)
            os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        if os.WIFEXITED(status):
            break
        found += kept(folder)
    code = os.WEXITSTATUS(status)
    if command in AFTER:
        assert code in (0, 1, 2, 3)
        code = os.WEXITSTATUS(os.waitpid(forked(AFTER[command], folder), 0)[1])
    return code, found


def main_program(command: str, kills: int, folder: Path) -> None:
    """Undisturbed once, then killed so many times."""
    import_module(f"dpassay.audit.commands.{WORDS[command][0]}")
    alone, start = project(folder / "alone"), time.monotonic()
    code, _ = disturbed(command, alone, 0.0, iter(()))
    length, whole = time.monotonic() - start, left(alone)
    assert code in (0, 1, 3) and whole, (code, (alone / "complained").read_text()[-500:])
    rng, hit, rounds = random.Random(7), 0, 0
    shares = iter([rng.random() * 0.9 for _ in range(kills)])
    while shares.__length_hint__():
        rounds += 1
        here = project(folder / f"again-{rounds}")
        again, found = disturbed(command, here, length, shares)
        hit += found
        assert again == code, (again, code, (here / "complained").read_text()[-500:])
        assert left(here) == whole, (here, [name for name in whole if left(here).get(name) != whole[name]])
    print(f"{command}: {kills} kills in {rounds} folders, {hit} found something kept; exit code {code}")


if __name__ == "__main__":
    main_program(sys.argv[1], int(sys.argv[2]), Path.cwd())
