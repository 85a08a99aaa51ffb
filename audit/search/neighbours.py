"""Search for the worst neighbours: patterns, random records, evolution; then a fresh sample decides.

The search may look at anything, because nothing it saw counts: the winners are judged on new seeds with the level split
between them. The best witness is simplified and saved as numbers that replay anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.audit.lab.mutations import Run
from dpassay.audit.likelihood.bound import audit_likelihood
from dpassay.audit.likelihood.samplers import LockstepSampler
from dpassay.audit.plain import json_text
from dpassay.audit.results import AssumedEstimate, SoundBound
from dpassay.reference.errors import BadInput
from dpassay.reference.files import read_json, write_text
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.neighbours import Pair
from dpassay.reference.replay import ReplayDiverged, ReplayTape
from dpassay.reference.tape import record
from dpassay.reference.types import Array

FORMAT = 1  # of a witness file
OUTSIDE = "outside the accounting"  # in the evidence: what replay found


@dataclass(frozen=True)
class Candidate:
    """A pair as numbers: the rows of D (row 0 is the target) and what replaces row 0 on D'."""

    name: str
    rows: Array
    there: Array


@dataclass(frozen=True)
class Space:
    """Where to search: n records of dimension d in a ball, and how to make a pair of problems of them."""

    n: int
    d: int
    radius: float
    build: Callable[[Array, Array], Pair[Any]]  # rows on D (n, d), replacement of row 0 (d,)

    def __post_init__(self) -> None:
        if self.n < 2 or self.d < 1 or not 0 < self.radius < math.inf:
            raise BadInput("n, d, radius", (self.n, self.d, self.radius), "need n >= 2, d >= 1, a finite radius")

    def pair(self, candidate: Candidate) -> Pair[Any]:
        """The neighbouring problems of a candidate."""
        return self.build(candidate.rows, candidate.there)

    def inside(self, rows: Array) -> Array:
        """Rows scaled back into the ball."""
        length = np.linalg.norm(rows, axis=-1, keepdims=True)
        return np.asarray(rows * np.minimum(1.0, self.radius / np.maximum(length, 1e-300)))


def patterns(space: Space) -> list[Candidate]:
    """Known worst cases: the target against all others, alone, with them, along a diagonal, against nothing."""
    axis = np.zeros(space.d)
    axis[0] = space.radius
    diagonal = np.full(space.d, space.radius / np.sqrt(space.d))
    found = []
    for name, others, here, there in (
        ("against all others", -axis, axis, -axis),
        ("others silent", 0 * axis, axis, -axis),
        ("with all others", axis, axis, -axis),
        ("diagonal, others silent", 0 * diagonal, diagonal, -diagonal),
        ("record or zero", 0 * axis, axis, 0 * axis),
        ("small against large", -axis, 0.1 * axis, axis),
    ):
        found.append(Candidate(name, np.vstack([here, np.tile(others, (space.n - 1, 1))]), there))
    return found


def random_candidate(space: Space, rng: np.random.Generator) -> Candidate:
    """Rows of random direction, half of them on the sphere."""
    rows = rng.normal(size=(space.n + 1, space.d))
    length = np.where(rng.random(space.n + 1) < 0.5, 1.0, rng.random(space.n + 1)) * space.radius
    rows *= (length / np.linalg.norm(rows, axis=1))[:, None]
    return Candidate("random", rows[:-1], rows[-1])


def offspring(space: Space, first: Candidate, second: Candidate, rng: np.random.Generator) -> Candidate:
    """Rows of either parent, a few of them moved, mirrored, stretched to the sphere, or replaced by others."""
    pick = rng.random((space.n, 1)) < 0.5
    rows = np.where(pick, first.rows, second.rows)
    there = first.there if rng.random() < 0.5 else second.there
    kick = rng.choice([0.03, 0.3, 1.0]) * space.radius
    moved = rng.random((space.n, 1)) < 0.3
    moved[0] = True
    rows = rows + moved * kick * rng.normal(size=rows.shape) / np.sqrt(space.d)
    there = there + kick * rng.normal(size=space.d) / np.sqrt(space.d)
    action = rng.integers(4)
    if action == 0:
        there = -rows[0]
    elif action == 1:
        rows = rows * space.radius / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    elif action == 2:
        rows[1:] = rows[rng.integers(1, space.n)]
    return Candidate("evolved", space.inside(rows), space.inside(there))


def separation(run: Run, pair: Pair[Any], seeds: Sequence[int]) -> float:
    """How far the queries move, in noise scales (root mean square over runs); infinite when the replay diverges.

    A rank for the search, not a bound: with sampling it looks at the target's participation only as it happens.
    """
    total = 0.0
    for seed in seeds:
        recording = record(lambda tape: run(pair.here, tape), seed)
        tape = ReplayTape(recording)
        try:
            output = run(pair.there, tape)
        except ReplayDiverged:
            return math.inf
        if tape.close(output):
            return math.inf
        for one, other in zip(recording.releases, tape.transcript.releases, strict=True):
            total += _distance(one.law, other.law) ** 2
    return math.sqrt(total / len(seeds))


def _distance(one: Any, other: Any) -> float:
    if not isinstance(one, Gaussian | Laplace):
        return 0.0
    order, scale = (None, one.std) if isinstance(one, Gaussian) else (1, one.scale)
    size = float(np.linalg.norm(np.ravel(one.query - other.query), ord=order))
    return 0.0 if size == 0 else (math.inf if scale == 0 else size / scale)


@dataclass(frozen=True)
class Found:
    """A candidate with its rank value."""

    score: float
    candidate: Candidate


def search(
    run: Run, space: Space, rng: np.random.Generator, budget: int = 200, keep: int = 8, runs: int = 2
) -> list[Found]:
    """Best candidates first, all patterns among them: patterns, a fifth random, the rest evolved."""
    seeds = [int(seed) for seed in rng.integers(0, 2**31, runs)]

    def judged(candidate: Candidate) -> Found:
        return Found(separation(run, space.pair(candidate), seeds), candidate)

    start = [judged(candidate) for candidate in patterns(space)]
    pool = start + [judged(random_candidate(space, rng)) for _ in range(max(2, budget // 5))]
    for _ in range(max(0, budget - len(pool))):
        pool = sorted(pool, key=lambda found: -found.score)[: 2 * keep]
        parents = rng.integers(0, min(keep, len(pool)), 2)
        child = offspring(space, pool[parents[0]].candidate, pool[parents[1]].candidate, rng)
        pool.append(judged(child))
    best = sorted(pool, key=lambda found: -found.score)[:keep]
    return best + [found for found in start if all(found is not other for other in best)]


def simplify(run: Run, space: Space, found: Found, share: float = 0.98, seeds: Sequence[int] = (1, 2)) -> Found:
    """The same witness with as many silent records and as few digits as keep `share` of its separation.

    What became another pair is called so.
    """
    floor = share * separation(run, space.pair(found.candidate), seeds)

    def kept(candidate: Candidate) -> bool:
        return separation(run, space.pair(candidate), seeds) >= floor

    best = found.candidate
    for chosen in (slice(1, None), *(slice(i, i + 1) for i in range(1, min(space.n, 25)))):
        rows = best.rows.copy()
        rows[chosen] = 0.0
        trial = replace(best, rows=rows)
        best = trial if kept(trial) else best
    for digits in (1, 2, 3):
        trial = replace(
            best,
            rows=space.inside(np.round(best.rows, digits)),
            there=space.inside(np.round(best.there, digits)),
        )
        if kept(trial):
            best = trial
            break
    same = np.array_equal(best.rows, found.candidate.rows) and np.array_equal(best.there, found.candidate.there)
    return Found(found.score, best if same else replace(best, name=f"{best.name}, simplified"))


def confirm(
    run: Run,
    space: Space,
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
        sampler = LockstepSampler(run, space.pair(candidate), checks=3)
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
    except (KeyError, TypeError, ValueError) as error:
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
