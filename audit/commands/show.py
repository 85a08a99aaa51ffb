"""``dpassay show``: one paper with its algorithms, or one algorithm with all that is known of it without an audit."""

import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer

from dpassay.audit.inputs.foreign import is_code, load_callable
from dpassay.audit.plain import json_text
from dpassay.audit.terminal.options import AsJson, names
from dpassay.reference import PAPERS, find
from dpassay.reference.case import Case

COMPLETIONS, REPAIRS = "completions (where the text is not executable)", "repairs"
SHARED = (COMPLETIONS, REPAIRS)  # lists that the cases of one algorithm share


def show(
    algorithm: Annotated[
        str,
        typer.Argument(
            help="A paper, an id or key of `dpassay list`, or MODULE:NAME of your own.", autocompletion=names
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Show a paper: who wrote it, and where each algorithm and statement is. Or an algorithm: its claim, constants,
    completions, repairs, and what it releases, with its cost. Of your own code: what it is, and which command asks.
    """
    if algorithm in PAPERS:
        from dpassay.proofs_check.paper_map import paper_data, paper_text  # here: it needs the proof ledger

        print(json_text(paper_data(PAPERS[algorithm])) if as_json else paper_text(PAPERS[algorithm]))
        return
    found = [_own(algorithm)] if is_code(algorithm) else [described(case) for case in find(algorithm)]
    if as_json:
        print(json_text(found))
        return
    texts = ("\n".join(described_lines(one, before)) for one, before in zip(found, [{}, *found], strict=False))
    print("\n\n".join(texts))


def described_lines(one: dict[str, Any], before: dict[str, Any]) -> Iterator[str]:
    """One case in words; of long lists what the case before it has not told."""
    for name, value in one.items():
        if isinstance(value, list) and value:
            told = [line for line in value if line in before.get(name, ())] if name in SHARED else []
            yield f"{name}:" + (f" {'as' if len(told) == len(value) else f'{len(told)} as'} above" if told else "")
            yield from (f"  - {line}" for line in value if line not in told)
        elif isinstance(value, dict) and value:
            shown = {key: f"{entry:.6g}" if isinstance(entry, float) else entry for key, entry in value.items()}
            yield f"{name}: {', '.join(f'{key} = {entry}' for key, entry in shown.items())}"
        elif value not in ("", [], {}):
            yield f"{name}: {value}"


def _own(name: str) -> dict[str, Any]:
    """One's own code: nothing is known of it before it runs."""
    from dpassay.audit.plain_numpy.signature import is_plain  # here: it needs the search

    run = load_callable(name, "algorithm")
    return {
        "key": name,
        "what": f"your own code, {'plain NumPy: run(data, rng)' if is_plain(run) else 'on a tape: run(problem, tape)'}",
        "file": _place(run),
        "says": (inspect.getdoc(run) or "").partition("\n")[0] if inspect.isroutine(run) else "",
        "to audit it": f"dpassay audit {name} --epsilon 1",
    }


def _place(run: Callable[..., Any]) -> str:
    from dpassay.audit.assaying.places import place_of  # here: it needs the search

    place = place_of(run)
    return "" if place is None else f"{place[0]}, run at line {place[1]}"


def described(case: Case) -> dict[str, Any]:
    """All that is known of a case without an audit; its longest run is recorded and accounted."""
    instance = case.build()
    transcript = instance.longest_transcript()
    kinds: Counter[str] = Counter()
    for release in transcript.releases:
        scale = "" if release.law.query is None else f", noise {release.law.scale:.4g}"
        claimed = "none claimed" if release.sensitivity is None else f"{release.sensitivity:.4g}"
        law = type(release.law).__name__
        kinds[f"{release.label}: {law}{scale}, sensitivity {claimed}, {transcript.participation(release)}"] += 1
    account = instance.accounted(case.claim.relation)
    broken = sorted({one.kind.value for one in case.declared if one.kind.leaks or one.kind.overshoots})
    bound = f"no bound, as this reading declares: {', '.join(broken)}" if broken else account.method
    lines = [f"{count} x {what}" for what, count in kinds.items()]
    if len(lines) > 12:
        lines = [*lines[:12], f"... and {len(lines) - 12} more kinds"]
    return {
        "key": case.key,
        "what": case.title,
        "cite": str(case.cite),
        "file": _place(instance.run),
        "claim": str(case.claim.guarantee),
        "data": case.data,
        "neighbours": instance.pair.description,
        "facts": dict(instance.facts),
        COMPLETIONS: list(case.completions),
        REPAIRS: list(case.repairs),
        "known defect": case.known,
        "releases of the longest run": lines,
        "accounted": f"epsilon {account.epsilon(case.claim.delta):.6g} at delta {case.claim.delta:g}: {bound}",
    }
