"""Randomness that plain code makes for itself: an audit cannot dictate it, and with a fixed seed it protects nothing.

Names of NumPy's makers are looked for in every module that the code could have them from, so that one taken by
``from numpy.random import default_rng`` is seen as well.
"""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np

from dpassay.reference.equality import snapshot
from dpassay.reference.errors import BadInput
from dpassay.reference.tape import LiveTape

from .desk import Desk
from .generator import TapeGenerator
from .habits import Habits

_AUDIT = Path(__file__).resolve().parents[1]
_OWN = (_AUDIT, _AUDIT.parent / "reference")  # whose generators do not count
_LIBRARIES = ("numpy", "random", "scipy", "hypothesis")  # what they do among themselves does not count either
_HOMES = (np.random, random)


def own_randomness(mechanism: Callable[[Any, np.random.Generator], Any], data: Any) -> dict[str, bool]:
    """What one run on these data draws from elsewhere: ``default_rng at file.py:12``, and whether its seed is fixed."""
    found: dict[str, bool] = {}

    def note(name: str, seeded: bool) -> None:
        caller = sys._getframe(2)
        file = Path(caller.f_code.co_filename).resolve()
        if not any(file.is_relative_to(folder) for folder in _OWN):
            place = f"{name} at {file.name}:{caller.f_lineno}"
            found[place] = found.get(place, False) or seeded

    stands_for = {id(maker): _noted(name, maker, seeds, note) for name, maker, seeds in _makers()}
    desk = Desk(LiveTape(0), len(data) if hasattr(data, "__len__") else None, Habits(eager=True))
    with contextlib.ExitStack() as stack, contextlib.suppress(Exception):  # what code of others raises
        for module, name, maker in _places(stands_for):
            stack.enter_context(patch.object(module, name, maker))
        mechanism(snapshot(data), TapeGenerator(desk))
    return found


def _makers() -> Iterator[tuple[str, Any, bool]]:
    """What makes a generator or draws from one that all share, by name, and whether its arguments are a seed."""
    yield from ((f"np.random.{name}", getattr(np.random, name), True) for name in ("default_rng", "RandomState"))
    yield "random.Random", random.Random, True
    for home in _HOMES:
        for name, one in vars(home).items():
            if isinstance(getattr(one, "__self__", None), np.random.RandomState | random.Random):
                yield f"{'np.' * (home is np.random)}random.{name}", one, name == "seed"


def _noted(name: str, maker: Any, seeds: bool, note: Callable[[str, bool], None]) -> Any:
    if isinstance(maker, type):

        def init(self: Any, *given: Any, **named: Any) -> None:
            note(name, bool(given or named))
            maker.__init__(self, *given, **named)  # type: ignore[misc]

        return type(maker.__name__, (maker,), {"__init__": init})

    def made(*given: Any, **named: Any) -> Any:
        note(name, seeds and bool(given or named))
        return maker(*given, **named)

    return made


def _places(stands_for: dict[int, Any]) -> Iterator[tuple[ModuleType, str, Any]]:
    """Where these makers have a name: at home, and in modules that are nobody's library."""
    for name, module in list(sys.modules.items()):
        library = name.split(".")[0] in _LIBRARIES and module not in _HOMES
        if isinstance(module, ModuleType) and not library:
            for attribute, one in list(vars(module).items()):
                if id(one) in stands_for:
                    yield module, attribute, stands_for[id(one)]


def refuse_own(name: str, mechanism: Callable[[Any, np.random.Generator], Any], data: Any) -> None:
    """Runs with the same draws differ: say where the mechanism draws from elsewhere.

    Raises:
        BadInput: always.
    """
    places = ", ".join(own_randomness(mechanism, data))
    where = f" (it uses {places})" if places else ""
    why = (
        f"gives different results for the same draws{where}: all randomness must come from the generator that it is "
        "given, so draw from that one"
    )
    raise BadInput("mechanism", name, why)


def of_fixed_seeds(found: dict[str, bool]) -> str:
    """What a reader must know of those that are seeded."""
    lines = [place.rpartition(" ")[2] for place, seeded in found.items() if seeded]
    if not lines:
        return ""
    return (
        f"a generator of its own is made at {', '.join(dict.fromkeys(lines))}: with a fixed seed its noise is the same "
        "in every run and protects nothing; draw from the generator that is given"
    )
