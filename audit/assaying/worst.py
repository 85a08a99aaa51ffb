"""Which pair of neighbours is audited: the one that the search moves furthest, or the one that was audited before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dpassay.audit.lockstep.run import scripted
from dpassay.audit.lockstep.script import DRAWN
from dpassay.audit.search.ground import AllOf, Setting, data_of
from dpassay.audit.search.quiet import quiet
from dpassay.audit.search.strategies import Same
from dpassay.reference.space import Space

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
    return sum(scripted(setting.mechanism, setting.pair, [seed], Same(DRAWN)).separation for seed in (1, 2))
