"""What the pytest plugin does once a test uses it: an audit with pytest's and Hypothesis' settings, and how it ends."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import Verbosity, settings

from dpassay.reference import Pair, PrivacyClaim, Space
from dpassay.reference.errors import BadInput, printable, require, require_budget

from .assaying.assay import Assay, assay
from .inputs.foreign import relation_named
from .live.program import LiveProgram
from .plain import number
from .pytest_plugin import MARK, PROPERTY
from .row import Effort
from .subjects.own import usual_space
from .subjects.programs import checked, space_of
from .verdict import Verdict

EFFORTS = {"quick": Effort(runs=200, pilot=100, examples=60), "full": Effort()}
_STOCK = 100  # examples of Hypothesis' own profiles: who has not set a number has not asked for one
_OF_EFFORT = ("runs", "pilot", "examples", "confidence", "seed")


def judge_returned(item: pytest.Function, marks: Sequence[pytest.Mark], made: Any) -> None:
    """Hold what a test returned to its claims, the mark next to the function first; pass, skip or fail."""
    run, where = made if isinstance(made, tuple) and len(made) == 2 else (made, None)
    audit = auditor(item)
    undecided = []
    for mark in marks:
        try:
            require(callable(run), "the test's result", run, "must be a mechanism, or (mechanism, space)")
            require(not mark.args, MARK, mark.args, "takes names: epsilon=..., delta=...")
            options = dict(mark.kwargs)
            space = options.pop("space", None)
            require(where is None or space is None, MARK, "space", "the test returns a space as well")
            found = audit(run, where or space, **options)
        except BadInput as error:
            pytest.fail(str(error), pytrace=False)
        if found.verdict.failed:
            pytest.fail(failure(run, found), pytrace=False)
        if found.verdict is Verdict.INCONCLUSIVE:
            undecided.append(f"inconclusive: {printable(found.why)}")
    if undecided:
        more = "" if item.config.getoption("--privacy-budget") == "full" else "; try --privacy-budget full"
        end: Callable[..., Any] = pytest.fail if item.config.getini("privacy_inconclusive") == "fail" else pytest.skip
        options = {"pytrace": False} if end is pytest.fail else {}
        end("; ".join(undecided) + more, **options)


def auditor(item: pytest.Item) -> Callable[..., Assay]:
    """What the fixture ``assay`` gives: one audit, whose result is kept for the summary."""

    def audit(
        mechanism: Callable[..., Any],
        where: Space | Pair[Any] | None = None,
        *,
        epsilon: float | None = None,
        delta: float = 1e-5,
        relation: str | None = None,
        **more: Any,
    ) -> Assay:
        unknown = ", ".join(sorted(set(more) - set(_OF_EFFORT)))
        known = ", ".join(("epsilon", "delta", "relation", *_OF_EFFORT))
        require(not unknown, MARK, unknown, f"is not known; there are {known}")
        if epsilon is None:
            raise BadInput("epsilon", None, "is missing: what do you claim?")
        require_budget(epsilon, delta)
        program = mechanism if isinstance(mechanism, LiveProgram) else None
        if program is not None and where is None:
            where = space_of(program)
        place = _place(mechanism, where, relation)
        kind = place.relation if isinstance(place, Space) else relation_named(relation, "relation") or "replace-one"
        claim = PrivacyClaim(epsilon, delta, relation=kind)
        run = mechanism if program is None else checked(program, place)
        try:
            found = assay(run, place, claim, effort=_effort(item.config, more))
        finally:
            if program is not None:
                program.close()
        item.user_properties.append((PROPERTY, _line(mechanism, found, delta)))
        return found

    return audit


def failure(run: Callable[..., Any], found: Assay) -> str:
    """Verdict, cause, and the shrunk examples (all of them where Hypothesis is verbose, else the first)."""
    effort = found.searched.examples
    lines = [f"{_name(run)}: {found.verdict}: {printable(found.why)}", ""]
    told = found.searched.witnesses if settings().verbosity >= Verbosity.verbose else found.searched.witnesses[:1]
    for witness in told:
        lines += [f"Falsifying example: {_name(run)}(", *(f"    {line}" for line in witness.lines()), ")", ""]
    left = len(found.searched.witnesses) - len(told)
    if left:
        lines.append(f"and {left} more: --hypothesis-verbosity verbose shows all")
    if found.searched.witnesses:
        lines.append(f"{effort} examples were tried; the same seed (--hypothesis-seed) gives the same ones.")
    return "\n".join(lines).rstrip()


def _effort(config: pytest.Config, more: dict[str, Any]) -> Effort:
    """The budget, then Hypothesis' profile and seed, then what the mark says."""
    effort = EFFORTS[config.getoption("--privacy-budget")]
    if settings().max_examples != _STOCK:
        effort = replace(effort, examples=settings().max_examples)
    seed = config.getoption("--hypothesis-seed", None)
    if seed is not None:
        said = str(seed)
        effort = replace(effort, seed=int(said) if said.isdecimal() else zlib.crc32(said.encode()))
    effort = replace(effort, **more)
    effort.check()
    require(effort.examples >= 1, "examples", effort.examples, "must be at least 1: there is a search")
    return effort


def _place(mechanism: Callable[..., Any], where: Space | Pair[Any] | None, relation: str | None) -> Space | Pair[Any]:
    kind = relation_named(relation, "relation")
    if where is None:
        return usual_space(mechanism, kind, getattr(mechanism, "__name__", "mechanism"))
    if isinstance(where, Pair):
        return where
    require(isinstance(where, Space), "space", type(where).__name__, "must be a Space or a Pair")
    require(kind in (None, where.relation), "relation", relation, f"the space is for {where.relation} neighbours")
    return where


def _name(run: Callable[..., Any]) -> str:
    return printable(str(getattr(run, "__name__", type(run).__name__)))


def _line(run: Callable[..., Any], found: Assay, delta: float) -> str:
    accounted = number(found.accounted) + ("" if found.upper_bound else " (no bound)")
    numbers = f"claimed {number(found.claimed)}, accounted {accounted}, realised >= {number(found.realised)}"
    return f"{_name(run)} {found.verdict}: {numbers} at delta {delta:g}"
