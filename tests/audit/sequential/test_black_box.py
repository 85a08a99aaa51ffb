"""Black-box audits that grow: bets on events, shares of the stake, the first outputs, budgets."""

import numpy as np
import pytest

from dpassay.audit.blackbox.learner import Candidate
from dpassay.audit.evidence.events import Event
from dpassay.audit.results import Verdict
from dpassay.audit.sequential import black_box
from dpassay.audit.zoo.laws import laplace_noise
from dpassay.reference.guarantee import approx_dp

CLAIM = approx_dp(1.0)


def _bet(rate_p, rate_q, epsilon=1.0, delta=0.0, size=200, name="a"):
    scores = [np.arange(size) < round(rate * size) for rate in (rate_p, rate_q)]
    event = Event(0.5, at=False, below=False, epsilon=epsilon, delta=delta, promise=0.0)
    return black_box.Bettor.taught(Candidate(name, np.asarray, event), *(side.astype(float) for side in scores))


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.0), (0.3, 1e-2), (-1.0, 0.6), (4.0, 1e-5)])
@pytest.mark.parametrize("learned", [(0.1, 0.9), (0.3, 0.3), (0.0, 1.0)])
def test_a_bet_on_an_event_expects_nothing_where_the_claim_is_just_true(epsilon, delta, learned):
    """Exactly, over the four outcomes of a pair with q = e^epsilon p + delta; and it grows where q is larger."""
    bet = _bet(*learned, epsilon, delta)
    slope = np.exp(epsilon)
    p = 0.4 / max(1.0, slope)

    def expected(q):
        total = 0.0
        for in_p in (0.0, 1.0):
            for in_q in (0.0, 1.0):
                mass = (p if in_p else 1 - p) * (q if in_q else 1 - q)
                total += mass * np.exp(bet.log_wealth(np.array([in_p]), np.array([in_q])))
        return total

    just_true = slope * p + delta
    assert expected(just_true) == pytest.approx(1.0, abs=1e-12)
    assert expected(min(1.0, just_true + 0.2)) > 1


def test_more_is_staked_where_more_was_seen():
    strong, weak, none = _bet(0.1, 0.8), _bet(0.1, 0.4), _bet(0.3, 0.3)
    assert strong.growth > weak.growth > none.growth == 0
    assert strong.stakes[-1] > weak.stakes[-1] > none.stakes[-1] > 0


def test_the_stake_follows_what_won_and_is_all_dealt():
    some = [_bet(0.3, 0.3, name=name) for name in "ab"]
    even, later = black_box.shares(some, 100, {}), black_box.shares(some, 100, {"b": 10.0})
    assert sum(even.values()) == pytest.approx(1) == sum(later.values())
    assert even["a"] == pytest.approx(even["b"]) and later["b"] > 0.8
    assert min(later.values()) > 0.1 * black_box.DEALT * min(even.values())


def test_the_first_outputs_teach_each_other():
    """Half of the noise, 250 outputs a side, nothing else drawn: refuted with seeds 0 to 4; the right noise never."""
    verdicts = {
        scale: [
            black_box.audit_sequentially(laplace_noise(scale), (0, 1), CLAIM, np.random.default_rng(seed), limit=250)
            for seed in range(5)
        ]
        for scale in (0.4, 1.0)
    }
    assert all(one.verdict is Verdict.VIOLATED and one.runs == 500 for one in verdicts[0.4])
    assert "column" in verdicts[0.4][0].evidence
    assert not any(one.verdict is Verdict.VIOLATED for one in verdicts[1.0])


def test_the_limit_is_reached_with_the_same_numbers_each_time():
    right = laplace_noise(1.0)
    full = [black_box.audit_sequentially(right, (0, 1), CLAIM, np.random.default_rng(0), limit=2000) for _ in range(2)]
    assert full[0].runs == 4000 and full[0].evidence == full[1].evidence


def test_outputs_that_say_nothing_are_said_to_be_so():
    class Nothing:
        def __call__(self, side, rng):
            return None

    found = black_box.audit_sequentially(Nothing(), (0, 1), CLAIM, np.random.default_rng(0), limit=100)
    assert found.verdict is Verdict.INCONCLUSIVE and "gave nothing to judge" in found.evidence["notes"][0]
    right = black_box.audit_sequentially(laplace_noise(1.0), (0, 1), CLAIM, np.random.default_rng(0), limit=100)
    assert right.evidence["notes"] == []
