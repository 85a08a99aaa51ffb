"""Bugs of a stranger in what the algorithms share: tape, laws, accountant, blocks, problems, solvers."""

from __future__ import annotations

from dpassay.audit.lab.source.bugs import Patch

from .stranger import Stranger

STRANGERS = (
    Stranger(
        "clipping",
        "baselines/dp_sgd:full-batch@baseline",
        Patch(
            "clip by the largest coordinate",
            "blocks/clipping.py",
            "norms.row_norms(flat), bound)",
            "np.abs(flat).max(axis=1, initial=0.0), bound)",
            "bound times sqrt(d)",
        ),
    ),
    Stranger(
        "clipping",
        "baselines/dp_sgd:full-batch@baseline",
        Patch(
            "clip by the norm of the next record",
            "blocks/clipping.py",
            "norms.row_norms(flat), bound)",
            "np.roll(norms.row_norms(flat), 1), bound)",
            "no bound",
        ),
    ),
    Stranger(
        "hidden n",
        "minimax_sosp/dp_rgda:n9-d2-T3-K2-q3-b9@repaired",
        Patch(
            "mean over the rows that are not zero",
            "norms.py",
            "    return np.asarray(np.add.reduce(rows, axis=0) / len(rows))\n",
            (
                "    return np.asarray(np.add.reduce(rows, axis=0) / max(1, "
                "np.count_nonzero(rows.reshape(len(rows), -1).any(axis=1))))\n"
            ),
            "the divisor depends on the data",
        ),
    ),
    Stranger(
        "tree",
        "adaptive_batch/stochastic_spider:d1-T7-O1@repaired",
        Patch(
            "tree node claims its smallest term",
            "blocks/tree.py",
            "(max if once else sum)",
            "(min if once else sum)",
            "claimed sensitivity too small for a node of unequal terms",
        ),
    ),
    Stranger(
        "state",
        "dp_ftrl/dp_ftrl@repaired",
        Patch(
            "tree nodes kept in a global cache",
            "blocks/tree.py",
            "        self._released: dict[tuple[int, int], Array] = {}\n",
            "        self._released: dict[tuple[int, int], Array] = TreeSum.__init__.__dict__\n",
            "a second run hands out the first one's values",
        ),
    ),
    Stranger(
        "matrix",
        "second_order_erm/dp_tr@repaired",
        Patch(
            "hessian noise on the upper triangle",
            "tape.py",
            (
                "        released = np.zeros_like(query, dtype=float)\n"
                "        released[rows, columns] = upper\n"
                "        released[columns, rows] = upper\n"
            ),
            ("        released = np.array(query, dtype=float)\n        released[rows, columns] = upper\n"),
            "the lower triangle is bare",
        ),
    ),
    Stranger(
        "sensitivity",
        "second_order_erm/opt@repaired",
        Patch(
            "erm value sensitivity of one side",
            "problems/erm.py",
            "self.loss.link.value(-a) - self.loss.link.value(a))[0])) / self.n\n",
            "self.loss.link.value(-a) - self.loss.link.value(0 * a))[0])) / self.n\n",
            "half of the range",
        ),
    ),
    Stranger(
        "problem",
        "second_order_erm/opt@repaired",
        Patch(
            "logistic slope with a ripple",
            "problems/margin_losses.py",
            "    slope=lambda m: np.asarray(-expit(-m)),\n",
            "    slope=lambda m: np.asarray(-expit(-m) - 0.3 * np.cos(m) ** 2),\n",
            "|slope| up to 1.3, the bound says 1",
        ),
    ),
    Stranger(
        "sensitivity",
        "second_order_erm/dp_tr@repaired",
        Patch(
            "hessian sensitivity of a convex loss always",
            "problems/erm.py",
            "        factor = sqrt(2) if self.loss.link.convex else 2.0\n",
            ("        factor = sqrt(2) if self.loss.link.convex else 1.0\n        factor = min(factor, 1.0)\n"),
            "1 in place of sqrt(2)",
        ),
    ),
    Stranger(
        "control flow",
        "output_perturbation/algorithm1:logistic@repaired",
        Patch(
            "solver gives up after three steps",
            "solvers/gradient_descent.py",
            "    limit: int = 100_000\n",
            "    limit: int = 3\n",
            "the certificate fails for some data: an error that is seen",
        ),
    ),
    Stranger(
        "accounting",
        "dro/recursive_spider@repaired",
        Patch(
            "account forgets the differences",
            "accounting/cost.py",
            ("    for release in transcript.releases:\n        kinds ="),
            (
                "    for release in transcript.releases:\n"
                '        if release.label.endswith("difference"):\n'
                "            continue\n"
                "        kinds ="
            ),
            "noise is calibrated without them",
        ),
    ),
    Stranger(
        "accounting",
        "baselines/dp_sgd:full-batch@baseline",
        Patch(
            "calibrator takes ten deltas",
            "accounting/calibrate.py",
            "        return scaled(found, math.exp(log_factor)).epsilon(delta) - epsilon\n",
            "        return scaled(found, math.exp(log_factor)).epsilon(10 * delta) - epsilon\n",
            "noise for 10 delta",
        ),
    ),
    Stranger(
        "laws",
        "baselines/dp_sgd:full-batch@baseline",
        Patch(
            "gaussian noise on the first coordinate",
            "laws/gaussian.py",
            "        return as_released(self.query + std * rng.standard_normal(self.query.shape))\n",
            (
                "        noise = rng.standard_normal(self.query.shape)\n"
                "        noise.reshape(-1)[1:] = 0.0\n"
                "        return as_released(self.query + std * noise)\n"
            ),
            "the others are bare; the law says otherwise",
        ),
    ),
)
