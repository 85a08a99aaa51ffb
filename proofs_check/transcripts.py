"""How often the algorithms of ``reference/`` release something, read off their transcripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from dpassay.reference.adaptive_batch.cases import CASES as ADAPTIVE_BATCH
from dpassay.reference.adaptive_batch.tree import printed_nodes
from dpassay.reference.dp_ftrl.cases import build as dp_ftrl
from dpassay.reference.dro import double_spider, recursive_spider
from dpassay.reference.dro.constants import Constants
from dpassay.reference.dro.divergences import chi_square
from dpassay.reference.dro.plan import Plan
from dpassay.reference.dro.worst_case import compositional_pair, dual_pair
from dpassay.reference.minimax_sosp import dp_rgda
from dpassay.reference.minimax_sosp.experiment import experiment_schedule
from dpassay.reference.minimax_sosp.worst_case import sign_flip, steep
from dpassay.reference.noise import Multipliers
from dpassay.reference.output_perturbation.cases import third
from dpassay.reference.problems.saddles import CosineSaddle, CoupledSaddle, sample_landscape
from dpassay.reference.second_order_erm import instances as erm
from dpassay.reference.second_order_erm import opt
from dpassay.reference.second_order_erm.common import Accuracy
from dpassay.reference.tape import LiveTape, ScriptedTape

from .formula import FormulaError

UNIT = Multipliers({"gradient": 1.0, "hessian": 1.0})
RECORDS = 6  # the counts do not depend on the data
Sizes = tuple[tuple[str, int], ...]


def _double_spider(T: int, q: int) -> Counter[str]:
    tape, plan = LiveTape(0), Plan(n=RECORDS, steps=T, phase=q, batch=3)
    schedule = double_spider.printed(plan, Constants(), 1.0, 1e-5)
    double_spider.run(dual_pair(chi_square(), RECORDS).here, schedule, tape)
    return _labels(tape)


def _recursive_spider(T: int, q: int) -> Counter[str]:
    tape, plan = LiveTape(0), Plan(n=RECORDS, steps=T, phase=q, batch=3)
    recursive_spider.run(compositional_pair(RECORDS).here, recursive_spider.printed(plan, 1.0, 1e-5), tape)
    return _labels(tape)


def _dp_rgda(T: int, K: int, q: int) -> Counter[str]:
    n, tape = 9, LiveTape(0)
    schedule = experiment_schedule(
        n=n, steps=T, inner_steps=K, period=q, refresh_batch=n, step_batch=n, tolerance=1e-12
    )
    dp_rgda.run(sign_flip(n, "balanced", steep()).here, schedule, tape)
    return _labels(tape)


def _dp_rgda_at_a_saddle(T: int) -> Counter[str]:
    """Algorithm 2 without noise, from a saddle of curvature -0.39: is x_{m_s} returned although line 15 left it?

    ``corrected``: x_{m_s} only if its escape phase has lasted, else the last iterate. Is that a point that was left?
    """
    landscape = sample_landscape(CosineSaddle((1.0, 0.7, -0.4)), 8, np.random.default_rng(0), tilt=0.0)
    schedule = experiment_schedule(
        n=8, steps=T, inner_steps=3, period=1, refresh_batch=8, step_batch=8,
        tolerance=0.05, escape_threshold=60, average_movement=2e-5,
    )  # fmt: skip
    quiet = replace(schedule, noise=dp_rgda.SILENT, descent_step=0.05, escape_step=0.1, restart_at_refresh=True)
    problem = CoupledSaddle(landscape)
    result = dp_rgda.run(problem, quiet, LiveTape(5))
    phases = result.phases
    anchor = len(phases) - 1 - phases[::-1].index("perturb")  # m_s
    returned = np.array_equal(result.x, result.iterates[anchor])
    early = "escaped" in phases[anchor:]
    saddle = problem.smallest_eigenvalue(result.x) < 0
    lasted = not early and phases[anchor:].count("escape") >= quiet.escape_threshold
    corrected = result.iterates[anchor if lasted else -1]
    stays = np.array_equal(corrected, result.iterates[anchor])
    found = {"returned/left": returned and early, "returned/saddle": saddle, "corrected/left": stays and early}
    return Counter({label: int(value) for label, value in found.items()})


def _one_tree(T: int) -> Counter[str]:
    """Tree nodes that record 0 (first batch) enters in Algorithm 3 with one tree; a refresh follows step 2^m."""
    return _record_in_nodes(f"lemma-3.13-d1-T{T}-O1", "printed")


def _tree_per_epoch(T: int) -> Counter[str]:
    """The same with a new tree at every refresh."""
    return _record_in_nodes(f"d1-T{T}-O1", "repaired")


def _record_in_nodes(variant: str, reading: str) -> Counter[str]:
    found = [case for case in ADAPTIVE_BATCH if (case.variant, case.reading) == (variant, reading)]
    if not found:
        raise FormulaError(f"releases: adaptive_batch has no case {variant}@{reading}")
    releases = found[0].build().longest_transcript().releases
    return Counter(node=sum(release.label.startswith("tree/") and 0 in release.draws for release in releases))


def _tree(S: int) -> Counter[str]:
    """Nodes that the fullest leaf belongs to, among all that the prefixes 1..S use."""
    used = {node for t in range(1, S + 1) for node in printed_nodes(t, S)}
    return Counter(node=max(sum(a <= leaf <= b for a, b in used) for leaf in range(1, S + 1)))


def _short_step(T: int) -> Counter[str]:
    """Algorithm 1 when every iteration takes a curvature step, which spends the most."""
    return _descend(T, ScriptedTape(erm.LONGEST, 0), Accuracy(0.3, 0.3))


def _short_step_returning(T: int) -> Counter[str]:
    """Algorithm 1 when the first iterate passes the test and is returned."""
    return _descend(T, LiveTape(0), Accuracy(1e9, 1e9))


def _descend(T: int, tape: LiveTape, accuracy: Accuracy) -> Counter[str]:
    schedule = opt.printed(erm.problem(), erm.start(), accuracy, 1.0, 1e-5)
    outcome = opt.descend(erm.problem(), schedule, tape, schedule.start, T, UNIT)
    steps = {"taken/gradient": outcome.gradient_steps, "taken/curvature": outcome.curvature_steps}
    return _labels(tape) + Counter(steps)


def _algorithm_3() -> Counter[str]:
    instance, tape = third("", "printed"), LiveTape(0)
    instance.mechanism(instance.pair.here, tape)
    return _labels(tape)


def _dp_ftrl(T: int) -> Counter[str]:
    """Nodes that the fullest leaf enters, of all that a pass of T steps releases."""
    releases = dp_ftrl("printed", 1, n=T).longest_transcript().releases
    return Counter(node=max(Counter(draw for release in releases for draw in release.draws).values()))


def _labels(tape: LiveTape) -> Counter[str]:
    return Counter(release.label for release in tape.transcript.releases)


ALGORITHMS: dict[str, Callable[..., Counter[str]]] = {
    "dro/double_spider": _double_spider,
    "dro/recursive_spider": _recursive_spider,
    "minimax_sosp/dp_rgda": _dp_rgda,
    "minimax_sosp/dp_rgda_at_a_saddle": _dp_rgda_at_a_saddle,
    "adaptive_batch/tree": _tree,
    "adaptive_batch/one_tree": _one_tree,
    "adaptive_batch/tree_per_epoch": _tree_per_epoch,
    "second_order_erm/opt": _short_step,
    "second_order_erm/opt_returning": _short_step_returning,
    "output_perturbation/algorithm3": _algorithm_3,
    "dp_ftrl/dp_ftrl": _dp_ftrl,
}


@lru_cache(maxsize=256)
def _run(algorithm: str, sizes: Sizes) -> Counter[str]:
    return ALGORITHMS[algorithm](**dict(sizes))


def count(algorithm: str, label: str, numbers: Mapping[str, int]) -> int:
    """Releases of an algorithm whose label starts with ``label``, in a run of these sizes.

    Args:
        algorithm: a key of ``ALGORITHMS``.
        label: prefix of the release labels; empty counts all.
        numbers: sizes by name; those that the algorithm does not take are ignored.

    Raises:
        FormulaError: an unknown algorithm, or a size that it needs is missing.
    """
    if algorithm not in ALGORITHMS:
        raise FormulaError(f"releases: {algorithm!r} is not one of {', '.join(ALGORITHMS)}")
    function = ALGORITHMS[algorithm]
    wanted = function.__code__.co_varnames[: function.__code__.co_argcount]
    missing = [name for name in wanted if name not in numbers]
    if missing:
        raise FormulaError(f"releases of {algorithm}: {missing[0]} is not given")
    made = _run(algorithm, tuple((name, int(numbers[name])) for name in wanted))
    return sum(times for name, times in made.items() if name.startswith(label))
