"""Every phase is noised: neighbours that differ in any phase, the last one too, see nothing but the releases."""

import inspect

import pytest

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.findings import Kind
from dpassay.reference.output_perturbation import algorithm2, algorithm4, algorithm5, strongly_concave, worst_case
from dpassay.reference.output_perturbation.phases import phases
from dpassay.reference.solvers.exact import Exact

N, MU = 16, 0.1
PLAN = phases(N, MU)
EVERY = range(1, PLAN.count + 1)
PAIRS = {
    algorithm2: lambda phase: worst_case.for_algorithm2(N, 2, PLAN, phase),
    algorithm4: lambda phase: worst_case.for_algorithm4(N, PLAN, MU, phase),
    algorithm5: lambda phase: worst_case.for_algorithm5(N, PLAN, MU, phase),
    strongly_concave: lambda phase: worst_case.for_strongly_concave(N, PLAN, 0.5, phase),
}
ALGORITHMS = pytest.mark.parametrize("algorithm", PAIRS, ids=lambda module: module.__name__.split(".")[-1])


def seen(algorithm, run, reading, phase):
    pair = PAIRS[algorithm](phase)
    schedule = getattr(algorithm, reading)(pair.here, MU, 0.9, 1e-5, solver=Exact())
    return lockstep(lambda problem, tape: run(problem, schedule, tape), pair, (1,))


@ALGORITHMS
@pytest.mark.parametrize("reading", ["printed", "repaired"])
def test_no_phase_shows_more_than_its_release(algorithm, reading):
    for phase in EVERY:
        found = seen(algorithm, algorithm.run, reading, phase)
        assert found.complete and not found.findings, (phase, found.findings)
        moved = {label for label, movement in found.movements.items() if movement.moved > 0}
        assert {label.split("/")[1] for label in moved} == {str(phase)}


@pytest.mark.parametrize("algorithm", [algorithm2, algorithm4], ids=["algorithm2", "algorithm4"])
def test_a_last_phase_without_noise_is_caught(algorithm):
    """The mutant gives the last solution away; only neighbours that differ in the last phase see it."""
    source = inspect.getsource(algorithm.run)
    line = next(line for line in source.splitlines() if "tape.gaussian(" in line)
    solution = line.split("tape.gaussian(")[1].split(", ")[1]
    bare = line.replace("tape.gaussian(", f"{solution} if k == schedule.plan.count else tape.gaussian(")
    names = dict(vars(algorithm))
    exec(source.replace(line, bare), names)
    kinds = [{finding.kind for finding in seen(algorithm, names["run"], "repaired", k).findings} for k in EVERY]
    assert Kind.OUTPUT in kinds[-1]
    assert not any(kinds[:-1])
