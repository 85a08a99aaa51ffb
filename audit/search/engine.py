"""The search: Hypothesis chooses data, neighbour, sizes and released values; four properties must hold on every run.

1. Nothing private reaches the outside beside the releases. 2. No query moves by more than it declares. 3. The releases
add up to at most the claim. 4. The worlds make the same calls. For all pairs and all released values these are the
premises of adaptive composition: where they hold, what is accounted is an upper bound. A search cannot prove that. It
says what it reached, and how far each query was moved.

Witnesses of earlier searches come first, then pairs from outside, then the examples of Hypothesis; each of them is
compared with a data set far away as well. Some examples are made by design (``designed.py``). A third of
them goes uphill from the largest movements (``uphill.py``). Each finding (a kind at a label) is then made small
(``smaller.py``). The same seed gives the same examples and the same findings: what limits a search is counted, and
nothing depends on the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st
from hypothesis.errors import Flaky

from dpassay.audit.lockstep.outcome import ScriptedRun
from dpassay.audit.lockstep.script import DRAWN, Choice, Script
from dpassay.audit.phases import TIME_IS_UP, phase, step, time_is_up
from dpassay.reference.accounting.calibrate import Uncalibrated
from dpassay.reference.equality import same, snapshot
from dpassay.reference.errors import BadInput, require
from dpassay.reference.neighbours import Pair, Run
from dpassay.reference.space import Space

from .coverage import Coverage
from .designed import (
    ANYWHERE,
    EVERY,
    WAYS,
    OpenBatches,
    Way,
    at_landmarks,
    far_rows,
    largest,
    one_by_one,
    turned,
    turning,
)
from .ground import AllOf, Data, Ground, OnePair, Setting, data_of
from .premises import Claimed, Premises
from .quiet import one_line, quiet
from .runner import Runner
from .smaller import smaller
from .strategies import Drawing, Same
from .uphill import Uphill
from .witness import Key, Searched, Witness

EXAMPLES = 150
CALLS = 200_000  # of the tape, in all runs of the examples; a search that they stop says so
_SHRUNK = 12  # findings that are made small; further ones are reported by their smallest example
_UPHILL = 3  # of so many examples one goes uphill
_A_SIZE = 20  # examples asked for, for each size at which values by design are tried
_NATURAL, _LEVELS = 2, 7  # sizes that are tried one by one, and at every landmark
_SHRINKS = 360  # runs for making witnesses small, all of them together
_SEEDS, _WAYS = st.integers(0, 7), st.sampled_from(WAYS)
_NO_FUNCTION = "the run is no function of data and tape: the same example came out differently"


class _Enough(BaseException):
    """Stop here (no Exception: to Hypothesis it is no failure)."""


def search(
    run: Callable[..., Any],
    space: Space | Pair[Any],
    claim: Claimed,
    *,
    examples: int = EXAMPLES,
    seed: int = 0,
    explicit: Sequence[tuple[Run[Any], Pair[Any]]] = (),
    known: Sequence[Witness] = (),
    tracing: bool = True,
    premises: Premises | None = None,
    calls: int | None = None,
) -> Searched:
    """Search a space (or one pair, under many released values) for whatever breaks the premises of the accounting.

    Args:
        run: ``run(problem, schedule, tape)`` where the space makes schedules, else ``run(problem, tape)``.
        claim: epsilon and delta that every transcript must keep to.
        examples: runs of the search; comparisons with data sets far away and smaller witnesses come on top.
        explicit: mechanisms with pairs that are tried first, under a few scripts.
        known: witnesses of earlier searches, tried before anything else; those that do not fit are left out.
        tracing: collect coverage.
        premises: what must hold, where that is something else than accounting to the claim.
        calls: of the tape that all examples may make together, where their runs are long; default: `CALLS`.

    Raises:
        BadInput: no example could be run at all; it names what the first one raised.
    """
    require(examples >= 1, "examples", examples, "must be at least 1")
    ground: Ground = AllOf(run, space) if isinstance(space, Space) else OnePair(run, space)
    held = premises or Premises(claim, ground.relation)
    phase("searching", examples)
    return Engine(run, ground, held, examples, seed, tracing, calls).go(explicit, known)


class Engine:
    """One search."""

    def __init__(
        self,
        run: Callable[..., Any],
        ground: Ground,
        premises: Premises,
        examples: int,
        seed: int,
        tracing: bool,
        calls: int | None = None,
    ):
        self._ground, self._examples, self._seed = ground, examples, seed
        self._calls, self._few = (CALLS, False) if calls is None else (calls, True)
        self._space = ground.space if isinstance(ground, AllOf) else None
        self._runner = Runner(run, ground, premises, tracing)
        self._name, self._checked = str(getattr(run, "__name__", "run")), False
        self._uphill = Uphill(self._runner, ground, self._enough) if isinstance(ground, AllOf) else None
        self._batches = OpenBatches(ground.space) if isinstance(ground, AllOf) else None
        self._start = perf_counter()

    def go(self, explicit: Sequence[tuple[Run[Any], Pair[Any]]], known: Sequence[Witness]) -> Searched:
        """Known witnesses, explicit pairs, all examples; then each finding is made small."""
        with quiet():
            for witness in known:
                self._known(witness)
            for mechanism, pair in explicit:
                self._explicit(mechanism, pair)
            most, self._calls = self._calls, self._calls // (2 if self._few else 1)
            self._examined(self._examples - self._examples // _UPHILL)
            self._calls = most  # of long runs, half is left for what goes uphill
            self._climbed(self._examples // _UPHILL)
            searched = self._summed_up()
            keys = [] if time_is_up() else list(self._runner.witnesses)[:_SHRUNK]
            runs = min(_SHRINKS, self._calls * self._runner.examples // max(1, self._runner.calls))
            for key in keys:
                self._shrink(key, runs // len(keys))
            searched.witnesses = list(map(self._runner.placed, self._runner.witnesses.values()))
        searched.findings = [one.finding for one in searched.witnesses]
        searched.note, searched.seconds = self._runner.note, perf_counter() - self._start
        return searched

    def _summed_up(self) -> Searched:
        """What the examples showed, before small witnesses are made."""
        runner = self._runner
        if runner.raised and not runner.witnesses and runner.raised.total() >= runner.examples:
            raise BadInput("run", next(iter(runner.raised)), "was raised by every example")
        return Searched(
            shares=dict(runner.premises.shares),
            coverage=runner.collector.coverage() if runner.collector else Coverage(),
            accounted=runner.premises.accounted,
            gap=runner.premises.gap,
            worst=runner.worst(),
            examples=runner.examples,
            raised=dict(runner.raised),
        )

    # -- examples -----------------------------------------------------------------------------------------
    def _examined(self, examples: int) -> None:
        """One run of Hypothesis through all examples; no example fails, so that all findings are collected."""

        @with_seed(self._seed)
        @settings(
            max_examples=examples,
            database=None,
            deadline=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
            print_blob=False,
        )
        @given(st.data())
        def body(data: Any) -> None:
            self._example(data.draw)

        with suppress(_Enough, Flaky):  # to Hypothesis an example that is given up is one that came out differently
            body()

    def _climbed(self, examples: int) -> None:
        """Values by design, the target in every open batch; then uphill from the largest movements."""
        if self._uphill is not None and self._batches is not None:
            with suppress(_Enough):
                self._designed(self._uphill, self._batches)
                for example in self._batches.examples_with_target():
                    self._uphill.again(*example)
                self._uphill.climb(examples, np.random.default_rng([self._seed, 23]))

    def _enough(self) -> None:
        """Stop a search whose runs are too long, or whose time is up, once something has run."""
        step()
        if self._runner.calls > self._calls:
            tried = f"{self._runner.examples} examples, {self._calls} draws and releases"
            self._runner.note = f"search stopped after {tried}"
            raise _Enough
        if self._runner.examples and time_is_up():
            self._runner.note = f"stopped after {self._runner.examples} examples: {TIME_IS_UP}"
            raise _Enough

    def _example(self, draw: Callable[[Any], Any]) -> None:
        self._enough()
        data = draw(self._ground.strategy())
        seed, way = draw(_SEEDS), draw(_WAYS)
        try:
            setting = self._ground.setting(data)
        except Uncalibrated as error:
            self._runner.without_schedule(error, data, seed)
            return
        except Exception as error:
            self._runner.raised[one_line(error)] += 1
            return
        self._unchanged(setting)
        dictation = Drawing(draw, setting.landmarks)
        run = self._runner.tried(setting, data, seed, dictation, dictation.script)
        if self._uphill is not None and self._batches is not None:
            self._batches.note(run, data, dictation.script(), seed)
            self._uphill.note(run, data, dictation.script(), seed)
            self._far(data, seed, way, dictation.script(), run)

    def _designed(self, uphill: Uphill, batches: OpenBatches) -> None:
        """Values by design, each run compared with every data set far away: as many as suit the number of examples."""
        count, first = self._examples // _A_SIZE, next(iter(uphill.peaks.values()), None)
        if first is None or self._space is None or not isinstance(self._ground, AllOf):
            return
        for data in largest(self._space, first.data, self._ground.combinations, max(1, min(_NATURAL, count))):
            for script in one_by_one(uphill.labels, uphill.marks(data)):
                self._all_ways(uphill, data, script)
        if not batches.examples or not count:
            return
        for data in largest(self._space, first.data, self._ground.combinations, min(_LEVELS, count)):
            data = turned(self._space, data)
            for script in at_landmarks(uphill.labels, uphill.marks(data)):
                run = self._all_ways(uphill, data, script)
                if run is not None:
                    batches.note(run, data, script, 0, calm=True)

    def _all_ways(self, uphill: Uphill, data: Data, script: Script) -> ScriptedRun | None:
        """An example, beside every data set far away."""
        run, _ = uphill.again(data, script, 0)
        if run is not None:
            for way in EVERY:
                self._far(data, 0, way, script, run)
        return run

    def _far(self, data: Data, seed: int, way: Way, script: Script, run: ScriptedRun) -> None:
        """Does anything part D from a data set far away? Then there are neighbours that it parts."""
        assert isinstance(self._ground, AllOf)
        far = far_rows(self._ground.space, data, way)
        if far is None or any(finding.kind in ANYWHERE for finding in run.findings):
            return

        def parts(setting: Setting) -> bool:
            beside = self._runner.scripted(setting, seed, script)
            return any(finding.kind in ANYWHERE for finding in beside.findings)

        with suppress(Exception):  # a data set that makes no problem leads nowhere
            if parts(self._ground.between(data.sizes, data.parts[0], far, data.target)):
                turned = turning(self._ground, data, far, parts)
                self._runner.tried(self._ground.setting(turned), turned, seed, script, lambda: script)

    def _unchanged(self, setting: Setting) -> None:
        """A run must not write into its data: the worlds share them (looked at once)."""
        if self._checked:
            return
        self._checked = True
        before = snapshot(setting.pair.here)
        with suppress(Exception):  # what it raises is seen later, on all sides
            self._runner.scripted(setting, 0, Same(DRAWN))
        require(same(before, setting.pair.here), "run", self._name, "changes the data that it is given")

    def _explicit(self, mechanism: Run[Any], pair: Pair[Any]) -> None:
        """A pair from outside: both directions, values drawn, without noise, and zero."""
        for swapped in (False, True):
            setting = Setting(mechanism, pair.swapped() if swapped else pair)
            for choice in (DRAWN, Choice("query"), Choice("zero")):
                told = Same(choice)
                self._runner.tried(setting, Data(swapped=swapped), 0, told, told.script)

    def _known(self, witness: Witness) -> None:
        """What an earlier search found; the algorithm, or the space, may have changed since."""
        data = witness.data
        with suppress(BadInput):
            if (data.rows is None) != (self._space is None):
                return
            if self._space is not None and data.rows is not None and data.there is not None:
                data = data_of(self._space, data.sizes, data.rows, data.there, data.target)
            self._runner.tried(self._ground.setting(data), data, witness.seed, witness.script, lambda: witness.script)

    # -- small witnesses ----------------------------------------------------------------------------------
    def _shrink(self, key: Key, most: int) -> None:
        """The smallest example of a finding; one that does not come again says that the run is no function."""
        witness = self._runner.witnesses[key]
        if witness.data.rows is None and self._space is not None:
            return  # found on a pair from outside, beside a space: there is nothing to choose
        if self._runner.again(key, witness.seed, witness.data, witness.script) is None:
            self._runner.note = _NO_FUNCTION
            return
        combinations = self._ground.combinations if isinstance(self._ground, AllOf) else ()
        again = partial(self._runner.again, key, witness.seed)
        self._runner.witnesses[key] = smaller(witness, again, self._space, combinations, most)
