"""The bug zoo: correct and broken mechanisms with a claim and the exact truth of the pair that shows it.

`truth` is the exact epsilon of the pair at `delta` (a proven lower bound of it where `at_least`), so a tester's answer
can be scored without trusting any tester.

The entries of `held_out` were written before the audit saw them, to tell what it finds that it was not made for. At
first sight, with 1,000 outputs a side, 6 of the 8 bugs were found in all of three seeds (the bins in one of them, the
times in none); with 10,000 all, in one seed; no alarm on the 4 others.
"""

import json
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism
from scipy import stats

from dpassay.audit.blackbox.detect import audit_outputs
from dpassay.audit.blackbox.sources import draw
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.guarantee import Guarantee, approx_dp, from_pld, gdp

from . import laws

DELTA = 1e-5  # where Gaussian claims are read
INFINITE = float("inf")
UNIT = (0.0, 1.0)
BIT = (0, 1)
FAIR = np.e / (1 + np.e)  # rate of randomised response at epsilon 1


@dataclass(frozen=True)
class Entry:
    """One animal: a mechanism, the pair that shows it, the claim, and the truth."""

    name: str
    mechanism: Any  # has `many(dataset, rng, size)`
    pair: tuple[Any, Any]
    claim: Guarantee
    claimed: float  # the claim's epsilon at `delta`
    truth: float
    delta: float = 0.0
    at_least: bool = False
    low_bits: bool = False  # judge the floats as they are, not the real numbers they stand for

    @property
    def broken(self):
        """Does the pair exceed the claim?"""
        return self.truth > self.claimed * (1 + 1e-4)

    def judged(self, samples, seed):
        """What the black-box audit says of it."""
        rng = np.random.default_rng(seed)
        outputs = [draw(self.mechanism, data, samples, rng) for data in self.pair]
        return audit_outputs(*outputs, self.claim, rng, low_bits=self.low_bits)


def pure(name, mechanism, pair, truth, **more):
    """Claimed: (1, 0)-DP, as of everything here that is not Gaussian."""
    return Entry(name, mechanism, pair, approx_dp(1.0), 1.0, float(truth), **more)


def gauss(name, mechanism, pair, mu, true_mu):
    """Claimed: mu-GDP; the truth is that of `true_mu`, read at DELTA."""
    truth = INFINITE if np.isinf(true_mu) else gdp_epsilon(true_mu, DELTA)
    return Entry(name, mechanism, pair, gdp(mu), gdp_epsilon(mu, DELTA), truth, DELTA)


def bulk(sampler):
    """A family of mechanisms from `sampler(data, rng, size, ...)`: called with the rest, it gives one of them."""
    return lambda *how, **named: SimpleNamespace(many=lambda data, rng, size: sampler(data, rng, size, *how, **named))


def one_by_one(sampler):
    """The same from `sampler(value, rng, ...)`, which gives one output."""
    return bulk(lambda value, rng, size, *how: [sampler(value, rng, *how) for _ in range(size)])


# -- noise on an answer -------------------------------------------------------------------------------------------
@bulk
def noisy(value, rng, size, noise, answer=lambda value: value, after=lambda table: table):
    """`noise` on the answer, a number or a row of them; `after` makes outputs of the noisy table."""
    row = np.atleast_1d(np.asarray(answer(value), dtype=float))
    return after(row + noise(rng, (size, row.size)))


def laplace(scale):
    """Of one scale, or one a column."""
    return lambda rng, shape: rng.laplace(0, scale, shape)


def normal(std):
    """Of one deviation, or one a column."""
    return lambda rng, shape: rng.normal(0, std, shape)


def discrete_laplace(epsilon):
    """The difference of two geometric variables."""
    stop = 1 - np.exp(-epsilon)
    return lambda rng, shape: (rng.geometric(stop, shape) - rng.geometric(stop, shape)).astype(float)


def skipped(probability):
    """Laplace noise that is left out with this probability."""
    return lambda rng, shape: rng.laplace(0, 1, shape) * (rng.random(shape) >= probability)


def tied(first, second, sign):
    """Laplace noise of which one column is that of another one, perhaps with the other sign."""

    def noise(rng, shape):
        table = rng.laplace(0, 1, shape)
        table[:, second] = sign * table[:, first]
        return table

    return noise


def zero_sum(rng, shape):
    """Centred so that 'the total stays right': the total is exact."""
    noise = rng.laplace(0, 2, shape)
    return noise - noise.mean(axis=1, keepdims=True)


def _additive():
    yield pure("laplace", noisy(laplace(1)), UNIT, 1)
    yield pure("laplace, noise 10 % too small", noisy(laplace(0.9)), UNIT, 1 / 0.9)
    yield pure("laplace, sensitivity halved", noisy(laplace(0.5)), UNIT, 2)
    yield pure("discrete laplace", noisy(discrete_laplace(1)), (3, 4), 1)
    yield pure("randomised response", categories(FAIR, 2), BIT, 1)
    yield pure("randomised response, wrong rate", categories(0.8, 2), BIT, np.log(4))
    yield gauss("gaussian", noisy(normal(1.0)), UNIT, 1.0, 1.0)
    yield gauss("gaussian, noise 10 % too small", noisy(normal(0.9)), UNIT, 1.0, 1 / 0.9)
    root2 = np.sqrt(2)
    yield gauss("gaussian, missing sqrt 2", noisy(normal(4.84 / root2)), UNIT, 1 / 4.84, root2 / 4.84)
    yield gauss("gaussian, variance for std", noisy(normal(0.25)), UNIT, 2.0, 4.0)
    half_normal = noisy(lambda rng, shape: np.abs(rng.normal(size=shape)))
    yield gauss("gaussian, half-normal noise", half_normal, UNIT, 1.0, INFINITE)
    one_seed = noisy(lambda _, shape: np.tile(np.random.default_rng(0).normal(size=shape[1:]), (shape[0], 1)))
    yield gauss("gaussian, same seed in each run", one_seed, UNIT, 1.0, INFINITE)
    coarse = noisy(lambda rng, shape: stats.laplace.ppf((rng.integers(0, 2**12, shape) + 0.5) / 2**12))
    yield pure("laplace, 12-bit uniform", coarse, UNIT, INFINITE)
    yield pure("laplace, naive double", noisy(laplace(1)), UNIT, INFINITE, low_bits=True)
    grid = noisy(laplace(1), after=lambda table: np.round(table * 2**10) / 2**10)  # no low bit of it survives
    yield pure("laplace on a grid", grid, UNIT, 1, low_bits=True)
    for probability in (1e-1, 1e-2, 1e-3, 1e-4):
        yield pure(f"rare branch, probability {probability:g}", noisy(skipped(probability)), UNIT, INFINITE)


# -- choosing among counts ------------------------------------------------------------------------------------------
@bulk
def noisy_max(answers, rng, size, scale, release):
    """Report noisy max with Laplace noise: release the "index" or the noisy "value"."""
    counts = np.asarray(answers) + rng.laplace(0, scale, (size, len(answers)))
    return np.asarray(counts.argmax(axis=1) if release == "index" else counts.max(axis=1), dtype=float)[:, None]


@bulk
def exponential_mechanism(answers, rng, size, rate):
    """Index with probability proportional to exp(rate score)."""
    logits = rate * np.asarray(answers) + rng.gumbel(size=(size, len(answers)))
    return logits.argmax(axis=1).astype(float)[:, None]


OPPOSED = np.array([1.0, 0, 0, 0, 0]), np.array([0.0, 1, 1, 1, 1])
SPARSE_VECTOR = {  # cutoff, answers on D and on D'
    1: (2, [0.0] * 6, [1.0] * 3 + [-1.0] * 3),
    2: (2, [0.0] * 6, [1.0] * 3 + [-1.0] * 3),
    3: (1, [0.0] * 7, [1.0] * 6 + [0.0]),  # six 'below' then a value v -> -inf: ratio exp(6 epsilon / 2)
    4: (3, [0.0] * 6, [1.0] * 3 + [-1.0] * 3),
    5: (1, [0.0, 1.0], [1.0, 0.0]),
    6: (1, [0.0] * 8, [1.0] * 4 + [-1.0] * 4),
}


def _selection():
    yield pure("noisy max", noisy_max(2, "index"), OPPOSED, laws.noisy_max_epsilon(2, *OPPOSED))
    yield pure("noisy max, half the noise", noisy_max(1, "index"), OPPOSED, laws.noisy_max_epsilon(1, *OPPOSED))
    yield pure("noisy max releases the value", noisy_max(2, "value"), (np.zeros(5), np.ones(5)), 2.5)
    truth = laws.exponential_epsilon(0.5, *OPPOSED)
    yield pure("exponential mechanism", exponential_mechanism(0.5), OPPOSED, truth)
    for number, (cutoff, *answers) in SPARSE_VECTOR.items():
        variant = laws.lyu_variant(number, 1.0, cutoff)
        truth = 3 if number == 3 else laws.exact_epsilon(variant, *answers)
        yield pure(f"sparse vector {number}", variant, tuple(answers), truth, at_least=number == 3)


# -- sums, and sums of sampled records ------------------------------------------------------------------------------
@bulk
def leaking_report(records, rng, size):
    """A dict with a noisy sum and a text that gives the exact number of records."""
    found = np.sum(records) + rng.laplace(0, 1, size)
    return [{"sum": float(x), "note": f"{len(records)} records read"} for x in found]


def _aggregation():
    records = ([0.0] * 10, [0.0] * 9 + [100.0])
    yield pure("clipped mean", noisy(laplace(0.2), lambda x: np.clip(x, -1, 1).mean()), records, 0.5)
    yield pure("clip of the mean", noisy(laplace(0.2), lambda x: np.clip(np.mean(x), -1, 1)), records, 5)
    batch, std = 8, 0.5
    yield gauss("forgotten batch division", noisy(normal(std)), (0.0, 2.0), 2 / batch / std, 2 / std)
    leaves, root3, (tree, _) = (np.zeros(4), np.array([0.0, 1.0, 0.0, 0.0])), np.sqrt(3), _tree(4)
    yield gauss("tree", noisy(normal(2.0), lambda a: tree @ a), leaves, root3 / 2, root3 / 2)
    silent = noisy(normal(own(7, 1, 0.0, 2.0)), lambda a: tree @ a)
    yield gauss("tree, one node without noise", silent, leaves, root3 / 2, INFINITE)
    yield pure("report with a record count", leaking_report(), ([1.0, 0.0], [1.0]), INFINITE)


@bulk
def sampled_gaussian(value, rng, size, rate, steps, std, how):
    """`steps` noisy sums of one record's value, included "poisson", "once" for all steps, or "shuffle"d."""
    if how == "poisson":
        taken = rng.random((size, steps)) < rate
    elif how == "once":
        taken = np.repeat(rng.random((size, 1)) < rate, steps, axis=1)
    else:
        taken = np.arange(steps)[None, :] == rng.integers(0, steps, (size, 1))
    return value * taken + rng.normal(0, std, (size, steps))


def _sampling():
    rate, steps, std = 0.1, 10, 0.7

    def composed(std, rate):
        one = from_gaussian_mechanism(std, value_discretization_interval=1e-3, sampling_prob=rate)
        return one.self_compose(steps)

    def entry(name, rate, how, truth, std=std, delta=DELTA, at_least=False):
        pld = composed(std, 0.1)
        claim, claimed = from_pld(pld, "Poisson sampled Gaussian, PLD"), pld.get_epsilon_for_delta(delta)
        mechanism = sampled_gaussian(rate, steps, std, how)
        return Entry(name, mechanism, UNIT, claim, claimed, truth or claimed, delta, at_least)

    yield entry("poisson sampling", rate, "poisson", None)
    doubled = composed(std, 2 * rate).get_epsilon_for_delta(DELTA)
    yield entry("twice the sampling rate", 2 * rate, "poisson", doubled)
    once = laws.mixture_epsilon(rate, np.sqrt(steps) / std, DELTA)
    yield entry("one sample for all steps", rate, "once", once)
    coarse, large = 0.3, 0.6  # a third of the Poisson runs never use the record, shuffled runs do
    shuffled = laws.shuffle_epsilon(steps, coarse, large)
    yield entry("shuffling accounted as poisson", rate, "shuffle", shuffled, coarse, large, True)


# -- one column of many ---------------------------------------------------------------------------------------------
def own(width, column, scale, usual=1.0):
    """Scales of noise: that of one column is its own."""
    return np.where(np.arange(width) == column, scale, usual)


def into(width, column):
    """An answer that is in one column."""
    return lambda value: value * np.eye(width)[column]


def one_column(width, column, scale, after=np.asarray):
    """Laplace noise of scale 1 in all columns but one, which carries the answer with noise of its own."""
    return noisy(laplace(own(width, column, scale)), into(width, column), after)


def spread(width):
    """An answer that is in equal parts in all columns."""
    return lambda value: np.full(width, value / np.sqrt(width))


def repeated(count):
    """One answer, some times."""
    return lambda value: [value] * count


def _tree(leaves):
    """Which node of a binary tree covers which leaf (leaves first), and which nodes add up to which prefix sum."""
    nodes = [(level, j) for level in range(leaves.bit_length()) for j in range(leaves >> level)]
    covers = [[leaf >> level == j for leaf in range(leaves)] for level, j in nodes]
    sums = [[k >> level == j + 1 and j % 2 == 0 for level, j in nodes] for k in range(1, leaves + 1)]
    return np.array(covers, dtype=float), np.array(sums, dtype=float)


def prefix_sums(leaves, std, bare):
    """Prefix sums from noisy nodes of a tree; the node of leaf `bare` gets no noise. The data: which leaf has a one."""
    tree, sums = _tree(leaves)
    stds = std if bare is None else own(len(tree), bare, 0.0, std)

    def nodes(leaf):
        return np.zeros(len(tree)) if leaf is None else tree[:, leaf]

    return noisy(normal(stds), nodes, lambda table: table @ sums.T)


def prefix_mu(leaves, std, leaf):
    """Exact mu of all prefix sums when one leaf changes by one."""
    tree, sums = _tree(leaves)
    moved = sums @ tree[:, leaf]
    return np.sqrt(moved @ np.linalg.solve(sums @ sums.T, moved)) / std


def _wide():
    yield pure("64 columns", one_column(64, 37, 1), UNIT, 1)
    yield pure("column 5 of 64 exact", one_column(64, 5, 0), UNIT, INFINITE)
    yield pure("column 37 of 64 exact", one_column(64, 37, 0), UNIT, INFINITE)
    yield pure("column 200 of 300 at epsilon 5", one_column(300, 200, 1 / 5), UNIT, 5)
    yield pure("image of 8 x 8, one pixel at epsilon 3", one_column(64, 43, 1 / 3), UNIT, 3)
    yield pure("histogram of 100 bins", one_column(100, 60, 1), UNIT, 1)
    for column in (3, 30, 60):
        yield pure(f"histogram of 100 bins, bin {column} at epsilon 20", one_column(100, column, 1 / 20), UNIT, 20)
    for leaves in (16, 32, 64):
        bare, std = leaves // 2 + 2, np.sqrt(leaves.bit_length())
        mechanism = prefix_sums(leaves, std, bare)
        yield gauss(f"{leaves} prefix sums, one leaf bare", mechanism, (None, bare), 1.0, INFINITE)
    std = np.sqrt(6)
    yield gauss("32 prefix sums", prefix_sums(32, std, None), (None, 18), 1.0, prefix_mu(32, std, 18))
    yield gauss("gaussian in 30 columns", noisy(normal(1.0), spread(30)), UNIT, 1.0, 1.0)
    too_small = noisy(normal(2 / 3), spread(30))
    yield gauss("gaussian in 30 columns, noise a third too small", too_small, UNIT, 1.0, 1.5)
    yield pure("two answers, epsilon halved", noisy(laplace(2), repeated(2)), UNIT, 1)
    yield pure("two answers, epsilon spent twice", noisy(laplace(1), repeated(2)), UNIT, 2)
    yield pure("ten answers, sensitivity of one", noisy(laplace(1), repeated(10)), UNIT, 10)
    yield pure("noise that adds up to zero", noisy(zero_sum, into(20, 0)), UNIT, INFINITE)
    yield pure("the same noise in two of ten columns", noisy(tied(2, 9, 1), into(10, 9)), UNIT, INFINITE)


# -- texts, nested outputs ------------------------------------------------------------------------------------------
FORMS = {
    "text": lambda x: f"The mean is {x:.4f}, with noise.",
    "JSON text": lambda x: json.dumps(FORMS["nested dict"](x)),
    "nested dict": lambda x: {"status": "ok", "result": {"mean": x, "unit": "kg"}},
}


def written(scale, form):
    """A Laplace answer in one of the forms."""
    return noisy(laplace(scale), after=lambda table: [FORMS[form](x) for x in table[:, 0].tolist()])


def at_times(value, rng, size, rates):
    """Noise, and what there is beside it in a share of runs that depends on the data."""
    there = rng.random(size) < rates[value]
    return rng.normal(size=size).tolist(), there


@bulk
def optional_field(*drawn):
    """A dict whose field "note" is not always there."""
    return [{"x": x, **({"note": None} if yes else {})} for x, yes in zip(*at_times(*drawn), strict=True)]


@bulk
def absent_or_noise(*drawn):
    """Noise, or None."""
    return [x if yes else None for x, yes in zip(*at_times(*drawn), strict=True)]


@bulk
def one_entry_a_record(records, rng, size):
    """More entries where there are more records."""
    return rng.laplace(size=(size, 5 + int(records))).tolist()


def _texts():
    for form in FORMS:
        yield pure(f"laplace as {form}", written(1, form), UNIT, 1)
        yield pure(f"laplace at epsilon 4 as {form}", written(1 / 4, form), UNIT, 4)
    yield pure("optional field", optional_field((FAIR, 1 - FAIR)), BIT, 1)
    yield pure("optional field, wrong rate", optional_field((0.9, 0.3)), BIT, np.log(7))
    yield pure("one entry a record", one_entry_a_record(), UNIT, INFINITE)


# -- noise of other shapes ------------------------------------------------------------------------------------------
@bulk
def drawn(value, rng, size, sampler):
    """A mechanism of one number."""
    return np.asarray(sampler(value, rng, size), dtype=float)[:, None]


def positive_laplace(value, rng, size):
    """Laplace noise drawn again until the output is positive (by inversion)."""
    lost = 0.5 * np.exp(-value)
    u = lost + (1 - lost) * rng.random(size)
    return value - np.sign(u - 0.5) * np.log1p(-2 * np.abs(u - 0.5))


def rare_signal(value, rng, size):
    """Laplace noise, and in three runs of a thousand another place that shows the side."""
    signal = rng.random(size) < 0.003
    return np.where(signal, 1000 + 20 * value + rng.normal(size=size), value + rng.laplace(0, 1, size))


@bulk
def categories(value, rng, size, keep, count):
    """Randomised response over several categories."""
    other = (value + rng.integers(1, count, size)) % count
    return np.where(rng.random(size) < keep, value, other).astype(float)[:, None]


def _noises():
    clipped = noisy(laplace(1), after=lambda table: np.clip(np.round(table, 1), -2, 3))
    yield pure("laplace, rounded and clipped", clipped, UNIT, 1)
    yield pure("laplace, drawn again until positive", drawn(positive_laplace), UNIT, 1 + np.log(2 - np.exp(-1)))
    yield pure("uniform noise", drawn(lambda v, r, n: v + r.uniform(-5, 5, n)), UNIT, INFINITE)
    yield pure("discrete laplace at epsilon 1.5", noisy(discrete_laplace(1.5)), (3, 4), 1.5)
    yield pure("ten categories", categories(np.e / (np.e + 9), 10), (2, 7), 1)
    yield pure("ten categories, wrong rate", categories(0.4, 10), (2, 7), np.log(6))
    truth = laws.exponential_epsilon(2, *OPPOSED)
    yield pure("exponential mechanism, sensitivity forgotten", exponential_mechanism(2), OPPOSED, truth)
    yield pure("rare signal, 0.3 % of runs", drawn(rare_signal), UNIT, INFINITE)
    yield pure("rounds until a noisy stop", drawn(lambda v, r, n: r.geometric(0.1 + 0.2 * v, n)), UNIT, INFINITE)
    yield pure("spread of the noise depends on the data", drawn(lambda v, r, n: r.normal(0, 1 + v, n)), UNIT, INFINITE)
    halved = noisy(normal(own(20, 13, 0.5)), into(20, 13))
    yield gauss("gaussian in one column of 20, noise halved", halved, UNIT, 1.0, 2.0)
    yield pure("laplace, noise 30 % too small", noisy(laplace(0.7)), UNIT, 1 / 0.7)


# -- pictures, lists of changing length, several answers at once, last digits -----------------------------------------
@one_by_one
def ragged(value, rng, scale):
    """Lists of 2 to 8 noisy numbers; the length is drawn, and the answer is in the last one."""
    row = rng.laplace(0, 1, int(rng.integers(2, 9)))
    row[-1] = value + rng.laplace(0, scale)
    return row.tolist()


@bulk
def several(value, rng, size, scale):
    """A tuple of noise, a dict with the answer, and a word."""
    noise, answers = rng.laplace(size=size), value + rng.laplace(0, scale, size)
    return [(float(a), {"mean": float(b), "unit": "kg"}, "done") for a, b in zip(noise, answers, strict=True)]


@bulk
def key_of_the_record(value, rng, size):
    """A dict with a noisy count for each group that has records; the record is alone in its group."""
    groups = ["a", "b", "c"][: 2 + value]
    return [dict(zip(groups, row, strict=True)) for row in rng.laplace(0, 1, (size, len(groups))).tolist()]


def picture(side):
    """Pictures in place of rows."""
    return lambda table: table.reshape(-1, side, side)


def _forms():
    place = 9 * 28 + 17
    yield pure("column 700 of 1000 at epsilon 4", one_column(1000, 700, 1 / 4), UNIT, 4)
    yield pure("picture of 28 x 28", one_column(784, place, 1, picture(28)), UNIT, 1)
    yield pure("picture of 28 x 28, one pixel at epsilon 4", one_column(784, place, 1 / 4, picture(28)), UNIT, 4)
    yield pure("lists of changing length", ragged(1), UNIT, 1)
    yield pure("lists of changing length, the last entry at epsilon 3", ragged(1 / 3), UNIT, 3)
    yield pure("several answers", several(1), UNIT, 1)
    yield pure("several answers, one at epsilon 3", several(1 / 3), UNIT, 3)
    yield pure("a key for the record alone", key_of_the_record(), BIT, INFINITE)
    yield pure("no answer at times", absent_or_noise((FAIR, 1 - FAIR)), BIT, 1)
    yield pure("no answer at times, wrong rate", absent_or_noise((0.99, 0.9)), BIT, np.log(10))
    rounded = drawn(lambda v, r, n: v / 3 + np.round(r.laplace(0, 1 / 3, n), 4))
    yield pure("noise rounded to four digits, output not", rounded, UNIT, INFINITE)
    for name, std in (("running means", 1.0), ("running means, noise halved", 0.5)):  # the first one moves
        means = noisy(normal(std), into(20, 0), lambda table: table.cumsum(axis=1) / np.arange(1, 21))
        yield gauss(name, means, UNIT, 1.0, 1 / std)


# -- held out -------------------------------------------------------------------------------------------------------
def blurred(table):
    """Pictures of 11 x 11, blurred by a kernel that can be undone (for an odd side)."""
    found = picture(11)(table)
    for axis in (1, 2):
        found = 0.5 * found + 0.25 * (np.roll(found, 1, axis) + np.roll(found, -1, axis))
    return found


@one_by_one
def bins_in_any_order(value, rng, bins, answer, scale):
    """JSON text: a list of bins, each with its number and its noisy count, in random order."""
    counts = rng.laplace(0, 1, bins)
    counts[answer] = value + rng.laplace(0, scale)
    return json.dumps([{"bin": k, "count": round(float(counts[k]), 4)} for k in rng.permutation(bins).tolist()])


@one_by_one
def words(value, rng, stops):
    """Random words until a stop, whose rate depends on the data."""
    known = np.array(["ash", "beech", "cedar", "elm", "fir"])
    return " ".join(known[rng.integers(0, known.size, rng.geometric(stops[value]))])


@bulk
def undefined_at_times(value, rng, size, rates):
    """Three numbers, noise alone; the second is NaN in a share of runs that depends on the data."""
    table = rng.normal(size=(size, 3))
    table[rng.random(size) < rates[value], 1] = np.nan
    return table


@bulk
def times(value, rng, size, slower, answer):
    """Seconds since 1970 of a start and of an end; how long it took may depend on the data. Then a noisy answer."""
    start = 1_760_000_000.0 + 86_400.0 * rng.random(size)
    took = 0.1 + rng.exponential(0.05 * (1 + slower * value), size)
    return np.stack([start, start + took, value * answer + rng.laplace(0, 1, size)], axis=1)


@bulk
def ranking(value, rng, size, digits, by_truth):
    """Text: two noisy counts, the larger one first; where they are tied, the one that is truly larger, or the first."""
    truly = {"a": 4.0 + value, "b": 4.5}
    found = []
    for noise in rng.laplace(0, 1, (size, 2)):
        noisy = {name: round(count + x, digits) for (name, count), x in zip(truly.items(), noise, strict=True)}
        order = sorted(noisy, key=lambda name: (-noisy[name], -truly[name] if by_truth else 0.0, name))
        found.append(", ".join(f"{name} {noisy[name]:.{digits}f}" for name in order))
    return found


@bulk
def flags(value, rng, size, count, flag, keep):
    """Many coins, one of which answers by randomised response."""
    table = rng.integers(0, 2, (size, count)).astype(float)
    table[:, flag] = np.where(rng.random(size) < keep, value, 1 - value)
    return table


@one_by_one
def journal(value, rng):
    """A dict with a journal of changing length, whose entries may be missing, and a noisy answer."""
    entries = [None if rng.random() < 0.2 else x for x in rng.normal(size=rng.geometric(0.3)).tolist()]
    return {"journal": entries, "answer": float(value + rng.laplace(0, 1))}


def held_out():
    """See the top of this file."""
    mirrored = noisy(tied(40, 99, -1), into(144, 40), picture(12))
    yield pure("picture of 12 x 12, the noise of a pixel mirrored", mirrored, UNIT, INFINITE)

    def lines(table):
        return ["store 7;" + ";".join(f"{x:.3f}" for x in row) for row in table]

    yield pure("line of eight numbers, one at epsilon 4", one_column(8, 5, 1 / 4, lines), UNIT, 4)
    yield pure("JSON bins in any order, one at epsilon 4", bins_in_any_order(12, 7, 1 / 4), UNIT, 4)
    yield pure("words until a stop that depends on the data", words((0.3, 0.5)), BIT, INFINITE)
    yield pure("undefined at times, wrong rate", undefined_at_times((0.05, 0.3)), BIT, np.log(6))
    yield pure("times of start and end, the data decide how long", times(0.5, False), UNIT, INFINITE)
    yield pure("ranking as text, ties broken by the truth", ranking(0, True), UNIT, INFINITE)
    yield pure("400 flags, one at epsilon 3", flags(400, 123, 1 / (1 + np.exp(-3))), BIT, 3)
    yield pure("picture of 11 x 11, blurred", noisy(laplace(1), into(121, 58), blurred), UNIT, 1)
    yield pure("times and a noisy answer", times(0.0, True), UNIT, 1)
    yield pure("ranking as text", ranking(3, False), UNIT, 1)
    yield pure("dict with a journal", journal(), UNIT, 1)


@cache
def zoo():
    """All entries; the correct ones are those with `broken` False."""
    few = (*_additive(), *_selection(), *_aggregation(), *_sampling())
    return (*few, *_wide(), *_texts(), *_noises(), *_forms(), *held_out())
