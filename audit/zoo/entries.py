"""The bug zoo: correct and broken mechanisms with a claim and the exact truth of the pair that shows it.

`truth` is the exact epsilon of the pair at `delta` (a proven lower bound of it where `at_least`), so a tester's answer
can be scored without trusting any tester.

The entries of ``held_out`` were written before the audit saw them, to tell what it finds that it was not made for. At
first sight, with 1,000 outputs a side, 6 of the 8 bugs were found in all of three seeds (the bins in one of them, the
times in none); with 10,000 all, in one seed; no alarm on the 4 others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld_lib
from scipy import stats

from dpassay.reference.arrays import Array
from dpassay.reference.guarantee import from_pld

from . import laws as law
from .laws import DELTA, EPSILON, INFINITE, Bulk, Entry, Rng, bulk, gauss, laplace, noisy, normal, one_by_one, pure

UNIT = (0.0, 1.0)
FAIR = float(np.e / (1 + np.e))  # rate of randomised response at epsilon 1


def _additive() -> Iterator[Entry]:
    yield pure("laplace", noisy(laplace(1 / EPSILON)), UNIT, EPSILON)
    yield pure("laplace, noise 10 % too small", noisy(laplace(0.9 / EPSILON)), UNIT, EPSILON / 0.9)
    yield pure("laplace, sensitivity halved", noisy(laplace(0.5 / EPSILON)), UNIT, 2 * EPSILON)
    yield pure("discrete laplace", law.discrete_laplace(EPSILON), (3, 4), EPSILON)
    yield pure("randomised response", categories(FAIR, 2), (0, 1), EPSILON)
    yield pure("randomised response, wrong rate", categories(0.8, 2), (0, 1), float(np.log(4)))
    yield gauss("gaussian", noisy(normal(1.0)), UNIT, 1.0, 1.0)
    yield gauss("gaussian, noise 10 % too small", noisy(normal(0.9)), UNIT, 1.0, 1 / 0.9)
    root2 = float(np.sqrt(2))
    yield gauss("gaussian, missing sqrt 2", noisy(normal(4.84 / root2)), UNIT, 1 / 4.84, root2 / 4.84)
    yield gauss("gaussian, variance for std", noisy(normal(0.25)), UNIT, 2.0, 4.0)
    half_normal = noisy(lambda rng, shape: np.abs(rng.normal(size=shape)))
    yield gauss("gaussian, half-normal noise", half_normal, UNIT, 1.0, INFINITE)
    one_seed = noisy(lambda _, shape: np.tile(np.random.default_rng(0).normal(size=shape[1:]), (shape[0], 1)))
    yield gauss("gaussian, same seed in each run", one_seed, UNIT, 1.0, INFINITE)
    coarse = noisy(lambda rng, shape: stats.laplace.ppf((rng.integers(0, 2**12, shape) + 0.5) / 2**12))
    yield pure("laplace, 12-bit uniform", coarse, UNIT, INFINITE)
    yield pure("laplace, naive double", noisy(laplace(1 / EPSILON)), UNIT, INFINITE, low_bits=True)
    grid = noisy(laplace(1 / EPSILON), after=lambda table: np.round(table * 2**10) / 2**10)  # no low bit of it survives
    yield pure("laplace on a grid", grid, UNIT, EPSILON, low_bits=True)
    for probability in (1e-1, 1e-2, 1e-3, 1e-4):
        yield pure(f"rare branch, probability {probability:g}", law.rare_branch(probability), UNIT, INFINITE)


def _selection() -> Iterator[Entry]:
    equal, shifted = np.zeros(5), np.ones(5)
    pair = favoured, opposed = np.array([1.0, 0, 0, 0, 0]), np.array([0.0, 1, 1, 1, 1])
    weights = [np.exp(EPSILON * a / 2) for a in pair]
    exact = float(np.max(np.abs(np.log(weights[0] / weights[0].sum()) - np.log(weights[1] / weights[1].sum()))))
    good, half = 2 / EPSILON, 1 / EPSILON
    yield pure("noisy max", law.noisy_max(good, "index"), pair, law.noisy_max_epsilon(good, favoured, opposed))
    too_loud = law.noisy_max_epsilon(half, favoured, opposed)
    yield pure("noisy max, half the noise", law.noisy_max(half, "index"), pair, too_loud)
    yield pure("noisy max releases the value", law.noisy_max(good, "value"), (equal, shifted), 2.5 * EPSILON)
    yield pure("exponential mechanism", law.exponential_mechanism(EPSILON), pair, exact)
    tests: dict[int, tuple[int, list[float], list[float]]] = {
        1: (2, [0.0] * 6, [1.0] * 3 + [-1.0] * 3),
        2: (2, [0.0] * 6, [1.0] * 3 + [-1.0] * 3),
        3: (1, [0.0] * 7, [1.0] * 6 + [0.0]),  # six 'below' then a value v -> -inf: ratio exp(6 epsilon / 2)
        4: (3, [0.0] * 6, [1.0] * 3 + [-1.0] * 3),
        5: (1, [0.0, 1.0], [1.0, 0.0]),
        6: (1, [0.0] * 8, [1.0] * 4 + [-1.0] * 4),
    }
    for number, (cutoff, *answers) in tests.items():
        variant = law.lyu_variant(number, EPSILON, cutoff)
        truth = 3 * EPSILON if number == 3 else law.exact_epsilon(variant, *answers)
        both = (answers[0], answers[1])
        yield pure(f"sparse vector {number}", variant, both, truth, at_least=number == 3)


def _aggregation() -> Iterator[Entry]:
    records, scale = ([0.0] * 10, [0.0] * 9 + [100.0]), 0.2 / EPSILON
    yield pure("clipped mean", noisy(laplace(scale), lambda x: np.clip(x, -1, 1).mean()), records, 0.5 * EPSILON)
    yield pure("clip of the mean", noisy(laplace(scale), lambda x: np.clip(np.mean(x), -1, 1)), records, 5 * EPSILON)
    batch, std = 8, 0.5
    yield gauss("forgotten batch division", noisy(normal(std)), (0.0, 2.0), 2 / batch / std, 2 / std)
    leaves, root3, tree = (np.zeros(4), np.array([0.0, 1.0, 0.0, 0.0])), float(np.sqrt(3)), _tree(4)
    yield gauss("tree", noisy(normal(2.0), lambda a: tree @ a), leaves, root3 / 2, root3 / 2)
    silent = noisy(normal(own(7, 1, 0.0, 2.0)), lambda a: tree @ a)
    yield gauss("tree, one node without noise", silent, leaves, root3 / 2, INFINITE)
    yield pure("report with a record count", leaking_report(), ([1.0, 0.0], [1.0]), INFINITE)


@bulk
def leaking_report(records: Any, rng: Rng, size: int) -> list[dict[str, Any]]:
    """A dict with a noisy sum and a text that gives the exact number of records."""
    found = float(np.sum(records)) + rng.laplace(0, 1 / EPSILON, size)
    return [{"sum": float(x), "note": f"{len(records)} records read"} for x in found]


def _composed(std: float, rate: float, steps: int) -> Any:
    one = pld_lib.from_gaussian_mechanism(std, value_discretization_interval=1e-3, sampling_prob=rate)
    return one.self_compose(steps)


def _sampling() -> Iterator[Entry]:
    rate, steps, std, coarse = 0.1, 10, 0.7, 0.3
    pld = _composed(std, rate, steps)
    claim, claimed = from_pld(pld, "Poisson sampled Gaussian, PLD"), float(pld.get_epsilon_for_delta(DELTA))
    once = law.mixture_epsilon(rate, float(np.sqrt(steps)) / std, DELTA)
    doubled = float(_composed(std, 2 * rate, steps).get_epsilon_for_delta(DELTA))
    of_coarse = _composed(coarse, rate, steps)
    large = 0.6  # a third of the Poisson runs never use the record, shuffled runs do
    shuffle_claim = from_pld(of_coarse, "Poisson sampled Gaussian, PLD")
    at_large = float(of_coarse.get_epsilon_for_delta(large))
    shuffled = law.shuffle_epsilon(steps, coarse, large)

    def entry(name: str, q: float, how: str, truth: float) -> Entry:
        return Entry(name, law.sampled_gaussian(q, steps, std, how), 0.0, 1.0, claim, claimed, truth, DELTA)

    yield entry("poisson sampling", rate, "poisson", claimed)
    yield entry("twice the sampling rate", 2 * rate, "poisson", doubled)
    yield entry("one sample for all steps", rate, "once", once)
    shuffler = law.sampled_gaussian(rate, steps, coarse, "shuffle")
    name = "shuffling accounted as poisson"
    yield Entry(name, shuffler, 0.0, 1.0, shuffle_claim, at_large, shuffled, large, True)


# -- one column of many ---------------------------------------------------------------------------------------------
def own(width: int, column: int, scale: float, usual: float = 1 / EPSILON) -> Array:
    """Scales of noise: that of one column is its own."""
    return np.where(np.arange(width) == column, scale, usual)


def into(width: int, column: int) -> Callable[[Any], Array]:
    """An answer that is in one column."""
    return lambda value: float(value) * np.eye(width)[column]


def one_column(width: int, column: int, scale: float, after: Callable[[Array], Any] = np.asarray) -> Bulk:
    """Laplace noise of scale 1 / epsilon in all columns but one, which carries the answer with noise of its own."""
    return noisy(laplace(own(width, column, scale)), into(width, column), after)


def _tree(leaves: int) -> Array:
    """Which node of a binary tree covers which leaf, shape (nodes, leaves), leaves first."""
    rows, span = [], 1
    while span <= leaves:
        rows += [[first <= leaf < first + span for leaf in range(leaves)] for first in range(0, leaves, span)]
        span *= 2
    return np.array(rows, dtype=float)


def _prefixes(leaves: int) -> Array:
    """Which nodes add up to which prefix sum, shape (leaves, nodes): the binary digits of its length."""
    tree = _tree(leaves)
    rows = np.zeros((leaves, len(tree)))
    for length in range(1, leaves + 1):
        start = 0
        for bit in reversed(range(leaves.bit_length())):
            if length >> bit & 1:
                offset = sum(leaves >> level for level in range(bit))
                rows[length - 1, offset + start // 2**bit] = 1
                start += 2**bit
    return rows


def prefix_sums(leaves: int, std: float, bare: int | None) -> Bulk:
    """Prefix sums from noisy nodes of a tree; the node of leaf `bare` gets no noise. The data: which leaf has a one."""
    tree, sums = _tree(leaves), _prefixes(leaves)
    stds = std if bare is None else own(len(tree), bare, 0.0, std)

    def nodes(leaf: Any) -> Any:
        return np.zeros(len(tree)) if leaf is None else tree[:, leaf]

    return noisy(normal(stds), nodes, lambda table: table @ sums.T)


def prefix_mu(leaves: int, std: float, leaf: int) -> float:
    """Exact mu of all prefix sums when one leaf changes by one."""
    sums = _prefixes(leaves)
    moved = sums @ _tree(leaves)[:, leaf]
    return float(np.sqrt(moved @ np.linalg.solve(sums @ sums.T, moved)) / std)


def _zero_sum(rng: Rng, shape: tuple[int, ...]) -> Array:
    """Centred so that 'the total stays right': the total is exact."""
    noise = rng.laplace(0, 2 / EPSILON, shape)
    return np.asarray(noise - noise.mean(axis=1, keepdims=True))


def _wide() -> Iterator[Entry]:
    yield pure("64 columns", one_column(64, 37, 1 / EPSILON), UNIT, EPSILON)
    yield pure("column 5 of 64 exact", one_column(64, 5, 0.0), UNIT, INFINITE)
    yield pure("column 37 of 64 exact", one_column(64, 37, 0.0), UNIT, INFINITE)
    yield pure("column 200 of 300 at epsilon 5", one_column(300, 200, 0.2), UNIT, 5.0)
    yield pure("image of 8 x 8, one pixel at epsilon 3", one_column(64, 43, 1 / 3), UNIT, 3.0)
    yield pure("histogram of 100 bins", one_column(100, 60, 1 / EPSILON), UNIT, EPSILON)
    for column in (3, 30, 60):
        yield pure(f"histogram of 100 bins, bin {column} at epsilon 20", one_column(100, column, 0.05), UNIT, 20.0)
    for leaves in (16, 32, 64):
        bare, std = leaves // 2 + 2, float(np.sqrt(leaves.bit_length()))
        mechanism = prefix_sums(leaves, std, bare)
        yield gauss(f"{leaves} prefix sums, one leaf bare", mechanism, (None, bare), 1.0, INFINITE)
    std = float(np.sqrt(6))
    yield gauss("32 prefix sums", prefix_sums(32, std, None), (None, 18), 1.0, prefix_mu(32, std, 18))

    def spread(value: float) -> Array:
        return np.full(30, value / np.sqrt(30))

    yield gauss("gaussian in 30 columns", noisy(normal(1.0), spread), UNIT, 1.0, 1.0)
    yield gauss("gaussian in 30 columns, noise a third too small", noisy(normal(2 / 3), spread), UNIT, 1.0, 1.5)
    yield pure("two answers, epsilon halved", noisy(laplace(2 / EPSILON), lambda v: [v] * 2), UNIT, EPSILON)
    yield pure("two answers, epsilon spent twice", noisy(laplace(1 / EPSILON), lambda v: [v] * 2), UNIT, 2 * EPSILON)
    ten = noisy(laplace(1 / EPSILON), lambda v: [v] * 10)
    yield pure("ten answers, sensitivity of one", ten, UNIT, 10 * EPSILON)
    yield pure("noise that adds up to zero", noisy(_zero_sum, into(20, 0)), UNIT, INFINITE)
    shared = noisy(law.tied(2, 9, 1.0), into(10, 9))
    yield pure("the same noise in two of ten columns", shared, UNIT, INFINITE)


# -- texts, nested outputs ------------------------------------------------------------------------------------------
def written(scale: float, form: str) -> Bulk:
    """A Laplace answer as "text", "json" text, or a "nested" dict."""

    def one(x: float) -> Any:
        if form == "text":
            return f"The mean is {x:.4f}, with noise."
        document = {"status": "ok", "result": {"mean": x, "unit": "kg"}}
        return json.dumps(document) if form == "json" else document

    return noisy(laplace(scale), after=lambda table: [one(float(x)) for x in table[:, 0]])


@bulk
def optional_field(value: Any, rng: Rng, size: int, rates: tuple[float, float]) -> list[dict[str, Any]]:
    """A dict whose field "note" is there in a share of runs that depends on the data."""
    there = rng.random(size) < rates[int(value)]
    pairs = zip(rng.normal(size=size), there, strict=True)
    return [{"x": float(x), **({"note": None} if yes else {})} for x, yes in pairs]


def _texts() -> Iterator[Entry]:
    for form, name in (("text", "text"), ("json", "JSON text"), ("nested", "nested dict")):
        yield pure(f"laplace as {name}", written(1 / EPSILON, form), UNIT, EPSILON)
        yield pure(f"laplace at epsilon 4 as {name}", written(0.25, form), UNIT, 4.0)
    yield pure("optional field", optional_field((FAIR, 1 - FAIR)), UNIT, EPSILON)
    yield pure("optional field, wrong rate", optional_field((0.9, 0.3)), UNIT, float(np.log(7)))
    entries = Bulk(lambda records, rng, size: rng.laplace(size=(size, 5 + int(records))).tolist())
    yield pure("one entry a record", entries, UNIT, INFINITE)


# -- noise of other shapes ------------------------------------------------------------------------------------------
@bulk
def drawn(value: Any, rng: Rng, size: int, sampler: Callable[[float, Rng, int], Any]) -> Array:
    """A mechanism of one number."""
    return np.asarray(sampler(float(value), rng, size), dtype=float)[:, None]


def _positive_laplace(value: float, rng: Rng, size: int) -> Array:
    """Laplace noise drawn again until the output is positive (by inversion)."""
    lost = 0.5 * np.exp(-value)
    u = lost + (1 - lost) * rng.random(size)
    return np.asarray(value - np.sign(u - 0.5) * np.log1p(-2 * np.abs(u - 0.5)))


def _rare_signal(value: float, rng: Rng, size: int) -> Array:
    """Laplace noise, and in three runs of a thousand another place that shows the side."""
    signal = rng.random(size) < 0.003
    return np.where(signal, 1000 + 20 * value + rng.normal(size=size), value + rng.laplace(0, 1 / EPSILON, size))


@bulk
def categories(value: Any, rng: Rng, size: int, keep: float, count: int) -> Array:
    """Randomised response over several categories."""
    other = (int(value) + rng.integers(1, count, size)) % count
    return np.where(rng.random(size) < keep, int(value), other).astype(float)[:, None]


def _noises() -> Iterator[Entry]:
    clipped = noisy(laplace(1 / EPSILON), after=lambda table: np.clip(np.round(table, 1), -2, 3))
    yield pure("laplace, rounded and clipped", clipped, UNIT, EPSILON)
    yield pure("laplace, drawn again until positive", drawn(_positive_laplace), UNIT, 1 + float(np.log(2 - np.exp(-1))))
    yield pure("uniform noise", drawn(lambda v, r, n: v + r.uniform(-5, 5, n)), UNIT, INFINITE)
    yield pure("discrete laplace at epsilon 1.5", law.discrete_laplace(1.5), (3, 4), 1.5)
    keep = float(np.e / (np.e + 9))
    yield pure("ten categories", categories(keep, 10), (2, 7), EPSILON)
    yield pure("ten categories, wrong rate", categories(0.4, 10), (2, 7), float(np.log(6)))
    scores = (np.array([1.0, 0, 0, 0, 0]), np.array([0.0, 1, 1, 1, 1]))
    logs = [one - np.log(np.exp(2 * EPSILON * one).sum()) / (2 * EPSILON) for one in scores]
    truth = float(2 * EPSILON * np.abs(logs[0] - logs[1]).max())
    yield pure("exponential mechanism, sensitivity forgotten", law.exponential_mechanism(4 * EPSILON), scores, truth)
    yield pure("rare signal, 0.3 % of runs", drawn(_rare_signal), UNIT, INFINITE)
    yield pure("rounds until a noisy stop", drawn(lambda v, r, n: r.geometric(0.1 + 0.2 * v, n)), UNIT, INFINITE)
    yield pure("spread of the noise depends on the data", drawn(lambda v, r, n: r.normal(0, 1 + v, n)), UNIT, INFINITE)
    halved = noisy(normal(own(20, 13, 0.5, 1.0)), into(20, 13))
    yield gauss("gaussian in one column of 20, noise halved", halved, UNIT, 1.0, 2.0)
    yield pure("laplace, noise 30 % too small", noisy(laplace(0.7 / EPSILON)), UNIT, EPSILON / 0.7)


# -- pictures, lists of changing length, several answers at once, last digits -----------------------------------------
@one_by_one
def ragged(value: float, rng: Rng, scale: float) -> list[float]:
    """Lists of 2 to 8 noisy numbers; the length is drawn, and the answer is in the last one."""
    row = rng.laplace(0, 1 / EPSILON, int(rng.integers(2, 9)))
    row[-1] = value + rng.laplace(0, scale)
    return [float(x) for x in row]


@bulk
def several(value: Any, rng: Rng, size: int, scale: float) -> list[Any]:
    """A tuple of noise, a dict with the answer, and a word."""
    noise, answers = rng.laplace(size=size), float(value) + rng.laplace(0, scale, size)
    return [(float(a), {"mean": float(b), "unit": "kg"}, "done") for a, b in zip(noise, answers, strict=True)]


@bulk
def key_of_the_record(value: Any, rng: Rng, size: int) -> list[dict[str, float]]:
    """A dict with a noisy count for each group that has records; the record is alone in its group."""
    groups = ["a", "b"] + (["c"] if value else [])
    noise = rng.laplace(0, 1 / EPSILON, (size, len(groups)))
    return [{name: float(x) for name, x in zip(groups, row, strict=True)} for row in noise]


@bulk
def absent_or_noise(value: Any, rng: Rng, size: int, rates: tuple[float, float]) -> list[float | None]:
    """None in a share of runs that depends on the data, else noise."""
    there = rng.random(size) < rates[int(value)]
    return [float(x) if yes else None for x, yes in zip(rng.normal(size=size), there, strict=True)]


def forms() -> Iterator[Entry]:
    """Very wide outputs, pictures, lists of changing length, several answers at once, last digits."""
    place = 9 * 28 + 17

    def picture(table: Array) -> Array:
        return table.reshape(-1, 28, 28)

    yield pure("column 700 of 1000 at epsilon 4", one_column(1000, 700, 0.25), UNIT, 4.0)
    yield pure("picture of 28 x 28", one_column(784, place, 1 / EPSILON, picture), UNIT, EPSILON)
    yield pure("picture of 28 x 28, one pixel at epsilon 4", one_column(784, place, 0.25, picture), UNIT, 4.0)
    yield pure("lists of changing length", ragged(1 / EPSILON), UNIT, EPSILON)
    yield pure("lists of changing length, the last entry at epsilon 3", ragged(1 / 3), UNIT, 3.0)
    yield pure("several answers", several(1 / EPSILON), UNIT, EPSILON)
    yield pure("several answers, one at epsilon 3", several(1 / 3), UNIT, 3.0)
    yield pure("a key for the record alone", key_of_the_record(), (0, 1), INFINITE)
    yield pure("no answer at times", absent_or_noise((FAIR, 1 - FAIR)), (0, 1), EPSILON)
    yield pure("no answer at times, wrong rate", absent_or_noise((0.99, 0.9)), (0, 1), float(np.log(10)))
    rounded = drawn(lambda v, r, n: v / 3 + np.round(r.laplace(0, 1 / (3 * EPSILON), n), 4))
    yield pure("noise rounded to four digits, output not", rounded, UNIT, INFINITE)
    for name, std in (("running means", 1.0), ("running means, noise halved", 0.5)):  # the first one moves
        means = noisy(normal(std), into(20, 0), lambda table: table.cumsum(axis=1) / np.arange(1, 21))
        yield gauss(name, means, UNIT, 1.0, 1 / std)


# -- held out -------------------------------------------------------------------------------------------------------
EPOCH, DAY = 1_760_000_000.0, 86_400.0  # seconds


def _blurred(table: Array) -> Array:
    """Pictures of 11 x 11, blurred by a kernel that can be undone (for an odd side)."""
    picture = table.reshape(-1, 11, 11)
    for axis in (1, 2):
        picture = 0.5 * picture + 0.25 * (np.roll(picture, 1, axis) + np.roll(picture, -1, axis))
    return picture


@one_by_one
def bins_in_any_order(value: float, rng: Rng, bins: int, answer: int, scale: float) -> str:
    """JSON text: a list of bins, each with its number and its noisy count, in random order."""
    counts = rng.laplace(0, 1 / EPSILON, bins)
    counts[answer] = value + rng.laplace(0, scale)
    return json.dumps([{"bin": int(k), "count": round(float(counts[k]), 4)} for k in rng.permutation(bins)])


@one_by_one
def words(value: float, rng: Rng, stops: tuple[float, float]) -> str:
    """Random words until a stop, whose rate depends on the data."""
    known = np.array(["ash", "beech", "cedar", "elm", "fir"])
    return " ".join(known[rng.integers(0, known.size, rng.geometric(stops[int(value)]))])


@bulk
def undefined_at_times(value: Any, rng: Rng, size: int, rates: tuple[float, float]) -> Array:
    """Three numbers, noise alone; the second is NaN in a share of runs that depends on the data."""
    table = rng.normal(size=(size, 3))
    table[rng.random(size) < rates[int(value)], 1] = np.nan
    return table


@bulk
def times(value: Any, rng: Rng, size: int, slower: float, answer: bool) -> Array:
    """Seconds since 1970 of a start and of an end; how long it took may depend on the data. Then a noisy answer."""
    start = EPOCH + DAY * rng.random(size)
    took = 0.1 + rng.exponential(0.05 * (1 + slower * float(value)), size)
    noisy = float(value) * answer + rng.laplace(0, 1 / EPSILON, size)
    return np.stack([start, start + took, noisy], axis=1)


@bulk
def ranking(value: Any, rng: Rng, size: int, digits: int, by_truth: bool) -> list[str]:
    """Text: two noisy counts, the larger one first; where they are tied, the one that is truly larger, or the first."""
    truly = {"a": 4.0 + float(value), "b": 4.5}
    found = []
    for noise in rng.laplace(0, 1 / EPSILON, (size, 2)):
        noisy = {name: round(count + x, digits) for (name, count), x in zip(truly.items(), noise, strict=True)}
        order = sorted((-noisy[name], -truly[name] if by_truth else 0.0, name) for name in noisy)
        found.append(", ".join(f"{name} {noisy[name]:.{digits}f}" for _, _, name in order))
    return found


@bulk
def flags(value: Any, rng: Rng, size: int, count: int, flag: int, keep: float) -> Array:
    """Many coins, one of which answers by randomised response."""
    table = rng.integers(0, 2, (size, count)).astype(float)
    kept = rng.random(size) < keep
    table[:, flag] = np.where(kept, int(value), 1 - int(value))
    return table


@one_by_one
def journal(value: float, rng: Rng) -> dict[str, Any]:
    """A dict with a journal of changing length, whose entries may be missing, and a noisy answer."""
    entries = [None if rng.random() < 0.2 else float(x) for x in rng.normal(size=rng.geometric(0.3))]
    return {"journal": entries, "answer": float(value + rng.laplace(0, 1 / EPSILON))}


def held_out() -> Iterator[Entry]:
    """See the top of this file."""
    mirrored = noisy(law.tied(40, 99, -1.0), into(144, 40), lambda table: table.reshape(-1, 12, 12))
    yield pure("picture of 12 x 12, the noise of a pixel mirrored", mirrored, UNIT, INFINITE)

    def lines(table: Array) -> list[str]:
        return ["store 7;" + ";".join(f"{x:.3f}" for x in row) for row in table]

    yield pure("line of eight numbers, one at epsilon 4", one_column(8, 5, 0.25, lines), UNIT, 4.0)
    yield pure("JSON bins in any order, one at epsilon 4", bins_in_any_order(12, 7, 0.25), UNIT, 4.0)
    yield pure("words until a stop that depends on the data", words((0.3, 0.5)), (0, 1), INFINITE)
    yield pure("undefined at times, wrong rate", undefined_at_times((0.05, 0.3)), (0, 1), float(np.log(6)))
    yield pure("times of start and end, the data decide how long", times(0.5, False), UNIT, INFINITE)
    yield pure("ranking as text, ties broken by the truth", ranking(0, True), UNIT, INFINITE)
    yield pure("400 flags, one at epsilon 3", flags(400, 123, float(1 / (1 + np.exp(-3)))), (0, 1), 3.0)
    yield pure("picture of 11 x 11, blurred", noisy(laplace(1 / EPSILON), into(121, 58), _blurred), UNIT, EPSILON)
    yield pure("times and a noisy answer", times(0.0, True), UNIT, EPSILON)
    yield pure("ranking as text", ranking(3, False), UNIT, EPSILON)
    yield pure("dict with a journal", journal(), UNIT, EPSILON)


@cache
def zoo() -> tuple[Entry, ...]:
    """All entries; the correct ones are those with `broken` False."""
    few = (*_additive(), *_selection(), *_aggregation(), *_sampling())
    return (*few, *_wide(), *_texts(), *_noises(), *forms(), *held_out())
