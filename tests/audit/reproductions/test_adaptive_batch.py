"""The plot of `dpassay reproduce adaptive_batch`."""

import numpy as np
import pytest

from dpassay.audit.reproductions import adaptive_batch
from dpassay.audit.reproductions.report import Options


def test_the_line_of_the_start_is_measured_as_the_runs_are(monkeypatch, tmp_path):
    """lambda_min^2 / rho with the rho of the sampled problem: 0.25 / 4.95 (without records it would be 4.5)."""
    seen = []
    monkeypatch.setattr(adaptive_batch, "_plot", lambda curves, sizes, starts, folder: seen.extend(starts) or folder)
    report = adaptive_batch.run(Options(quick=True, runs=1, output=tmp_path))
    assert np.allclose(seen, 0.25 / 4.95)
    unmoved = [float(row[-1]) for row in report.tables[0].rows if row[1] == "no noise"]
    assert unmoved and max(unmoved) <= max(seen)  # a run cannot be farther from its goal than where it began


@pytest.mark.more
def test_the_quick_report_shows_the_printed_noise_over_its_claim_and_the_repaired_within(tmp_path):
    report = adaptive_batch.run(Options(quick=True, output=tmp_path, runs=1))
    assert all(file.exists() for file in report.files)
    rows = {(row[0], row[1]): row for row in report.tables[0].rows}
    assert float(rows["10000", "Theorem 3.17"][3]) > 1.0  # claimed epsilon
    assert float(rows["10000", "repaired"][3]) <= 1.0
