"""What the algorithms are: plain float64 references that draw all randomness from a tape, and what their releases cost.

The names in ``__all__`` are the stable surface (``docs/api.md``); they are imported when they are first used, so that
``import dpassay.reference`` loads nothing. Everything else in these folders may change from one version to the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .extras import front_door

if TYPE_CHECKING:
    from .accounting.calibrate import noise_for
    from .accounting.cost import Account, account
    from .case import PrivacyClaim
    from .catalogue import find
    from .errors import BadInput
    from .guarantee import Guarantee
    from .neighbours import Pair
    from .noise import Multipliers
    from .papers import PAPERS, Cite
    from .space import Space
    from .tape import LiveTape, Tape, record

__all__ = [
    "PAPERS",
    "Account",
    "BadInput",
    "Cite",
    "Guarantee",
    "LiveTape",
    "Multipliers",
    "Pair",
    "PrivacyClaim",
    "Space",
    "Tape",
    "account",
    "find",
    "noise_for",
    "record",
]
_HOMES = {
    "PAPERS": "papers",
    "Account": "accounting.cost",
    "BadInput": "errors",
    "Cite": "papers",
    "Guarantee": "guarantee",
    "LiveTape": "tape",
    "Multipliers": "noise",
    "Pair": "neighbours",
    "PrivacyClaim": "case",
    "Space": "space",
    "Tape": "tape",
    "account": "accounting.cost",
    "find": "catalogue",
    "noise_for": "accounting.calibrate",
    "record": "tape",
}


def __getattr__(name: str) -> Any:
    return front_door(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return sorted(__all__)
