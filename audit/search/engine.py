"""The search: Hypothesis chooses data, neighbour, sizes and released values; four properties hold (docs/search.md).

Witnesses of earlier searches come first, then pairs from outside, then examples: some by design (``designed.py``), a
third uphill from the largest movements (``uphill.py``). Each finding (a kind at a label) is then made small
(``smaller.py``). The same seed gives the same findings: what limits a search is counted, nothing depends on the clock.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import product
from time import perf_counter
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st
from hypothesis.errors import Flaky

from dpassay.audit.lockstep.script import DRAWN, Choice, Script
from dpassay.audit.phases import TIME_IS_UP, phase, step, time_is_up
from dpassay.reference.accounting.calibrate import Uncalibrated
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.equality import same, snapshot
from dpassay.reference.errors import BadInput, require
from dpassay.reference.neighbours import Pair, Run
from dpassay.reference.space import Space

from .coverage import Coverage
from .designed import WAYS, Further
from .ground import AllOf, Data, Ground, OnePair, Setting, data_of
from .runner import Premises, Runner, one_line, quiet
from .smaller import smaller
from .strategies import Drawing
from .uphill import Example
from .witness import Key, Searched, Witness

EXAMPLES = 150
CALLS = 200_000  # of the tape, in all runs of the examples; a search that they stop says so
_SHRUNK = 12  # findings that are made small; further ones are reported by their smallest example
_UPHILL = 3  # of so many examples one goes uphill
_WHOLE = 8  # of so many examples with long runs one is run to its end
_SHRINKS = 360  # runs for making witnesses small, all of them together
_SEEDS, _WAYS = st.integers(0, 7), st.sampled_from(WAYS)
_NO_FUNCTION = "the run is no function of data and tape: the same example came out differently"


class _Enough(BaseException):
    """Stop here (no Exception: to Hypothesis it is no failure)."""


def search(
    run: Callable[..., Any],
    space: Space | Pair[Any],
    claim: PrivacyClaim,
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
    phase("searching", examples)
    runner = Runner(run, ground, premises or Premises(claim, ground.relation), tracing)
    return _Engine(runner, examples, seed, calls).go(explicit, known)


class _Engine:
    """One search."""

    def __init__(self, runner: Runner, examples: int, seed: int, calls: int | None):
        ground = runner.ground
        self._runner, self._ground, self._examples, self._seed = runner, ground, examples, seed
        self._most = CALLS if calls is None else calls
        self._calls = self._most // (1 if calls is None else 2)  # of long runs, half is left for what goes uphill
        self._checked, self._done = False, 0
        self._further = Further(runner, ground, self._enough) if isinstance(ground, AllOf) else None
        self._start = perf_counter()

    def go(self, explicit: Sequence[tuple[Run[Any], Pair[Any]]], known: Sequence[Witness]) -> Searched:
        """Known witnesses, explicit pairs, all examples; then each finding is made small."""
        runner = self._runner
        with quiet():
            for witness in known:
                self._known(witness)
            for mechanism, pair in explicit:  # both directions, values drawn, without noise, and zero
                for swapped, choice in product((False, True), (DRAWN, Choice("query"), Choice("zero"))):
                    setting = Setting(mechanism, pair.swapped() if swapped else pair)
                    runner.tried(setting, Data(swapped=swapped), 0, Drawing(same=choice))
            self._examined(self._examples - self._examples // _UPHILL)
            self._calls = self._most
            runner.cut_off(early=True)
            if self._further is not None:
                with suppress(_Enough):
                    self._further.go(self._examples, self._examples // _UPHILL, self._seed)
            runner.whole()
            if runner.raised and not runner.witnesses and runner.raised.total() >= runner.examples:
                raise BadInput("run", next(iter(runner.raised)), "was raised by every example")
            searched = Searched(  # what the examples showed, before small witnesses are made
                shares=dict(runner.premises.shares),
                coverage=runner.collector.coverage() if runner.collector else Coverage(),
                accounted=runner.premises.accounted,
                account=runner.premises.account,
                gap=runner.premises.gap,
                worst=runner.worst(),
                examples=runner.examples,
                raised=dict(runner.raised),
            )
            keys = [] if time_is_up() else list(runner.witnesses)[:_SHRUNK]
            runs = min(_SHRINKS, self._calls // max(1, runner.most))
            if keys:
                phase("making examples small", len(keys))
            for key in keys:
                self._shrink(key, runs // len(keys))
                step()
            searched.witnesses = list(map(runner.placed, runner.witnesses.values()))
        searched.findings = [one.finding for one in searched.witnesses]
        searched.note, searched.seconds = runner.note, perf_counter() - self._start
        return searched

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

    def _enough(self) -> None:
        """Stop a search whose runs are too long, or whose time is up, once something has run."""
        runner = self._runner  # it ends after all examples, or before, after so many calls
        done = max(self._done + 1, self._examples * min(runner.calls, self._most) // self._most)
        done = min(done, self._examples)  # what goes uphill tries more
        step(done - self._done)
        self._done = done
        tried = f"{runner.examples} example" + "s" * (runner.examples != 1)
        if runner.calls > self._calls:
            runner.note = f"search stopped after {tried}, {self._calls} draws and releases"
            raise _Enough
        if runner.examples and time_is_up():
            runner.note = f"stopped after {tried}: {TIME_IS_UP}"
            raise _Enough

    def _example(self, draw: Callable[[Any], Any]) -> None:
        self._enough()
        data = draw(self._ground.strategy)
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
        self._runner.cut_off(early=self._runner.examples % _WHOLE > 0)
        dictation = Drawing(draw, setting.landmarks)
        run = self._runner.tried(setting, data, seed, dictation)
        if self._further is not None:
            self._further.note(run, Example(data, dictation.script(), seed), way)

    def _unchanged(self, setting: Setting) -> None:
        """A run must not write into its data: the worlds share them (looked at once)."""
        if self._checked:
            return
        self._checked = True
        before = snapshot(setting.pair.here)
        with suppress(Exception):  # what it raises is seen later, on all sides
            self._runner.scripted(setting, 0, Script())
        require(same(before, setting.pair.here), "run", self._runner.name, "changes the data that it is given")

    def _known(self, witness: Witness) -> None:
        """What an earlier search found; the algorithm, or the space, may have changed since."""
        data = witness.data
        with suppress(BadInput):
            if (data.rows is None) != (self._ground.space is None):
                return
            if self._ground.space is not None and data.rows is not None and data.there is not None:
                data = data_of(self._ground.space, data.sizes, data.rows, data.there, data.target)
            self._runner.tried(self._ground.setting(data), data, witness.seed, witness.script)

    # -- small witnesses ----------------------------------------------------------------------------------
    def _shrink(self, key: Key, most: int) -> None:
        """The smallest example of a finding; one that does not come again says that the run is no function."""
        witness = self._runner.witnesses[key]
        if witness.data.rows is None and self._ground.space is not None:
            return  # found on a pair from outside, beside a space: there is nothing to choose
        if self._runner.again(key, witness.seed, witness.data, witness.script) is None:
            self._runner.note = _NO_FUNCTION
            return
        again = partial(self._runner.again, key, witness.seed)
        self._runner.witnesses[key] = smaller(witness, again, self._ground, most)
