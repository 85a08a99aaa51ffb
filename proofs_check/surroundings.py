"""The graph around a statement, for a reader at a terminal: what it rests on, what rests on it, and what fails."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping

from .claim import Result
from .derivations import USES
from .effects import Weight, effect
from .graph import SIDES, Standing, standing, steps_of, word
from .statements import STATEMENTS

WIDTH = 108
LONG = 160  # characters of evidence; all of it stands in `--id ID --explain`


def statement(name: str, papers: Iterable[str]) -> str:
    """A statement as the papers spell it (``theorem 3.17`` is Theorem 3.17), or the name as it is."""
    known = {one.lower(): one for paper in papers for one in STATEMENTS[paper]}
    return known.get(" ".join(name.lower().split()), name)


def around(paper: str, name: str, results: Mapping[str, Result], *, rows: bool = True) -> list[str]:
    """Both sides of a statement, what fails in it, what it uses and what uses it; with ``rows`` its own rows, too."""
    lines = [f"{paper}, {name}"]
    for side in SIDES:
        found = standing(paper, name, side, results)
        lines.append(f"  {_side(side):<8} {_plain(found)}")
        lines += _why(found)
    lines += _uses(paper, name, results, depth=1, seen={name})
    users = [one for one, used in USES.get(paper, {}).items() if name in used]
    lines += [f"  used by {', '.join(users)}"] if users else []
    if rows:
        own = [results[row_id] for row_id in steps_of(paper, name) if row_id in results]
        lines += [f"  rows     {len(own)}, {sum(one.failed for one in own)} of them failing"] if own else []
        lines += [_row(one) for one in own]
    return lines


def _side(side: object) -> str:
    return str(side).removeprefix("breaks ")


def _plain(found: Standing) -> str:
    return word(found).replace("**", "")


def _why(found: Standing) -> list[str]:
    lines: list[str] = []
    for text in found.under:
        lines += _wrapped(f"under {text}")
    for result in found.failing:
        evidence = result.finding.evidence
        short = evidence if len(evidence) <= LONG else evidence[: LONG - 3] + "..."
        lines += _wrapped(f"fails {result.row.id.split('/', 1)[1]}: {short}")
    return lines + (_wrapped(f"excluded {found.excluded}") if found.excluded else [])


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=" " * 11, subsequent_indent=" " * 13, break_long_words=False, break_on_hyphens=False
    )


def _uses(paper: str, name: str, results: Mapping[str, Result], *, depth: int, seen: set[str]) -> list[str]:
    """What a statement uses, and what that uses, each once."""
    lines = []
    for used in USES.get(paper, {}).get(name, ()):
        again = used in seen
        words = ", ".join(f"{_side(side)} {_plain(standing(paper, used, side, results))}" for side in SIDES)
        lines.append(f"{'  ' * depth}uses {used}: {'see above' if again else words}")
        if not again:
            seen.add(used)
            lines += _uses(paper, used, results, depth=depth + 1, seen=seen)
    return lines


def _row(result: Result) -> str:
    found = effect(result)
    cost = f"  ({found.words})" if found.weight is not Weight.NOTHING else ""
    return f"    {result.verdict:<12} {result.row.id}{cost}"
