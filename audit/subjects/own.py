"""One's own algorithm: named as MODULE:RUN, searched on a space, audited on the worst pair that the search found.

It runs within limits of time and memory: what goes beyond them ends in one line.
"""

import itertools
import json
import logging
import math
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.audit.assaying import row_fields
from dpassay.audit.assaying.assay import about_run, assay, certified
from dpassay.audit.assaying.examine import Thrift
from dpassay.audit.assaying.releases import own_releases
from dpassay.audit.assaying.worst import pair_of
from dpassay.audit.certify.generators import OldNames
from dpassay.audit.inputs.foreign import foreign_code, is_code, is_written, load_object, silent, written_space
from dpassay.audit.plain_numpy.audited import trial_pairs
from dpassay.audit.plain_numpy.mechanism import PlainMechanism, recorded
from dpassay.audit.plain_numpy.signature import columns_of, is_plain, takes
from dpassay.audit.row import NOT_RUN, Effort, Row
from dpassay.audit.verdict import Verdict, over_budget
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.errors import BadInput, require
from dpassay.reference.limits import TooLong, limited
from dpassay.reference.space import Rows, Space, the_numbers
from dpassay.reference.transcript import Draw

SECONDS = 20  # for one run: an audit makes thousands
_OTHERS = 5.0  # for trying unusual numbers of columns
MEMORY = 4 * 2**30  # bytes beyond what is in use
_PAGE = resource.getpagesize()
_TOGETHER, _MOST = 4.0, 400  # records of a batch, and of the data that are tried for them


class _Costly(BadInput):
    """One run takes too long, or too much memory: other data would change little."""


@contextmanager
def little_memory(name: str) -> Iterator[None]:
    """While it is open, the process may take so much memory more, where the system can limit it.

    Raises:
        BadInput: naming the algorithm, where it takes more.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    statm = Path("/proc/self/statm")
    used = int(statm.read_text().split()[0]) * _PAGE if statm.is_file() else None
    if used is not None:
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
    try:
        yield
    except MemoryError:
        raise _too_much(name) from None
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _too_much(name: str) -> _Costly:
    why = f"takes more than {MEMORY // 2**30} GB: a smaller --space, or other values with --with"
    return _Costly("algorithm", name, why)


def one_run_in_time(run: Callable[..., Any], where: Space, claim: PrivacyClaim, name: str) -> None:
    """Runs the code as it is on one data set of the space.

    Raises:
        BadInput: it takes too long, or more memory than there may be.
        Exception: what the code raises on every data set that is tried.
    """
    mechanism = PlainMechanism(run, epsilon=claim.epsilon, delta=claim.delta)
    error: Exception | None = None
    for pair in trial_pairs(where, 0):
        try:
            with limited(SECONDS, clock=True):
                mechanism.once(pair.here, OldNames(np.random.PCG64(0)))
            return
        except TooLong:
            why = f"one run takes more than {SECONDS} seconds, and an audit makes thousands: try a smaller --space"
            raise _Costly("algorithm", name, why) from None
        except MemoryError:
            raise _too_much(name) from None
        except Exception as raised:  # the search says on which data it raises
            error = raised
    if error is not None:
        raise error


NOTHING = 60.0  # where nothing finite is found: no audit shows a larger epsilon


def open_own(
    name: str, space: str | None, relation: Relation | None, field: str = "algorithm", given: Sequence[str] = ()
) -> tuple[Callable[..., Any], Space]:
    """The run that MODULE:RUN names, and the space that MODULE:SPACE names (a Space, or a function that makes one).

    Without a space it is `usual_space` the code.

    Args:
        given: values of parameters, as ``name=value``.

    Raises:
        BadInput: what cannot be loaded, is no space, or is for another neighbour relation.
    """
    loaded = load_object(name, field)
    require(callable(loaded) or hasattr(loaded, "fit"), field, name, "is not callable")
    vars(sys.modules[name.partition(":")[0]]).setdefault("print", silent)  # of thousands of runs
    logging.disable()
    run = partial(loaded, **_values(given)) if given else loaded
    return run, open_space(space, relation) if space is not None else usual_space(run, relation, name)


def usual_space(run: Callable[..., Any], relation: Relation | None, name: str) -> Space:
    """Where nobody names a space: a matrix of rows of any length, or numbers where the code takes no matrix.

    Labels are the last column; a data frame has the columns that the code names; code that takes no usual number of
    columns is tried with others.
    """
    where = default_space(relation)
    if not is_plain(run):
        return where
    columns = columns_of(run)
    if takes(run, "frame") and columns:
        return replace(where, sizes={**where.sizes, "d": (len(columns),)})
    if takes(run, "labels"):
        where = replace(where, sizes={**where.sizes, "d": (2, 3, 4, 9)})
    if takes(run, "frame"):
        return _with_batches(run, where)

    def fits(d: int) -> bool:
        return _runs(run, replace(where, sizes={"n": (4,), "d": (d,)}), name)

    fitting = tuple(d for d in where.sizes["d"] if fits(d))
    if fitting in ((), (1,)) and not takes(run, "labels") and _runs(run, _numbers(where), name):
        return _numbers(where)  # a row of one column may pass for a number
    until = time.monotonic() + _OTHERS
    others = itertools.takewhile(lambda _: time.monotonic() < until, range(4, 65))
    fitting = fitting or tuple(itertools.islice(filter(fits, others), 1))
    sizes = {**where.sizes, "d": fitting or where.sizes["d"]}  # code may be for some of them alone
    return _with_batches(run, replace(where, sizes=sizes))


def _with_batches(run: Callable[..., Any], where: Space) -> Space:
    """With so many records, too, that a Poisson batch holds some beside the one that two neighbours differ in."""
    drawn: list[Draw] = []
    for pair in trial_pairs(where, 0):
        with suppress(Exception):  # where it ends in an error, that is told later
            drawn += recorded(PlainMechanism(run, epsilon=1.0, delta=1e-5), pair.here, 0).draws
    rates = [one.rate for one in drawn if one.kind == "poisson" and one.rate * max(where.sizes["n"]) < _TOGETHER]
    more = min(_MOST, math.ceil(_TOGETHER / min(rates))) if rates else 0
    return replace(where, sizes={**where.sizes, "n": (*where.sizes["n"], more)}) if more else where


def _numbers(where: Space) -> Space:
    return replace(_related(Space.numbers(), where.relation), absent=where.absent)


def _runs(run: Callable[..., Any], where: Space, name: str) -> bool:
    """Does it come to an end on such data? Raises BadInput where a run costs too much: that is not tried again."""
    try:
        with foreign_code("algorithm", name):
            one_run_in_time(run, where, PrivacyClaim(1.0, 1e-5, relation=where.relation), name)
    except _Costly:
        raise
    except BadInput:
        return False
    return True


def _values(given: Sequence[str]) -> dict[str, Any]:
    """Values as JSON where they are, else as text."""
    found: dict[str, Any] = {}
    for one in given:
        name, equals, value = one.partition("=")
        require(bool(equals) and name.isidentifier(), "--with", one, "must be NAME=VALUE")
        try:
            found[name] = json.loads(value)
        except json.JSONDecodeError:
            found[name] = {"None": None, "True": True, "False": False}.get(value, value)
    return found


def open_space(space: str | None, relation: Relation | None) -> Space:
    """The space that MODULE:SPACE names (a Space, or a function that makes one); without a name that of matrices.

    Raises:
        BadInput: what cannot be loaded, is no space, or is for another neighbour relation.
    """
    if space is None:
        return default_space(relation)
    if is_written(space):
        return _related(written_space(space), relation)
    require(is_code(space), "--space", space, "must be MODULE:SPACE, or as Space.matrix(n=(1,), radius=2.0)")
    loaded = load_object(space, "--space")
    if callable(loaded) and not isinstance(loaded, Space):
        with foreign_code("--space", space):
            loaded = loaded()
    if not isinstance(loaded, Space):
        raise BadInput("--space", space, f"is a {type(loaded).__name__}, not a dpassay.reference.space.Space")
    return _related(loaded, relation)


def _related(space: Space, relation: Relation | None) -> Space:
    """The space for neighbours of this relation: a record of a matrix is left out, or is a row of zeros (zero-out)."""
    if relation in (None, space.relation):
        return space
    matrix = space.problem in (Space.matrix().problem, the_numbers)  # of other data a row may be no record
    why = f"the space is for {space.relation} neighbours; give it `relation` and `absent`"
    require(matrix or space.absent is not None, "--relation", relation, why)
    absent = np.zeros(1) if relation == "zero-out" and space.absent is None else space.absent
    found = replace(space, relation=relation, absent=absent)
    several = tuple(n for n in space.sizes["n"] if n > 1)  # of one that is left out none is left
    return replace(found, sizes={**space.sizes, "n": several}) if found.removes and several else found


def default_space(relation: Relation | None = None) -> Space:
    """Where nobody names a space: a matrix of rows of any length.

    Eight columns are among the sizes: what is released once a column adds up beyond a claim with enough of them.
    """
    return _related(Space(Rows(bound=None), {"n": (1, 2, 3, 5, 8), "d": (1, 2, 3, 8)}), relation)


def own_row(
    name: str,
    space: str | None,
    claim: PrivacyClaim,
    effort: Effort,
    thrift: Thrift | None = None,
    given: Sequence[str] = (),
) -> Row:
    """The audit of one's own algorithm as a row of the table; ``thrift`` as for `assay`.

    Args:
        given: values of parameters, as for `open_own`.

    Raises:
        BadInput: naming what the algorithm raised, if it always raises; or one run takes too long, or too much memory.
    """
    run, where = open_own(name, space, claim.relation, given=given)
    with little_memory(name):
        if is_plain(run):
            yours = "; if your data have other sizes, say so: --space 'Space.matrix(n=(2000,), d=(21,), radius=None)'"
            tried = () if space else (f" ({_tried('', where)})", yours)
            with foreign_code("algorithm", name, *tried):
                one_run_in_time(run, where, claim, name)
        row = row_of(name, run, where, space or "", claim, effort, thrift, given)
        if space is None and is_plain(run) and where.problem is default_space().problem:
            row = replace(row, why="; ".join(filter(None, (row.why, _of_numbers(run, where, claim, row.verdict)))))
        return row


def _of_numbers(run: Callable[..., Any], where: Space, claim: PrivacyClaim, verdict: str) -> str:
    """What to say where the code keeps its claim for single numbers, and was not found to keep it for rows of them."""
    if verdict == Verdict.CERTIFIED or takes(run, "labels") or takes(run, "frame"):
        return ""
    found = certified(PlainMechanism(run, epsilon=claim.epsilon, delta=claim.delta), _numbers(where), claim.delta)
    if found.epsilon is None or over_budget(found.epsilon, claim.epsilon):
        return ""
    return f"if a record is a single number: certified {found.epsilon:.3g} with --space 'Space.numbers()'"


def row_of(
    name: str,
    run: Callable[..., Any],
    where: Space,
    space: str,
    claim: PrivacyClaim,
    effort: Effort,
    thrift: Thrift | None = None,
    given: Sequence[str] = (),
) -> Row:
    """Likewise, of a run that is there already; ``name`` and ``space`` are what the user calls run and space."""
    start = time.perf_counter()
    with foreign_code("algorithm", name):
        found = assay(run, where, claim, effort=effort, thrift=thrift)
        unread = found.by == NOT_RUN
        releases, sequence = ([], "") if unread else own_releases(found.read_as or run, where, effort.seed)
    about = about_run(name, space, claim)
    if given:
        about["with"] = " ".join(given)
    found.searched.witnesses[:] = [replace(one, about=about) for one in found.searched.witnesses]
    return Row(
        algorithm=name,
        variant="",
        reading="own",
        data=_tried(space, where),
        claimed=claim.epsilon,
        delta=claim.delta,
        relation=claim.relation,
        code="",
        **row_fields.of_effort(effort, time.perf_counter() - start),
        **row_fields.of_shown(found.shown, set()),
        **row_fields.of_assay(found, run, about, effort),
        facts={},
        as_read=found.as_read,
        pair=pair_of(found.searched.worst),
        releases=releases,
        sequence=sequence,
    )


def _tried(name: str, space: Space) -> str:
    """The data, with the sizes that a space holds: a verdict says nothing about others."""
    what = name or ("numbers of any size" if space.problem is the_numbers else "matrix of rows of any length")
    what += "" if space.relation == "replace-one" else f", {space.relation}"
    ends = [(size, min(values), max(values)) for size, values in space.sizes.items()]
    sizes = [f"{size} {low}" if low == high else f"{size} {low} to {high}" for size, low, high in ends]
    return f"{what}; tried with {', '.join(sizes)}"


# -- without a claim: the nearest one that the code is found to keep
def nearest(name: str, run: Callable[..., Any], where: Space, delta: float, seed: int) -> PrivacyClaim:
    """Certified, else accounted epsilon at ``delta``, rounded up to three digits; `NOTHING` where neither is finite.

    Raises:
        BadInput: the code always raises, or is not understood.
    """
    loose = PrivacyClaim(NOTHING, delta, relation=where.relation)
    with foreign_code("algorithm", name):
        plain = PlainMechanism(run, epsilon=NOTHING, delta=delta) if is_plain(run) and where.schedule is None else None
        found = certified(plain, where, delta, seed).epsilon if plain is not None else None
        if found is None:
            found = assay(run, where, loose, effort=Effort(seed=seed), thrift=Thrift(account=True)).accounted
    return PrivacyClaim(rounded_up(found), delta, relation=where.relation)


def rounded_up(epsilon: float) -> float:
    """Three digits that are no smaller."""
    if not 0 < epsilon < NOTHING:
        return NOTHING
    unit = 10.0 ** (math.floor(math.log10(epsilon)) - 2)
    return float(f"{math.ceil(epsilon / unit * (1 - 1e-12)) * unit:.6g}")
