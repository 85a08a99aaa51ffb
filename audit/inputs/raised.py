"""Which line of somebody's code raised: theirs, not the library's that they called."""

from __future__ import annotations

import traceback
from pathlib import Path

_OURS = [Path(__file__).resolve().parents[2] / name for name in ("audit", "proofs_check", "reference")]
_INSTALLED = ("site-packages", "dist-packages")


def place_raised(error: BaseException) -> tuple[str, int]:
    """File name and line of the innermost frame outside of installed packages and of this one; of any, if none is."""
    frames = [(Path(frame.filename), frame.lineno or 0) for frame in traceback.extract_tb(error.__traceback__)]
    theirs = [one for one in frames if _is_theirs(one[0])]
    path, line = (theirs or frames or [(Path("?"), 0)])[-1]
    return path.name, line


def _is_theirs(path: Path) -> bool:
    installed = any(part in path.parts for part in _INSTALLED)
    return path.is_file() and not installed and not set(_OURS) & set(path.resolve().parents)
