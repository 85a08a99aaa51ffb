"""The redirection by itself, on a small library of our own: worlds stay apart, and without a run nothing changes."""

import random

import numpy as np
import pytest
from typer.testing import CliRunner

from dpassay.audit.cli import app
from dpassay.audit.libraries.data import ABSENT, anchored, rowset, two_or_more, with_gaps
from dpassay.audit.libraries.exact import Line
from dpassay.audit.libraries.library import LIBRARIES, RELATIONS, Examined, Known, Library, Outcome, realised
from dpassay.audit.libraries.model import LOSS, Model
from dpassay.audit.libraries.page import not_on_page, section
from dpassay.audit.libraries.redirect import Patch, Patches, current_tape, on_tape, on_the_tape
from dpassay.audit.lockstep.run import lockstep
from dpassay.audit.search.witness import Searched
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Kind
from dpassay.reference.neighbours import Pair
from dpassay.reference.space import Rows, Space


class Noisy:
    """A mechanism of somebody's library."""

    def __init__(self, epsilon, sensitivity):
        self.epsilon, self.sensitivity = epsilon, sensitivity

    def randomise(self, value):
        return value + random.gauss(0, 1)


def _answer(tape, mech, value):
    return tape.laplace("sum", value, scale=mech.sensitivity / mech.epsilon, sensitivity=mech.sensitivity)


@pytest.fixture
def patches():
    original = Noisy.randomise
    yield Patches(lambda: [Patch(Noisy, "randomise", on_the_tape(_answer))])
    Noisy.randomise = original


def run_of(patches, work):
    return on_tape(patches, work, "work")


def test_worlds_have_their_own_tape_and_no_run_has_none(patches):
    run = run_of(patches, lambda data: {"total": Noisy(1.0, 1.0).randomise(float(np.sum(data)))})
    found = lockstep(run, Pair(np.array([0.0, 1.0]), np.array([0.0, 0.0]), 1), [0])
    assert found.complete and not found.findings and found.movements["sum"].moved == 1.0
    assert current_tape() is None
    random.seed(1)
    assert Noisy(1.0, 1.0).randomise(5.0) == 5.0 + (random.seed(1), random.gauss(0, 1))[1]


def test_what_is_seen_beside_the_releases_is_a_finding(patches):
    run = run_of(patches, lambda data: {"count": len(data), "largest": float(np.max(data))})
    found = lockstep(run, Pair(np.array([0.0, 1.0]), np.array([0.0, 0.0]), 1), [0])
    assert [(one.kind, one.label) for one in found.findings] == [(Kind.REVEALED_VALUE, "largest")]


def _model(patches, epsilon, sensitivity, epsilon_used):
    space = {"replace-one": Space(Rows(1, None, (0.0, 1.0)), {"n": (1, 2)})}
    work = lambda data: {"total": Noisy(epsilon_used, sensitivity).randomise(float(np.sum(data)))}  # noqa: E731
    return Model("sum", run_of(patches, work), epsilon, space)


def test_a_pure_claim_is_held_to_the_loss_of_values_that_are_chosen(patches):
    good = _model(patches, 1.0, 1.0, 1.0).search("replace-one", examples=60)
    assert not good.findings and good.shares[LOSS] == pytest.approx(1.0)
    loud = _model(patches, 1.0, 1.0, 1.3).search("replace-one", examples=60)
    assert [(one.kind, one.label) for one in loud.findings] == [(Kind.VIOLATED, LOSS)]
    assert loud.shares[LOSS] == pytest.approx(1.3) and "1.3" in loud.findings[0].detail


def test_a_wrong_sensitivity_is_found_even_where_the_loss_stays_small(patches):
    found = _model(patches, 1.0, 0.5, 0.4).search("replace-one", examples=60)
    assert [one.kind for one in found.findings] == [Kind.SENSITIVITY_EXCEEDED]


def _examined(outcomes=(), lines=(), known=()):
    library = Library("mine", "")
    return Examined(library, "1.0", list(outcomes), list(lines), list(known))


def test_what_no_finding_accounts_for_is_news(patches):
    loud = _model(patches, 1.0, 1.0, 1.3)
    seen = loud.search("replace-one", examples=40)
    numbers = realised(loud, "replace-one", seen, 0)
    assert (numbers.claimed, numbers.added, numbers.by) == (1.0, pytest.approx(1.3), "loss of one outcome, exact")
    assert numbers.epsilon == pytest.approx(1.3)
    outcomes = [Outcome(loud, relation, seen, numbers) for relation in RELATIONS]
    found = _examined(outcomes, [Line("m", "a and b", "epsilon", 1.0, 1.1), Line("n", "", "epsilon", 1.0, 1.0, 1e-9)])
    assert [line.partition(":")[0] for line in found.unaccounted()] == ["sum", "m", "n"]
    known = Known("why", ("sum", "m"), "", "", "", "", lambda seen: True)
    told = _examined(outcomes, [Line("m", "", "epsilon", 1.0, 1.1)], [(known, "1", True)])
    share = f"{outcomes[0].share:.2f}"
    assert told.unaccounted() == []
    assert f"| sum | violated | violated | {share} / {share} | neither |" in section(told)
    assert "| sum | add-remove | 1 | 1.3 | 1.3 | loss of one outcome, exact |" in section(told)
    assert not_on_page(told, section(told)) == []
    kept = _examined([*outcomes[:1], Outcome(loud, "add-remove", Searched(), numbers)])
    assert not_on_page(told, section(kept)) == ["sum, add-remove: not on the page: violated"]
    assert not_on_page(kept, section(told)) == [] and len(not_on_page(told, "")) == 2
    silent = _examined(known=[(known, "nothing", False)])
    assert silent.unaccounted() == ["why: its program does not show it: nothing"]
    assert kept.unaccounted() == []
    assert [relation for relation, one in kept.models["sum"].items() if not one.failed] == ["add-remove"]


def test_a_library_that_is_missing_is_one_line():
    done = CliRunner().invoke(app, ["libraries", "opendp"])
    if LIBRARIES["opendp"].version() is None:
        assert isinstance(done.exception, BadInput)
        assert str(done.exception).endswith('is not installed: pip install ".[opendp]" in a clone of dpassay')
    listed = CliRunner().invoke(app, ["libraries"])
    assert listed.exit_code == 0 and all(name in listed.output for name in LIBRARIES)
    with pytest.raises(BadInput, match="must be one of"):
        CliRunner().invoke(app, ["libraries", "numpy"], catch_exceptions=False)


def test_absent_records_are_left_out_and_data_that_models_refuse_are_no_example():
    """Rows in the unit box become data within bounds; one record is too few for a model, none for a tool."""
    sizes, gone = {"bounds": 4}, [ABSENT, ABSENT]
    found = rowset(np.array([[0.0, 1.0], gone, [0.5, 0.0]]), sizes)
    assert found.X.tolist() == [[4.0], [4.5]] and found.y.tolist() == [1.0, 0.0]
    assert np.isnan(with_gaps(np.array([[0.5, 0.0]]), sizes).X).all()
    assert len(anchored(np.array([[0.0, 1.0]]), sizes).X) == 5
    with pytest.raises(BadInput, match="rows = 1"):
        two_or_more(np.array([[0.0, 1.0], gone]), sizes)
    with pytest.raises(BadInput, match="rows = 0"):
        rowset(np.array([gone]), sizes)
