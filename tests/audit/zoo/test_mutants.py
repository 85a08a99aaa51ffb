import math
from dataclasses import replace

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from dpassay.audit.commands.mutants import mutants as command
from dpassay.audit.mutate.planted import MutantTape, Mutation, mutated
from dpassay.audit.zoo import mutants
from dpassay.audit.zoo.bugs import mutations
from dpassay.reference.catalogue import find
from dpassay.reference.errors import BadInput
from dpassay.reference.tape import LiveTape, record

FIRST = "output_perturbation/algorithm1@repaired"


def test_every_mutant_of_a_one_release_algorithm_is_judged_right():
    """12 planted bugs and controls; likelihood at 99 % with 120 runs, seed 0."""
    outcomes = list(mutants.run_planned(mutants.plan(find(FIRST)), mutants.Effort(runs=120, outputs=0)))
    assert len(outcomes) == 12 and all(outcome.right for outcome in outcomes)
    assert sum(outcome.must_be_caught for outcome in outcomes) == 8
    assert "same noise again" not in {outcome.mutation for outcome in outcomes}, "one release uses no noise twice"
    assert sum(outcome.safe for outcome in outcomes) == 4
    assert {name for outcome in outcomes for name in outcome.caught_by} == {"replay", "likelihood"}


@pytest.mark.parametrize("only", ["clip", "same noise", "branch", "follows the data", "without noise"])
def test_replay_alone_catches_what_is_not_about_scales(only):
    case, extra = mutants.short_dp_sgd()
    instance = case.build()
    chosen = [(case, instance, one, False) for one in mutants.planted(case, instance, extra) if only in one.name]
    found = list(mutants.run_planned(chosen, mutants.Effort(replays=2, runs=50, outputs=0)))
    assert found and all(outcome.caught_by == ("replay",) for outcome in found)


def test_exact_epsilons_have_closed_forms():
    instance = find(FIRST)[0].build()
    plain = mutants.pair_epsilon(instance, Mutation("unchanged"), 1e-5)
    louder = mutants.pair_epsilon(instance, Mutation("half", noise=0.5), 1e-5)
    doubled = mutants.pair_epsilon(instance, Mutation("query", query=2.0), 1e-5)
    assert plain < 0.9 and louder == pytest.approx(doubled, rel=1e-9)
    assert math.isinf(mutants.pair_epsilon(instance, Mutation("x", unbounded=True), 1e-5))


def _queries(run, problem, seeds=range(60)):
    """First queries over many batches."""
    releases = [record(lambda tape: run(problem, tape), seed).releases[0] for seed in seeds]
    return {tuple(np.round(np.ravel(release.law.query), 9)) for release in releases if hasattr(release.law, "query")}


@pytest.mark.more
def test_sampled_pairs_of_the_suite_are_one_sided():
    """What is accounted moves on D only: on D' no query may depend on the batch, in any mutant called exact."""
    checked = 0
    for case, extra, structural in mutants.suite():
        instance = case.build()
        if structural or not any(draw.kind != "fresh" for draw in mutants.record_of(instance, 0).draws):
            continue
        for one in mutants.planted(case, instance, extra):
            if not (one.unaccounted or one.unbounded):
                checked += 1
                assert len(_queries(mutated(instance.mechanism, one), instance.pair.there)) <= 1, (case.key, one.name)
    assert checked > 20


def test_what_leaves_outside_the_accounting_has_no_number():
    """A scale that follows the data has a finite cost at delta 1e-5, reused noise may have one: neither is stated."""
    effort = mutants.Effort(replays=1, runs=50, outputs=0)
    for only in ("same noise", "follows the data"):
        (found,) = mutants.run_planned(mutants.plan(find("second_order_erm/dp_gd@repaired"), only), effort)
        assert found.epsilon is None and found.must_be_caught and not found.safe and found.caught_by == ("replay",)


def test_the_black_box_sees_new_outputs_with_each_seed():
    instance = find(FIRST)[0].build()
    drawn = [
        mutants.outputs_of(instance.mechanism, instance, mutants.Effort(outputs=3, seed=seed)) for seed in (0, 0, 1)
    ]
    first, again, other = (np.array(one).ravel() for one in drawn)
    assert (first == again).all() and not np.isin(first, other).any()


def test_an_unmutated_tape_changes_nothing():
    instance = find(FIRST)[0].build()
    plain, wrapped = LiveTape(5), LiveTape(5)
    first = instance.mechanism(instance.pair.here, plain)
    second = mutated(instance.mechanism, Mutation("unchanged"))(instance.pair.here, wrapped)
    assert (first == second).all() and isinstance(MutantTape(wrapped, Mutation("x")).unused(3), int)
    with pytest.raises(BadInput, match="releases"):
        mutations(0, 0)


def test_an_escaped_mutant_would_be_reported():
    """Red case: an outcome over its claim that nobody caught is not right, an accused safe one is not either."""
    common = {"case": "c", "mutation": "m", "claimed": 1.0, "seconds": 0.0}
    escaped = mutants.Outcome(**common, epsilon=1.2, exact=True, replay="", likelihood=0.9, black_box=None)
    accused = mutants.Outcome(**common, epsilon=0.9, exact=True, replay="finding", likelihood=None, black_box=None)
    between = mutants.Outcome(**common, epsilon=1.05, exact=True, replay="", likelihood=0.9, black_box=1.0)
    assert not escaped.right and not accused.right and between.right
    assert not replace(escaped, exact=False).must_be_caught, "an upper bound over the claim proves nothing"


@pytest.mark.parametrize(("algorithm", "alike"), [("second_order_erm/dp_gd", True), ("dro/double_spider", False)])
def test_epsilon_is_called_exact_only_where_runs_are_alike(algorithm, alike):
    """DP-GD's search rarely happens and costs nothing on its pair; Double-SPIDER's differences follow the noise."""
    key = mutants.first_repaired(algorithm).key
    planned = mutants.plan(find(key), "10 % too large")
    (safe,) = mutants.run_planned(planned, mutants.Effort(replays=1, runs=50, outputs=0))
    assert safe.safe and safe.right and safe.exact is alike


def test_the_command():
    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, [FIRST, "--only", "half", "--runs", "100", "--outputs", "200"])
    assert result.exit_code == 0 and "caught by at least one: 1 of 1" in result.output


def test_the_suite_calls_no_epsilon_exact_that_is_not():
    cases = [case for case, _, structural in mutants.suite() if not structural]
    assert len(cases) == 8 and all(mutants.runs_alike(case.build()) for case in cases)


@pytest.mark.slow
def test_all_mutants_of_all_tight_cases():
    assert all(outcome.right for outcome in mutants.run_planned(mutants.plan(), mutants.Effort(outputs=0)))
