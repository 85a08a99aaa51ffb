"""What a shell may offer for a name of the catalogue."""

from __future__ import annotations

from collections.abc import Iterator


def names(incomplete: str) -> Iterator[tuple[str, str]]:
    """Papers, algorithms and keys that begin so, each with what it is; keys only where nothing shorter is left."""
    from dpassay.reference.catalogue import CASES

    papers = {case.paper: "paper" for case in CASES}
    ids = {case.id: case.title for case in CASES}
    keys = {case.key: case.title for case in CASES}
    for known in (papers, ids, keys) if "/" not in incomplete else (ids, keys):
        found = {name: title for name, title in known.items() if name.startswith(incomplete)}
        if found and set(found) != {incomplete}:
            yield from found.items()
            return
