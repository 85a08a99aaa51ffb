"""``certify``: an upper bound on epsilon for every pair of neighbours, from the code itself."""

import itertools
import math
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpassay.audit.lockstep.source_lines import file_name
from dpassay.audit.phases import phase, step, time_left
from dpassay.reference import Space, account
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.transcript import Draw, Release, Transcript

from . import arithmetic, choices, reductions, shapes
from .derivation import Decides, Line, Open, axioms, of_user, raised, refuse, trace
from .draws import Certified, Ledger, Limits
from .facts import NAMED, SOMETHING
from .generators import Draws
from .patched import kept_numbers, patched
from .tape import CertifyTape, as_release
from .value import Value, rows

assert all((arithmetic, reductions, shapes))  # importing them registers their rules
FINITE = "the data are finite numbers, and arithmetic is over the reals"
_MANY = 50  # releases of a run that is certified at few sizes
_LARGEST = 1e6  # a larger loss says nothing, and is called infinite
_PATHS = 64  # ways through the decisions on released values
_SECONDS = 120.0  # of this process, against runs without end; the count of `Limits` comes long before


@dataclass(frozen=True)
class Certificate:
    """How much a program can give away at most, on any two neighbours.

    Args:
        epsilon: the bound; infinite where nothing bounds a query; None where the certificate is open.
        delta: of the bound.
        relation: of the neighbours.
        sizes: for which the bound holds, in words.
        releases: of the run that costs the most.
        axioms: what is taken for granted.
        open: why there is no bound, with the line; or empty.
        decides: it is open because private data decide, or become a text.
        lines: the derivation.

    Raises:
        Nothing: it is made by :func:`certify`.

    Example:
        >>> import numpy as np
        >>> from dpassay.audit.certify.certificate import certify
        >>> from dpassay.reference import Space
        >>> def private_mean(rows, rng):
        ...     clipped = rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))
        ...     return clipped.mean(axis=0) + rng.normal(scale=8 / len(rows), size=rows.shape[1])
        >>> round(certify(private_mean, Space.matrix(), delta=1e-5).epsilon, 3)
        0.926

    Source: ``docs/certify.md``.
    """

    epsilon: float | None
    delta: float
    relation: Relation
    sizes: str = ""
    releases: tuple[Certified, ...] = ()
    axioms: tuple[str, ...] = (FINITE,)
    open: str = ""
    decides: bool = False
    lines: tuple[Line, ...] = ()

    @property
    def bounded(self) -> bool:
        """Is there a finite bound?"""
        return self.epsilon is not None and math.isfinite(self.epsilon)

    def __str__(self) -> str:
        if self.epsilon is None:
            return f"open: {self.open}"
        return f"certified {self.epsilon:.3g}" if self.bounded else f"unbounded: {self.open}"


def certify(
    run: Callable[..., Any],
    where: Space,
    *,
    delta: float,
    seed: int = 0,
    on_tape: bool = False,
    any_length: bool = False,
) -> Certificate:
    """Bounds what any two neighbours can show, for every size of a space.

    Args:
        run: ``run(data, rng)``, plain NumPy code; with ``on_tape``: ``run(problem, tape)``.
        where: which rows there are, their sizes, and the relation of the neighbours.
        delta: of the bound.
        seed: of the paths that are run; the bound does not depend on it.
        any_length: rows may be of any length, whatever the space says.

    Returns:
        A :class:`Certificate`, open where something private decides, leaves, or goes through what has no rule.

    Raises:
        Nothing: what the code raises is a reason to stay open.

    Example:
        >>> from dpassay.audit.certify.certificate import certify
        >>> from dpassay.reference import Space
        >>> str(certify(lambda rows, rng: float(rows.sum()), Space.matrix(n=(3,), d=(1,)), delta=1e-5))[:42]
        'open: <stdin>:1: private data leaves as a '

    Source: ``docs/certify.md``.
    """
    found: list[Certificate] = []
    limits = Limits(time.process_time() + min(_SECONDS, time_left()))
    chosen = (dict(zip(where.sizes, values, strict=True)) for values in itertools.product(*where.sizes.values()))
    left = list(filter(where.fits, chosen))
    named = ", ".join(f"{name} in {', '.join(map(str, values))}" for name, values in where.sizes.items())
    phase("certifying", len(left))
    while left:
        sizes = left.pop(0)
        one = _of_size(run, where, sizes, delta, seed, on_tape, any_length, limits)
        if one.epsilon is None:
            return one
        found.append(one)
        step()
        if len(one.releases) > _MANY and len(left) > 1:  # of a long training the smallest and the largest sizes
            left = left[-1:]
            named = " and ".join(", ".join(f"{name} = {one[name]}" for name in one) for one in (sizes, *left))
    worst = max(found, key=lambda one: one.epsilon if one.epsilon is not None else math.inf)
    return replace(worst, sizes=named)


def abstract_rows(where: Space, sizes: Mapping[str, int], any_length: bool = False) -> Value:
    """The matrix of rows of a space, of which only the bounds are known; the absent row is one of them."""
    kind = where.rows
    n, columns = sizes["n"], kind.columns(sizes)
    low, high = kind.box or (-math.inf, math.inf)
    two = math.inf if kind.bound is None or any_length else kind.bound
    if kind.labels:
        two = math.hypot(two, max(map(abs, kind.labels)))
    if kind.labels and kind.box:
        low, high = min(low, *kind.labels), max(high, *kind.labels)
    if where.absent is not None:
        absent = np.asarray(where.absent, dtype=float)
        two = max(two, float(np.linalg.norm(absent)))
        low, high = min(low, float(absent.min())), max(high, float(absent.max()))
    silent = where.relation != "replace-one" and where.absent is not None and not np.any(where.absent)
    return rows(n, columns, two, low, high, vanishes=silent, absent="lacking" if where.removes else "")


_FOLLOWS = "what this costs follows released values or public draws; clip them, or release it with noise of its own"


@dataclass
class _Paths:
    """The runs of one size: every way through the decisions on released values.

    But where ``plainly`` is set, nothing private is bounded by how large released values are.
    """

    run: Callable[[Ledger], Any]
    n: int
    seed: int
    relation: Relation
    limits: Limits
    plainly: bool = False
    choosing: bool = True
    costs: dict[tuple[int, ...], tuple[Any, ...]] = field(default_factory=dict)
    ledgers: list[Ledger] = field(default_factory=list)

    def explore(self) -> None:
        """Two runs, and each decision the other way.

        Raises:
            Open: what a run raises, too many ways, or a cost that follows released values.
        """
        waiting = [other for number in range(2) for other in self._others(self._follow(number, ()), 0)]
        seen = set(waiting)
        runs = 0
        while waiting:
            wanted = waiting.pop()
            runs += 1
            if runs > _PATHS:
                places = sorted({one[0] for ledger in self.ledgers for one in ledger.decisions})
                raise Open(f"too many ways through the decisions on released values at {', '.join(places[:3])}")
            for other in self._others(self._follow(0, wanted), len(wanted)):
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)

    def _follow(self, number: int, wanted: tuple[int, ...]) -> list[tuple[int, int]]:
        """The ways that a run took, each with how many there are."""
        ledger = Ledger(self.n, self.seed + number, self.relation, wanted, limits=self.limits)
        ledger.unknown, ledger.choosing = not self.plainly, self.choosing
        self.ledgers.append(ledger)
        try:
            output = self.run(ledger)
            ledger.left(output)
        except Open as error:
            if error.leaves and ledger.known_noise and not ledger.releases:
                raise Open(ledger.known_noise) from None
            raise
        taken = tuple(way for _, way, _ in ledger.decisions)
        cost = (*(one.kind for one in ledger.releases), *((one.kind, one.rate) for one in ledger.batches))
        if (known := self.costs.setdefault(taken, cost)) != cost:
            parts = zip(known, cost, ledger.releases, strict=False)
            raise Open(next((f"{made.place}: " for one, other, made in parts if one != other), "") + _FOLLOWS)
        return [(way, ways) for _, way, ways in ledger.decisions]

    def explored_with_choices(self) -> bool:
        """Explores, if need be with released numbers in place of what decisions on them give; whether that will do."""
        try:
            self.explore()
        except Exception:
            if any(ledger.chose for ledger in self.ledgers):
                return False
            raise
        return not (self.endless and any(ledger.chose for ledger in self.ledgers))

    @property
    def endless(self) -> list[str]:
        """The lines of the queries that nothing bounds."""
        return [one.place for ledger in self.ledgers for one in ledger.releases if math.isinf(one.counted)]

    @staticmethod
    def _others(taken: list[tuple[int, int]], after: int) -> list[tuple[int, ...]]:
        before = [way for way, _ in taken]
        return [
            (*before[:number], other)
            for number in range(after, len(taken))
            for other in range(taken[number][1])
            if other != before[number]
        ]


def _of_size(
    run: Callable[..., Any],
    where: Space,
    sizes: Mapping[str, int],
    delta: float,
    seed: int,
    on_tape: bool,
    any_length: bool,
    limits: Limits,
) -> Certificate:
    def one_run(ledger: Ledger) -> Any:
        data = where.problem(abstract_rows(where, sizes, any_length), sizes)  # type: ignore[arg-type]
        draws = Draws(ledger)
        with patched(draws, run):
            output = run(data, CertifyTape(ledger) if on_tape else draws)
        choices.ended()
        return output

    def runs() -> list[Ledger]:
        paths = _Paths(one_run, sizes["n"], seed, where.relation, limits)
        with kept_numbers(run, convert=True):
            if not paths.explored_with_choices():  # then with a run for each way of such a decision
                choices.forgotten()
                (raised.get() or []).clear()
                paths = replace(paths, choosing=False, costs={}, ledgers=[])
                paths.explore()
            if paths.endless:  # with numbers that were released, or drawn, as they are?
                plainly = replace(paths, plainly=True, costs={}, ledgers=[])
                plainly.explore()
                refuse(not plainly.endless, f"{paths.endless[0]}: {_FOLLOWS}")
        return paths.ledgers

    return ended(runs, where.relation, delta)


def ended(
    runs: Callable[[], list[Ledger]], relation: Relation, delta: float, sizes: str = "", picked: bool = True
) -> Certificate:
    """The certificate of some runs: what the costliest releases, or where it ends.

    Args:
        picked: released values pick the run, step by step; else that none costs more than one of them is an axiom.
    """
    lines: dict[tuple[str, str], Line] = {}
    taken: dict[str, None] = {}
    tokens = trace.set(lines), axioms.set(taken), raised.set([])
    NAMED.clear()
    made = partial(Certificate, delta=delta, relation=relation, sizes=sizes)
    try:
        with np.errstate(all="ignore"):
            epsilon, releases, why = _worst(runs(), relation, delta, picked)
        found = made(epsilon, releases=releases, open=why)
    except Exception as error:  # code of others, on values that it was not written for
        found = made(None, open=_reason(error), decides=isinstance(error, Decides))
    finally:
        trace.reset(tokens[0])
        axioms.reset(tokens[1])
        raised.reset(tokens[2])
    return replace(found, axioms=(FINITE, *taken), lines=tuple(lines.values()))


class _Unit(NamedTuple):
    """Releases that are accounted together, because they share secret batches: with these, numbered from 0."""

    releases: tuple[Certified, ...]
    batches: tuple[Draw, ...]

    @property
    def cost(self) -> tuple[Any, ...]:
        """Equal for units that cost the same."""
        return tuple(one[1:] for one in self.batches), tuple(sorted(one.kind for one in self.releases))

    @property
    def alike(self) -> tuple[Any, ...]:
        """Equal for units of which one costs at least what the other does, by their size."""
        batches, kinds = self.cost
        return (batches, (kinds[0][0], *kinds[0][2:])) if len(kinds) == 1 else self.cost

    @property
    def size(self) -> float:
        """Of its first release."""
        return float(self.cost[1][0][1])


def _worst(
    ledgers: list[Ledger], relation: Relation, delta: float, picked: bool
) -> tuple[float, tuple[Certified, ...], str]:
    """The most that any record pays in any run."""
    ways: list[tuple[Counter[Any], list[_Unit], Ledger]] = []
    for ledger in ledgers:
        for record in _signatures(ledger):
            endless = next((one for one in record if not one.loss < _LARGEST), None)
            if endless is not None:
                far = f"the query may move by {endless.moves:.2g}, which bounds nothing; clip what each step adds to it"
                why = f"{endless.place}: {'nothing bounds the query' if math.isinf(endless.loss) else far}"
                return math.inf, tuple(ledger.releases), endless.cause or why
            units = _units(ledger, record)
            costs = Counter(one.cost for one in units)
            if not any(costs <= other[0] for other in ways):
                ways = [other for other in ways if not other[0] <= costs] + [(costs, units, ledger)]
    if picked and len(ledgers) > 1 < len(ways):
        units = _dearest([units for _, units, _ in ways])
        costs = Counter(one.cost for one in units)
        no_run = Ledger(0, 0, releases=[one for unit in units for one in unit.releases])
        ways = [(costs, units, next((ledger for other, _, ledger in ways if other == costs), no_run))]
    found = [(*_epsilon(units, relation, delta), tuple(ledger.releases)) for _, units, ledger in ways]
    epsilon, why, releases = max(found, key=lambda one: (one[0], len(one[2]) > 0), default=(0.0, "", ()))
    return epsilon, releases, why


def _units(ledger: Ledger, releases: list[Certified]) -> list[_Unit]:
    """By the secret batches that they share; fresh ones are drawn with a view to each other, and so one."""
    groups: dict[int, tuple[set[int], list[Certified]]] = {}  # by batch
    found: dict[int, tuple[set[int], list[Certified]]] = {}
    for one in releases:
        drawn = set() if -1 in one.draws else {number for number in one.draws if number >= 0}
        if any(ledger.batches[number].kind == "fresh" for number in drawn):
            drawn |= {number for number, batch in enumerate(ledger.batches) if batch.kind == "fresh"}
        joined = (drawn, [one])
        for other in {id(groups[number]): groups[number] for number in drawn if number in groups}.values():
            joined = joined[0] | other[0], [*other[1], *joined[1]]
            found.pop(id(other), None)
        found[id(joined)] = joined
        groups.update(dict.fromkeys(joined[0], joined))
    units = []
    for drawn, group in found.values():
        numbers = {number: place for place, number in enumerate(sorted(drawn))}
        made = [replace(one, draws=tuple(numbers.get(number, number) for number in one.draws)) for one in group]
        units.append(_Unit(tuple(made), tuple(ledger.batches[number] for number in numbers)))
    return units


def _dearest(ways: list[list[_Unit]]) -> list[_Unit]:
    """What costs at least as much as each of the ways, and as whoever picks the way by what was released so far.

    In each kind of units the k-th largest of all ways: whatever comes next, one is left that costs no less. Gaussian
    noise on all records adds up in squares, whoever picks it (Smith and Thakurta 2022), so the largest sum will do.
    """
    groups: dict[Any, list[list[_Unit]]] = {}
    for way in ways:
        for key, units in itertools.groupby(sorted(way, key=lambda one: repr(one.alike)), key=lambda one: one.alike):
            groups.setdefault(key, []).append(sorted(units, key=lambda one: -one.size))
    found = list[_Unit]()
    for (batches, kind, *_), taken in groups.items():
        if not batches and kind[0] == "gaussian":
            found += max(taken, key=lambda units: sum(one.size**2 for one in units))
        else:
            for ranked in itertools.zip_longest(*taken):
                found.append(max((one for one in ranked if one is not None), key=lambda one: one.size))
    return found


def _signatures(ledger: Ledger) -> list[list[Certified]]:
    """What a record may pay for: in each random order it may stand at any place, whatever its place in the others."""
    groups: dict[Any, list[Certified]] = {}
    for one in ledger.releases:
        groups.setdefault(one.records.order, []).append(one)
    found = [_of_each_record(group, ledger.n) for group in groups.values()]
    refuse(math.prod(map(len, found)) > _PATHS * ledger.n, "too many ways in which a record may stand in random orders")
    return [[one for part in parts for one in part] for parts in itertools.product(*found)]


def _of_each_record(releases: list[Certified], n: int) -> list[list[Certified]]:
    """For each record the releases that it is in; those that cost as much as others, or less, once."""
    keys = [None if one.records.numbers is None else one.records.numbers.tobytes() for one in releases]
    sets = {key: one.records.numbers for key, one in zip(keys, releases, strict=True)}
    within = [np.isin(np.arange(n), np.arange(n) if one is None else one) for one in sets.values()]
    kinds = [dict(zip(sets, kind, strict=True)) for kind in np.unique(within, axis=1).T]
    each = ([one for one, key in zip(releases, keys, strict=True) if kind[key]] for kind in kinds)
    found: list[tuple[Counter[str], list[Certified]]] = []
    for paid in sorted(each, key=len, reverse=True):
        costs = Counter(repr(one.kind) for one in paid)
        if not any(costs <= other for other, _ in found):
            found.append((costs, paid))
    return [paid for _, paid in found]


def _epsilon(units: list[_Unit], relation: Relation, delta: float) -> tuple[float, str]:
    batches, made = list[Draw](), list[Release]()
    for unit in units:
        if relation != "replace-one" and any(one.kind != "poisson" for one in unit.batches):
            raise Open(f"under {relation} neighbours a secret batch of public size has no rule")
        if any(SOMETHING in one.draws for one in unit.releases):
            raise Open(f"under {relation} neighbours a row of zeros has to add nothing to the sum of a Poisson batch")
        first = len(batches)
        batches += [one._replace(number=first + place) for place, one in enumerate(unit.batches)]
        for one in unit.releases:
            draws = tuple(number + first if number >= 0 else number for number in one.draws)
            made.append(as_release(replace(one, draws=draws), len(made), relation))
    found = account(Transcript(events=[*batches, *made]), relation)
    return found.epsilon(delta), found.gap


def _reason(error: Exception) -> str:
    """The user's line that the certificate ends at, and why."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if of_user(one.filename)]
    if isinstance(error, Open):
        why = str(error)
    else:  # whose text may be made of what stands for a number
        said = ", ".join(str(one) for one in error.args if type(one) in (str, int, float))
        why = f"cannot be followed: {type(error).__name__}: {said}"
    if not frames:
        return why
    line = f": `{frames[-1].line}`" if frames[-1].line else ""
    return f"{file_name(frames[-1].filename)}:{frames[-1].lineno}: {why}{line}"
