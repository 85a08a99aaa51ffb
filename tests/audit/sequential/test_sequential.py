import numpy as np
import pytest

from dpassay.audit.blackbox import table
from dpassay.audit.blackbox.sources import Source
from dpassay.audit.blackbox.table import Column
from dpassay.audit.results import Verdict
from dpassay.audit.sequential import black_box, session
from dpassay.audit.sequential.session import Kept
from dpassay.audit.zoo.entries import zoo
from dpassay.reference import guarantee
from dpassay.reference.errors import BadInput


def test_black_box_stops_early_on_gross_bugs_and_runs_on_for_correct_ones():
    """Half-normal noise falls within 4,000 outputs; the correct Gaussian survives 8,000 a side (seed 4)."""
    animals = {entry.name: entry for entry in zoo()}
    broken, correct = animals["gaussian, half-normal noise"], animals["gaussian"]
    results = [
        black_box.audit_sequentially(
            e.mechanism, (e.dataset, e.neighbour), e.claim, np.random.default_rng(4), limit=8000
        )
        for e in (broken, correct)
    ]
    assert results[0].verdict is Verdict.VIOLATED and results[0].runs <= 4000
    assert results[1].verdict is not Verdict.VIOLATED and results[1].runs == 16_000


def test_cells_that_only_later_outputs_have_change_no_score():
    """Thirty cells that one fresh output has: no score sees them, so each way to bet wins the same."""
    rng = np.random.default_rng(5)
    p, q = rng.normal(size=(400, 2)), rng.normal(1, size=(400, 2))
    a, b = Column("a"), Column("b")
    past, late = table.Tables((a, b), p[:200], q[:200]), tuple(Column(f"c{j}") for j in range(30))
    more = np.full((200, 30), np.nan)
    more[-1] = np.arange(30.0)
    found = []
    for fresh in (
        table.Tables((a, b), p[200:], q[200:]),
        table.Tables((*late, a, b), np.hstack([more, p[200:]]), np.hstack([more, q[200:]])),
    ):
        learned = black_box.Round.taught(past, guarantee.gdp(0.5), np.random.default_rng(6))
        dealt = black_box.shares(learned.bettors, 200, {})
        found.append(learned.log_wealth(fresh, np.random.default_rng(6), dealt, past))
    assert found[0] == found[1] and found[0][0] > 0


@pytest.mark.more
def test_a_black_box_whose_outputs_change_shape_is_still_judged():
    """A key that comes late, vectors that grow: the wealth goes on; an answer that tells all is caught."""

    def mechanism(telling):
        def answer(side, rng):
            value, late = rng.normal(telling * side), rng.random()
            return {"x": value, "late": [1.0] * rng.poisson(2)} if late < 0.004 else {"x": value}

        return answer

    broken, correct = (
        black_box.audit_sequentially(
            mechanism(telling), (0, 1), guarantee.gdp(1.0), np.random.default_rng(7), limit=1200
        )
        for telling in (3.0, 1.0)
    )
    assert broken.verdict is Verdict.VIOLATED and broken.runs < 2400
    assert correct.verdict is not Verdict.VIOLATED and correct.runs == 2400


def test_a_mechanism_that_gives_too_few_outputs_is_refused():
    class Short:
        def __call__(self, side, rng):
            return 0.0

        def many(self, side, rng, size):
            return np.zeros(size - 1)

    with pytest.raises(BadInput, match="must give 250 outputs"):
        black_box.audit_sequentially(Short(), (0, 1), guarantee.gdp(1.0), np.random.default_rng(0), limit=500)


# Sessions that are interrupted: what is kept.
class Interrupts:
    """Stops the session the second time that a block is over."""

    def __init__(self, after):
        self.left = after

    def __call__(self, runs, log_wealth):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def test_a_black_box_that_is_interrupted_keeps_its_finished_rounds(tmp_path):
    claim, path = guarantee.gdp(1.0), tmp_path / "c"
    source = Source("normal", lambda side, rng: rng.normal(side), (0, 1))
    with pytest.raises(KeyboardInterrupt):
        session.black_box(Kept(path, "normal", claim.name, 0), source, claim, 2000, 0.95, Interrupts(2))
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
