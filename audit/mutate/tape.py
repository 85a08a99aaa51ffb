"""Planted bugs, as a layer between an algorithm and its tape.

A mutation changes what the algorithm asks of the tape: noise scales, queries, batches, calls. With `moved` (how far the
pair moves the queries of each label) the same change is made but declared, so the accountant reads off what the mutant
really costs on the pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.reference import neighbours
from dpassay.reference.baselines import dp_sgd
from dpassay.reference.errors import BadInput
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.law import Law, query_of
from dpassay.reference.problems.interfaces import PerSample
from dpassay.reference.replay import Layer
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch, Draw
from dpassay.reference.types import Array

Batches = Batch | tuple[Batch, ...] | None
Run = neighbours.Run[Any]
SAFE = ("unchanged", "noise 10 % too large", "an extra public value", "an extra release of pure noise")


@dataclass(frozen=True)
class Mutation:
    """What is planted. Factors multiply; flags name one bug each; everything else stays as the algorithm has it."""

    name: str
    noise: float = 1.0  # on every noise scale
    square_noise: bool = False  # the variance is used as standard deviation
    query: float = 1.0  # on every query, sensitivity left as declared
    silent_release: int | None = None  # this release gets no noise
    batch: float = 1.0  # on the size or rate of every secret batch, divisors left as they are
    one_batch: bool = False  # the first batch is used again at every step
    reuse_noise: bool = False  # one noise vector for all releases of a shape
    private_branch: bool = False  # one of 997 branches is taken, by digits of the un-noised query
    private_scale: bool = False  # the noise scale grows with the un-noised query
    extra: str = ""  # "public" or "noise": something harmless is added
    unbounded: bool = False  # no finite epsilon remains
    unaccounted: bool = False  # data leave outside the accounting: no claim covers it, whatever it costs on the pair
    run: Run | None = None  # another body of the algorithm (where the bug is not at the tape)


class MutantTape(Layer):
    """Asks `inner` for something else than the algorithm does, as the mutation says."""

    def __init__(self, inner: Tape, mutation: Mutation, moved: Mapping[str, float] | None = None) -> None:
        super().__init__(inner)
        self._mutation, self._moved = mutation, moved
        self._count = 0
        self._noise: dict[tuple[int, ...], Array] = {}
        self._first: Batch | None = None

    def release(self, label: str, law: Law, *, sensitivity: float | None, batch: Batches = None) -> Any:
        """The mutated release."""
        self._before(label, law)
        changed, claimed = self._changed(law), sensitivity
        if self._moved is not None:
            claimed = self._moved.get(label, claimed)
        self._count += 1
        if self._mutation.reuse_noise and changed.is_normal:
            return self._with_old_noise(label, changed)
        return super().release(label, changed, sensitivity=claimed, batch=batch)

    def _before(self, label: str, law: Law) -> None:
        query = law.query
        if self._mutation.private_branch and query is not None:
            digits = int(float(np.sum(query)) * 1e9) % 997
            self.public(f"{label}/branch {digits}", lambda rng: rng.random())
        if self._mutation.extra == "public":
            self.public(f"{label}/extra", lambda rng: rng.random())
        if self._mutation.extra == "noise":
            super().release(f"{label}/nothing", Gaussian(np.asarray(0.0), 1.0), sensitivity=0.0)

    def _changed(self, law: Law) -> Law:
        noise = self._mutation.noise
        if law.is_normal:  # these bugs are about a standard deviation
            if self._mutation.square_noise:
                noise *= law.scale
            if self._mutation.private_scale:
                noise *= 1 + float(np.linalg.norm(query_of(law) + 0.5))
            if self._mutation.silent_release == self._count:
                noise = 0.0
        return law.changed(noise, self._mutation.query)

    def _with_old_noise(self, label: str, law: Law) -> Any:
        query = query_of(law)
        if query.shape not in self._noise:
            self._noise[query.shape] = np.asarray(self.noise(f"{label}/noise", law.scale, query.shape))
        value = query + self._noise[query.shape]
        return self.reveal(label, value if value.ndim else float(value))

    def batch(self, label: str, n: int, size: int) -> Batch:
        """A batch without replacement, of the mutated size."""
        larger = max(1, min(n, round(size * self._mutation.batch)))
        if self._first is None or not self._mutation.one_batch:
            self._first = super().batch(label, n, larger)
        return self._first

    def poisson(self, label: str, n: int, rate: float) -> Batch:
        """A Poisson batch at the mutated rate."""
        larger = min(1.0, rate * self._mutation.batch)
        if self._first is None or not self._mutation.one_batch:
            self._first = super().poisson(label, n, larger)
        return self._first


def mutated(run: Run, mutation: Mutation, moved: Mapping[str, float] | None = None) -> Run:
    """The algorithm `run` with the bug planted."""

    def mutant(problem: Any, tape: Tape) -> Any:
        return (mutation.run or run)(problem, MutantTape(tape, mutation, moved))

    return mutant


def mutations(releases: int, moving: int, batches: Draw | None = None) -> list[Mutation]:
    """The planted bugs for an algorithm with this many releases; the one numbered `moving` differs on the pair.

    `batches` is the first of its secret batches, if it has any.
    """
    if releases < 1:
        raise BadInput("releases", releases, "the algorithm must release something")
    listed = [
        Mutation("half the noise", noise=0.5),
        Mutation("missing sqrt 2", noise=float(np.sqrt(0.5))),
        Mutation("noise 10 % too small", noise=0.9),
        Mutation("variance used as standard deviation", square_noise=True),
        Mutation("forgotten factor 2 in the query", query=2.0),
        Mutation("one release without noise", silent_release=moving, unbounded=True),
        Mutation("branch on a private value", private_branch=True, unbounded=True),
        Mutation("noise scale follows the data", private_scale=True, unaccounted=True),
        Mutation("unchanged"),
        Mutation("noise 10 % too large", noise=1.1),
        Mutation("an extra public value", extra="public"),
        Mutation("an extra release of pure noise", extra="noise"),
    ]
    if releases > 1:
        # differences of releases have no noise; they say nothing where the pair moves all queries alike
        listed.append(Mutation("same noise again", reuse_noise=True, unaccounted=True))
        listed.append(Mutation("forgotten sqrt(K)", noise=float(releases**-0.5)))
    if batches is not None and batches.kind != "fresh":
        listed.append(Mutation("forgotten sqrt(q)", noise=float(np.sqrt(batches.rate))))
        listed.append(Mutation("one batch for all steps", one_batch=True))
        if batches.size != 1:  # two records instead of one: the other record's value would matter too
            listed.append(Mutation("twice the batch, same divisor", batch=2.0))
    return listed


def clipping_mutations(schedule: dp_sgd.Schedule) -> list[Mutation]:
    """DP-SGD that does not clip, and DP-SGD that clips the mean instead of each gradient."""

    def without(problem: PerSample, tape: Tape, clip_mean: bool = False) -> Array:
        w, size = np.zeros(problem.d), schedule.batch_size or problem.n
        std = schedule.noise.std("gradient", 2 * schedule.clip) / size
        for _ in range(schedule.steps):
            batch = tape.batch("batch", problem.n, size) if schedule.batch_size else None
            chosen = np.arange(problem.n) if batch is None else batch.indices
            mean = problem.gradients(w, chosen).sum(axis=0) / size
            if clip_mean:
                mean = mean * min(1.0, schedule.clip / max(float(np.linalg.norm(mean)), 1e-300))
            claimed = 2 * schedule.clip / size
            w = w - schedule.learning_rate * tape.gaussian("gradient", mean, std=std, sensitivity=claimed, batch=batch)
        return w

    def with_mean(problem: PerSample, tape: Tape) -> Array:
        return without(problem, tape, clip_mean=True)

    return [Mutation("no clipping", run=without), Mutation("clip of the mean", run=with_mean)]
