"""Is a right algorithm ever accused? The search of the audit's default rows under many seeds.

python benchmarks/search_false_alarms.py [--seeds 20] [--first 0] [--write] [--keep FILE]

Every row of `dpassay audit` is searched once for each seed, with the default number of examples. An alarm is a finding
that the row does not declare: none of them may be one. Only what a search can say is tried; the statistics of an audit
have their own level (`docs/statistics.md`). `--keep` adds each search to a file as it is done and skips those that the
file holds, so that an interrupted campaign goes on.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import audit_figures as figures

from dpassay.audit.assaying.assay import search_case
from dpassay.audit.row import Effort
from dpassay.reference.catalogue import CASES
from dpassay.reference.findings import Declared, compare

HEADER = ("row", "searches", "alarms", "least share of a label", "cpu seconds a search")


def main() -> None:
    """One line a row; every alarm is named below the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--write", action="store_true", help="keep the table in benchmarks/results")
    parser.add_argument("--keep", type=Path, help="add each search to this file, one JSON object a line")
    chosen = parser.parse_args()
    records = figures.recorded([chosen.keep] if chosen.keep else [])
    done = {(one["row"], one["seed"]) for one in records}
    for one in _searched(range(chosen.first, chosen.first + chosen.seeds), done):
        figures.record(chosen.keep, one)
        records.append(one)
    keys = dict.fromkeys(one["row"] for one in records)
    rows = [_row(key, [one for one in records if one["row"] == key]) for key in keys]
    figures.finish("search_false_alarms", "False alarms of the search", HEADER, rows, _notes(records), chosen.write)


def _searched(seeds: range, done: set[tuple[str, int]]) -> Iterator[dict[str, Any]]:
    """Seed by seed, so that whatever is cut short has seen all rows."""
    cases = [(case, case.build()) for case in CASES if case.quick]
    for seed, (case, instance) in ((seed, one) for seed in seeds for one in cases):
        if (case.key, seed) in done:
            continue
        start = time.process_time()
        searched = search_case(case, instance, Effort(seed=seed))
        seconds = time.process_time() - start
        shown = {Declared(one.kind, one.label): str(one) for one in searched.findings if not one.kind.bookkeeping}
        news, _ = compare(set(shown), set(case.declared))
        alarms = [text for one, text in shown.items() if one in news]
        shares = {label: share for label, share in searched.shares.items() if share > 0}
        least = min(shares.values(), default=0.0)
        yield {"row": case.key, "seed": seed, "alarms": alarms, "least": least, "seconds": seconds}


def _row(key: str, records: list[dict[str, Any]]) -> tuple[str, int, int, str, str]:
    seconds = sum(one["seconds"] for one in records) / len(records)
    least = min(one["least"] for one in records)
    return key, len(records), sum(bool(one["alarms"]) for one in records), f"{least:.2f}", f"{seconds:.1f}"


def _notes(records: list[dict[str, Any]]) -> list[str]:
    seeds = sorted({one["seed"] for one in records})
    accused = [one for one in records if one["alarms"]]
    named = [f"- {one['row']}, seed {one['seed']}: {'; '.join(one['alarms'])}" for one in accused]
    return [
        f"- {len(records)} searches, seeds {', '.join(map(str, seeds))} (the last one of a campaign not for all rows): "
        f"{len(accused)} with a finding that the row does not declare.",
        "- least share: of the declared sensitivity, of the label that a search moved the least (labels that it did "
        "not move at all are left out); the smallest over the seeds.",
        *named,
    ]


if __name__ == "__main__":
    main()
