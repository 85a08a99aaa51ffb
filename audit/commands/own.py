"""``dpassay audit`` of one's own code, and of programs on the live protocol."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from dpassay.audit.exit_codes import FAILED, FINE
from dpassay.audit.inputs.foreign import is_code
from dpassay.audit.live.program import LiveProgram
from dpassay.audit.row import Effort, Row
from dpassay.audit.running.report_file import load, save
from dpassay.audit.subjects.own import open_own, open_space, own_row
from dpassay.audit.subjects.programs import audited, own_program
from dpassay.audit.subjects.unclaimed import NOTHING, nearest
from dpassay.audit.verdict import Verdict
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.case import Case, PrivacyClaim
from dpassay.reference.errors import PURE, BadInput, require, require_budget
from dpassay.reference.files import require_writable

from .finish import Options, finish
from .progress import progress, tracked


@dataclass(frozen=True)
class OwnClaim:
    """What the command line says of one's own algorithm."""

    epsilon: float | None
    delta: float
    space: str | None
    relation: str | None
    required: str | None = None  # the verdict that the exit code hangs on
    given: tuple[str, ...] = ()  # values of parameters, NAME=VALUE

    def check_required(self) -> None:
        """Raises BadInput for a verdict that cannot be required."""
        require(self.required in (None, Verdict.CERTIFIED), "--require", self.required, "must be certified")

    def lost(self, rows: Sequence[Row]) -> bool:
        """Is a row without the verdict that is required? It is named."""
        keys = [row.key for row in rows if self.required and row.verdict != self.required]
        if keys:
            print(f"dpassay: --require {self.required}: another verdict for {', '.join(keys)}", file=sys.stderr)
        return bool(keys)

    def check_unsaid(self) -> bool:
        """Nothing is said where the catalogue states the claim; raises BadInput."""
        why = "is for an algorithm of your own: MODULE:RUN, or --program with --space"
        options = {"--epsilon": self.epsilon, "--space": self.space, "--relation": self.relation}
        self.check_required()
        for option, value in (options | {"--with": self.given or None}).items():
            require(value is None, option, value, why)
        return True

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


@dataclass(frozen=True)
class Program:
    """What the command line says of a program."""

    command: str | None
    timeout: float
    declared: bool

    @property
    def given(self) -> bool:
        """There is one."""
        return self.command is not None

    def check(self, named: Sequence[str], resume: bool) -> None:
        """Options that go with a program or do not; raises BadInput."""
        if self.given:
            require(bool(named), "--program", self.command, "needs the name of the algorithm that it runs")
            require(not resume, "--resume", True, "a program is audited anew: its code is not known")
        require(self.given or not self.declared, "--declared", True, "is about a --program")
        require(0 < self.timeout < float("inf"), "--timeout", self.timeout, "must be positive and finite")


def audit_own(names: Sequence[str], said: OwnClaim, effort: Effort, output: Path | None, options: Options) -> int:
    """Audit code of one's own; returns the exit code."""
    require(len(names) == 1, "algorithms", ", ".join(names), "an algorithm of your own stands alone")
    if said.epsilon is not None:
        said.stated()
    said.check_required()
    require(effort.examples >= 1, "--examples", effort.examples, "your own algorithm needs a search")
    relation = said.of_relation()
    name = names[0]
    require(is_code(name), "algorithm", name, "must be MODULE:RUN")
    path = _report(names, output, "", options)
    run, where = open_own(name, said.space, relation, given=said.given)
    with progress("searching and auditing", 1, quiet=options.quiet):
        claim = nearest(name, run, where, said.delta, effort.seed) if said.epsilon is None else said.stated()
        row, _ = own_row(name, said.space, replace(claim, relation=where.relation), effort, given=said.given)
    save(path, [row])
    code = finish([row], path, options, effort.confidence, own=path.stem)
    if said.epsilon is None:
        print(_unclaimed(name, said, claim), file=sys.stderr if options.as_json else sys.stdout)
        code = code if Verdict(row.verdict).failed else FINE
    return FAILED if said.lost([row]) else code


def _unclaimed(name: str, said: OwnClaim, claim: PrivacyClaim) -> str:
    """What an audit without a claim ends with: the command that holds the code to what was found."""
    if claim.epsilon == NOTHING:
        return f"No claim was given, and no finite epsilon was found (held to {NOTHING:g})."
    words = ["dpassay", "audit", name, "--epsilon", f"{claim.epsilon:g}", "--delta", f"{claim.delta:g}"]
    words += [word for option in ("space", "relation") if (v := getattr(said, option)) for word in (f"--{option}", v)]
    words += [word for one in said.given for word in ("--with", one)]
    return f"No claim was given. The nearest that the code was found to keep:\n  {shlex.join(words)}"


def audit_program(
    cases: Sequence[Case], program: Program, effort: Effort, output: Path | None, options: Options
) -> int:
    """Audit the cases one after another, each run by the program; returns the exit code."""
    path = _report([case.key for case in cases], output, ".program", options)
    rows = []
    for case in tracked(cases, "auditing", options.quiet):
        with LiveProgram(program.command or "", case.id, case.reading, timeout=program.timeout) as live:
            rows.append(audited(case, live, effort, program.declared))
    return _saved(rows, path, options, effort)


def audit_own_program(
    names: Sequence[str], said: OwnClaim, program: Program, effort: Effort, output: Path | None, options: Options
) -> int:
    """Audit a program on a space of one's own, under a plain name; returns the exit code."""
    why = "a program with data of its own stands alone: name it once"
    require(len(names) == 1, "algorithms", ", ".join(names), why)
    require(said.required is None, "--require", said.required, "is for code; a program has no certificate")
    (name,) = names
    require(not is_code(name), "algorithm", name, "a program is told a plain name; --space names your data")
    require(not program.declared, "--declared", True, "is about a printed reading of the catalogue")
    claim_of, relation = said.stated(), said.of_relation()
    require(effort.examples >= 1, "--examples", effort.examples, "data of your own need a search")
    path = _report([name], output, ".program", options)
    where = open_space(said.space, relation)
    claim = replace(claim_of, relation=where.relation)
    with (
        progress("searching and auditing", 1, quiet=options.quiet),
        LiveProgram(program.command or "", name, timeout=program.timeout) as live,
    ):
        row = own_program(live, said.space or "", where, claim, effort)
    return _saved([row], path, options, effort)


def _report(names: Sequence[str], output: Path | None, ending: str, options: Options) -> Path:
    """Where the rows go; rows of other algorithms stay there, so what is there must be a report."""
    name = re.sub(r"[^\w.@,-]+" if ending else r"[^\w.-]+", "-", ",".join(names)).strip("-")[:80]
    path = output or Path("reports") / f"{name}{ending}.json"
    require_writable(path, "--output")
    options.check(path)
    if path.is_file():
        load(path)
    return path


def _saved(rows: Sequence[Row], path: Path, options: Options, effort: Effort) -> int:
    save(path, rows)
    return finish(rows, path, options, effort.confidence)
