"""``dpassay neighbours``: search the worst pair of neighbours, confirm it on fresh runs, keep it as a file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NoReturn

import numpy as np
import typer

from dpassay.audit.exit_codes import FAILED, FINE
from dpassay.audit.report.verdicts import print_results
from dpassay.audit.results import AuditResult
from dpassay.audit.search.neighbours import (
    OUTSIDE,
    Candidate,
    confirm,
    load_witness,
    read_witness,
    save_witness,
    search,
    simplify,
)
from dpassay.audit.search.searched import Searched
from dpassay.audit.search.witness import FORMAT as EXAMPLE_FORMAT
from dpassay.audit.search.witness import read_witness as read_example
from dpassay.audit.subjects.neighbour_spaces import Target
from dpassay.audit.subjects.replay import agreed
from dpassay.audit.subjects.replay import replay as replay_example
from dpassay.audit.terminal.options import AsJson
from dpassay.audit.verdict import Verdict, worst
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.errors import BadInput, printable, require
from dpassay.reference.files import read_json, require_writable
from dpassay.reference.findings import Finding, Kind

FOUND = "found by the search"  # in the evidence

app = typer.Typer(
    help="Search the worst pair of neighbouring data sets of an algorithm that runs on a tape; replay what was found.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Runs = Annotated[int, typer.Option("--runs", help="Fresh runs for each confirmed candidate.")]
Seed = Annotated[int, typer.Option("--seed", help="Of the search or the replay; confirmation uses other randomness.")]
Confidence = Annotated[float, typer.Option("--confidence", help="Of the confirmation, all candidates together.")]


@app.command(name="search", short_help="Search, simplify and confirm the worst pair.")
def search_(
    algorithm: Annotated[str, typer.Argument(help="A key of `dpassay list`, or MODULE:RUN with run(problem, tape).")],
    epsilon: Annotated[float, typer.Option(help="Claimed epsilon.")],
    witness: Annotated[Path, typer.Option(help="Where the smallest witness goes (JSON).")],
    delta: Annotated[float, typer.Option(help="Claimed delta.")] = 1e-5,
    problem: Annotated[str, typer.Option(help="linear, logistic, rows, MODULE:BUILD: build(rows, there).")] = "linear",
    records: Annotated[int, typer.Option(help="Records of the searched data sets.")] = 6,
    dimension: Annotated[int, typer.Option(help="Numbers in a record.")] = 2,
    radius: Annotated[float, typer.Option(help="Largest length of a record.")] = 1.0,
    budget: Annotated[int, typer.Option(help="Examples of the search.")] = 200,
    keep: Annotated[int, typer.Option(help="Candidates to confirm; they share the level.")] = 2,
    program: Annotated[
        str | None, typer.Option(help="A command that speaks the live protocol: it runs in place of the reference.")
    ] = None,
    runs: Runs = 400,
    confidence: Confidence = 0.95,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """The search of `dpassay audit` on data of one shape; its worst pairs are judged by likelihood on fresh runs.

    Printed are the largest movement of each label as a share of its declared sensitivity, what breaks a premise of the
    accounting (exit 1), and the bound of the pair that shows most, which goes into the witness file.
    """
    require(0 < delta < 1, "--delta", delta, "must lie in (0, 1)")
    require(0 < epsilon < float("inf"), "--epsilon", epsilon, "must be positive and finite")
    require(budget >= 1 and keep >= 1, "--budget, --keep", (budget, keep), "must be at least 1")
    require(0 < confidence < 1, "--confidence", confidence, "must lie in (0, 1)")
    require_writable(witness, "--witness")
    _check_sample(runs, seed)
    target = Target(algorithm, problem, records, dimension, radius, program)
    run, where = target.open()
    with target.running():
        found = search(run, where, PrivacyClaim(epsilon, delta), budget, seed, keep)
        chosen = [simplify(run, where, one) for one in found.candidates]
        bound, best = confirm(run, where, chosen, delta, epsilon, seed + 1_000_003, runs, confidence)
    bound = replace(bound, evidence={**bound.evidence, **_seen(found.searched)})
    about: dict[str, str | int | float] = {"algorithm": algorithm, "problem": problem}
    about |= {"radius": radius, "claimed": epsilon} | ({"program": program} if program is not None else {})
    save_witness(witness, best, bound, "", about)
    if not as_json:
        print("\n".join(_lines(found.searched)))
    _report(bound, f"Witness ({best.name}): {witness}", as_json, found.searched.findings)


@app.command(short_help="Judge the pair of a witness file again.")
def replay(
    witness: Annotated[Path, typer.Argument(help="A file of `dpassay audit` or `dpassay neighbours search`.")],
    module: Annotated[
        list[str] | None, typer.Option(help="Module of yours that the file may name; nothing else is imported.")
    ] = None,
    program: Annotated[
        str | None, typer.Option(help="For the witness of a program: its command; a file must not choose what is run.")
    ] = None,
    runs: Runs = 400,
    confidence: Confidence = 0.95,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Judge a witness file again; exit 1 if it still shows what it showed.

    A witness of `dpassay audit` is one example with its released values: the same run is made again. One of
    `dpassay neighbours search` is a pair: it is judged on other randomness.
    """
    if _is_example(witness):
        _replay_example(witness, module or [], program)
    require(0 < confidence < 1, "--confidence", confidence, "must lie in (0, 1)")
    _check_sample(runs, seed)
    candidate, document = load_witness(witness), read_witness(witness)
    target, epsilon, delta = _described(witness, document, candidate)
    target = replace(target, program=agreed(program, document["about"].get("program"), str(witness)))
    for name in target.modules:
        why = f"is code, and a file must not choose what is run; if you trust it: --module {name}"
        require(name in (module or ()), f"{witness}: module", name, why)
    run, where = target.open()
    with target.running():
        bound, _ = confirm(run, where, [candidate], delta, epsilon, seed + 2_000_003, runs, confidence)
    _report(bound, f"Replayed {candidate.name!r} of {target.algorithm}.", as_json)


def _is_example(path: Path) -> bool:
    document = read_json(path, "witness")
    return isinstance(document, dict) and document.get("format") == EXAMPLE_FORMAT


def _replay_example(path: Path, modules: list[str], program: str | None) -> NoReturn:
    """One scripted run; what it shows now."""
    witness = read_example(path)
    found = replay_example(witness, modules, str(path), program)
    print(witness)
    if found.raised:
        print(printable(f"raised: {found.raised}"))
    others = [printable(str(one)) for one in found.findings]
    print("\n".join(["", "Now: " + ("the same finding" if found.again else "not this finding"), *others]))
    raise typer.Exit(FAILED if found.findings else FINE)


def _check_sample(runs: int, seed: int) -> None:
    require(10 <= runs <= 10**9, "--runs", runs, "must lie in 10..1e9")
    require(seed >= 0, "--seed", seed, "must not be negative")


def _described(path: Path, document: dict[str, object], candidate: Candidate) -> tuple[Target, float, float]:
    about = document.get("about")
    if not isinstance(about, dict):
        raise BadInput(f"{path}: about", about, "must say what was searched")
    for name in ("algorithm", "problem"):
        require(isinstance(about.get(name), str), f"{path}: about.{name}", about.get(name), "must be of type str")
    for name in ("radius", "claimed"):
        value = about.get(name)
        good = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= sys.float_info.max
        require(good, f"{path}: about.{name}", value, "must be a number, positive and finite")
    delta, radius = document.get("delta"), float(about["radius"])
    if not isinstance(delta, float) or not 0 < delta < 1:
        raise BadInput(f"{path}: delta", delta, "must lie in (0, 1)")
    with np.errstate(over="ignore"):  # an infinite norm is longer than any radius
        longest = float(np.linalg.norm([*candidate.rows, candidate.there], axis=1).max())
    require(longest <= radius * (1 + 1e-9), f"{path}: rows", longest, f"has a record longer than the radius {radius:g}")
    records, dimension = candidate.rows.shape
    target = Target(about["algorithm"], about["problem"], records, dimension, radius)
    return target, float(about["claimed"]), delta


def _seen(searched: Searched) -> dict[str, object]:
    """What the search saw, for the evidence."""
    return {"moved/declared": dict(searched.shares), FOUND: [str(one) for one in searched.findings]}


def _lines(searched: Searched) -> list[str]:
    """The same for people, with the smallest example of the first finding."""
    width = max(map(len, searched.shares), default=0)
    lines = ["Largest movement of each label, as a share of its declared sensitivity:"]
    lines += [f"  {printable(label):{width}}  {share:.4g}" for label, share in searched.shares.items()]
    if searched.witnesses:
        lines += ["The search found:", *searched.witnesses[0].lines()]
        lines += [printable(str(one)) for one in searched.findings[1:]]
    return lines


def _report(bound: AuditResult, note: str, as_json: bool, findings: Sequence[Finding] = ()) -> None:
    kinds = {finding.kind for finding in findings}
    found: Verdict = bound.verdict
    verdicts = [found]
    verdicts += [Verdict.OVERSHOOTS] * any(kind.overshoots for kind in kinds)
    verdicts += [Verdict.OVER_BUDGET] * (Kind.OVER_BUDGET in kinds)
    verdicts += [Verdict.LEAKS] * any(one.kind.leaks and not one.given_secrets for one in findings)
    outside = bound.evidence[OUTSIDE]
    assert isinstance(outside, list)
    if outside:
        note += f"\nReplay: data leave outside the accounting: {'; '.join(outside[:3])}"
        verdicts.append(Verdict.LEAKS)
    verdict = worst(verdicts)
    print_results([bound], verdict, as_json, note)
    raise typer.Exit(verdict.exit_code)
