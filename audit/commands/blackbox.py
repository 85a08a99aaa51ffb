"""``dpassay blackbox``: audit a callable, a program or stored outputs without looking inside."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, NoReturn

import numpy as np
import typer

from dpassay.audit.blackbox.detect import audit_outputs, epsilon_of_outputs
from dpassay.audit.blackbox.floating_point import float_grid, repeated_noise, support_holes
from dpassay.audit.blackbox.outputs import draw
from dpassay.audit.blackbox.planted import planted_power
from dpassay.audit.blackbox.sources import CommandOption, DatasetOption, MechanismName, NeighbourOption, read_source
from dpassay.audit.report.verdicts import print_results
from dpassay.audit.results import ClaimTest, Sound, Verdict, decide
from dpassay.audit.scores.curve import Curve
from dpassay.audit.stored import load
from dpassay.reference.errors import BadInput, require
from dpassay.reference.types import Array

from .claimed import Claim, Delta, Epsilon, Mu, PairsFile, Sampled, read_claim

STREAM = 61  # the audit's own: stored outputs may have been drawn from the plain seed


def blackbox(
    mechanism: MechanismName = None,
    command: CommandOption = None,
    dataset: DatasetOption = None,
    neighbour: NeighbourOption = None,
    outputs: Annotated[
        list[Path] | None, typer.Option("--outputs", help="Stored outputs instead (give twice: on D, on D').")
    ] = None,
    epsilon: Epsilon = None,
    delta: Delta = 0.0,
    mu: Mu = None,
    sampled: Sampled = None,
    pairs: PairsFile = None,
    samples: Annotated[int, typer.Option(help="Runs on each side.")] = 10_000,
    floats: Annotated[
        bool, typer.Option("--floats", help="Also judge the floating-point numbers themselves, in a second verdict.")
    ] = False,
    laplace: Annotated[
        str | None, typer.Option(help="ANSWER:SCALE of a Laplace mechanism on D: --floats, and look for holes.")
    ] = None,
    fresh_noise: Annotated[
        bool,
        typer.Option(
            "--fresh-noise", help="--floats, where continuous noise is new in each run: outputs must not repeat."
        ),
    ] = False,
    confidence: Annotated[float, typer.Option(help="Confidence of each verdict.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Of the runs, the split and the learners.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Refute a claimed guarantee from outputs on two neighbouring datasets, or bound epsilon from below.

    Outputs may be numbers, arrays, strings or dicts: a callable's values, one JSON value per run of a program, or files
    (.jsonl with one output per line, .npy without pickles, .csv). The verdict is about the mechanism in real numbers;
    --floats adds a second one about the floating-point numbers, which naive samplers fail. Where nothing is refuted, a
    violation is planted in the outputs to see what would have been. Exit 1: a claim is refuted, 3: nothing was found.
    """
    require(0 < confidence < 1, "--confidence", confidence, "must lie in (0, 1)")
    require(10 <= samples <= 10**8, "--samples", samples, "must lie in 10..1e8")
    require(seed >= 0, "--seed", seed, "must not be negative")
    claim, rng = read_claim(epsilon, delta, mu, sampled, pairs), np.random.default_rng([seed, STREAM])
    binary = Floating(floats or fresh_noise or laplace is not None, _answer_and_scale(laplace), fresh_noise)
    if claim is None:
        require(not binary.asked, "--floats, --fresh-noise, --laplace", True, "test a claim: give --epsilon or another")
    if outputs:
        none = (mechanism, command, dataset, neighbour) == (None,) * 4
        require(none, "--outputs", outputs, "takes the place of a mechanism and its datasets")
        p, q = _stored(outputs)
    else:
        source = read_source(mechanism, command, dataset, neighbour)
        p, q = (draw(source.mechanism, data, samples, rng) for data in source.datasets)
    if claim is not None:
        _decide(p, q, claim, delta, binary, rng, confidence, seed, as_json)
    bound = epsilon_of_outputs(p, q, delta, rng, confidence)
    print_results([bound], None, as_json, "No claim was given, so nothing is decided.")


def _decide(
    p: Any,
    q: Any,
    claim: Claim,
    delta: float,
    binary: Floating,
    rng: np.random.Generator,
    confidence: float,
    seed: int,
    as_json: bool,
) -> NoReturn:
    """Print the verdicts about a claim, and leave with the exit code of both together."""
    deciding = judge(p, q, claim, delta, rng, confidence)
    in_floats = judge_floats(p, q, claim.curve, binary, rng, confidence) if binary.asked else []
    overall, notes = decide([*deciding, *in_floats]), []
    if in_floats:
        notes.append(f"In real numbers: {decide(deciding)}. In floating point: {decide(in_floats)}{_cause(in_floats)}.")
    if overall is Verdict.INCONCLUSIVE:
        deciding, said = with_power(deciding, p, q, claim.curve, seed)
        notes.append(said)
    print_results([*deciding, *in_floats], overall, as_json, "\n".join(notes))
    raise typer.Exit(overall.exit_code)


def _stored(outputs: list[Path]) -> tuple[Any, Any]:
    require(len(outputs) == 2, "--outputs", outputs, "give two files: on D and on D'")
    return load(outputs[0]), load(outputs[1])


@dataclass(frozen=True)
class Floating:
    """What was asked about the floating-point numbers themselves."""

    asked: bool
    laplace: tuple[float, float] | None  # answer on D, scale
    fresh_noise: bool


def _answer_and_scale(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        answer, scale = (float(part) for part in text.split(":"))
    except ValueError:
        raise BadInput("--laplace", text, "must be ANSWER:SCALE, two numbers") from None
    good = np.isfinite(answer) and 0 < scale < np.inf
    require(bool(good), "--laplace", text, "ANSWER must be finite, SCALE positive and finite")
    return answer, scale


def judge(p: Any, q: Any, claim: Claim, delta: float, rng: np.random.Generator, confidence: float) -> list[Sound]:
    """The mechanism in real numbers: test of the claim, and (nine to one) bound of the epsilon claimed at delta."""
    if claim.epsilon is None:
        return [audit_outputs(p, q, claim.curve, rng, confidence)]
    test = audit_outputs(p, q, claim.curve, rng, 1 - 0.9 * (1 - confidence))
    bound = epsilon_of_outputs(p, q, delta, rng, 1 - 0.1 * (1 - confidence))
    return [test, replace(bound, claimed=claim.epsilon)]


def with_power(deciding: list[Sound], p: Any, q: Any, curve: Curve, seed: int) -> tuple[list[Sound], str]:
    """A planted violation that the first result, the test of the claim, would have refuted: as evidence, in words."""
    test = deciding[0]
    found = planted_power(p, q, curve, test.confidence, seed)
    said = found.statement
    if found.runs is not None:
        said += " That says nothing of quieter violations, so the claim is not called 'consistent'."
    evidence = {**test.evidence, "planted_branch": found.evidence}
    return [replace(test, evidence=evidence), *deciding[1:]], said


def judge_floats(
    p: Any,
    q: Any,
    claim: Curve,
    asked: Floating,
    rng: np.random.Generator,
    confidence: float,
) -> list[Sound]:
    """Grid; repeated noise, if it is said to be fresh; support holes of a known Laplace mechanism: a third each."""
    each = 1 - (1 - confidence) / 3
    found: list[ClaimTest] = [float_grid(p, q, claim, rng, each)]
    if asked.fresh_noise:
        found.append(repeated_noise(p, q, confidence=each))
    if asked.laplace is not None:
        answer, scale = asked.laplace
        found.append(support_holes(_single(p), _single(q), answer, scale, claim, rng, each))
    return list(found)


def _single(outputs: Any) -> Array:
    """Outputs that are one number each."""
    try:
        values = np.asarray(outputs, dtype=float)
    except (TypeError, ValueError):
        values = np.zeros((0, 0))
    require(values.size == len(outputs), "--laplace", "outputs", "needs outputs that are one number each")
    return values.ravel()


def _cause(results: list[Sound]) -> str:
    causes = {str(one.evidence["cause"]) for one in results if one.evidence.get("cause") not in (None, "none")}
    return f" (cause: {', '.join(sorted(causes))})" if causes else ""
