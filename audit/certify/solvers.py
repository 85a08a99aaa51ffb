"""Points of solvers: nothing is followed inside of one. What is known of its point is that it is near the solution."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

import numpy as np

from dpassay.reference.problems.saddle_games import sharp_stability
from dpassay.reference.solvers.protocol import Certificate, Solution

from .draws import holds_private
from .value import Norms, Open, Records, Value

ACCURACY = "the solver reaches its accuracy on all data; each run checks it (solvers/protocol.py, certify)"
STABLE = {
    0: "leans on output_perturbation, Lemma 3.3: exact solutions of neighbours are at most 2 L / (mu n) apart",
    1: "leans on output_perturbation, Lemmas 4.3 and 4.5: how far the saddle points of neighbours are apart",
}
LIPSCHITZ = "gradients of a record's own part of the loss are at most `lipschitz` long (Assumptions 3.1 and 4.1)"


def unknown(problem: Any, target: float, rng: Any) -> Solution:
    """In place of a solver: a point of which nothing is known, not even how far it moves."""
    held = [one for one in vars(problem.loss).values() if isinstance(one, Value)]
    apart = {key: one for key, one in vars(problem).items() if key != "loss"}
    if holds_private((apart, target)):
        raise Open("a solver's problem depends on private data beside its records")
    point = Point((problem.d + problem.d_y,), None, held[0].records if held else Records())
    point.cause = "nothing bounds how far the point of a solver moves whose accuracy is not checked"
    return Solution(point, Certificate(inf, target), 0)  # type: ignore[arg-type]


class Point(Value):
    """Of a solver; its blocks, and the whole in the metric of the moduli, move less than the whole does."""

    blocks: tuple[Any, float, float, float, int] | None = None  # root of weights; whole in their metric, x, y; d

    def near_solution(self, problem: Any, target: float) -> Point:
        """Within ``target`` of the solution in the weighted distance: by stability, and by the error on both sides."""
        lipschitz, n = problem.loss.lipschitz, problem.n
        mu_x, mu_y = problem.strong_convexity, problem.strong_concavity
        whole = 2 * lipschitz / (n * sqrt(problem.modulus)) + 2 * target
        x = 2 * lipschitz / (n * mu_x) if not problem.d_y else sharp_stability(lipschitz, n, mu_x, mu_y)
        x, y = x + 2 * target / sqrt(mu_x), inf
        if problem.d_y:
            y = sharp_stability(lipschitz, n, mu_y, mu_x) + 2 * target / sqrt(mu_y)
        move = Norms(two=min(whole / sqrt(problem.modulus), float(np.hypot(x, y)) if problem.d_y else x))
        found = Point(self._shape, None, self.records, move=move)
        for axiom in (ACCURACY, STABLE[int(problem.d_y > 0)], LIPSCHITZ):
            self.assumed(axiom)
        found.blocks = np.sqrt(problem.weights), whole, x, y, problem.d
        return found

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if self.blocks is not None and isinstance(key, slice) and isinstance(found, Value):
            d, length = self.blocks[4], self._shape[0]
            if range(length)[key] in (range(d), range(d, length)):
                bound = self.blocks[2 if key.start in (None, 0) else 3]
                return found.like(move=found.move.both(Norms(two=bound)))
        return found

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        found = super().__array_ufunc__(ufunc, method, *inputs, **options)
        other = next((one for one in inputs if one is not self), None)
        same = self.blocks is not None and other is not None and np.array_equal(other, self.blocks[0])
        if ufunc is np.multiply and self.blocks is not None and same:
            return found.like(move=found.move.both(Norms(two=self.blocks[1])))
        return found
