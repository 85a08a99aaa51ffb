"""Plain code through the audit: right code passes, wrong and leaking code fails, what has no law names its line."""

import math
import random
from dataclasses import replace
from functools import partial
from unittest.mock import Mock

import numpy as np
import pytest

from dpassay.audit import Effort, Verdict, assay, on_tape, release
from dpassay.audit.assaying.examine import Thrift
from dpassay.audit.certify.certificate import certify
from dpassay.audit.phases import reporting
from dpassay.audit.plain_numpy.audited import OfOnePair, trial_pairs
from dpassay.audit.plain_numpy.generator import whole_law
from dpassay.audit.plain_numpy.mechanism import PlainMechanism
from dpassay.audit.plain_numpy.places import NotUnderstood
from dpassay.audit.search.engine import search
from dpassay.audit.subjects.own import one_run_in_time, usual_space
from dpassay.reference import Pair, PrivacyClaim, Space
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Kind
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.space import Rows
from tests.audit.certify.random_programs import compiled
from tests.audit.programs import right, wrong

from . import styles as s
from .test_reading import named

DELTA = 1e-5
CLAIM = PrivacyClaim(1.0, DELTA)
QUICK = Effort(runs=100, pilot=100, examples=20)
KEYS = Effort(runs=50, pilot=50, examples=10)
ONE = Pair(np.zeros((1, 1)), np.ones((1, 1)), 0)
THREE = Pair(np.array([[0.0], [0.0], [0.0]]), np.array([[1.0], [0.0], [0.0]]), 0)
TWO = Space.matrix(n=(2,), d=(1,))
SPACE = Space.matrix(n=(1, 2, 3), d=(1, 2))
LARGER = Space.matrix(n=(3,), d=(2,))


# -- an audit each, as `dpassay audit` makes it ---------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "where", "epsilon", "most"),
    [
        *((one, SPACE, max(1.1, right.CLAIMS.get(named(one), 0.0)), math.inf) for one in s.RIGHT),
        (s.descent, Space.matrix(), 1.65, 1.5906),  # of one Gaussian with mu = 1 / sqrt(6)
    ],
    ids=named,
)
def test_right_mechanisms_pass(mechanism, where, epsilon, most):
    found = assay(mechanism, where, PrivacyClaim(epsilon, DELTA))
    assert not found.verdict.failed, found.why
    assert found.accounted < most


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [*s.WRONG, *s.ADAPTIVE_WRONG, wrong.stops_on_the_exact_gradient], ids=named)
def test_wrong_mechanisms_fail(mechanism):
    adaptive = mechanism in s.ADAPTIVE_WRONG
    where, claim = (Space.matrix(), PrivacyClaim(1.65, DELTA)) if adaptive else (SPACE, CLAIM)
    assert assay(mechanism, where, claim).verdict.failed


# -- refused, with a way out ----------------------------------------------------------------------------------------
def in_range(rows, rng):
    """Laplace noise kept to the unit interval by rejection: only the last number is seen."""
    mean = rows.clip(0, 1).mean()
    for _ in range(100):
        noisy = mean + rng.laplace(scale=2 / len(rows))
        if 0 <= noisy <= 1:
            break
    return noisy


def counted(rows, rng):
    keys, counts = np.unique(np.sign(rows[:, 0]), return_counts=True)
    return [(float(key), count + rng.laplace(scale=2.0)) for key, count in zip(keys, counts, strict=True)]


ENOUGH = 1 + 2 * math.log(2e5)


def histogram(rows, rng, threshold=ENOUGH):
    """Korolova et al. 2009: how many keys there are is private, and those that are rare are not told."""
    return {key: noisy for key, noisy in counted(rows, rng) if noisy > threshold}


def median(rows, rng, smooth=True):
    """Nissim, Raskhodnikova and Smith 2007: Laplace noise of twice the smooth sensitivity, (1, 1e-5)."""
    x = np.sort(np.clip(rows[:, 0], -1, 1))
    n = len(x)
    padded = np.concatenate([np.full(n + 1, -1.0), x, np.full(n + 1, 1.0)])
    middle, rate = n + 1 + n // 2, 1 / (2 * math.log(2e5))
    local = [
        max(padded[min(middle + t, len(padded) - 1)] - padded[max(middle + t - k - 1, 0)] for t in range(k + 2))
        for k in range(n + 1 if smooth else 1)
    ]
    return padded[middle] + 2 * max(math.exp(-k * rate) * one for k, one in enumerate(local)) * rng.laplace()


def last_point(rows, rng, count=False):
    """Descent on a perturbed objective: the same noise in every gradient; and beside it, if asked for, a bare count."""
    noise, point = rng.normal(scale=8.0, size=rows.shape[1]), np.zeros(rows.shape[1])
    for _ in range(3):
        point = point - 0.2 * (np.tanh(point - rows).sum(axis=0) + point + noise)
    return (point, int((rows > 0).sum())) if count else point


def mode(rows, rng):
    """The majority, if a noisy lead is large enough: with one record more or less it passes with probability delta."""
    positive = int((rows > 0).sum())
    lead = abs(2 * positive - len(rows)) / 2
    if lead + rng.laplace() > 1 + math.log(1 / (2 * DELTA)):
        return positive * 2 > len(rows)
    return None


def answers(rows, rng):
    """Randomised response to three questions; of five people there are too many ways to follow them all."""
    return [[(one > 0) == (rng.random() < 1 / (1 + math.exp(-1 / 3))) for one in row] for row in rows]


def answers_and_a_sum(rows, rng):
    return answers(rows, rng), rows.sum() + rng.laplace(0, 0.01)


def drawn_with_replacement(rows, rng):
    picked = rng.integers(0, len(rows), size=2)
    return rows.clip(-1, 1)[picked].mean(axis=0) + rng.normal(0, 0.5, rows.shape[1])


def coin_by_coin(rows, rng):
    """Poisson sampling at rate 0.2 in a loop, and a claim that counts on it."""
    batch = [row for row in rows.clip(-1, 1) if rng.random() < 0.2]
    return sum(batch, np.zeros(rows.shape[1])) + rng.normal(0, 3.0, rows.shape[1])


def entry_by_entry(rows, rng):
    noise = np.zeros(rows.shape[1])
    for j in range(len(noise)):
        noise[j] = rng.normal(0, 9.7)
    return rows.clip(-1, 1).sum(axis=0) + noise


def over_a_noisy_threshold(rows, rng):
    threshold = 3 + rng.laplace(0, 4)
    return [bool((rows > at).sum() + rng.laplace(0, 8) > threshold) for at in (0.0, 0.5)]


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("mechanism", "where", "why"),
    [
        (entry_by_entry, ONE, "written somewhere, before it meets the data.*draw it whole"),
        (over_a_noisy_threshold, ONE, "two noisy numbers are compared.*tape.above_threshold"),
        (s.inverse_cdf, ONE, "is counted as known to the adversary"),
        (median, ONE, "has a scale that follows the data.*they are small"),
        # what its scale costs is not known: losses of what was found stay below a claim of 1.65
        (partial(s.descent, count_noise=0.0), Space.matrix(), "has a scale that follows the data"),
        (in_range, TWO, "is compared, more often in some runs"),
        (histogram, TWO, "drawn more often for one of two neighbours"),
        (last_point, Pair(np.array([[0.5], [0.5]]), np.array([[-0.5], [0.5]]), 0), "added to data more than once"),
        (mode, ONE, "whether delta covers it is not known"),
        (answers, Space.matrix(n=(5,), d=(3,)), "is counted as known to the adversary.*try few records"),
        (drawn_with_replacement, TWO, "chooses among the records"),
        (coin_by_coin, THREE, "falls once for each record"),
    ],
    ids=named,
)
def test_what_has_no_law_here_is_refused_with_a_way_out(mechanism, where, why):
    said = rf"(test_audited|styles).py:\d+.*{why}.*release\(label, value\).*dpassay blackbox"
    with pytest.raises(NotUnderstood, match=said):
        assay(mechanism, where, CLAIM, effort=KEYS)


def of_the_largest(rows, rng):
    return rows[:, 0].sum() + rng.laplace(scale=0.01 + 2 * np.abs(rows[:, 0]).max())


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("mechanism", "where"),
    [
        (of_the_largest, ONE),
        (partial(histogram, threshold=-50), TWO),
        (partial(median, smooth=False), THREE),
        (partial(last_point, count=True), ONE),
        (answers_and_a_sum, Space.matrix(n=(5,), d=(3,))),
    ],
    ids=named,
)
def test_what_leaks_whatever_the_law_is_accused(mechanism, where):
    assert assay(mechanism, where, CLAIM, effort=KEYS).verdict.failed


def two_coins(rows, rng, truth=0.5, scale=None):
    keep, lie = rng.random(len(rows)) < truth, rng.random(len(rows)) < 0.5
    found = np.where(keep, rows[:, 0] > 0, lie)
    return found if scale is None else (found, rows[:, 0].clip(0, 1).sum() + rng.laplace(scale=scale))


@pytest.mark.some(2)
@pytest.mark.parametrize(("truth", "scale", "code"), [(0.5, 9.0, 3), (0.6, None, 1), (0.98, 9.0, 1), (0.5, None, 0)])
def test_what_coins_may_hide_is_accused_where_outputs_show_it(truth, scale, code):
    found = assay(partial(two_coins, truth=truth, scale=scale), SPACE, PrivacyClaim(1.2, DELTA), effort=KEYS)
    assert found.verdict.exit_code == code == (1 if found.shown else code), found.why


@pytest.mark.parametrize(
    "run",
    [
        two_coins,
        lambda rows, rng: (rng.binomial(1, np.where(rows[:, 0] > 0, 0.7, 0.2)) - 0.2) / 0.5,
        lambda rows, rng: (2 * (rows > 0).astype(float) - 1) * rng.choice([-1, 1], size=rows.shape, p=[0.2, 0.8]),
        lambda rows, rng: np.where(rng.random(len(rows)) > 0.5, rows[:, 0] > 0, rng.integers(0, 3, len(rows))).mean(),
    ],
)
def test_coins_are_certified_at_what_their_exact_law_costs(run):
    here, *others = (np.array(one, dtype=float)[:, None] for one in ((1, 1), (1, -1), (-1, 1)))
    laws = [whole_law(run, one, 0.0) for one in (here, *others)]
    exact = max(laws[0].distance(law) for law in laws[1:])
    assert certify(run, Space.matrix(n=(2,), d=(1,)), delta=1e-12).epsilon == pytest.approx(exact)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_size_of_an_empty_batch_is_named_with_its_line():
    def over_the_size_of_a_batch(rows, rng):
        batch = rows.clip(-1, 1)[rng.random(len(rows)) < 0.5]
        return (batch.sum() + rng.normal()) / len(batch)

    with pytest.raises(BadInput, match=r"test_audited.py:\d+': would be (nan|inf).*empty batch.*public number"):
        assay(over_the_size_of_a_batch, ONE, CLAIM, effort=KEYS)


def locally(rows, rng, clipped=True, scale=1.0):
    """Each record with Laplace noise of its own; their mean has no density here."""
    numbers = rows[:, 0].clip(0, 1) if clipped else rows[:, 0]
    return (numbers + rng.laplace(0, scale, size=len(rows))).mean()


def test_what_no_search_can_read_is_certified_or_refused(monkeypatch):
    found = assay(locally, TWO, CLAIM, effort=QUICK)
    assert (found.verdict, found.realised, round(found.accounted, 3)) == (Verdict.CERTIFIED, None, 1.0)
    assert "nothing was searched: test_audited.py:" in found.why
    for broken in (partial(locally, clipped=False), partial(locally, scale=0.9)):
        with pytest.raises(NotUnderstood, match="no density"):
            assay(broken, TWO, CLAIM, effort=QUICK)
    real = Laplace.cost
    monkeypatch.setattr(Laplace, "cost", lambda self, size: real(self, size / 2))
    broken = assay(locally, TWO, CLAIM, effort=QUICK)
    assert broken.verdict.failed and broken.certificate is None and "wrong apparatus" in broken.why


def two_noises(rows, rng, said):
    """Noise of 0.8 and 6 on a number that moves by 2: together enough, the first alone is not."""
    noisy = np.clip(rows, -1, 1).sum() + rng.normal(scale=0.8)
    return (release("sum", noisy) if said else noisy) + rng.normal(scale=9.0)


def test_release_says_where_a_sum_is_handed_out():
    pair = Pair(np.ones((1, 1)), -np.ones((1, 1)), 0)
    assert not assay(partial(two_noises, said=False), pair, CLAIM, effort=KEYS).verdict.failed
    assert assay(partial(two_noises, said=True), pair, CLAIM, effort=KEYS).verdict.failed


# -- how the releases add up for one pair of neighbours --------------------------------------------------------------
def size_and_value(rows, rng, scale=1.6):
    """From -1 to 1 the value moves by 2 and its size by nothing, from 0 to 1 both by 1: 1.5 / scale at most, not 2."""
    value = np.clip(rows[:, 0], -1, 1)
    size = np.abs(value).sum() + rng.laplace(scale=scale)
    return size, value.sum() + rng.laplace(scale=2 * scale)


@pytest.mark.more
def test_noise_that_is_not_understood_may_be_a_start_that_everybody_knows():
    """Who knows it learns more: a pass counts. What fails then says nothing: a perturbed objective stays refused."""
    found = assay(s.regression, Space.matrix(n=(3,), d=(3,)), PrivacyClaim(3.0, DELTA), effort=QUICK)
    assert not found.verdict.failed and 0.1 < found.accounted < 3


def test_movements_of_different_pairs_do_not_add_up():
    """With less noise some pair breaks the claim by itself; the curve meets delta where the number is."""
    line, pure = Space.matrix(n=(1,), d=(1,)), PrivacyClaim(1.0, 1e-9)
    effort = replace(QUICK, examples=30)
    found = assay(size_and_value, line, pure, effort=effort, thrift=Thrift(statistics=True))
    assert not found.verdict.failed and found.realised is not None
    assert found.accounted == found.searched.accounted == pytest.approx(1.5 / 1.6, rel=1e-6)
    found = assay(partial(size_and_value, scale=1.4), line, pure, effort=effort)
    assert found.verdict.failed
    assert Kind.OVER_BUDGET in [one.finding.kind for one in found.searched.witnesses]
    assert found.accounted == found.searched.accounted == pytest.approx(1.5 / 1.4, rel=1e-6)
    beyond = np.array(found.curves["epsilons"]) > found.accounted
    assert np.array_equal(beyond, np.array(found.curves["accounted"]) < 1e-9)


def test_a_right_mechanism_is_accounted_at_the_movements_that_were_found():
    few = Effort(runs=40, pilot=50, examples=3)  # each movement that is found is accounted anew, on a grid
    found = assay(partial(right.minibatch_sgd, steps=2), TWO, PrivacyClaim(4.0, DELTA), effort=few)
    assert not found.verdict.failed, found.why
    assert 0.3 < found.accounted <= found.certificate.epsilon * (1 + 1e-9) < 4.0


def test_trial_pairs_are_of_the_space():
    space = Space(Rows("d", None, box=(-2.0, 3.0), labels=(-1.0, 1.0)), {"n": (1, 4), "d": (2,)})
    for pair in trial_pairs(space, 0):
        assert pair.here.shape[1] == 3 and pair.here[:, :2].min() >= -2 and set(pair.here[:, 2]) <= {-1.0, 1.0}
        assert ((pair.here != pair.there).any(axis=1).sum()) == 1


def positive_in_a_batch(rows, rng, sigma=4.0):
    """How many of a Poisson batch are positive: replacing a record moves it by 1, and so does one that joins."""
    batch = rng.random(len(rows)) < 0.5
    return np.sum((rows[:, 0] > 0) * batch) + rng.normal(scale=sigma)


@pytest.mark.some(1)
@pytest.mark.parametrize(("sigma", "failed"), [(4.0, False), (2.0, True)])
def test_a_record_that_joins_a_poisson_batch_may_move_a_query_as_far_as_one_that_is_replaced(sigma, failed):
    found = assay(partial(positive_in_a_batch, sigma=sigma), Space.matrix(n=(1, 2), d=(1,)), CLAIM, effort=KEYS)
    assert found.verdict.failed == failed, found.why
    assert not any(one.kind.overshoots for one in found.findings)
    assert found.realised is not None and found.realised <= found.accounted


@pytest.mark.some(1)
@pytest.mark.parametrize(("noise", "more", "said"), [(8, 0, ""), (8, 1, "that the batch"), (1, 0, "several secret")])
def test_a_sum_over_several_batches_is_no_leak_and_not_amplified(noise, more, said):
    def of_batches(rows, rng):
        clipped = rows.clip(-1, 1)
        batches = [clipped[rng.random(len(rows)) < 0.5] for _ in range(2)]
        return sum(map(np.sum, batches)) + more * clipped.sum() + rng.normal(0, noise)

    try:
        found = assay(of_batches, TWO, PrivacyClaim(4.0, DELTA), effort=KEYS)
        assert found.verdict.failed == bool(said) and said in " ".join(map(str, found.findings))
    except NotUnderstood as error:
        assert said and said in str(error)


# -- generators ------------------------------------------------------------------------------------------------------
def test_hidden_randomness_is_refused():
    hidden = np.random.Generator(np.random.PCG64(1))
    with pytest.raises(BadInput, match="different results for the same draws"):
        assay(lambda rows, rng: rows.sum() + hidden.normal(), ONE, CLAIM, effort=QUICK)


def seeds_all(rows):
    np.random.seed(3)  # noqa: NPY002 - the bug
    return rows.sum() + random.gauss(0.0, 5.0)


@pytest.mark.parametrize(("factor", "code"), [(1.0, 0), (3.0, 1)])
def test_names_are_as_they_were_afterwards(factor, code):
    before = np.random.normal, np.random.default_rng, random.choices, np.zeros, np.array

    def mechanism(rows):
        return random.choices("ab", weights=np.exp([0.0, factor * np.clip(rows, 0, 1).sum()]))[0]

    assert assay(mechanism, ONE, CLAIM, effort=KEYS).verdict.exit_code == code
    assert before == (np.random.normal, np.random.default_rng, random.choices, np.zeros, np.array)
    assert on_tape(lambda rows: rows).__name__ == "<lambda>"


def summed(rows, noise):
    return np.clip(rows, -1, 1).sum(0) + noise


def seeded_by_a_draw(rows, rng):
    return summed(rows, np.random.RandomState(int(rng.integers(2**31))).normal(0, 16.0, rows.shape[1]))


def tells_its_seed(rows, rng):
    seed = int(rng.integers(2**31))
    return summed(rows, np.random.default_rng(seed).normal(0, 16.0, rows.shape[1])), seed


def sows_a_seed_twice(rows, rng):
    seed = int(rng.integers(2**31))
    return [summed(rows, np.random.default_rng(seed).normal(0, 16.0, rows.shape[1])) for _ in range(2)]


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (seeds_all, "fixes the noise of every run"),
        (tells_its_seed, "hands out a seed"),
        (sows_a_seed_twice, "the same noise a second time"),
    ],
)
def test_seeds_that_are_not_drawn_anew_are_refused(run, why):
    with pytest.raises(NotUnderstood, match=why):
        assay(run, ONE, CLAIM, effort=QUICK)


def test_a_seed_that_was_drawn_is_secret_and_has_no_certificate():
    found = assay(seeded_by_a_draw, ONE, CLAIM, effort=QUICK)
    assert not found.verdict.failed and "seed" not in found.why
    for run in (seeded_by_a_draw, tells_its_seed, sows_a_seed_twice):
        found = certify(run, LARGER, delta=DELTA)
        assert found.epsilon is None and "seed" in str(found)


def best_iterate(rows, rng):
    w = best = np.zeros(rows.shape[1])
    least = np.inf
    for _ in range(3):
        gradients = np.tanh(rows @ w + 1)[:, None] * rows
        clipped = gradients / np.maximum(1, np.linalg.norm(gradients, axis=1, keepdims=True))
        noise = 4.0 * rng.standard_normal(w.shape)
        w = w - 0.5 * (np.sum(clipped, axis=0) + noise)
        loss = np.abs(rows @ w).mean()
        if loss < least:
            best, least = w, loss
    return best


def test_a_leak_of_long_runs_is_shown_at_its_line_and_not_measured(monkeypatch):
    monkeypatch.setattr("dpassay.audit.assaying.assay.LONG_RUN", 0.9)  # calls
    found = assay(best_iterate, LARGER, PrivacyClaim(2.0, DELTA), effort=replace(KEYS, examples=120))
    lines = [one.made[0].line for one in found.searched.witnesses if one.finding.kind is Kind.OUTPUT]
    assert lines and 8 <= lines[0] - best_iterate.__code__.co_firstlineno <= 10  # not that of the noise
    assert found.verdict.failed and found.realised is None and "not made: what the search" in found.why
    batch = lambda rows, rng: (rows.sum() + rng.normal(0, 9.0), rows[rng.random(len(rows)) < 0.5])  # noqa: E731
    for run, where in ((of_the_largest, ONE), (batch, TWO)):  # a scale that leaks, and what a batch may cover
        found = assay(run, where, CLAIM, effort=KEYS)
        assert any(one.kind.leaks for one in found.searched.findings) and "not made" not in found.why


def trained(rows, rng):
    return [np.clip(rows[rng.random(len(rows)) < 0.05], -1, 1).sum() + rng.normal(0, 9.0) for _ in range(100)]


def test_of_long_runs_most_are_looked_at_where_they_begin_and_the_worst_to_its_end():
    """In 2,000 calls: ten runs are as long. With eight records a batch holds hardly any beside the target."""
    of_all = PlainMechanism(lambda rows, rng: [rows.sum() + rng.normal(0, 90.0) for _ in range(100)])
    found = search(of_all, TWO, CLAIM, examples=60, premises=OfOnePair(CLAIM, TWO, of_all), calls=2000)
    assert found.examples > 30 and not found.findings
    assert found.accounted == pytest.approx(gdp_epsilon(2 * 10 / 90, DELTA), rel=0.01)
    assert usual_space(trained, None, "").sizes["n"][-1] == 80


def test_reading_the_code_ends_when_the_time_is_up():
    seen = []
    with reporting(Mock(), seconds=0.0):
        on_tape(lambda rows, rng: seen.append(0) or rows.sum() + rng.normal()).tried([ONE] * 50)
    assert len(seen) < 50


class Seeded:
    def __init__(self):
        self.rng = np.random.default_rng(7)

    def summed(self, rows):
        return summed(rows, self.rng.normal(0, 8.0, 1))


def test_a_generator_with_a_fixed_seed_is_named():
    made = lambda rows, rng: summed(rows, np.random.default_rng(7).normal(0, 8.0, 1))  # noqa: E731
    seeds = "import numpy as np\nnp.random.seed(7)\ndef run(rows): return rows.sum() + np.random.normal(0, 8.0)"
    for run, where in ((made, "test_"), (Seeded().summed, "`rng`"), (compiled(seeds)["run"], "`np.random`")):
        found = assay(run, ONE, CLAIM, effort=KEYS)
        assert found.verdict.failed and found.by == "outputs" and "the same for both" not in found.why
        assert found.why.startswith(f"a generator with a fixed seed is made at {where}")


@pytest.mark.parametrize(
    "run",
    [
        lambda rows: np.random.rand(len(rows)) + np.random.randint(0, 3, size=len(rows)),  # noqa: NPY002
        lambda rows, random_state: np.random.RandomState(random_state).randn(len(rows), 2),
        lambda rows, rng: np.random.default_rng(rng).normal(size=2),
    ],
)
def test_one_run_is_made_with_any_generator_of_numpy(run):
    one_run_in_time(run, SPACE, CLAIM, "mine")
