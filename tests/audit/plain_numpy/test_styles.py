"""Plain code as people write it: right mechanisms are not accused, wrong ones fail, what is not followed is said so."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpassay.audit import assay
from dpassay.audit.lockstep.run import lockstep
from dpassay.audit.plain_numpy.answers import FARTHEST, WholeOutput
from dpassay.audit.plain_numpy.finite import NotFinite, whole_law
from dpassay.audit.plain_numpy.mechanism import on_tape
from dpassay.audit.plain_numpy.places import NotUnderstood
from dpassay.reference import Cite, PrivacyClaim
from dpassay.reference.neighbours import Pair
from dpassay.reference.space import Space
from dpassay.reference.tape import record
from tests.audit.programs import right, wrong

from . import styles as s

HERE = np.array([[0.5, 0.2], [0.1, -0.3], [-0.4, 0.9]])
RIGHT = (*s.RIGHT, right.most_common, right.covariance, right.adam, right.momentum, right.one_epoch)
WRONG = (*s.WRONG, wrong.answers_too_often_true)
PAIRS = [
    Pair(HERE, np.vstack([[-0.5, -0.7], HERE[1:]]), 0),
    Pair(HERE, np.vstack([HERE[:2], [0.9, 0.1]]), 2),
    Pair(HERE[:1], -HERE[:1], 0),
]
CLAIM = PrivacyClaim(1.0, 1e-5, Cite("mine", "Theorem 1"))
SPACE = Space.matrix(n=(1, 2, 3), d=(1, 2))


def reading(mechanism, pairs=PAIRS):
    return on_tape(mechanism).tried(pairs, 0, 1e-5)


@pytest.mark.some(9)
@pytest.mark.parametrize("mechanism", RIGHT, ids=lambda f: f.__name__)
def test_nothing_of_a_right_mechanism_leaks(mechanism):
    run = reading(mechanism)
    for pair in PAIRS:
        assert not [one for seed in range(3) for one in lockstep(run, pair, [seed]).findings if one.kind.leaks]


def test_a_triangle_without_entries_is_noise_all_the_same():
    """Of a matrix of one number the upper half is empty; what meets it has not met data."""
    one = Pair(np.zeros((1, 1)), np.ones((1, 1)), 0)
    (release,) = record(lambda tape: reading(right.covariance, [one])(one.there, tape), 0).releases
    assert release.law.query == pytest.approx(1.0)


@pytest.mark.slow  # an audit each, as `dpassay audit` makes it: a few seconds
@pytest.mark.parametrize("mechanism", RIGHT, ids=lambda f: f.__name__)
def test_right_mechanisms_pass(mechanism):
    found = assay(mechanism, SPACE, PrivacyClaim(1.1, 1e-5, Cite("mine", "Theorem 1")))
    assert not found.verdict.failed, found.why


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", WRONG, ids=lambda f: f.__name__)
def test_wrong_mechanisms_fail(mechanism):
    assert assay(mechanism, SPACE, CLAIM).verdict.failed


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", s.NOT_FOLLOWED, ids=lambda f: f.__name__)
def test_what_is_not_followed_is_refused_with_its_line(mechanism):
    with pytest.raises(NotUnderstood, match=r"styles.py:\d+.*tape"):
        assay(mechanism, SPACE, CLAIM)


# -- laws, against the densities written down ----------------------------------------------------------------------
def loss(mechanism, value, pair):
    """Log of the ratio of densities at a value of the one release."""
    run = reading(mechanism)
    laws = [record(lambda tape, data=data: run(data, tape), 0).releases[-1].law for data in (pair.here, pair.there)]
    return laws[0].log_density(value) - laws[1].log_density(value)


@pytest.mark.parametrize(
    "mechanism, covariance",
    [
        (s.correlated, lambda pair: 64 * (np.eye(2) + 0.5 * np.ones((2, 2)))),
        (s.prefix_sums, lambda pair: 64 * np.tril(np.ones((4, 4))) @ np.tril(np.ones((4, 4))).T),
    ],
    ids=["covariance", "factor"],
)
def test_shared_gaussian_noise_has_the_density_of_its_covariance(mechanism, covariance):
    pair = PAIRS[0]
    run = reading(mechanism)
    transcripts = [record(lambda tape, data=data: run(data, tape), 3) for data in (pair.here, pair.there)]
    means = []
    for data in (pair.here, pair.there):
        values = np.clip(data[:, 0], 0, 1)
        sums = np.array([values[k::4].sum() for k in range(4)])
        means.append(s.clip(data).sum(axis=0) if mechanism is s.correlated else np.tril(np.ones((4, 4))) @ sums)
    output = transcripts[0].output
    expected = [stats.multivariate_normal.logpdf(output, mean, covariance(pair)) for mean in means]
    value = transcripts[0].releases[0].value
    laws = [one.releases[0].law for one in transcripts]
    assert laws[0].log_density(value) - laws[1].log_density(value) == pytest.approx(expected[0] - expected[1])


def test_difference_of_geometric_variables():
    assert loss(s.two_sided_geometric, 5, PAIRS[0]) == pytest.approx(1.0)  # counts 2 and 1, both below 5


def test_all_ways_through_randomised_response():
    law = whole_law(s.randomised_response, HERE, 0.0)
    assert len(law.support) == 8
    right = ("array", (3,), (True, True, False))
    assert math.exp(law.log_density(right)) == pytest.approx(0.73**3)
    assert law.distance(whole_law(s.randomised_response, PAIRS[1].there, 0.0)) == pytest.approx(math.log(0.73 / 0.27))
    with pytest.raises(NotFinite):
        whole_law(s.multivariate, HERE, 0.0)


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


def test_an_output_that_only_one_side_can_show():
    laws = [WholeOutput(("a", "b"), np.log([0.9, 0.1]), 0.01), WholeOutput(("a",), np.zeros(1), 0.01)]
    assert laws[0].distance(laws[1]) == FARTHEST


def test_what_follows_from_released_values_is_the_same_on_both_sides_to_the_last_bit():
    from dpassay.reference.tape import ScriptedTape

    for mechanism in (right.adam, right.momentum):
        run = reading(mechanism)
        tapes = [ScriptedTape(lambda label, law, step: np.full_like(law.query, 0.0018 + step)) for _ in range(2)]
        outputs = [run(data, tape) for data, tape in zip((PAIRS[2].here, PAIRS[2].there), tapes, strict=True)]
        assert outputs[0].tobytes() == outputs[1].tobytes()
