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
from dpassay.audit.crosscheck.diagnosis import Diagnosis, diagnose
from dpassay.audit.crosscheck.further import Again, asked_again
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
    again: Again


def finish(
    name: str, chosen: list[dict[str, Any]], results: list[Result], known: list[Expected], how: Shown
) -> NoReturn:
    """Explain, write and print the results of an implementation; exit as they say."""
    by_id = {one["id"]: one for one in chosen}
    diagnoses = {one.id: _explained(one, by_id, results, how) for one in _first_failures(results)}
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


def _first_failures(results: list[Result]) -> list[Result]:
    """The first failing run of each algorithm: the others are likely the same."""
    first: dict[str, Result] = {}
    for result in results:
        if result.outcome == "fail" and result.differences:
            first.setdefault(result.algorithm, result)
    return list(first.values())


def _explained(one: Result, by_id: dict[str, dict[str, Any]], results: list[Result], how: Shown) -> Diagnosis:
    """A failing run, explained by what explains the other vectors of its algorithm too, and further ones."""
    answered = [other for other in results if other.algorithm == one.algorithm]
    others = asked_again(answered, by_id, how.again if how.mutants else None)
    runs = [(vector, given) for vector, given in others if vector["id"] != one.id]
    again = how.again if how.mutants else None
    return diagnose(by_id[one.id], one.answers, mutants=how.mutants, others=runs, float32=how.float32, again=again)


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
