"""What the audit stands on is right as it is, and a bug in it ends in exit 1 with the function's name."""

import json
import shutil
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from source_bugs import Patch, planted_copy, read_patches, run_command

from dpassay.audit.apparatus import accounts, checked, laws, tapes
from dpassay.audit.apparatus.checked import apparatus
from dpassay.audit.apparatus.laws import _TABLE, wrong_density, wrong_draws, wrong_sampler, wrong_tails
from dpassay.audit.assaying.assay import assay
from dpassay.audit.lockstep.script import Choice, dictated
from dpassay.audit.row import Effort
from dpassay.reference import Account, account, record
from dpassay.reference.accounting.parts import Part
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.catalogue import CASES
from dpassay.reference.findings import Kind
from dpassay.reference.laws import number
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.bingham import Bingham
from dpassay.reference.laws.categorical import Categorical, exponential, permute_and_flip
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.intervals import Intervals
from dpassay.reference.laws.laplace import Laplace, TiltedLaplace
from dpassay.reference.laws.objective_perturbation import ObjectivePerturbation
from dpassay.reference.neighbours import Pair
from dpassay.reference.tape import Tape

BUGS = Path(__file__).parents[2] / "bugs" / "apparatus"
PATCHES = read_patches(BUGS)
WHEN = {"batch: a block of neighbours": "more"}  # the others are slow
LAWS = [
    Gaussian(np.array([1.0, -2.0]), 0.3),
    Gaussian(3.0, 20.0),
    Laplace(np.array([1.0, -2.0]), 0.3),
    number.BoundedLaplace(1.0, 2.0, -1.0, 4.0),
    number.BoundedLaplace(1.0, 2.0, lower=0.0),
    number.TruncatedLaplace(1.0, 2.0, -1.0, 4.0),
    number.TruncatedLaplace(1.0, 2.0, 0.0),
    number.FoldedLaplace(1.0, 2.0, -1.0, 4.0),
    number.FoldedLaplace(1.0, 2.0, lower=0.0),
    number.FoldedLaplace(1.0, 2.0, upper=2.0),
    *(number.Geometric(4.0, 1.5), number.Geometric(0.0, 1e14), number.FoldedGeometric(4.0, 1e14, lower=0.5)),
    number.TruncatedGeometric(4.0, 1.5, 0.0, 6.0),
    number.TruncatedGeometric(4.0, 1.5, 0, 2**63),
    number.FoldedGeometric(4.0, 1.5, 0.0, 6.0),
    number.FoldedGeometric(4.0, 1.5, lower=0.5),
    number.FoldedGeometric(4.0, 1.5, 0.5, 6.5),
    number.FoldedGeometric(4.0, 1.5, upper=4.0),
    number.DiscreteGaussian(4.0, 2.5),
    Categorical(("a", "b", "c"), np.log([0.2, 0.5, 0.3])),
    exponential([1.0, 2.0, 0.0], 0.7),
    permute_and_flip([1.0, 2.0, 0.0], 0.7),
    Intervals(np.array([0.0, 1.0, 1.5, 4.0]), np.array([1.0, 0.0, -1.0]), 0.8),
    AboveThreshold([0.0, 5.0, 2.0], 3.0, 2.0, 4.0),
    Bingham(np.array([[1.0, 0.5, 0.0], [0.5, -1.0, 0.2], [0.0, 0.2, 0.3]]), 2.0),
    ObjectivePerturbation(lambda w: 2 * w - 1, lambda w: 2 * np.eye(2), 2, 1.5),
    # queries so far from zero that rounding eats the noise
    *(Gaussian(1e18, 8.0), Gaussian([0.0, -1e12], 0.3), Laplace(1e18, 8.0)),
]


@pytest.mark.some(8)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_right_laws_are_not_accused(law):
    assert [*wrong_sampler(law, 0), *wrong_tails(law, 1e-5), *wrong_density(law, 0)] == []
    assert [*laws.wrong_distance(law), *laws.wrong_tilts(law, 0)] == []


def of_a_cube(self, rng):
    corner = rng.random(self.dimension) - 0.5
    return self.minimiser(corner / np.linalg.norm(corner) * rng.gamma(self.dimension, self.noise_scale))


def test_a_wrong_distance_tilt_end_tail_choice_curve_or_comparison_is_found(monkeypatch):
    monkeypatch.setattr(Laplace, "distance", lambda self, other: 0.5 * np.abs(self.query - other.query).sum())
    monkeypatch.setattr(TiltedLaplace, "sample", lambda self, rng: self._law.sample(rng))
    monkeypatch.setattr(number, "_table", lambda scale: (np.arange(-6.0, 7.0), np.full(13, 1 / 13)))
    monkeypatch.setattr(Tape, "reveal", lambda self, label, value: value)
    monkeypatch.setattr(Laplace, "sample", lambda self, rng: np.clip(rng.laplace(size=self.query.shape), -8, 8))
    monkeypatch.setattr(Categorical, "sample", lambda self, rng: int(np.argmax(self.log_probabilities)))
    monkeypatch.setattr(accounts, "curve", lambda part, relation, epsilons, backward: np.full(len(epsilons), 0.1))
    monkeypatch.setattr(number.BoundedLaplace, "sample", lambda self, rng: self.possible(rng.laplace(self.at)))
    monkeypatch.setattr(ObjectivePerturbation, "sample", of_a_cube)
    monkeypatch.setattr(tapes, "clip_rows", np.minimum)
    law, part = Laplace(QUERY, 2.0), Part("gaussian", 2.0)
    found = laws.wrong_distance(law), laws.wrong_tilts(law, 0), wrong_tails(LAWS[19], 1e-5), tapes.wrong_comparison(0)
    more = laws.wrong_wide(law, 0), laws.wrong_choice(LAWS[20], 0), accounts.wrong_curve(part, "replace-one")
    far = wrong_sampler(number.BoundedLaplace(0.0, 1.0, -30.0, 40.0), 0)  # its ends are: at its query all is right
    assert all(list(one) for one in (*found, *more, far, tapes.wrong_clipping(0), wrong_sampler(LAWS[26], 0)))


def test_records_that_are_seldom_drawn_together_are_not_accused():
    """About 8 of 8,000 draws: the level is 1e-8 a seed."""
    for seed in range(100):
        members = np.random.default_rng(seed).random((8000, 2)) < 0.032
        assert not list(tapes._pairs(members.astype(np.float32), 0.032, 0.032**2))


@pytest.mark.some(4)
@pytest.mark.parametrize("law", LAWS[::4], ids=lambda law: type(law).__name__)
def test_a_sampler_that_gives_one_value_too_often_is_found(law, monkeypatch):
    right = type(law).sample
    kept = []

    def sticky(self, rng):
        kept.append(right(self, rng))
        return kept[0] if rng.random() < 0.2 else kept[-1]

    monkeypatch.setattr(type(law), "sample", sticky)
    assert list(wrong_sampler(law, 0))


def test_dictated_values_can_come_out():
    """Whatever a search dictates is a value of the law: whole, bounded, on the grid, of length one; of every law."""
    assert {type(law) for law in LAWS} == set(_TABLE)
    rng = np.random.default_rng(0)
    for law, kind in product(LAWS, ("query", "zero", "opposite", "huge", "norm")):
        value = dictated(Choice(kind, 0.7), law, None, rng)
        assert law.log_density(value) > -np.inf, (law, kind)


def test_a_check_is_made_once_for_a_version_of_the_code(monkeypatch, tmp_path):
    """In this process, and in the next one; of other code everything is checked anew."""
    monkeypatch.setenv("DPASSAY_CACHE", str(tmp_path))
    made = []
    monkeypatch.setattr(tapes, "wrong_batches", lambda *_: iter([made.append(1) or "planted"]))
    drawn = record(lambda tape: tape.poisson("b", 100, 0.1), 0)
    row = drawn, account(drawn), 1e-5
    for code, times in (("one", 1), ("one", 1), ("another", 2)):
        monkeypatch.setattr(checked, "code_of", lambda _, code=code: code)
        checked._known.clear()
        assert [one.detail for one in apparatus(*row)] == [one.detail for one in apparatus(*row)] == ["planted"]
        assert len(made) == times
    checked._known.clear()


def test_an_account_that_leaves_out_a_release_or_amplifies_one_batch_twice_is_too_low():
    def run(tape, normal, other):
        for k in range(20):
            draws = {"batch": tape.batch("b", 100, 40), "sensitivity": 2.0}
            _ = k < normal and tape.gaussian("x", 0.0, std=2.0, **draws)
            _ = k < other and tape.laplace("x", 0.0, scale=2.0, **draws)

    counts = (15, 0), (20, 0), (0, 20), (20, 20)
    short, whole, rest, both = (record(lambda tape, one=one: run(tape, *one), 0) for one in counts)
    apart = Account(account(whole).common + account(rest).common)
    for one, cost in ((whole, account(short)), (both, apart)):
        assert apparatus(one, account(one), 1e-5) == []
        (found,) = apparatus(one, cost, 1e-5)
        assert found.label.startswith("account (reference/accounting/cost.py:") and "second derivation" in found.detail


def test_a_missing_clip_under_laplace_noise_is_accounted():
    far = record(lambda tape: tape.laplace("x", 0.0, scale=1.0, sensitivity=1e5), 0)
    assert apparatus(far, account(far), 1e-5) == []


def judged(patch: Patch, folder: Path) -> tuple[int | None, str]:
    """Exit code of the command on the row that the bug names, and the cause that the report gives."""
    root = planted_copy(folder, patch.bug())
    shutil.copy(BUGS / "programs.py", root)
    own = ["--space", "programs:space", "--epsilon", "30"] if patch.row.startswith("programs:") else []
    report = folder / "report.json"
    effort = ["--examples", "3", "--runs", "100", "--pilot", "50", "--jobs", "1"]
    code, _ = run_command(root, ["audit", patch.row, *own, *effort, "--output", str(report)])
    if not report.exists():
        return code, ""
    return code, json.loads(report.read_text())["rows"][0]["why"]


@pytest.mark.parametrize(
    "patch", [pytest.param(one, marks=getattr(pytest.mark, WHEN.get(one.name, "slow")), id=one.name) for one in PATCHES]
)
def test_a_bug_in_the_apparatus_ends_in_exit_1_with_the_functions_name(patch, tmp_path):
    code, why = judged(patch, tmp_path)
    assert code == 1 and "wrong apparatus at " in why, why


@pytest.mark.more
def test_no_row_of_the_catalogue_is_accused():
    from dpassay.reference.accounting.calibrate import Uncalibrated

    for case in CASES:
        try:
            transcript = case.build().longest_run()[0]
        except Uncalibrated:
            continue
        assert apparatus(transcript, account(transcript, case.claim.relation), case.claim.delta) == [], case.key


# -- a law of one's own must draw what its density says --------------------------------------------------------------
QUERY = np.arange(5.0)


class Narrower(Gaussian):
    """Its density is not that of its scale, and what it draws is right for its scale."""

    def log_density(self, value):
        return Gaussian(self.query, 0.5 * self.std).log_density(value)


class FirstNumberOnly(Gaussian):
    def sample(self, rng):
        return self.query + self.std * rng.standard_normal() * (np.arange(self.query.size) == 0)


def no_turns(self, rng):
    turns = (-1.0) ** np.arange(self.query.size)
    noise = rng.standard_normal(self.query.shape)
    return self.query + self.std * (noise - turns * np.mean(turns * noise))


WRONG = {
    "half_the_noise": lambda self, rng: self.query + 0.5 * self.std * rng.standard_normal(self.query.shape),
    "one_noise_for_all": lambda self, rng: self.query + self.std * rng.standard_normal(),
    "no_turns": no_turns,
    "no_noise": lambda self, rng: self.query.copy(),
    "no_noise_of_queries": lambda self, rng: next((i for i, q in enumerate(self.all_queries()) if q >= 0), None),
}


def drawing(kind, name):
    return type(name, (kind,), {"sample": WRONG[name]})


@pytest.mark.parametrize(
    "law",
    [
        drawing(Gaussian, "half_the_noise")(QUERY, 2.0),
        FirstNumberOnly(QUERY, 2.0),
        drawing(Gaussian, "one_noise_for_all")(QUERY, 2.0),
        drawing(Gaussian, "no_turns")(np.zeros(100), 2.0),
        drawing(Gaussian, "half_the_noise")(1e6, 1.0),
        drawing(Gaussian, "half_the_noise")(np.zeros(1000), 1.0),
        drawing(Laplace, "no_noise")(QUERY, 2.0),
        Narrower(QUERY, 2.0),
        drawing(AboveThreshold, "no_noise_of_queries")([0.1, -1.0, 2.0], 0.0, 1.0, 2.0),
    ],
    ids=lambda law: type(law).__name__,
)
def test_a_law_that_draws_something_else_is_found(law):
    """Seeds 0 to 4; each is found with probability above 0.99."""
    for seed in range(5):
        assert len([*wrong_draws(law, seed)]) == 1


@pytest.mark.parametrize(
    "law",
    [
        *(one for one in LAWS if isinstance(one, Gaussian | Laplace | AboveThreshold)),
        *(Gaussian(np.zeros(0), 1.0), Gaussian(1e9, 1e-3), Gaussian(QUERY, 0.0)),
        drawing(Gaussian, "half_the_noise")(1e6 + 0.5, 1.0),  # too large for its noise, or too long: left alone
        drawing(Gaussian, "half_the_noise")(np.zeros(1001), 1.0),
    ],
    ids=lambda law: type(law).__name__,
)
def test_a_right_law_of_ones_own_is_not_accused(law):
    """Seeds 0 to 4; by chance one mean in 1e8 is as far off."""
    assert [one for seed in range(5) for one in wrong_draws(law, seed)] == []


@pytest.mark.parametrize("law", [Gaussian(0.0, 0.5), Laplace(0.0, 0.5)], ids=lambda law: type(law).__name__)
def test_the_second_moment_of_a_ratio_is_its_integral(law):
    """On it rests how seldom a right law is accused; five seeds do not tell."""
    ratio = lambda x: np.exp(2 * law.log_density(x - 0.3) - law.log_density(x))  # noqa: E731
    integral = sum(quad(ratio, *ends)[0] for ends in ((-20.0, 0.0), (0.0, 0.3), (0.3, 20.0)))
    assert [laws._second_moment(law, np.full(k, 0.3)) for k in (1, 2)] == pytest.approx([integral, integral**2])


def test_an_audit_reports_it_with_the_function_that_draws():
    def run(problem, tape):
        return tape.release("mean", FirstNumberOnly(np.zeros(3) + problem, 9.0), sensitivity=1.0)

    pair, effort = Pair(0.0, 0.1, 0, ""), Effort(runs=20, pilot=50, examples=3)
    (finding,) = assay(run, pair, PrivacyClaim(1.0, 1e-5), effort=effort).findings
    assert finding.kind is Kind.APPARATUS and finding.label.startswith("FirstNumberOnly.sample (")
    assert "test_apparatus.py:" in finding.label
    assert finding.detail == "the values that it draws are not those of its density"
