"""What the declared noise does to epsilon: the vector's run and the other implementation's, accounted."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.reference.accounting.cost import account
from dpassay.reference.errors import BadInput, printable
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Law
from dpassay.reference.transcript import Draw, Release, Transcript

from .differences import SCALES, Data
from .rounding import numbers, visible_events


@dataclass(frozen=True)
class Effect:
    """The two epsilons at the vector's delta.

    Args:
        reference: of the vector's run; None where the accountant does not know a law.
        yours: of the other run, by its own noise and batches and the reference's sensitivities.
        bare: labels that it releases without noise, where the reference has some.
        cut: both are of the calls before one that differs.
    """

    delta: float
    reference: float | None
    yours: float | None
    bare: tuple[str, ...] = ()
    cut: bool = False

    def __str__(self) -> str:
        if self.bare:
            labels = printable(", ".join(repr(one) for one in self.bare))
            return f"{_shown(self.reference)} for the reference, infinite for yours: {labels} is not noised"
        if self.reference is None or self.yours is None:
            return "not accounted: a law or a scale that the accountant does not know"
        until = ", up to the call that differs" if self.cut else ""
        reference, yours = _shown(self.reference), _shown(self.yours)
        both = f"{yours} for both" if reference == yours else f"{reference} for the reference, {yours} for yours"
        return f"{both}, by the noise that is declared{until} (delta {self.delta:g})"

    def as_data(self) -> dict[str, Any]:
        """For JSON."""
        yours = math.inf if self.bare else self.yours
        return {"delta": self.delta, "reference": self.reference, "yours": yours, "not_noised": list(self.bare)}


def effect(vector: Data, given: Data) -> Effect:
    """What the other implementation's declared noise does to epsilon, if its queries are those of the reference.

    What a record does to a query that differs cannot be known from one run: the reference's sensitivities are used.
    Where the other run ends early, at a call that the vector does not have, the reference's is cut there too.
    """
    cut = given.get("kind") == "diverged"
    theirs = visible_events(given)[: -1 if cut else None]
    ours = visible_events(vector)[: len(theirs) if cut else None]
    bare, known = ({str(event["label"]) for event in events if _bare(event)} for events in (theirs, ours))
    reference, yours = epsilon_of(vector, ours), epsilon_of(vector, theirs)
    return Effect(vector["claim"]["delta"], reference, yours, tuple(sorted(bare - known)), cut)


def _bare(event: Data) -> bool:
    return any(event.get(name) == 0 and type(event.get(name)) in (int, float) for name in SCALES)


def _shown(epsilon: float | None) -> str:
    return "unknown" if epsilon is None else "infinite" if math.isinf(epsilon) else f"{epsilon:.3g}"


def epsilon_of(vector: Data, events: Sequence[Data]) -> float | None:
    """Of these events, each with the sensitivity of the vector's event of the same label and place among those."""
    stated: dict[str, list[Any]] = {}
    for event in reversed(vector["events"]):
        if event["event"] == "release":
            stated.setdefault(event["label"], []).append(event["sensitivity"])
    transcript = Transcript()
    try:
        for event in events:
            one = _event(transcript, event, stated)
            if one is not None:
                transcript.events.append(one)
        relation = vector["claim"]["relation"]
        return account(transcript, relation).epsilon(vector["claim"]["delta"])
    except (BadInput, KeyError, TypeError, ValueError, OverflowError, IndexError):
        return None  # what they said cannot be accounted: an unknown law, scales that are no numbers


def _event(transcript: Transcript, event: Data, stated: Mapping[str, list[Any]]) -> Release | Draw | None:
    if event["event"] == "draw":
        n, size = int(event["n"]), len(event["indices"])
        rate = float(event.get("rate", size / n))
        transcript.batches.append(np.asarray(event["indices"], dtype=np.int64))
        return Draw(len(transcript.batches) - 1, event["label"], event["kind"], n, event.get("size"), rate)
    if event["event"] != "release" or event.get("law") is None:
        return None
    label, known = event["label"], stated.get(event["label"], [])
    sensitivity = known.pop() if known else event.get("sensitivity")
    scaled = None if sensitivity is None else float(sensitivity)
    return Release(len(transcript.events), label, _law(event), scaled, tuple(event.get("batches", ())), None)


def _law(event: Data) -> Law:
    name = event["law"]
    if name in ("Gaussian", "Laplace"):
        query = np.array(numbers(event["query"]))
        return Gaussian(query, float(event["std"])) if name == "Gaussian" else Laplace(query, float(event["scale"]))
    if name == "AboveThreshold":
        scales = float(event["threshold_scale"]), float(event["query_scale"])
        asked = iter(numbers(event["queries"]))  # as far as they were evaluated
        told = event.get("count"), float(event.get("falls", 1.0))
        return AboveThreshold(asked, float(event["threshold"]), *scales, *told)
    raise BadInput("law", name, "has no accounting here")
