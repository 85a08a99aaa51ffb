"""Bugs in the stochastic SPIDER with escape, and in the tree of noisy sums."""

from __future__ import annotations

from dpassay.audit.lab.source.bugs import Patch

_RUN, _ESCAPE, _ORACLES, _TREE = (
    "adaptive_batch/stochastic_spider.py",
    "adaptive_batch/escape.py",
    "adaptive_batch/oracles.py",
    "blocks/tree.py",
)

PATCHES = (
    Patch(
        "stochastic_spider: escapes by the true gradient",
        _RUN,
        "if norm(noisy) <= s.threshold and frozen_before <= 0:",
        "if norm(gradient if refresh else noisy) <= s.threshold and frozen_before <= 0:",
        "the decision to escape is taken on the gradient before the noise",
    ),
    Patch(
        "stochastic_spider: batch by the true gradient",
        _RUN,
        "size = s.batch if refresh else s.adaptive_batch(norm(step))",
        "size = s.batch if refresh else s.adaptive_batch(float(np.abs(problem.gradients(x, np.arange(1))).sum()))",
        "the batch size follows a record",
    ),
    Patch(
        "stochastic_spider: replace-one taken for removal",
        _RUN,
        "claim = 2 * s.lipschitz / size  # replace-one; B.3 prints |O1 - O1'| <= G/b",
        "claim = s.lipschitz / size",
        "half of the sensitivity, and the tree's noise is made for it",
        thread="opendp/smartnoise-core#356",
    ),
    Patch(
        "stochastic_spider: the noise is made for half",
        _RUN,
        "        return 2 * max(self.lipschitz / self.batch, self.smoothness * self.step_size / self.batch_slope)",
        "        return max(self.lipschitz / self.batch, self.smoothness * self.step_size / self.batch_slope)",
        "noise for a record removed, not replaced",
        only_noise=True,
    ),
    Patch(
        "stochastic_spider: the refresh is bare",
        _RUN,
        "            noisy = tree.noisy()  # nabla_t + TREE(t), line 8",
        "            noisy = gradient if refresh else tree.noisy()",
        "after a refresh the gradient is used without noise",
        thread="NVIDIA/NVFlare#343",
    ),
    Patch(
        "stochastic_spider: drift of the true step",
        _RUN,
        "        drift += norm(step)",
        "        drift += norm(gradient) if refresh else norm(step)",
        "the time of the next refresh depends on the gradient before the noise",
    ),
    Patch(
        "escape: the model without noise far out",
        _ESCAPE,
        '        std=s.noise.std("escape", s.hessian_sensitivity * s.radius),',
        '        std=s.noise.std("escape", s.hessian_sensitivity * float(norm(move)) / 2),',
        "half the noise, and none where x has not moved",
        only_noise=True,
    ),
    Patch(
        "oracles: records used again",
        _ORACLES,
        '        batch = self._unused("O3", size)\n',
        '        batch = self._unused("O3", size)\n        batch = type(batch)(0 * batch.indices, batch.draw)\n',
        "the Hessian is that of one record, whoever is in the batch",
    ),
    Patch(
        "tree: the noise of one leaf for a node",
        _TREE,
        "                self._released[first, last] = self._node(first, last, self._std)",
        "                self._released[first, last] = self._node(first, last, self._std / (last - first + 1))",
        "a node over many leaves has less noise",
        only_noise=True,
    ),
    Patch(
        "tree: a prefix for a node",
        _TREE,
        "query = _sum([term.value for term in added])",
        "query = _sum([term.value for term in self._terms[start:last]])",
        "the prefix sum is released in place of the node",
    ),
)
