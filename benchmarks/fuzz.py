"""Every parser against damaged and hostile files: fine, or one line and exit code 2; never a traceback or a hang.

    python benchmarks/fuzz.py [--inputs N] [--seconds S] [--only NAME] [--folder FOLDER] [--write] [--again]

Input k of a target follows from the seed, the target and k alone: a valid file with one to four changes, of its bytes
or of what it is made of (`fuzz_changes.py`). Files are read in this process through the functions that the command
uses (`fuzz_readers.py`); one in `--sample` goes through `dpassay` itself, in a fork. Where a run stops is kept in
FOLDER, and the next goes on from there; what broke is kept beside it, three examples of each place. A reader has 10
seconds of processor time and 1 GiB.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import typer
from fuzz_changes import LARGEST, changed
from fuzz_documents import hostile
from fuzz_targets import TOP, Target, targets

from dpassay.audit.cli import COMMANDS, GROUPS
from dpassay.audit.cli import main as dpassay
from dpassay.audit.live.errors import ProgramBroken, ProgramEnded, ProgramRefused, ProgramUnsupported
from dpassay.audit.live.messages import Malformed
from dpassay.reference.errors import BadInput, printable

RESULT = TOP / "benchmarks" / "results" / "fuzz.md"
IN_MEMORY = "/dev/shm"  # a file on a disk costs ten times what its reader does
SEED, PATIENCE, WALL, MEMORY = 7, 10, 120, 2**30
REFUSALS = (BadInput, Malformed, ProgramBroken, ProgramEnded, ProgramRefused, ProgramUnsupported)
CLASSES = ("fine", "refused", "traceback", "hang", "memory")


SEEN: Counter[tuple[str, ...]] = Counter()  # places where something broke


class Hang(BaseException):
    """Nothing after PATIENCE seconds."""


def mutated(target: Target, number: int) -> tuple[bytes, str]:
    """Input ``number`` of a target, and the suffix of its file."""
    chance = random.Random(f"{SEED}/{target.name}/{number}")
    if number % 3 == 0:  # not by chance: each hostile value at each place
        turn, which = divmod(number // 3, len(target.seeds))
        found = hostile(target.seeds[which], target.suffixes[which][1:], turn)
        if found is not None:
            return found[:LARGEST], target.suffixes[which]
    which = chance.randrange(len(target.seeds))
    raw, suffix = target.seeds[which], target.suffixes[which]
    raw = target.change(raw, chance) if target.change else changed(raw, suffix[1:], chance)
    return raw[:LARGEST], suffix


def late(number: int, frame: FrameType | None) -> None:
    """A signal of a timer."""
    raise Hang


@contextlib.contextmanager
def limited(seconds: float) -> Any:
    """An end after so many seconds of processor time, and after WALL seconds by the clock."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, WALL)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def outcome(target: Target, path: Path) -> tuple[str, str]:
    """The class of one input, and what was said."""
    try:
        with limited(PATIENCE), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("error")  # a warning would be lines that nobody asked for
            target.read(path)
    except REFUSALS as error:
        said = str(error)
        return ("refused", said) if said == printable(said) else ("traceback", f"not one line of text: {said!r}")
    except typer.Exit:
        return "fine", ""
    except Hang:
        return "hang", traceback.format_exc()
    except MemoryError:
        return "memory", traceback.format_exc()
    except Exception:
        return "traceback", traceback.format_exc()
    return "fine", ""


def by_command(target: Target, path: Path, other: Path) -> tuple[str, str]:
    """The same through the command line, in a fork of this process."""
    word = path.read_bytes().decode("utf-8", "surrogateescape").replace("\x00", "")
    words = [{"FILE": str(path), "OTHER": str(other), "WORD": word}.get(one, one) for one in target.command]
    said = [path.with_name(name) for name in ("stdout", "stderr")]
    child = os.fork()
    if child == 0:
        os._exit(_in_the_fork(words, said))
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return ("hang" if number in (signal.SIGXCPU, signal.SIGALRM) else "traceback"), f"{words}: signal {number}"
    code, (out, err) = os.WEXITSTATUS(status), (one.read_text(encoding="utf-8", errors="replace") for one in said)
    lines = err.strip().split("\n")
    if code == 2:
        good = len(lines) == 1 and lines[0].isprintable()
        usage = lines[0].startswith("Usage: ") and "\x1b" not in err  # of an option that looks like another one
        return ("refused", lines[0]) if good or usage else ("traceback", f"{words}: {err[-1500:]}")
    good = code in (0, 1, 3) and "Traceback" not in err and "\x1b" not in out + err
    return ("fine", "") if good else ("traceback", f"{words}: exit code {code}: {err[-1500:]}")


def _in_the_fork(words: list[str], said: list[Path]) -> int:
    """The command's exit code."""
    for number, path in enumerate(said, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), number)
    os.chdir(said[0].parent)
    resource.setrlimit(resource.RLIMIT_CPU, (60, 61))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(WALL)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__  # type: ignore[assignment]
    sys.argv = ["dpassay", *words]
    try:
        dpassay()
    except SystemExit as stop:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        return stop.code if isinstance(stop.code, int) else 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    return 70


def fuzz(target: Target, state: dict[str, Any], options: argparse.Namespace, folder: Path) -> None:
    """Inputs from where the last run stopped, until their number or the time is up."""
    kept = state.setdefault(target.name, {"next": 0, "slowest": 0.0, "seconds": 0.0})
    classes, commands, odd = (Counter(kept.setdefault(one, {})) for one in ("classes", "commands", "odd"))
    begun = time.process_time()
    name, content = target.other or (f"other{target.suffixes[0]}", target.seeds[0])
    other = folder / name
    other.write_bytes(content)
    outside = folder.with_suffix(".csv")
    outside.write_text("1\n")
    for link, to in (("linked.csv", outside), ("loop.csv", folder / "loop.csv")):
        (folder / link).unlink(missing_ok=True)
        (folder / link).symlink_to(to)
    for suffix, raw in zip(target.suffixes, target.seeds, strict=True):
        path = folder / f"seed{suffix}"
        path.write_bytes(raw)
        found, said = outcome(target, path)
        if found != "fine":
            print(f"  {target.name}: a valid file is {found}: {said.strip()[-300:]}", flush=True)
    if not target.alone and not kept["next"]:
        for name, path in odd_files(folder, target.suffixes[0]):
            found, said = outcome(target, path)
            odd[found] += 1
            if found not in ("fine", "refused"):
                keep(options.folder, f"{target.name}-odd", name.encode(), "", said)
        kept["odd"] = dict(odd)
    while kept["next"] < options.inputs and time.process_time() - begun < options.seconds:
        raw, suffix = mutated(target, kept["next"])
        path = folder / f"input{suffix}"
        path.write_bytes(raw)
        start = time.process_time()
        found, said = outcome(target, path)
        kept["slowest"] = max(kept["slowest"], time.process_time() - start)
        classes[found] += 1
        if found not in ("fine", "refused"):
            keep(options.folder, f"{target.name}-{kept['next']}", raw, suffix, said)
        if target.command and kept["next"] % options.sample == options.sample - 1:
            found, said = by_command(target, path, other)
            commands[found] += 1
            if found not in ("fine", "refused"):
                keep(options.folder, f"{target.name}-{kept['next']}", raw, suffix, "command: " + said)
        kept["next"] += 1
        kept["classes"], kept["commands"] = dict(classes), dict(commands)
    kept["seconds"] += time.process_time() - begun
    (options.folder / "state.json").write_text(json.dumps(state, indent=1))
    print(f"{target.name:14} {kept['next']:7} {dict(classes)} by command: {dict(commands)}", flush=True)


def odd_files(folder: Path, suffix: str) -> Iterator[tuple[str, Path]]:
    """What a path may name that is no file, or too much of one."""
    path = folder / f"odd{suffix}"
    makers: dict[str, Callable[[], object]] = {
        "nothing": lambda: None,
        "a folder": path.mkdir,
        "a pipe": lambda: os.mkfifo(path),
        "a link to itself": lambda: path.symlink_to(path),
        "a link to nothing": lambda: path.symlink_to(folder / "nothing"),
        "/dev/zero": lambda: path.symlink_to("/dev/zero"),
        "a file of a TiB": lambda: (path.touch(), os.truncate(path, 2**40)),
        "an empty file": path.touch,
    }
    for name, make in makers.items():
        make()
        yield name, path
        if path.is_dir():
            path.rmdir()
        path.unlink(missing_ok=True)
    yield "a name of 5,000 letters", folder / ("n" * 5000 + suffix)


def keep(folder: Path, name: str, raw: bytes, suffix: str, said: str) -> None:
    """An input that broke something, and what was said; three of each place."""
    name = name.replace(" ", "-")
    ours = [line for line in said.splitlines() if line.lstrip().startswith("File") and str(TOP) in line]
    SEEN[place := (name.rsplit("-", 1)[0], *ours[-1:])] += 1
    if SEEN[place] > 3:
        return
    (folder / f"{name}{suffix}").write_bytes(raw)
    (folder / f"{name}.txt").write_text(said, encoding="utf-8", errors="backslashreplace")
    print(f"  {name}: {said.strip().splitlines()[-1][:200] if said.strip() else 'no answer'}", flush=True)


def page(state: dict[str, Any]) -> str:
    """The result as Markdown."""
    head = [
        f"| parser | inputs | fine | refused in one line | {' | '.join(CLASSES[2:])} "
        "| odd files | through `dpassay` | s, slowest |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, kept in state.items():
        cells = [str(kept["classes"].get(one, 0)) for one in CLASSES]
        odd, through = (", ".join(f"{n} {what}" for what, n in sorted(kept[k].items())) for k in ("odd", "commands"))
        cells += [odd or "-", through or "-", f"{kept['slowest']:.2f}"]
        head.append(f"| {name} | {kept['next']:,} | {' | '.join(cells)} |")
    total, spent = (sum(kept[name] for kept in state.values()) for name in ("next", "seconds"))
    about = [
        f"{total:,} inputs of {len(state)} parsers, seed {SEED}, {spent / 60:.0f} minutes of processor time; a reader",
        f"has {PATIENCE} s of it and {MEMORY // 2**20} MiB of memory. A run goes on where the last one stopped, and",
        "ends at `--inputs` (100,000) of each.",
    ]
    return "\n".join(
        ["# Fuzzing every parser", "", "Written by `python benchmarks/fuzz.py --write`.", "", *about, "", *head]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--inputs", type=int, default=100_000, help="inputs of each target, all runs together")
    parser.add_argument("--seconds", type=float, default=1e9, help="processor time of each target in this run")
    parser.add_argument("--sample", type=int, default=1_000, help="one input in so many goes through the command, too")
    parser.add_argument("--folder", type=Path, default=TOP / "build" / "fuzz", help="what is kept")
    parser.add_argument(
        "--only", default="", help="targets whose name contains one of these words, separated by commas"
    )
    parser.add_argument("--again", action="store_true", help="from the first input")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/fuzz.md")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    options.folder = options.folder.resolve()
    kept = options.folder / "state.json"
    state: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() and not options.again else {}
    for name in (*COMMANDS, *GROUPS):
        import_module(f"dpassay.audit.commands.{name}")  # before the forks
    for name in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(name, late)
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None) as scratch:
        chosen = targets(Path(scratch), options.only)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        os.chdir(scratch)
        for target in chosen:
            fuzz(target, state, options, Path(scratch))
    text = page(state)
    print(text)
    if options.write:
        RESULT.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
