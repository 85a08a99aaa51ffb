"""``dpassay show``: one paper with its algorithms, or one algorithm with all that is known of it without an audit."""

from __future__ import annotations

import inspect
from collections import Counter
from typing import Annotated, Any

import typer

from dpassay.audit.foreign import is_code, load_callable
from dpassay.audit.plain import json_text
from dpassay.audit.registered import find_cases, registered
from dpassay.reference.case import Case
from dpassay.reference.papers import PAPERS

from .completion import names


def show(
    algorithm: Annotated[
        str,
        typer.Argument(
            help="A paper, an id or key of `dpassay list`, or MODULE:NAME of your own.", autocompletion=names
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show a paper: who wrote it, and where each algorithm and statement is. Or an algorithm: its claim, constants,
    completions, repairs, and what it releases, with its cost. Of your own code: what it is, and which command asks.
    """
    if algorithm in PAPERS:
        from .paper_map import paper_data, paper_text  # here: it needs the proof ledger

        print(json_text(paper_data(PAPERS[algorithm])) if as_json else paper_text(PAPERS[algorithm]))
        return
    mine = is_code(algorithm) and not any(algorithm in case.names for case in registered())
    found = [_own(algorithm)] if mine else [_describe(case) for case in find_cases(algorithm)]
    if as_json:
        print(json_text(found))
        return
    for position, one in enumerate(found):
        if position:
            print()
        for name, value in one.items():
            if value in ("", [], {}):
                continue
            if isinstance(value, list):
                print(f"{name}:")
                for line in value:
                    print(f"  - {line}")
            elif isinstance(value, dict):
                print(f"{name}:")
                for key, entry in value.items():
                    print(f"  {key}: {entry:.6g}" if isinstance(entry, float) else f"  {key}: {entry}")
            else:
                print(f"{name}: {value}")


def _own(name: str) -> dict[str, Any]:
    """One's own code: nothing is known of it before it runs."""
    from dpassay.audit.places import place_of  # here: it needs the search
    from dpassay.audit.plain_numpy.measured import is_plain

    run = load_callable(name, "algorithm")
    place = place_of(run)
    return {
        "key": name,
        "what": "your own code, "
        + ("plain NumPy: run(data, rng)" if is_plain(run) else "on a tape: run(problem, tape)"),
        "where": "" if place is None else f"{place[0]}, line {place[1]}",
        "says": (inspect.getdoc(run) or "").partition("\n")[0] if inspect.isroutine(run) else "",
        "to audit it": f"dpassay audit {name} --epsilon 1",
    }


def _describe(case: Case) -> dict[str, Any]:
    instance = case.build()
    transcript = instance.longest_transcript()
    kinds: Counter[str] = Counter()
    for release in transcript.releases:
        scale = "" if release.law.query is None else f", noise {release.law.scale:.4g}"
        claimed = "none claimed" if release.sensitivity is None else f"{release.sensitivity:.4g}"
        law = type(release.law).__name__
        kinds[f"{release.label}: {law}{scale}, sensitivity {claimed}, {transcript.participation(release)}"] += 1
    account = instance.accounted(case.claim.relation)
    epsilon = account.epsilon(case.claim.delta)
    broken = sorted({one.kind.value for one in case.declared if one.kind.leaks or one.kind.overshoots})
    bound = f"no bound, as this reading declares: {', '.join(broken)}" if broken else account.method
    lines = [f"{count} x {what}" for what, count in kinds.items()]
    if len(lines) > 12:
        lines = [*lines[:12], f"... and {len(lines) - 12} more kinds"]
    return {
        "key": case.key,
        "what": case.title,
        "cite": str(case.cite),
        "claim": str(case.claim.guarantee),
        "data": case.data,
        "neighbours": instance.pair.description,
        "facts": dict(instance.facts),
        "completions (where the text is not executable)": list(case.completions),
        "repairs": list(case.repairs),
        "known defect": case.known,
        "releases of the longest run": lines,
        "accounted": f"epsilon {epsilon:.6g} at delta {case.claim.delta:g}: {bound}",
    }
