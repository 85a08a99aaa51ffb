"""Every parser against damaged and hostile files: fine, or one line and exit code 2; never a traceback or a hang.

    python benchmarks/fuzz.py [--inputs N] [--seconds S] [--only NAME] [--folder FOLDER] [--write] [--again]

Input k of a target follows from the seed, the target and k alone: a valid file with one to four changes. In JSON and
TOML a value is replaced, removed, doubled or nested; elsewhere bytes are flipped, cut, doubled, spliced or overwritten
with numbers at the edge. Files are read in this process through the function that the command uses; one in `--sample`
goes through `dpassay` itself. Where a run stops is kept in FOLDER, and the next goes on from there; what
broke is kept beside it. A reader has 10 seconds and 4 GiB.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import io
import json
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import typer
from fuzz_targets import CLAIMS, TOP, Target, targets

from dpassay.audit.live.errors import ProgramBroken, ProgramEnded, ProgramRefused, ProgramUnsupported
from dpassay.audit.live.messages import Malformed
from dpassay.reference.errors import BadInput, printable

RESULT = TOP / "benchmarks" / "results" / "fuzz.md"
SEED, PATIENCE, MEMORY = 6, 10, 4 * 2**30
REFUSALS = (BadInput, Malformed, ProgramBroken, ProgramEnded, ProgramRefused, ProgramUnsupported)
CLASSES = ("fine", "refused", "traceback", "hang", "memory")
HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**400,
    1e308, -1e308, 5e-324, -0.0, 1e999, "", "nan", "infinity",
    "-infinity", "x" * 5000, "\x1b[2J", "\u202e", "\ud800", "\x00", "../../../etc/passwd",
    "/dev/zero", "<script>alert(1)</script>",
    "=1+1", "a\nb", [], [1], [[1], [1, 2]], [[]], {}, {"": 0}, {"class": "os.system"}, [None] * 300,
)  # fmt: skip
TOKENS = (
    b"\x00", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\r\n", b"\x1b[2J", b"nan", b"inf", b"1e999", b"-", b"9" * 400,
    b",", b'"', b"[" * 2000,
    b"{", b"#", b"\xe2\x80\xa8", b"\xed\xa0\x80", b"PK\x03\x04", b"'",
    b"= ", b"[[claim]]\n", b":", b"\xef\xbb\xbf", b"0x1", b"True",
)  # fmt: skip


class Hang(BaseException):
    """Nothing after PATIENCE seconds."""


def places(document: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a JSON document, as keys and indices."""
    names: Any = document if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else ()
    return [place, *(one for name in names for one in places(document[name], (*place, name)))]


def changed_json(document: Any, chance: random.Random) -> Any:
    """One value replaced, removed, doubled or nested."""
    place = chance.choice(places(document))
    value = copy.deepcopy(chance.choice(HOSTILE))
    if not place:
        return value if chance.random() < 0.05 else document
    inner = document
    for name in place[:-1]:
        inner = inner[name]
    last, how = place[-1], chance.random()
    if how < 0.6:
        inner[last] = value
    elif how < 0.75:
        del inner[last]
    elif how < 0.85:
        inner[last] = [inner[last]] * chance.choice((1, 2, 50))
    elif isinstance(inner, dict):
        inner[chance.choice(("", "x", "\x1b", str(last) + " "))] = value
    else:
        inner.insert(last, value)
    return document


def changed_bytes(raw: bytes, chance: random.Random) -> bytes:
    """Bytes flipped, cut, doubled, moved, or overwritten."""
    at, other = sorted((chance.randrange(len(raw) + 1), chance.randrange(len(raw) + 1)))
    how = chance.randrange(7)
    if how == 0 and raw:
        at = min(at, len(raw) - 1)
        return raw[:at] + bytes([raw[at] ^ (1 << chance.randrange(8))]) + raw[at + 1 :]
    if how == 1:
        return raw[:at]
    if how == 2:
        return raw[:at] + raw[other:]
    if how == 3:
        return raw[:other] + raw[at:other] * chance.choice((1, 3, 40)) + raw[other:]
    token = chance.choice(TOKENS)
    if how == 4:
        return raw[:at] + token + raw[at + len(token) :]
    if how == 5:
        return raw[:at] + bytes(chance.randrange(256) for _ in range(chance.randrange(1, 9))) + raw[at:]
    return raw[:at] + token + raw[at:]


def mutated(target: Target, number: int) -> tuple[bytes, str]:
    """Input ``number`` of a target, and the suffix of its file."""
    chance = random.Random(f"{SEED}/{target.name}/{number}")
    which = chance.randrange(len(target.seeds))
    raw = target.seeds[which]
    structured = target.suffixes[which] == ".json" and chance.random() < 0.7
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        if structured:
            try:
                raw = json.dumps(changed_json(json.loads(raw), chance)).encode("utf-8", "surrogatepass")
            except (ValueError, RecursionError):
                break
        else:
            raw = changed_bytes(raw, chance)
    return raw[: 2**20], target.suffixes[which]


def outcome(target: Target, path: Path) -> tuple[str, str]:
    """The class of one input, and what was said."""

    def late(number: int, frame: FrameType | None) -> None:
        raise Hang

    signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("error")  # a warning would be lines that nobody asked for
            target.read(path)
    except REFUSALS as error:
        said = str(error)
        return ("refused", said) if said == printable(said) else ("traceback", f"not one line of text: {said!r}")
    except typer.Exit:
        return "fine", ""
    except Hang:
        return "hang", ""
    except MemoryError as error:
        return "memory", str(error)
    except Exception:
        return "traceback", traceback.format_exc()
    finally:
        signal.alarm(0)
    return "fine", ""


def by_command(target: Target, path: Path, other: Path) -> tuple[str, str]:
    """The same through the command line."""
    words = [{"FILE": str(path), "OTHER": str(other)}.get(word, word) for word in target.command]
    code = "import sys; from dpassay.audit.cli import main; main()"
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=path.parent,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "hang", " ".join(words)
    lines = done.stderr.strip().splitlines()
    if done.returncode == 2:
        good = len(lines) == 1 and lines[0].isprintable()
        return ("refused", lines[0]) if good else ("traceback", f"{words}: {done.stderr[-1500:]}")
    good = done.returncode in (0, 1, 3) and "Traceback" not in done.stderr and "\x1b" not in done.stdout + done.stderr
    return ("fine", "") if good else ("traceback", f"{words}: exit code {done.returncode}: {done.stderr[-1500:]}")


def fuzz(target: Target, state: dict[str, Any], options: argparse.Namespace, folder: Path) -> None:
    """Inputs from where the last run stopped, until their number or the time is up."""
    kept = state.setdefault(target.name, {"next": 0, "classes": {}, "commands": {}})
    classes, commands = Counter(kept["classes"]), Counter(kept["commands"])
    ends = time.process_time() + options.seconds
    other = folder / f"other{'.toml' if target.name == 'lock' else target.suffixes[0]}"
    other.write_bytes(CLAIMS if target.name == "lock" else target.seeds[0])
    if target.name == "curve":
        other = folder / "other.csv"
        other.write_text("\n".join(str(k / 30) for k in range(30)))
    for suffix, raw in zip(target.suffixes, target.seeds, strict=True):
        path = folder / f"seed{suffix}"
        path.write_bytes(raw)
        found, said = outcome(target, path)
        if found != "fine":
            print(f"  {target.name}: a valid file is {found}: {said.strip()[-300:]}", flush=True)
    while kept["next"] < options.inputs and time.process_time() < ends:
        raw, suffix = mutated(target, kept["next"])
        path = folder / f"input{suffix}"
        path.write_bytes(raw)
        found, said = outcome(target, path)
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
    (options.folder / "state.json").write_text(json.dumps(state, indent=1))
    print(f"{target.name:12} {kept['next']:7} {dict(classes)} by command: {dict(commands)}", flush=True)


def keep(folder: Path, name: str, raw: bytes, suffix: str, said: str) -> None:
    """An input that broke something, and what was said."""
    name = name.replace(" ", "-")
    (folder / f"{name}{suffix}").write_bytes(raw)
    (folder / f"{name}.txt").write_text(said, encoding="utf-8", errors="backslashreplace")
    print(f"  {name}: {said.strip().splitlines()[-1][:200] if said.strip() else 'no answer'}", flush=True)


def page(state: dict[str, Any]) -> str:
    """The result as Markdown."""
    head = [
        "| parser | inputs | fine | refused in one line | traceback | hang | memory | through `dpassay` |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, kept in state.items():
        cells = [str(kept["classes"].get(one, 0)) for one in CLASSES]
        through = ", ".join(f"{count} {word}" for word, count in sorted(kept["commands"].items())) or "-"
        head.append(f"| {name} | {kept['next']:,} | {' | '.join(cells)} | {through} |")
    total = sum(kept["next"] for kept in state.values())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    about = (
        f"{total:,} inputs, seed {SEED}; peak memory of the last run {peak:.0f} MiB. A run goes on where the last one"
    )
    about += " stopped: without"
    return "\n".join(
        [
            "# Fuzzing every parser",
            "",
            "Written by `python benchmarks/fuzz.py --write`.",
            "",
            about + " `--seconds` it ends at `--inputs` (100,000) each.",
            "",
            *head,
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--inputs", type=int, default=100_000, help="inputs of each target, all runs together")
    parser.add_argument("--seconds", type=float, default=1e9, help="processor time of each target in this run")
    parser.add_argument("--sample", type=int, default=2_000, help="one input in so many goes through the command, too")
    parser.add_argument("--folder", type=Path, default=TOP / "build" / "fuzz", help="what is kept")
    parser.add_argument("--only", default="", help="targets whose name contains this")
    parser.add_argument("--again", action="store_true", help="from the first input")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/fuzz.md")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    kept = options.folder / "state.json"
    state: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() and not options.again else {}
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory() as scratch:
        for target in targets(Path(scratch), options.only):
            fuzz(target, state, options, Path(scratch))
    text = page(state)
    print(text)
    if options.write:
        RESULT.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
