"""Noise that is added to data more than once: objective perturbation, or a draw that should have been made anew.

A loop that adds the same draw to each gradient ends near the minimiser of a perturbed objective, and nobody sees the
gradients. Read as a release of the first one, everything after it leaks. So where nothing else leaks and the code hands
out no more numbers than it draws, the outputs alone decide. More numbers than draws are tied to each other by the data,
and whoever sees them has the draw: there the reading stands.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpassay.audit.results import SoundBound
from dpassay.audit.row import Effort
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Finding, Kind
from dpassay.reference.neighbours import Pair
from dpassay.reference.tape import LiveTape

from .leaking import leaking
from .mechanism import PlainMechanism
from .places import WAY_OUT, NotUnderstood
from .thrown_away import OUTPUTS, of_outputs

INSTEAD = (
    "objective perturbation is private at the exact minimiser only, which no run shows: add noise to the minimiser "
    "instead (output perturbation)"
)
MANY = 300  # sums with data that one noise is in, in one run: no loop of a few steps, but a minimiser


def refuse_a_minimiser(run: PlainMechanism) -> None:
    """Every run would take each of these sums apart, for each of thousands of runs.

    Raises:
        NotUnderstood: naming the noise.
    """
    if run.sums > MANY:
        why = f"is added to data {run.sums:,} times in one run, as by a minimiser: too often to be followed; {INSTEAD}"
        raise NotUnderstood("noise", ", ".join(sorted(run.reused)), f"{why}, {WAY_OUT}")


def judged_where_noise_is_reused(
    run: PlainMechanism, findings: Sequence[Finding], pairs: Sequence[Pair[Any]], claim: PrivacyClaim, effort: Effort
) -> SoundBound | None:
    """None unless all that leaks comes of noise that is used again, unseen; else what the outputs alone show.

    Raises:
        NotUnderstood: naming the noise, where the outputs do not refute the claim.
    """
    leaks = {(one.kind, one.label) for one in findings if one.kind.leaks}
    if not (leaks and run.reused and pairs):
        return None
    hidden = set().union(*(by_reuse(run, pair, effort.seed) for pair in pairs))
    if not leaks <= hidden or any(_more_numbers_than_draws(run, pair.here, effort.seed) for pair in pairs):
        return None
    with contextlib.suppress(BadInput):  # outputs that make no table
        bound = of_outputs(run, pairs[0], claim, effort)
        if bound.epsilon > claim.epsilon:
            return bound
    what = "is added to data more than once; if the first sum counts as seen, what comes later leaks"
    instead = f"if only the output is seen, {2 * OUTPUTS:,} outputs refute nothing; {INSTEAD}"
    raise NotUnderstood("noise", ", ".join(sorted(run.reused)), f"{what}; {instead}, {WAY_OUT}")


def by_reuse(run: PlainMechanism, pair: Pair[Any], seed: int) -> set[tuple[Kind, str]]:
    """What differs beside the releases, and does not where noise is drawn anew for each further sum."""
    renewed = PlainMechanism(run.mechanism, replace(run.habits, renewed=True))
    return leaking(run, pair, seed) - leaking(renewed, pair, seed)


def _more_numbers_than_draws(run: PlainMechanism, data: Any, seed: int) -> bool:
    return _numbers(run(data, LiveTape(seed))) > run.drawn


def _numbers(output: Any) -> int:
    """How many numbers an output holds."""
    if isinstance(output, dict):
        return sum(map(_numbers, output.values()))
    if isinstance(output, list | tuple):
        return sum(map(_numbers, output))
    return int(np.size(output))
