"""A pair whose losses are exact in place of one on which secret batches hide them: its other records are made alike.

Where a query depends on which other records a batch drew, the loss is a mixture over all batches, which nobody sums up.
On neighbours whose other records are all alike, or contribute nothing, the target alone decides, and the mixture is one
over the places of the target. Such a pair may part less than the worst; what is shown on it is shown all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from dpassay.audit.lockstep.outcome import LockstepRun
from dpassay.audit.lockstep.run import lockstep
from dpassay.audit.search.ground import AllOf, Data, Setting
from dpassay.audit.search.quiet import quiet
from dpassay.reference.errors import BadInput
from dpassay.reference.space import Space
from dpassay.reference.types import Array

from .worst import separation

_RUNS, _RELEASES = 6, 150  # in which no query may depend on the other records: so many runs, or releases


def with_exact_losses(found: Setting, run: Callable[..., Any], space: Space) -> Setting:
    """The pair, or the one like it that parts the most of those whose losses are exact; without any the pair itself.

    Args:
        found: the worst pair that the search came upon.
        run: on a tape.
    """
    if found.data is None or found.data.rows is None or not any(one.inexact for one in _runs(found)):
        return found
    ground = AllOf(run, space)
    alike = []
    for data in _alike(found.data, space):
        with suppress(BadInput):  # a row that the space does not have
            setting = ground.setting(data)
            alike += [setting] if _exact(setting) else []
    with quiet():
        return replace(max(alike, key=separation), alike=True) if alike else found


def _exact(setting: Setting) -> bool:
    """Are a few runs complete, with losses that are those of an adversary who sees no batch?"""
    runs = _runs(setting)
    return bool(runs) and all(one.complete and not one.inexact for one in runs)


def _runs(setting: Setting) -> list[LockstepRun]:
    found: list[LockstepRun] = []
    releases = 0
    try:
        with quiet():
            while len(found) < _RUNS and releases < _RELEASES:
                found.append(lockstep(setting.mechanism, setting.pair, [len(found)]))
                releases += sum(one.releases for one in found[-1].movements.values())
            return found
    except Exception:  # the search says on what the code raises
        return []


def _alike(data: Data, space: Space) -> Iterator[Data]:
    """All other records as the target on D', as the target on D, or zero; in the last case D' may have its opposite."""
    assert data.rows is not None and data.there is not None
    here, there = data.rows[data.target], data.there
    opposite = there if space.relation == "add-remove" else _times(-1.0, here, space)
    for others, replaced in ((there, there), (here, there), (_times(0.0, there, space), there), (None, opposite)):
        rows = np.tile(_times(0.0, here, space) if others is None else others, (len(data.rows), 1))
        rows[data.target] = here
        yield replace(data, rows=rows, there=replaced)


def _times(factor: float, row: Array, space: Space) -> Array:
    """A row times a factor, as near to that as the space has it, with its label."""
    found = factor * row + 0.0 if space.rows.box is None else np.clip(factor * row, *space.rows.box)
    if space.rows.labels:
        found[-1] = row[-1]
    return found
