"""What a search has found so far: each kind at each label once, with its smallest example."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dpassay.audit.lockstep.outcome import Seen
from dpassay.audit.lockstep.script import Script
from dpassay.reference.findings import Finding, Kind

from .ground import Data
from .witness import Witness, weight

Key = tuple[Kind, str]


class Found:
    """Findings in the order in which they were first seen.

    Args:
        about: what was run, for the witnesses.
    """

    def __init__(self, about: Mapping[str, str | float]):
        self.about = about
        self.witnesses: dict[Key, Witness] = {}

    def note(
        self,
        findings: Sequence[Finding],
        data: Data,
        seed: int,
        script: Callable[[], Script],
        places: Mapping[Key, Seen],
    ) -> None:
        """Keep the smallest example of each finding."""
        told: Script | None = None
        for finding in findings:
            key = finding.kind, finding.label
            told = told or script()
            before = self.witnesses.get(key)
            if before is None or weight(data, told) < weight(before.data, before.script):
                self.witnesses[key] = self._made(finding, data, seed, told, places)

    def witness(
        self,
        key: Key,
        findings: Sequence[Finding],
        data: Data,
        seed: int,
        script: Script,
        places: Mapping[Key, Seen],
    ) -> Witness | None:
        """The witness of one finding, if it is among these."""
        for finding in findings:
            if (finding.kind, finding.label) == key:
                return self._made(finding, data, seed, script, places)
        return None

    def _made(self, finding: Finding, data: Data, seed: int, script: Script, places: Mapping[Key, Seen]) -> Witness:
        seen = places.get((finding.kind, finding.label))
        place = (seen.line, seen.here, seen.there) if seen else ("", None, None)
        return Witness(finding, data, script, seed, *place, about=self.about)
