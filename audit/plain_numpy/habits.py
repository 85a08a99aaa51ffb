"""What trial runs have shown about a mechanism, and how its sums are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SEEN = "every noisy number that the code looks at counts as seen, also where only a later one is returned"


@dataclass(frozen=True)
class Habits:
    """What trial runs have shown about a mechanism (by source line of its noise).

    Args:
        sampled: releases whose query depends on the secret batch that was drawn last.
        early: what has met its noise is released before a number is added to it: ``query + noise + other`` is one
            release where ``other`` is private too, and a release and a step where it is not. Both are tried.
        prompt: noise that was added to anything is released there and then.
        eager: arrays changed in place by noise are looked at elsewhere, so they are released at once.
        sensitivities: declared largest movements of queries, by source line.
        shares: for lines without one, the largest movement found as a share of the noise scale: data of other sizes
            move a query, and need noise, in proportion.
        assumed: that share for every other release; None: nothing is claimed, so it cannot be accounted.
        lazy: uniform, Student, logistic, Cauchy, Poisson and geometric draws are noise too, matrices times noise are
            noise, and a choice, a coin or another draw whose parameters may come from the data is a release.
        known: lines of noise that the adversary knows: a random start that data is taken from, say.
        whole: delta, where the one release is the output with its exact law: it makes finitely many choices.
        renewed: noise that was added to data already is drawn anew for each further sum: what leaks no more then, leaks
            by that alone.
        read: trial runs have shown all this; nothing is to be found out again.
    """

    sampled: frozenset[str] = frozenset()
    eager: bool = False
    early: bool = False
    prompt: bool = False
    sensitivities: Mapping[str, float] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)
    assumed: float | None = None
    lazy: bool = False
    known: frozenset[str] = frozenset()
    whole: float | None = None
    renewed: bool = False
    read: bool = False

    @property
    def way(self) -> str:
        """The reading by name, as a witness says it: what is noise, what is known, which sums are released early."""
        if self.whole is not None:
            return "whole output"
        name = "early" if self.early else "prompt" if self.prompt else "late"
        name = f"{name}, lazy" if self.lazy else name
        return f"{name}, known {' '.join(sorted(self.known))}" if self.known else name

    @property
    def told(self) -> str:
        """The reading for a person: what the adversary is taken to see and to know."""
        if self.whole is not None:  # the law of the output is exact, whatever is read
            return ""
        when = (
            "before a number is added to it" if self.early
            else "as soon as it has its noise" if self.prompt
            else "with the numbers that are added to it"
        )  # fmt: skip
        kinds = "normal, Laplace and most other" if self.lazy else "normal and Laplace"
        known = f"; the draw at {' and '.join(sorted(self.known))} is known" if self.known else ""
        return f"{SEEN}; it is released {when}; {kinds} draws are noise{known}"

    @property
    def measured(self) -> frozenset[str]:
        """Lines whose sensitivity nobody declared: it is the largest movement that a search found."""
        return frozenset(self.shares) - frozenset(self.sensitivities)

    def sensitivity(self, label: str, scale: float) -> float | None:
        """What is claimed of a release of this source line with this noise scale."""
        if label in self.sensitivities:
            return self.sensitivities[label]
        share = self.shares.get(label, self.assumed)
        return None if share is None else share * scale
