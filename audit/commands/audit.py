"""``dpassay audit``: the audit suite, one's own code, and programs on the live protocol."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from dpassay.audit.assaying import assay as assaying
from dpassay.audit.exit_codes import FINE, INTERRUPTED
from dpassay.audit.inputs.foreign import is_code, relation_named
from dpassay.audit.phases import reporting
from dpassay.audit.row import Effort, Row
from dpassay.audit.running.fingerprint import fingerprint
from dpassay.audit.running.report_file import Report, load, save, store_of
from dpassay.audit.subjects.own import NOTHING, nearest, open_own, open_space, own_row, rounded_up
from dpassay.audit.terminal.finish import Options, file_name, finish, remember, remembered
from dpassay.audit.terminal.options import AsJson, Budget, GitHub, Jobs, JUnit, Markdown, Sarif, names
from dpassay.audit.terminal.progress import Quiet, progress, within
from dpassay.audit.verdict import Verdict
from dpassay.audit.version import versions
from dpassay.reference.case import Case, PrivacyClaim
from dpassay.reference.catalogue import CASES, find
from dpassay.reference.errors import PURE, BadInput, require, require_budget
from dpassay.reference.files import require_writable

OF_YOUR_OWN = "is for an algorithm of your own: MODULE:RUN, or --program with --space"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the command line asks for."""

    names: list[str]
    everything: bool
    effort: Effort
    epsilon: float | None
    delta: float
    space: str | None
    relation: str | None
    given: tuple[str, ...]  # values of parameters, NAME=VALUE
    budget: float | None  # seconds after which the audit ends with what it has found
    program: str | None
    timeout: float
    jobs: int
    output: Path | None
    resume: bool
    required: str | None  # the verdict that the exit code hangs on
    options: Options

    def check(self) -> None:
        """Options that go together or do not; raises BadInput."""
        why = "is for a run without names; named ones run, slow or not"
        require(not (self.everything and self.names), "--all", True, why)
        if self.program is not None:
            require(bool(self.names), "--program", self.program, "needs the name of the algorithm that it runs")
            require(not self.resume, "--resume", True, "a program is audited anew: its code is not known")
            require(self.required is None, "--require", self.required, "is for code; a program has no certificate")
        require(0 < self.timeout < float("inf"), "--timeout", self.timeout, "must be positive and finite")
        require(self.required in (None, Verdict.CERTIFIED), "--require", self.required, "must be certified")

    def refuse(self, why: str, *options: str) -> None:
        """These options mean nothing here; raises BadInput for one that is given."""
        for option in options:
            value = self.given if option == "--with" else getattr(self, option.removeprefix("--"))
            require(value is None or value == (), option, value, why)

    def own_names(self) -> list[str]:
        """Each name once; with data of one's own there is a search. Raises BadInput."""
        require(self.effort.examples >= 1, "--examples", self.effort.examples, "data of your own need a search")
        return list(dict.fromkeys(self.names))

    def stated(self) -> PrivacyClaim:
        """Epsilon and delta; raises BadInput where there is no epsilon, or no budget."""
        if self.epsilon is None:
            raise BadInput("--epsilon", None, "what do you claim? for example --epsilon 1")
        require(self.delta != 0, "--delta", self.delta, PURE)
        require_budget(self.epsilon, self.delta)
        return PrivacyClaim(self.epsilon, self.delta)

    def report(self, ending: str = "") -> Path:
        """Where the rows go; the full report keeps its place, and named algorithms have a file of their own."""
        path = self.output or Path("reports") / f"{file_name(','.join(self.names), 80) or 'audit'}{ending}.json"
        require_writable(path, "--output")
        self.options.check(path)
        if self.names and self.output and path.is_file():
            load(path)  # rows of other algorithms stay in it: what is there must be a report
        return path

    def saved(self, rows: Sequence[Row], path: Path, own: str = "") -> int:
        """Put the rows into the report, and end; returns the exit code."""
        save(path, rows, replace=self.output is None)
        return finish(rows, path, self.options, self.effort.confidence, own)


def _audited(asked: Asked) -> int:
    """What the names are decides who audits; returns the exit code."""
    asked.check()
    if asked.program is not None and asked.space is not None:
        return _audit_own_program(asked)
    if any(is_code(name) for name in asked.names):
        why = "is told a plain name, with --space MODULE:SPACE and --epsilon"
        require(asked.program is None, "--program", asked.program, why)
        return _audit_own(asked)
    asked.refuse(OF_YOUR_OWN, "--epsilon", "--space", "--relation", "--with", "--budget")
    cases = [case for case in CASES if asked.everything or case.quick]
    if asked.names:
        cases = list({case.key: case for name in asked.names for case in find(name)}.values())
    return _audit_cases(asked, cases) if asked.program is None else _audit_program(asked, cases, asked.program)


def _audit_own(asked: Asked) -> int:
    """Code of one's own, each function for itself; they share the time of --budget."""
    claim, relation = None if asked.epsilon is None else asked.stated(), relation_named(asked.relation)
    other = [name for name in asked.names if not is_code(name)]
    require(not other, "algorithms", ", ".join(other), "of the catalogue: needs a command of its own")
    opened = {name: open_own(name, asked.space, relation, given=asked.given) for name in asked.own_names()}
    path, share = asked.report(), asked.budget and asked.budget / len(opened)
    rows, held = [], {}
    for name, (run, where) in opened.items():
        with progress("auditing", 2, quiet=asked.options.quiet) as say, reporting(say, share):
            held[name] = claim or nearest(name, run, where, asked.delta, asked.effort.seed)
            for _ in range(3):
                its = replace(held[name], relation=where.relation)
                row = own_row(name, asked.space, its, asked.effort, given=asked.given)
                if claim is not None or rounded_up(row.accounted) <= its.epsilon:
                    break  # else the search has found more, and nobody has claimed less
                held[name] = replace(its, epsilon=rounded_up(row.accounted))
        rows.append(replace(row, required=asked.required or ""))
    code = asked.saved(rows, path, own=path.stem)
    if claim is None:
        for name, found in held.items():
            print(_unclaimed(name, asked, found), file=sys.stderr if asked.options.as_json else sys.stdout)
        code = code if any(Verdict(row.verdict).failed or row.lacks_required for row in rows) else FINE
    return code


def _unclaimed(name: str, said: Asked, claim: PrivacyClaim) -> str:
    """What an audit without a claim ends with: the command that holds the code to what was found."""
    if claim.epsilon == NOTHING:
        return f"No claim was given, and no finite epsilon was found (held to {NOTHING:g})."
    words = ["dpassay", "audit", name, "--epsilon", f"{claim.epsilon:g}", "--delta", f"{claim.delta:g}"]
    words += [word for option in ("space", "relation") if (v := getattr(said, option)) for word in (f"--{option}", v)]
    words += [word for one in said.given for word in ("--with", one)]
    return f"No claim was given. The nearest that the code was found to keep:\n  {shlex.join(words)}"


def _audit_program(asked: Asked, cases: Sequence[Case], command: str) -> int:
    """The cases one after another, each run by the program."""
    from dpassay.audit.live.program import LiveProgram  # here and below: the live protocol is slow to import
    from dpassay.audit.subjects.programs import audited

    path, rows = asked.report(".program"), []
    with progress("auditing", len(cases), quiet=asked.options.quiet) as say, reporting(say):
        for case in cases:
            with LiveProgram(command, case.id, case.reading, timeout=asked.timeout) as live:
                rows.append(audited(case, live, asked.effort))
    return asked.saved(rows, path)


def _audit_own_program(asked: Asked) -> int:
    """A program on a space of one's own, under a plain name."""
    from dpassay.audit.live.program import LiveProgram
    from dpassay.audit.subjects.programs import own_program

    require(len(asked.names) == 1, "algorithms", ", ".join(asked.names), "a program is one: name it once")
    (name,) = asked.own_names()
    asked.refuse("is for code", "--budget")
    require(not is_code(name), "algorithm", name, "a program is told a plain name; --space names your data")
    claim, relation = asked.stated(), relation_named(asked.relation)
    path, where = asked.report(".program"), open_space(asked.space, relation)
    with (
        progress("auditing", 1, quiet=asked.options.quiet) as say,
        reporting(say),
        LiveProgram(asked.program or "", name, timeout=asked.timeout) as live,
    ):
        row = own_program(live, asked.space or "", where, replace(claim, relation=where.relation), asked.effort)
    return asked.saved([row], path)


Algorithms = Annotated[
    list[str] | None,
    typer.Argument(
        help="Papers, algorithms, keys (see `dpassay list`), or your MODULE:RUN; default: the quick.",
        autocompletion=names,
    ),
]
Space = Annotated[
    str | None, typer.Option(help="MODULE:SPACE, the data that the claim covers; default: rows of any length.")
]
OfRelation = Annotated[
    str | None, typer.Option(help="replace-one, add-remove or zero-out; default: that of the space, else replace-one.")
]
Given = Annotated[
    list[str] | None,
    typer.Option("--with", help="NAME=VALUE for a parameter of your own function that is neither data nor noise."),
]
ProgramCommand = Annotated[
    str | None, typer.Option(help="A command that speaks the live protocol: it runs in place of the reference.")
]
Output = Annotated[
    Path | None,
    typer.Option(help="The report (JSON); default: reports/audit.json, for named algorithms a file of their name."),
]
Required = Annotated[
    str | None, typer.Option("--require", help="certified: exit 1 where a row has no certificate in its claim.")
]
Explain = Annotated[bool, typer.Option(help="Below the table: premises, movements, source reached, and every witness.")]


def audit(
    algorithms: Algorithms = None,
    everything: Annotated[bool, typer.Option("--all", help="Slow cases too; named ones run in any case.")] = False,
    runs: Annotated[int, typer.Option(help="Runs that count, for each case; fewer once 95 % are shown.")] = 1000,
    pilot: Annotated[int, typer.Option(help="Runs for choosing the tilt, thrown away.")] = 400,
    confidence: Annotated[float, typer.Option(help="Confidence of each lower bound.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Same seed, same table, whatever the number of jobs.")] = 0,
    examples: Annotated[int, typer.Option(help="Examples of the search, for each case; 0: no search.")] = 150,
    epsilon: Annotated[float | None, typer.Option(help="Claimed epsilon of your own algorithm.")] = None,
    delta: Annotated[float, typer.Option(help="Claimed delta of your own algorithm.")] = 1e-5,
    space: Space = None,
    relation: OfRelation = None,
    given: Given = None,
    budget: Budget = None,
    program: ProgramCommand = None,
    timeout: Annotated[float, typer.Option(help="Seconds for one line of --program.")] = 10.0,
    jobs: Jobs = 2,
    output: Output = None,
    resume: Annotated[bool, typer.Option(help="Keep rows of the report that the same code and effort made.")] = False,
    strict: Annotated[bool, typer.Option(help="Exit 1 for declared findings of printed readings as well.")] = False,
    required: Required = None,
    explain: Explain = False,
    as_json: AsJson = False,
    junit: JUnit = None,
    sarif: Sarif = None,
    markdown: Markdown = None,
    github: GitHub = False,
    quiet: Quiet = False,
) -> None:
    """Account, replay and audit algorithms; print claimed, accounted and realised epsilon.

    "realised epsilon >=" is a lower bound at the stated confidence; "exact" and "replay" need no statistics. Findings
    that a printed reading of a paper declares do not change the exit code (see --strict); any other finding does.
    An algorithm of your own is searched on the data that its claim covers and audited on the worst pair of neighbours
    that was found: ``dpassay audit mine:run --space mine:space --epsilon 1``. What breaks a claim is printed as a
    witness and kept beside the report, and in the folder ``witnesses`` there, for later audits.

    A program in another language asks for every draw and release line by line (docs/live.md). With data of its own it
    takes any name: ``dpassay audit counts --program ./counts --space data:COUNTS --epsilon 1``.
    A run without names writes its report anew; a run with names changes the rows of these names and keeps the others.
    """
    options = Options(junit, sarif, markdown, github, as_json, explain, strict, quiet)
    effort = Effort(runs, pilot, confidence, seed, examples)
    effort.check("--")
    asked = Asked(
        names=algorithms or [], everything=everything, effort=effort, epsilon=epsilon, delta=delta, space=space,
        relation=relation, given=tuple(given or ()), budget=budget, program=program, timeout=timeout, jobs=jobs,
        output=output, resume=resume, required=required, options=options,
    )  # fmt: skip
    raise typer.Exit(_audited(asked))


def _audit_cases(asked: Asked, cases: list[Case]) -> int:
    """Cases of the catalogue, each kept in the report when it is finished."""
    path = asked.report()
    if asked.resume and not (path.exists() or store_of(path).exists()):
        print(f"dpassay: {path}: nothing is kept to go on from; all rows are audited", file=sys.stderr)
    order, anew = [case.key for case in CASES], not (asked.resume or (asked.names and asked.output))
    report = Report(path, order, anew=anew, resume=asked.resume)
    rows = _run(asked, cases, report, path)
    for row in rows:
        remember(path, row)
    return finish(rows, path, asked.options, asked.effort.confidence)


def _run(asked: Asked, cases: list[Case], report: Report, path: Path) -> list[Row]:
    """The rows of the cases; each is kept when it is finished, so that an interrupted run can go on."""
    keys = {case.key: case for case in cases}
    known = [row for row in report.rows() if row.key in keys] if asked.resume else []
    alike = [row for row in known if (row.effort, row.versions) == (asked.effort, versions())]
    done = [row for row in alike if row.code == fingerprint(keys[row.key])]
    if stale := len(known) - len(done):
        why = "rows were made by other code, with other libraries or with another effort: audited again"
        print(f"dpassay: {stale} of {len(known)} {why}", file=sys.stderr)
    finished = len(done)
    try:
        found, quiet = remembered(path, cases), asked.options.quiet
        with progress("auditing", len(cases), done=finished, quiet=quiet) as say:

            def keep(row: Row) -> None:
                nonlocal finished
                report.keep([row])
                finished += 1
                say(f"{row.key}: {row.verdict}")
                at_work(row.key)

            with within(say, [key for key in keys if key not in {row.key for row in done}], asked.jobs) as at_work:
                rows = assaying.run_suite(cases, asked.effort, asked.jobs, done, keep, found)
        rows = [replace(row, required=asked.required or "") for row in with_proofs(rows, asked.jobs, quiet)]
        report.keep(rows)
    except KeyboardInterrupt:
        print(
            f"dpassay: interrupted; {finished} of {len(cases)} rows are kept for {path}; "
            "the same command with --resume goes on from there",
            file=sys.stderr,
        )
        raise typer.Exit(INTERRUPTED) from None
    finally:
        if finished:
            report.write()
    return rows


def with_proofs(rows: Sequence[Row], jobs: int = 1, quiet: bool = True) -> list[Row]:
    """The rows with ``proved`` filled in: the status of the privacy statements about each printed case."""
    printed = {row.algorithm for row in rows if row.reading == "printed"}
    if not printed:  # statements take seconds to derive
        return [replace(row, proved="-") for row in rows]
    from dpassay.audit.commands.prove import examined
    from dpassay.proofs_check.derivation.model import statements

    mine = [one for one in statements() if "privacy" in one.sides and printed & set(one.algorithms)]
    every = examined(mine, jobs, quiet)
    said = {
        algorithm: "; ".join(f"{one.statement.name} {one.status.label}" for one in every
                             if algorithm in one.statement.algorithms and "privacy" in one.statement.sides)
        for algorithm in printed
    }  # fmt: skip
    return [replace(row, proved=(row.reading == "printed" and said[row.algorithm]) or "-") for row in rows]
