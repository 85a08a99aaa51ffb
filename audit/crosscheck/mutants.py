"""The reference with one line changed, run on a vector, in this process: which change gives what another one asked for.

A change is compiled as a whole file, and the changed functions lend their code to the living ones for the time of one
run. Nothing of anybody else's is compiled.
"""

from __future__ import annotations

import inspect
import signal
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import dpassay.reference
from dpassay.audit.lab.source import planted

from .changes import Change, applied, changes
from .encode import encode
from .making import run_again
from .recording import VectorTape, events_of
from .rounding import Run
from .slips import without
from .sometimes import When, sometimes, times

HOME = Path(dpassay.reference.__file__).resolve().parent
NOT_MUTATED = ("tape.py", "transcript.py", "errors.py", "equality.py", "records.py", "laws", "accounting", "replay.py",
               "extras.py", "checks.py")  # fmt: skip
LIMIT = 0.3  # seconds for one changed run; one of the reference takes a hundredth


@dataclass(frozen=True)
class Mutant:
    """One change in one file below ``reference/``; ``when`` it is made (``sometimes.py``), empty: always."""

    file: str
    change: Change
    when: str = ""

    def __str__(self) -> str:
        when = f", {self.when}" if self.when else ""
        return f"{self.change.name}{when} (reference/{self.file}, line {self.change.line})"


class _TooLong(Exception):
    """A changed run does not end."""


def mutants(run: Run, vectors: Sequence[Mapping[str, Any]]) -> list[Mutant]:
    """Every change in a function that the reference enters on these vectors."""
    entered: dict[str, set[int]] = {}
    for vector in vectors:
        for file, line in _entered(run, vector):
            entered.setdefault(file, set()).add(line)
    found = []
    for file, lines in sorted(entered.items()):
        spans = [span for first, span in _spans(file) if first in lines]
        found += [Mutant(file, one) for one in _changes(file) if any(one.line in span for span in spans)]
    return found


def answers(run: Run, vector: Mapping[str, Any], mutant: Mutant) -> dict[str, Any] | None:
    """What the changed reference asks for on a vector; None where it does not run."""
    tape = VectorTape(vector["events"])
    output: Any = None
    when = None
    if mutant.when:
        when = When(mutant.when, tape, asked(run, vector, mutant))
    with _planted(mutant, when), _limited(LIMIT), np.errstate(all="ignore"):
        try:
            output = encode(run_again(run, vector, tape), "output")
        except _TooLong:
            return None
        except Exception:  # whatever a changed line may raise
            if not tape.diverged:
                return None
    last = [{name: tape.diverged[name] for name in ("event", "label")}] if tape.diverged else []
    return {"events": events_of(tape) + last, "output": output}


def asked(run: Run, vector: Mapping[str, Any], mutant: Mutant) -> int:
    """How often the reference computes the expression that is changed sometimes."""
    never = When("")
    with _planted(mutant, never), _limited(LIMIT), np.errstate(all="ignore"), suppress(Exception):
        run_again(run, vector, VectorTape(vector["events"]))
    return never.count


def at_times(mutant: Mutant, vectors: Sequence[Mapping[str, Any]]) -> Iterator[Mutant]:
    """The same change, made sometimes; nothing where it is no expression."""
    change = sometimes(_source(mutant.file).encode(), mutant.change)
    if change is not None:
        yield from (replace(mutant, change=change, when=when) for when in times(vectors))


@contextmanager
def planted_in(mutant: Mutant, seconds: float) -> Iterator[None]:
    """The reference with this change, for so many seconds at most."""
    with _planted(mutant), _limited(seconds):
        yield


def other_batches(run: Run, vector: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the reference asks for when the records of a draw are others than those that are given."""
    for name, change in BATCHES.items():
        events = [
            {**event, "indices": change(event["indices"], event["n"])} if event["event"] == "draw" else event
            for event in vector["events"]
        ]
        tape = VectorTape(events)
        with suppress(Exception), np.errstate(all="ignore"):
            yield name, {"output": encode(run_again(run, vector, tape), "output"), "events": events_of(tape)}


BATCHES: dict[str, Callable[[list[int], int], list[int]]] = {
    "every record number is one too large": lambda indices, n: [(one + 1) % n for one in indices],
    "every record number is one too small": lambda indices, n: [(one - 1) % n for one in indices],
    "the first records in place of those drawn": lambda indices, n: list(range(len(indices))),
    "the other records": lambda indices, n: ([one for one in range(n) if one not in indices] * n)[: len(indices)],
}


def length(run: Run, vector: Mapping[str, Any]) -> int:
    """How many functions one run of the reference calls: what it costs, the same on every machine."""
    count = [0]

    def note(frame: Any, event: str, _: Any) -> None:
        count[0] += event in ("call", "c_call")

    _watched(run, vector, note)
    return max(1, count[0])


def _watched(run: Run, vector: Mapping[str, Any], note: Callable[[Any, str, Any], None]) -> None:
    """One run of the reference under a profiler."""
    sys.setprofile(note)
    try:
        with suppress(Exception):
            run_again(run, vector, VectorTape(vector["events"]))
    finally:
        sys.setprofile(None)


def _entered(run: Run, vector: Mapping[str, Any]) -> set[tuple[str, int]]:
    seen: set[tuple[str, int]] = set()

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            seen.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))

    _watched(run, vector, note)
    known = set()
    for name, line in seen:
        path = Path(name).resolve()
        if path.is_relative_to(HOME) and not any(part in NOT_MUTATED for part in path.relative_to(HOME).parts):
            known.add((path.relative_to(HOME).as_posix(), line))
    return known


@lru_cache(maxsize=64)
def _source(file: str) -> str:
    return (HOME / file).read_text(encoding="utf-8")


@lru_cache(maxsize=64)
def _changes(file: str) -> tuple[Change, ...]:
    return tuple(changes(_source(file)))


@lru_cache(maxsize=64)
def _spans(file: str) -> tuple[tuple[int, range], ...]:
    """First line (of the first decorator) and lines of every function."""
    found = []
    for code in _codes(compile(_source(file), file, "exec")).values():
        lines = [line for _, _, line in code.co_lines() if line is not None]
        found.append((code.co_firstlineno, range(code.co_firstlineno, max(lines) + 1)))
    return tuple(found)


def _codes(code: types.CodeType) -> dict[str, types.CodeType]:
    """Every function's code by its qualified name (those inside functions belong to their functions)."""
    found = {}
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            inside = "<locals>" not in one.co_qualname
            if inside and one.co_flags & inspect.CO_OPTIMIZED:
                found[one.co_qualname] = one
            if inside:
                found |= _codes(one)
    return found


@contextmanager
def _planted(mutant: Mutant, when: When | None = None) -> Iterator[None]:
    """The living functions of the file run the changed code."""
    name = "dpassay.reference." + mutant.file.removesuffix(".py").replace("/", ".")
    module = sys.modules[name]
    changed = _codes(compile(applied(_source(mutant.file), mutant.change), module.__file__ or name, "exec"))
    kept: list[tuple[types.FunctionType, types.CodeType]] = []
    lent: dict[str, Any] = {"_planted": planted, "_without": without, "_when": when or When("")}
    vars(module).update(lent)
    try:
        for function in _functions(module):
            code = changed.get(function.__code__.co_qualname)
            if code is not None and code.co_freevars == function.__code__.co_freevars:
                kept.append((function, function.__code__))
                function.__code__ = code
        yield
    finally:
        for function, code in kept:
            function.__code__ = code
        for one in lent:
            del vars(module)[one]


def _functions(module: types.ModuleType) -> Iterator[types.FunctionType]:
    for value in list(vars(module).values()):
        held = (
            list(vars(value).values()) if isinstance(value, type) and value.__module__ == module.__name__ else [value]
        )
        for one in held:
            function = _function(one)
            if function is not None and function.__module__ == module.__name__:
                yield function


def _function(value: Any) -> types.FunctionType | None:
    if isinstance(value, property):
        value = value.fget
    elif isinstance(value, cached_property):
        value = value.func
    elif isinstance(value, classmethod | staticmethod):
        value = value.__func__
    return value if isinstance(value, types.FunctionType) else None


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Stop what does not end; outside the main thread there is no alarm, and no limit.

    Processor time is counted: what is found shall not hang on what else the machine does.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    on = [True]

    def ring(number: int, frame: Any) -> None:
        if on:
            raise _TooLong

    before: Callable[..., Any] | int | None = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 0.02)  # again and again: some places swallow what is raised
    try:
        yield
    finally:
        while on:  # it may ring in here as well
            with suppress(_TooLong):
                on.clear()
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
