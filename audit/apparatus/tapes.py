"""What a tape gives, against what it says of it: its streams, the noise of its calls, the tree, the records drawn."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy

from dpassay.reference.arrays import Array, Bools, Indices
from dpassay.reference.blocks.tree import TreeSum
from dpassay.reference.laws.law import Difference, Law
from dpassay.reference.tape import LiveTape
from dpassay.reference.transcript import Draw

from .uniform import LEAST, not_uniform, surprise

_DRAWS, _STD = 1500, 0.4
_PREFIXES, _TAPES, _FAR = 7, 400, 9.0


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
        if np.array_equal(use(LiveTape(seed + 1)), alone[name]):
            yield f"{name} are the same whatever the seed is"
        for other, value in alone.items():
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
    first, second = tape.transcript.releases[:2]
    if (first.law.scale, second.law.scale, first.sensitivity) != (_STD, _STD, 1.0):
        yield "a release is not recorded with the noise and the sensitivity that were asked for"


def wrong_tree(seed: int) -> Iterator[str]:
    """Are the noisy prefix sums those of one tree: each node once, with noise of its own?"""
    values = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.0])
    found, exact = _prefixes(LiveTape(seed), values, 1e-12)[0], np.cumsum(values)
    if not np.allclose(found, exact, atol=1e-6):
        yield f"the prefix sums are {np.round(found, 6).tolist()}, and should be {exact.tolist()}"
        return
    runs = [_prefixes(LiveTape(np.random.SeedSequence([seed, k])), values, 1.0) for k in range(_TAPES)]
    noise = np.array([one - np.cumsum(values) for one, _ in runs])
    nodes = [_nodes(t) for t in range(1, _PREFIXES + 1)]
    shared = np.array([[len(one & other) for other in nodes] for one in nodes])
    found = noise.T @ noise / _TAPES
    error = np.sqrt((np.outer(np.diag(shared), np.diag(shared)) + shared**2) / _TAPES)
    if np.any(np.abs(found - shared) > _FAR * error):
        s, t = np.unravel_index(int(np.argmax(np.abs(found - shared) / error)), shared.shape)
        yield f"the noises of prefixes {s + 1} and {t + 1} have covariance {found[s, t]:.3g}, not {shared[s, t]}"
    for label, sensitivity in runs[0][1].items():
        if sensitivity != label[1] - label[0] + 1:
            yield f"node {label} declares the sensitivity {sensitivity:g} for {label[1] - label[0] + 1} terms of 1"


def _prefixes(tape: LiveTape, values: Array, std: float) -> tuple[Array, dict[tuple[int, int], float]]:
    """Noisy prefix sums, and the sensitivity of each node."""
    tree = TreeSum(tape, "x", std=std)
    found = np.array([float(tree.add(one, sensitivity=1.0)) for one in values])
    sensitivities = {}
    for release in tape.transcript.releases:
        first, last = map(int, release.label[3:-1].split(","))  # of x/(first,last)
        sensitivities[first, last] = float(release.sensitivity or 0)
    return found, sensitivities


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
    lengths = members.sum(axis=1)
    variance = draw.n * rate * (1 - rate)
    error = np.sqrt((3 * variance**2 + variance) / count)  # of a sample variance, of a binomial law
    if not fixed and abs(np.var(lengths) - variance) > _OFF * error:
        yield f"the sizes of Poisson batches have the variance {np.var(lengths):.3g}"
    common = np.sum(members[:-1:2] & members[1::2], axis=1)
    mean = draw.n * rate**2  # of a binomial law; of the hypergeometric one of batches of fixed size
    variance = mean * ((1 - rate) ** 2 * draw.n / max(1, draw.n - 1) if fixed else 1 - rate**2)
    error = np.sqrt(variance / len(common)) + 1 / len(common)
    if (variance == 0 and np.any(common != mean)) or abs(np.mean(common) - mean) > _OFF * error:
        yield f"a batch and the next one share {np.mean(common):.3g} records, and should {mean:.3g}"


def wrong_pass(draws: Sequence[Draw], seed: int) -> Iterator[str]:
    """What is wrong with fresh batches: a pass of these sizes, over many tapes."""
    n, hidden = draws[0].n, draws[0].hidden
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
