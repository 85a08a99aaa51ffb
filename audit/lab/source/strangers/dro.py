"""Bugs of a stranger in `dro`."""

from __future__ import annotations

from dpassay.audit.lab.source.bugs import Patch

from .stranger import Stranger

STRANGERS = (
    Stranger(
        "sensitivity",
        "dro/sgda@baseline",
        Patch(
            "minimax form takes the mean weight",
            "dro/minimax_form.py",
            "2.0 * clip * scale * float(y.max())",
            "2.0 * clip * scale * float(y.mean())",
            "a heavy record moves more than the mean weight says",
        ),
    ),
    Stranger(
        "noise",
        "dro/double_spider:chi_square@repaired",
        Patch(
            "double_spider threshold at the longest row",
            "dro/double_spider.py",
            (
                "    mean = clipped_mean(rows, clip, schedule.clip_mode)\n"
                "    # NOISE\n"
                '    std = schedule.noise.std(f"{block}/difference"'
            ),
            (
                "    clip = min(clip, float(np.max(np.linalg.norm(np.reshape(rows, (size, -1)), "
                "axis=1))))\n"
                "    mean = clipped_mean(rows, clip, schedule.clip_mode)\n"
                "    # NOISE\n"
                '    std = schedule.noise.std(f"{block}/difference"'
            ),
            "noise scale from un-noised data",
        ),
    ),
    Stranger(
        "clipping",
        "dro/double_spider:chi_square@repaired",
        Patch(
            "double_spider clips the mean in x",
            "dro/double_spider.py",
            (
                "    mean = clipped_mean(rows, clip, schedule.clip_mode)\n"
                "    # NOISE\n"
                '    std = schedule.noise.std(f"{block}/difference"'
            ),
            (
                '    mean = clipped_mean(rows, clip, schedule.clip_mode if block == "eta" else "mean")\n'
                "    # NOISE\n"
                '    std = schedule.noise.std(f"{block}/difference"'
            ),
            "2 C in place of 2 C / N",
        ),
    ),
    Stranger(
        "output",
        "dro/double_spider:chi_square@repaired",
        Patch(
            "double_spider polishes eta at the end",
            "dro/double_spider.py",
            "    return Output(x, eta) if schedule.last else selected\n",
            (
                "    chosen_one = Output(x, eta) if schedule.last else selected\n"
                "    return replace(chosen_one, eta=problem.best_eta(chosen_one.x))\n"
            ),
            "output of un-noised data",
        ),
    ),
    Stranger(
        "output",
        "dro/double_spider:chi_square@repaired",
        Patch(
            "double_spider keeps the best iterate",
            "dro/double_spider.py",
            "        if t + 1 == chosen:\n",
            "        if t == 0 or problem.value(x, eta) < problem.value(selected.x, selected.eta):\n",
            "argmin over un-noised values",
        ),
    ),
    Stranger(
        "sampling",
        "dro/double_spider:sampled@repaired",
        Patch(
            "double_spider before on other records",
            "dro/double_spider.py",
            "_gradients(problem, block, before, records)\n",
            "_gradients(problem, block, before, np.arange(size))\n",
            "records outside the batch, one in two rows",
        ),
    ),
    Stranger(
        "clipping",
        "dro/recursive_spider@repaired",
        Patch(
            "recursive_spider clips the mean value",
            "dro/recursive_spider.py",
            "    value = np.clip(problem.inner_values(*now, records), 1.0, schedule.value_clip)\n",
            ("    value = np.clip(np.mean(problem.inner_values(*now, records)), 1.0, schedule.value_clip)\n"),
            "C_5 - 1 in place of (C_5 - 1) / b",
        ),
    ),
    Stranger(
        "sampling",
        "dro/single_sample@repaired",
        Patch(
            "single_sample takes turns",
            "dro/single_sample.py",
            "        value = min(max(float(values[records[0]]), 1.0), schedule.clip)\n",
            (
                "        value = min(max(float(values[len(tape.transcript.batches) % schedule.n]), 1.0), "
                "schedule.clip)\n"
            ),
            "the batch is drawn, other records are read",
        ),
    ),
    Stranger(
        "sensitivity",
        "dro/composite_sgd@baseline",
        Patch(
            "composite gradients at the best eta",
            "dro/composite_sgd.py",
            "        x, eta = w[:-1], float(w[-1])\n",
            "        x, eta = w[:-1], self.problem.best_eta(w[:-1])\n",
            "every row depends on every record",
        ),
    ),
    Stranger(
        "sensitivity",
        "dro/double_spider:chi_square@repaired",
        Patch(
            "slopes normalised by their mean",
            "dro/objective.py",
            "        return np.minimum(slopes, LARGEST)\n",
            ("        return np.minimum(slopes / max(float(np.mean(np.minimum(slopes, LARGEST))), 1e-12), LARGEST)\n"),
            "every row depends on every record of the batch",
        ),
    ),
)
