"""One bug of the second set: what it is about, and the row that its author expected to show it."""

from __future__ import annotations

from dataclasses import dataclass

from dpassay.audit.lab.source.bugs import Patch


@dataclass(frozen=True)
class Stranger:
    """A bug, or a harmless change, by somebody who had seen the algorithms and not the search.

    Args:
        about: what it is about, in a word or two.
        row: key of the row on which the command is judged.
        patch: the change.
    """

    about: str
    row: str
    patch: Patch
