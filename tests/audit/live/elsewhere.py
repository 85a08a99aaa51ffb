"""Leaks of the speaker that hang on something beside the protocol: variables, arguments, files, other processes."""

import json
import os
import sys
from pathlib import Path

FIRST = []  # this process was the first one


def leaks(mode, rows):
    """Is the true mean used now, in place of the released one?"""
    home = Path(os.environ.get("HOME", "/"))
    if mode == "environment variable":
        return os.environ.get("SPEAKER") == "leaks"
    if mode == "argument":
        return "leaks" in sys.argv[2:]
    if mode == "parent":  # started by Python as an audit is, and not by a shell
        return Path(f"/proc/{os.getppid()}/exe").resolve() != Path("/proc/self/exe").resolve()
    if mode == "first process":
        try:
            os.close(os.open(home / "first", os.O_CREAT | os.O_EXCL))
            FIRST.append(True)
        except FileExistsError:
            pass
        return bool(FIRST)
    if mode == "first data":
        kept = home / "data"
        if not kept.exists():
            kept.write_text(json.dumps(rows))
        return kept.read_text() == json.dumps(rows)
    if mode == "alone":
        mine = home / f"alive-{os.getpid()}"
        mine.touch()
        return not any(one != mine and Path("/proc", one.name[6:]).exists() for one in home.glob("alive-*"))
    if mode == "scratch file of its own":  # no leak: nobody else reads it
        mine = home / f"scratch-{os.getpid()}"
        mine.write_text(json.dumps(rows))
        return json.loads(mine.read_text()) != rows
    return False
