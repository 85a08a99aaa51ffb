"""``dpassay crosscheck``: hold another implementation to the reference."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from dpassay.audit.crosscheck.adapter import LIMIT, Result, run_all
from dpassay.audit.crosscheck.differences import compare
from dpassay.audit.crosscheck.evidence import Evidence, evidence
from dpassay.audit.crosscheck.making import exported
from dpassay.audit.crosscheck.storage import canonical, json_object, load, read_vectors
from dpassay.audit.exit_codes import INCONCLUSIVE
from dpassay.audit.live.program import TIMEOUT, run_live
from dpassay.audit.plain import json_text
from dpassay.audit.report.campaign import Judged, exit_code, judge, junit, read_expected, report, table
from dpassay.audit.terminal.options import AsJson, Seed
from dpassay.audit.terminal.progress import progress
from dpassay.reference.catalogue import find
from dpassay.reference.errors import printable, require
from dpassay.reference.files import read_json, require_writable, write_text

MOST = 3  # red vectors of one algorithm on the screen


def finish(
    name: str,
    chosen: list[dict[str, Any]],
    results: Iterator[Result],
    expected: Path | None,
    junit_file: Path | None,
    as_json: bool,
    **how: bool,
) -> NoReturn:
    """Compare the results of an implementation, explain (``how``), write and print them; exit as they say."""
    known = read_expected(expected) if expected else []
    found: list[Result] = []
    with progress("comparing", len(chosen)) as say:
        for one in results:
            found.append(one)
            say(one.id)
    # the first failing run of each algorithm: the others are likely the same
    first = {one.algorithm: one for one in reversed(found) if one.outcome == "fail" and one.differences}
    by_id = {one["id"]: one for one in chosen}
    known_of = {one.id: _explained(one, by_id, found, **how) for one in first.values()}
    judged = judge(found, known)
    if junit_file:
        write_text(junit_file, junit(name, judged, known_of), "--junit")
    if as_json:
        print(report(name, judged, len(chosen), {one: told.as_data() for one, told in known_of.items()}))
    else:
        print(table(judged))
        red = [one for one in judged if one.unexpected]
        for algorithm, group in groupby(red, key=lambda one: one.result.algorithm):
            order = sorted(group, key=lambda one: (one.result.outcome == "unsupported", one.result.id not in known_of))
            _print_red(algorithm, order, known_of)
        if exit_code(judged) == INCONCLUSIVE:
            print("\nNothing failed, and not all was run: --expected FILE names what may stay unsupported.")
        missing = sum(one.unstated for one in found)
        if missing:
            print(f"\n{missing} sensitivities were not stated by the implementation, and so not compared.")
    raise typer.Exit(exit_code(judged))


def _explained(one: Result, by_id: dict[str, dict[str, Any]], results: list[Result], **how: bool) -> Evidence:
    """What is known of a failing run; changes of the reference are tried on the other answered vectors as well."""
    others = [
        (by_id[other.id], other.answers)
        for other in results
        if other.algorithm == one.algorithm and other.id != one.id and other.outcome in ("pass", "fail")
        if other.answers and by_id[other.id]["expect"] == "run"
    ]
    return evidence(by_id[one.id], one.answers, one.differences, others=others, **how)


def _print_red(algorithm: str, red: list[Judged], known_of: dict[str, Evidence]) -> None:
    """The first few of an algorithm; what is explained stands first."""
    for one in red[:MOST]:
        if one.unexpected_pass:
            print(f"\n{one.result.id}: passes, but was expected not to")
            continue
        print(f"\n{one.result.id}: {one.result.outcome}\n  {printable(one.result.message)}".rstrip())
        if one.result.id in known_of:
            print("  " + "\n  ".join(str(known_of[one.result.id]).splitlines()))
    if len(red) > MOST:
        print(f"\n{algorithm}: {len(red) - MOST} more (--json lists all)")


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
    algorithm: Annotated[str, typer.Option(help="Only the vectors of this key or id of `dpassay list`.")] = "",
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
    chosen = read_vectors(vectors) if vectors else list(load())
    if algorithm:
        keys = {case.key for case in find(algorithm)}
        chosen = [one for one in chosen if one["case"] in keys]
        require(bool(chosen), "--algorithm", algorithm, "has no vector")
    results = run_all(adapter, chosen, float32=float32, limit=timeout)
    finish(adapter, chosen, results, expected, junit_file, as_json, changes=mutants, float32=float32)


@app.command(short_help="Run a program in any language on vectors, line by line.")
def live(
    program: Annotated[str, typer.Argument(help="A command that speaks the live protocol (docs/live.md).")],
    algorithm: Annotated[str, typer.Option(help="A key or an id of `dpassay list`.")],
    seeds: Annotated[int, typer.Option(help="Runs on the row's own data, beside the committed vectors.")] = 2,
    expected: Annotated[Path | None, typer.Option(help="TOML file of vectors that are known not to pass.")] = None,
    float32: Annotated[bool, FLOAT32] = False,
    timeout: Annotated[float, typer.Option(help="Seconds for one line of the program.")] = TIMEOUT,
    mutants: Annotated[bool, MUTANTS] = True,
    junit_file: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML here.")] = None,
    as_json: AsJson = False,
) -> None:
    """Feed a program the values of the reference, and compare labels, order, queries, scales, sensitivities, outputs.

    The vectors are the committed ones of the algorithm, and runs on the row's own data. Exit codes as of `run`.
    """
    require(0 <= seeds <= 1000, "--seeds", seeds, "must lie in 0..1000")
    cases = find(algorithm)
    keys = {case.key for case in cases}
    chosen = [one for one in load() if one["case"] in keys]
    for case in cases:
        chosen += [{**exported(case, seed), "id": f"{case.key}/own data, seed {seed}"} for seed in range(seeds)]
    require(bool(chosen), "--seeds", seeds, f"{algorithm} has no committed vectors: there is nothing to run")
    chosen.sort(key=lambda vector: str(vector["algorithm"]))
    results = run_live(program, chosen, float32=float32, timeout=timeout)
    finish(program, chosen, results, expected, junit_file, as_json, changes=mutants, float32=float32)


@app.command(short_help="Write a test vector of one run.")
def export(
    algorithm: Annotated[str, typer.Argument(help="A key of `dpassay list`.")],
    output: Annotated[Path, typer.Argument(help="Where the vector goes (JSON).")],
    seed: Seed = 0,
) -> None:
    """Write a test vector of a row's own instance: problem, schedule, and the tape of one run (docs/vectors.md)."""
    require_writable(output, "output")
    found = find(algorithm)
    require(len(found) == 1, "algorithm", algorithm, f"names {len(found)} cases; give a key of `dpassay list`")
    vector = exported(found[0], seed)
    write_text(output, canonical(vector) + "\n", "output")
    print(f"{output}: {len(vector['events'])} events of {found[0].key}")


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
    vectors = read_vectors(vector)
    require(len(vectors) == 1, f"{vector}", len(vectors), "vectors where one is needed; use `crosscheck run --vectors`")
    expected, given = vectors[0], json_object(read_json(answers, "answers"), str(answers))
    found = compare(expected, given, float32=float32)
    known = evidence(expected, given, found, changes=mutants, float32=float32) if found else None
    if as_json:
        told = None if known is None else known.as_data()
        print(json_text({"agree": not found, "differences": [str(one) for one in found], "evidence": told}))
    else:
        print("\n".join(str(one) for one in found[:SHOWN]) or "agree")
        if len(found) > SHOWN:
            print(f"... and {len(found) - SHOWN} more differences")
        if known is not None:
            print(known)
    raise typer.Exit(1 if found else 0)
