"""The search: Hypothesis chooses data, neighbour, sizes and released values; four properties must hold on every run.

1. Nothing private reaches the outside beside the releases. 2. No query moves by more than it declares. 3. The releases
add up to at most the claim. 4. The worlds make the same calls. For all pairs and all released values these are the
premises of adaptive composition: where they hold, what is accounted is an upper bound. A search cannot prove that. It
says what it reached, and how far each query was moved.

The search goes through all its examples first and collects what it finds; then each finding (a kind at a label) is
shrunk to the smallest data and the simplest values. The same seed gives the same examples and the same findings.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from typing import Any, NoReturn

from hypothesis import HealthCheck, Phase, Verbosity, given, settings, target
from hypothesis import seed as with_seed
from hypothesis import strategies as st
from hypothesis.errors import Flaky

from dpassay.audit.lockstep.script import DRAWN, Choice, Script
from dpassay.audit.lockstep.scripted import LONGEST, ScriptedRun, Seen, scripted
from dpassay.reference.accounting.calibrate import Uncalibrated
from dpassay.reference.equality import same, snapshot
from dpassay.reference.errors import BadInput, require
from dpassay.reference.findings import Finding, Kind
from dpassay.reference.neighbours import Pair, Run
from dpassay.reference.space import Space
from dpassay.reference.tape import LiveTape

from .coverage import Collector, Coverage
from .ground import AllOf, Data, Ground, OnePair, Setting
from .premises import Claimed, Premises
from .quiet import one_line, quiet
from .searched import Searched as Searched
from .strategies import Drawing, Same
from .witness import Witness, weight

EXAMPLES = 150
SHRINKING = 15.0  # seconds after which no further witness is made smaller
SECONDS = 120.0  # an emergency brake; a search that it stops says so
_SHRUNK = 12  # findings that are shrunk; further ones are reported by their smallest example
_KEPT = 6  # settings that are compared with drawn values in the end
_SHRINKS = 150  # runs for making one witness small

Key = tuple[Kind, str]


class _Found(Exception):
    """An example shows something new (for Hypothesis: it fails)."""


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
    about: Mapping[str, str | float] | None = None,
    tracing: bool = True,
    premises: Premises | None = None,
) -> Searched:
    """Search a space (or one pair, under many released values) for whatever breaks the premises of the accounting.

    Args:
        run: ``run(problem, schedule, tape)`` where the space makes schedules, else ``run(problem, tape)``.
        claim: epsilon and delta that every transcript must keep to.
        examples: runs of the search; every finding adds runs that make its witness small.
        explicit: mechanisms with pairs that are tried first, under a few scripts.
        about: names for the witnesses (what was run), so that a file can be replayed.
        tracing: collect coverage.
        premises: what must hold, where that is something else than accounting to the claim.

    Raises:
        BadInput: no example could be run at all; it names what the first one raised.
    """
    require(examples >= 1, "examples", examples, "must be at least 1")
    ground: Ground = AllOf(run, space) if isinstance(space, Space) else OnePair(run, space)
    held = premises or Premises(claim, ground.relation)
    return Engine(run, ground, held, examples, seed, about or {}, tracing).go(explicit)


class Engine:
    """One search."""

    def __init__(
        self,
        run: Callable[..., Any],
        ground: Ground,
        premises: Premises,
        examples: int,
        seed: int,
        about: Mapping[str, str | float],
        tracing: bool,
    ):
        self._ground, self._examples, self._seed = ground, examples, seed
        collector = Collector(run)
        self._about, self._collector = about, collector if tracing and collector.codes else None
        self._found = Searched()
        self._raised: Counter[str] = Counter()
        self._seen: dict[Key, Witness] = {}  # every finding, with its smallest example so far
        self._wanted: Key | None = None  # the one that is being shrunk
        self._shrinking = 0
        self._stopped = self._hidden = self._checked = False
        self._name = str(getattr(run, "__name__", "run"))
        self._largest: list[tuple[float, Setting]] = []  # by separation, under whatever script
        self._premises = premises
        self._start = time.perf_counter()

    def go(self, explicit: Sequence[tuple[Run[Any], Pair[Any]]]) -> Searched:
        """Explicit pairs, all examples, then one pass for each finding to make its witness small."""
        found = self._found
        with quiet():
            for mechanism, pair in explicit:
                self._explicit(mechanism, pair)
            self._pass(None)
            self._sum_up()
            for key in list(self._seen)[:_SHRUNK]:
                if time.perf_counter() - self._start < SHRINKING:  # how small a witness gets may depend on the clock
                    self._pass(key)
        found.findings = [witness.finding for witness in self._seen.values()]
        found.witnesses = list(self._seen.values())
        found.seconds = time.perf_counter() - self._start
        return found

    def _sum_up(self) -> None:
        """What is reported beside witnesses: it must not depend on how long there is time to shrink."""
        found = self._found
        if self._raised and not self._seen and self._raised.total() >= found.examples:
            raise BadInput("run", next(iter(self._raised)), "was raised by every example")
        found.worst = max((setting for _, setting in self._largest), key=self._drawn, default=None)
        found.coverage = self._collector.coverage() if self._collector else Coverage()
        found.shares, found.accounted = dict(self._premises.shares), self._premises.accounted
        found.raised = dict(self._raised)

    # -- examples -----------------------------------------------------------------------------------------
    def _pass(self, wanted: Key | None) -> None:
        """One run of Hypothesis: through all examples, or to the first that shows what is wanted, to shrink that."""
        self._wanted, self._shrinking, self._stopped = wanted, 0, False

        @with_seed(self._seed)
        @settings(
            max_examples=self._examples,
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.target, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
            report_multiple_bugs=False,
            print_blob=False,
        )
        @given(st.data())
        def body(data: Any) -> None:
            self._example(data.draw)

        try:
            body()
        except (_Found, _Enough):
            pass
        except Flaky:
            if not self._stopped:
                self._found.note = "the run is no function of data and tape: the same example came out differently"
        except BaseExceptionGroup as group:  # Hypothesis wraps what it saw more than once
            if group.split((_Found, _Enough))[1] is not None:
                raise

    def _example(self, draw: Callable[[Any], Any]) -> None:
        if self._late():
            self._stop()
        data = draw(self._ground.strategy())
        seed = draw(st.integers(0, 7))
        try:
            setting = self._ground.setting(data)
        except Uncalibrated as error:
            self._fail(self._without_schedule(error, data, seed))
            return
        except Exception as error:
            self._raised[one_line(error)] += 1
            return
        self._unchanged(setting)
        dictation = Drawing(draw, setting.landmarks)
        run = self._run(setting, seed, dictation)
        keys = self._judge(setting, data, seed, dictation.script, run)
        if self._wanted is None:
            for label, share in run.shares.items():
                target(min(share, 1e6), label=f"moved {label}")
            target(min(run.separation, 1e6), label="separation")
        self._fail(keys)

    def _without_schedule(self, error: Uncalibrated, data: Data, seed: int) -> list[Key]:
        """No noise meets the budget for these sizes: nothing can be run, and that is the finding."""
        finding = error.finding
        if finding is None:
            self._raised[one_line(error)] += 1
            return []
        return self._noted([finding], data, seed, Script, {})

    def _unchanged(self, setting: Setting) -> None:
        """A run must not write into its data: the worlds share them (looked at once)."""
        if self._checked:
            return
        self._checked = True
        before = snapshot(setting.pair.here)
        with suppress(Exception):  # what it raises is seen later, on all sides
            setting.mechanism(setting.pair.here, LiveTape(0))
        require(same(before, setting.pair.here), "run", self._name, "changes the data that it is given")

    def _fail(self, keys: list[Key]) -> None:
        self._shrinking += self._wanted in keys or self._shrinking > 0
        if self._shrinking > _SHRINKS:
            self._stop()
        if self._wanted in keys:
            raise _Found  # at one line only: Hypothesis tells failures apart by their lines

    def _stop(self) -> NoReturn:
        self._stopped = True
        raise _Enough

    def _explicit(self, mechanism: Run[Any], pair: Pair[Any]) -> None:
        """A pair from outside: both directions, values drawn, without noise, and zero."""
        for swapped in (False, True):
            setting = Setting(mechanism, pair.swapped() if swapped else pair)
            for choice in (DRAWN, Choice("query"), Choice("zero")):
                same = Same(choice)
                run = self._run(setting, 0, same)
                self._judge(setting, Data(swapped=swapped), 0, partial(same.script, run), run)

    def _run(self, setting: Setting, seed: int, dictation: Any) -> ScriptedRun:
        with self._collector.tracing() if self._collector else nullcontext():
            hub = self._premises.hub_type
            run = scripted(setting.mechanism, setting.pair, [seed], dictation, hidden=self._hidden, hub_type=hub)
        self._hidden = self._hidden or any(draw.hidden for draw in run.transcript.draws)
        if self._wanted is None:
            self._found.examples += 1
        if run.raised:
            self._raised[run.raised] += 1
        if run.too_long and self._wanted is None:
            self._found.note = f"runs were cut off after {LONGEST} calls"
        return run

    def _late(self) -> bool:
        if time.perf_counter() - self._start < SECONDS:
            return False
        if self._wanted is None:
            self._found.note = f"stopped after {SECONDS:g} s and {self._found.examples} examples"
        return True

    def _judge(
        self, setting: Setting, data: Data, seed: int, script: Callable[[], Script], run: ScriptedRun
    ) -> list[Key]:
        findings = self._premises.findings(run, by_rows=data.rows is not None)
        if data.rows is not None:
            alone = any(draw.hidden and draw.n == 1 for draw in run.transcript.draws)  # it cannot be left out there
            size = run.separation if run.complete and not (run.raised or alone) else -1.0
            self._largest = sorted([*self._largest, (size, setting)], key=lambda one: -one[0])[:_KEPT]
        return self._noted(findings, data, seed, script, run.seen)

    def _noted(
        self,
        findings: Sequence[Finding],
        data: Data,
        seed: int,
        script: Callable[[], Script],
        places: Mapping[Key, Seen],
    ) -> list[Key]:
        """Keep the smallest example of each finding; return what was found."""
        told: Script | None = None
        for finding in findings:
            key = finding.kind, finding.label
            told = told or script()
            new = key not in self._seen
            if (new and self._wanted is not None) or not (new or self._smaller(key, data, told)):
                continue  # what is found must not depend on how long there was time to shrink
            seen = places.get(key)
            place = (seen.line, seen.here, seen.there) if seen else ("", None, None)
            self._seen[key] = Witness(finding, data, told, seed, *place, about=self._about)
        return [(finding.kind, finding.label) for finding in findings]

    def _drawn(self, setting: Setting) -> float:
        """Separation under drawn values: what a likelihood audit of the pair will see."""
        with quiet():
            runs = [
                scripted(setting.mechanism, setting.pair, [seed], Same(DRAWN), hidden=self._hidden) for seed in (1, 2)
            ]
        return sum(run.separation for run in runs)

    def _smaller(self, key: Key, data: Data, script: Script) -> bool:
        before = self._seen[key]
        return weight(data, script) < weight(before.data, before.script)
