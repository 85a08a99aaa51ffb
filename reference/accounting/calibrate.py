"""The one calibrator: run once at any noise, read what was released, scale the noise until the account fits.

No count of releases is typed a second time: the dry run makes the releases, the accountant counts them. As all costs
depend on noise only through ``sensitivity / scale``, one transcript gives the account at every noise level.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from dpassay.reference.errors import BadInput, require_budget
from dpassay.reference.findings import Finding, Kind
from dpassay.reference.noise import Multipliers
from dpassay.reference.tape import LiveTape, ScriptedTape, Tape

from .cost import Account, account
from .parts import Part
from .sampled import Relation

MARGIN, _OFF = 1e-6, 1e-7  # share by which the noise is rounded up: ten times what the root-finding may be off
_WIDEST = 60.0  # natural log of the largest factor tried: beyond, noise or signal drowns in rounding


class Uncalibrated(BadInput):
    """No noise makes a run meet its budget.

    ``finding`` stands in the way: a bare release, or a cost that no noise brings down to the budget; None where the
    cost of a release is not known.
    """

    def __init__(self, field: str, value: object, why: str, finding: Finding | None):
        super().__init__(field, value, why)
        self.finding = finding

    def __reduce__(self) -> tuple[Any, ...]:  # it may come out of another process
        return type(self), (self.field, self.value, self.why, self.finding)


S = TypeVar("S")


def noise_for(
    run: Callable[[Any, Any, Tape], Any],
    schedule: S,
    problem: Any,
    epsilon: float,
    delta: float,
    *,
    relation: Relation = "replace-one",
    longest: Callable[[str, Any, int], Any] | None = None,
) -> S:
    """The noise that a budget asks for: run once, read the account, scale the noise until it fits.

    Args:
        run: ``run(problem, schedule, tape)``; run once, on a seed of its own.
        schedule: a dataclass with a field ``noise`` that holds :class:`Multipliers`; their ratios stay as they are.
        epsilon: of the budget, positive.
        delta: of the budget, in (0, 1).
        relation: ``replace-one`` or ``add-remove`` neighbours.
        problem: any data set of the right size: the releases may not depend on it but through released values.
        longest: answers under which the most releases happen, for algorithms that may stop early (as in
            ``Instance.longest``).

    Returns:
        The schedule with its noise multipliers scaled so that the whole run is (epsilon, delta)-DP, and hardly more
        (the noise is rounded up by one part in a million). A run that costs nothing whatever its noise is, as one
        that releases nothing, keeps the noise that it has.

    Raises:
        Uncalibrated: something is released without noise, or no noise in reach meets the budget (a ``BadInput``).

    Example:
        >>> from dataclasses import dataclass
        >>> from dpassay.reference import Multipliers, noise_for
        >>> @dataclass(frozen=True)
        ... class Schedule:
        ...     steps: int
        ...     noise: Multipliers
        >>> def run(data, schedule, tape):
        ...     for _ in range(schedule.steps):
        ...         tape.gaussian("g", sum(data), std=schedule.noise.std("g", 1.0), sensitivity=1.0)
        >>> found = noise_for(run, Schedule(4, Multipliers({"g": 1.0})), [1.0, 2.0], epsilon=1.0, delta=1e-5)
        >>> round(found.noise["g"], 3)
        7.461

    Source: inverts :func:`~dpassay.reference.account`; costs depend on noise through sensitivity / scale alone.
    """
    tape: LiveTape = ScriptedTape(longest) if longest else LiveTape(0)
    run(problem, schedule, tape)
    factor = noise_factor(account(tape.transcript, relation), epsilon, delta)
    noise: Multipliers = schedule.noise  # type: ignore[attr-defined]
    return replace(schedule, noise=noise.scaled(factor))  # type: ignore[type-var]


def noise_factor(found: Account, epsilon: float, delta: float) -> float:
    """The factor by which every noise scale must grow (or may shrink) for ``found`` to be (epsilon, delta)-DP.

    For runs whose noise depends on something released (a number of steps): give the account of what is left to release.
    The root is found in logarithms and rounded up by :data:`MARGIN`. Where every factor will do (nothing is left to
    release) it is one: nothing says that less noise is wanted. Uncalibrated where none will do.
    """
    require_budget(epsilon, delta)
    if found.gap:
        bare = None if found.unknown else Finding(Kind.BARE_RELEASE, found.gap_label, 0, found.gap)
        raise Uncalibrated("transcript", found.gap, "no noise level makes this accountable", bare)

    def over(log_factor: float) -> float:
        return scaled(found, math.exp(log_factor)).epsilon(delta) - epsilon

    low = high = 0.0
    while over(high) > 0:
        low, high = high, high + 0.7
        if high > _WIDEST:
            why = "no noise in reach meets this budget"
            raise Uncalibrated("epsilon", epsilon, why, Finding(Kind.OVER_BUDGET, "", 0, why))
    while over(low) <= 0:
        low, high = low - 0.7, low
        if low < -_WIDEST:
            return 1.0
    from scipy.optimize import brentq  # here: it takes longer to load than most calls take to run

    return math.exp(float(brentq(over, low, high, xtol=_OFF)) + MARGIN)


def scaled(found: Account, factor: float) -> Account:
    """The account of the same releases with every noise scale multiplied by ``factor``."""

    def less(parts: tuple[tuple[Part, int], ...]) -> tuple[tuple[Part, int], ...]:
        return tuple((replace(part, size=part.size / factor), count) for part, count in parts)

    return replace(found, common=less(found.common), alternatives=tuple(less(extra) for extra in found.alternatives))
