"""Bugs of a stranger in the baselines."""

from __future__ import annotations

from dpassay.audit.lab.source.bugs import Patch

from .stranger import Stranger

STRANGERS = (
    Stranger(
        "clipping",
        "baselines/dp_sgd:full-batch@baseline",
        Patch(
            "sgd clips at the first step only",
            "baselines/dp_sgd.py",
            "        mean = clip_rows(rows, s.clip).sum(axis=0) / size\n",
            "        mean = (rows if gradients else clip_rows(rows, s.clip)).sum(axis=0) / size\n",
            "no bound from step 2 on",
        ),
    ),
    Stranger(
        "clipping",
        "baselines/dp_sgd:full-batch@baseline",
        Patch(
            "sgd clips at the median norm",
            "baselines/dp_sgd.py",
            "        mean = clip_rows(rows, s.clip).sum(axis=0) / size\n",
            (
                "        typical = float(np.median(np.linalg.norm(rows, axis=1))) if len(rows) else "
                "s.clip\n"
                "        mean = clip_rows(rows, min(s.clip, max(typical, 1e-9))).sum(axis=0) / size\n"
            ),
            "one record moves the bound of all",
        ),
    ),
    Stranger(
        "clipping",
        "baselines/dp_sgd:full-batch@baseline",
        Patch(
            "sgd last record is not clipped",
            "baselines/dp_sgd.py",
            "        mean = clip_rows(rows, s.clip).sum(axis=0) / size\n",
            ("        mean = (clip_rows(rows[:-1], s.clip).sum(axis=0) + rows[-1:].sum(axis=0)) / size\n"),
            "one row has no bound",
        ),
    ),
    Stranger(
        "noise",
        "baselines/dp_sgd:poisson@baseline",
        Patch(
            "sgd no noise on a zero gradient",
            "baselines/dp_sgd.py",
            '        std = s.noise.std("gradient", 2 * s.clip) / size\n',
            '        std = s.noise.std("gradient", 2 * s.clip) / size if np.any(mean) else 0.0\n',
            "bare zero",
        ),
    ),
    Stranger(
        "control flow",
        "baselines/dp_sgd:fixed-size@baseline",
        Patch(
            "sgd stops at a small true gradient",
            "baselines/dp_sgd.py",
            ("        # NOISE\n        std = s.noise.std"),
            (
                "        if iterates[1:] and np.linalg.norm(mean) < 1e-3 * s.clip:\n"
                "            break\n"
                "        # NOISE\n"
                "        std = s.noise.std"
            ),
            "number of steps from un-noised data",
        ),
    ),
    Stranger(
        "sampling",
        "baselines/dp_sgd:fixed-size@baseline",
        Patch(
            "sgd noise for n in place of the batch",
            "baselines/dp_sgd.py",
            (
                '        std = s.noise.std("gradient", 2 * s.clip) / size\n'
                '        released = tape.gaussian("gradient", mean, std=std, sensitivity=2 * s.clip / '
                "size, batch=batch)\n"
            ),
            (
                '        std = s.noise.std("gradient", 2 * s.clip) / n\n'
                '        released = tape.gaussian("gradient", mean, std=std, sensitivity=2 * s.clip / n, '
                "batch=batch)\n"
            ),
            "noise and claim too small by n / B",
        ),
    ),
    Stranger(
        "sampling",
        "baselines/dp_sgd:poisson@baseline",
        Patch(
            "sgd divides by the batch that came",
            "baselines/dp_sgd.py",
            "        mean = clip_rows(rows, s.clip).sum(axis=0) / size\n",
            "        mean = clip_rows(rows, s.clip).sum(axis=0) / max(len(indices), 1)\n",
            "the divisor is secret, a small batch moves by 2 C",
        ),
    ),
    Stranger(
        "dtype",
        "baselines/dp_sgd:full-batch@baseline",
        Patch(
            "sgd gradients in half precision",
            "baselines/dp_sgd.py",
            "        rows = problem.gradients(w, indices)\n",
            "        rows = problem.gradients(w, indices).astype(np.float16)\n",
            "a large gradient overflows: the run ends in an error for some data",
        ),
    ),
    Stranger(
        "sampling",
        "minimax_sosp/dp_spider:exact-sampled@baseline",
        Patch(
            "dp_spider noise for n in place of the batch",
            "baselines/dp_spider.py",
            "        sensitivity = 2 * threshold / size\n",
            "        sensitivity = 2 * threshold / problem.n\n",
            "noise and claim too small by n / B",
        ),
    ),
    Stranger(
        "sampling",
        "minimax_sosp/private_diff:exact-sampled@baseline",
        Patch(
            "private_diff draws a batch and keeps the first",
            "baselines/private_diff.py",
            ("        query, sensitivity = problem.query_x(x, y, indices, threshold, None if refresh else before)\n"),
            (
                "        kept = indices if t == 0 or len(indices) != len(kept) else kept\n"
                "        query, sensitivity = problem.query_x(x, y, kept, threshold, None if refresh "
                "else before)\n"
            ),
            "records outside the batch that is accounted",
        ),
    ),
    Stranger(
        "sensitivity",
        "minimax_sosp/dp_sgda:exact-full@baseline",
        Patch(
            "sgda clips y at twice its bound",
            "baselines/dp_sgda.py",
            "        query, sensitivity = problem.query_y(x, y, indices, s.clip_y)\n",
            (
                "        query, sensitivity = problem.query_y(x, y, indices, 2 * s.clip_y)\n"
                "        sensitivity = sensitivity / 2\n"
            ),
            "claim is half",
        ),
    ),
)
