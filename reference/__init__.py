"""What the algorithms are: plain float64 references that draw all randomness from a tape, and what their releases cost.

The names in ``__all__`` are the stable surface (``docs/api.md``); they are imported when they are first used, so that
``import dpassay.reference`` loads nothing. Everything else in these folders may change from one version to the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .extras import front_door

if TYPE_CHECKING:  # "as" says that a name is for others
    from .accounting.calibrate import noise_for as noise_for
    from .accounting.cost import Account as Account
    from .accounting.cost import account as account
    from .case import PrivacyClaim as PrivacyClaim
    from .catalogue import find as find
    from .errors import BadInput as BadInput
    from .guarantee import Guarantee as Guarantee
    from .neighbours import Pair as Pair
    from .noise import Multipliers as Multipliers
    from .papers import PAPERS as PAPERS
    from .papers import Cite as Cite
    from .space import Space as Space
    from .tape import LiveTape as LiveTape
    from .tape import Tape as Tape
    from .tape import record as record

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
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    return front_door(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return __all__
