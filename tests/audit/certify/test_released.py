"""Noise, draws and released numbers: what each costs, and what hides from a followed run."""

import copy
import math
import pickle
import random

import numpy as np
import pytest

from dpassay.audit.certify.certificate import certify
from dpassay.reference import Space

from .random_programs import compiled
from .rule_cases import unit

WHERE = Space.matrix(n=(4,), d=(3,))


def certified(run, where=WHERE):
    return certify(run, where, delta=1e-12, any_length=True)


def price(run, where=WHERE):
    """Infinite where the certificate is open."""
    found = certified(run, where).epsilon
    return math.inf if found is None else found


# -- one of many that is released: the place of the largest noisy number, a draw by private weights
GRID = np.linspace(0, 1, 11)


def noisy(counts, rng):
    return counts + rng.laplace(scale=2.0, size=3)


def both(counts, rng):
    found = noisy(counts, rng)
    return np.argmax(found), found.max()


def drawn(weights, rng, values=3):
    return rng.choice(values, p=weights / weights.sum())


def median(counts, rng):
    """Its utility moves by 3 / 4 where all counts move by 1."""
    return drawn(np.exp(-np.abs(counts.mean() - 4 * GRID)), rng, GRID)


def twice(counts, rng):
    noise = rng.gumbel(scale=2.0, size=3)
    return np.argmax(counts + noise), np.argmax(2 * counts + noise)


def peeled(counts, rng, out=-np.inf, law="gumbel"):
    chosen = []
    for _ in range(2):
        found = counts + getattr(rng, law)(scale=4.0, size=3)
        found[chosen] = out
        chosen.append(int(np.argmax(found)))
    return chosen


def second(counts, rng):
    found = counts + rng.gumbel(scale=2.0, size=3)
    first = np.argmax(found)
    found[first] = -np.inf
    return first, np.argmax(found)


PRICES = {  # what each count moves by is 1; infinite: no rule
    "largest": (lambda counts, rng: np.argmax(noisy(counts, rng)), 1.0),
    "smallest": (lambda counts, rng: noisy(counts, rng).argmin(), 1.0),
    "numbers": (noisy, 1.5),
    "largest and its number": (both, 1.5),
    "Gumbel": (lambda counts, rng: np.argmax(counts + rng.gumbel(scale=2.0, size=3)), 1.0),
    "Gumbel, the numbers": (lambda counts, rng: counts + rng.gumbel(scale=2.0, size=3), math.inf),
    "Gumbel, taken away": (lambda counts, rng: np.argmax(counts - rng.gumbel(scale=2.0, size=3)), math.inf),
    "Gumbel, turned": (lambda counts, rng: np.argmax(counts + -2 * rng.gumbel(size=3)), math.inf),
    "Gumbel, the smallest": (lambda counts, rng: np.argmin(counts + rng.gumbel(scale=2.0, size=3)), math.inf),
    "Gumbel, twice": (twice, math.inf),
    "Gumbel, peeled": (peeled, 1.0),
    "peeled": (lambda counts, rng: peeled(counts, rng, law="laplace"), 1.0),
    "another number": (lambda counts, rng: peeled(counts, rng, 1.0, "laplace"), 1.5),
    "Gumbel, another number": (lambda counts, rng: peeled(counts, rng, 1.0), math.inf),
    "Gumbel, the second largest": (second, math.inf),
    "exponential": (lambda counts, rng: drawn(np.exp(counts / 2), rng), 1.0),
    "exponential, stable": (lambda counts, rng: drawn(np.exp((counts - counts.max()) / 2), rng), 1.0),
    "exponential, a value": (median, 2.0),
    "weights that are none": (lambda counts, rng: drawn(counts + 1, rng), math.inf),
    "weights plus counts": (lambda counts, rng: drawn(np.exp(counts / 2) + counts, rng), math.inf),
}


@pytest.mark.parametrize(("run", "most"), PRICES.values(), ids=PRICES)
def test_a_choice_costs_twice_what_a_number_moves_by(run, most):
    assert price(lambda rows, rng: run(np.clip(rows, 0, 1).sum(axis=0), rng)) == pytest.approx(most, rel=1e-6)


# -- two-sided geometric noise is one geometric number less another one
P = -math.expm1(-0.5)  # of scale 2


def positive(rows):
    return (rows[:, 0] > 0).sum()


def of_two_counts(rows, rng):
    one, other = rng.geometric(P), rng.geometric(P)
    return positive(rows) + one - other, positive(-rows) + one - other


def with_one_of_them(rows, rng):
    one, other = rng.geometric(P), rng.geometric(P)
    return positive(rows) + one - other, one


def less_each_of_two(rows, rng):
    begun = positive(rows) + rng.geometric(P)
    return begun - rng.geometric(P), begun - rng.geometric(P)


GEOMETRIC = {
    "in its order": (lambda rows, rng: positive(rows) + rng.geometric(P) - rng.geometric(P), 0.5),
    "the other way round": (lambda rows, rng: -rng.geometric(P) + positive(rows) + rng.geometric(P), 0.5),
    "of a sum that is cut": (lambda rows, rng: int(np.tanh(rows).sum()) + rng.geometric(P) - rng.geometric(P), 3.0),
    "of one side": (lambda rows, rng: positive(rows) + rng.geometric(P), math.inf),
    "of other laws": (lambda rows, rng: positive(rows) + rng.geometric(P) - rng.geometric(0.5), math.inf),
    "of even numbers": (lambda rows, rng: positive(rows) + 2 * (rng.geometric(P) - rng.geometric(P)), math.inf),
    "of no whole number": (lambda rows, rng: np.tanh(rows).sum() + rng.geometric(P) - rng.geometric(P), math.inf),
    "of two counts": (of_two_counts, math.inf),
    "with one of them": (with_one_of_them, math.inf),
    "less each of two": (less_each_of_two, math.inf),
}


@pytest.mark.parametrize(("run", "most"), GEOMETRIC.values(), ids=GEOMETRIC)
def test_geometric_noise_has_two_sides(run, most):
    assert price(run) == pytest.approx(most, rel=1e-6)


# -- decisions on released numbers
OF_CODE = """
import numpy as np
def noisy_sum(rows, rng, scale=40.0, most=None):
    rows = np.tanh(rows) if most is None else np.clip(rows, -most, most)
    return rows.sum(axis=0) + rng.normal(scale=scale, size=3)
def run(rows, rng):
"""


def code(text):
    return compiled(OF_CODE + "".join(f"    {line}\n" for line in text.split("\n")))["run"]


MOVE, LARGE = 2 * math.sqrt(3) / 40, "if noisy_sum(rows, rng).sum() > 0: "  # of the sum, over its noise
TWO_ARRAYS = f"one, other = np.zeros(3), np.zeros(3)\n{LARGE}one = other\n"
DECIDED = {  # how many releases of a movement of so many standard deviations, at most
    "projected": (
        [MOVE] * 30,
        "w = np.zeros(3)\nfor _ in range(30):\n    w -= 0.1 * noisy_sum(rows, rng)\n"
        "    if np.linalg.norm(w) > 1: w /= np.linalg.norm(w)\nreturn w",
    ),
    "slower where it is no better": (
        [MOVE] * 30,
        "rate, best = 0.1, None\nfor _ in range(30):\n    found = noisy_sum(rows, rng)\n"
        "    if best is None or found.sum() < best: best = found.sum()\n    else: rate = rate * 0.5\nreturn rate, best",
    ),
    "with less noise": ([MOVE, 2 * MOVE], f"scale = 40.0\n{LARGE}scale = 20.0\nreturn noisy_sum(rows, rng, scale)"),
    "with a larger clip": ([MOVE, 2 * MOVE], f"most = 1.0\n{LARGE}most = 2.0\nreturn noisy_sum(rows, rng, most=most)"),
    "told where it is large": (None, f"found = np.zeros(3)\n{LARGE}found = np.tanh(rows).sum(axis=0)\nreturn found"),
    "another name where it is large": (None, f"{TWO_ARRAYS}one[0] = rows.sum()\nreturn other"),
    "one array of two": (None, f"{TWO_ARRAYS}other[0] = rows.sum()\nreturn one"),
    "one part of two": (
        None,
        "one, other = np.zeros(3), np.zeros(3)\npart = one[:1] if noisy_sum(rows, rng).sum() > 0 else other[:1]\n"
        "one[0] = rows.sum()\nreturn part",
    ),
}


@pytest.mark.parametrize(("most", "text"), DECIDED.values(), ids=DECIDED)
def test_a_released_number_may_decide(most, text):
    found = certified(code(text))
    moves = None if found.epsilon is None else [one.moves / one.scale for one in found.releases]
    assert moves == (None if most is None else pytest.approx(most))


NEW = "held = np.linspace(0, 1, 3)\n"
KEPT = {  # released numbers in arrays that nobody made for them
    "a slice": f"{NEW}held[:] = found",
    "an addition": f"{NEW}held[:] += found",
    "out": f"{NEW}np.add(found, 1.0, out=held)",
    "copyto": "held = np.zeros(3)\nnp.copyto(held, found)",
    "put": f"{NEW}np.put(held, [0], found[0])",
    "a pair": f"{NEW}other = 1 * held\nother[:], held[:] = found, 2 * found",
    "an entry of a list": "held = [np.linspace(0, 1, 3)]\nheld[0][:] = found\nheld = held[0]",
}


@pytest.mark.parametrize("written", KEPT.values(), ids=KEPT)
def test_decisions_on_released_numbers_are_seen_wherever_they_are_kept(written):
    assert price(code(f"found = noisy_sum(rows, rng)\n{written}\nreturn rows if held[0] > 1e9 else held")) == math.inf


# -- what hides from a followed run: texts, types
class Slotted:
    __slots__ = ("__dict__", "total")

    def __init__(self, total):
        self.total = total


PRIVATE = {
    "a text": lambda total: str(total[0]),
    "a text with a format": lambda total: f"{total[0]:.3f}",
    "bytes": lambda total: total.tobytes(),
    "an attribute without a rule": lambda total: hasattr(total, "ctypes"),
    "the type of an array": lambda total: total if isinstance(total, np.ndarray) else 0.0,
    "the key of a dictionary": lambda total: {total[0]: 1},
    "an error that is returned": lambda total: ValueError(total),
    "a slot": Slotted,
    "an array for the sum": lambda total: [found := np.zeros(()), total.sum(out=found)][0],
    "how many different ones": lambda total: len({int(one) for one in total}),
}


@pytest.mark.parametrize("look", PRIVATE.values(), ids=PRIVATE)
def test_private_data_that_hide_end_the_certificate(look):
    def run(rows, rng):
        total = np.clip(rows, 0, 1).sum(axis=0)
        return total + rng.laplace(scale=1000.0, size=3), look(total)

    assert price(run) == math.inf


FAR = [0.0, 0.0, 1e6]


def seldom(number):
    """Where no run on drawn or extreme values comes to."""
    return (number > 1e6) & (number < 1e6 + 1)


def written(noisy, whole=False):
    array = np.zeros(3)
    part = array[:2]
    if whole:
        array += noisy
    else:
        array[0] = noisy[0]
    return seldom(part[0])


RARE = {
    "a plain array of it": lambda noisy: seldom(np.asarray(noisy)[0]),
    "a copy": lambda noisy: seldom(np.array([noisy, noisy])[0, 0]),
    "written into an array": written,
    "added in place": lambda noisy: written(noisy, whole=True),
    "an answer of NumPy": lambda noisy: np.array_equal(seldom(noisy), [True] * 3),
    "how many": lambda noisy: len(np.random.default_rng().permutation(np.sort(a=np.asarray(noisy[seldom(noisy)])))) > 0,
    "places": lambda noisy: np.ravel([np.arange(3).take(np.where(seldom(noisy))[0])]).size > 0,
    "a place": lambda noisy: int(np.argmax([noisy[0], 1e6])) == 1,
    "a method": lambda noisy: (noisy - FAR).argmax() == 2,
    "a text": lambda noisy: f"{noisy[0]:.0e}" == "1e+06",
    "in": lambda noisy: True in seldom(noisy),
    "a set": lambda noisy: np.argmax(noisy - FAR) in {2},
}


def test_a_stand_in_has_the_type_of_what_it_stands_for():
    def run(rows, rng):
        total, noise, batch = np.clip(rows, 0, 1).sum(axis=0), rng.normal(size=3), rng.choice(4, 2, replace=False)
        noisy = total + rng.laplace(scale=1.0, size=3)
        arrays = (rows, total, noise, batch, noisy, noisy > 0, rng.random(4), np.zeros(3))
        right = all(isinstance(one, np.ndarray) for one in arrays) and not any(map(np.isscalar, arrays))
        right = right and not (isinstance((rows > 0).sum(), (list, tuple)) or isinstance(rng.integers(9), list | set))
        return noisy if right and {*map(type, arrays)} == {np.ndarray} else total

    assert price(run) == pytest.approx(3.0, rel=1e-6)


@pytest.mark.parametrize("look", RARE.values(), ids=RARE)
def test_a_release_that_hangs_on_released_numbers_counts(look):
    """The other way costs 10: whoever follows the common way alone certifies 0.003."""

    def run(rows, rng):
        total = np.clip(rows, 0, 1).sum(axis=0)
        noisy = total + rng.laplace(scale=1000.0, size=3)
        return (noisy, total[0] + rng.laplace(scale=0.1)) if look(noisy) else noisy

    assert price(run) >= 10 * (1 - 1e-6)


def test_a_released_place_is_followed_in_each_way():
    def run(rows, rng):
        total = np.clip(rows, 0, 1).sum(axis=0)
        best = int(np.argmax(total + rng.laplace(scale=1000.0, size=3)))
        return ["a", "b", "c"][best], total[best] + rng.laplace(scale=[1.0, 1.0, 0.1][best])

    assert price(run) == pytest.approx(10 + 3 / 1000, rel=1e-3)


def count(rows):
    return np.clip(rows[:, 0], 0, 1).sum()


def by(what):
    """After a release that costs 1 / 100, with a number that is 1000 where hardly any run comes to, else 1."""

    def run(rows, rng):
        noisy = count(rows) + rng.laplace(scale=100.0)
        return noisy, what(rows, rng, np.where(np.abs(noisy - 5000) < 1, 1000.0, 1.0))

    return run


def added_in_place(rows, rng):
    mean = np.clip(count(rows), 0, 1) * np.ones(3)
    kept = mean
    mean += rng.laplace(scale=1000.0, size=3)
    return kept * count(rows) + rng.laplace(scale=100.0, size=3)


def record(rows, rng, place):
    return np.clip(rows[place][..., 0], 0, 1).sum() + rng.laplace(scale=1.0)


def sums_of_parts(rows, rng, c):
    some = np.clip(rows, 0, 1)[rows[:, 2] > 0]
    return [sum(row[k] + (c - 1) for row in some) + rng.laplace() for k in range(2)]


COSTS = {  # at least
    "copied noise": (lambda x, rng: count(x) + copy.deepcopy(rng.laplace(scale=0.1)), 10),
    "a generator that can be set back": (lambda x, rng: count(x) + bool(rng.bit_generator) * rng.laplace(), math.inf),
    "one of some one-sided noise": (lambda x, rng: (x[:, 0] > 0).sum() + rng.geometric(0.5, size=3)[0], math.inf),
    "a seed": (lambda x, rng: count(x) + [random.seed(0), random.gauss(0, 100.0)][1], 10),
    "another name of what noise is added to": (added_in_place, 10),
    "one draw in a sum": (lambda x, rng: x[0] + (rng.normal(size=3) + rng.normal(size=1)[[0, 0, 0]]), math.inf),
    "added to each of some": (by(sums_of_parts), math.inf),
    "an end": (by(lambda x, rng, c: np.clip(x[:, 0], min=0, max=c).sum() + rng.laplace(scale=100.0)), 10),
    "in a list": (by(lambda x, rng, c: np.array([count(x), c]) * count(x) + rng.laplace(scale=400.0, size=2)), 2.5),
    "a scale": (by(lambda x, rng, c: count(x) + rng.laplace(scale=100.0 / c)), 10),
    "a draw": (lambda x, rng: rng.choice([1, 1000], p=[0.9999, 1e-4]) * count(x) + rng.laplace(scale=100.0), 10),
    "any record, five times": (lambda x, rng: [record(x, rng, rng.integers(30)) for _ in range(5)], 5),
    "random orders": (lambda x, rng: [record(x, rng, rng.permutation(30)[:1]) for _ in range(5)], 5),
    "places drawn twice": (lambda x, rng: record(x, rng, rng.integers(30, size=2)), 2),
}


@pytest.mark.parametrize(("run", "least"), COSTS.values(), ids=COSTS)
def test_what_seldom_happens_counts(run, least):
    assert price(run, Space.matrix(n=(30,), d=(3,))) >= least * (1 - 1e-6)


SUM = "total = np.clip(rows, 0, 1e3).sum(axis=0)\n"
CHANGED = {  # what is known of an array is known of its numbers: they are other ones when it is written to
    "a truth value": "size, noise = np.abs(rows), rng.laplace(scale=4.0)\nfar = size > 1e3\nnear = ~far\n"
    "np.greater(size, 1.0, out=far)\nreturn np.where(near, size, 0.0).sum() + noise",
    "what noise was added to": f"{SUM}noisy = total + rng.laplace(size=3)\ntotal *= 1e-6\nreturn noisy",
    "the scale of noise": f"{SUM}scale = np.ones(3)\nnoise = rng.laplace(0, scale)\nscale *= 1e6\nreturn total + noise",
    "a view": f"{SUM}x = np.tanh(rows)\ny = np.einsum('ij->ij', x)\ny *= 1e3\n"
    "return x.sum(axis=0) + rng.normal(size=3)",
    "a line of what is written into": f"{SUM}held = np.zeros((2, 3))\nheld[0] = total / 1e3\nline = held[0]\n"
    "held *= 1e3\nreturn line + rng.laplace(size=3)",
    "a place": f"{SUM}k = np.argmax(total / 1e3 + rng.laplace(size=3))\nk += 3\n"
    "return total[0] / 1e3 + rng.laplace(scale=[1.0, 1.0, 1.0, 1e-3, 1.0, 1.0][k])",
}


@pytest.mark.parametrize("text", CHANGED.values(), ids=CHANGED)
def test_what_was_known_of_numbers_that_are_written_over_is_forgotten(text):
    assert price(code(text)) > 100


# -- generators with a fixed seed: constants, which are no noise
def fixed(made):
    """Of a sum that moves by 1 in each entry, with a generator with a fixed seed beside that of the run."""
    return lambda rows, rng: made(np.clip(rows, 0, 1).sum(axis=0), np.random.default_rng(7), rng)


def test_numbers_of_a_fixed_seed_are_constants():
    plain = price(fixed(lambda x, _, rng: x + rng.laplace(scale=2.0, size=3)))
    start = fixed(lambda x, known, rng: known.normal(size=3) + x + rng.laplace(scale=2.0, size=3))
    old = fixed(lambda x, _, rng: x[np.random.RandomState(1).permutation(3)] + rng.laplace(scale=2.0, size=3))
    assert price(start) == price(old) == plain < math.inf


SEEDS = {
    "as noise": (lambda x, known, rng: x + known.laplace(scale=2.0, size=3), "everybody can draw the same noise"),
    "beside real noise": (lambda x, known, rng: [x + rng.laplace(size=3), x + known.laplace()], "private data is ret"),
    "around private data": (lambda x, known, rng: known.normal(x), "a fixed seed from private data"),
    "of private data": (lambda x, known, rng: np.random.default_rng(x.sum()).normal(), "a seed of private data"),
}


@pytest.mark.parametrize(("made", "why"), SEEDS.values(), ids=SEEDS)
def test_a_fixed_seed_hides_nothing(made, why):
    assert why in str(certified(fixed(made)))


TOLD = {
    "a seed": fixed(lambda x, _, rng: x + np.random.default_rng(rng.integers(2**31)).laplace(scale=2.0, size=3)),
    "noise as a text": fixed(lambda x, _, rng: (lambda noise: (x + noise, str(noise)))(rng.laplace(size=3))),
    "noise in a pickle": fixed(lambda x, _, rng: (lambda noise: (x + noise, pickle.dumps(noise)))(rng.laplace(size=3))),
}


@pytest.mark.parametrize("run", TOLD.values(), ids=TOLD)
def test_who_knows_a_draw_knows_the_noise(run):
    assert certified(run).epsilon is None


# -- noise of symmetric matrices; public orders and lists
MIRRORED = {"gram", "half", "diagonal"}
OTHERS = {"another matrix", "turned", "minus itself", "signs", "twice", "one draw", "a list of entries"}


@pytest.mark.parametrize("of", sorted(MIRRORED | OTHERS))
def test_symmetric_noise_is_for_symmetric_queries(of):
    def run(rows, rng):
        x, noise = unit(rows), rng.normal(scale=4.0, size=(3, 3))
        upper, u = np.triu(noise) + np.triu(noise, 1).T, np.triu(noise)
        if of == "diagonal":
            return x.T @ x + (u + u.T - np.diag(np.diag(u)))
        if of in ("minus itself", "signs"):
            return x.T @ x + (noise + -noise.T if of == "minus itself" else u + np.triu(-noise, 1).T)
        if of == "one draw":
            return x.T @ x + rng.normal(scale=4.0, size=1)[np.zeros((3, 3), dtype=int)]
        if of == "a list of entries":
            return (x.T @ x).ravel() + rng.normal(scale=4.0, size=6)[[0, 1, 2, 3, 4, 5, 0, 1, 2]]
        if of == "another matrix":
            return x.T @ np.tanh(x) + upper
        if of in ("half", "turned"):
            return x.T @ x + (noise + noise.T if of == "half" else noise - noise.T) / 2
        return x.T @ x + upper, x.T @ x + upper if of == "twice" else 0

    found = [one.moves / one.scale for one in certified(run).releases]
    assert found == ([pytest.approx(math.sqrt(2) / 4)] if of in MIRRORED else [])


def test_shuffled_places_and_lists_of_released_numbers_are_public():
    def shuffled(rows, rng):
        order = np.arange(4)
        rng.shuffle(order)
        return np.round(unit(rows)[order[:2]].sum(axis=0) + rng.normal(scale=4.0, size=3), 2).tolist()

    def looks(rows, rng):
        found = (unit(rows).sum(axis=0) + rng.normal(scale=4.0, size=3)).tolist()
        return found, unit(rows).sum(axis=0) + rng.normal(scale=1.0, size=3) if found[0] > 77.1 else 0

    assert [one.moves for one in certified(shuffled).releases] == [pytest.approx(2.0)]
    assert len(certified(looks).releases) == 2
