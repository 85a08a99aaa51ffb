"""A printed noise scale against what exact accounting needs, for Gaussian releases under replace-one neighbours.

Without sampling the composition is one Gaussian of parameter mu = sqrt(count) * sensitivity / std, and its
delta(epsilon) is a closed form. With a sampling rate (batches without replacement) there are two numbers: a lower bound
from the pair (1-q) N(0, s^2) + q N(sensitivity, s^2) against N(0, s^2) per release, attained by data whose other
records coincide and rounded down, and an upper bound from the pair that dominates every such release, rounded up. Only
the lower one refutes, only the upper one passes; what lies between them is unknown.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from dpassay.proofs_check.finding import Finding, Verdict, in_words, show
from dpassay.proofs_check.formula import parse, parse_relation, resolve, symbol
from dpassay.proofs_check.region import Point, admissible, evaluate, holds, region
from dpassay.proofs_check.ties import count as released
from dpassay.proofs_check.visits import sample
from dpassay.reference.accounting.gdp import gdp_epsilon, gdp_mu
from dpassay.reference.accounting.parts import Part, epsilon_of

POINTS = 200  # of the region
COUNTED = 8  # fewer counted runs than that are a spot check
FEW = 20  # fewer instances than that are a spot check
SLACK = 1e-6  # relative; the closed form is exact to its last digits
DISCRETISATION = 1e-3
BUCKETS = 20_000  # the loss ranges over about 1/noise^2; coarser buckets only lower the bound
LEAST_BUCKETS = 2_000  # up to the largest likely loss: with fewer, rounding down can lose all of it


@lru_cache(maxsize=64)
def sampled_epsilon(noise: float, rate: float, count: int, delta: float) -> float:
    """Lower bound on epsilon for ``count`` sampled releases, std / sensitivity = ``noise`` (optimistic rounding)."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    bucket = max(DISCRETISATION, 1 / (BUCKETS * noise**2))
    drawn = (10 * noise + 0.5) / noise**2  # the loss of a Gaussian release, ten deviations out
    largest = float(np.logaddexp(np.log1p(-rate), np.log(rate) + drawn)) if rate < 1 else drawn
    one = pld.from_gaussian_mechanism(
        noise,
        sampling_prob=rate,
        pessimistic_estimate=False,
        use_connect_dots=False,
        value_discretization_interval=min(bucket, largest / LEAST_BUCKETS),
    )
    return float(one.self_compose(count).get_epsilon_for_delta(delta))


def check(table: Mapping[str, Any]) -> Finding:
    """Keys: ``std``, ``sensitivity``, ``epsilon``, ``delta`` and optionally ``count`` (releases of
    the same record, default 1), ``rate`` (sampling, default 1), ``failure`` (delta spent elsewhere), ``let``,
    ``instances``, ``releases`` (names for ``count``: how often the reference algorithm releases a label).
    """
    space = region(table)
    sources = table.get("releases", {})
    symbols = resolve(table.get("let", {}), {**space.symbols, **{name: symbol(name) for name in sources}})
    formula = {key: parse(str(table.get(key, default)), symbols) for key, default in _DEFAULTS.items()}
    formula["left"] = formula["delta"] - formula.pop("failure")
    points = [p for p in map(space.at, table.get("instances", ())) if admissible(space, p)]
    named = len(points)
    everywhere = not sources and str(table.get("rate", "1")) == "1" and space.variables
    if everywhere or not table.get("instances"):
        points += sample(space, POINTS)
    if not points:
        return Finding(Verdict.UNKNOWN, "no instance satisfies the assumptions")
    points = [{**point, **_released(sources, point)} for point in points]
    measured = [(point, _measure({key: _value(one, point) for key, one in formula.items()})) for point in points]
    return _verdict(measured, named, sampled=any(m["rate"] < 1 for _, m in measured))


def _released(sources: Mapping[str, Any], point: Point) -> Point:
    """The counts that the reference algorithms' transcripts give at a point."""
    sizes = {str(name): int(value) for name, value in point.items() if value == int(value)}
    return {symbol(name): sp.Integer(released(one[0], one[1], sizes)) for name, one in sources.items()}


def counts(table: Mapping[str, Any]) -> Finding:
    """A relation between printed counts and counted releases, at every instance."""
    sources = table["releases"]
    told: list[str] = []
    for one in table["instances"]:
        point = {symbol(name): parse(str(value), {}) for name, value in one.items()}
        point |= _released(sources, point)
        left, operator, right = parse_relation(table["claim"], {str(name): name for name in point})
        at = in_words(point)
        if not holds(left, operator, right, point):
            evidence = f"at {at} (counts from the transcript of the reference): {table['claim']} fails"
            return Finding(Verdict.REFUTED, evidence, show(point))
        told.append(at)
    evidence = f"counted in the transcripts of {len(told)} runs of the reference, last at {told[-1]}"
    return Finding(Verdict.CHECKED if len(told) >= COUNTED else Verdict.SPOT_CHECKED, evidence)


_DEFAULTS = {**dict.fromkeys(("std", "sensitivity", "epsilon", "delta"), ""), "count": "1", "rate": "1", "failure": "0"}


def _value(expression: Any, point: Point) -> float:
    """The value of a formula, rounded once."""
    value = point.get(expression, expression)
    value = value if value.is_Rational else evaluate(expression, point)
    if value is None:
        raise ValueError(f"{expression} has no value at {show(point)}")
    return float(value)


def _measure(numbers: Mapping[str, float]) -> dict[str, float]:
    """True epsilon at what is left of the claimed delta and, without sampling, the Gaussian parameter mu."""
    delta = numbers["left"]
    if delta <= 0:
        return {**numbers, "true": float("inf")}
    if delta >= 1:  # anything is
        return {**numbers, "true": 0.0}
    if numbers["rate"] >= 1:
        mu = float(np.sqrt(numbers["count"])) * numbers["sensitivity"] / numbers["std"]
        return {**numbers, "true": gdp_epsilon(mu, delta), "mu": mu}
    noise, count = numbers["std"] / numbers["sensitivity"], round(numbers["count"])
    above = true = sampled_epsilon(noise, numbers["rate"], count, delta)
    if true <= numbers["epsilon"]:
        above = epsilon_of(((Part("sampled", 1 / noise, numbers["rate"]), count),), "replace-one", delta)
    return {**numbers, "true": true, "above": above}


def _verdict(measured: list[tuple[Point, dict[str, float]]], named: int, *, sampled: bool) -> Finding:
    tolerance = 1 + (0.02 if sampled else SLACK)
    # the words of a claim are about the instances that it names
    shown = [one for one in measured[:named] if one[1]["true"] > one[1]["epsilon"] * tolerance]
    worst_point, worst = max(shown or measured, key=lambda item: item[1]["true"] / item[1]["epsilon"])
    least = "at least " if sampled else ""
    told = f"at {in_words(worst_point)}: claimed epsilon {worst['epsilon']:.4g}, "
    told += f"true epsilon {least}{worst['true']:.4g} at delta {worst['delta']:.3g}"
    if worst["rate"] >= 1:
        needed = worst["mu"] / gdp_mu(worst["epsilon"], worst["left"]) if "mu" in worst else worst["true"]
        told += f"; needed std / printed std = {needed:.4g}"
    if worst["true"] > worst["epsilon"] * tolerance:
        return Finding(Verdict.REFUTED, f"{told} (replace-one)", show(worst_point))
    if sampled:
        above = max(m.get("above", m["true"]) / m["epsilon"] for _, m in measured)
        if not above <= 1:
            told = f"{told}; the upper bound is {above:.4g} times the claim, so nothing is decided"
            return Finding(Verdict.UNKNOWN, told)
        told += f"; upper bound on epsilon / claim at most {above:.4g}"
    verdict = Verdict.CHECKED if len(measured) >= FEW else Verdict.SPOT_CHECKED
    evidence = f"exact accounting on {len(measured)} instances, tightest {told} (replace-one)"
    return Finding(verdict, evidence)
