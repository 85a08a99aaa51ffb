"""The reference's own algorithms on data of which only bounds are known: their declared sensitivities, certified."""

import pytest

from dpassay.audit.certify import rules  # noqa: F401 - registers them
from dpassay.audit.certify.draws import CertifyTape, Draws, Ledger
from dpassay.audit.certify.patched import patched
from dpassay.audit.certify.value import Open, rows
from dpassay.reference import find


def abstract(problem):
    """The problem with private data of the same shape; its constructor, which looks at the data, is passed over."""
    found = object.__new__(type(problem))
    found.__dict__.update(problem.__dict__)
    if "features" in problem.__dict__:
        found.__dict__["features"] = rows(*problem.features.shape, problem.feature_bound)
        found.__dict__["labels"] = rows(len(problem.labels), None, low=-1.0, high=1.0)
    else:
        found.__dict__["rows"] = rows(*problem.rows.shape, 1.0)
    return found


def shares(key):
    """By label the certified movement over the declared sensitivity."""
    (case,) = find(key)
    made = case.build()
    ledger = Ledger(made.pair.here.n, seed=0, done=True)  # one path: plain numbers of released values are let through
    tape = CertifyTape(ledger)
    with patched(Draws(ledger)):
        made.run(abstract(made.pair.here), made.schedule, tape)
    found = {}
    for one in ledger.releases:
        found[one.place] = max(found.get(one.place, 0.0), one.moves / one.declared)
    return found


@pytest.mark.parametrize("data", ["full-batch", "digits", "fixed-size"])
def test_dp_sgd_moves_by_exactly_what_it_declares(data):
    assert shares(f"baselines/dp_sgd:{data}@baseline") == {"gradient": pytest.approx(1.0)}


@pytest.mark.parametrize("key", ["opt_b@repaired", "dp_gd@repaired", "dp_gd@printed"])
def test_gradients_of_second_order_erm_are_within_what_they_declare(key):
    """No constant of the loss is taken for granted: the slope's range follows from that of the margins."""
    found = shares(f"second_order_erm/{key}")
    assert found and all(0.9 < one <= 1 + 1e-9 for one in found.values())


@pytest.mark.parametrize("key", ["opt", "opt_ls", "opt_b"])
def test_the_printed_number_of_steps_is_private(key):
    """Equation (6) computes it from f(w_0) before noise: the worst defect of the paper, named without a neighbour."""
    with pytest.raises(Open, match="plain number") as raised:
        shares(f"second_order_erm/{key}@printed")
    assert any("# eq. (6)" in str(one.statement) for one in raised.traceback)
