"""`dpassay blackbox`: what it says beside a verdict, and the exit codes a CI sees."""

import json
import re
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from dpassay.audit.blackbox import power, shown
from dpassay.audit.blackbox.detect import of_outputs, same_data
from dpassay.audit.blackbox.power import recognised
from dpassay.audit.blackbox.table import to_tables
from dpassay.audit.cli import app
from dpassay.reference.errors import BadInput
from dpassay.reference.guarantee import gdp

MODULE = """
def right(data, rng): return sum(data) + rng.laplace()
def wrong(data, rng): return {"x": [rng.laplace(), sum(data) + rng.laplace(scale=0.1)]}
def nothing(data, rng): return None
def word(data, rng): return {"said": "yes" if (rng.random() < 0.9) == (sum(data) == 4) else "no", "at": rng.normal()}
def coin(data, rng): return "heads" if (rng.random() < 0.731) == (sum(data) == 4) else "tails"
def key(data, rng): return {"a": rng.laplace(), **({"b": rng.laplace()} if sum(data) == 4 else {})}
def branch(data, rng): return float(sum(data)) if rng.random() < 0.02 else sum(data) + rng.laplace()
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    (tmp_path / "mech_of_test.py").write_text(MODULE)
    (tmp_path / "d.json").write_text("[1, 2]")
    (tmp_path / "e.json").write_text("[1, 3]")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))

    def call(name, *words, pair=("d.json", "e.json")):
        base = ["blackbox", f"mech_of_test:{name}", "--dataset", pair[0], "--neighbour", pair[1], "--epsilon", "1"]
        return CliRunner().invoke(app, [*base, "--samples", "2000", *words])

    yield call
    sys.modules.pop("mech_of_test", None)


@pytest.mark.more
def test_a_right_mechanism_is_consistent_when_the_power_is_shown(run):
    """Laplace noise, claim just true, 2,000 a side (seed 0): noise halved would have been seen 14 times of 14."""
    found = run("right", "--power", "2")
    assert found.exit_code == 0 and "Verdict: consistent" in found.output
    assert "laplace noise 2 times smaller" in found.output
    assert run("right").exit_code == 3, "nobody asked what would have been seen"
    small = run("right", "--power", "1.01")
    assert small.exit_code == 3 and "Verdict: inconclusive" in small.output


@pytest.mark.slow  # 14 simulations, each with what it learns
def test_what_has_no_noise_to_shrink_is_consistent_where_a_larger_epsilon_would_have_been_seen(run):
    """Randomised response at epsilon 1: twice the epsilon is seen in 14 simulations of 14 (1.05 times is not)."""
    found = json.loads(run("coin", "--power", "2", "--json").stdout)
    assert found["verdict"] == "consistent"
    planted = found["results"][0]["evidence"]["planted_event"]
    assert planted["power_at_least"] >= 0.8 and planted["share"] == pytest.approx(0.8, abs=0.03)


@pytest.mark.slow  # 14 audits more, of an event that shows nothing
def test_a_larger_epsilon_that_would_not_have_been_seen_leaves_it_inconclusive(run):
    quiet = run("coin", "--power", "1.05")
    assert quiet.exit_code == 3 and "an epsilon 1.05 times larger" in quiet.output


def test_an_event_is_made_more_frequent_and_no_output_twice():
    rng = np.random.default_rng(0)
    mask = np.arange(1000) < 300
    size = power._possible(mask, 0.75)
    rows = [power._with_share(mask, 0.75, size, rng) for _ in range(40)]
    assert size == 380 and all(np.unique(one).size == size for one in rows)
    assert np.mean([mask[one].mean() for one in rows]) == pytest.approx(0.75, abs=0.02)
    assert power._possible(np.zeros(50, dtype=bool), 0.5) == 0
    assert power.larger(gdp(1.0), 2.0).delta(2.0) == pytest.approx(gdp(1.0).delta(1.0), rel=1e-2)


def test_a_wrong_one_says_what_gave_it_away_and_is_drawn(run, tmp_path):
    found = run("wrong", "--plot", "x.png", "--json")
    assert found.exit_code == 1 and (tmp_path / "x.png").stat().st_size > 5000
    evidence = json.loads(found.stdout)["results"][0]["evidence"]
    assert evidence["column"].startswith("output.x[1]")
    assert len(evidence["most_telling_outputs"]["on D'"]) == 3


def test_long_outputs_are_shown_with_whole_short_numbers():
    """One that is cut ends after a number of four digits; what is short, or no list, stays as it is."""
    values = np.random.default_rng(0).normal(size=64)
    found = shown._short(values, "output[37] = 1 in ")
    assert re.fullmatch(r"output\[37\] = 1 in \[(-?\d\.\d+, ){3,}\.\.\.", found) and len(found) < 70
    assert shown._short(np.array([1.23456789, 2.0])) == "[1.23456789, 2.0]"
    assert shown._short([1 / 3] * 12) == str([0.3333] * 12)
    assert shown._short("x" * 200).endswith("xxx...")


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("name", "words", "column"),
    [
        ("wrong", "output.x[1] ", "output.x[1]"),
        ("word", "text(output.said) other than 'no'", "text(output.said)"),
        ("key", "output.b is there", "output.b"),
        ("branch", "output equal to 3", "output"),
    ],
)
def test_the_event_and_its_column_are_named(run, name, words, column):
    """In the JSON document, and once in a sentence: an entry, a word, a key, an exact answer (seed 0)."""
    evidence = json.loads(run(name, "--json").stdout)["results"][0]["evidence"]
    assert evidence["event"].startswith(words) and evidence["column"] == column
    on_p, on_q = (hits / of for hits, of in zip(evidence["hits"], evidence["of"], strict=True))
    more = on_q if evidence["allowed_on"] == "on D'" else on_p
    assert more > evidence["allowed_share"]
    if name == "key":  # one of the four: the sentence is made of the document
        assert f"Given away by: {evidence['event']} (" in run(name).output


def test_the_relation_is_that_of_the_question(run):
    assert json.loads(run("right", "--json").stdout)["results"][0]["relation"] == "not stated"
    found = json.loads(run("right", "--relation", "add or remove", "--json").stdout)
    assert found["results"][0]["relation"] == "add or remove"


@pytest.mark.slow
def test_the_number_of_processes_changes_no_number(run):
    one, two = (json.loads(run("wrong", "--jobs", jobs, "--json").stdout)["results"][0] for jobs in "12")
    assert one["p_value"] == two["p_value"] and one["evidence"] == two["evidence"]


def test_exit_codes_for_a_pipeline(run):
    few = ("--samples", "800")
    assert run("right", *few, "--fail-on", "violated").exit_code == 0
    assert run("wrong", *few, "--fail-on", "violated").exit_code == 1
    assert run("wrong", *few, "--fail-on", "never").exit_code == 0


def test_empty_audits_are_no_success(run):
    found = run("nothing", "--power", "2")
    assert found.exit_code == 3 and "gave nothing to judge" in found.output
    same = run("right", "--power", "2", pair=("d.json", "d.json"))
    assert same.exit_code == 3 and "D and D' are equal" in same.output and "Planted" not in same.output


def test_noise_is_recognised_or_declared():
    rng = np.random.default_rng(0)
    for name, noise in (("gaussian", rng.normal(size=(2, 3000, 1))), ("laplace", rng.laplace(size=(2, 3000, 1)))):
        assert recognised(to_tables(noise[0], noise[1] + 1)).noise == name
    assert recognised(to_tables(rng.uniform(size=3000), rng.uniform(size=3000))) is None
    assert recognised(to_tables(rng.normal(size=3000), 3 * rng.normal(size=3000))) is None
    assert recognised(to_tables(rng.uniform(size=3000), rng.uniform(size=3000)), "laplace").declared
    for other, said in ((np.ones(5), True), (np.zeros(5), False)):
        assert bool(of_outputs(to_tables(np.ones(5), other), np.ones(5), other)) is said
    assert same_data(([1], [1])) and not same_data(([1], [2]))


@pytest.mark.parametrize(
    ("words", "field"),
    [(["--power", "1"], "--power"), (["--noise", "uniform"], "--noise"), (["--plot", "x.txt"], "--plot")],
)
def test_bad_options(run, words, field):
    found = run("right", *words)
    assert isinstance(found.exception, BadInput) and found.exception.field == field
