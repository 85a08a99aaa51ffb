"""Stochastic gradient passes of scikit-learn without any certificate: how far one record can move where they end.

``SGDClassifier`` with logistic loss goes from w to w - eta_t (gradient of one record's loss + alpha w). While
eta_t (beta + 2 alpha) <= 2, for a loss whose second derivative is at most beta, two runs that use the same record come
closer by the factor 1 - eta_t alpha; where they use the replaced one they part by 2 eta_t L at most. So with a fixed
number of passes, no early stopping, and an order that does not depend on the data (a public random state, say), the end
moves by at most the largest sum over positions j of the order

    sum over passes of 2 eta_t L prod_{s > t} (1 - eta_s alpha),   t = the use of position j in that pass.

This is the argument of Hardt, Recht and Singer (arXiv 1509.01240) and of Wu et al. (arXiv 1606.04722), with the rates
that scikit-learn really takes. Its rate ``optimal`` is 1 / (alpha (t0 + t)), for which one pass over n records gives
2 L / (alpha (t0 + n - 1)): no more than the exact solution would move by, where t0 >= 1.

``sag`` and ``saga`` step along gradients that were stored at earlier points, which is no contraction, and they stop by
a rule that reads the data: nothing of this kind is known here for them, and their points are certified instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np

from dpassay.reference.accounting.gdp import gdp_mu
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.arrays import Array
from dpassay.reference.errors import require
from dpassay.reference.extras import Later
from dpassay.reference.space import Rows, Sizes, Space
from dpassay.reference.tape import Tape

from .model import Model

EPSILON, DELTA, ALPHA = 0.9, 1e-5, 0.1
LIPSCHITZ, BETA = 1.0, 0.25  # of the logistic loss for records of norm 1 at most
RELATIONS: tuple[Relation, ...] = ("replace-one", "add-remove")
linear_model = Later("sklearn.linear_model")


def rates(n: int, passes: int, alpha: float, constant: float) -> Array:
    """The learning rates of ``SGDClassifier(loss="log_loss")``, shape (passes * n,); constant = 0: ``optimal``.

    Raises:
        BadInput: the first rate is too large for the argument.
    """
    first = alpha**-0.25  # 1 / (alpha t0), as scikit-learn 1.9 computes it for this loss
    found = 1 / (1 / first + alpha * np.arange(passes * n)) if not constant else np.full(passes * n, constant)
    require(found[0] * (BETA + 2 * alpha) <= 2, "alpha", alpha, f"makes a first rate of {found[0]:g}: no contraction")
    return np.asarray(found)


def sensitivity(n: int, passes: int, alpha: float, constant: float) -> float:
    """How far one replaced record moves the end, at most; one without features that takes its place, half as far."""
    eta = rates(n, passes, alpha, constant)
    after = np.append(np.cumprod((1 - eta * alpha)[::-1])[::-1][1:], 1.0)
    by_use = 2 * LIPSCHITZ * eta * after
    return float(by_use.reshape(passes, n).sum(axis=0).max())


@lru_cache(maxsize=8)
def _multiplier(relation: Relation) -> float:
    whole = 0.5 if relation == "add-remove" else 1.0
    return whole / gdp_mu(EPSILON, DELTA)


def _train(passes: int, constant: float, relation: Relation, rows: Array, tape: Tape) -> Array:
    """Passes by ``partial_fit``, which refuses no labels: each has the same public order."""
    n = len(rows)
    options = {"learning_rate": "constant", "eta0": constant} if constant else {}
    model = linear_model.SGDClassifier(loss="log_loss", alpha=ALPHA, fit_intercept=False, random_state=0, **options)
    for _ in range(passes):
        model.partial_fit(rows[:, :-1], rows[:, -1], classes=[-1.0, 1.0])
    moves = sensitivity(n, passes, ALPHA, constant)
    return np.asarray(
        tape.gaussian("output", model.coef_[0], std=_multiplier(relation) * moves, sensitivity=moves), dtype=float
    )


def _present(rows: Array, sizes: Sizes) -> Array:
    """A record that is not there has no features: its gradient is zero. How many there may be is public."""
    gone = np.all(rows == 0.0, axis=1)
    return np.column_stack([rows[:, :-1], np.where(gone, 1.0, rows[:, -1])])


def models() -> list[Model]:
    """Two learning rates, one pass and three."""
    found = []
    for passes, constant in ((1, 0.0), (3, 0.0), (1, 0.5)):
        how = f"constant rate {constant:g}" if constant else "default rate"
        name = f"SGDClassifier, passes: {passes}, {how}, order public, noise by stability"
        for relation in RELATIONS:
            absent = np.zeros(1) if relation == "add-remove" else None
            sizes = {"n": (1, 2, 3, 5, 8), "d": (1, 2, 3)}
            space = Space(Rows(labels=(-1.0, 1.0)), sizes, _present, relation=relation, absent=absent)
            run, seen = partial(_train, passes, constant, relation), "the noisy end"
            found.append(Model(name, run, EPSILON, {relation: space}, seen, 60, DELTA, {relation: _last(relation)}))
    return found


def _last(relation: Relation) -> Mapping[str, Any]:
    """One record alone, replaced by its opposite or not there."""
    there = [0.0, 0.0] if relation == "add-remove" else [-1.0, 1.0]
    return {"sizes": {"n": 1, "d": 1}, "rows": [[1.0, 1.0]], "there": there, "target": 0}
