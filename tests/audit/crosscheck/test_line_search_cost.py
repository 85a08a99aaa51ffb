"""The noise of a line search can be verified from a vector and the format page alone, and less noise is noticed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from dpassay.audit.crosscheck.storage import load
from dpassay.reference.second_order_erm.line_search import gaussian_parameter, lambda_for

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "vectors.md").read_text(encoding="utf-8")


def searches():
    """(lambda, trials, beta, 1 / sigma) of each line search of a repaired vector, from its events."""
    for algorithm in ("opt_ls", "two_opt_ls"):
        for vector in load(f"second_order_erm/{algorithm}"):
            if "@repaired" not in vector["id"] or vector["expect"] != "run":
                continue
            sigma = 0.0
            for event in vector["events"]:
                if event.get("label", "").rpartition("/")[2] == "gradient" and event.get("law") == "Gaussian":
                    sigma = event["std"] / event["sensitivity"]
                if event.get("law") == "AboveThreshold":
                    lam = event["threshold_scale"] / (2 * event["sensitivity"])
                    yield lam, event["count"], event["falls"], 1 / sigma


def test_lambdas_of_the_vectors_are_what_the_page_says():
    found = list(searches())
    assert len(found) >= 5
    for lam, trials, beta, most in sorted(set(found))[::3]:
        power = np.log(lam) / np.log(1.01)
        assert power == pytest.approx(round(power), abs=1e-9)
        assert gaussian_parameter(lam, trials, beta) <= most < gaussian_parameter(lam / 1.01, trials, beta)


@pytest.mark.parametrize("mu", [0.7, 0.11, 0.0123])
def test_a_lambda_is_the_least_power(mu):
    lam = lambda_for(mu, 4, 0.5)
    assert gaussian_parameter(lam, 4, 0.5) <= mu < gaussian_parameter(lam / 1.01, 4, 0.5)


def test_the_page_prints_right_numbers():
    rows = re.findall(
        r"^\| ([\d.]+) \| (\d) \| ([\d.]+) \| ([\d.]+) \|$",
        PAGE.partition("## What a line search costs")[2],
        re.MULTILINE,
    )
    assert len(rows) == 3
    for lam, trials, beta, mu in rows:
        assert float(mu) == pytest.approx(gaussian_parameter(float(lam), int(trials), float(beta)), rel=1e-6)
