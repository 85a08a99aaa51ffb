"""Generators that plain code makes for itself: with a fixed seed their noise is the same in every run."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from dpassay.reference.equality import snapshot
from dpassay.reference.tape import LiveTape

from .desk import Desk
from .generator import TapeGenerator
from .habits import Habits

_AUDIT = Path(__file__).resolve().parents[1]
_OWN = (_AUDIT, _AUDIT.parent / "reference")  # whose generators do not count


def fixed_seeds(mechanism: Callable[[Any, np.random.Generator], Any], data: Any) -> list[str]:
    """Lines (``file.py:12``) where one run on these data makes a generator, or seeds the one that all share.

    A generator made through a name of its own (``from numpy.random import default_rng``) is not seen.
    """
    lines: dict[str, None] = {}

    def note(seeded: bool) -> None:
        caller = sys._getframe(2)
        file = Path(caller.f_code.co_filename).resolve()
        if seeded and not any(file.is_relative_to(folder) for folder in _OWN):
            lines[f"{file.name}:{caller.f_lineno}"] = None

    def noted(maker: Callable[..., Any]) -> Callable[..., Any]:
        def made(*given: Any, **named: Any) -> Any:
            note(bool(given or named))
            return maker(*given, **named)

        return made

    class RandomState(np.random.RandomState):
        def __init__(self, *given: Any, **named: Any):
            note(bool(given or named))
            super().__init__(*given, **named)

    desk = Desk(LiveTape(0), len(data) if hasattr(data, "__len__") else None, Habits(eager=True))
    with contextlib.ExitStack() as stack, contextlib.suppress(Exception):  # what code of others raises
        for name in ("default_rng", "seed"):
            stack.enter_context(patch.object(np.random, name, noted(getattr(np.random, name))))
        stack.enter_context(patch.object(np.random, "RandomState", RandomState))
        mechanism(snapshot(data), TapeGenerator(desk))
    return list(lines)


def of_fixed_seeds(lines: list[str]) -> str:
    """What a reader must know of them."""
    if not lines:
        return ""
    return (
        f"a generator of its own is made at {', '.join(lines)}: with a fixed seed its noise is the same in every run "
        "and protects nothing; draw from the generator that is given"
    )
