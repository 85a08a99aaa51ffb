"""Sequential audits in sessions: stop, continue from a checkpoint file, combine what several machines found.

A checkpoint holds the claim, the seed of its machine, how many sessions it has had, and the wealth: no outputs, no
losses, and of stored scores only digests, by which a file that is given twice is known again. Each session draws from a
stream of its own (seed, session number), so continuing never looks at old randomness again; machines must have
different seeds.

A session that is interrupted, or killed, ends with its last finished round: outputs are not kept, so the next one
begins a new stream.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import ConfigDict, Field, StrictStr, TypeAdapter

from dpassay.audit.blackbox.sources import Source
from dpassay.audit.evidence.curves import check_scores, curve_log_wealth
from dpassay.audit.plain import checked
from dpassay.audit.results import ClaimTest
from dpassay.audit.running.store import read_state, write_state
from dpassay.audit.scores.files import Count, Marks
from dpassay.reference.arrays import Array
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import there
from dpassay.reference.guarantee import Guarantee

from .black_box import audit_sequentially

KIND = "sequential session"
Wealth = Annotated[float, Field(strict=True, gt=-1e15, lt=1e15)]  # its logarithm


@dataclass(frozen=True)
class Session:
    """What is kept between sessions. `log_wealth` is an e-value's logarithm, `best` its largest value so far."""

    audited: StrictStr  # the callable, program or catalogue key
    claim: StrictStr
    seed: Count
    sessions: Count = 0
    runs: Count = 0
    log_wealth: Wealth = 0.0
    best: Wealth = 0.0
    marks: Marks = ()  # of the files of scores that were judged, see `scores/files.py`
    __pydantic_config__ = ConfigDict(extra="forbid")  # as it is read from a checkpoint

    def continued(self, runs: int, gained: float, peak: float, marks: Sequence[str] = ()) -> "Session":
        """After one more session, whose wealth multiplies this one's: what it gained, and the most on the way."""
        return replace(
            self,
            sessions=self.sessions + 1,
            runs=self.runs + runs,
            log_wealth=self.log_wealth + gained,
            best=max(self.best, self.log_wealth + peak, self.log_wealth + gained),
            marks=(*self.marks, *marks),
        )


class Kept:
    """A session and its checkpoint: every state that is put is on the disk, and nobody else has put one in between."""

    def __init__(self, path: Path, audited: str, claim: str, seed: int):
        self.path, self._before = path, read_state(path, KIND)
        self.session = Session(audited, claim, seed) if self._before is None else _session(self._before, path)
        for name, value in (("audited", audited), ("claim", claim), ("seed", seed)):
            found = getattr(self.session, name)
            require(found == value, f"{path}: {name}", found, f"this audit has {value!r}")

    def put(self, session: Session) -> None:
        """Keep this state in place of the last one."""
        state = asdict(session)
        write_state(self.path, KIND, state, self._before)
        self.session, self._before = session, state


def load(path: Path) -> Session:
    """Read a checkpoint; BadInput where there is none, or a field is wrong."""
    state = read_state(path, KIND)
    if state is None:
        why = f"is no checkpoint of a {KIND}" if there(path, "--checkpoint") else "No such file or directory"
        raise BadInput("--checkpoint", str(path), why)
    return _session(state, path)


def _session(state: Mapping[str, Any], path: Path) -> Session:
    """A session from a state, every field of its type and range."""
    session: Session = checked(TypeAdapter(Session), dict(state), str(path))
    lowest = max(0.0, session.log_wealth)  # the best so far counts the start and the end
    why = f"must be at least {lowest:.6g}, the wealth at the start and at the end"
    require(session.best >= lowest * (1 - 1e-12), f"{path}: best", session.best, why)
    return session


Each = Callable[[int, float], None]  # runs of this session so far, and their log wealth


def black_box(
    kept: Kept, source: Source, claim: Guarantee, limit: int, confidence: float, each: Each = lambda *_: None
) -> ClaimTest:
    """One session on a black box: at most `limit` outputs a side; kept after every round."""
    session = kept.session
    rng = np.random.default_rng([session.seed, 31, session.sessions])
    first = max(10, min(250, limit // 4))

    def round_over(result: ClaimTest) -> None:
        gained = float(result.evidence["log_wealth"])  # type: ignore[arg-type]
        kept.put(session.continued(result.runs, gained, -float(np.log(max(result.p_value, 1e-300)))))
        each(result.runs // 2, gained)

    mechanism, datasets = source.mechanism, source.datasets
    return audit_sequentially(mechanism, datasets, claim, rng, limit, first, confidence, each=round_over)


def stored_scores(session: Session, p: Array, q: Array, claim: Guarantee, marks: Sequence[str] = ()) -> Session:
    """After one pair of files: scores of independent runs on D and on D' that were never judged before."""
    rng = np.random.default_rng([session.seed, 41, session.sessions])
    sides = [rng.permutation(check_scores(side, name)) for name, side in (("scores_p", p), ("scores_q", q))]
    wealth = curve_log_wealth(sides[0], sides[1], claim, at_end=True)
    return session.continued(p.size + q.size, wealth, wealth, marks)


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
