"""The audit of plain NumPy code: in every way that it can be read, before it is accused."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpassay.audit.row import Effort
from dpassay.audit.search.ground import AllOf
from dpassay.audit.verdict import Verdict
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.findings import Kind
from dpassay.reference.neighbours import Pair
from dpassay.reference.space import Space

from .by_pair import by_pair, of_one_pair
from .doubtful import of_known, refuse_doubtful
from .habits import SEEN
from .measured import FOUND, trial_pairs, with_movements
from .mechanism import PlainMechanism
from .own_generators import of_fixed_seeds, own_randomness
from .places import NotUnderstood
from .reused import judged_where_noise_is_reused, refuse_a_minimiser
from .scales import judged_where_scales_follow_data
from .starts import readings_with_known
from .thrown_away import judged_by_what_is_seen, judged_where_ends_are_hidden, shown_by
from .unlikely import without_unlikely

if TYPE_CHECKING:
    from dpassay.audit.evidence.assay import Assay

_FURTHER = 3  # times that a movement larger than the one measured is taken over


def assay_plain(
    plain: PlainMechanism,
    where: Space | Pair[Any],
    claim: PrivacyClaim,
    effort: Effort,
    audit: Callable[..., Assay],
) -> Assay:
    """The first reading that stands, or without any the first one that does not, with what is taken for granted.

    Args:
        plain: the mechanism.
        where: its space, or a pair.
        claim: to be judged.
        effort: how hard to look.
        audit: of what runs on a tape: ``audit(run, where, claim, effort, premises=...)``.

    Raises:
        BadInput: it draws randomness of its own, or noise or a draw is used in a way that is not followed.
    """
    found = _assay(plain, where, claim, effort, audit)
    seen = "" if found.verdict.failed and found.as_read else SEEN  # the row tells the whole reading
    return replace(found, why="; ".join(part for part in (found.why, of_known(found.read_as), FOUND, seen) if part))


def _assay(
    plain: PlainMechanism,
    where: Space | Pair[Any],
    claim: PrivacyClaim,
    effort: Effort,
    audit: Callable[..., Assay],
) -> Assay:
    examples = max(1, effort.examples)
    pairs = [where] if isinstance(where, Pair) else trial_pairs(where, effort.seed)
    failed: list[tuple[PlainMechanism, Assay]] = []
    open_ended: Assay | None = None
    refused: NotUnderstood | None = None
    doubt: NotUnderstood | None = None  # about a reading that would stand
    for reading in _readings(plain, pairs, effort.seed, claim.delta):
        refuse_a_minimiser(reading)
        mechanism = with_movements(reading, where, claim, examples, effort.seed)
        premises = of_one_pair(mechanism, claim, where)
        found = audit(mechanism, where, claim, effort, premises=premises)
        for _ in range(_FURTHER):
            further = _further(mechanism, found)
            if not further:
                break
            mechanism = mechanism.moving({**mechanism.habits.shares, **further}, 0.0)
            premises = of_one_pair(mechanism, claim, where)
            found = audit(mechanism, where, claim, effort, premises=premises)
        if mechanism.refused and found.verdict is not Verdict.VIOLATED:
            # runs that end because a use of noise is not followed: no leak where one side does, no pass where both do
            refused = refused or mechanism.refused
            continue
        found = without_unlikely(found, mechanism, premises, where, claim, effort)
        found = replace(by_pair(mechanism, found, where, claim, effort, premises), read_as=mechanism)
        if premises.unlikely.doubt and not found.verdict.failed:
            doubt = doubt or premises.unlikely.doubt
            continue
        if not found.verdict.failed and math.isfinite(found.accounted):
            return found
        if not found.verdict.failed:  # another reading may be accounted
            open_ended = open_ended or found
            continue
        failed.append((mechanism, found))
        if found.by == "outputs":  # they speak for themselves, however the code is read
            return _with_seeds(mechanism, found, pairs)
    if open_ended is not None:
        return open_ended
    if doubt:
        raise doubt
    if refused and not failed:
        raise refused
    mechanism, found = _accused(failed)
    shown = [where] if isinstance(where, Pair) else _shown_on(where, mechanism, found)
    refuse_doubtful(mechanism, found.findings, shown, effort.seed)
    bound = judged_where_noise_is_reused(mechanism, found.findings, shown, claim, effort)
    if bound is not None:
        return shown_by(bound, found)
    by_losses = judged_where_scales_follow_data(mechanism, found, shown, claim, effort, audit)
    if by_losses is not None:
        return by_losses
    by_outputs = judged_by_what_is_seen(failed, where, claim, effort)
    by_outputs = by_outputs or judged_where_ends_are_hidden(mechanism, found, shown, claim, effort)
    if by_outputs is not None:
        return by_outputs
    return _with_seeds(mechanism, found, pairs)


def _readings(plain: PlainMechanism, pairs: Sequence[Pair[Any]], seed: int, delta: float) -> Iterator[PlainMechanism]:
    """Every way to read it; with some of its noise known only where it stands in no other."""
    first = None
    for reading in plain.readings(pairs, seed, delta):
        first = first or reading
        yield reading
    if first is not None and first.habits.whole is None:
        plain.noise_lines.update(first.noise_lines)
        yield from readings_with_known(plain, pairs, seed)


def _accused(failed: Sequence[tuple[PlainMechanism, Assay]]) -> tuple[PlainMechanism, Assay]:
    """The reading that is told: the first one, unless what leaks in it is a draw that another one reads as known."""
    clear = [one for one in failed if one[0].habits.known and not any(f.kind.leaks for f in one[1].findings)]
    leaks = any(one.kind.leaks for one in failed[0][1].findings)
    return clear[0] if leaks and clear else failed[0]


def _with_seeds(run: PlainMechanism, found: Assay, pairs: Sequence[Pair[Any]]) -> Assay:
    """What leaks beside the releases may be noise of a generator that the code made for itself: that is said first."""
    if not any(one.kind.leaks for one in found.findings):
        return found
    told = of_fixed_seeds(own_randomness(run.mechanism, pairs[0].here))
    return replace(found, why="; ".join(part for part in (told, found.why) if part))


def _further(run: PlainMechanism, found: Assay) -> Mapping[str, float]:
    """Movements, as shares of the noise, that nobody declared and the audit found to be larger than those measured."""
    if any(one.kind.leaks for one in found.findings):
        return {}
    exceeded = {one.label for one in found.findings if one.kind is Kind.SENSITIVITY_EXCEEDED}
    known, shares = run.habits.shares, dict(found.searched.shares)
    for label, moved in found.movements.items():  # of the worst pair, in the runs that the bound was made of
        shares[label] = max(moved.needed, shares.get(label, 0.0))
    return {
        label: known[label] * shares[label] * (1 + 1e-9)
        for label in exceeded & set(known) & set(shares)
        if label not in run.habits.sensitivities
    }


def _shown_on(where: Space, run: PlainMechanism, found: Assay) -> list[Pair[Any]]:
    """The pairs of neighbours of the witnesses."""
    ground = AllOf(run, where)
    return [ground.setting(one.data).pair for one in found.searched.witnesses if one.data.rows is not None]
