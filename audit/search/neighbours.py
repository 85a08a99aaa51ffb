"""The worst neighbours of an algorithm on data of one shape: the audit's search finds pairs, a fresh sample decides.

The search may look at anything, because nothing it saw counts: the pairs that it moved the furthest are simplified and
judged on new seeds, with the level split between them. The one that shows most is saved as numbers that replay.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.audit.likelihood.bound import audit_likelihood
from dpassay.audit.likelihood.samplers import LockstepSampler
from dpassay.audit.lockstep.run import scripted
from dpassay.audit.lockstep.script import DRAWN
from dpassay.audit.plain import json_text
from dpassay.audit.results import AssumedEstimate, SoundBound
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import read_json, write_text
from dpassay.reference.neighbours import Pair, Run
from dpassay.reference.space import Rows, Space
from dpassay.reference.types import Array

from .engine import Engine
from .ground import AllOf, Data, Setting
from .premises import Premises
from .quiet import quiet
from .searched import Searched
from .strategies import Same
from .uphill import SEPARATION

FORMAT = 1  # of a witness file
OUTSIDE = "outside the accounting"  # in the evidence: what replay found
_SEEDS = (1, 2)  # of the drawn runs by which pairs are ranked
_KEPT = 0.98  # of the separation, by a simpler pair


@dataclass(frozen=True, eq=False)
class Candidate:
    """A pair as numbers: the rows of D (row 0 is the target) and what replaces row 0 on D'."""

    name: str
    rows: Array
    there: Array


@dataclass(frozen=True)
class Where:
    """Data of one shape: n records of dimension d in a ball, and how a pair of problems is made of them.

    Raises:
        BadInput: fewer than two records, no dimension, or a radius that is not positive and finite.
    """

    n: int
    d: int
    radius: float
    build: Callable[[Array, Array], Pair[Any]]  # rows on D (n, d), replacement of row 0 (d,)

    def __post_init__(self) -> None:
        good = self.n >= 2 and self.d >= 1 and 0 < self.radius < math.inf
        require(good, "n, d, radius", (self.n, self.d, self.radius), "need n >= 2, d >= 1, a finite radius")

    @property
    def space(self) -> Space:
        """The same for the search."""
        rows = Rows("d", self.radius)
        return Space(rows, {"n": (self.n,), "d": (self.d,)}, lambda rows, sizes: self.build(rows, rows[0]).here)

    def pair(self, candidate: Candidate) -> Pair[Any]:
        """The neighbouring problems of a candidate."""
        return self.build(candidate.rows, candidate.there)

    def inside(self, rows: Array) -> Array:
        """Rows scaled back into the ball."""
        length = np.linalg.norm(rows, axis=-1, keepdims=True)
        return np.asarray(rows * np.minimum(1.0, self.radius / np.maximum(length, 1e-300)))

    def plainest(self, others: float = 0.0) -> Candidate:
        """The target and its opposite along the first axis, the others ``others`` times the target."""
        axis = np.zeros(self.d)
        axis[0] = self.radius
        return Candidate("along the first axis", np.vstack([axis, np.tile(others * axis, (self.n - 1, 1))]), -axis)


class Paired(AllOf):
    """The ground of :class:`Where`: the target goes to row 0, which is the row that ``build`` replaces."""

    def __init__(self, run: Run[Any], where: Where):
        super().__init__(run, where.space)
        self._mechanism, self._where = run, where

    def setting(self, data: Data) -> Setting:
        """The pair that ``build`` makes."""
        return Setting(self._mechanism, self._where.pair(candidate_of("", data)), {}, data)


def candidate_of(name: str, data: Data) -> Candidate:
    """The target first."""
    assert data.rows is not None and data.there is not None
    others = np.delete(data.rows, data.target, axis=0)
    return Candidate(name, np.vstack([data.rows[data.target], others]), data.there)


@dataclass(frozen=True, eq=False)
class Found:
    """Pairs, the worst first by how far drawn values tell their sides apart, and all that the search saw."""

    candidates: tuple[Candidate, ...]
    searched: Searched


def search(
    run: Run[Any], where: Where, claim: PrivacyClaim, examples: int = 200, seed: int = 0, keep: int = 2
) -> Found:
    """The ``keep`` worst of what the audit's search came upon: pairs of findings, and of the largest movements.

    Raises:
        BadInput: every example raised.
    """
    engine = Engine(run, Paired(run, where), Premises(claim, "replace-one"), examples, seed, tracing=False)
    searched = engine.go((), ())
    named = {f"{one.finding.kind.value} ({one.finding.label})": one.data for one in searched.witnesses}
    named |= {f"moves {label!r} most" if label != SEPARATION else "moves most": one.data for label, one in engine.peaks}
    if searched.worst is not None and searched.worst.data is not None:
        named["moves most, drawn"] = searched.worst.data
    found = [candidate_of(name, data) for name, data in named.items() if data.rows is not None]
    ranked = sorted(found, key=lambda one: -separation(run, where.pair(one)))
    kept: list[Candidate] = []
    for one in ranked:
        if len(kept) < keep and not any(_same(one, other) for other in kept):
            kept.append(one)
    return Found(tuple(kept), searched)


def _same(one: Candidate, other: Candidate) -> bool:
    return np.array_equal(one.rows, other.rows) and np.array_equal(one.there, other.there)


def separation(run: Run[Any], pair: Pair[Any]) -> float:
    """How far drawn values tell the sides apart, in noise scales; infinite where something leaves beside the releases.

    A rank, no bound: with sampling it looks at the target's participation only as it happens.
    """
    total = 0.0
    with quiet():
        for seed in _SEEDS:
            found = scripted(run, pair, [seed], Same(DRAWN))
            if any(one.kind.leaks for one in found.findings):
                return math.inf
            total += found.separation**2
    return math.sqrt(total / len(_SEEDS))


def simplify(run: Run[Any], where: Where, found: Candidate) -> Candidate:
    """The plainest pair, or the same one with silent records and few digits, that keeps most of its separation.

    What became another pair is called so.
    """
    floor = _KEPT * separation(run, where.pair(found))

    def kept(candidate: Candidate) -> bool:
        return separation(run, where.pair(candidate)) >= floor

    best = next((one for one in (where.plainest(), where.plainest(-1.0)) if kept(one)), found)
    for chosen in (slice(1, None), *(slice(i, i + 1) for i in range(1, min(where.n, 25)))):
        rows = best.rows.copy()
        rows[chosen] = 0.0
        trial = replace(best, rows=rows)
        best = trial if np.any(best.rows[chosen]) and kept(trial) else best
    for digits in (1, 2, 3):
        rows, there = (where.inside(np.round(one, digits)) for one in (best.rows, best.there))
        trial = replace(best, rows=rows, there=there)
        if kept(trial):
            best = trial
            break
    return best if _same(best, found) else replace(best, name=f"{best.name}, simplified")


def confirm(
    run: Run[Any],
    where: Where,
    candidates: Sequence[Candidate],
    delta: float,
    claimed: float,
    seed: int,
    runs: int = 400,
    confidence: float = 0.95,
) -> tuple[SoundBound | AssumedEstimate, Candidate]:
    """Likelihood audits of the candidates on fresh runs, each at its part of the level; the one that shows most.

    A refutation goes first, then what replay finds outside the accounting (said in `evidence`), then the largest bound.
    """
    if not candidates:
        raise BadInput("candidates", 0, "there is nothing to confirm")
    each = 1 - (1 - confidence) / len(candidates)
    results = []
    for number, candidate in enumerate(candidates):
        sampler = LockstepSampler(run, where.pair(candidate), checks=3)
        settings = {"claimed": claimed, "confidence": each, "runs": runs, "pilot": 100}
        bound, losses = audit_likelihood(sampler, delta, seed=seed + number, **settings)  # type: ignore[arg-type]
        outside = [str(finding) for finding in losses.findings if finding.kind.leaks]
        bound = replace(bound, confidence=confidence, evidence={**bound.evidence, OUTSIDE: outside})
        sound = isinstance(bound, SoundBound)
        results.append(((sound and bound.epsilon > claimed, bool(outside), sound, bound.epsilon, number), bound))
    best, bound = max(results, key=lambda result: result[0])
    return bound, candidates[best[-1]]


def save_witness(
    path: Path,
    candidate: Candidate,
    bound: SoundBound | AssumedEstimate,
    note: str = "",
    about: Mapping[str, str | int | float] | None = None,
) -> None:
    """Write the pair, what it showed, and `about` what (so that it can be replayed) as JSON; floats keep every bit."""
    document = {
        "format": FORMAT,
        "name": candidate.name,
        "rows": candidate.rows.tolist(),
        "there": candidate.there.tolist(),
        "epsilon": bound.epsilon,
        "delta": bound.delta,
        "confidence": bound.confidence,
        "sound": isinstance(bound, SoundBound),
        "note": note,
        "about": dict(about or {}),
    }
    write_text(path, json_text(document) + "\n", "witness")


def load_witness(path: Path) -> Candidate:
    """Read the pair of a witness file."""
    document = read_witness(path)
    try:
        rows, there = np.array(document["rows"], dtype=float), np.array(document["there"], dtype=float)
        name = str(document["name"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise BadInput("witness", str(path), f"not a witness file: {error}") from error
    finite = bool(np.isfinite(rows).all() and np.isfinite(there).all())
    if rows.ndim != 2 or there.shape != rows.shape[1:] or not finite:
        raise BadInput("witness", str(path), f"rows {rows.shape} and replacement {there.shape} do not fit")
    return Candidate(name, rows, there)


def read_witness(path: Path) -> dict[str, Any]:
    """A witness file as plain data."""
    document = read_json(path, "witness")
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BadInput("witness", str(path), f"not a witness file of format {FORMAT}")
    return document
