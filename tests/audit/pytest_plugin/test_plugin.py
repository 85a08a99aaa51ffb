"""The pytest plugin, run by pytest on small projects: what passes, fails and is skipped, and what is told."""

import os
import sys
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

import dpassay.audit.pytest_audit  # noqa: F401 - NumPy can be imported once only: not first in an inner run

pytest_plugins = ["pytester"]
ON = ("-p", "no:dpassay", "-p", "dpassay.audit.pytest_plugin", "--strict-markers", "-p", "no:cacheprovider")
MINE = """
import numpy as np
import pytest
import broken
from broken import half_sensitivity, mean, too_little_noise
from dpassay.reference import Pair, Space

space = broken.space()

def plain(rows, rng):
    clipped = rows / np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))
    return clipped.sum(axis=0) + rng.normal(scale=9.0, size=rows.shape[1])
"""


@pytest.fixture
def inner(pytester):
    def run(body, *words):
        pytester.makepyfile(MINE + body)
        return pytester.runpytest_inprocess(*ON, *words)

    return run


def test_a_claim_that_stands_passes_and_one_that_does_not_shows_its_witness(inner):
    found = inner(
        """
@pytest.mark.privacy_claim(epsilon=1.0, examples=20, runs=100)
def test_stands():
    return mean, space

@pytest.mark.privacy_claim(epsilon=1.0, delta=1e-5, relation="replace-one", examples=30, runs=100)
def test_falls():
    return half_sensitivity, space

@pytest.mark.privacy_claim(epsilon=1.0, examples=20, runs=100)
def test_too_loud():
    return too_little_noise, space

def test_another():
    assert True
"""
    )
    found.assert_outcomes(passed=2, failed=2)
    found.stdout.fnmatch_lines(
        [
            "half_sensitivity: violated: sensitivity exceeded at gradient*",
            "Falsifying example: half_sensitivity(",
            "    sensitivity exceeded at 'gradient', step 0: *",
            "*sizes   n = 1, d = 1; the neighbours differ in record 0",
            "too_little_noise: *: the releases add up to 3.71, more than claimed*",
            "=*privacy claims*=",
            "FAILED  *::test_falls: half_sensitivity violated: claimed 1, accounted 0.594 (no bound), realised >= *",
            "PASSED  *::test_stands: mean *: claimed 1, accounted 0.594, realised >= 0.*at delta 1e-05",
            "FAILED  *::test_too_loud: *accounted 3.71*",
        ]
    )
    assert "Traceback" not in found.stdout.str() and "test_another: " not in found.stdout.str()


def test_nothing_decided_is_skipped_or_fails_as_the_project_says(inner, pytester):
    body = """
@pytest.mark.privacy_claim(epsilon=1.0, examples=5, runs=60)
def test_constant():
    return lambda rows, tape: tape.gaussian("sum", np.zeros(1), std=9.0, sensitivity=2.0)
"""
    found = inner(body, "-rs")
    found.assert_outcomes(skipped=1)
    found.stdout.fnmatch_lines(["*SKIPPED*inconclusive: *try --privacy-budget full*"])
    pytester.makeini("[pytest]\nprivacy_inconclusive = fail\n")
    inner(body).assert_outcomes(failed=1)


@pytest.mark.parametrize(
    ("mark", "result", "told"),
    [
        ("epsilon=1.0", "None", "the test's result = None: must be a mechanism"),
        ("epsilon=-1.0", "plain", "epsilon = -1.0: must be positive"),
        ("epsilon=1.0, delta=2.0", "plain", "delta = 2.0: must lie in (0, 1)"),
        ("epsilon=1.0, relation='near'", "plain", "relation = 'near': must be replace-one or add-remove"),
        ("epsilon=1.0, relation='add-remove'", "(plain, space)", "the space is for replace-one neighbours"),
        ("epsilon=1.0, runs=1.5", "plain", "runs = 1.5: must lie in 10..1e9"),
        ("epsilon=1.0, noise=2", "plain", "privacy_claim = 'noise': is not known"),
        ("epsilon=1.0, space=3", "plain", "space = 'int': must be a Space or a Pair"),
        ("1.0", "plain", "takes names: epsilon"),
        ("delta=1e-5", "plain", "epsilon = None: is missing"),
    ],
)
def test_bad_marks_are_one_line(inner, mark, result, told):
    found = inner(f"@pytest.mark.privacy_claim({mark})\ndef test_it():\n    return {result}\n")
    found.assert_outcomes(failed=1)
    assert told in found.stdout.str() and "Traceback" not in found.stdout.str()


@pytest.mark.slow
def test_workers_of_xdist_tell_the_same(pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    mechanisms = "[mean, half_sensitivity, too_little_noise]"
    marks = f"@pytest.mark.privacy_claim(epsilon=1.0)\n@pytest.mark.parametrize('mechanism', {mechanisms})\n"
    pytester.makepyfile(f"{MINE}\n{marks}def test_claim(mechanism):\n    return mechanism, space\n")
    alone, shared = (pytester.runpytest_subprocess(*ON, *words) for words in ((), ("-n", "2")))
    told = [sorted(line for line in one.outlines if "::test_claim[" in line and "claimed 1" in line)
            for one in (alone, shared)]  # fmt: skip
    shared.assert_outcomes(passed=1, failed=2)
    assert len(told[0]) == 3 and told[0] == told[1]


RETURNED = """
import sys
from dpassay.audit.live.program import LiveProgram
from dpassay.reference.space import Rows

column = Space(Rows(1, None, box=(0.0, 1.0)), {{"n": (2, 3)}}, lambda rows, sizes: rows)

def program(law):
    return LiveProgram([sys.executable, "-S", {speaker!r}], law)

@pytest.mark.privacy_claim(epsilon=2.0, delta=1e-7, runs=400, pilot=100, examples=15)
@pytest.mark.privacy_claim(epsilon=1.5, runs=400, pilot=100, examples=15)
def test_two_claims_of_plain_numpy():
    return plain

@pytest.fixture
def pair():
    return Pair(np.array([[-1.0], [0.0], [0.0]]), np.array([[1.0], [0.0], [0.0]]), target=0)

@pytest.mark.privacy_claim(epsilon=0.6)
def test_pair(pair):
    return mean, pair

@pytest.mark.privacy_claim(epsilon=0.5, examples=15, runs=60)
@pytest.mark.parametrize("law", ["laplace", "geometric half", "line garbage"])
def test_program(law):
    return program(law), column

@pytest.mark.privacy_claim(epsilon=0.5)
def test_which_case():
    return program("baselines/dp_sgd")

def test_mine(assay):
    assert not assay(mean, space, epsilon=1.0).verdict.failed
    found = assay(half_sensitivity, space, epsilon=1.0, examples=30, seed=3)
    assert found.verdict.failed and found.witness.finding.kind.value == "sensitivity exceeded"
"""


@pytest.mark.more
def test_what_a_test_may_return_and_the_fixture_that_leaves_the_judgement_to_it(inner, pytester):
    speaker = str(Path(__file__).parents[1] / "live" / "speaker.py")
    found = inner(RETURNED.format(speaker=speaker), "--junitxml=j.xml")
    found.assert_outcomes(passed=4, failed=3)
    text = found.stdout.str()
    assert text.count("plain ") == 2 and "Traceback" not in text and "return (program, space)" in text
    assert "sensitivity exceeded at 'released'" in text and "no line of JSON" in text
    values = [one.get("value") for one in Xml.parse(pytester.path / "j.xml").iter("property")]
    assert sum("claimed 2," in value for value in values) == 1
    told = ("mean ", "half_sensitivity violated")
    found.stdout.fnmatch_lines([f"PASSED *::test_mine: {one}*" for one in told])
