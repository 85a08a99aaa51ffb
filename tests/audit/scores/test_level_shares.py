"""The level is shared among thresholds and families: the simultaneous bound against a plain twin."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from dpassay.audit.scores.thresholds import epsilon_simultaneous


def twin(p, q, delta, alpha):
    """Every event 'above the k-th largest of the rare side', each at its share of the level, by hand."""
    best = 0.0
    for rare, frequent in ((p, q), (-q, -p), (q, p), (-p, -q)):
        n = len(rare)
        ranks = sorted({int(np.round(k)) for k in np.geomspace(1, n, max(2, int(3 * np.log2(n + 1))))})
        for rank in ranks:
            cut = np.sort(rare)[::-1][rank - 1]
            share = alpha / 4 / len(ranks)
            hits, above = int(np.sum(frequent > cut)), rank - 1
            low = beta.ppf(0.2 * share, hits, len(frequent) - hits + 1) if hits else 0.0
            high = beta.ppf(1 - 0.8 * share, above + 1, n - above)
            if low > delta:
                best = max(best, np.log(low - delta) - np.log(high))
    return best


@pytest.mark.parametrize(("n", "seed"), [(50, 0), (400, 1)])
def test_each_threshold_has_its_share(n, seed):
    rng = np.random.default_rng(seed)
    p, q = rng.normal(0, 1, n), rng.normal(3, 1, n)
    found = epsilon_simultaneous(p, q, 1e-3, 0.95).epsilon
    assert found == pytest.approx(twin(p, q, 1e-3, 0.05), rel=1e-9) and found > 0.5
