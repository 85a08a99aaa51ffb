"""Runs examples of a search, judges each by the premises of adaptive composition, and keeps what they show together."""

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from typing import Any
from unittest.mock import patch

from hypothesis.internal.conjecture.engine import ConjectureRunner
from hypothesis.internal.conjecture.providers import HypothesisProvider

from dpassay.audit.lockstep.hub import LONGEST, ScriptedHub
from dpassay.audit.lockstep.outcome import ScriptedRun, Seen
from dpassay.audit.lockstep.run import scripted
from dpassay.audit.lockstep.script import Dictation, Script
from dpassay.audit.lockstep.watch import Watch
from dpassay.audit.plain import number
from dpassay.reference.accounting.calibrate import Uncalibrated
from dpassay.reference.accounting.cost import Account, account
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.findings import Finding, Kind
from dpassay.reference.transcript import Transcript

from .coverage import Collector, own_functions
from .ground import Data, Ground, Setting
from .placing import placed
from .strategies import Drawing
from .witness import Key, Witness, weight

_KEPT = 6  # settings that are compared with drawn values in the end
_LONG, _FEW = 64, 2  # calls of runs of which the beginnings are looked at; so few are compared in the end
Places = Mapping[Key, Seen]


class Runner:
    """Every run of a search goes through it.

    Args:
        name: of what is run.
        witnesses: each kind at each label once, in the order in which they were first seen, with its smallest example.
        examples: runs that were judged.
        raised: what the algorithm raised on both sides alike, with how often.
        calls: of the tape, in all runs so far; ``most`` in one.
        note: what a reader must know of the runs; empty mostly.
    """

    def __init__(self, run: Callable[..., Any], ground: Ground, premises: "Premises", tracing: bool):
        collector = Collector(run)
        self.collector = collector if tracing and collector.knows_source else None
        self.ground, self.premises = ground, premises
        self.witnesses: dict[Key, Witness] = {}
        self.raised: Counter[str] = Counter()
        self.examples, self.calls, self.note = 0, 0, ""
        self.cut, self.early, self.most = premises.cut, False, 0
        self.name, self._begins = str(getattr(run, "__name__", "run")), own_functions(run)[:1]
        self._outside: list[tuple[Data, Setting]] = []  # of pairs from outside
        self._hidden = False
        self._largest: list[tuple[float, Setting]] = []  # by separation, under whatever script
        self._beginnings: list[tuple[float, Setting]] = []  # likewise, of the beginnings of runs

    def tried(self, setting: Setting, data: Data, seed: int, dictation: Script | Drawing) -> ScriptedRun:
        """Run an example, judge it, and keep what it shows."""
        longest = LONGEST if data.rows is None else self.cut
        if data.rows is None and all(one is not data for one, _ in self._outside):
            self._outside.append((data, setting))
        run = self.scripted(setting, seed, dictation, longest, trace=True)
        self.examples += 1
        if run.raised:
            self.raised[run.raised] += 1
        if run.too_long and not self.early:
            self.note = f"runs were cut off after {longest} calls"
        findings = self.premises.findings(run, by_rows=data.rows is not None)
        if data.rows is not None:
            alone = any(draw.hidden and draw.n == 1 for draw in run.transcript.draws)  # it cannot be left out there
            size = run.separation if (run.complete or run.too_long) and not (run.raised or alone) else -1.0
            kept = self._beginnings if self.early else self._largest
            kept[:] = sorted([*kept, (size, setting)], key=lambda one: -one[0])[:_KEPT]
        if findings:
            script = dictation if isinstance(dictation, Script) else dictation.script()
            self._note(findings, data, seed, script, run.seen)
        return run

    def scripted(
        self, setting: Setting, seed: int, dictation: Dictation, longest: int = 0, trace: bool = False
    ) -> ScriptedRun:
        """A run that is not judged."""
        with self.collector.tracing() if self.collector and trace else nullcontext():
            run = scripted(
                setting.mechanism,
                setting.pair,
                [seed],
                dictation,
                hidden=self._hidden,
                hub_type=self.premises.hub_type,
                longest=longest or self.cut,
            )
        self.calls += len(run.transcript.events)
        self.most = max(self.most, len(run.transcript.events))
        self._hidden = self._hidden or any(draw.hidden for draw in run.transcript.draws)
        return run

    def again(self, key: Key, seed: int, data: Data, script: Script) -> Witness | None:
        """Run an example for one finding: its witness if it shows."""
        seen: Places = {}
        try:
            setting = self.ground.setting(data)
            run = self.scripted(setting, seed, script, LONGEST if data.rows is None else 0)
        except Uncalibrated as error:
            findings = [error.finding] if error.finding else []
        except Exception:  # rows that make no problem
            return None
        else:
            findings, seen = self.premises.findings(run, by_rows=data.rows is not None), run.seen
        shown = (_witness(one, data, seed, script, seen) for one in findings if (one.kind, one.label) == key)
        return next(shown, None)

    def _note(self, findings: Sequence[Finding], data: Data, seed: int, script: Script, places: Places) -> None:
        """Keep the smallest example of each finding."""
        for finding in findings:
            key = finding.kind, finding.label
            before = self.witnesses.get(key)
            if before is None or weight(data, script) < weight(before.data, before.script):
                self.witnesses[key] = _witness(finding, data, seed, script, places)

    def without_schedule(self, error: Uncalibrated, data: Data, seed: int) -> None:
        """No noise meets the budget for these sizes: nothing can be run, and that is the finding."""
        if error.finding is None:
            self.raised[one_line(error)] += 1
        else:
            self._note([error.finding], data, seed, Script(), {})

    def placed(self, witness: Witness) -> Witness:
        """With the lines that made what it shows: it is made again, watched."""
        return placed(witness, self._begins, partial(self._watched, witness), self.premises.measured)

    def _watched(self, witness: Witness, watch: Watch) -> None:
        outside = next((setting for data, setting in self._outside if data is witness.data), None)
        with suppress(Exception), watch.watching():  # a pair from outside may be gone
            self.scripted(
                outside or self.ground.setting(witness.data, anew=True), witness.seed, witness.script, LONGEST
            )

    def cut_off(self, early: bool) -> None:
        """From now on only the beginnings of long runs count: a training takes the same step many times."""
        self.early = early and self.most > _LONG and self.premises.early < self.premises.cut
        self.cut = self.premises.early if self.early else self.premises.cut

    def whole(self) -> None:
        """Whose beginnings part the most, are run to their end."""
        self.cut_off(early=False)
        for _, setting in self._beginnings[:_FEW]:
            assert setting.data is not None
            self.tried(setting, setting.data, 1, Script())
        self._beginnings.clear()

    def worst(self) -> Setting | None:
        """The setting whose queries move the most with drawn values: what a likelihood audit of the pair will see."""
        long = self.premises.early < self.premises.cut and self.most > _LONG
        settings = [setting for _, setting in self._largest[: _FEW if long else _KEPT]]

        def separation(setting: Setting) -> float:
            return sum(self.scripted(setting, seed, Script(), LONGEST).separation for seed in (1, 2))

        return max(settings, key=separation, default=None)


def _witness(finding: Finding, data: Data, seed: int, script: Script, places: Places) -> Witness:
    seen = places.get((finding.kind, finding.label), Seen())
    return Witness(finding, data, script, seed, seen.here, seen.there)


@contextmanager
def quiet() -> Iterator[None]:
    """Extreme values overflow: no news. And Hypothesis draws no constants from whatever modules happen to be loaded.

    Nor does it make most examples out of parts of the one before: where an example is a whole choice of sizes, rows and
    values, that repeats sizes that are known and leaves others untried.
    """
    with (
        warnings.catch_warnings(),
        patch.object(HypothesisProvider, "_maybe_draw_constant", lambda *_, **__: None),
        patch.object(ConjectureRunner, "generate_mutations_from", lambda *_: None),
    ):
        warnings.simplefilter("ignore")
        yield


def one_line(error: BaseException) -> str:
    """Type and text of an exception."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


_ROUNDING = 1e-9  # relative; of a moved distance
_MORE = 1e-6  # relative; a claim may be used up to rounding


class Premises:
    """Judges runs against one claim, and remembers the largest movements and the largest account.

    Args:
        shares: by label the largest movement over the declared sensitivity.
        accounted, account: the largest epsilon that a transcript added up to; None where no run could be accounted.
        gap: why some run could not be; empty if all could.
    """

    hub_type: Callable[..., ScriptedHub] | None = None  # what runs are watched by
    measured = False  # does what queries move by count, and nothing that is claimed?
    cut = early = 300  # calls after which an example is cut off: others show more for the time; and most of long runs
    many = math.inf  # releases from which on a run is accounted only if it spends more than those before: it takes time

    def __init__(self, claim: PrivacyClaim, relation: Relation):
        self._claim, self._relation = claim, relation
        self._epsilons: dict[Account, float] = {}
        self._spent = 0.0  # the largest spending of a long run
        self.shares: dict[str, float] = {}
        self.accounted: float | None = None
        self.account: Account | None = None
        self.gap = ""

    def findings(self, run: ScriptedRun, by_rows: bool) -> list[Finding]:
        """What breaks a premise.

        Args:
            by_rows: the neighbours were made of rows, so that one lacks the record where the relation says so: the
                accountant takes half of the declared sensitivity then, and the query may move by no more.
        """
        found = list(run.findings)
        whole = 0.5 if self._relation != "replace-one" and by_rows else 1.0
        for label, share in run.shares.items():
            joined = run.movements[label].joined  # where it is too large, that is found already
            self.shares[label] = max(self.shares.get(label, 0.0), share / whole, joined)
            known = any(one.kind is Kind.SENSITIVITY_EXCEEDED and one.label == label for one in found)
            if share > whole * (1 + _ROUNDING) and not known:
                counted = "half" if whole < 1 else "all"
                detail = f"a record moves the query by {share:.4g} of its sensitivity, {counted} is counted"
                found.append(Finding(Kind.SENSITIVITY_EXCEEDED, label, 0, detail))
        if not (run.complete or run.too_long):
            return found
        costs = [release.law.cost(release.sensitivity or 0.0) for release in run.transcript.releases]
        # a rank, no bound: the sum of squared sensitivities over noise
        spending = math.fsum(min(one.size, 1e100) ** 2 for one in costs if one is not None)
        long = run.too_long or len(run.transcript.releases) > self.many  # cut off, it costs no more than all of it
        over = [] if long and spending <= self._spent else self._over_budget(run.transcript)
        self._spent = self._spent if over or not long else max(self._spent, spending)
        return found + over

    def _over_budget(self, transcript: Transcript) -> list[Finding]:
        cost = account(transcript, self._relation)
        if cost.unknown:  # nothing is declared, or no cost is known: so nothing adds up
            self.gap = self.gap or cost.gap
            return []
        if cost not in self._epsilons:
            self._epsilons[cost] = cost.epsilon(self._claim.delta)
        epsilon, claimed = self._epsilons[cost], self._claim.epsilon
        if epsilon >= (self.accounted or 0.0):
            self.accounted, self.account = epsilon, cost
        if epsilon <= claimed * (1 + _MORE):
            return []
        more = f"{number(epsilon, claimed)}, claimed {number(claimed, epsilon)}"
        why = f"the releases of this run add up to epsilon {more}"
        if math.isinf(epsilon):
            why = f"the releases have no finite epsilon: {cost.gap}"
        return [Finding(Kind.OVER_BUDGET, "", len(transcript.events), why)]
