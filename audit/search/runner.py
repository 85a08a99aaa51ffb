"""Runs examples of a search, judges each, and keeps what they show together."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from typing import Any
from unittest.mock import patch

from hypothesis.internal.conjecture.engine import ConjectureRunner
from hypothesis.internal.conjecture.providers import HypothesisProvider

from dpassay.audit.lockstep.hub import LONGEST
from dpassay.audit.lockstep.outcome import ScriptedRun, Seen
from dpassay.audit.lockstep.run import scripted
from dpassay.audit.lockstep.script import Dictation, Script
from dpassay.audit.lockstep.watch import Watch
from dpassay.reference.accounting.calibrate import Uncalibrated
from dpassay.reference.findings import Finding

from .coverage import Collector, own_functions
from .ground import Data, Ground, Setting
from .placing import placed
from .premises import Premises
from .witness import Key, Witness, weight

_KEPT = 6  # settings that are compared with drawn values in the end
_LONG, _FEW = 500, 2  # of runs with so many calls so few


class Runner:
    """Every run of a search goes through it.

    Args:
        name: of what is run.
        witnesses: each kind at each label once, in the order in which they were first seen, with its smallest example.
        examples: runs that were judged.
        raised: what the algorithm raised on both sides alike, with how often.
        calls: of the tape, in all runs so far.
        note: what a reader must know of the runs; empty mostly.
    """

    def __init__(self, run: Callable[..., Any], ground: Ground, premises: Premises, tracing: bool):
        collector = Collector(run)
        self.collector = collector if tracing and collector.knows_source else None
        self.ground, self.premises = ground, premises
        self.witnesses: dict[Key, Witness] = {}
        self.raised: Counter[str] = Counter()
        self.examples, self.calls, self.note = 0, 0, ""
        self.name, self._begins = str(getattr(run, "__name__", "run")), own_functions(run)[:1]
        self._outside: list[tuple[Data, Setting]] = []  # of pairs from outside
        self._hidden = False
        self._largest: list[tuple[float, Setting]] = []  # by separation, under whatever script

    def tried(
        self, setting: Setting, data: Data, seed: int, dictation: Dictation, script: Callable[[], Script]
    ) -> ScriptedRun:
        """Run an example, judge it, and keep what it shows."""
        longest = LONGEST if data.rows is None else self.premises.cut
        if data.rows is None and all(one is not data for one, _ in self._outside):
            self._outside.append((data, setting))
        run = self.scripted(setting, seed, dictation, longest, trace=True)
        self.examples += 1
        if run.raised:
            self.raised[run.raised] += 1
        if run.too_long:
            self.note = f"runs were cut off after {longest} calls"
        findings = self.premises.findings(run, by_rows=data.rows is not None)
        if data.rows is not None:
            alone = any(draw.hidden and draw.n == 1 for draw in run.transcript.draws)  # it cannot be left out there
            size = run.separation if (run.complete or run.too_long) and not (run.raised or alone) else -1.0
            self._largest = sorted([*self._largest, (size, setting)], key=lambda one: -one[0])[:_KEPT]
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
                longest=longest or self.premises.cut,
            )
        self.calls += len(run.transcript.events)
        self._hidden = self._hidden or any(draw.hidden for draw in run.transcript.draws)
        return run

    def again(self, key: Key, seed: int, data: Data, script: Script) -> Witness | None:
        """Run an example for one finding: its witness if it shows."""
        seen: Mapping[Key, Seen] = {}
        try:
            setting = self.ground.setting(data)
            run = self.scripted(setting, seed, script, LONGEST if data.rows is None else 0)
        except Uncalibrated as error:
            findings = [error.finding] if error.finding else []
        except Exception:  # rows that make no problem
            return None
        else:
            findings, seen = self.premises.findings(run, by_rows=data.rows is not None), run.seen
        shown = (self._witness(one, data, seed, script, seen) for one in findings if (one.kind, one.label) == key)
        return next(shown, None)

    def _note(
        self,
        findings: Sequence[Finding],
        data: Data,
        seed: int,
        script: Callable[[], Script],
        places: Mapping[Key, Seen],
    ) -> None:
        """Keep the smallest example of each finding."""
        told = script() if findings else Script()
        for finding in findings:
            before = self.witnesses.get((finding.kind, finding.label))
            if before is None or weight(data, told) < weight(before.data, before.script):
                self.witnesses[finding.kind, finding.label] = self._witness(finding, data, seed, told, places)

    def _witness(self, finding: Finding, data: Data, seed: int, script: Script, places: Mapping[Key, Seen]) -> Witness:
        seen = places.get((finding.kind, finding.label), Seen(""))
        return Witness(finding, data, script, seed, seen.line, seen.here, seen.there)

    def without_schedule(self, error: Uncalibrated, data: Data, seed: int) -> None:
        """No noise meets the budget for these sizes: nothing can be run, and that is the finding."""
        if error.finding is None:
            self.raised[one_line(error)] += 1
        else:
            self._note([error.finding], data, seed, Script, {})

    def placed(self, witness: Witness) -> Witness:
        """With the lines that made what it shows: it is made again, watched."""
        return placed(witness, self._begins, partial(self._watched, witness))

    def _watched(self, witness: Witness, watch: Watch) -> None:
        outside = next((setting for data, setting in self._outside if data is witness.data), None)
        with suppress(Exception), watch.watching():  # a pair from outside may be gone
            self.scripted(
                outside or self.ground.setting(witness.data, anew=True), witness.seed, witness.script, LONGEST
            )

    def worst(self) -> Setting | None:
        """The setting whose queries move the most with drawn values: what a likelihood audit of the pair will see."""
        long = self.calls > _LONG * max(1, self.examples)
        settings = [setting for _, setting in self._largest[: _FEW if long else _KEPT]]

        def separation(setting: Setting) -> float:
            return sum(self.scripted(setting, seed, Script(), LONGEST).separation for seed in (1, 2))

        return max(settings, key=separation, default=None)


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
