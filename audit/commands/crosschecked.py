"""What ``dpassay crosscheck run`` and ``live`` print, write and exit with: results on vectors, explained."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, NoReturn

import typer

from dpassay.audit.crosscheck.adapter import Result
from dpassay.audit.crosscheck.campaign import Expected, Judged, exit_code, judge, junit, report, table
from dpassay.audit.crosscheck.evidence import Evidence, evidence
from dpassay.reference.errors import printable
from dpassay.reference.files import write_text

MOST = 3  # red vectors of one algorithm on the screen


def collected(results: Iterator[Result], total: int) -> list[Result]:
    """All results; how many there are, on a terminal."""
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


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {total}", end="\n" if done == total else "", file=sys.stderr, flush=True)


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
