"""Sessions that are interrupted: what is kept, and that going on ends with the same numbers as running through."""

from __future__ import annotations

import numpy as np
import pytest

from dpassay.audit.blackbox.sources import Source
from dpassay.audit.sequential import session
from dpassay.audit.sequential.session import Kept
from dpassay.reference import guarantee
from dpassay.reference.catalogue import find
from dpassay.reference.errors import BadInput

CASE = find("output_perturbation/algorithm1@repaired")[0]
CLAIM = guarantee.approx_dp(0.9, CASE.claim.delta).name


def whole(path, limit):
    kept = Kept(path, CASE.key, CLAIM, 0)
    return session.likelihood(kept, CASE, 0.9, limit, 0.999999)


class Interrupts:
    """Stops the session the second time that a block is over."""

    def __init__(self, after):
        self.left = after

    def __call__(self, runs, log_wealth):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.more
@pytest.mark.some(1)
@pytest.mark.parametrize("every", [0.0, 1e9])
def test_an_interrupted_session_ends_with_the_same_numbers(tmp_path, monkeypatch, every):
    """Interrupted after the second and again after the third block of 64, whether states were kept before or not."""
    monkeypatch.setattr(session, "KEPT_EVERY", every)
    path, limit = tmp_path / "stopped", 300
    through = whole(tmp_path / "through", limit)
    for blocks, runs in ((2, 128), (1, 192)):
        with pytest.raises(KeyboardInterrupt):
            session.likelihood(Kept(path, CASE.key, CLAIM, 0), CASE, 0.9, limit, 0.999999, Interrupts(blocks))
        found = session.load(path)
        assert found.so_far().runs == runs and found.runs == 0
        joint = session.verdict([found])
        assert joint.runs == runs and joint.evidence["log_wealths"] == [found.so_far().log_wealth]
    again = whole(path, limit)
    assert (again.p_value, again.runs, again.evidence) == (through.p_value, through.runs, through.evidence)
    assert session.load(path) == session.load(tmp_path / "through")


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
