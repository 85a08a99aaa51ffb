import json

import numpy as np
import pytest
from scipy.stats import binomtest
from typer.testing import CliRunner

from dpassay.audit.blackbox import table
from dpassay.audit.blackbox.detect import audit_mechanism, audit_outputs, epsilon_of_outputs
from dpassay.audit.blackbox.learner import lowest_bit
from dpassay.audit.cli import app
from dpassay.audit.inputs import stored
from dpassay.audit.results import Verdict
from dpassay.audit.zoo import laws as zoo_laws
from dpassay.audit.zoo.entries import zoo
from dpassay.reference.errors import BadInput
from dpassay.reference.guarantee import approx_dp

EASY = {  # samples a side
    "gaussian, noise 10 % too small": 20_000,
    "gaussian, missing sqrt 2": 20_000,
    "rare branch, probability 0.01": 5_000,
    "noisy max releases the value": 5_000,
    "sparse vector 4": 5_000,
    "one sample for all steps": 5_000,
    "shuffling accounted as poisson": 5_000,
    "laplace, naive double": 20_000,
    "report with a record count": 5_000,
}


def _judge(entry, samples, seed):
    rng = np.random.default_rng(seed)
    return audit_mechanism(
        entry.mechanism, entry.dataset, entry.neighbour, entry.claim, samples, rng, low_bits=entry.low_bits
    )


@pytest.mark.some(5)
@pytest.mark.parametrize("name", EASY)
def test_bugs_are_found_at_twenty_thousand_samples_or_fewer(name):
    """One seed; the quietest (missing sqrt 2) is found with about 19 of 20 seeds."""
    entry = next(e for e in zoo() if e.name == name)
    assert _judge(entry, EASY[name], 2).p_value < 0.05


CORRECT = 32  # animals without a bug: their number alone, since making the zoo takes seconds


@pytest.mark.some(4)
@pytest.mark.parametrize(  # three of four are slow: what alarms falsely does so on many of them
    "number", [pytest.param(k, marks=pytest.mark.slow) if k % 4 else k for k in range(CORRECT)]
)
def test_correct_mechanisms_raise_no_alarm(number):
    """1,000 samples of one seed at 5 %; `benchmarks/zoo.py` does 63 seeds."""
    entry = [e for e in zoo() if not e.broken][number]
    assert _judge(entry, 1000, 0).verdict is not Verdict.VIOLATED


def test_sparse_vector_probabilities_agree_with_sampling():
    for number, cutoff in ((1, 2), (2, 2), (4, 1), (6, 1)):
        variant = zoo_laws.lyu_variant(number, 1.0, cutoff)
        answers = [0.5, -1.0, 2.0]
        exact = zoo_laws.pattern_probabilities(variant, answers)
        assert sum(exact.values()) == pytest.approx(1.0, abs=1e-6)
        drawn = variant.many(answers, np.random.default_rng(number), 20_000)
        for pattern, probability in exact.items():
            row = np.array([*pattern, *[-1] * (3 - len(pattern))])
            count = int((drawn == row).all(axis=1).sum())
            assert binomtest(count, 20_000, probability).pvalue > 1e-4


def test_truths_of_closed_form():
    assert zoo_laws.exact_epsilon(zoo_laws.lyu_variant(5, 1.0, 1), [0.0, 1.0], [1.0, 0.0]) == np.inf
    assert zoo_laws.exact_epsilon(zoo_laws.lyu_variant(1, 1.0, 1), [0.0] * 4, [1.0] * 4) <= 1.0 + 1e-6
    # two candidates moving against each other: difference of two Laplace variables, tail in closed form
    b, gap = 2.0, 1.0
    p = 0.5 * np.exp(-gap / b) * (1 + gap / (2 * b))
    exact = np.log((1 - p) / p)
    assert zoo_laws.noisy_max_epsilon(b, np.array([1.0, 0.0]), np.array([0.0, 1.0])) == pytest.approx(exact, rel=1e-6)
    assert zoo_laws.mixture_epsilon(1.0, 1.0, 1e-5) == pytest.approx(4.3766, abs=1e-3)


def test_strings_dicts_and_ragged_outputs_become_one_table():
    found = table.to_tables([{"a": 1, "b": "x"}, {"a": 2.5}], [{"a": [1, 2]}, {"b": None}])
    assert found.p.shape == found.q.shape == (2, len(found.columns))
    claim = approx_dp(0.5)
    rng = np.random.default_rng(0)
    texts = [["yes" if x else "no" for x in rng.random(600) < rate] for rate in (0.3, 0.8)]
    assert audit_outputs(*texts, claim, rng).verdict is Verdict.VIOLATED
    assert audit_outputs(texts[0][:300], texts[0][300:], claim, rng).verdict is not Verdict.VIOLATED


def test_a_sound_epsilon_from_stored_files(tmp_path):
    rng = np.random.default_rng(1)
    for name, bit in (("p", 0), ("q", 1)):
        np.save(tmp_path / f"{name}.npy", zoo_laws.randomised_response(0.8).many(bit, rng, 5000))
    (tmp_path / "p.jsonl").write_text("\n".join(json.dumps({"x": i}) for i in range(3)))
    assert len(stored.load(tmp_path / "p.jsonl")) == 3
    bound = epsilon_of_outputs(stored.load(tmp_path / "p.npy"), stored.load(tmp_path / "q.npy"), 0.0, rng)
    assert 1.1 < bound.epsilon <= np.log(4)
    with pytest.raises(BadInput, match="path"):
        stored.load(tmp_path / "p.pkl")


def test_low_bits():
    assert list(lowest_bit(np.array([1.0, 0.5, 3.0, 0.0, 1 + 2.0**-52]))) == [0, -1, 0, 0, -52]


def test_the_command_prints_a_score():
    result = CliRunner().invoke(app, ["zoo", "--samples", "2000", "--only", "randomised"])
    assert result.exit_code == 0
    assert "1 of 1 bugs found with 2,000 outputs a side, 0 false alarms on 1 correct" in result.output
    rows = json.loads(CliRunner().invoke(app, ["zoo", "--samples", "500", "--only", "randomised", "--json"]).stdout)
    assert [row["broken"] for row in rows["rows"]] == [False, True] and rows["summary"]["bugs"] == 1
