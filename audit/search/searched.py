"""What a search saw, as data."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpassay.reference.findings import Finding

from .coverage import Coverage
from .ground import Setting
from .witness import Witness


@dataclass(eq=False)
class Searched:
    """What a search saw.

    Args:
        findings: each kind and label once, most serious first found.
        witnesses: the smallest example of each, in the same order.
        shares: by label the largest movement over the declared sensitivity.
        coverage: of the algorithm's own source.
        accounted: the largest epsilon that a transcript added up to; None where no run could be accounted.
        gap: why some run could not be accounted; empty if all could.
        worst: the setting whose queries move the most, in units of the noise, with drawn values; None without a space.
        raised: exceptions of the algorithm on data inside the space, with how often.
        note: why the search ended early; empty if it did not.
    """

    findings: list[Finding] = field(default_factory=list)
    witnesses: list[Witness] = field(default_factory=list)
    shares: dict[str, float] = field(default_factory=dict)
    coverage: Coverage = field(default_factory=Coverage)
    accounted: float | None = None
    gap: str = ""
    worst: Setting | None = None
    examples: int = 0
    raised: dict[str, int] = field(default_factory=dict)
    note: str = ""
    seconds: float = 0.0
