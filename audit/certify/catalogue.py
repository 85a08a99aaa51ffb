"""Certificates of the catalogue: a row's own run, on records of which only their domain is known."""

from __future__ import annotations

import dataclasses
import time
from functools import cached_property
from typing import Any

import numpy as np

from dpassay.reference.case import Instance, PrivacyClaim
from dpassay.reference.transcript import Note, Release, Transcript

from .certificate import Certificate, ended
from .draws import Draws, Ledger
from .patched import kept_numbers, patched
from .solvers import unknown
from .tape import Answer, CertifyTape
from .value import INF, Norms, Open, Records, Value

_SECONDS = 60.0
_LONG = 4_000  # calls of the tape
LONGEST = "no run costs more than the longest one that the row names and two others, at the sensitivities it declares"
DRAWN = "no run costs more than the ones that were followed, at the sensitivities that they declare"
ROWS = "records lie in the domain that the problem states"


def certify_instance(instance: Instance, claim: PrivacyClaim, transcript: Transcript | None = None) -> Certificate:
    """An upper bound on what any two neighbours of the size of a row can show, under its schedule.

    Args:
        instance: the row's; of its data the domain counts, which the problem states in ``RECORDS``.
        claim: delta and the neighbour relation.
        transcript: of the run whose released values are followed; default: the longest one.

    Returns:
        A :class:`Certificate`, open where something private decides, leaves, or goes through what has no rule.

    Raises:
        Nothing: what the code raises is a reason to stay open.
    """
    here = instance.pair.here
    n = len(here) if isinstance(here, np.ndarray) else int(here.n)

    def runs() -> list[Ledger]:
        for pair in instance.others:
            abstract(pair.here, pair.there)
        problem = abstract(here, instance.pair.there)
        longest = transcript or instance.longest_run()[0]
        deadline = time.monotonic() + _SECONDS
        return [
            _followed(instance, problem, Ledger(n, 0, plain=True, deadline=deadline), one)
            for one in (longest, *_drawn(instance, longest))
        ]

    found = ended(runs, claim.relation, claim.delta, f"n = {n}, as in the row")
    if found.epsilon is not None and not found.releases and transcript is not None and _releases(transcript):
        found = dataclasses.replace(found, epsilon=None, open="the run releases outside of the code that was followed")
    return dataclasses.replace(found, axioms=(*found.axioms, ROWS, LONGEST if instance.longest else DRAWN))


def _releases(transcript: Transcript) -> bool:
    """Whether a run has released anything; a program of one's own does so in another process."""
    return any(isinstance(event, Release) for event in transcript.events)


def _followed(instance: Instance, problem: Any, ledger: Ledger, transcript: Transcript) -> Ledger:
    tape = CertifyTape(ledger, replayed(transcript))
    with patched(Draws(ledger)), kept_numbers(instance.run):
        output = instance.run(problem, _with_unknown_solver(instance.schedule), tape)
    ledger.left(output)
    return ledger


def _drawn(instance: Instance, longest: Transcript) -> list[Transcript]:
    """Two runs whose released values are drawn, which may go another way; none where runs are long."""
    if len(longest.events) > _LONG:
        return []
    found = [dataclasses.replace(instance, longest=None).longest_run(seed, lambda _: True)[0] for seed in (0, 1)]
    return [one for one in found if len(one.events) <= _LONG]


def replayed(transcript: Transcript) -> Answer:
    """What was released and drawn under a label, in that order; then nothing."""
    kept: dict[str, list[Any]] = {}
    for event in transcript.events:
        if isinstance(event, Release | Note):
            kept.setdefault(event.label, []).append(event.value)
    following = {label: iter(values) for label, values in kept.items()}
    return lambda label: next(following.get(label, iter(())), None)


def states_records(problem: Any) -> bool:
    """Does it say what its records are?"""
    if isinstance(problem, np.ndarray) or _domains(problem):
        return True
    return dataclasses.is_dataclass(problem) and any(map(states_records, vars(problem).values()))


def abstract(problem: Any, *others: Any) -> Any:
    """The problem with records of which only their domain is known; its constructor, which reads them, is passed over.

    Raises:
        Open: something differs from the ``others``, its neighbours, of which the problem does not say that it is part
            of the records.
    """
    if isinstance(problem, np.ndarray):
        return _records(problem, None, problem)
    kind, domains, found = type(problem).__name__, _domains(problem), object.__new__(type(problem))
    for name, one in vars(problem).items():
        if name in domains or isinstance(getattr(type(problem), name, None), cached_property):
            continue
        of_others = [getattr(other, name) for other in others]
        if _domains(one) or (dataclasses.is_dataclass(one) and not isinstance(one, type)):
            found.__dict__[name] = abstract(one, *of_others)
        elif all(_same(one, other) for other in of_others):
            found.__dict__[name] = one
        else:
            raise Open(f"{kind}.{name} differs between neighbours, and {kind}.RECORDS states no domain for it")
    for name, domain in domains.items():
        found.__dict__[name] = _records(getattr(problem, name), domain, problem)
    return found


def _domains(one: Any) -> Any:
    return getattr(one, "RECORDS", {}) if not isinstance(one, type) else {}


def _same(one: Any, other: Any) -> bool:
    return one is other or bool(np.array_equal(one, other))


def _records(array: Any, domain: Any, problem: Any) -> Value:
    shape = np.shape(array)
    if not shape:  # a number of one record
        return Value((), None, Records())
    low, high, two = -INF, INF, INF
    if isinstance(domain, tuple):
        low, high = domain
    elif domain is not None:
        two = float(getattr(problem, domain) if isinstance(domain, str) else domain)
    return Value(shape, -len(shape), Records(np.arange(shape[0])), Norms(two=two), low=low, high=high)


def _with_unknown_solver(schedule: Any) -> Any:
    """Solvers are not followed: what is known of their points is what `certify` of the reference's protocol shows."""
    if not dataclasses.is_dataclass(schedule) or isinstance(schedule, type):
        return schedule
    changed = {
        one.name: unknown if one.name == "solver" else _with_unknown_solver(getattr(schedule, one.name))
        for one in dataclasses.fields(schedule)
        if one.name == "solver" or dataclasses.is_dataclass(getattr(schedule, one.name))
    }
    return dataclasses.replace(schedule, **changed) if "solver" in changed or "x_half" in changed else schedule
