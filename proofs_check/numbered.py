"""The numbered statements of the papers, in their order (of dp_ftrl: those that are implemented): ``numbered.toml``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from dpassay.reference.files import parse_toml, read_text


def _names(kinds: Mapping[str, str | int]) -> Iterator[str]:
    for kind, numbers in kinds.items():
        counted = [f"({n})" for n in range(1, numbers + 1)] if isinstance(numbers, int) else numbers.split()
        yield from (f"{kind} {number}" for number in counted)


_TOLD = parse_toml(read_text(Path(__file__).with_suffix(".toml"), "statements"), "numbered.toml")
STATEMENTS: dict[str, tuple[str, ...]] = {paper: tuple(_names(kinds)) for paper, kinds in _TOLD.items()}
