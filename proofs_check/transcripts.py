"""How often the algorithms of ``reference/`` release something, read off their transcripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache

from dpassay.proofs_check.formula import FormulaError
from dpassay.reference.adaptive_batch.tree import printed_nodes
from dpassay.reference.dro import double_spider, recursive_spider
from dpassay.reference.dro.divergences import chi_square
from dpassay.reference.dro.schedules import Constants, Plan, double_spider_printed, recursive_spider_printed
from dpassay.reference.dro.worst_case import compositional_pair, dual_pair
from dpassay.reference.minimax_sosp.dp_rgda import dp_rgda
from dpassay.reference.minimax_sosp.theorem_schedules import experiment_schedule
from dpassay.reference.minimax_sosp.worst_case import sign_flip, steep
from dpassay.reference.output_perturbation import instances
from dpassay.reference.second_order_erm import cases as erm
from dpassay.reference.second_order_erm import short_step
from dpassay.reference.second_order_erm.common import Accuracy
from dpassay.reference.tape import LiveTape, ScriptedTape

RECORDS = 6  # the counts do not depend on the data
Sizes = tuple[tuple[str, int], ...]


def _double_spider(T: int, q: int) -> Counter[str]:
    tape, plan = LiveTape(0), Plan(n=RECORDS, steps=T, phase=q, batch=3)
    schedule = double_spider_printed(plan, Constants(), 1.0, 1e-5)
    double_spider.run(dual_pair(chi_square(), RECORDS).here, schedule, tape)
    return _labels(tape)


def _recursive_spider(T: int, q: int) -> Counter[str]:
    tape, plan = LiveTape(0), Plan(n=RECORDS, steps=T, phase=q, batch=3)
    recursive_spider.run(compositional_pair(RECORDS).here, recursive_spider_printed(plan, 1.0, 1e-5), tape)
    return _labels(tape)


def _dp_rgda(T: int, K: int, q: int) -> Counter[str]:
    n, tape = 9, LiveTape(0)
    schedule = experiment_schedule(
        records=n, outer_steps=T, inner_steps=K, period=q, refresh_batch=n, step_batch=n, tolerance=1e-12
    )
    dp_rgda(sign_flip(n, "balanced", steep()).here, schedule, tape)
    return _labels(tape)


def _tree(S: int) -> Counter[str]:
    """Nodes that the fullest leaf belongs to, among all that the prefixes 1..S use."""
    used = {node for t in range(1, S + 1) for node in printed_nodes(t, S)}
    return Counter(node=max(sum(a <= leaf <= b for a, b in used) for leaf in range(1, S + 1)))


def _short_step(T: int) -> Counter[str]:
    """Algorithm 1 when every iteration takes a curvature step, which spends the most."""
    return _descend(T, ScriptedTape(erm.curvature_steps_only, 0), Accuracy(0.3, 0.3))


def _short_step_returning(T: int) -> Counter[str]:
    """Algorithm 1 when the first iterate passes the test and is returned."""
    return _descend(T, LiveTape(0), Accuracy(1e9, 1e9))


def _descend(T: int, tape: LiveTape, accuracy: Accuracy) -> Counter[str]:
    schedule = short_step.printed(erm.problem(), erm.start(), accuracy, 1.0, 1e-5)
    outcome = short_step.descend(erm.problem(), schedule, tape, schedule.start, T, 1.0)
    steps = {"taken/gradient": outcome.gradient_steps, "taken/curvature": outcome.curvature_steps}
    return _labels(tape) + Counter(steps)


def _algorithm_3() -> Counter[str]:
    instance, tape = instances.third("", "printed"), LiveTape(0)
    instance.run(instance.pair.here, tape)
    return _labels(tape)


def _labels(tape: LiveTape) -> Counter[str]:
    return Counter(release.label for release in tape.transcript.releases)


ALGORITHMS: dict[str, Callable[..., Counter[str]]] = {
    "dro/double_spider": _double_spider,
    "dro/recursive_spider": _recursive_spider,
    "minimax_sosp/dp_rgda": _dp_rgda,
    "adaptive_batch/tree": _tree,
    "second_order_erm/opt": _short_step,
    "second_order_erm/opt_returning": _short_step_returning,
    "output_perturbation/algorithm3": _algorithm_3,
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
