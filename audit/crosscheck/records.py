"""Other records than those that were drawn, as other implementations take them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

RECORDS = re.compile("^(indices|batch|rows|records|chosen)$")  # names of what numbers or holds them
Drawn = Sequence[Sequence[int]]  # records of all draws so far, the last one's at the end


def _others(drawn: Sequence[int], n: int) -> list[int]:
    return ([one for one in range(n) if one not in drawn] * n)[: len(drawn)]


def _in_order(drawn: Drawn, n: int) -> list[int]:
    """Slices of the file, one a draw, as long as what was drawn."""
    return [((len(drawn) - 1) * len(drawn[-1]) + place) % n for place in range(len(drawn[-1]))]


DRAWN_LAST = {"the records that were drawn last, for something else": -1}  # of whichever label
NEXT_RECORDS = "the next records"
OTHER_RECORDS: dict[str, Callable[[Drawn, int], list[int]]] = {  # of n; in the order in which they are tried
    "the first records": lambda drawn, n: list(range(len(drawn[-1]))),
    "the records drawn before": lambda drawn, n: list(drawn[max(len(drawn) - 2, 0)])[: len(drawn[-1])],
    "the records drawn first": lambda drawn, n: list(drawn[0]),
    "the records in the order of the file": _in_order,
    "all records so far, each once": lambda drawn, n: sorted({one for batch in drawn for one in batch}),
    "all records so far": lambda drawn, n: [one for batch in drawn for one in batch],
    "all records": lambda drawn, n: list(range(n)),
    "half of the records": lambda drawn, n: list(drawn[-1][: max(1, len(drawn[-1]) // 2)]),
    "all but the last of the records": lambda drawn, n: list(drawn[-1][:-1]),
    "all but the first of the records": lambda drawn, n: list(drawn[-1][1:]),
    NEXT_RECORDS: lambda drawn, n: [(one + 1) % n for one in drawn[-1]],
    "the records one before": lambda drawn, n: [(one - 1) % n for one in drawn[-1]],
    "the records, and the next one": lambda drawn, n: [*drawn[-1], *((one + 1) % n for one in drawn[-1][-1:])],
    "the other records": lambda drawn, n: _others(drawn[-1], n),
    "the records that were not drawn yet": lambda drawn, n: sorted(set(range(n)).difference(*drawn)),
}
