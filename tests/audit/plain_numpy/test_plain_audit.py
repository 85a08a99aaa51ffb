"""Plain NumPy code through the audit: `assay(mechanism, space, claim)` and `dpassay audit MODULE:FUNCTION`."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from dpassay.audit import Effort, Verdict, assay, on_tape
from dpassay.audit.plain_numpy.audited import trial_pairs
from dpassay.audit.plain_numpy.mechanism import recorded
from dpassay.audit.plain_numpy.places import NotUnderstood
from dpassay.audit.subjects.own import one_run_in_time
from dpassay.reference import Cite, Pair, PrivacyClaim
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.space import Rows, Space
from tests.audit.programs import wrong

from . import mechanisms as m

QUICK = Effort(runs=100, pilot=100, examples=15)
SPACE = Space.matrix(n=(2, 3), d=(1, 2))


def claim(epsilon):
    return PrivacyClaim(epsilon, 1e-5, Cite("mine", "Theorem 1"))


def test_a_right_mechanism_is_accounted_at_the_movements_that_were_found():
    few = replace(QUICK, runs=40, pilot=50, examples=3)  # each movement that is found is accounted anew, on a grid
    found = assay(m.sgd_of_one, Space.matrix(n=(2,), d=(1,)), claim(4.0), effort=few)
    assert not found.verdict.failed, found.why
    assert 0.5 < found.accounted <= found.certificate.epsilon * (1 + 1e-9) < 4.0


@pytest.mark.parametrize(
    "total", [lambda rows: np.sum([*rows], axis=0), lambda rows: sum(rows), lambda rows: rows.sum(0)]
)
def test_a_batch_of_nobody_has_the_noise_of_every_other(total):
    """What is added up is the number 0 then, and no array; of the last step the velocity is all that is looked at."""

    def trained(rows, rng):
        velocity = np.zeros(2)
        for _ in range(20):
            noisy = total(rows[rng.random(len(rows)) < 0.3]) + rng.normal(scale=8.0, size=2)
            velocity = 0.9 * velocity + noisy / 10
        return velocity

    rows = np.ones((1, 2))
    read = on_tape(trained).tried([Pair(rows, -rows, 0)])
    scales = [release.law.scale for seed in range(9) for release in recorded(read, rows, seed).releases[:-1]]
    assert scales == [8.0] * 19 * 9


@pytest.mark.parametrize(
    "mechanism",
    [pytest.param(wrong.stops_on_the_exact_gradient, marks=pytest.mark.slow), m.exact_beside_it],
    ids=lambda f: f.__name__,
)
def test_wrong_mechanisms_fail(mechanism):
    assert assay(mechanism, SPACE, claim(4.0), effort=QUICK).verdict in (Verdict.LEAKS, Verdict.VIOLATED)


@pytest.mark.slow
def test_a_batch_larger_than_the_data_is_refused_as_numpy_does():
    """The default space tries two records; code that asks for three raises there, and is audited where it runs."""

    def threes(rows, rng):
        batch = rows[rng.choice(len(rows), size=3, replace=False)]
        return batch.clip(-1, 1).sum(axis=0) + rng.normal(0, 20.0, size=rows.shape[1])

    found = assay(threes, Space.matrix(n=(2, 4), d=(1,)), claim(1.0), effort=QUICK)
    assert not found.verdict.failed and any("larger sample than population" in one for one in found.searched.raised)
    assert any("test_plain_audit.py:" in one for one in found.searched.raised)


def test_transformed_noise_is_refused_with_its_line():
    with pytest.raises(NotUnderstood, match=r"mechanisms.py:\d+.*transformed"):
        assay(m.on_the_sphere, SPACE, claim(1.0), effort=QUICK)


def locally(rows, rng, clipped=True, scale=1.0):
    """Each record with Laplace noise of its own; their mean has no density here."""
    numbers = rows[:, 0].clip(0, 1) if clipped else rows[:, 0]
    return (numbers + rng.laplace(0, scale, size=len(rows))).mean()


def test_what_no_search_can_read_is_certified_or_refused(monkeypatch):
    found = assay(locally, SPACE, claim(1.0), effort=QUICK)
    assert (found.verdict, found.realised, round(found.accounted, 3)) == (Verdict.CERTIFIED, None, 1.0)
    assert "nothing was searched: test_plain_audit.py:" in found.why
    for broken in (partial(locally, clipped=False), partial(locally, scale=0.9)):
        with pytest.raises(NotUnderstood, match="no density"):
            assay(broken, SPACE, claim(1.0), effort=QUICK)
    real = Laplace.cost
    monkeypatch.setattr(Laplace, "cost", lambda self, size: real(self, size / 2))
    broken = assay(locally, SPACE, claim(1.0), effort=QUICK)
    assert broken.verdict.failed and broken.certificate is None and "wrong apparatus" in broken.why


def test_trial_pairs_are_of_the_space():
    space = Space(Rows("d", None, box=(-2.0, 3.0), labels=(-1.0, 1.0)), {"n": (1, 4), "d": (2,)})
    for pair in trial_pairs(space, 0):
        assert pair.here.shape[1] == 3 and pair.here[:, :2].min() >= -2 and set(pair.here[:, 2]) <= {-1.0, 1.0}
        assert ((pair.here != pair.there).any(axis=1).sum()) == 1


def counted(rows, rng, sigma=4.0):
    """How many of a Poisson batch are positive: replacing a record moves it by 1, and so does one that joins."""
    batch = rng.random(len(rows)) < 0.5
    return np.sum((rows[:, 0] > 0) * batch) + rng.normal(scale=sigma)


def counted_with_half_the_noise(rows, rng):
    return counted(rows, rng, 2.0)


@pytest.mark.some(1)
@pytest.mark.parametrize(("mechanism", "failed"), [(counted, False), (counted_with_half_the_noise, True)])
def test_a_record_that_joins_a_poisson_batch_may_move_a_query_as_far_as_one_that_is_replaced(mechanism, failed):
    found = assay(mechanism, Space.matrix(n=(1, 2), d=(1,)), claim(1.0), effort=QUICK)
    assert found.verdict.failed == failed, found.why
    assert not any(one.kind.overshoots for one in found.findings)
    assert found.realised is not None and found.realised <= found.accounted


@pytest.mark.parametrize(
    "run",
    [
        lambda rows: np.random.rand(len(rows)) + np.random.randint(0, 3, size=len(rows)),  # noqa: NPY002
        lambda rows, random_state: np.random.RandomState(random_state).randn(len(rows), 2),
        lambda rows, rng: np.random.default_rng(rng).normal(size=2),
    ],
    ids=["global names", "an older generator", "a newer generator"],
)
def test_one_run_is_made_with_any_generator_of_numpy(run):
    one_run_in_time(run, SPACE, claim(1.0), "mine")
