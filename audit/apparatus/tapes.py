"""What a tape gives, against what it says of it: its streams, the noise of its calls, the tree, the records drawn."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.arrays import Array, Bools, Indices
from dpassay.reference.blocks.clipping import clip, clip_rows
from dpassay.reference.blocks.tree import TreeSum
from dpassay.reference.findings import Kind
from dpassay.reference.laws.law import Difference, Law
from dpassay.reference.neighbours import Pair
from dpassay.reference.tape import LiveTape, Tape
from dpassay.reference.transcript import Draw, Release

from .uniform import LEAST, not_uniform, surprise

_DRAWS, _STD, _MOVES = 1500, 0.4, 3.0
_VALUES, _RESTART = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.0, -6.0, 5.0]), 5  # of a tree; its sum begins anew
_TAPES, _SEEDS = 400, 1000


class _Raw(Law):
    """Releases what its stream holds next."""

    def sample(self, rng: np.random.Generator) -> Any:
        return rng.random(64)

    def log_density(self, value: Any) -> float:
        return 0.0

    def public_difference(self, other: Law) -> Difference | None:
        return None


_USES: dict[str, Callable[[LiveTape], Any]] = {
    "releases": lambda tape: tape.release("x", _Raw(), sensitivity=0.0),
    "batches": lambda tape: np.isin(np.arange(64), tape.poisson("x", 64, 0.5).indices),
    "public values": lambda tape: tape.public("x", lambda rng: rng.random(64)),
    "secret values": lambda tape: tape.secret("x", lambda rng: rng.random(64)),
}


def wrong_streams(seed: int) -> Iterator[str]:
    """Are the four streams of a tape independent of each other and of other seeds, and the same for the same one?"""
    alone = {name: use(LiveTape(seed)) for name, use in _USES.items()}
    if len({tuple(_USES["releases"](LiveTape(one))) for one in range(_SEEDS)}) < _SEEDS:
        yield f"of {_SEEDS} seeds some have the same noise"
    for name, use in _USES.items():
        tape = LiveTape(seed)
        before = use(tape)
        if np.array_equal(before, use(tape)):
            yield f"{name} are the same at every call"
        if any(
            np.array_equal(use(LiveTape(one)), alone[name]) for one in (seed + 1, np.random.SeedSequence([seed, 1]))
        ):
            yield f"{name} are the same whatever the seed is"
        for other, value in alone.items():
            tape = LiveTape(seed)
            use(tape)
            if other != name and not np.array_equal(_USES[other](tape), value):
                yield f"{other} depend on how many {name} there were before: they share a stream"
        halves = {other: value < 0.5 if value.dtype != bool else value for other, value in alone.items()}
        alike = [other for other, value in halves.items() if other > name and np.array_equal(value, halves[name])]
        yield from (f"{name} and {other} begin with the same numbers" for other in alike)


def wrong_calls(seed: int) -> Iterator[str]:
    """Do the calls of the tape add the noise that they are asked for, and hand back what they record?"""
    tape = LiveTape(seed)
    query = np.array([1.0, -2.0, 0.5])
    matrix = np.array([[1.0, 0.25], [0.25, -1.0]])
    values: dict[str, list[Array]] = {"gaussian": [], "laplace": [], "symmetric_gaussian": [], "noise": []}
    for _ in range(_DRAWS):
        values["gaussian"].append(tape.gaussian("x", query, std=_STD, sensitivity=_MOVES) - query)
        values["laplace"].append(tape.laplace("x", query, scale=_STD, sensitivity=_MOVES) - query)
        symmetric = tape.symmetric_gaussian("x", matrix, std=_STD, sensitivity=_MOVES) - matrix
        values["symmetric_gaussian"].append(symmetric[np.triu_indices(2)])
        values["noise"].append(tape.noise("x", _STD, 3))
        if not np.array_equal(symmetric, symmetric.T):
            yield "symmetric_gaussian: what is released is not symmetric"
    for name, drawn in values.items():
        law = scipy.stats.laplace if name == "laplace" else scipy.stats.norm
        yield from (f"{name}: {one}" for one in not_uniform(law.cdf(np.array(drawn), 0, _STD), True))
    for name in ("releases", "public values"):
        value = _USES[name](tape)
        value *= 0.0
        kept: Any = tape.transcript.events[-1]
        if not np.any(kept.value):
            yield "what a call hands back is its record itself, so that a change in place changes both"
    if {(one.law.scale, one.sensitivity) for one in tape.transcript.releases[:3]} != {(_STD, _MOVES)}:
        yield "a release is not recorded with the noise and the sensitivity that were asked for"


_LITTLE = 1e-9  # of a private number, which leaks
_LEAKS: dict[Kind, Callable[[float, Tape], Any]] = {
    Kind.OUTPUT: lambda x, tape: tape.gaussian("x", [x], std=1.0, sensitivity=1.0) + _LITTLE * x,
    Kind.REVEALED_VALUE: lambda x, tape: tape.reveal("x", _LITTLE * x),
    Kind.PUBLIC_VALUE: lambda x, tape: tape.public("x", lambda rng: _LITTLE * x),
    Kind.NOISE_SCALE: lambda x, tape: tape.gaussian("x", x, std=1 + _LITTLE * x, sensitivity=1.0),
    Kind.SENSITIVITY_EXCEEDED: lambda x, tape: tape.gaussian("x", [x, x], std=1.0, sensitivity=1.4),
    Kind.BARE_RELEASE: lambda x, tape: tape.gaussian("x", _LITTLE * x, std=0.0, sensitivity=1.0),
    Kind.BATCH_SIZE: lambda x, tape: tape.batch("x", 9, 2 + round(x)),
    Kind.CALL: lambda x, tape: tape.gaussian("x" if x else "y", 0.0, std=1.0, sensitivity=1.0),
}


def wrong_comparison(seed: int) -> Iterator[str]:
    """Is it noticed where two runs on neighbours differ?"""
    for kind, run in _LEAKS.items():
        found = lockstep(run, Pair(0.0, 1.0, 0, ""), [seed]).findings
        if kind not in {one.kind for one in found}:
            yield f"runs on neighbours differ ({kind.value}), and nothing is found"


def wrong_tree(seed: int) -> Iterator[str]:
    """Are the noisy prefix sums those of one tree: each node once, with noise of its own?"""
    counts = range(1, len(_VALUES) + 1)
    terms = [set(range(_RESTART if t >= _RESTART else 1, t + 1)) for t in (0, *counts)]  # of each prefix sum
    exact = np.array([sum(_VALUES[k - 1] for k in terms[t]) for t in counts])
    found, releases = _prefixes(LiveTape(seed), 1e-12, sampled=True)
    if not np.allclose(found, exact, atol=1e-6):
        yield f"the prefix sums are {np.round(found, 6).tolist()}, and should be {exact.tolist()}"
        return
    runs = [_prefixes(LiveTape(np.random.SeedSequence([seed, k])), 1.0)[0] for k in range(_TAPES)]
    noise = np.pad(np.array(runs) - exact, ((0, 0), (1, 0)))
    added = [noise[:, t] - noise[:, t - (t & -t)] for t in counts]  # the lowest bit is the length of the last node
    yield from not_uniform(scipy.special.ndtr(np.stack(added, axis=1)), True)
    for release in releases:
        first, last = map(int, release.label[3:-1].split(","))  # of x/(first,last)
        moving = terms[last] ^ terms[first - 1]
        if release.sensitivity != len(moving):
            yield f"node {(first, last)} declares the sensitivity {release.sensitivity} for {len(moving)} terms of 1"
        if {number + 1 for number in release.draws} != moving:
            yield f"node {(first, last)} names the batches {release.draws} of {len(moving)} terms"


def _prefixes(tape: LiveTape, std: float, sampled: bool = False) -> tuple[Array, list[Release]]:
    """Noisy prefix sums, and the releases of the nodes; each value may be of a batch of its own."""
    tree, found = TreeSum(tape, "x", std=std), list[float]()
    for number, one in enumerate(_VALUES, 1):
        batch = tape.batch("x", 2, 1) if sampled else None
        (tree.restart if number == _RESTART else tree.extend)(one, sensitivity=1.0, batch=batch)
        found.append(float(tree.noisy()))
    return np.array(found), tape.transcript.releases


def wrong_clipping(seed: int) -> Iterator[str]:
    """Is each row shortened to a bound that it exceeds, in its direction, and no other row changed?"""
    rows = np.random.default_rng(seed).normal(size=(_TAPES, 3)) * np.geomspace(0.01, 100, _TAPES)[:, None]
    for bound in (0.3, 1.0, 3.0):
        expected = [row * min(1.0, bound / math.sqrt(float(row @ row))) for row in rows]
        for name, found in (("clip_rows", clip_rows(rows, bound)), ("clip", [clip(row, bound) for row in rows])):
            if not np.allclose(found, expected, rtol=1e-6, atol=0):
                yield f"{name}: some rows are not cut to the length {bound}, or shorter ones are changed"


_FEWEST, _MOST, _CELLS, _EACH = 200, 8000, 2_000_000, 20  # draws of one kind; records times draws; draws of a tape
_COLUMNS, _SOME = 200, 2000  # records whose pairs are looked at; draws from which their spread is taken
_OFTEN = 5.0  # times together from which a sum of squares follows its law
_OFF = 10.0  # standard errors: sums of bounded terms, whose tails are a little longer than normal ones


def wrong_batches(draw: Draw, seed: int) -> Iterator[str]:
    """What is wrong with sampled batches (fixed size, or Poisson), some on each of many tapes."""
    count = int(np.clip(_CELLS // draw.n, _FEWEST, _MOST))
    size, rate = draw.size, draw.rate
    batches = []
    for number in range(count // _EACH):
        tape = LiveTape(np.random.SeedSequence([seed, number]))
        draws = (tape.batch("x", draw.n, size) if size else tape.poisson("x", draw.n, rate) for _ in range(_EACH))
        batches += [one.indices for one in draws]
    members = _members(batches, draw.n)
    yield from _malformed(batches, members)
    if size and any(len(one) != size for one in batches):
        yield f"a batch has not {size} records"
    yield from _frequencies(members, rate, draw.size, seed)
    if not size and surprise(int(np.sum(members)), members.size, rate) < LEAST:
        yield f"a record is in a Poisson batch with probability {np.mean(members):.4g}, not {rate:.4g}"
    common = np.sum(members[:-1:2] & members[1::2], axis=1)
    mean = draw.n * rate**2  # of a binomial law; of the hypergeometric one of batches of fixed size
    if abs(np.mean(common) - mean) > _OFF * (np.std(common) / np.sqrt(len(common)) + 1 / len(common)):
        yield f"a batch and the next one share {np.mean(common):.3g} records, and should {mean:.3g}"


def wrong_pass(draws: Sequence[Draw], seed: int) -> Iterator[str]:
    """What is wrong with fresh batches: a pass of these sizes, over many tapes."""
    n, hidden, left = draws[0].n, draws[0].hidden, draws[0].n
    for one in draws:
        if one.rate != (one.size or 0) / left:
            yield f"{one.size} of {left} records that are left are said to be drawn at the rate {one.rate:.4g}"
            return
        left -= one.size or 0
    count = int(np.clip(_CELLS // (20 * n), 100, 600)) if hidden else 2
    passes = []
    for number in range(count):
        tape = LiveTape(np.random.SeedSequence([seed, number]))
        order = "random" if hidden else "index"
        passes.append([tape.fresh("x", n, one.size or 0, order=order).indices for one in draws])
    used = [np.concatenate(batches) for batches in passes]
    yield from _malformed(used, _members(used, n))
    if not hidden and any(not np.array_equal(one, np.arange(len(one))) for one in used):
        yield "the order is not that of the list"
    for place in {0, len(draws) // 2, len(draws) - 1} if hidden else ():
        size = draws[place].size or 0
        yield from _frequencies(_members([one[place] for one in passes], n), size / n, size, seed)


def _members(batches: Sequence[Indices], n: int) -> Bools:
    found = np.zeros((len(batches), n), dtype=bool)
    records = np.concatenate(batches)
    there = (records >= 0) & (records < n)
    found[np.repeat(np.arange(len(batches)), [len(one) for one in batches])[there], records[there]] = True
    return found


def _malformed(batches: Sequence[Indices], members: Bools) -> Iterator[str]:
    missing = np.array([len(one) for one in batches]) - members.sum(axis=1)
    if np.any(missing):
        yield f"{np.max(missing)} records of a batch come again in it, or do not exist"


def _frequencies(members: Bools, rate: float, size: int | None, seed: int) -> Iterator[str]:
    draws, n = members.shape
    pair = rate**2 if size is None else size * (size - 1) / max(1, n * (n - 1))
    counts = members.sum(axis=0)
    extremes = np.array([counts.min(), counts.max()])
    if surprise(extremes, draws, rate) < LEAST:
        yield f"records are in {extremes[0]} to {extremes[1]} of {draws} batches, and should be in {draws * rate:.4g}"
    far = np.random.default_rng([seed, 5]).integers(0, n, _COLUMNS // 2)
    columns = np.arange(n) if n <= _COLUMNS else np.union1d(np.arange(_COLUMNS // 2), far)  # neighbours, and others
    if len(columns) > 1:
        yield from _pairs(members[:, columns].astype(np.float32), rate, pair)


def _pairs(members: Array, rate: float, pair: float) -> Iterator[str]:
    """Are the most and the least frequent pairs as often together as they should be; and are all of them?"""
    draws, n = members.shape
    first, second = np.triu_indices(n, 1)
    both, counts = (members.T @ members)[first, second], members.sum(axis=0)
    if surprise(np.array([both.min(), both.max()]), draws, pair) < LEAST:
        yield f"two records are together in {both.min():g} to {both.max():g} of {draws} batches, not {draws * pair:.4g}"
    if draws * pair >= _OFTEN:
        off = both - rate * (counts[first] + counts[second]) - draws * (pair - 2 * rate**2)
        mean, spread = _of_poisson(n, rate, draws) if pair == rate**2 else _of_fixed(members, rate, pair)
        if spread > 0 and scipy.stats.gamma.sf(off @ off / draws, mean**2 / spread, scale=spread / mean) < LEAST:
            yield "some records are together more often than others"


def _of_poisson(n: int, rate: float, draws: int) -> tuple[float, float]:
    """Mean and variance of the sum of squares over all pairs, of which records that are together are rare."""
    pairs, square = n * (n - 1) / 2, rate * (1 - rate)
    fourth = square * ((1 - rate) ** 3 + rate**3)
    of_one_draw = pairs * (fourth**2 - square**4) + 2 * (n - 2) * pairs * (fourth - square**2) * square**2
    return pairs * square**2, of_one_draw / draws + 2 * pairs * square**4


def _of_fixed(members: Array, rate: float, pair: float) -> tuple[float, float]:
    """Likewise; ``off`` is what ``y = (x_i - rate) (x_j - rate)``, less its mean, adds up to over the draws.

    The spread of the sum is taken from ``|y|^2``, and from ``y . y'`` of one draw and the next; it follows a gamma law,
    about.
    """
    draws, middle, some = len(members), pair - rate**2, members[:_SOME].astype(float) - rate
    count = members.shape[1] * (members.shape[1] - 1) / 2

    def products(one: Array, other: Array) -> Array:
        """``y . y'`` of each of these draws."""
        found = np.full(len(one), middle**2 * count)
        for factor, values in ((1.0, one * other), (-middle, one), (-middle, other)):
            found += factor * (np.sum(values, axis=1) ** 2 - np.sum(values**2, axis=1)) / 2
        return found

    size = products(some, some)
    return float(np.mean(size)), float(np.var(size) / draws + 2 * np.mean(products(some[:-1], some[1:]) ** 2))
