"""Stochastic SPIDER with escape from saddles (adaptive_batch, Algorithm 3), one pass over the data.

Finds an SOSP of the population loss. Guarantee claimed: (epsilon, delta)-DP (Lemma 3.13) and a gamma-SOSP among the
iterates (Theorem 3.17). Every decision (drift, frozen, count, batch size) is a function of released gradients.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dpassay.reference.blocks.tree import TreeSum
from dpassay.reference.problems.interfaces import MinimisationProblem
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch
from dpassay.reference.types import Array

from .escape import EscapeParameters, model_gradient
from .oracles import Oracles
from .schedule import Schedule
from .tree import Members, PrintedTree


@dataclass(frozen=True, eq=False)
class Result:
    """x_1..x_t as rows, and how the run spent its data."""

    iterates: Array
    refreshes: int
    escapes: int
    functions_used: int
    noisy_gradients: Array


@dataclass(eq=False)
class Estimates:
    """nabla_t and H_t with the batches they depend on; both private."""

    gradient: Array
    hessian: Array
    gradient_members: Members = ()
    hessian_draws: tuple[Batch, ...] = ()
    steps_since_refresh: int = 0


@dataclass(eq=False)
class Noisy:
    """The release of nabla_t with tree noise, in the three readings of lines 5 and 8."""

    tape: Tape
    schedule: Schedule
    printed: PrintedTree = field(init=False)
    epoch: TreeSum = field(init=False)

    def __post_init__(self) -> None:
        s = self.schedule
        self.printed = PrintedTree(self.tape, "tree", length=s.steps, std=s.tree_std)

    def after_refresh(self, found: Estimates) -> Array:
        """The gradient that lines 11 and 17 use after line 5."""
        s = self.schedule
        batch, claim = found.gradient_members[-1]
        if s.refresh == "new tree":
            self.epoch = TreeSum(self.tape, "tree", std=s.tree_std)
            return self.epoch.add(found.gradient, sensitivity=claim, batch=batch)
        if s.refresh == "tree":
            return self.printed.next(found.gradient, found.gradient_members)
        self.printed.skip(found.gradient, found.gradient_members)
        bare: Array = self.tape.gaussian("refresh/bare", found.gradient, std=0.0, sensitivity=claim, batch=batch)
        return bare

    def after_difference(self, found: Estimates, change: Array) -> Array:
        """nabla_t + TREE(t) (line 8)."""
        if self.schedule.refresh == "new tree":
            batch, claim = found.gradient_members[-1]
            return self.epoch.add(change, sensitivity=claim, batch=batch)
        return self.printed.next(found.gradient, found.gradient_members)


def stochastic_spider(
    problem: MinimisationProblem, schedule: Schedule, tape: Tape, start: Array | None = None
) -> Result:
    """Run Algorithm 3 from x_0 = `start` (zeros when not given)."""
    s, d = schedule, problem.dimension
    oracles = Oracles(problem, tape, s.order)
    x = np.zeros(d) if start is None else start
    before, anchor = x, x
    drift, frozen_before, frozen, count = s.drift_limit, 1, 0, 0  # line 2
    escaping, g, H = False, np.zeros(d), np.zeros((d, d))
    draws: tuple[Batch, ...] = ()
    estimates, noisy = Estimates(np.zeros(d), np.zeros((d, d))), Noisy(tape, s)
    iterates, released, refreshes, escapes, step = [], [], 0, 0, np.zeros(d)
    rule = EscapeParameters(s.escape_steps, s.escape_radius, s.step_size, s.escape_std, s.hessian_sensitivity())
    for _ in range(s.steps):  # line 3
        refresh = drift >= s.drift_limit or count >= s.escape_limit  # line 4
        refresh = refresh or (s.epoch_length is not None and estimates.steps_since_refresh >= s.epoch_length)
        size = s.batch if refresh else s.adaptive_batch(float(np.linalg.norm(step)))
        if oracles.left() <= s.batch or oracles.left() < 2 * size:  # line 3
            break
        if refresh:
            gradient = _refresh(oracles, noisy, estimates, x, size)  # line 5
            drift, count, refreshes = 0.0, 0, refreshes + 1  # line 6
        else:
            gradient = _difference(oracles, noisy, estimates, (x, before), size)  # lines 8, 9
        if float(np.linalg.norm(gradient)) <= s.threshold and frozen_before <= 0:  # line 11
            frozen, escaping, count, escapes = s.escape_steps, True, count + 1, escapes + 1  # line 12
            g, H, anchor, draws = gradient, estimates.hessian, x, estimates.hessian_draws
        step = model_gradient(tape, g, H, x - anchor, rule, draws) if escaping else gradient  # lines 15, 17
        before, x = x, x - s.step_size * step  # line 19
        drift += float(np.linalg.norm(step))
        frozen_before, frozen = frozen, frozen - 1
        if float(np.linalg.norm(x - anchor)) >= s.escape_radius or frozen <= 0:  # line 20
            escaping = False
        iterates.append(x)
        released.append(gradient)
    used = problem.size - oracles.left()
    return Result(np.array(iterates), refreshes, escapes, used, np.array(released))


def _refresh(oracles: Oracles, noisy: Noisy, estimates: Estimates, x: Array, size: int) -> Array:
    """Line 5: fresh estimates from O1 and O3, and the gradient that the rest of the step uses."""
    gradient, batch = oracles.gradient(x, size)
    hessian, hessian_batch = oracles.hessian(x, size)
    estimates.gradient, estimates.hessian, estimates.steps_since_refresh = gradient, hessian, 1
    claim = 2 * noisy.schedule.lipschitz / size  # replace-one; B.3 prints |O1 - O1'| <= G/b
    estimates.gradient_members, estimates.hessian_draws = ((batch, claim),), (hessian_batch,)
    return noisy.after_refresh(estimates)


def _difference(oracles: Oracles, noisy: Noisy, estimates: Estimates, points: tuple[Array, Array], size: int) -> Array:
    """Lines 8 and 9: add the differences from O2 and O4."""
    x, before = points
    s = noisy.schedule
    change, batch = oracles.gradient_difference(x, before, size)
    hessian_change, hessian_batch = oracles.hessian_difference(x, before, size)
    estimates.gradient = estimates.gradient + change
    estimates.hessian = estimates.hessian + hessian_change
    estimates.hessian_draws += (hessian_batch,)
    estimates.steps_since_refresh += 1
    claim = 2 * s.smoothness * float(np.linalg.norm(x - before)) / size  # B.3 prints half of it
    estimates.gradient_members += ((batch, claim),)
    return noisy.after_difference(estimates, change)
