"""How plain code is read: right code has no finding and exact laws, wrong code is seen, every part is looked at."""

import math
from collections import UserList, deque, namedtuple
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpassay.audit.lockstep.hub import WithinReach
from dpassay.audit.lockstep.run import lockstep, scripted
from dpassay.audit.lockstep.script import Choice, Script
from dpassay.audit.plain_numpy.desk import ITSELF, inside
from dpassay.audit.plain_numpy.generator import NotFinite, key_of, whole_law
from dpassay.audit.plain_numpy.mechanism import PlainMechanism, on_tape, recorded
from dpassay.audit.plain_numpy.noise_laws import FARTHEST, WholeOutput, epsilon_of, largest
from dpassay.audit.plain_numpy.places import NotUnderstood
from dpassay.audit.plain_numpy.signature import adapted
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Kind
from dpassay.reference.laws.intervals import Intervals
from dpassay.reference.neighbours import Pair
from dpassay.reference.tape import LiveTape, record
from tests.audit.programs import right

from . import styles as s

HERE = np.array([[0.5, 0.2], [0.1, -0.3], [-0.4, 0.9], [0.6, 0.0]])
PAIRS = [
    Pair(HERE, np.vstack([[-0.5, -0.7], HERE[1:]]), 0),
    Pair(HERE, np.vstack([HERE[:3], [-0.2, 0.95]]), 3),
    Pair(HERE[:1], -HERE[:1], 0),
]
named = lambda one: getattr(getattr(one, "func", one), "__name__", "")  # noqa: E731 - a name in a list of tests


def reading(mechanism, pairs=PAIRS):
    return on_tape(mechanism).tried(pairs, 0, 1e-5)


def findings(mechanism, pairs=PAIRS):
    run = reading(mechanism, pairs)
    return [one for pair in pairs for seed in range(3) for one in lockstep(run, pair, [seed]).findings]


@pytest.mark.some(10)
@pytest.mark.parametrize("mechanism", s.RIGHT, ids=named)
def test_right_mechanisms_are_not_accused(mechanism):
    assert not findings(mechanism)


@pytest.mark.parametrize("mechanism", s.SEEN, ids=named)
def test_wrong_mechanisms_are_seen(mechanism):
    assert findings(mechanism, PAIRS[:2])


def test_a_triangle_without_entries_is_noise_all_the_same():
    """Of a matrix of one number the upper half is empty; what meets it has not met data."""
    one = Pair(np.zeros((1, 1)), np.ones((1, 1)), 0)
    (release,) = recorded(reading(right.covariance, [one]), one.there, 0).releases
    assert release.law.query == pytest.approx(1.0)


# -- laws, against the densities written down ----------------------------------------------------------------------
LAWS = {  # of the output, on these rows
    s.normal_around_the_query: lambda rows: stats.norm(np.clip(rows[:, 0], 0, 1).sum(), 4.0).logpdf,
    s.two_sided_geometric: lambda rows: stats.dlaplace(1.0, loc=(rows[:, 0] > 0).sum()).logpmf,
    s.correlated: lambda rows: stats.multivariate_normal(s.clip(rows).sum(axis=0), 32 * (2 * np.eye(2) + 1)).logpdf,
    s.noise_of_prefixes: lambda rows: (
        stats.multivariate_normal(s.FACTOR @ s.blocks(rows), 64 * s.FACTOR @ s.FACTOR.T).logpdf
    ),
}


@pytest.mark.parametrize(("mechanism", "law"), LAWS.items(), ids=map(named, LAWS))
def test_the_loss_of_a_run_is_that_of_the_density_of_its_output(mechanism, law):
    pair, run = PAIRS[0], reading(mechanism)
    ours, theirs = (recorded(run, data, 3) for data in (pair.here, pair.there))
    (release,), (other,) = ours.releases, theirs.releases
    found = release.law.log_density(release.value) - other.law.log_density(release.value)
    expected = law(pair.here)(ours.output) - law(pair.there)(ours.output)
    assert found == pytest.approx(expected) and abs(expected) > 0.01


@pytest.mark.parametrize(
    ("mechanism", "scales"),
    [
        (s.two_noises, [5.0]),
        (s.noise_per_record, [8.0]),
        (right.private_mean, [2.0]),
        (right.minibatch_sgd, [0.2 * 12.0 / 2] * 4),  # of the step
        (s.from_a_random_start, [0.5 * 14.0 / 4] * 3),  # read as noise the start would be a release of scale 0.1
        (lambda rows, rng: np.array([0.3, 0.1 + 0.2]) * rows[0, 0] + rng.normal(), [1.0]),  # one, but for rounding
        (lambda rows, rng: rows[0] + rng.normal(size=2) + rows[0, 0] + rng.normal(), [1.0]),  # in units of the noise
        (lambda rows, rng: rows.T @ rows + (u := np.triu(rng.normal(size=(2, 2)))) + u.T - np.diag(np.diag(u)), [1.0]),
        (lambda rows, rng: rows[0, 0] + rng.gauss(0, 3.0), [3.0]),
        (lambda rows, rng: rows[0] + np.array([rng.laplace(0, 3.0) for _ in range(2)], dtype=float), [3.0]),
        (lambda rows, rng: rows.sum() + [n := rng.normal(), n.__imul__(9.0)][0], [1.0]),  # a number stays what it was
    ],
)
def test_noise_scales_are_those_of_the_sum(mechanism, scales):
    releases = recorded(reading(mechanism, PAIRS[:1]), HERE, 0).releases
    assert [one.law.scale for one in releases] == pytest.approx(scales)


def test_batches_are_secret_and_declared():
    transcript = recorded(reading(right.minibatch_sgd), HERE, 0)
    assert [release.draws for release in transcript.releases] == [(0,), (1,), (2,), (3,)]
    assert {draw.kind for draw in transcript.draws} == {"without-replacement"}
    assert [draw.kind for draw in recorded(reading(right.poisson_sgd), HERE, 0).draws] == ["poisson"] * 4


@pytest.mark.parametrize(
    "total", [lambda rows: np.sum([*rows], axis=0), lambda rows: sum(rows), lambda rows: rows.sum(0)]
)
def test_a_batch_of_nobody_has_the_noise_of_every_other(total):
    """What is added up is the number 0 then, and no array; of the last step the velocity is all that is looked at."""

    def trained(rows, rng):
        velocity = np.zeros(2)
        for _ in range(9):
            noisy = total(rows[rng.random(len(rows)) < 0.3]) + rng.normal(scale=8.0, size=2)
            velocity = 0.9 * velocity + noisy / 10
        return velocity

    rows = np.ones((1, 2))
    read = reading(trained, [Pair(rows, -rows, 0)])
    scales = [release.law.scale for seed in range(5) for release in recorded(read, rows, seed).releases[:-1]]
    assert scales == [8.0] * 8 * 5


@pytest.mark.parametrize("rates", [[0.5, 0.25], (0.5, 0.25), np.array([0.5, 0.25])])
def test_uniform_numbers_that_are_compared_with_several_are_public(rates):
    for run in (lambda rows, rng: rng.random(2) > rates, lambda rows, rng: rates < rng.random(2)):
        assert record(lambda tape, run=run: on_tape(run)(HERE, tape), seed=0).output.dtype == bool


def product_of_noises(rows, rng):
    return rows.sum() + rng.normal() * rng.normal()


def one_of_two_noises_again(rows, rng):
    one, other = rng.normal(size=2)
    return abs(float(rows.sum() + one + other)), rows.max() + one


def one_noise_for_several_records(rows, rng):
    """It hides none of them: nothing is released."""
    return [abs(float(one)) for one in rng.normal() - rows[:, 0]]


@pytest.mark.parametrize(
    "mechanism",
    [
        *(product_of_noises, one_of_two_noises_again, one_noise_for_several_records),
        *(s.uniforms_for_two_batches, s.geometric_on_one_side, lambda _, rng: rng.random(out=np.zeros(3))),
    ],
    ids=named,
)
def test_what_is_not_understood_names_its_line(mechanism):
    with pytest.raises(NotUnderstood, match=r"(test_reading|styles).py:\d+.*tape"):
        reading(mechanism)


# -- answers: the largest, and finitely many choices ----------------------------------------------------------------
@pytest.mark.parametrize("kind", ["laplace", "normal", "gumbel"])
def test_the_law_of_the_largest(kind):
    """20,000 draws (seed 1): each share within 4.5 standard errors."""
    queries, scales = np.array([0.0, 1.0, 0.4]), np.array([1.0, 1.0, 1.0])
    law = largest(kind, queries, scales)
    noise = getattr(np.random.default_rng(1), kind)(size=(20_000, 3))
    shares = np.bincount(np.argmax(queries + noise, axis=1), minlength=3) / 20_000
    exact = np.exp(law.log_probabilities)
    assert np.all(np.abs(shares - exact) < 4.5 * np.sqrt(exact / 20_000))
    if kind == "gumbel":  # the exponential mechanism, in closed form
        assert exact == pytest.approx(np.exp(queries) / np.exp(queries).sum(), rel=1e-9)


@pytest.mark.parametrize("kind", ["laplace", "gumbel"])
def test_the_cost_of_the_largest_is_an_upper_bound_and_is_nearly_reached(kind):
    """Over neighbours whose queries move by 1 each: never above, and more than half of it."""
    here, scales = np.zeros(3), np.full(3, 2.0)
    worst = 0.0
    for moves in np.ndindex(3, 3, 3):
        there = np.array(moves, dtype=float) - 1
        logs = [largest(kind, queries, scales).log_probabilities for queries in (here, there)]
        worst = max(worst, float(np.max(np.abs(logs[0] - logs[1]))))
    cost = largest(kind, here, scales).cost(1.0)
    assert cost.kind == "pure" and 0.5 * cost.size < worst <= cost.size * (1 + 1e-6)


@pytest.mark.parametrize("run", [
    s.correlated, lambda _, rng: rng.integers(2**60), lambda _, rng: rng.choice(2**60),
    *(lambda _, rng, change=one: change(rng.uniform(0.2, 2)) for one in (round, lambda u: max(u, 0.4), np.square)),
])  # fmt: skip
def test_what_has_too_many_ways_is_not_counted_out(run):
    """A seed has too many values to follow each: no time or memory is spent on them. Of an axis there are its own."""
    with pytest.raises(NotFinite):
        whole_law(run, HERE, 1e-5)
    columns = whole_law(lambda _, rng: rng.permutation(np.array([[1, 2], [3, 4]]), axis=1)[0].tolist(), HERE, 1e-5)
    assert columns.support == ((1, 2), (2, 1))
    assert columns.distance(WholeOutput(((1, 2),), np.zeros(1), 0.01)) == FARTHEST  # one side alone shows the other
    assert key_of([np.array([True])]) == key_of((True,))  # which one it is, says whether a record is a row of one


@given(
    st.lists(st.floats(0.01, 1), min_size=3, max_size=3), st.lists(st.floats(0.01, 1), min_size=3, max_size=3),
    st.sampled_from([0.0, 1e-5, 0.1, 0.3]),
)  # fmt: skip
def test_epsilon_of_a_whole_output_is_where_the_hockey_stick_reaches_delta(p, q, delta):
    p, q = (np.array(one) / sum(one) for one in (p, q))
    laws = [WholeOutput(("a", "b", "c"), np.log(one), delta) for one in (p, q)]
    epsilon = laws[0].distance(laws[1])
    assert laws[1].distance(laws[0]) == pytest.approx(epsilon)

    def worst(at):
        return max(np.maximum(0, a - math.exp(at) * b).sum() for a, b in ((p, q), (q, p)))

    assert worst(epsilon) <= delta + 1e-9
    assert epsilon == 0 or worst(epsilon - 1e-6) > delta - 1e-9


def median(x, ends, delta=0.0):
    """Its law, of numbers in [0, 1], with epsilon 1 (Smith 2011)."""
    edges = np.concatenate([[0.0], np.sort(x), [1.0]])
    weights = np.diff(edges) * np.exp(-0.5 * np.abs(np.arange(len(x) + 1) - len(x) / 2))
    chances = weights / weights.sum()
    return whole_law(lambda _, rng: ends(rng, *edges[(i := rng.choice(len(x) + 1, p=chances)) : i + 2]), x, delta)


@given(st.lists(st.integers(0, 8), min_size=2, max_size=4), st.integers(0, 8), st.sampled_from([0.0, 1e-3, 0.1]))
def test_a_number_between_private_ends_has_the_density_of_the_exponential_mechanism(eighths, other, delta):
    sides = [np.sort(one) / 8 for one in (eighths, [other, *eighths[1:]])]
    one = median(sides[0], lambda rng, a, b: rng.uniform(a, b), delta)
    two = median(sides[1], lambda rng, a, b: a + rng.random() * (b - a), delta)
    places = (np.arange(16) + 0.5) / 16  # no record is inside of a sixteenth
    masses = lambda law: np.exp([law.log_density(place) for place in places]) / 16  # noqa: E731
    p, q, tilted = masses(one), masses(two), masses(one.tilted(two, 0.7))
    for x, found in zip(sides, (p, q), strict=True):
        law = Intervals(np.array([0, *x, 1]), -np.abs(np.arange(len(x) + 1) - len(x) / 2), 0.5)
        np.testing.assert_allclose(found, masses(law))
    assert one.distance(two) == pytest.approx(max(epsilon_of(p, q, delta), epsilon_of(q, p, delta)), abs=1e-9)
    np.testing.assert_allclose(tilted, p * (p / q) ** 0.7 / np.sum(p * (p / q) ** 0.7))


# -- values that a search dictates -----------------------------------------------------------------------------------
ONE = Pair(np.array([[0.0]]), np.array([[-0.7]]), 0)


def test_a_bound_that_no_run_comes_to_accuses_nobody():
    """A share 200 of its noise away makes a bound of e^-360, and noise next to none: no run ends there."""

    def run(rows, rng):
        bound = np.exp(-0.3 * (np.mean(np.abs(rows) < 0.5) + rng.normal(scale=6.0)))
        return np.clip(rows, -bound, bound).sum() + rng.normal(scale=12.0 * bound)

    plain = reading(run, [ONE])
    first = recorded(plain, ONE.here, 0).releases[0].label
    script = Script({first: Choice("norm", size=-360.0, along="axis")})
    assert scripted(plain, ONE, [0], script).findings == []
    bare = scripted(lambda rows, tape: plain(rows, tape), ONE, [0], script)  # the same run, and no hub is named
    assert [one.kind for one in bare.findings] == [Kind.BARE_RELEASE]


@pytest.mark.some(2)
@pytest.mark.parametrize(("size", "name"), [(size, name) for size in (3, 1, 400) for name in ("normal", "laplace")])
def test_what_is_dictated_is_never_less_probable_than_said(size, name):
    """Forty huge values of one run: far away, and together at least as probable as e^-700, by scipy's own tails."""
    seen = []

    class Watched(WithinReach):
        def _dictated(self, choice, law, label):
            value = super()._dictated(choice, law, label)
            seen.append(np.ravel(value - law.query) / law.scale)
            return value

    plain = reading(lambda rows, rng: [rows.sum() + getattr(rng, name)(0.0, 2.0, size) for _ in range(40)], [ONE])
    plain.hub_type = Watched
    label = recorded(plain, ONE.here, 0).releases[0].label
    scripted(plain, ONE, [0], Script({label: Choice("huge", along="axis")}))
    if name == "normal":
        logs = [stats.chi2.logsf(away @ away, size) for away in seen]
    else:
        logs = [stats.gamma.logsf(np.abs(away).sum(), size) for away in seen]
    assert len(seen) == 40 and sum(logs) > -700.1 and logs[0] == pytest.approx(-350, rel=1e-6)


def test_a_movement_is_held_against_the_claim_of_its_own_release():
    """Of two releases under one label the one that moves further may need the smaller share of what it claims."""

    def run(value, tape):
        for scale in (1.0, 100.0):
            tape.gaussian("a", value * scale * (1.5 if scale == 1 else 1.0), std=scale, sensitivity=scale)

    for found in (lockstep(run, Pair(0.0, 1.0, 0), [0]), scripted(run, Pair(0.0, 1.0, 0), [0], Script())):
        moved = found.movements["a"]
        assert (moved.moved, moved.claimed, moved.share) == (1.5, 1.0, 1.5)
        assert [one.kind for one in found.findings] == [Kind.SENSITIVITY_EXCEEDED]


# -- every part of an output: one that is missed would be a release that nobody counts -------------------------------
Point = namedtuple("Point", "x y")


class OneSlot:
    __slots__ = "only"

    def __init__(self, only):
        self.only = only


class More(OneSlot):
    __slots__ = ("more", "never")

    def __init__(self, parts):
        self.only, self.more = None, parts


@pytest.mark.parametrize(
    "hold",
    [
        *(UserList, OneSlot, More, set, iter, deque, tuple, lambda parts: Point(0, parts)),
        *(lambda parts: {"a": parts}.items(), lambda parts: {"a": parts}.values(), lambda parts: {parts[0]: 1}),
        *(lambda parts: MappingProxyType({"a": parts}), lambda parts: SimpleNamespace(a=parts)),
    ],
)
def test_noise_is_released_whatever_holds_it(hold):
    """A class of one's own once hid it: nothing was released, so nothing was spent."""
    run = PlainMechanism(lambda rows, rng: hold([rows[0] + rng.normal(scale=2.0)]))
    (release,) = recorded(run, [1.0], 0).releases
    assert release.law.scale == 2.0


def test_rows_labels_and_generator_are_given_by_their_names():
    told = adapted(lambda rng, y, X, steps=3: (rng, y.tolist(), X.tolist()))(np.array([[1.0, 2.0, 3.0]]), "rng")
    assert told == ("rng", [3.0], [[1.0, 2.0]])


def test_a_function_is_no_randomness_of_its_own():
    """Each run makes it anew: it cannot be compared, and that is what is said."""

    def closure(rows, rng):
        noisy = rows[0] + rng.normal(scale=2.0)
        return {"predict": lambda x: x * noisy}

    with pytest.raises(BadInput, match=r"different functions, .*return the numbers .*\['output'\]\['predict'\]"):
        reading(closure, [Pair([1.0], [0.0], 0)])


def test_what_holds_itself_is_looked_at_once():
    """Such an output ended with a RecursionError."""

    class Node:
        def __init__(self, value):
            self.me, self.value, self.others = self, value, [self]

    run = PlainMechanism(lambda rows, rng: Node(rows.sum() + rng.normal(0, 3.0)))
    seen = record(lambda tape: run(np.ones((2, 1)), tape), seed=0)
    assert list(seen.output.items()) == [("me", ITSELF), ("others", [ITSELF]), ("value", seen.releases[0].value)]
    shared = [1.0]
    assert inside([shared, shared], lambda part: inside(part, lambda one: one)) == [[1.0], [1.0]]  # twice is no ring


# -- arrays of noise ---------------------------------------------------------------------------------------------------
LINEAR_MAPS = {
    "slices": lambda x: x[1:, ::-1],
    "a list of places": lambda x: x[[2, 0, 0], [1, 1, 2]],
    "reshape": lambda x: x.T.reshape(-1)[:5],
    "roll": lambda x: np.roll(x, 1, axis=0),
    "triangle": lambda x: np.triu(x) + np.triu(x, 1).T,
    "joined": lambda x: np.concatenate([x[0], [2.0], 3 * x[:, 1]]),
    "chosen": lambda x: np.where(np.eye(3) > 0, x, np.inf)[np.eye(3) > 0],
    "sum": lambda x: x.sum(axis=1, keepdims=True) - x / 2,
    "mean": lambda x: np.mean(x) - x[0],
    "prefix sums": lambda x: np.cumsum(x, axis=1),
    "differences": lambda x: np.diff(x, axis=0),
    "products": lambda x: np.arange(9.0).reshape(3, 3) @ x @ np.array([1.0, -2.0, 0.5]),
    "outer": lambda x: np.outer(x[0], [1.0, 2.0]),
    "trace": lambda x: x.trace() + np.dot([1.0, 2.0, 3.0], x[:, 0]),
    "cancelled": lambda x: (x - x) + x * 0,
}


@pytest.mark.parametrize("function", LINEAR_MAPS.values(), ids=LINEAR_MAPS)
def test_noise_goes_through_linear_functions_as_numbers_do(function):
    """What each draw is multiplied by is what the function makes of a one in its place, beside zeros."""
    seen = []
    on_tape(lambda rows, rng: seen.append(function(rng.normal(scale=2.0, size=(3, 3)))))(HERE, LiveTape(0))
    (noise,) = seen
    bare = np.asarray(function(np.zeros((3, 3))))
    found = np.zeros((bare.size, 9))
    found[noise.terms.rows, noise.terms.ones] = noise.terms.factors
    expected = [(np.asarray(function(one.reshape(3, 3))) - bare).ravel() * 2.0 for one in np.eye(9)]
    assert noise.shape == bare.shape and found == pytest.approx(np.array(expected).T)
    assert noise.base == pytest.approx(bare)


def test_parts_of_noise_are_not_changed_behind_its_back():
    def changed(rows, rng):
        noise = rng.normal(size=(2, 2))
        noise[0][1] = 0.0
        return rows.sum() + noise[0, 0]

    with pytest.raises(NotUnderstood, match="changed in place"):
        recorded(on_tape(changed), HERE, 0)


def test_noise_that_is_taken_off_again_hides_nothing():
    def bare(rows, rng):
        noise = rng.normal(size=2)
        return (rows[0] + noise) - noise

    (pair, *_) = PAIRS
    assert {one.kind for one in findings(bare, [pair])} == {Kind.OUTPUT}


def parameters(rows, rng, steps=3):
    """Of two layers, each of which takes its part of one noisy vector."""
    first, second = np.zeros((2, 2)), np.zeros(2)
    for _ in range(steps):
        delta = np.concatenate([np.outer(rows[0], rows[0] + second).ravel(), rows[0]]) + rng.normal(size=6)
        first += delta[:4].reshape(2, 2).T / 2
        second = second - delta[4:]
    return first, second


def test_parts_of_a_noisy_vector_are_released_by_themselves():
    releases = recorded(reading(parameters), HERE, 0).releases
    assert [(one.law.scale, one.value.shape) for one in releases] == [(0.5, (4,)), (1.0, (2,))] * 3
    first, _ = recorded(reading(parameters), HERE, 0).output
    assert first == pytest.approx(sum(one.value for one in releases[::2]).reshape(2, 2))
