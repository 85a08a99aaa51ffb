"""``dpassay crosscheck``: hold another implementation to the reference."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from dpassay.audit.crosscheck.adapter import LIMIT, Result, run_all
from dpassay.audit.crosscheck.campaign import Expected, Judged, exit_code, judge, junit, read_expected, report, table
from dpassay.audit.crosscheck.diagnosis import Diagnosis, diagnose
from dpassay.audit.crosscheck.differences import Difference, compare
from dpassay.audit.crosscheck.encode import encode
from dpassay.audit.crosscheck.making import exported, run_again
from dpassay.audit.crosscheck.recording import Diverged, VectorTape, events_of
from dpassay.audit.crosscheck.storage import load, manifest, read_object, read_vectors, write_vector
from dpassay.audit.foreign import foreign_code
from dpassay.audit.live.on_vectors import run_live
from dpassay.audit.live.program import TIMEOUT
from dpassay.audit.plain import json_text
from dpassay.audit.subject import subjects
from dpassay.reference.catalogue import find
from dpassay.reference.errors import BadInput, printable, require
from dpassay.reference.files import write_text

app = typer.Typer(
    help="Hold another implementation (any language) to the reference: run it on the committed vectors, or export one "
    "recorded run and compare the answers.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
FLOAT32 = typer.Option("--float32", help="The implementation computes in single precision.")
AS_JSON = typer.Option("--json", help="Print JSON.")
SHOWN = 20  # differences of one vector on the screen
MOST = 3  # red vectors of one algorithm on the screen


@app.command(name="run", short_help="Run an implementation on all committed vectors.")
def run_(
    adapter: Annotated[str, typer.Argument(help="MODULE:FUNCTION of `run(case, tape) -> output`.")],
    algorithm: Annotated[str, typer.Option(help="Only the vectors of this algorithm (an id of `dpassay list`).")] = "",
    vectors: Annotated[Path | None, typer.Option(help="Vectors of this file in place of the committed ones.")] = None,
    expected: Annotated[Path | None, typer.Option(help="TOML file of vectors that are known not to pass.")] = None,
    float32: Annotated[bool, FLOAT32] = False,
    timeout: Annotated[float, typer.Option(help="Seconds for one vector.")] = LIMIT,
    mutants: Annotated[bool, typer.Option(help="Look for the change of the reference that differs likewise.")] = True,
    junit_file: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML here.")] = None,
    as_json: Annotated[bool, AS_JSON] = False,
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
    results = _collected(run_all(adapter, chosen, float32=float32, limit=timeout), len(chosen))
    if not vectors:
        _complete(len(results), algorithm)
    _finish(adapter, chosen, results, known, Shown(mutants, float32, junit_file, as_json))


@app.command(short_help="Run a program in any language on vectors, line by line.")
def live(
    algorithm: Annotated[str, typer.Argument(help="A key or an id of `dpassay list`.")],
    program: Annotated[str, typer.Option(help="A command that speaks the live protocol (docs/live.md).")],
    seeds: Annotated[int, typer.Option(help="Runs on the row's own data, beside the committed vectors.")] = 2,
    expected: Annotated[Path | None, typer.Option(help="TOML file of vectors that are known not to pass.")] = None,
    float32: Annotated[bool, FLOAT32] = False,
    timeout: Annotated[float, typer.Option(help="Seconds for one line of the program.")] = TIMEOUT,
    mutants: Annotated[bool, typer.Option(help="Look for the change of the reference that differs likewise.")] = True,
    junit_file: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML here.")] = None,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Feed a program the values of the reference, and compare labels, order, queries, scales, sensitivities, outputs.

    The vectors are the committed ones of the algorithm, and runs on the row's own data. Exit codes as of `run`.
    """
    require(0 <= seeds <= 1000, "--seeds", seeds, "must lie in 0..1000")
    known = read_expected(expected) if expected else []
    cases = find(algorithm)
    keys = {case.key for case in cases}
    chosen = [one for name in dict.fromkeys(case.id for case in cases) for one in load(name) if one["case"] in keys]
    for case in cases:
        chosen += [{**exported(case, seed), "id": f"{case.key}/own data, seed {seed}"} for seed in range(seeds)]
    chosen.sort(key=lambda vector: str(vector["algorithm"]))
    results = _collected(run_live(program, chosen, float32=float32, timeout=timeout), len(chosen))
    _finish(program, chosen, results, known, Shown(mutants, float32, junit_file, as_json))


def _collected(results: Iterator[Result], total: int) -> list[Result]:
    found: list[Result] = []
    for result in results:
        found.append(result)
        _progress(len(found), total)
    return found


@dataclass(frozen=True)
class Shown:
    """How results are explained and shown."""

    mutants: bool
    float32: bool
    junit_file: Path | None
    as_json: bool


def _finish(
    name: str, chosen: list[dict[str, Any]], results: list[Result], known: list[Expected], how: Shown
) -> NoReturn:
    """Explain, write and print the results of an implementation; exit as they say."""
    by_id = {one["id"]: one for one in chosen}
    diagnoses = {one.id: _explained(one, by_id, results, how.mutants, how.float32) for one in _first_failures(results)}
    judged = judge(results, known)
    if how.junit_file:
        write_text(how.junit_file, junit(name, judged, diagnoses), "--junit")
    if how.as_json:
        told = {one: diagnosis.as_data() for one, diagnosis in diagnoses.items()}
        print(report(name, judged, len(chosen), told))
    else:
        print(table(judged))
        _print_red([one for one in judged if one.unexpected and one.result.outcome != "unsupported"], diagnoses)
        missing = sum(result.unstated for result in results)
        if missing:
            print(f"\n{missing} sensitivities were not stated by the implementation, and so not compared.")
    raise typer.Exit(exit_code(judged))


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
    found = subjects(algorithm, space=space)
    require(len(found) == 1, "algorithm", algorithm, f"names {len(found)} cases; give a key of `dpassay list`")
    vector = exported(found[0].as_case(), seed)
    write_vector(output, vector)
    print(f"{output}: {len(vector['events'])} events of {found[0].key}")


@app.command(name="compare", short_help="Hold another implementation's answers to a vector.")
def compare_(
    vector: Annotated[Path, typer.Argument(help="A file of `dpassay crosscheck export`.")],
    answers: Annotated[
        Path, typer.Argument(help='JSON: {"events": [{"event", "label", "query", "std", ...}, ...], "output"}')
    ],
    float32: Annotated[bool, FLOAT32] = False,
    rtol: Annotated[
        float | None, typer.Option(help="Relative tolerance (of the largest entry) in place of the vector's own.")
    ] = None,
    mutants: Annotated[bool, typer.Option(help="Look for the change of the reference that differs likewise.")] = True,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Compare another implementation's queries, noise scales, sensitivities, laws and output; exit 1 if they differ."""
    require(rtol is None or 0 < rtol < float("inf"), "--rtol", rtol, "must be positive and finite")
    expected = _single(vector)
    given = read_object(answers, "answers")
    found = compare(expected, given, float32=float32, rtol=rtol)
    diagnosis = diagnose(expected, given, mutants=mutants, differences=found) if found else None
    _report(found, as_json, diagnosis)


@app.command(short_help="Run the reference again against a vector.")
def replay(
    vector: Annotated[Path, typer.Argument(help="A file of `dpassay crosscheck export`.")],
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Run the reference on the data of the vector, and compare; exit 1 if they differ."""
    expected = _single(vector)
    cases = [case for case in find(str(expected["algorithm"])) if case.key == expected["case"]]
    if not cases:
        raise BadInput(f"{vector}: case", expected["case"], "is not in the catalogue")
    require(expected["expect"] == "run", f"{vector}: expect", expected["expect"], "only runs can be replayed")
    tape = VectorTape(expected["events"])
    answers: dict[str, Any] = {"output": expected["output"]}
    # what a changed file makes the reference raise is the file's fault; where it goes another way, the events say where
    with foreign_code(f"vector {vector}", "problem, schedule, events"), suppress(Diverged):
        answers["output"] = encode(run_again(cases[0].build().run, expected, tape), "output")
    last = [{name: tape.diverged[name] for name in ("event", "label")}] if tape.diverged else []
    _report(compare(expected, {**answers, "events": events_of(tape) + last}), as_json, None)


def _single(path: Path) -> dict[str, Any]:
    found = read_vectors(path)
    require(len(found) == 1, f"{path}", len(found), "vectors where one is needed; use `crosscheck run --vectors`")
    return found[0]


def _first_failures(results: list[Result]) -> list[Result]:
    """The first failing run of each algorithm: the others are likely the same."""
    first: dict[str, Result] = {}
    for result in results:
        if result.outcome == "fail" and result.differences:
            first.setdefault(result.algorithm, result)
    return list(first.values())


def _explained(
    one: Result, by_id: dict[str, dict[str, Any]], results: list[Result], mutants: bool, float32: bool
) -> Diagnosis:
    """A failing run, explained by what explains the other vectors of its algorithm too."""
    answered = [other for other in results if other.algorithm == one.algorithm and other.id != one.id]
    others = [
        (by_id[other.id], other.answers) for other in answered if other.answers and other.outcome in ("pass", "fail")
    ]
    runs = [(vector, given) for vector, given in others if vector["expect"] == "run"]
    red = {other.id for other in answered if other.outcome == "fail"}
    runs.sort(key=lambda pair: pair[0]["id"] not in red)
    return diagnose(by_id[one.id], one.answers, mutants=mutants, others=runs, float32=float32)


def _complete(ran: int, algorithm: str) -> None:
    """As many as the manifest says, or the count in the report would be a lie."""
    listed = manifest()["files"]
    total = sum(one["vectors"] for name, one in listed.items() if algorithm in ("", name.removesuffix(".json")))
    if ran != total:
        raise RuntimeError(f"{ran} vectors were run, the manifest counts {total}")


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {total}", end="\n" if done == total else "", file=sys.stderr, flush=True)


def _print_red(red: list[Judged], diagnoses: dict[str, Diagnosis]) -> None:
    """The first few of each algorithm: what is explained first."""
    for algorithm, group in groupby(red, key=lambda one: one.result.algorithm):
        members = sorted(group, key=lambda one: one.result.id not in diagnoses)
        for one in members[:MOST]:
            _print_result(one.result, one.unexpected_pass, diagnoses.get(one.result.id))
        if len(members) > MOST:
            print(f"\n{algorithm}: {len(members) - MOST} more (--json lists all)")


def _print_result(result: Result, passes: bool, diagnosis: Diagnosis | None) -> None:
    if passes:
        print(f"\n{result.id}: passes, but was expected not to")
        return
    print(f"\n{result.id}: {result.outcome}\n  {printable(result.message)}")
    if diagnosis is not None:
        print("  " + "\n  ".join(str(diagnosis).splitlines()))


def _report(found: list[Difference], as_json: bool, diagnosis: Diagnosis | None) -> None:
    if as_json:
        told = None if diagnosis is None else diagnosis.as_data()
        print(json_text({"agree": not found, "differences": [str(one) for one in found], "diagnosis": told}))
    elif found:
        print("\n".join(str(one) for one in found[:SHOWN]))
        if len(found) > SHOWN:
            print(f"... and {len(found) - SHOWN} more differences")
        if diagnosis is not None:
            print(diagnosis)
    else:
        print("agree")
    raise typer.Exit(1 if found else 0)
