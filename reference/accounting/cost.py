"""Read the privacy cost off a transcript: an upper bound on (epsilon, delta), for a stated neighbour relation.

The accountant sees the releases that really happened. Gaussian releases alone are accounted in closed form (exact);
anything else by composing privacy loss distributions (dp-accounting, pessimistic). Sensitivities are the algorithm's
claims for replace-one neighbours; the lockstep run tests them. Under add-remove they are halved (for a mean with a
fixed divisor: a record appears instead of being replaced).

Records take part in a release fully, by sampling, or at most once over the run (fresh batches: the costs of different
fresh batches do not add up, the worst one counts).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpassay.reference.errors import require
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.transcript import Draw, Release, Transcript

from .gdp import gdp_delta, gdp_epsilon
from .libraries import privacy_loss_distribution
from .sampled import Relation, Sampling, pure_pld, sampled_pld

STEP = 1e-3  # grid of the privacy loss distributions; pessimistic whatever the value, 1e-4 changes the third digit
_NOISELESS = 1e100  # sensitivity over noise: beyond, squares overflow
_TINY = 1e-6  # sensitivity over noise of a Laplace release: below, dp-accounting has no grid point for it
_REST = 1e-12  # delta that is spent on what is composed with a very large loss


@dataclass(frozen=True)
class Part:
    """One cost: ``gaussian`` (``size`` = mu), ``sampled`` (mu of the un-sampled release), ``laplace`` or ``pure``.

    For ``laplace`` the size is sensitivity over scale of one scalar release, for ``pure`` it is the epsilon of the
    un-sampled releases (``rate`` below 1: they see the record with this probability).
    """

    kind: Literal["gaussian", "sampled", "laplace", "pure"]
    size: float
    rate: float = 1.0
    sampling: Sampling = "without-replacement"

    @property
    def pure_epsilon(self) -> float:
        """Of a ``pure`` part, amplified by sampling (exact)."""
        if self.rate == 1:
            return self.size
        return _clean(float(np.logaddexp(math.log1p(-self.rate), math.log(self.rate) + self.size)))


@dataclass(frozen=True)
class Account:
    """The cost of a run. ``common`` always counts; of ``alternatives`` (fresh batches) the worst one does.

    ``gap`` names what could not be accounted (then epsilon is infinite), or is empty.
    """

    common: tuple[tuple[Part, int], ...]
    alternatives: tuple[tuple[tuple[Part, int], ...], ...] = ((),)
    relation: Relation = "replace-one"
    gap: str = ""

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon that is proved at ``delta``."""
        require(0 < delta < 1, "delta", delta, "must lie in (0, 1)")
        if self.gap:
            return math.inf
        return max(_epsilon((*self.common, *extra), self.relation, delta) for extra in self.alternatives)

    def one_direction(self, delta: float) -> float | None:
        """What neighbours can show whose target pulls the same way at every step; None where nothing is sampled.

        Below :meth:`epsilon` for fixed-size batches, whose dominating pair covers every mixture of directions.
        """
        fixed = [part for part, _ in self.common if part.kind == "sampled" and part.sampling == "without-replacement"]
        if self.gap or not fixed or self.relation != "replace-one" or any(_off_grid(part) for part, _ in self.common):
            return None
        total = privacy_loss_distribution.identity(STEP)
        for part, count in self.common:
            one = _pld(part, self.relation)
            if part in fixed:
                one = privacy_loss_distribution.from_gaussian_mechanism(
                    1 / part.size, value_discretization_interval=STEP, sampling_prob=part.rate
                )
            total = total.compose(one.self_compose(count) if count > 1 else one)
        return float(total.get_epsilon_for_delta(delta))

    def worst(self, delta: float) -> tuple[tuple[Part, int], ...]:
        """The parts that cost the most at ``delta``: the common ones and the worst alternative."""
        return max(
            ((*self.common, *extra) for extra in self.alternatives),
            key=lambda parts: _epsilon(parts, self.relation, delta),
        )

    def delta(self, epsilon: float) -> float:
        """The smallest delta that is proved at ``epsilon``."""
        if self.gap:
            return 1.0
        return max(_delta((*self.common, *extra), self.relation, epsilon) for extra in self.alternatives)

    def mu(self) -> float | None:
        """The exact GDP parameter, where all is Gaussian without sampling; else None."""
        found = [_mu((*self.common, *extra)) for extra in self.alternatives]
        return None if self.gap or any(mu is None for mu in found) else max(mu for mu in found if mu is not None)

    @property
    def method(self) -> str:
        """How epsilon was computed."""
        if self.gap:
            return f"not accountable: {self.gap}"
        return "exact (Gaussian, closed form)" if self.mu() is not None else "upper bound (PLD)"


def account(transcript: Transcript, relation: Relation = "replace-one") -> Account:
    """The cost of the releases on one transcript."""
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
    gaps = [why for release in transcript.releases if (why := _gap(release))]
    if gaps:
        return Account((), relation=relation, gap=gaps[0])
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
    if isinstance(law, Gaussian) and law.std == 0 and release.sensitivity > 0:
        return f"{release.label!r} is released without noise"
    if not isinstance(law, Gaussian | Laplace | AboveThreshold) and getattr(law, "pure_epsilon", None) is None:
        return f"no accounting is known for the law {type(law).__name__} of {release.label!r}"
    if release.sensitivity > 0 and not _size(release, 1.0)[1] < _NOISELESS:
        return f"{release.label!r} is released with next to no noise"
    return ""


def _size(release: Release, scale: float) -> tuple[str, float]:
    """Kind and size of the cost of one un-sampled release."""
    law, sensitivity = release.law, scale * (release.sensitivity or 0.0)
    if isinstance(law, Gaussian):
        return "gaussian", sensitivity / law.std if sensitivity else 0.0
    if isinstance(law, Laplace):
        size = sensitivity / law.scale
        return ("laplace" if law.query.size == 1 and size > _TINY else "pure"), size
    if isinstance(law, AboveThreshold):  # Dwork and Roth 2014, Theorem 3.23, with general scales
        return "pure", sensitivity / law.threshold_scale + 2 * sensitivity / law.query_scale
    return "pure", float(law.pure_epsilon)  # type: ignore[attr-defined]


def _parts(releases: Iterable[Release], scale: float) -> Counter[Part]:
    """Costs of releases that see the same record: Gaussians are merged exactly."""
    parts: Counter[Part] = Counter()
    squares = []
    for release in releases:
        kind, size = _size(release, scale)
        if kind == "gaussian":
            squares.append(size**2)
        elif size > 0:
            parts[Part(kind, _clean(size))] += 1  # type: ignore[arg-type]
    if any(squares):
        parts[Part("gaussian", _clean(math.sqrt(math.fsum(squares))))] += 1
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
        found[Part("sampled", _clean(gaussian / scale), draw.rate, sampling)] += 1
    if pure:
        total = math.fsum(size * count for size, count in pure)
        found[Part("pure", total, draw.rate, sampling)] += 1
    return found


def _clean(size: float) -> float:
    """Equal up to rounding is equal, so that repeated releases are composed in one go (rounded up)."""
    digits = 12 - math.ceil(math.log10(size)) if size > 0 else 12
    return round(size + 10.0**-digits / 2, digits)


def _mu(parts: Iterable[tuple[Part, int]]) -> float | None:
    squares = []
    for part, count in parts:
        if part.kind != "gaussian":
            return None
        squares.append(count * part.size**2)
    return math.sqrt(math.fsum(squares))


def _epsilon(parts: tuple[tuple[Part, int], ...], relation: Relation, delta: float) -> float:
    mu = _mu(parts)
    if mu is not None:
        return gdp_epsilon(mu, delta)
    pure, large, rest = _split(parts)
    if large:  # the guarantees of both add up
        return pure + gdp_epsilon(large, delta / 2) + _epsilon(rest, relation, delta / 2)
    if pure:
        return pure + _epsilon(rest, relation, delta)
    return float(_composed(parts, relation).get_epsilon_for_delta(delta))


def _delta(parts: tuple[tuple[Part, int], ...], relation: Relation, epsilon: float) -> float:
    mu = _mu(parts)
    if mu is not None:
        return gdp_delta(epsilon, mu)
    pure, large, rest = _split(parts)
    if pure or large:
        left = epsilon - pure - (_epsilon(rest, relation, _REST) if large else 0.0)
        if not left >= 0:
            return 1.0
        return min(1.0, gdp_delta(left, large) + _REST) if large else _delta(rest, relation, left)
    return float(_composed(parts, relation).get_delta_for_epsilon(epsilon))


def _split(parts: tuple[tuple[Part, int], ...]) -> tuple[float, float, tuple[tuple[Part, int], ...]]:
    """Parts whose losses are too large for a grid: the sum of the pure ones, the mu of the Gaussians; and the rest."""
    pure = math.fsum(_worst(part) * count for part, count in parts if _off_grid(part) and part.kind != "gaussian")
    mu = _mu((part, count) for part, count in parts if _off_grid(part) and part.kind == "gaussian")
    return pure, mu or 0.0, tuple((part, count) for part, count in parts if not _off_grid(part))


def _worst(part: Part) -> float:
    return part.pure_epsilon if part.kind == "pure" else part.size


def _off_grid(part: Part) -> bool:
    return _worst(part) > {"gaussian": 40.0, "sampled": math.inf}.get(part.kind, 700.0)


def _composed(parts: tuple[tuple[Part, int], ...], relation: Relation) -> Any:
    total = privacy_loss_distribution.identity(STEP)
    with np.errstate(over="ignore"):  # dp-accounting's tail bound tries orders whose moments overflow to inf: harmless
        for part, count in parts:
            total = total.compose(_pld(part, relation).self_compose(count) if count > 1 else _pld(part, relation))
    return total


def _pld(part: Part, relation: Relation) -> Any:
    if part.kind == "sampled":
        return sampled_pld(part.rate, part.size, part.sampling, relation, STEP)
    if part.kind == "gaussian":
        return privacy_loss_distribution.from_gaussian_mechanism(1 / part.size, value_discretization_interval=STEP)
    if part.kind == "laplace":
        return privacy_loss_distribution.from_laplace_mechanism(1 / part.size, value_discretization_interval=STEP)
    return pure_pld(part.pure_epsilon, STEP)
