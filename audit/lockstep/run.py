"""Lockstep: run an algorithm on neighbouring data sets at once, on one tape.

All runs get the same released values, so whatever differs between them later was not a function of the releases: an
:class:`Finding`. If nothing differs, the two sides' queries give the exact privacy loss of the run, the sum over
releases of log p(value | D, past) - log p(value | D', past). With secret batches p is a mixture over the participation
of the target record, one world each, exact if a batch matters through it alone. This is checked: an extra world draws
batches and inner randomness of its own, and its queries must be those of the world that participates likewise.

What is not seen: whatever reaches the outside by another way than the tape and the returned value (files, prints,
time, exceptions, which come out as they are), and what a run remembers from the one before. An algorithm with a cache
outside ``problem`` would hand every world the first world's numbers; ``movements`` then shows queries that never move.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from dpassay.reference.equality import same, snapshot
from dpassay.reference.errors import require
from dpassay.reference.neighbours import P, Pair, Run
from dpassay.reference.tape import LiveTape

from .hub import LONGEST, DrawnHub, ScriptedHub
from .outcome import LockstepRun, ScriptedRun
from .script import Dictation
from .tilting import PLAIN, Tilt, Tilts
from .worlds import SIDES, Place, Role


@dataclass(frozen=True)
class Needs:
    """Which worlds an algorithm needs, read off one live run."""

    sampled: bool
    fresh: int
    inner: bool


def needs(run: Run[P], problem: P) -> Needs:
    """Probe with one live run: secret sampling, number of fresh batches, inner randomness.

    Raises:
        BadInput: the run changed ``problem``, which the worlds of a lockstep run share.
    """
    tape, before = LiveTape(0), snapshot(problem)
    run(problem, tape)
    require(same(before, problem), "run", getattr(run, "__name__", "run"), "changes the problem that it is given")
    draws = [draw for draw in tape.transcript.draws if draw.hidden]
    inner = any(getattr(event, "kind", "") in ("secret", "noise") for event in tape.transcript.events)
    return Needs(any(draw.kind != "fresh" for draw in draws), sum(draw.kind == "fresh" for draw in draws), inner)


def places(what: Needs, check: bool) -> list[Place]:
    """The worlds: every hidden state on both sides, and the check world if asked for and of use."""
    require(not (what.sampled and what.fresh), "batches", "sampled and fresh", "one run may use one kind only")
    if what.fresh:
        states: list[tuple[Role, int | None]] = [("at", k) for k in (None, *range(what.fresh))]
    else:
        states = [("out", None), ("in", None)] if what.sampled else [("full", None)]
    found = [Place(side, role, k) for side in SIDES for role, k in states]
    if check and (what.sampled or what.fresh or what.inner):
        found.append(Place("D", "check"))
    return found


def lockstep(
    run: Run[P],
    pair: Pair[P],
    seed: Sequence[int],
    *,
    tilts: Sequence[Tilt] = (PLAIN,),
    tilt: int = 0,
    check: bool = True,
    what: Needs | None = None,
) -> LockstepRun:
    """Run ``run`` on both sides of ``pair`` with values drawn under ``tilts[tilt]``; weights are for all tilts.

    Args:
        run: the algorithm, ``run(problem, tape) -> output``.
        pair: the neighbours; probabilities are under ``pair.here``.
        seed: integers that name this run; the same seed gives the same run.
        check: also run the world that tests whether the mixture over participation is exact.
        what: result of :func:`needs`, when it is known already.
    """
    what = what or needs(run, pair.here)
    hub = DrawnHub(run, pair, seed, tilts if isinstance(tilts, Tilts) else Tilts(tilts), tilt, places(what, check))
    with closing(hub):
        hub.go()
    return hub.result


def scripted(
    run: Run[P],
    pair: Pair[P],
    seed: Sequence[int],
    script: Dictation,
    *,
    hidden: bool = False,
    hub_type: Callable[..., ScriptedHub] | None = None,
    longest: int = LONGEST,
) -> ScriptedRun:
    """One run on both sides with dictated values: no loss and no weight, only findings and movements.

    Args:
        hidden: the algorithm is known to draw secret batches, so worlds without the target are run beside. Found out
            (by a second run) where it is not known.
        hub_type: a hub that looks at more than :class:`ScriptedHub` does; else the one that the run names, if any.
        longest: calls after which the run is cut off.
    """
    kind: Any = hub_type or getattr(run, "hub_type", ScriptedHub)
    hub = kind(run, pair, seed, script, hidden, longest)
    with closing(hub):
        hub.go()
    if not hub.unprepared:
        found: ScriptedRun = hub.finish()
        return found
    return scripted(run, pair, seed, script, hidden=True, hub_type=hub_type, longest=longest)
