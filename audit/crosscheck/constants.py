"""Edits of the constants of a schedule: another one of them, one that counts one step off."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from .calls import CLIPPING
from .kinds import Kind
from .source import Made, Text


def of_field(text: Text, node: ast.Attribute, known: Mapping[str, type], compared: bool) -> Iterator[Made]:
    """Another constant of the same holder.

    Args:
        known: the numbers that the holder holds.
        compared: it stands in a comparison.
    """
    kind = Kind.BRANCH if compared else _kind(node.attr)
    for other, same in known.items():
        if other != node.attr and same is known.get(node.attr):
            yield text.made(kind, f"{other} for", node, f"{text.code(node.value)}.{other}")
    if known.get(node.attr) is int:
        for step, how in (("+ 1", "large"), ("- 1", "small")):
            yield text.made(Kind.INDEX_SHIFT, f"one too {how}:", node, f"({text.code(node)} {step})")


def of_its_name(text: Text, node: ast.Name, fields: Mapping[str, Mapping[str, type]]) -> Iterator[Made]:
    """Another constant for a name that is called as a constant of the schedule is: it was taken out of it.

    Args:
        fields: for a name that holds a dataclass, its numbers.
    """
    kind = _kind(node.id)
    for holder, known in fields.items():
        if known.get(node.id) is float:
            others = [one for one, same in known.items() if same is float and one != node.id]
            yield from (text.made(kind, f"{holder}.{one} for", node, f"{holder}.{one}") for one in others)


def _kind(name: str) -> Kind:
    """What it is to take another constant for one of this name."""
    return Kind.CLIP_BOUND if CLIPPING.search(name) else Kind.FACTOR
