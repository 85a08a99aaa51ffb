"""Checkpoints: the one way in which an audit that may be stopped keeps its state and finds it again.

A checkpoint is a store (``store.py``) with one record of its kind. It is one file, and may be copied to another
machine. A state is replaced only by the process that read it: two processes that continue one checkpoint would draw the
same randomness twice, so the second one is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpassay.reference.errors import require
from dpassay.reference.files import there

from .store import Store

FIELD = "--checkpoint"
_KEY = "state"


def read(path: Path, kind: str) -> dict[str, Any] | None:
    """The state, or None where there is no checkpoint yet.

    Raises:
        BadInput: it cannot be read, is damaged, or is a checkpoint of something else.
    """
    if not there(path, FIELD):
        return None
    return _state(Store(path, FIELD), path, kind)


def write(path: Path, kind: str, state: Mapping[str, Any], before: Mapping[str, Any] | None) -> None:
    """Keep a state in place of ``before``, the one that was read or written last; it is on the disk then.

    Raises:
        BadInput: it cannot be written, or another process has continued the checkpoint.
    """
    store = Store(path, FIELD)
    with store.transaction():
        found = _state(store, path, kind)
        known = [None if one is None else json.loads(json.dumps(dict(one))) for one in (before, state)]
        require(found in known, FIELD, str(path), "was continued by another process: every machine needs its own")
        store.put(kind, {_KEY: dict(state)})


def _state(store: Store, path: Path, kind: str) -> dict[str, Any] | None:
    state = store.records(kind).get(_KEY)
    require(state is None or isinstance(state, dict), FIELD, str(path), f"is no checkpoint of a {kind}")
    return state
