"""Read the privacy cost off a transcript: an upper bound on (epsilon, delta), for a stated neighbour relation.

The accountant sees the releases that really happened. Gaussian releases alone are accounted in closed form (exact);
anything else by composing privacy loss distributions (on a grid, pessimistic). Sensitivities are the algorithm's
claims for replace-one neighbours; the lockstep run tests them. Under add-remove they are halved (for a mean with a
fixed divisor: a record appears instead of being replaced).

Records take part in a release fully, by sampling, or at most once over the run (fresh batches: the costs of different
fresh batches do not add up, the worst one counts).
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import PURE, require
from dpassay.reference.transcript import Draw, Release, Transcript

from .parts import Part, clean, delta_of, epsilon_of, mu_of, off_grid
from .sampled import Relation, Sampling

_NOISELESS = 1e100  # sensitivity over noise: beyond, squares overflow


@dataclass(frozen=True)
class Account:
    """What a run costs: ask it for ``epsilon(delta)``, ``delta(epsilon)``, ``mu()`` or ``method``.

    Args:
        common: costs that always count, each with how often.
        alternatives: costs of which the worst one counts (fresh batches: a record is in one of them at most).
        relation: ``replace-one`` or ``add-remove`` neighbours.
        gap: what could not be accounted, in words (then epsilon is infinite), or empty.
        unknown: the gap is a lack of knowledge (no declared sensitivity, no known cost), not a release without noise.
        gap_label: the release with the gap.

    Raises:
        BadInput: by ``epsilon(delta)`` for a delta outside (0, 1).

    Example:
        >>> from dpassay.reference import account, record
        >>> transcript = record(lambda tape: tape.gaussian("x", 0.0, std=2.0, sensitivity=1.0), seed=0)
        >>> found = account(transcript)
        >>> round(found.mu(), 6), found.method
        (0.5, 'exact (Gaussian, closed form)')
        >>> round(found.epsilon(1e-5), 3)
        1.993

    Source: Dong, Roth and Su 2022, Corollary 2.13, for Gaussian releases; Koskela et al. 2020 for the rest (composed
    privacy loss distributions, :mod:`~dpassay.reference.accounting.compose`).
    """

    common: tuple[tuple[Part, int], ...]
    alternatives: tuple[tuple[tuple[Part, int], ...], ...] = ((),)
    relation: Relation = "replace-one"
    gap: str = ""
    unknown: bool = False
    gap_label: str = ""

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon that is proved at ``delta``."""
        require(0 < delta < 1, "delta", delta, "must lie in (0, 1)" if delta else PURE)
        if self.gap:
            return math.inf
        return max(epsilon_of((*self.common, *extra), self.relation, delta) for extra in self.alternatives)

    def one_direction(self, delta: float) -> float | None:
        """What neighbours can show whose target pulls the same way at every step; None where all is not fixed-size.

        Below :meth:`epsilon` for fixed-size batches, whose dominating pair covers every mixture of directions.
        """
        drawn = [part for part, _ in self.common if part.kind == "sampled"]
        if self.gap or self.relation != "replace-one" or not drawn or any(off_grid(part) for part, _ in self.common):
            return None
        if any(part.sampling != "without-replacement" for part in drawn):
            return None
        # the pair of one direction is that of a Poisson batch that has twice the record, or does not have it
        parts = tuple(
            (replace(part, size=2 * part.size, sampling="poisson") if part in drawn else part, count)
            for part, count in self.common
        )
        return epsilon_of(parts, "add-remove", delta)

    def delta(self, epsilon: float) -> float:
        """The smallest delta that is proved at ``epsilon``."""
        if self.gap:
            return 1.0
        return max(delta_of((*self.common, *extra), self.relation, epsilon) for extra in self.alternatives)

    def deltas(self, epsilons: Sequence[float] | Array) -> Array:
        """:meth:`delta` at many epsilons."""
        return np.array([self.delta(float(one)) for one in epsilons])

    def mu(self) -> float | None:
        """The exact GDP parameter, where all is Gaussian without sampling; else None."""
        found = [mu_of((*self.common, *extra)) for extra in self.alternatives]
        return None if self.gap or any(mu is None for mu in found) else max(mu for mu in found if mu is not None)

    @property
    def method(self) -> str:
        """How epsilon was computed."""
        if self.gap:
            return f"not accountable: {self.gap}"
        return "exact (Gaussian, closed form)" if self.mu() is not None else "upper bound (PLD)"


def account(transcript: Transcript, relation: Relation = "replace-one") -> Account:
    """Read the privacy cost off what a run released.

    Args:
        transcript: of one run, for example from :func:`~dpassay.reference.record`. Take the run that releases the most.
        relation: ``replace-one`` (the sensitivities on the transcript are taken as claimed), ``add-remove`` or
            ``zero-out`` (they are halved: right for sums and means with a fixed divisor).

    Returns:
        An :class:`Account`. Its epsilon is an upper bound, exact where all releases are Gaussian on the full data; it
        is infinite, with the reason in ``gap``, where something is released without noise or claimed sensitivity.

    Raises:
        BadInput: for a relation or a law that the accountant does not know.

    Example:
        >>> from dpassay.reference import account, record
        >>> def twice(tape):
        ...     tape.gaussian("first", 0.0, std=1.0, sensitivity=0.3)
        ...     return tape.gaussian("second", 0.0, std=1.0, sensitivity=0.4)
        >>> round(account(record(twice, seed=0)).mu(), 6)
        0.5

    Source: composition of Gaussian releases, Dong, Roth and Su 2022, Corollary 3.3; the claimed sensitivities are
    the algorithm's own, and the audit tests them.
    """
    shared: list[Release] = []
    by_sample: dict[int, list[Release]] = {}
    by_fresh: dict[int, list[Release]] = {}
    draws = transcript.draws
    for release in transcript.releases:
        kinds = {draws[number].kind for number in release.draws}
        if not kinds:
            shared.append(release)
        elif kinds == {"fresh"}:
            for number in release.draws:
                by_fresh.setdefault(number, []).append(release)
        elif len(release.draws) == 1:
            by_sample.setdefault(release.draws[0], []).append(release)
        else:  # several sampled batches in one query: no amplification is claimed
            shared.append(release)
    gaps = {why: release for release in transcript.releases if (why := _gap(release))}
    if gaps:
        unknown = all(
            release.sensitivity is None or release.law.cost_of(release.value, release.sensitivity) is None
            for release in gaps.values()
        )
        why, first = next(iter(gaps.items()))
        return Account((), relation=relation, gap=why, unknown=unknown, gap_label=first.label)
    scale = 1.0 if relation == "replace-one" else 0.5
    common = _parts(shared, scale)
    for number, releases in by_sample.items():
        common.update(_sampled_parts(draws[number], releases, scale))
    extras = {tuple(sorted(_parts(group, scale).items(), key=repr)) for group in by_fresh.values()}
    return Account(tuple(common.items()), tuple(sorted(extras, key=repr)) or ((),), relation)


def _gap(release: Release) -> str:
    if release.sensitivity is None:
        return f"no sensitivity is claimed for {release.label!r}"
    law = release.law
    if law.is_bare and release.sensitivity > 0:
        return f"{release.label!r} is released {'without' if law.scale == 0 else 'with next to no'} noise"
    cost = law.cost_of(release.value, release.sensitivity)
    if cost is None:
        return f"no accounting is known for the law {type(law).__name__} of {release.label!r}"
    if release.sensitivity > 0 and not cost.size < _NOISELESS:
        return f"{release.label!r} is released with next to no noise"
    return ""


def _parts(releases: Iterable[Release], scale: float) -> Counter[Part]:
    """Costs of releases that see the same record: Gaussians are merged exactly."""
    parts: Counter[Part] = Counter()
    squares = []
    for release in releases:
        assert release.sensitivity is not None  # that, and no cost, is a gap: the caller has seen it
        cost = release.law.cost_of(release.value, scale * release.sensitivity)
        assert cost is not None
        if cost.kind == "gaussian":
            squares.append(cost.size**2)
        elif cost.size > 0:
            share = clean(cost.share) if cost.share else 0.0
            parts[Part(cost.kind, clean(cost.size), share=share, queries=cost.queries, falls=cost.falls)] += 1
    if any(squares):
        parts[Part("gaussian", clean(math.sqrt(math.fsum(squares))))] += 1
    return parts


def _sampled_parts(draw: Draw, releases: list[Release], scale: float) -> Counter[Part]:
    """Costs of all releases of one sampled batch: they see the same record or all do not, so they are amplified as one.

    A batch with Gaussian and other releases is not amplified: each kind by itself would be too little, as being in the
    batch is then paid for twice at rate q where both show it at once.
    """
    inner = _parts(releases, scale)
    if draw.rate == 1 or len({part.kind == "gaussian" for part in inner}) > 1:
        return inner
    found: Counter[Part] = Counter()
    sampling: Sampling = "poisson" if draw.kind == "poisson" else "without-replacement"
    pure = [(part.size, count) for part, count in inner.items() if part.kind != "gaussian"]
    gaussian = next((part.size for part in inner if part.kind == "gaussian"), 0.0)
    if gaussian:
        # Part sizes are for replace-one; the pair functions halve for add-remove themselves
        found[Part("sampled", clean(gaussian / scale), draw.rate, sampling)] += 1
    if pure:
        total = math.fsum(size * count for size, count in pure)
        found[Part("pure", total, draw.rate, sampling)] += 1
    return found
