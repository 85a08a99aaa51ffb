"""Black-box audits that grow: bets on events, shares of the stake, the first outputs, budgets; and their sessions."""

import numpy as np
import pytest

from dpassay.audit.blackbox import table
from dpassay.audit.blackbox.learner import Candidate
from dpassay.audit.blackbox.sources import Source
from dpassay.audit.blackbox.table import Column
from dpassay.audit.evidence.events import Event
from dpassay.audit.results import Verdict
from dpassay.audit.sequential import black_box, session
from dpassay.audit.sequential.session import Kept
from dpassay.reference.errors import BadInput
from dpassay.reference.guarantee import approx_dp, gdp
from tests.zoo.entries import laplace, noisy, normal


def audited(mechanism, limit, seed=0, claim=approx_dp(1.0), data=(0, 1)):  # noqa: B008
    return black_box.audit_sequentially(mechanism, data, claim, np.random.default_rng(seed), limit=limit)


def _bet(rate_p, rate_q, epsilon=1.0, delta=0.0, size=200, name="a"):
    scores = [np.arange(size) < round(rate * size) for rate in (rate_p, rate_q)]
    event = Event(0.5, at=False, below=False, epsilon=epsilon, delta=delta, promise=0.0)
    return black_box.Bettor.taught(Candidate(name, np.asarray, event), *(side.astype(float) for side in scores))


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.0), (0.3, 1e-2), (-1.0, 0.6), (4.0, 1e-5)])
@pytest.mark.parametrize("learned", [(0.1, 0.9), (0.3, 0.3), (0.0, 1.0)])
def test_a_bet_on_an_event_expects_nothing_where_the_claim_is_just_true(epsilon, delta, learned):
    """Exactly, over the four outcomes of a pair with q = e^epsilon p + delta; and it grows where q is larger."""
    bet = _bet(*learned, epsilon, delta)
    p = 0.4 / max(1.0, np.exp(epsilon))

    def expected(q):
        wealth = [[bet.log_wealth(np.array([in_p]), np.array([in_q])) for in_q in (0.0, 1.0)] for in_p in (0.0, 1.0)]
        return [1 - p, p] @ np.exp(wealth) @ [1 - q, q]

    just_true = np.exp(epsilon) * p + delta
    assert expected(just_true) == pytest.approx(1.0, abs=1e-12)
    assert expected(min(1.0, just_true + 0.2)) > 1


def test_the_stake_follows_what_was_seen_and_what_won_and_is_all_dealt():
    strong, weak, none = _bet(0.1, 0.8), _bet(0.1, 0.4), _bet(0.3, 0.3)
    assert strong.growth > weak.growth > none.growth == 0
    assert strong.stakes[-1] > weak.stakes[-1] > none.stakes[-1] > 0
    some = [_bet(0.3, 0.3, name=name) for name in "ab"]
    even, later = black_box.shares(some, 100, {}), black_box.shares(some, 100, {"b": 10.0})
    assert sum(even.values()) == pytest.approx(1) == sum(later.values())
    assert even["a"] == pytest.approx(even["b"]) and later["b"] > 0.8
    assert min(later.values()) > 0.1 * black_box.DEALT * min(even.values())


def test_the_first_outputs_teach_each_other():
    """Half of the noise, 250 outputs a side, nothing else drawn: refuted with seeds 0 to 2; the right noise never."""
    for scale, refuted in ((0.4, True), (1.0, False)):
        found = [audited(noisy(laplace(scale)), 250, seed) for seed in range(3)]
        assert [one.verdict is Verdict.VIOLATED for one in found] == [refuted] * 3
        assert not refuted or (found[0].runs == 500 and "column" in found[0].evidence)


def test_a_gross_bug_is_seen_early_and_correct_ones_run_on_to_the_limit():
    """Half-normal noise falls within 4,000 outputs; the correct Gaussian survives 2,000 a side (seed 4)."""
    half = noisy(lambda rng, shape: np.abs(rng.normal(size=shape)))
    broken, again, correct = (audited(one, 2000, 4, gdp(1.0)) for one in (half, half, noisy(normal(1.0))))
    assert broken.verdict is Verdict.VIOLATED and broken.runs < 4000 and broken.evidence == again.evidence
    assert correct.verdict is not Verdict.VIOLATED and correct.runs == 4000 and correct.evidence["notes"] == []


def test_cells_that_only_later_outputs_have_change_no_score():
    """Thirty cells that one fresh output has: no score sees them, so each way to bet wins the same."""
    rng = np.random.default_rng(5)
    p, q = rng.normal(size=(400, 2)), rng.normal(1, size=(400, 2))
    columns, late = (Column("a"), Column("b")), tuple(Column(f"c{j}") for j in range(30))
    past, more = table.Tables(columns, p[:200], q[:200]), np.full((200, 30), np.nan)
    more[-1] = np.arange(30.0)
    found = []
    for fresh in (
        table.Tables(columns, p[200:], q[200:]),
        table.Tables((*late, *columns), np.hstack([more, p[200:]]), np.hstack([more, q[200:]])),
    ):
        learned = black_box.Round.taught(past, gdp(0.5), np.random.default_rng(6))
        dealt = black_box.shares(learned.bettors, 200, {})
        found.append(learned.log_wealth(fresh, np.random.default_rng(6), dealt, past))
    assert found[0] == found[1] and found[0][0] > 0


def test_a_mechanism_that_gives_too_few_outputs_is_refused_and_one_that_says_nothing_is_said_to():
    found = audited(lambda side, rng: None, 100)
    assert found.verdict is Verdict.INCONCLUSIVE and "gave nothing to judge" in found.evidence["notes"][0]

    class Short:
        def many(self, side, rng, size):
            return np.zeros(size - 1)

    with pytest.raises(BadInput, match="must give 250 outputs"):
        audited(Short(), 500)


# Sessions that are interrupted: what is kept.
def test_a_black_box_that_is_interrupted_keeps_its_finished_rounds(tmp_path):
    claim, path = gdp(1.0), tmp_path / "c"
    source = Source("normal", lambda side, rng: rng.normal(side), (0, 1))
    left = iter((False, True))

    def interrupts(runs, log_wealth):  # the second time that a round is over
        if next(left):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        session.black_box(Kept(path, "normal", claim.name, 0), source, claim, 2000, 0.95, interrupts)
    found = session.load(path)
    assert found.runs == 1000 and found.sessions == 1 and np.isfinite(found.log_wealth)
    session.black_box(Kept(path, "normal", claim.name, 0), source, claim, 500, 0.95)
    assert session.load(path).sessions == 2 and session.load(path).runs == 2000


def test_two_processes_do_not_continue_one_checkpoint(tmp_path):
    one, two = (Kept(tmp_path / "c", "a", "c", 0) for _ in range(2))
    one.put(session.Session("a", "c", 0, sessions=1))
    with pytest.raises(BadInput, match="another process"):
        two.put(session.Session("a", "c", 0, sessions=1, runs=5))
    assert session.load(tmp_path / "c").runs == 0
    with pytest.raises(BadInput, match="seed"):
        Kept(tmp_path / "c", "a", "c", 1)
