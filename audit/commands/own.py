"""``dpassay audit MODULE:RUN``: an algorithm of one's own, its witnesses printed and kept."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn, get_args

import typer

from dpassay.audit.inputs.foreign import is_code
from dpassay.audit.inputs.own import open_own, own_row
from dpassay.audit.plain import json_text
from dpassay.audit.report.explain import explain_lines
from dpassay.audit.report.table import print_rows
from dpassay.audit.row import Effort
from dpassay.audit.running.report_file import document, save
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.errors import PURE, BadInput, require, require_budget
from dpassay.reference.files import require_writable

from .progress import progress
from .witnesses import print_plainly, print_witnesses, save_witnesses
from .written import Wanted


@dataclass(frozen=True)
class OwnClaim:
    """What the command line says of one's own algorithm."""

    epsilon: float | None
    delta: float
    space: str | None
    relation: str | None

    def stated(self) -> PrivacyClaim:
        """Epsilon and delta; raises BadInput where there is no epsilon, or no budget."""
        if self.epsilon is None:
            raise BadInput("--epsilon", None, "what do you claim? for example --epsilon 1")
        require(self.delta != 0, "--delta", self.delta, PURE)
        require_budget(self.epsilon, self.delta)
        return PrivacyClaim(self.epsilon, self.delta)

    def of_relation(self) -> Relation | None:
        """The named relation; None: that of the space. Raises BadInput for one that does not exist."""
        known: tuple[Relation, ...] = get_args(Relation)
        relation = next((one for one in known if one == self.relation), None)
        why = f"must be {' or '.join(known)}"
        require(self.relation is None or relation is not None, "--relation", self.relation, why)
        return relation


def audit_own(
    names: list[str],
    said: OwnClaim,
    effort: Effort,
    output: Path | None,
    wanted: Wanted,
    as_json: bool = False,
    explain: bool = False,
    quiet: bool = False,
) -> NoReturn:
    """Audit, print the row and the witnesses, save both and what else is wanted, exit as the row says."""
    require(len(names) == 1, "algorithms", ", ".join(names), "an algorithm of your own stands alone")
    stated = said.stated()
    require(effort.examples >= 1, "--examples", effort.examples, "your own algorithm needs a search")
    relation = said.of_relation()
    name = names[0]
    require(is_code(name), "algorithm", name, "must be MODULE:RUN")
    slug = re.sub(r"[^\w.-]+", "-", name).strip("-")[:80]
    path = output or Path("reports") / f"{slug}.json"
    require_writable(path, "--output")
    wanted.check(path)
    _, where = open_own(name, said.space, relation)
    claim = replace(stated, relation=where.relation)
    with progress("searching and auditing", 1, quiet=quiet):
        row, found = own_row(name, said.space, claim, effort)
    save(path, [row])
    kept = save_witnesses(path, path.stem, found.searched.witnesses)
    if as_json:
        print(json_text(document([row])))
    else:
        print_rows([row], effort.confidence, str(path))
        if explain:
            print_plainly(explain_lines(row, found.searched.witnesses))
        print_witnesses(found.searched.witnesses, kept)
    wanted.write([row], as_json=as_json)
    raise typer.Exit(row.exit_code())
