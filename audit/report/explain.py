"""A row in full: the four premises and what was found, the largest movements, the source that the search reached."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from dpassay.audit.inputs.foreign import is_code
from dpassay.audit.row import NOT_RUN, Row
from dpassay.audit.search.ground import Data
from dpassay.audit.search.witness import Witness, pair_lines
from dpassay.reference.case import reason
from dpassay.reference.errors import printable
from dpassay.reference.findings import Kind

from .problems import SENTENCES, of_the_run

REACHED = 0.99  # of a declared sensitivity: what is left may be rounding, and needs no reason
PREMISES: Mapping[str, tuple[Kind, ...]] = {
    premise: tuple(map(Kind, kinds)) for premise, kinds in SENTENCES["premises"].items()
}


def explain_lines(row: Row, witnesses: list[Witness]) -> Iterator[str]:
    """What stands below the table for one row; its witnesses follow. What breaks the budget, they alone tell."""
    looked = f"{row.examples} examples" if row.examples else "no search, the given pair only"
    yield f"{printable(row.key)}: {row.verdict_shown}; {looked}, seed {row.seed}"
    held = "not tried" if row.realised_by == NOT_RUN else "no counterexample found"
    spent = [(text, True) for kind, text in of_the_run(row) if kind is Kind.OVER_BUDGET]
    shown = {(one.finding.kind, one.finding.label) for one in witnesses}
    for place, (premise, kinds) in enumerate(PREMISES.items(), 1):
        broken = [(str(one), (one.kind, one.label) in shown) for one in row.findings if one.kind in kinds]
        broken = spent if Kind.OVER_BUDGET in kinds else broken
        yield f"  premise {place}: {premise}: {'does not hold' if broken else held}"
        for text, witnessed in broken:
            yield f"    {printable(text)}{'' if witnessed else ' (by a run on the given pair; no witness)'}"
    if row.certificate:
        bound = "no certificate" if row.certified is None else f"certified {row.certified_shown}"
        yield f"  {bound}, for every pair of neighbours"
        yield from (f"    {printable(text)}" for text in row.certificate)
    yield from _shares(row)
    if row.pair:
        data = Data(row.pair["sizes"], np.array(row.pair["rows"]), np.array(row.pair["there"]), row.pair["target"])
        yield "  the worst neighbours that the search came upon, which were audited"
        yield from (f"  {line}" for line in pair_lines(data))
    yield from _source(row)
    if row.raised:
        yield "  raised on both sides alike, on data that the claim covers"
        yield from (f"    {printable(text)}" for text in row.raised)


def replay_command(witness: Witness, path: Path | str) -> str:
    """The command that shows a witness again; code of one's own is named, so that whoever trusts it loads it."""
    code = [str(witness.about.get(name, "")) for name in ("algorithm", "space")]
    modules = dict.fromkeys(name.partition(":")[0] for name in code if is_code(name))
    command = f"dpassay neighbours replay {shlex.quote(str(path))}" + "".join(f" --module {name}" for name in modules)
    program = witness.about.get("program")
    return f"{command} --program {shlex.quote(str(program))}" if program else command


def _shares(row: Row) -> Iterator[str]:
    """By label, largest first; the pair of the table counts too."""
    largest = dict(row.movements)
    for label, share in row.shares.items():
        largest[label] = max(share, largest.get(label, 0.0))
    if not largest:
        yield "  movements: no release declares a sensitivity"
        return
    yield "  largest movement of each label, as a share of its declared sensitivity"
    width = min(40, max(len(printable(label)) for label in largest))
    for label, share in sorted(largest.items(), key=lambda one: (-one[1], one[0])):
        why = reason(label, row.attainable) if share < REACHED else ""
        yield f"    {printable(label):{width}} {share:.4g}{f' ({printable(why)})' if why else ''}"


def _source(row: Row) -> Iterator[str]:
    if not row.coverage:
        yield "  source: nothing was traced" if row.examples else "  source: not traced without a search"
        return
    seen = row.coverage
    yield (
        f"  source: {seen['lines reached']} of {seen['lines']} lines and {seen['branches reached']} of "
        f"{seen['branches']} branches of the algorithm's own files were reached"
    )
    if row.missed:
        yield "  releases and decisions that were not reached"
        yield from (f"    {printable(text)}" for text in row.missed)
    elif not row.explained:
        yield "  every release and every decision was reached"
    if row.explained:
        yield "  not reached, for a reason that the case gives"
        yield from (f"    {printable(place)}: {printable(reason)}" for place, reason in row.explained.items())
