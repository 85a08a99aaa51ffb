"""Noisy numbers that the code draws and throws away: they count as seen, so what they add up to accuses nobody.

Code that draws again until a number lies in a range shows the last number only. Read as releases, every number that was
turned down costs, and without end. A number is thrown away if the run without it has the same output: neither it nor
the decision about it is seen. Where the others keep to the claim, the outputs alone decide. So they do where neighbours
draw more or fewer numbers and the outputs agree all the same, as for a key that is counted, and too rare to be told.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpassay.audit.blackbox.detect import epsilon_of_outputs
from dpassay.audit.blackbox.outputs import draw
from dpassay.audit.results import SoundBound
from dpassay.audit.row import Effort
from dpassay.audit.verdict import Verdict
from dpassay.reference.accounting.cost import account
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.equality import same
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Kind
from dpassay.reference.laws.law import Law
from dpassay.reference.neighbours import Pair
from dpassay.reference.replay import ReplayTape
from dpassay.reference.space import Space
from dpassay.reference.tape import LiveTape, ScriptedTape
from dpassay.reference.transcript import Release, Transcript

from .mechanism import PlainMechanism
from .places import WAY_OUT, NotUnderstood

if TYPE_CHECKING:
    from dpassay.audit.evidence.assay import Assay

OUTPUTS = 5_000  # on each side
_TRIALS = 5  # runs that are looked at


def judged_by_what_is_seen(
    failed: Sequence[tuple[PlainMechanism, Assay]], where: Space | Pair[Any], claim: PrivacyClaim, effort: Effort
) -> Assay | None:
    """None where in every reading what is not thrown away breaks the claim too; else the audit judged by outputs alone.

    Args:
        failed: the readings that do not stand, with their audits.
        where: the space, or the pair, that they were audited on.

    Raises:
        NotUnderstood: naming what is thrown away, where the outputs alone do not refute the claim.
    """
    for run, found in failed:
        pair = where if isinstance(where, Pair) else found.searched.worst.pair if found.searched.worst else None
        lines = _needed(run, found, pair, claim, effort) if pair is not None else []
        if pair is None or not lines:
            continue
        bound = of_outputs(run, pair, claim, effort)
        if bound.epsilon <= claim.epsilon:
            raise _doubtful(lines)
        return shown_by(bound, found)
    return None


def judged_where_ends_are_hidden(
    run: PlainMechanism, found: Assay, pairs: Sequence[Pair[Any]], claim: PrivacyClaim, effort: Effort
) -> Assay | None:
    """None unless all that leaks is how many numbers are drawn, unseen in the outputs; else judged by these alone.

    Args:
        run: the reading that was audited.
        found: its audit.
        pairs: of the witnesses.

    Raises:
        NotUnderstood: naming the numbers, where the outputs do not refute the claim on any of the pairs.
    """
    leaks = [one for one in found.findings if one.kind.leaks]
    ends = [one for one in leaks if one.kind in (Kind.CALL, Kind.EARLY_END)]
    if not ends or not pairs or any(one not in ends and one.kind is not Kind.OUTPUT for one in leaks):
        return None
    both = [(one.here, one.there) for one in pairs] + [(one.there, one.here) for one in pairs]
    if not all(_agree(run, *data, effort.seed + number) for data in both for number in range(_TRIALS)):
        return None
    for pair in pairs:
        with contextlib.suppress(BadInput):  # outputs that make no table, such as nothing but empty lists
            bound = of_outputs(run, pair, claim, effort)
            if bound.epsilon > claim.epsilon:
                return shown_by(bound, found)
    lines = ", ".join(sorted({one.label for one in ends}))
    what = "is drawn more often for one of two neighbours than for the other, but their outputs agree"
    raise NotUnderstood("noise", lines, f"{what} ({2 * OUTPUTS:,} refute nothing); {WAY_OUT}")


def _agree(run: PlainMechanism, one: Any, other: Any, seed: int) -> bool:
    """Is the output on the other data the same, given the values released on the one as far as they go?"""
    transcript = recorded(run, one, seed)
    left = list(transcript.releases)

    def answer(label: str, law: Law, step: int) -> Any:
        return left.pop(0).value if left and left[0].label == label else None

    try:
        return same(run(other, ScriptedTape(answer, seed)), transcript.output)
    except Exception:  # code of others, or values that it cannot have
        return False


def shown_by(bound: SoundBound, found: Assay) -> Assay:
    """The audit, judged by outputs."""
    why = f"the outputs alone, without the releases, show epsilon >= {bound.epsilon:.3g}; {found.why}"
    return replace(found, verdict=Verdict.VIOLATED, realised=bound.epsilon, by="outputs", why=why)


def _needed(run: PlainMechanism, found: Assay, pair: Pair[Any], claim: PrivacyClaim, effort: Effort) -> list[str]:
    """Lines of what is thrown away, if without it the claim is kept."""
    if any(one.kind.leaks or one.kind.overshoots for one in found.findings):
        return []
    lines: set[str] = set()
    for number in range(_TRIALS):
        transcript = recorded(run, pair.here, effort.seed + number)
        unseen = thrown_away(run, pair.here, transcript)
        events = [one for one in transcript.events if not any(one is other for other in unseen)]
        rest = account(replace(transcript, events=events), claim.relation)
        if not rest.unknown and rest.epsilon(claim.delta) > claim.epsilon:
            return []
        lines |= {one.label for one in unseen}
    return sorted(lines)


def _doubtful(lines: Sequence[str]) -> NotUnderstood:
    what = "is drawn and thrown away; it counts as seen, and then the releases add up to more than is claimed"
    instead = f"if nobody sees it, audit the outputs alone with `dpassay blackbox` ({2 * OUTPUTS:,} refute nothing)"
    return NotUnderstood("noise", ", ".join(lines), f"{what}; {instead}, or write the mechanism on a tape")


def thrown_away(run: PlainMechanism, data: Any, transcript: Transcript) -> list[Release]:
    """Releases without which the run has the same output, all others having the same values."""
    return [one for one in transcript.releases if one.law.scale > 0 and _goes_without(run, data, transcript, one)]


def recorded(run: PlainMechanism, data: Any, seed: int) -> Transcript:
    """One run, with its output."""
    tape = LiveTape(seed)
    tape.transcript.output = run(data, tape)
    return tape.transcript


def _goes_without(run: PlainMechanism, data: Any, transcript: Transcript, release: Release) -> bool:
    events = [one for one in transcript.events if one is not release]
    tape = ReplayTape(replace(transcript, events=events))
    try:
        output = run(data, tape)
    except Exception:  # it makes other calls then, or code of others does not stand it
        return False
    return len(tape.transcript.events) == len(events) and same(output, transcript.output)


def of_outputs(run: PlainMechanism, pair: Pair[Any], claim: PrivacyClaim, effort: Effort) -> SoundBound:
    """What outputs alone show of a pair."""
    rng = np.random.default_rng([effort.seed, 72])
    here, there = (draw(run.mechanism, data, OUTPUTS, rng) for data in (pair.here, pair.there))
    return epsilon_of_outputs(here, there, claim.delta, rng, effort.confidence)
