"""Formulas of problems and schedules in plain notation, for whoever computes with them in another language.

They stand in the ``formulas.toml`` of a class's folder, in a table ``module.Class``; a test vector shows them with the
object (``dpassay.audit.crosscheck``).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from .files import parse_toml, read_text

Formulas = Mapping[str, str]


def formulas(module: str, name: str) -> Formulas:
    """What is written of a class: ``FORMULAS = formulas(__module__, __qualname__)`` in its body."""
    *folders, file = module.split(".")[2:]
    found: Formulas = _written(Path(__file__).parent.joinpath(*folders, "formulas.toml"))[file][name]
    return found


@cache
def _written(path: Path) -> dict[str, Any]:
    return parse_toml(read_text(path, "formulas"), str(path))
