"""The bugs that are planted between an algorithm and its tape."""

from __future__ import annotations

import numpy as np

from dpassay.audit.mutate.planted import Mutation
from dpassay.reference.arrays import Array
from dpassay.reference.baselines import dp_sgd
from dpassay.reference.errors import BadInput
from dpassay.reference.problems.interfaces import PerSample
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Draw

SAFE = ("unchanged", "noise 10 % too large", "an extra public value", "an extra release of pure noise")


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
        Mutation("variance used as standard deviation", bug="squared"),
        Mutation("forgotten factor 2 in the query", query=2.0),
        Mutation("one release without noise", silent_release=moving, unbounded=True),
        Mutation("branch on a private value", bug="private_branch", unbounded=True),
        Mutation("noise scale follows the data", bug="of_the_norm", unaccounted=True),
        Mutation("unchanged"),
        Mutation("noise 10 % too large", noise=1.1),
        Mutation("an extra public value", bug="extra_public"),
        Mutation("an extra release of pure noise", bug="extra_noise"),
    ]
    if releases > 1:
        # differences of releases have no noise; they say nothing where the pair moves all queries alike
        listed.append(Mutation("same noise again", bug="same_noise", unaccounted=True))
        listed.append(Mutation("forgotten sqrt(K)", noise=float(releases**-0.5)))
    if batches is not None and batches.kind != "fresh":
        listed.append(Mutation("forgotten sqrt(q)", noise=float(np.sqrt(batches.rate))))
        listed.append(Mutation("one batch for all steps", bug="one_batch"))
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
