"""What trial runs have shown about a mechanism, by source line of its noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .places import NotUnderstood

UNIT = 2.0**40  # noise scales; claimed while movements are measured: a power of two, so that shares of it are exact


@dataclass(frozen=True)
class Habits:
    """What trial runs have shown about a mechanism.

    Args:
        sampled: releases whose query depends on the secret batch that was drawn last.
        late: numbers that are added to a noisy sum belong to it; else it is released without them. Only where
            otherwise something would leak on the trial pairs.
        known: lines of noise that is looked at before it meets data: a random start, a random direction.
        renewed: noise that was added to data before is drawn anew: what leaks no more then, leaks by that alone.
        prompt: lines whose noise, all of it and unmixed, was released right after it had met data in the trial runs:
            there it is released when it meets data, which saves most of the time of a long run.
        whole: delta, where the one release is the output with its exact law: it makes finitely many choices.
        shares: the largest movement that a search found, as a share of the noise scale.
        assumed: that share for every other release.
        read: trial runs have shown all this.
    """

    sampled: frozenset[str] = frozenset()
    late: bool = False
    known: frozenset[str] = frozenset()
    renewed: bool = False
    prompt: frozenset[str] = frozenset()
    whole: float | None = None
    shares: Mapping[str, float] = field(default_factory=dict)
    assumed: float = UNIT
    read: bool = False

    @property
    def told(self) -> str:
        """The reading for a person; empty where the law of the output is exact, whatever is read."""
        if self.whole is not None:
            return ""
        when = "with the numbers that are added to it" if self.late else "without what is added to it later"
        known = f"; the draw at {' and '.join(sorted(self.known))} is known" if self.known else ""
        return f"a noisy sum is released where the code first looks at it, {when}{known}"

    def sensitivity(self, label: str, scale: float) -> float:
        """What is claimed of a release of this source line with this noise scale."""
        return self.shares.get(label, self.assumed) * scale


@dataclass
class Noticed:
    """What runs of a mechanism came by, mostly source lines; each run adds to it.

    Args:
        public: lines of draws taken for public: do they choose among the records?
        alone: lines whose noise was looked at before it met data.
        again: lines of noise that was added to data more than once.
        compared: lines of noisy numbers that were compared.
        used_again: those that were used again afterwards.
        shared_out: one draw is handed out in several numbers, whose differences have no noise.
        drawn: noise variables of the last run.
        prompt: lines of the last run whose noise was released whole and unmixed.
        refused: the first use of noise whose law is not known.
    """

    public: dict[str, bool] = field(default_factory=dict)
    alone: set[str] = field(default_factory=set)
    again: set[str] = field(default_factory=set)
    compared: set[str] = field(default_factory=set)
    used_again: set[str] = field(default_factory=set)
    shared_out: bool = False
    drawn: int = 0
    prompt: frozenset[str] = frozenset()
    refused: NotUnderstood | None = None
