"""A claimed guarantee from the command line: (epsilon, delta), mu-GDP, a PLD of DP-SGD, or a file of pairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from dp_accounting.pld import privacy_loss_distribution

from dpassay.audit.scores.curve import Curve, approx_dp, from_pairs, from_pld, gdp
from dpassay.reference.errors import BadInput, require

Epsilon = Annotated[float | None, typer.Option("--epsilon", help="Claimed epsilon, at --delta.")]
Delta = Annotated[float, typer.Option("--delta", help="Claimed delta (0 allowed).")]
Mu = Annotated[float | None, typer.Option("--gdp", help="Claim mu-Gaussian DP instead.")]
Sampled = Annotated[
    str | None,
    typer.Option("--sampled-gaussian", help="NOISE:RATE:STEPS: claim the PLD of DP-SGD (add or remove) instead."),
]
PairsFile = Annotated[
    Path | None, typer.Option("--curve", help="JSON file: claim all of [[epsilon, delta], ...] instead.")
]


def claimed_curve(
    epsilon: float | None, delta: float, mu: float | None, sampled: str | None, pairs: Path | None
) -> Curve | None:
    """The claim as a curve, or None when nothing is claimed.

    Raises:
        BadInput: two claims, or one that makes no sense.
    """
    given = [name for name, value in (("--epsilon", epsilon), ("--gdp", mu), ("--sampled-gaussian", sampled),
             ("--curve", pairs)) if value is not None]  # fmt: skip
    require(len(given) <= 1, "claim", given, "give one of --epsilon, --gdp, --sampled-gaussian, --curve")
    require(0 <= delta < 1, "--delta", delta, "must lie in [0, 1)")
    if epsilon is not None:
        require(0 <= epsilon < float("inf"), "--epsilon", epsilon, "must be finite and not negative")
        return approx_dp(epsilon, delta)
    if mu is not None:
        require(0 < mu < float("inf"), "--gdp", mu, "must be positive and finite")
        return gdp(mu)
    if sampled is not None:
        return _sampled_gaussian(sampled)
    return None if pairs is None else _from_file(pairs)


def claimed_at(claim: Curve, delta: float) -> float | None:
    """The smallest epsilon that the claim gives at `delta`; None where its pairs do not go down that far."""
    allowed = claim.epsilons[(claim.epsilons >= 0) & (claim.deltas <= delta * (1 + 1e-9))]
    return float(allowed.min()) if allowed.size else None


def _sampled_gaussian(text: str) -> Curve:
    try:
        noise, rate, steps = (kind(part) for kind, part in zip((float, float, int), text.split(":"), strict=True))
    except ValueError:
        raise BadInput("--sampled-gaussian", text, "must be NOISE:RATE:STEPS, for instance 1.1:0.01:1000") from None
    require(
        noise > 0 and 0 < rate <= 1 and steps >= 1, "--sampled-gaussian", text, "NOISE > 0, 0 < RATE <= 1, STEPS >= 1"
    )
    one = privacy_loss_distribution.from_gaussian_mechanism(
        noise, value_discretization_interval=1e-3, sampling_prob=rate
    )
    return from_pld(one.self_compose(steps), f"DP-SGD, noise {noise:g}, rate {rate:g}, {steps} steps (PLD)")


def read_json(path: Path) -> Any:
    """A JSON file of somebody else: data, one clear line when it is not."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise BadInput(str(path), "unreadable", getattr(error, "strerror", None) or str(error)) from None


def _from_file(path: Path) -> Curve:
    document = read_json(path)
    try:
        pairs = [(float(epsilon), float(delta)) for epsilon, delta in document]
    except (TypeError, ValueError):
        raise BadInput(str(path), document, "must be a list of [epsilon, delta] pairs") from None
    good = bool(pairs) and all(0 <= epsilon < float("inf") and 0 <= delta <= 1 for epsilon, delta in pairs)
    require(good, str(path), pairs, "needs pairs with epsilon >= 0 and delta in [0, 1]")
    return from_pairs(pairs, path.stem)
