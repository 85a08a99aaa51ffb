"""Transcripts as events of dp-accounting, for its accountants: an independent second opinion."""

from __future__ import annotations

import math
from typing import Any

from dp_accounting import dp_event, privacy_accountant, rdp

from dpassay.reference.errors import require
from dpassay.reference.transcript import Transcript

from .cost import Part, account
from .sampled import Relation


def dp_event_of(transcript: Transcript, relation: Relation = "replace-one") -> Any:
    """The releases as a dp-accounting event (for its accountants; noise multipliers are std / sensitivity)."""
    found = account(transcript, relation)
    require(not found.gap, "transcript", found.gap, "cannot be written as a dp-accounting event")
    events = []
    for part, count in found.worst(1e-5):
        event: Any
        if part.kind == "gaussian":
            event = dp_event.GaussianDpEvent(1 / part.size)
        elif part.kind == "laplace":
            event = dp_event.LaplaceDpEvent(1 / part.size)
        elif part.kind in ("pure", "above-threshold"):
            event = dp_event.EpsilonDeltaDpEvent(part.pure_epsilon, 0.0)
        else:
            event = _sampled_event(part, 1.0 if relation == "replace-one" else 0.5)
        events.append(dp_event.SelfComposedDpEvent(event, count))
    return dp_event.ComposedDpEvent(events)


def rdp_epsilon(transcript: Transcript, delta: float) -> float:
    """Epsilon by dp-accounting's RDP accountant (replace-one): looser, an independent check."""
    accountant = rdp.RdpAccountant(neighboring_relation=privacy_accountant.NeighboringRelation.REPLACE_ONE)
    return float(accountant.compose(dp_event_of(transcript)).get_epsilon(delta))


def _sampled_event(part: Part, scale: float) -> Any:
    inner = dp_event.GaussianDpEvent(1 / (scale * part.size))
    if part.sampling == "poisson":
        return dp_event.PoissonSampledDpEvent(part.rate, inner)
    return dp_event.SampledWithoutReplacementDpEvent(10**6, math.ceil(part.rate * 10**6 - 1e-6), inner)
