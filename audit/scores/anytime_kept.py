"""The anytime bound between commands: its wealths in a checkpoint, with marks of the files that were read.

Nobody bets twice on the same scores: a file that was read before is refused (`blocks.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.audit.evidence.sequence import EpsilonSequence
from dpassay.audit.results import SoundBound
from dpassay.audit.running.store import read_state, write_state
from dpassay.reference.arrays import Array
from dpassay.reference.errors import BadInput, require

from .blocks import marks, seen_before

KIND = "anytime bound of scores"
STREAM = 61


def grow(path: Path, named: Sequence[tuple[str, Array]], delta: float, confidence: float, seed: int) -> SoundBound:
    """Bet on one more pair of samples, keep the wealth at `path`, and return the bound so far.

    Args:
        path: the checkpoint; begun if there is none.
        named: name and scores of the runs on D and of those on D', none of which were given before.
        delta, confidence, seed: the same in every call.

    Raises:
        BadInput: a sample was read before, or the checkpoint is of another audit or damaged.
    """
    before = read_state(path, KIND)
    state = before or {"delta": delta, "confidence": confidence, "seed": seed, "marks": []}
    for name, value in (("delta", delta), ("confidence", confidence), ("seed", seed)):
        require(state.get(name) == value, f"{path}: {name}", state.get(name), f"this call has {value!r}")
    known = state.get("marks")
    require(isinstance(known, list) and all(isinstance(one, str) for one in known), f"{path}: marks", known, "damaged")
    new: list[str] = []
    for name, scores in named:
        again = seen_before(scores, (*state["marks"], *new))
        require(not again, name, f"{scores.size} scores", f"read before, says {path}: give new runs only")
        new += marks(scores)
    sequence = EpsilonSequence(delta, confidence)
    if before is not None:
        _resume(sequence, before, path)
    found = sequence.update(named[0][1], named[1][1], np.random.default_rng([seed, STREAM, sequence.blocks]))
    kept = {"log_wealths": sequence.log_wealths.tolist(), "peaks": sequence.peaks.tolist()}
    counts = {"runs": sequence.runs, "blocks": sequence.blocks, "marks": [*state["marks"], *new]}
    write_state(path, KIND, {**state, **kept, **counts}, before)
    return found


def _resume(sequence: EpsilonSequence, state: Mapping[str, Any], path: Path) -> None:
    """Fill in what was kept, each field checked."""
    for name in ("log_wealths", "peaks"):
        wanted = getattr(sequence, name).shape
        try:
            values = np.asarray(state.get(name), dtype=float)
        except (TypeError, ValueError):
            raise BadInput(f"{path}: {name}", "malformed", f"must be numbers of shape {wanted}") from None
        good = values.shape == wanted and bool(np.isfinite(values).all())
        require(good, f"{path}: {name}", values.shape, f"must be finite numbers of shape {wanted}")
        setattr(sequence, name, values)
    for name in ("runs", "blocks"):
        value = state.get(name)
        good = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**63
        require(good, f"{path}: {name}", value, "must be a positive integer")
        setattr(sequence, name, value)
