"""Claims about what is only called, or only stored: judged as by `dpassay blackbox` and `dpassay scores`."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.audit.blackbox.detect import same_data
from dpassay.audit.blackbox.sources import draw, read_source
from dpassay.audit.inputs.stored import load
from dpassay.audit.results import ClaimTest, Sound, SoundBound, Verdict, decide
from dpassay.audit.row import Row
from dpassay.reference.errors import BadInput
from dpassay.reference.files import inside

from .claimed import Claim as Judged
from .claimed import claim_of_pairs, read_claim
from .model import BlackBox, Outputs, Scores
from .outputs import Question, answer
from .scores import both_sides, hints, judge_scores, with_power

_STREAM = 67  # the audit's own: what is stored may have been drawn from the plain seed
_NOTHING = "nothing is accounted"


def judged_row(claim: BlackBox | Outputs | Scores, folder: Path, confidence: float) -> Row:
    """The verdict on a black box, or on stored outputs or scores.

    Raises:
        BadInput: a file or a program that cannot be used.
    """
    start = time.perf_counter()
    rng = np.random.default_rng([claim.seed, _STREAM])
    if isinstance(claim, Scores):
        results, verdict, notes, data = _scores(claim, folder, confidence, rng)
    else:
        results, verdict, notes, data = _outputs(claim, folder, confidence, rng)
    return _row(claim, data, results, verdict, notes, confidence, time.perf_counter() - start)


def _guarantee(claim: BlackBox | Outputs | Scores) -> Judged:
    if claim.curve is not None:
        return claim_of_pairs(claim.pairs, _delta(claim), claim.name)
    found = read_claim(claim.epsilon, _delta(claim), claim.gdp, None, None)
    assert found is not None
    return found


def _delta(claim: BlackBox | Outputs | Scores) -> float:
    """At which a bound of epsilon is asked for."""
    if claim.gdp is not None:
        return 1e-5
    return claim.delta if claim.delta is not None else claim.pairs[0][1]


def _outputs(
    claim: BlackBox | Outputs, folder: Path, confidence: float, rng: np.random.Generator
) -> tuple[list[Sound], Verdict, list[str], str]:
    notes: list[str] = []
    p: Any
    q: Any
    if isinstance(claim, Outputs):
        p, q = (load(folder / name) for name in claim.outputs)
        data = " against ".join(claim.outputs)
    else:
        files = folder / claim.dataset, folder / claim.neighbour
        source = read_source(claim.function, claim.command, *files, claim.keep_alive)
        p, q = (draw(source.mechanism, one, claim.samples, rng) for one in source.datasets)
        notes, data = same_data(source.datasets), f"{claim.dataset} against {claim.neighbour}"
    stated = _guarantee(claim), _delta(claim), confidence, claim.seed, claim.relation
    question = Question(*stated, claim.power)
    found = answer(p, q, question, rng)
    verdict = Verdict.INCONCLUSIVE if notes and not found.verdict.failed else found.verdict
    return list(found.results), verdict, [*notes, *found.notes], data


def _scores(
    claim: Scores, folder: Path, confidence: float, rng: np.random.Generator
) -> tuple[list[Sound], Verdict, list[str], str]:
    files = [folder / name for name in claim.scores]
    p, q = both_sides(files[0], files[1] if len(files) == 2 else None, claim.one_run)
    guarantee = _guarantee(claim)
    judge = judge_scores(guarantee, _delta(claim), confidence, claim.one_run)
    deciding: list[Sound] = judge(p, q, rng)
    verdict, notes = decide(deciding), []
    if verdict is Verdict.INCONCLUSIVE:
        deciding, note = with_power(deciding, guarantee, judge, (p.size, q.size), claim.seed)
        notes = note.split("\n")
    return deciding, verdict, [*notes, *hints(p, q, claim.one_run)], " against ".join(claim.scores)


def _clause(sentence: str) -> str:
    """A sentence as a part of a longer one."""
    first, rest = sentence[:1], sentence[1:].rstrip(".")
    return (first.lower() if rest[:1].islower() or rest[:1] == " " else first) + rest


def _row(
    claim: BlackBox | Outputs | Scores,
    data: str,
    results: Sequence[Sound],
    verdict: Verdict,
    notes: Sequence[str],
    confidence: float,
    seconds: float,
) -> Row:
    bounds = [one for one in results if isinstance(one, SoundBound)]
    tests = [one for one in results if isinstance(one, ClaimTest)]
    delta = _delta(claim)
    claimed = _guarantee(claim).epsilon
    refuted = [f"refuted by {one.method}, p-value {one.p_value:.2g}" for one in tests if one.verdict.failed]
    powers = [one.power for one in results if one.power is not None]
    reading = "black box" if isinstance(claim, BlackBox) else "outputs" if isinstance(claim, Outputs) else "scores"
    name = (claim.function or claim.command or "") if isinstance(claim, BlackBox) else claim.name
    return Row(
        algorithm=name,
        variant="",
        reading=reading,
        data=data,
        claimed=math.nan if claimed is None else claimed,
        delta=delta,
        relation=claim.relation,
        accounted=math.nan,
        accounting=_NOTHING,
        upper_bound=True,
        realised=max((one.epsilon for one in bounds), default=None),
        realised_by=bounds[0].method if bounds else tests[0].method if tests else "",
        verdict=verdict.value,
        why="; ".join(_clause(part) for part in [*refuted, *notes] if part),
        expected=not verdict.failed,
        undeclared=["violated"] if verdict.failed else [],
        missing=[],
        findings=[],
        movements={},
        power=min(powers, default=None),
        runs=max((one.runs for one in results), default=0),
        pilot=0,
        confidence=confidence,
        seed=claim.seed,
        seconds=seconds,
        code="",
        facts={},
    )


def data_files(claim: BlackBox | Outputs | Scores, folder: Path) -> list[Path]:
    """The files that a claim reads.

    Raises:
        BadInput: one is missing, or lies outside.
    """
    if isinstance(claim, BlackBox):
        return named_files({"dataset": claim.dataset, "neighbour": claim.neighbour}, folder)
    field, names = ("scores", claim.scores) if isinstance(claim, Scores) else ("outputs", claim.outputs)
    return named_files({f"{field}[{number}]": name for number, name in enumerate(names)}, folder)


def named_files(names: Mapping[str, str], folder: Path) -> list[Path]:
    """Files that a claims file names, by field.

    Raises:
        BadInput: one is missing, or lies outside (`reference.files.inside`).
    """
    for field, name in names.items():
        if not inside(folder, name, field).is_file():
            raise BadInput(field, name, "there is no such file")
    return [folder / name for name in names.values()]
