"""What is examined of a library: the redirection, on a small library of our own; page and programs; exact costs.

The programs need no dpassay, and some of them draw thousands of models. What an environment lacks is skipped, and said:

    python -m pytest tests/audit/libraries/test_examined.py -m slow -rs
"""

import math
import random
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, stats
from typer.testing import CliRunner

from dpassay.audit.cli import app
from dpassay.audit.libraries import library
from dpassay.audit.libraries.data import ABSENT, anchored, rowset, two_or_more, with_gaps
from dpassay.audit.libraries.dp_accounting import lines
from dpassay.audit.libraries.exact import Line, delta, largest_loss, renyi_rho
from dpassay.audit.libraries.model import LOSS, Model, current_tape, on_tape, patch
from dpassay.audit.libraries.page import SEEDLESS, block, not_on_page, section
from dpassay.audit.libraries.rejected_bingham import SampledBingham
from dpassay.audit.lockstep.run import lockstep
from dpassay.audit.search.witness import Searched
from dpassay.reference import BadInput, Pair
from dpassay.reference.findings import Kind
from dpassay.reference.laws.categorical import Categorical
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.space import Rows, Space

PAGE = Path(__file__).resolve().parents[3] / "docs" / "libraries.md"


# -- worlds stay apart, and without a run nothing changes -------------------------------------------------------------
class Noisy:
    """A mechanism of somebody's library."""

    def __init__(self, epsilon, sensitivity):
        self.epsilon, self.sensitivity = epsilon, sensitivity

    def randomise(self, value):
        return value + random.gauss(0, 1)


def _answer(tape, mech, value):
    return tape.laplace("sum", value, scale=mech.sensitivity / mech.epsilon, sensitivity=mech.sensitivity)


@cache
def patched():
    patch(Noisy, "randomise", _answer)


def run_of(work):
    return on_tape(patched, work, "work")


def test_worlds_have_their_own_tape_no_run_has_none_and_what_is_seen_beside_the_releases_is_a_finding():
    pair = Pair(np.array([0.0, 1.0]), np.array([0.0, 0.0]), 1)
    found = lockstep(run_of(lambda data: {"total": Noisy(1.0, 1.0).randomise(float(np.sum(data)))}), pair, [0])
    assert found.complete and not found.findings and found.movements["sum"].moved == 1.0
    found = lockstep(run_of(lambda data: {"count": len(data), "largest": float(np.max(data))}), pair, [0])
    assert [(one.kind, one.label) for one in found.findings] == [(Kind.REVEALED_VALUE, "largest")]
    assert current_tape() is None
    random.seed(1)
    assert Noisy(1.0, 1.0).randomise(5.0) == 5.0 + (random.seed(1), random.gauss(0, 1))[1]


def _model(epsilon, sensitivity, epsilon_used):
    space = {"replace-one": Space(Rows(1, None, (0.0, 1.0)), {"n": (1, 2)})}
    work = lambda data: {"total": Noisy(epsilon_used, sensitivity).randomise(float(np.sum(data)))}  # noqa: E731
    return Model("sum", run_of(work), epsilon, space)


def test_a_pure_claim_is_held_to_the_loss_of_values_that_are_chosen_and_its_sensitivity_even_where_that_is_small():
    good = _model(1.0, 1.0, 1.0).search("replace-one", examples=60)
    assert not good.findings and good.shares[LOSS] == pytest.approx(1.0)
    loud = _model(1.0, 1.0, 1.3).search("replace-one", examples=60)
    assert [(one.kind, one.label) for one in loud.findings] == [(Kind.VIOLATED, LOSS)]
    assert loud.shares[LOSS] == pytest.approx(1.3) and "1.3" in loud.findings[0].detail
    found = _model(1.0, 0.5, 0.4).search("replace-one", examples=60)
    assert [one.kind for one in found.findings] == [Kind.SENSITIVITY_EXCEEDED]


def _examined(outcomes=(), lines=(), known=()):
    mine = library.Library("mine", "")
    return library.Examined(mine, "1.0", list(outcomes), list(lines), list(known))


def test_what_no_finding_accounts_for_is_news():
    loud = _model(1.0, 1.0, 1.3)
    seen = loud.search("replace-one", examples=40)
    outcomes = [library.outcome_of(loud, relation, seen, 0) for relation in library.RELATIONS]
    assert (outcomes[0].added, outcomes[0].realised, outcomes[0].by) == (
        *(pytest.approx(1.3), pytest.approx(1.3)), "loss of one outcome, exact"
    )  # fmt: skip
    found = _examined(outcomes, [Line("m", "a and b", "epsilon", 1.0, 1.1), Line("n", "", "epsilon", 1.0, 1.0, 1e-9)])
    assert [line.partition(":")[0] for line in found.unaccounted()] == ["sum", "m", "n"]
    known = library.Known("why", ("sum", "m"), "", "", "", "", lambda seen: True)
    told = _examined(outcomes, [Line("m", "", "epsilon", 1.0, 1.1)], [(known, "1", True)])
    share = f"{outcomes[0].share:.2f}"
    assert told.unaccounted() == []
    assert f"| sum | violated | violated | {share} / {share} | neither |" in section(told)
    assert "| sum | add-remove | 1 | 1.3 | 1.3 | loss of one outcome, exact |" in section(told)
    assert not_on_page(told, section(told)) == []
    kept = _examined([*outcomes[:1], library.Outcome(loud, "add-remove", Searched())])
    assert not_on_page(told, section(kept)) == ["sum, add-remove: not on the page: violated"]
    assert not_on_page(kept, section(told)) == [] and len(not_on_page(told, "")) == 2
    silent = _examined(known=[(known, "nothing", False)])
    assert silent.unaccounted() == ["why: its program does not show it: nothing"]
    assert kept.unaccounted() == []
    assert [relation for relation, one in kept.models["sum"].items() if not one.failed] == ["add-remove"]


def test_a_library_that_is_missing_is_one_line_and_each_has_its_place():
    done = CliRunner().invoke(app, ["libraries", "opendp"])
    if library.LIBRARIES["opendp"].version() is None:
        assert isinstance(done.exception, BadInput)
        assert str(done.exception).endswith('is not installed: pip install ".[opendp]" in a clone of dpassay')
    listed, page = CliRunner().invoke(app, ["libraries"]), PAGE.read_text(encoding="utf-8")
    assert listed.exit_code == 0
    for name in library.LIBRARIES:
        assert name in listed.output and f"## {name} " in block(name).read(page, str(PAGE))
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


# -- the page, and its programs ----------------------------------------------------------------------------------------
KNOWN = [(name, known) for name, one in library.LIBRARIES.items() for known in one.known]


def told(name, known):
    """The program and what it prints, as the page has them."""
    section = block(name).read(PAGE.read_text(encoding="utf-8"), str(PAGE))
    part = section.split(f"#### {known.id}\n")[1].split("\n#### ")[0]
    (program,) = re.findall(r"```python\n(.*?)```", part, re.S)
    (printed,) = re.findall(r"```text\n(.*?)```", part, re.S)
    return program, printed, SEEDLESS.strip() in part.replace("\n", " ")


@pytest.mark.parametrize(("name", "known"), KNOWN, ids=[known.id for _, known in KNOWN])
def test_the_page_has_the_program_and_numbers_that_show_the_finding(name, known):
    program, printed, seedless = told(name, known)
    assert program.strip() == known.program.strip()
    assert "dpassay" not in program
    assert known.shows(library.numbers(printed)) and seedless == known.varies


@pytest.mark.slow
@pytest.mark.parametrize(("name", "known"), KNOWN, ids=[known.id for _, known in KNOWN])
def test_the_program_runs_and_prints_what_the_page_says(name, known):
    """rtol 1e-6: of solvers that stop by a tolerance; what is drawn from a seed is the same on one platform."""
    if library.LIBRARIES[name].version() is None:
        pytest.skip(f"{name} is not installed")
    printed, shown = library.run_program(known)
    assert shown, printed
    if not known.varies:
        assert library.numbers(printed) == pytest.approx(library.numbers(told(name, known)[1]), rel=1e-6, abs=1e-9)


def test_a_program_that_fails_or_prints_something_else_shows_nothing():
    def known(program):
        return library.Known("id", (), "", "", program, "", lambda seen: seen[0] > 1)

    assert library.run_program(known("print([2, True])")) == ("[2, True]", True)
    assert library.run_program(known("print(1)"))[1] is False
    assert library.run_program(known("print('no number')"))[1] is False
    assert library.run_program(known("raise ValueError('broken')")) == ("ValueError: broken", False)
    assert library.run_program(known("import dpassay.no_such_module"))[1] is False


# -- exact costs on a pair --------------------------------------------------------------------------------------------
def _at(law, value):
    return law(np.asarray(float(value)), 2.0)


def test_costs_on_a_pair_are_those_in_closed_form_and_kept_up_to_their_error():
    """Laplace: gap over scale; a Gaussian: its delta; two coins: the Renyi divergence by hand."""
    assert largest_loss(_at(Laplace, 0), _at(Laplace, 1), np.linspace(-5, 5, 101)) == pytest.approx(0.5)
    grid = np.arange(-30, 30, 0.01)
    exact = stats.norm.cdf(0.25 - 2 * 0.3) - math.exp(0.3) * stats.norm.cdf(-0.25 - 2 * 0.3)
    assert delta(_at(Gaussian, 0), _at(Gaussian, 1), 0.3, grid, 0.01) == pytest.approx(exact, rel=1e-4)
    one, other = (Categorical((0, 1), np.log(p)) for p in ([0.25, 0.75], [0.5, 0.5]))
    by_hand = math.log(0.25**2 / 0.5 + 0.75**2 / 0.5) / 2
    assert renyi_rho(one, other, [0, 1], [2.0]) == pytest.approx(by_hand)
    assert largest_loss(one, Categorical((0,), np.zeros(1)), [1]) == math.inf
    assert Line("m", "", "epsilon", 1.0, 1.0).kept and not Line("m", "", "epsilon", 1.0, 1.001).kept
    assert Line("m", "", "delta", 0.1, 0.1001, error=0.001).kept
    assert Line("m", "", "epsilon", 1.0, 1.0, 0.01).follows and not Line("m", "", "epsilon", 1.0, 1.0, 1e-6).follows


@pytest.mark.parametrize("d", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_the_sampled_bingham_law_integrates_to_one_and_its_draws_follow_it(d):
    law = SampledBingham(np.diag([1.0, -0.4, 0.3][:d]), 1.5)

    def mean(of):
        """By quadrature over the circle, or the sphere."""

        def inside(angle, height=0.0):
            radius = math.sqrt(1 - height**2)
            point = np.array([radius * math.cos(angle), radius * math.sin(angle), height][:d])
            return of(point) * math.exp(law.log_density(point / np.linalg.norm(point)))

        if d == 2:
            return integrate.quad(inside, 0, 2 * math.pi)[0]
        return integrate.dblquad(inside, -1, 1, 0, 2 * math.pi, epsabs=1e-5, epsrel=1e-5)[0]

    assert mean(lambda point: 1.0) == pytest.approx(1.0, abs=1e-4)
    rng = np.random.default_rng(3)
    squares = np.array([law.sample(rng)[0] ** 2 for _ in range(300)])
    assert abs(squares.mean() - mean(lambda point: point[0] ** 2)) < 4 * squares.std() / math.sqrt(300)


def test_from_three_dimensions_on_an_added_record_costs_more_than_half_of_epsilon():
    """What OpenDP's privacy map says is epsilon / 2 for an added record; in two dimensions it holds."""
    ratios = []
    for d in (2, 3, 4):
        base, added = np.diag(np.eye(d)[1]), np.diag(np.eye(d)[0])
        one, other = SampledBingham(base + added, 0.75), SampledBingham(base, 0.75)
        ratios.append(largest_loss(one, other, np.eye(d)) / 1.5)
    assert ratios[0] < 1 < ratios[1] < ratios[2]
    with pytest.raises(BadInput, match="dimension"):
        SampledBingham(np.eye(5), 1.0)


@pytest.mark.slow  # a second; `dpassay libraries dp-accounting` says the same
def test_accountants_of_dp_accounting_prove_what_they_say_but_for_the_known_one():
    found = lines()
    failed = {line.name for line in found if not line.kept}
    assert failed == {name for known in library.LIBRARIES["dp-accounting"].known for name in known.models}
    assert {line.name.split(",")[0] for line in found} == {"PLD", "RDP"} and len(found) == 6


# OpenDP's measurements against their privacy maps, where it is installed: pip install "dpassay[audit,opendp]".
def test_maps_hold_but_for_the_known_findings():
    """Draws cannot be seeded: each of the tests of laws fails by chance with probability 1e-4."""
    pytest.importorskip("opendp", reason="opendp is not installed")
    found = import_module("dpassay.audit.libraries.opendp").lines()
    named = {name for one in library.LIBRARIES["opendp"].known for name in one.models}
    assert {line.name for line in found if not line.kept} <= named
    assert {"make_laplace_threshold, int", "make_gaussian_threshold, int"} <= {
        line.name for line in found if not line.kept
    }
    assert all(line.follows for line in found) and len(found) >= 16
