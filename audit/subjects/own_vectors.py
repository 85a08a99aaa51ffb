"""Vectors of one's own code: one run on rows of its space, and the same run again for whoever trusts the code.

The vector tells problem and schedule as data, for another program. One's own code is not run on these, as the classes
of its data are not known here, but on the problem and the schedule that its space makes of the rows: they are in the
vector as ``own``, with the names of code and space. A file never chooses what is imported: the user names the module.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

import numpy as np

from dpassay.audit.crosscheck.encode import encode
from dpassay.audit.crosscheck.making import recorded
from dpassay.audit.crosscheck.model import FORMAT
from dpassay.audit.crosscheck.recording import Diverged
from dpassay.audit.crosscheck.rounding import Again, Jitter
from dpassay.audit.inputs.foreign import foreign_code, is_code
from dpassay.audit.search.ground import data_of
from dpassay.audit.subjects.subject import Subject, subjects
from dpassay.reference.case import bind
from dpassay.reference.errors import BadInput, require
from dpassay.reference.space import Space
from dpassay.reference.tape import Tape

Vector = dict[str, Any]
RULE = {"rule": "own", "how": "as the code computes it; the vector has the numbers"}
NO_SCHEDULE = {"class": "case.NoSchedule"}  # as vectors of the catalogue say it


def vector_of_own(subject: Subject, space: str, seed: int) -> Vector:
    """One run of one's own algorithm on the data that a search moves the furthest; it claims what it adds up to.

    Args:
        subject: one's own code on a space.
        space: MODULE:SPACE, or empty where the default space is meant.

    Raises:
        BadInput: the code always raises, adds up to nothing or to infinity, or its data cannot be told as data.
    """
    setting = subject.worst()
    claim = subject.adds_up_to(subject.instance_of(setting))
    assert isinstance(subject.where, Space) and setting.data is not None and setting.data.rows is not None
    rows, sizes = setting.data.rows, dict(setting.data.sizes)
    schedule = None if subject.where.schedule is None else subject.where.schedule(sizes)
    name = f"own/{subject.key.replace('/', '.')}"
    told = {
        "format": FORMAT,
        "id": f"{name}@own/seed {seed}",
        "case": f"{name}@own",
        "algorithm": name,
        "source": f"{subject.key.partition(':')[0].replace('.', '/')}.py",
        "reading": "own",
        "title": subject.key,
        "cite": "",
        "claim": {"epsilon": claim.epsilon, "delta": claim.delta, "relation": claim.relation},
        "noise": RULE,
        "readings": [],
        "sizes": sizes,
        "seed": seed,
        "expect": "run",
        "own": {"algorithm": subject.key, "space": space, "rows": encode(rows)},
        "problem": encode(setting.pair.here, "problem"),
        "schedule": NO_SCHEDULE if schedule is None else encode(schedule, "schedule"),
    }
    run = setting.mechanism if schedule is None else subject.run  # as measured, where it is plain code
    return recorded(partial(_run, subject, run), told, "ordinary")


def again_of(vector: Mapping[str, Any], modules: Collection[str], where: str) -> Again:
    """The run of a vector of somebody's own code, on any vector of the same code.

    Args:
        modules: that may be imported.
        where: the file, for messages.

    Raises:
        BadInput: a module that the user did not name, code that cannot be loaded, rows that are not of its space.
    """
    own = vector["own"]
    for code in filter(None, (own["algorithm"], own["space"])):
        require(is_code(code), f"{where}: own", code, "must be MODULE:NAME")
        module = code.partition(":")[0]
        why = f"is code, and a file must not choose what is run; if you trust it: --module {module}"
        require(module in modules, f"{where}: module", module, why)
    relation = vector["claim"]["relation"]
    (subject,) = subjects(own["algorithm"], space=own["space"] or None, relation=relation, field=f"{where}: own")
    with foreign_code(f"{where}: own", own["algorithm"]):
        try:
            _opened(subject, vector)
        except BadInput as error:
            raise BadInput(f"{where}: {error.field}", error.value, error.why) from None
    return partial(_run, subject, subject.on_tape())


def _run(
    subject: Subject, run: Callable[..., Any], vector: Mapping[str, Any], tape: Tape, jitter: Jitter | None = None
) -> Any:
    """One's own code on the problem that its space makes of the vector's rows."""
    with foreign_code("algorithm", subject.key):
        problem, schedule = _opened(subject, vector)
        started = run if schedule is None else bind(run, schedule)
        try:
            return started(problem if jitter is None else jitter.on(problem), tape)
        except Diverged as error:
            diverged = error
    raise diverged


def _opened(subject: Subject, vector: Mapping[str, Any]) -> tuple[Any, Any]:
    """Problem and schedule (None where the code takes none), as the space makes them."""
    space, sizes = subject.where, vector["sizes"]
    assert isinstance(space, Space)
    try:
        rows = np.asarray(vector["own"]["rows"], dtype=float)
    except (KeyError, TypeError, ValueError):
        raise BadInput("rows", "malformed", "must be lists of numbers of one length") from None
    good = isinstance(sizes, Mapping) and all(type(size) is int for size in sizes.values())
    require(good, "sizes", sizes, "must be whole numbers by name")
    require(rows.ndim == 2 and len(rows) > 0, "rows", rows.shape, "must have the shape (n, columns)")
    data_of(space, sizes, rows, rows[0], 0)
    return space.problem(rows, sizes), None if space.schedule is None else space.schedule(sizes)
