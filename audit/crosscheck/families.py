"""Labels of releases that belong together: single leaves and inner nodes of a tree, which have a label each."""

from __future__ import annotations

import re
from collections.abc import Iterable

NODE = re.compile(r"^(.*)/\((\d+),(\d+)\)$")  # the interval of a node's leaves
NUMBERED = re.compile(r"/\d+$")
LEAVES, INNER = "single leaves", "inner nodes"


def family(label: str) -> str:
    """What a node of a tree is; another label is its own family."""
    found = NODE.match(label)
    return label if found is None else f"{found[1]}: {LEAVES if found[2] == found[3] else INNER}"


def series(label: str) -> str:
    """The family without the number of a phase or step at the end of its label."""
    return NUMBERED.sub("", family(label))


def families(labels: Iterable[str]) -> list[str]:
    """All of them, in the order of the labels."""
    return list(dict.fromkeys(map(family, labels)))


def every_series(labels: Iterable[str]) -> list[str]:
    """All of them, in the order of the labels."""
    return list(dict.fromkeys(map(series, labels)))
