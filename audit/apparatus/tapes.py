"""What a tape gives, against what it says of it: its streams, the noise of its calls, the tree, the records drawn."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.arrays import Array, Bools, Indices
from dpassay.reference.blocks.tree import TreeSum
from dpassay.reference.findings import Kind
from dpassay.reference.laws.law import Difference, Law
from dpassay.reference.neighbours import Pair
from dpassay.reference.tape import LiveTape, Tape
from dpassay.reference.transcript import Draw

from .uniform import LEAST, not_uniform, surprise

_DRAWS, _STD = 1500, 0.4
_VALUES, _RESTART = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.0, -6.0, 5.0]), 5  # of a tree; its sum begins anew
_TAPES, _FAR = 400, 9.0


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
        values["gaussian"].append(tape.gaussian("x", query, std=_STD, sensitivity=1.0) - query)
        values["laplace"].append(tape.laplace("x", query, scale=_STD, sensitivity=1.0) - query)
        symmetric = tape.symmetric_gaussian("x", matrix, std=_STD, sensitivity=1.0) - matrix
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
    first, second = tape.transcript.releases[:2]
    if (first.law.scale, second.law.scale, first.sensitivity) != (_STD, _STD, 1.0):
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
    found = _prefixes(LiveTape(seed), 1e-12)[0]
    if not np.allclose(found, exact, atol=1e-6):
        yield f"the prefix sums are {np.round(found, 6).tolist()}, and should be {exact.tolist()}"
        return
    runs = [_prefixes(LiveTape(np.random.SeedSequence([seed, k])), 1.0) for k in range(_TAPES)]
    noise = np.array([one - exact for one, _ in runs])
    nodes = [_nodes(t) for t in counts]
    shared = np.array([[len(one & other) for other in nodes] for one in nodes])
    found = noise.T @ noise / _TAPES
    error = np.sqrt((np.outer(np.diag(shared), np.diag(shared)) + shared**2) / _TAPES)
    if np.any(np.abs(found - shared) > _FAR * error):
        s, t = np.unravel_index(int(np.argmax(np.abs(found - shared) / error)), shared.shape)
        yield f"the noises of prefixes {s + 1} and {t + 1} have covariance {found[s, t]:.3g}, not {shared[s, t]}"
    for (first, last), sensitivity in runs[0][1].items():
        moving = len(terms[last] ^ terms[first - 1])
        if sensitivity != moving:
            yield f"node {(first, last)} declares the sensitivity {sensitivity:g} for {moving} terms of 1"


def _prefixes(tape: LiveTape, std: float) -> tuple[Array, dict[tuple[int, int], float]]:
    """Noisy prefix sums, and the sensitivity of each node."""
    tree, found, sensitivities = TreeSum(tape, "x", std=std), list[float](), {}
    for number, one in enumerate(_VALUES, 1):
        (tree.restart if number == _RESTART else tree.extend)(one, sensitivity=1.0)
        found.append(float(tree.noisy()))
    for release in tape.transcript.releases:
        first, last = map(int, release.label[3:-1].split(","))  # of x/(first,last)
        sensitivities[first, last] = float(release.sensitivity or 0)
    return np.array(found), sensitivities


def _nodes(t: int) -> set[tuple[int, int]]:
    """The dyadic intervals of a prefix, from its end: the lowest bit of what is left is the length of the last one."""
    found = set()
    while t:
        length = t & -t
        found.add((t - length + 1, t))
        t -= length
    return found


_FEWEST, _CELLS = 200, 2_000_000  # draws of one kind; records times draws
_PAIRS = 200
_OFF = 10.0  # standard errors: sums of bounded terms, whose tails are a little longer than normal ones


def wrong_batches(draw: Draw, seed: int) -> Iterator[str]:
    """What is wrong with sampled batches (fixed size, or Poisson), many on one tape."""
    tape = LiveTape(seed)
    count = int(np.clip(_CELLS // draw.n, _FEWEST, _DRAWS))
    fixed = draw.kind == "without-replacement"
    size, rate = draw.size or 0, draw.rate
    batches = [
        (tape.batch("x", draw.n, size) if fixed else tape.poisson("x", draw.n, rate)).indices for _ in range(count)
    ]
    yield from _malformed(batches, draw.n)
    members = _members(batches, draw.n)
    if fixed and any(len(one) != size for one in batches):
        yield f"a batch has not {size} records"
    pair = size * (size - 1) / max(1, draw.n * (draw.n - 1)) if fixed else rate**2
    yield from _frequencies(members, rate, pair, seed)
    sizes = np.cumsum(np.bincount(members.sum(axis=1), minlength=draw.n + 1), dtype=float)
    if not fixed and surprise(sizes, count, scipy.stats.binom.cdf(np.arange(draw.n + 1), draw.n, rate)) < LEAST:
        yield "the sizes of Poisson batches do not follow the binomial law"
    common = np.sum(members[:-1:2] & members[1::2], axis=1)
    mean = draw.n * rate**2  # of a binomial law; of the hypergeometric one of batches of fixed size
    variance = mean * ((1 - rate) ** 2 * draw.n / max(1, draw.n - 1) if fixed else 1 - rate**2)
    error = np.sqrt(variance / len(common)) + 1 / len(common)
    if (variance == 0 and np.any(common != mean)) or abs(np.mean(common) - mean) > _OFF * error:
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
    for batches in passes:
        yield from _malformed(batches, n)
        used = np.concatenate(batches)
        if len(np.unique(used)) < len(used):
            yield f"of {len(used)} records in fresh batches {len(used) - len(np.unique(used))} were there before"
            return
        if not hidden and not np.array_equal(used, np.arange(len(used))):
            yield "the order is not that of the list"
            return
    if hidden:
        for place in sorted({0, len(draws) // 2, len(draws) - 1}):
            size = draws[place].size or 0
            pair = size * (size - 1) / max(1, n * (n - 1))
            yield from _frequencies(_members([one[place] for one in passes], n), size / n, pair, seed)


def _malformed(batches: Sequence[Indices], n: int) -> Iterator[str]:
    for one in batches:
        if len(np.unique(one)) < len(one):
            yield f"a record is {len(one) - len(np.unique(one)) + 1} times in one batch"
            return
        if len(one) and not (one.min() >= 0 and one.max() < n):
            yield f"a number of a record is not in 0..{n - 1}"
            return


def _members(batches: Sequence[Indices], n: int) -> Bools:
    found = np.zeros((len(batches), n), dtype=bool)
    for number, one in enumerate(batches):
        found[number, one[(one >= 0) & (one < n)]] = True
    return found


def _frequencies(members: Bools, rate: float, pair: float, seed: int) -> Iterator[str]:
    draws, n = members.shape
    counts = members.sum(axis=0)
    extremes = np.array([counts.min(), counts.max()])
    if surprise(extremes, draws, rate) < LEAST:
        yield f"records are in {extremes[0]} to {extremes[1]} of {draws} batches, and should be in {draws * rate:.4g}"
        return
    rng = np.random.default_rng([seed, 5])
    first = np.concatenate([np.arange(n), rng.integers(0, n, _PAIRS)])
    second = np.concatenate([(np.arange(n) + 1) % n, rng.integers(0, n, _PAIRS)])
    first, second = first[first != second], second[first != second]
    both = np.sum(members[:, first] & members[:, second], axis=0)
    if both.size and surprise(np.array([both.min(), both.max()]), draws, pair) < LEAST:
        yield f"two records are together in {both.min()} to {both.max()} of {draws} batches, not in {draws * pair:.4g}"
