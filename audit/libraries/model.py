"""A model, tool or mechanism of a library on the tape, and its search.

Methods of a library are patched: they ask the current world's tape while a run is on, and are the library's own
otherwise. Every world of a lockstep run is a greenlet, and every greenlet has a context of its own, so "the current
tape" is a context variable. A patched method looks it up; where there is none it calls the method that it replaced. So
other code that uses the same library at the same time notices nothing, and patches are left in place.
"""

import math
import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any

from dpassay.audit.lockstep.hub import ScriptedHub
from dpassay.audit.lockstep.outcome import ScriptedRun
from dpassay.audit.lockstep.worlds import Request
from dpassay.audit.search.engine import search
from dpassay.audit.search.runner import Premises
from dpassay.audit.search.witness import Searched
from dpassay.reference import PrivacyClaim, Space, Tape
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.findings import Finding, Kind
from dpassay.reference.laws.law import Law

LOSS = "privacy loss"  # among the shares: the largest loss over the claimed epsilon
_MORE = 1e-6  # relative: of rounding
_TAPE: ContextVar[Tape | None] = ContextVar("tape", default=None)


def current_tape() -> Tape | None:
    """The tape of the run that is on in this world; None outside of runs."""
    return _TAPE.get()


def patch(owner: Any, name: str, answer: Callable[..., Any]) -> None:
    """An attribute that calls ``answer(tape, *arguments)`` while a run is on, and else what was there."""
    original = vars(owner)[name]

    @wraps(original)
    def method(*args: Any, **kwargs: Any) -> Any:
        tape = current_tape()
        return original(*args, **kwargs) if tape is None else answer(tape, *args, **kwargs)

    setattr(owner, name, method)


def on_tape(
    patched: Callable[[], None], work: Callable[[Any], Mapping[str, Any]], name: str
) -> Callable[[Any, Tape], None]:
    """``run(problem, tape)`` of code that uses a library.

    Args:
        patched: patches the library, which it may import; called before every run, and to be cached.
        work: ``work(problem)`` calls the library, unmodified, and returns what a user sees afterwards, by name. Each is
            revealed: computed from releases alone, it is the same on neighbouring data.
    """

    def run(problem: Any, tape: Tape) -> None:
        patched()
        token = _TAPE.set(tape)
        try:
            seen = work(problem)
        finally:
            _TAPE.reset(token)
        for label in sorted(seen):
            tape.reveal(label, seen[label])

    run.__name__ = name
    return run


def caller(package: str, skip: tuple[str, ...] = ()) -> FrameType | None:
    """The innermost frame inside ``package`` that is in none of the files or folders ``skip``."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename.replace("\\", "/")
        if f"/{package}/" in file and "/audit/libraries/" not in file and not any(part in file for part in skip):
            return frame
        frame = frame.f_back
    return None


def place(frame: FrameType | None) -> str:
    """``file.py:12`` of a frame."""
    return "own code" if frame is None else f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


class LossHub(ScriptedHub):
    """A scripted hub that adds up the loss of the values that it hands back."""

    def _answer(self, values: Any) -> None:
        ask = self._here[-1].ask
        if ask.call == "release" and ask.law is not None and self._there[-1].ask.law is not None:
            self.result.loss += _loss(ask.law, self._there[-1].ask.law, values)
        super()._answer(values)

    def _shares(self, ask: Request, here: list[Law], there: list[Law], moved: float, rate: float) -> None:
        """What is followed is the loss: separations of laws of many kinds have no common unit."""
        super()._shares(ask, here, there, moved, rate)
        self.result.separation = 0.0

    def finish(self) -> ScriptedRun:
        """The loss is what is followed, also by the search."""
        self.result.separation = min(abs(self.result.loss), 1e6)
        return super().finish()


def _loss(here: Law, there: Law, value: Any) -> float:
    one, other = here.log_density(value), there.log_density(value)
    return 0.0 if one == other else one - other  # -inf on both sides says nothing


class PureLoss(Premises):
    """Findings of a run as they are, and its loss against the claimed epsilon. Nothing is accounted."""

    hub_type = LossHub

    def findings(self, run: ScriptedRun, by_rows: bool) -> list[Finding]:
        """See the class."""
        found = list(run.findings)
        for label, share in run.shares.items():
            self.shares[label] = max(self.shares.get(label, 0.0), share)
        if not run.complete:  # the sides part: that is the finding; before, they may have been out of step already
            return [one for one in found if not one.kind.overshoots]
        if math.isnan(run.loss):  # a value that neither side can release: nothing is known
            return found
        size = abs(run.loss)
        epsilon = self._claim.epsilon
        self.shares[LOSS] = max(self.shares.get(LOSS, 0.0), size / epsilon)
        if size > epsilon * (1 + _MORE):
            detail = f"values that came out cost {size:.4g}, claimed epsilon {epsilon:.4g}"
            found.append(Finding(Kind.VIOLATED, LOSS, len(run.transcript.events), detail))
        return found


@dataclass(frozen=True)
class Model:
    """What is searched.

    Args:
        name: as the library calls it; with a word more where it is searched in several ways.
        run: on a tape, mostly made by :func:`on_tape`; it takes a schedule where the spaces make one.
        epsilon, delta: what it is told to keep, or claims.
        spaces: data and neighbours, by relation.
        output: what counts as seen, in words.
        examples: of the search.
        pairs: by relation, neighbours that are known to move every query by all that is declared, as
            :func:`~dpassay.audit.assaying.worst.pair_of` writes them: how large a bound is shown shall not hang on how
            lucky a search was.
        shown: of a relation, what is realised at least by the law of the outputs, and how that is known; for what no
            audit on the tape can be made of.
    """

    name: str
    run: Callable[..., Any]
    epsilon: float
    spaces: Mapping[Relation, Space]
    output: str = "fitted attributes"
    examples: int = 150
    delta: float = 0.0
    pairs: Mapping[Relation, Mapping[str, Any]] = field(default_factory=dict)
    shown: Callable[[Relation], tuple[float, str]] | None = None

    def search(self, relation: Relation, seed: int = 0, examples: int | None = None) -> Searched:
        """Search for whatever breaks the claim under one relation.

        A pure claim is held to the loss; one with a delta to what the releases add up to.
        """
        claim = PrivacyClaim(self.epsilon, self.delta, None, relation)
        return search(
            self.run,
            self.spaces[relation],
            claim,
            examples=examples or self.examples,
            seed=seed,
            tracing=False,
            premises=PureLoss(claim, relation) if self.delta == 0 else None,
        )
