"""``dpassay crosscheck``: hold another implementation to the reference."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from dpassay.audit.crosscheck.adapter import LIMIT, Result, run_all
from dpassay.audit.crosscheck.differences import Difference, compare
from dpassay.audit.crosscheck.encode import encode
from dpassay.audit.crosscheck.evidence import Evidence, evidence
from dpassay.audit.crosscheck.making import exported, run_again
from dpassay.audit.crosscheck.recording import Diverged, VectorTape, asked
from dpassay.audit.crosscheck.rounding import Again
from dpassay.audit.crosscheck.storage import load, manifest, read_object, read_vectors, write_vector
from dpassay.audit.inputs.foreign import foreign_code
from dpassay.audit.inputs.registered import all_cases
from dpassay.audit.live.on_vectors import run_live
from dpassay.audit.live.program import TIMEOUT
from dpassay.audit.plain import json_text
from dpassay.audit.report.campaign import Expected, Judged, exit_code, judge, junit, read_expected, report, table
from dpassay.audit.subjects.own_vectors import again_of, vector_of_own
from dpassay.audit.subjects.subject import Subject, subjects
from dpassay.audit.terminal.options import AsJson
from dpassay.audit.terminal.progress import counted
from dpassay.reference.errors import BadInput, printable, require
from dpassay.reference.files import require_writable, write_text

MOST = 3  # red vectors of one algorithm on the screen


def collected(results: Iterator[Result], total: int) -> list[Result]:
    """All results, with progress."""
    return list(counted(results, "comparing", total, lambda one: one.id))


@dataclass(frozen=True)
class Shown:
    """How results are explained and shown."""

    mutants: bool
    float32: bool
    junit_file: Path | None
    as_json: bool


def finish(
    name: str, chosen: list[dict[str, Any]], results: list[Result], known: list[Expected], how: Shown
) -> NoReturn:
    """Explain, write and print the results of an implementation; exit as they say."""
    by_id = {one["id"]: one for one in chosen}
    known_of = {one.id: _explained(one, by_id, results, how) for one in _first_failures(results)}
    judged = judge(results, known)
    if how.junit_file:
        write_text(how.junit_file, junit(name, judged, known_of), "--junit")
    if how.as_json:
        told = {one: found.as_data() for one, found in known_of.items()}
        print(report(name, judged, len(chosen), told))
    else:
        print(table(judged))
        _print_red([one for one in judged if one.unexpected and one.result.outcome != "unsupported"], known_of)
        missing = sum(result.unstated for result in results)
        if missing:
            print(f"\n{missing} sensitivities were not stated by the implementation, and so not compared.")
    raise typer.Exit(exit_code(judged))


def _first_failures(results: list[Result]) -> list[Result]:
    """The first failing run of each algorithm: the others are likely the same."""
    first: dict[str, Result] = {}
    for result in results:
        if result.outcome == "fail" and result.differences:
            first.setdefault(result.algorithm, result)
    return list(first.values())


def _explained(one: Result, by_id: dict[str, dict[str, Any]], results: list[Result], how: Shown) -> Evidence:
    """What is known of a failing run; changes of the reference are tried on the other answered vectors as well."""
    answered = [other for other in results if other.algorithm == one.algorithm and other.id != one.id]
    runs = [
        (by_id[other.id], other.answers) for other in answered if other.outcome in ("pass", "fail") and other.answers
    ]
    runs = [pair for pair in runs if pair[0]["expect"] == "run"]
    return evidence(by_id[one.id], one.answers, one.differences, others=runs, changes=how.mutants, float32=how.float32)


def _print_red(red: list[Judged], known_of: dict[str, Evidence]) -> None:
    """The first few of each algorithm: what is explained first."""
    for algorithm, group in groupby(red, key=lambda one: one.result.algorithm):
        members = sorted(group, key=lambda one: one.result.id not in known_of)
        for one in members[:MOST]:
            _print_result(one.result, one.unexpected_pass, known_of.get(one.result.id))
        if len(members) > MOST:
            print(f"\n{algorithm}: {len(members) - MOST} more (--json lists all)")


def _print_result(result: Result, passes: bool, found: Evidence | None) -> None:
    if passes:
        print(f"\n{result.id}: passes, but was expected not to")
        return
    print(f"\n{result.id}: {result.outcome}\n  {printable(result.message)}")
    if found is not None:
        print("  " + "\n  ".join(str(found).splitlines()))


app = typer.Typer(
    help="Hold another implementation (any language) to the reference: run it on the committed vectors, or export one "
    "recorded run and compare the answers.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
MUTANTS = typer.Option(help="Look for one-line changes of the reference that reproduce the run (some seconds).")
FLOAT32 = typer.Option("--float32", help="The implementation computes in single precision.")
SHOWN = 20  # differences of one vector on the screen


@app.command(name="run", short_help="Run an implementation on all committed vectors.")
def run_(
    adapter: Annotated[str, typer.Argument(help="MODULE:FUNCTION of `run(case, tape) -> output`.")],
    algorithm: Annotated[str, typer.Option(help="Only the vectors of this algorithm (an id of `dpassay list`).")] = "",
    vectors: Annotated[Path | None, typer.Option(help="Vectors of this file in place of the committed ones.")] = None,
    expected: Annotated[Path | None, typer.Option(help="TOML file of vectors that are known not to pass.")] = None,
    float32: Annotated[bool, FLOAT32] = False,
    timeout: Annotated[float, typer.Option(help="Seconds for one vector.")] = LIMIT,
    mutants: Annotated[bool, MUTANTS] = True,
    junit_file: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML here.")] = None,
    as_json: AsJson = False,
) -> None:
    """Run an implementation on every vector: pass, fail, unsupported or error, and why.

    Exit 1: a vector fails that was not expected to, or passes that was expected not to. Exit 3: nothing fails, but
    something is unsupported that was not expected to be.
    """
    require(0 < timeout < float("inf"), "--timeout", timeout, "must be positive and finite")
    known = read_expected(expected) if expected else []
    chosen = read_vectors(vectors) if vectors else list(load(algorithm))
    if vectors and algorithm:
        chosen = [one for one in chosen if one["algorithm"] == algorithm]
        require(bool(chosen), "--algorithm", algorithm, f"has no vector in {vectors}")
    results = collected(run_all(adapter, chosen, float32=float32, limit=timeout), len(chosen))
    if not vectors:
        _complete(len(results), algorithm)
    finish(adapter, chosen, results, known, Shown(mutants, float32, junit_file, as_json))


@app.command(short_help="Run a program in any language on vectors, line by line.")
def live(
    algorithm: Annotated[str, typer.Argument(help="A key or an id of `dpassay list`, or MODULE:RUN of your own.")],
    program: Annotated[str, typer.Option(help="A command that speaks the live protocol (docs/live.md).")],
    space: Annotated[str | None, typer.Option(help="MODULE:SPACE of your own algorithm's data.")] = None,
    seeds: Annotated[int, typer.Option(help="Runs on the row's own data, beside the committed vectors.")] = 2,
    expected: Annotated[Path | None, typer.Option(help="TOML file of vectors that are known not to pass.")] = None,
    float32: Annotated[bool, FLOAT32] = False,
    timeout: Annotated[float, typer.Option(help="Seconds for one line of the program.")] = TIMEOUT,
    mutants: Annotated[bool, MUTANTS] = True,
    junit_file: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML here.")] = None,
    as_json: AsJson = False,
) -> None:
    """Feed a program the values of the reference, and compare labels, order, queries, scales, sensitivities, outputs.

    The vectors are the committed ones of the algorithm, and runs on the row's own data. For your own algorithm they are
    runs on the data that a search of its space moves the furthest. Exit codes as of `run`.
    """
    require(0 <= seeds <= 1000, "--seeds", seeds, "must lie in 0..1000")
    known = read_expected(expected) if expected else []
    found = subjects(algorithm, space=space)
    keys = {one.key for one in found if one.case}
    chosen = [one for name in dict.fromkeys(one.case.id for one in found if one.case) for one in load(name)]
    chosen = [one for one in chosen if one["case"] in keys]
    for one in found:
        made = [_vector(one, space, seed) for seed in range(seeds)]
        chosen += [{**vector, "id": f"{one.key}/own data, seed {seed}"} for seed, vector in enumerate(made)]
    require(bool(chosen), "--seeds", seeds, f"{algorithm} has no committed vectors: there is nothing to run")
    chosen.sort(key=lambda vector: str(vector["algorithm"]))
    results = collected(run_live(program, chosen, float32=float32, timeout=timeout), len(chosen))
    finish(program, chosen, results, known, Shown(mutants, float32, junit_file, as_json))


@app.command(short_help="Write a test vector of one run.")
def export(
    algorithm: Annotated[str, typer.Argument(help="A key of `dpassay list`, or MODULE:RUN of your own.")],
    output: Annotated[Path, typer.Argument(help="Where the vector goes (JSON).")],
    seed: Annotated[int, typer.Option(help="Seed of the recorded run.")] = 0,
    space: Annotated[str | None, typer.Option(help="MODULE:SPACE of your own algorithm's data.")] = None,
) -> None:
    """Write a test vector of a row's own instance: problem, schedule, and the tape of one run (docs/vectors.md).

    Your own algorithm is run on the data that a search of its space moves the furthest; what it claims is what it adds
    up to.
    """
    require(seed >= 0, "--seed", seed, "must not be negative")
    require_writable(output, "output")
    found = subjects(algorithm, space=space)
    require(len(found) == 1, "algorithm", algorithm, f"names {len(found)} cases; give a key of `dpassay list`")
    vector = _vector(found[0], space, seed)
    write_vector(output, vector)
    print(f"{output}: {len(vector['events'])} events of {found[0].key}")


def _vector(subject: Subject, space: str | None, seed: int) -> dict[str, Any]:
    """One run of a row's own instance, or of the user's own code."""
    return vector_of_own(subject, space or "", seed) if subject.case is None else exported(subject.case, seed)


@app.command(name="compare", short_help="Hold another implementation's answers to a vector.")
def compare_(
    vector: Annotated[Path, typer.Argument(help="A file of `dpassay crosscheck export`.")],
    answers: Annotated[
        Path, typer.Argument(help='JSON: {"events": [{"event", "label", "query", "std", ...}, ...], "output"}')
    ],
    float32: Annotated[bool, FLOAT32] = False,
    mutants: Annotated[bool, MUTANTS] = True,
    as_json: AsJson = False,
) -> None:
    """Compare another implementation's queries, noise scales, sensitivities, laws and output; exit 1 if they differ."""
    expected = _single(vector)
    given = read_object(answers, "answers")
    found = compare(expected, given, float32=float32)
    _report(found, as_json, evidence(expected, given, found, changes=mutants, float32=float32) if found else None)


@app.command(short_help="Run the reference again against a vector.")
def replay(
    vector: Annotated[Path, typer.Argument(help="A file of `dpassay crosscheck export`.")],
    module: Annotated[
        list[str] | None, typer.Option(help="Module of yours that the file may name; nothing else is imported.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run the reference, or your own code as it is now, on the data of the vector, and compare; exit 1 if they differ.

    A vector of your own code says which module it is of; whether that is run you say, with --module.
    """
    expected = _single(vector)
    require(expected["expect"] == "run", f"{vector}: expect", expected["expect"], "only runs can be replayed")
    again = _again(expected, module or [], str(vector))
    tape = VectorTape(expected["events"])
    answers: dict[str, Any] = {"output": expected["output"]}
    # what a changed file makes the reference raise is the file's fault; where it goes another way, the events say where
    with foreign_code(f"vector {vector}", "problem, schedule, events"), suppress(Diverged):
        answers["output"] = encode(again(expected, tape, None), "output")
    _report(compare(expected, {**answers, "events": asked(tape)}), as_json, None)


def _again(expected: dict[str, Any], modules: list[str], where: str) -> Again:
    """What made the vector: one's own code, or a row of the catalogue or of another package."""
    if expected.get("own"):
        return again_of(expected, modules, where)
    case = next((case for case in all_cases() if case.key == expected["case"]), None)
    if case is None:
        raise BadInput(f"{where}: case", expected["case"], "is not in the catalogue")
    return partial(run_again, case.build().run)


def _single(path: Path) -> dict[str, Any]:
    found = read_vectors(path)
    require(len(found) == 1, f"{path}", len(found), "vectors where one is needed; use `crosscheck run --vectors`")
    return found[0]


def _complete(ran: int, algorithm: str) -> None:
    """As many as the manifest says, or the count in the report would be a lie."""
    listed = manifest()["files"]
    total = sum(one["vectors"] for name, one in listed.items() if algorithm in ("", name.removesuffix(".json")))
    if ran != total:
        raise RuntimeError(f"{ran} vectors were run, the manifest counts {total}")


def _report(found: list[Difference], as_json: bool, known: Evidence | None) -> None:
    if as_json:
        told = None if known is None else known.as_data()
        print(json_text({"agree": not found, "differences": [str(one) for one in found], "evidence": told}))
    elif found:
        print("\n".join(str(one) for one in found[:SHOWN]))
        if len(found) > SHOWN:
            print(f"... and {len(found) - SHOWN} more differences")
        if known is not None:
            print(known)
    else:
        print("agree")
    raise typer.Exit(1 if found else 0)
