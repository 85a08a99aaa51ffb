"""Which pair of neighbours is audited: the one that the search moves furthest, or the one that was audited before.

Where a query depends on which other records a batch drew, the loss is a mixture over all batches, which nobody sums up.
On neighbours whose other records are all alike, or contribute nothing, the target alone decides, and the mixture is one
over the places of the target: such a pair has exact losses. Where every record counts, whatever it holds, as in a
network with biases, that is a pair without other records. It may part less than the worst; what is shown on it is shown
all the same.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from dpassay.audit.lockstep.outcome import LockstepRun
from dpassay.audit.lockstep.run import lockstep, scripted
from dpassay.audit.lockstep.script import Script
from dpassay.audit.search.ground import AllOf, Data, Setting, data_of
from dpassay.audit.search.runner import quiet
from dpassay.audit.search.strategies import times
from dpassay.reference import BadInput, Space

_CLEARLY = 1.1  # times the separation: below that, another pair is no reason to leave the known one


def pair_of(setting: Setting | None) -> dict[str, Any]:
    """Rows, sizes and target of a pair, as plain data; empty where it was not made of rows."""
    data = setting.data if setting else None
    if data is None or data.rows is None or data.there is None:
        return {}
    sizes = {name: int(size) for name, size in data.sizes.items()}
    return {"sizes": sizes, "rows": data.rows.tolist(), "there": data.there.tolist(), "target": int(data.target)}


def chosen(found: Setting | None, run: Callable[..., Any], space: Space, known: Mapping[str, Any]) -> Setting:
    """The pair to audit.

    Args:
        found: the worst pair that the search came upon.
        run: on a tape.
        known: the pair of an earlier audit, as of :func:`pair_of`; empty: none. It stays the pair unless the other is
            clearly worse, so that two audits can be compared.
    """
    assert found is not None  # a search of a space has run something, or has raised
    if not known or known == pair_of(found):
        return found
    try:
        rows, there = (np.array(known[name], dtype=float) for name in ("rows", "there"))
        data = data_of(space, known["sizes"], rows, there, known["target"])
        before = AllOf(run, space).setting(data)
        with quiet():
            return found if separation(found) > _CLEARLY * separation(before) else before
    except Exception:  # it is of another space, or the code no longer stands it: the search says on what it raises
        return found


def separation(setting: Setting) -> float:
    """How far drawn values tell the two sides apart: a rank, no bound."""
    return sum(scripted(setting.mechanism, setting.pair, [seed], Script()).separation for seed in (1, 2))


_RUNS, _RELEASES = 6, 150  # in which no query may depend on the other records: so many runs, or releases


def with_exact_losses(found: Setting, run: Callable[..., Any], space: Space) -> Setting:
    """The pair, or the one like it that parts the most of those whose losses are exact; without any the pair itself.

    Args:
        found: the worst pair that the search came upon.
        run: on a tape.
    """
    if found.data is None or found.data.rows is None or not any(one.inexact for one in _runs(found)):
        return found
    ground, alike = AllOf(run, space), list(_alike(found.data, space))
    alone = [_alone(one) for one in (found.data, alike[-1])]
    for candidates in (alike, alone):
        exact = []
        for data in candidates:
            with suppress(BadInput):  # a row that the space does not have
                setting = ground.setting(data)
                runs = _runs(setting)
                if runs and all(one.complete and not one.inexact for one in runs):  # for an adversary who sees no batch
                    exact.append(setting)
        if exact and candidates is alone and alone[0].sizes not in ground.combinations:
            return replace(found, lonely=True)
        if exact:
            with quiet():
                best = max(exact, key=separation) if len(exact) > 1 else exact[0]
                return replace(best, alike=True)
    return found


def _alone(data: Data) -> Data:
    """The target without other records."""
    assert data.rows is not None
    return replace(data, sizes={**data.sizes, "n": 1}, rows=data.rows[data.target : data.target + 1], target=0)


def _runs(setting: Setting) -> list[LockstepRun]:
    """A few; none where the code raises: the search says on what."""
    found: list[LockstepRun] = []
    releases = 0
    try:
        with quiet():
            while len(found) < _RUNS and releases < _RELEASES:
                found.append(lockstep(setting.mechanism, setting.pair, [len(found)]))
                if found[-1].inexact:
                    break
                releases += sum(one.releases for one in found[-1].movements.values())
            return found
    except Exception:
        return []


def _alike(data: Data, space: Space) -> Iterator[Data]:
    """All other records as the target on D', as the target on D, or zero; in the last case D' may have its opposite."""
    assert data.rows is not None and data.there is not None
    here, there = data.rows[data.target], data.there
    opposite = there if space.relation != "replace-one" else times(-1.0, here, space)
    for others, replaced in ((there, there), (here, there), (times(0.0, there, space), there), (None, opposite)):
        rows = np.tile(times(0.0, here, space) if others is None else others, (len(data.rows), 1))
        rows[data.target] = here
        yield replace(data, rows=rows, there=replaced)
