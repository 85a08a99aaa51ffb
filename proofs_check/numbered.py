"""The numbered statements of the papers, in their order (of dp_ftrl: those that are implemented)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dpassay.reference.papers import NUMBERED


def _names(kinds: Mapping[str, str | int]) -> Iterator[str]:
    for kind, numbers in kinds.items():
        counted = [f"({n})" for n in range(1, numbers + 1)] if isinstance(numbers, int) else numbers.split()
        yield from (f"{kind} {number}" for number in counted)


STATEMENTS: dict[str, tuple[str, ...]] = {paper: tuple(_names(kinds)) for paper, kinds in NUMBERED.items()}
