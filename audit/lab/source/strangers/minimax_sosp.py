"""Bugs of a stranger in `minimax_sosp`."""

from __future__ import annotations

from dpassay.audit.lab.source.bugs import Patch

from .stranger import Stranger

STRANGERS = (
    Stranger(
        "control flow",
        "minimax_sosp/sto_spider:exact-full@baseline",
        Patch(
            "sto_spider kicks at a small true mean",
            "minimax_sosp/sto_spider.py",
            "float(np.linalg.norm(estimate)) <= s.tolerance",
            "float(np.linalg.norm(mean)) <= s.tolerance",
            "branch on un-noised data",
        ),
    ),
    Stranger(
        "control flow",
        "minimax_sosp/sto_spider:exact-full@baseline",
        Patch(
            "sto_spider drift from the true mean",
            "minimax_sosp/sto_spider.py",
            "        drift += float(step @ step)\n",
            "        drift += s.step_size**2 * float(mean @ mean)\n",
            "when to refresh depends on un-noised data",
        ),
    ),
    Stranger(
        "output",
        "minimax_sosp/dp_rgda:n9-d2-T3-K2-q3-b9@repaired",
        Patch(
            "rgda best step by the true mapping",
            "minimax_sosp/dp_rgda.py",
            "        mapping = float(np.linalg.norm(y - y_next)) / schedule.ascent_step",
            ("        mapping = float(np.linalg.norm(problem.gradients_y(x, y, np.arange(problem.n)).mean(axis=0)))"),
            "argmin over un-noised norms",
        ),
    ),
    Stranger(
        "noise",
        "minimax_sosp/dp_rgda:n9-d2-T3-K2-q3-b9@repaired",
        Patch(
            "rgda one noise for v and u",
            "minimax_sosp/dp_rgda.py",
            (
                '    u: Array = tape.gaussian("refresh/u", mean_u, std=std, '
                "sensitivity=s.refresh_sensitivity, batch=batch)  # line 8\n"
            ),
            "    u: Array = mean_u + (v - mean_v)[: mean_u.size]\n",
            "the difference of v and u is bare",
        ),
    ),
    Stranger(
        "control flow",
        "minimax_sosp/dp_rgda:n9-d1-T8-K1-q4-b9@repaired",
        Patch(
            "rgda looks at the true gradient",
            "minimax_sosp/dp_rgda.py",
            "        norm = float(np.linalg.norm(v))\n",
            (
                "        norm = float(np.linalg.norm(problem.gradients_x(x, found.y, "
                "np.arange(problem.n)).mean(axis=0)))\n"
            ),
            "phase and step length from un-noised data",
        ),
    ),
    Stranger(
        "noise",
        "minimax_sosp/dp_rgda:n9-d1-T8-K1-q4-b9@repaired",
        Patch(
            "rgda half the noise late in the run",
            "minimax_sosp/dp_rgda.py",
            "    std = s.step_std(claim, moved_y)\n",
            "    std = s.step_std(claim, moved_y) * (0.5 if tape.step > 12 else 1.0)\n",
            "half the noise from position 12 on",
        ),
    ),
    Stranger(
        "printed noise",
        "minimax_sosp/dp_rgda:rowclip-n9-d1-T8-K1-q4-b9@printed",
        Patch(
            "rgda printed noise without the maximum",
            "minimax_sosp/dp_rgda.py",
            '            "step": clips[1] * scale * max(1 / batches[1], sqrt(T) / n),  # line 2\n',
            '            "step": clips[1] * scale * min(1 / batches[1], sqrt(T) / n),  # line 2\n',
            "less noise than the page prints, on a row with a declared defect",
        ),
    ),
)
