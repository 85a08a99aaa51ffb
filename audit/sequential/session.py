"""Sequential audits in sessions: stop, continue from a checkpoint file, combine what several machines found.

A checkpoint holds the claim, the seed of its machine, how many sessions it has had, and the wealth: no outputs, no
losses, and of stored scores only digests, by which a file that is given twice is known again. Each session draws from a
stream of its own (seed, session number), so continuing never looks at old randomness again; machines must have
different seeds.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.audit.blackbox.sources import Source
from dpassay.audit.likelihood.pilot import make_plan
from dpassay.audit.likelihood.samplers import LockstepSampler
from dpassay.audit.results import ClaimTest
from dpassay.reference.case import Case
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import read_json, write_text
from dpassay.reference.guarantee import Guarantee
from dpassay.reference.types import Array

from .processes import CurveProcess, MeanProcess, audit_sequentially, hockey_stick, until_refuted

FORMAT = 1
_MARK = re.compile(r"(\d{1,18} in order|sorted): [0-9a-f]{32}")


@dataclass(frozen=True)
class Session:
    """What is kept between sessions. `log_wealth` is an e-value's logarithm, `best` its largest value so far."""

    audited: str  # the callable, program or catalogue key
    claim: str
    seed: int
    sessions: int = 0
    runs: int = 0
    log_wealth: float = 0.0
    best: float = 0.0
    marks: tuple[str, ...] = ()  # of the files of stored scores that were judged, see `scores/blocks.py`

    def continued(self, result: ClaimTest, marks: Sequence[str] = ()) -> Session:
        """After one more session, whose wealth multiplies this one's."""
        gained = float(result.evidence["log_wealth"])  # type: ignore[arg-type]
        peak = -float(np.log(max(result.p_value, 1e-300)))
        return replace(
            self,
            sessions=self.sessions + 1,
            runs=self.runs + result.runs,
            log_wealth=self.log_wealth + gained,
            best=max(self.best, self.log_wealth + peak, self.log_wealth + gained),
            marks=(*self.marks, *marks),
        )


def save(path: Path, session: Session) -> None:
    """Write a checkpoint, atomically."""
    text = json.dumps({"format": FORMAT, **asdict(session)}, indent=1, sort_keys=True)
    write_text(path, f"{text}\n", "--checkpoint")


def load(path: Path) -> Session:
    """Read a checkpoint.

    Raises:
        BadInput: it is not one, with the field that is wrong.
    """
    document = read_json(path, "--checkpoint")
    if not isinstance(document, dict) or document.pop("format", None) != FORMAT:
        raise BadInput(str(path), "malformed", f"is not a checkpoint of format {FORMAT}")
    kinds = {
        "audited": str,
        "claim": str,
        "seed": int,
        "sessions": int,
        "runs": int,
        "log_wealth": float,
        "best": float,
    }
    for name, kind in kinds.items():
        value = document.get(name)
        good = isinstance(value, int | float if kind is float else kind) and not isinstance(value, bool)
        require(good, f"{path}: {name}", value, f"must be of type {kind.__name__}")
    marks = document.pop("marks", [])  # absent in checkpoints of earlier versions
    good = isinstance(marks, list) and all(isinstance(mark, str) and _MARK.fullmatch(mark) for mark in marks)
    require(good, f"{path}: marks", marks, "must be a list of marks of files")
    require(set(document) == set(kinds), str(path), sorted(set(document) - set(kinds)), "has fields that do not belong")
    for name in ("seed", "sessions", "runs"):
        require(0 <= document[name] < 2**63, f"{path}: {name}", document[name], "must lie in 0..2^63 - 1")
    for name in ("log_wealth", "best"):
        require(-1e15 < document[name] < 1e15, f"{path}: {name}", document[name], "must be a finite wealth")
        document[name] = float(document[name])
    lowest = max(0.0, document["log_wealth"])  # the best so far counts the start and the end
    why = f"must be at least {lowest:.6g}, the wealth at the start and at the end"
    require(document["best"] >= lowest * (1 - 1e-12), f"{path}: best", document["best"], why)
    return Session(**document, marks=tuple(marks))


def open_session(path: Path, audited: str, claim: str, seed: int) -> Session:
    """The checkpoint at `path`, or a new one; it must belong to the same audit."""
    if not path.exists():
        return Session(audited, claim, seed)
    found = load(path)
    for name, value in (("audited", audited), ("claim", claim), ("seed", seed)):
        require(getattr(found, name) == value, f"{path}: {name}", getattr(found, name), f"this audit has {value!r}")
    return found


def black_box(session: Session, source: Source, claim: Guarantee, limit: int, confidence: float) -> ClaimTest:
    """One session on a black box: at most `limit` outputs a side."""
    rng = np.random.default_rng([session.seed, 31, session.sessions])
    first = max(10, min(250, limit // 4))
    return audit_sequentially(source.mechanism, source.datasets, claim, rng, limit, first, confidence)


def stored_scores(session: Session, p: Array, q: Array, claim: Guarantee, confidence: float) -> ClaimTest:
    """One session on one pair of files: scores of independent runs on D and on D' that were never judged before."""
    start, process = time.perf_counter(), CurveProcess(claim.name)
    process.update(p, q, claim, np.random.default_rng([session.seed, 41, session.sessions]))
    return ClaimTest(
        claim=claim.name,
        p_value=float(np.exp(-process.best)),
        confidence=confidence,
        method="sequential curve betting on stored scores",
        runs=process.runs,
        seconds=time.perf_counter() - start,
        evidence={"log_wealth": process.log_wealth},
    )


def likelihood(session: Session, case: Case, epsilon: float, limit: int, confidence: float) -> ClaimTest:
    """One session on an algorithm of the catalogue: at most `limit` runs, tilted as a pilot of fixed seed says."""
    sampler = LockstepSampler(*_run_and_pair(case), checks=0)
    start, delta = time.perf_counter(), case.claim.delta
    plan, _ = make_plan(sampler, delta, 1 - confidence, 1000, 200, 0)
    final = sampler.swapped() if plan.swapped else sampler
    process, block = MeanProcess.of_losses(epsilon, delta), 0

    def values(count: int) -> Array:
        nonlocal block
        block += 1
        losses = final.sample(plan.tilts, plan.shares, count, (session.seed, 37, session.sessions, block))
        require(not losses.inexact, case.key, losses.inexact, "has no exact likelihood: audit its outputs instead")
        return hockey_stick(losses.loss, losses.log_weight(np.log(plan.shares)), epsilon)

    result = until_refuted(process, values, limit, confidence)
    return replace(result, seconds=time.perf_counter() - start)


def _run_and_pair(case: Case) -> tuple[Callable[..., Any], Any]:
    instance = case.build()
    return instance.mechanism, instance.pair


def verdict(sessions: Sequence[Session], confidence: float = 0.95, seconds: float = 0.0) -> ClaimTest:
    """One verdict from machines with different seeds: the wealths multiply; one machine may use its largest so far.

    Raises:
        BadInput: different audits, or the same seed or the same stored scores twice (then they are not independent).
    """
    audits = {(one.audited, one.claim) for one in sessions}
    require(len(audits) == 1, "checkpoints", sorted(audits), "must be of one and the same audit")
    seeds = [one.seed for one in sessions]
    known = all(one.marks for one in sessions)  # stored scores: independent by their files, whatever the seeds
    distinct = known or len(set(seeds)) == len(seeds)
    require(distinct, "checkpoints: seed", seeds, "the same seed twice is not independent")
    marks = [mark for one in sessions for mark in set(one.marks)]
    twice = len(marks) - len(set(marks))
    require(not twice, "checkpoints", f"{twice} marks in common", "share a file of scores, so are not independent")
    visits, machines = sum(one.sessions for one in sessions), len(sessions)
    wealth = sessions[0].best if len(sessions) == 1 else sum(one.log_wealth for one in sessions)
    return ClaimTest(
        claim=sessions[0].claim,
        p_value=float(np.exp(-max(0.0, wealth))),
        confidence=confidence,
        method=f"sequential, {visits} session{'s' * (visits > 1)} of {machines} machine{'s' * (machines > 1)}",
        runs=sum(one.runs for one in sessions),
        seconds=seconds,
        evidence={"log_wealths": [one.log_wealth for one in sessions], "audited": sessions[0].audited},
    )
