"""Bugs of a stranger in `adaptive_batch` and `dp_ftrl`."""

from __future__ import annotations

from dpassay.audit.lab.source.bugs import Patch

from .stranger import Stranger

STRANGERS = (
    Stranger(
        "sampling",
        "adaptive_batch/stochastic_spider:d1-T7-O1@repaired",
        Patch(
            "oracle O2 reuses the first records",
            "adaptive_batch/oracles.py",
            (
                "        rows = self.problem.gradients(x, batch.indices) - "
                "self.problem.gradients(before, batch.indices)\n"
            ),
            (
                "        rows = self.problem.gradients(x, batch.indices) - "
                "self.problem.gradients(before, batch.indices - batch.indices.min())\n"
            ),
            "a record is in several oracles",
        ),
    ),
    Stranger(
        "control flow",
        "adaptive_batch/stochastic_spider:d1-T7-O1@repaired",
        Patch(
            "adaptive batch from the true change",
            "adaptive_batch/stochastic_spider.py",
            "        size = s.batch if refresh else s.adaptive_batch(norm(step))\n",
            "        size = s.batch if refresh else s.adaptive_batch(norm(tree._terms[-1].value))\n",
            "batch size from un-noised data",
        ),
    ),
    Stranger(
        "noise",
        "adaptive_batch/stochastic_spider:escape@repaired",
        Patch(
            "escape noise on one coordinate",
            "adaptive_batch/escape.py",
            "    return released\n",
            ("    released[1:] = model[1:]\n    return released\n"),
            "the other coordinates are bare",
        ),
    ),
    Stranger(
        "sensitivity",
        "dp_ftrl/dp_ftrl@repaired",
        Patch(
            "ftrl sensitivity of taking out",
            "dp_ftrl/dp_ftrl.py",
            "    replaced = 2 * schedule.clip  #",
            "    replaced = schedule.clip  #",
            "half the noise: the account halves it once more",
        ),
    ),
    Stranger(
        "clipping",
        "dp_ftrl/dp_ftrl:batches@repaired",
        Patch(
            "ftrl clips the sum of a batch",
            "dp_ftrl/dp_ftrl.py",
            "        total = clip_rows(gradients, schedule.clip).sum(axis=0)",
            ("        total = clip_rows(gradients.sum(axis=0, keepdims=True), schedule.clip).sum(axis=0)"),
            "taking a record out moves the clipped sum by 2 L",
        ),
    ),
)
