"""``dpassay check``: hold a project's mechanisms to the claims of its file, and to what they were."""

import os
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from dpassay.audit.claims.audited import chosen, run_claims
from dpassay.audit.claims.compare import Compared, against, with_changes
from dpassay.audit.claims.lock import Lock, read_lock, write_lock
from dpassay.audit.claims.model import DEFAULT, ClaimsFile, Lines, read_claims
from dpassay.audit.claims.reached import Cache, look_over
from dpassay.audit.exit_codes import BAD_INPUT, CRASHED, FAILED, FINE, INTERRUPTED
from dpassay.audit.phases import reporting, time_is_up
from dpassay.audit.plain import json_text
from dpassay.audit.report.problems import Unchecked
from dpassay.audit.report.table import table_lines
from dpassay.audit.report.verdicts import wide_console
from dpassay.audit.row import Row
from dpassay.audit.running.report_file import document, save
from dpassay.audit.terminal.finish import Options
from dpassay.audit.terminal.options import AsJson, Budget, FailOn, GitHub, Jobs, JUnit, Markdown, Mildest, Sarif
from dpassay.audit.terminal.progress import Quiet, progress, within
from dpassay.audit.verdict import Verdict, joint_exit_code
from dpassay.reference.errors import BadInput, Broken, printable, require
from dpassay.reference.files import require_writable, there

_PIPED, _LONGEST = 100, 140  # columns: where no terminal says how wide it is, and of a line of prose
NOTHING_WORSE = "nothing is worse than it was"
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def check(
    claims: Annotated[Path, typer.Argument(help="The claims file (`dpassay init` writes a first one).")] = DEFAULT,
    only: Annotated[list[str] | None, typer.Option(help="Claims with this name; *: anything. May be repeated.")] = None,
    baseline: Annotated[Path | None, typer.Option(help="Fail also where a claim is worse than in this lock.")] = None,
    update: Annotated[bool, typer.Option("--update", help="Write the lock file of --baseline as it is now.")] = False,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Make every row anew, and keep none.")] = False,
    fail_on: Mildest = FailOn.INCONCLUSIVE,
    jobs: Jobs = 2,
    budget: Budget = None,
    output: Annotated[Path | None, typer.Option(help="Write the rows here as a report (JSON).")] = None,
    as_json: AsJson = False,
    junit: JUnit = None,
    sarif: Sarif = None,
    markdown: Markdown = None,
    github: GitHub = False,
    quiet: Quiet = False,
) -> None:
    """Hold mechanisms to the claims of a file: exit 1 if one fails, 3 if one is inconclusive, else 0.

    Every claim is audited as by `dpassay audit`; where the search or the account fails it already, no statistics are
    made. What a printed reading is known to show counts as well. Rows are kept in .dpassay_cache, under a hash of the
    code that the claim reaches, its files and its parameters.

    --fail-on X: verdicts count from the worst down to X, in the order violated, leaks, overshoots, over-budget,
    inconclusive; never: exit 0. A claim with severity "warning" is shown and does not count.

    --baseline privacy.lock.json also fails where the accounted epsilon rises, the realised one rises beyond its
    interval, noise, sensitivities or the sequence of releases change, a line with a release or a decision is no longer
    reached, the audit lost power, or a claim is gone. It prints old, new, cause and difference; --update writes that.
    """
    require(baseline is not None or not update, "--update", update, "goes with --baseline")
    require(budget is None or not update, "--budget", budget, "a lock file holds whole audits: leave it out")
    file, lines = read_claims(claims)
    numbers, options = chosen(file, only or []), Options(junit, sarif, markdown, github, as_json, strict=True)
    _check_files(options, [path for path in (claims, baseline) if path is not None], output)
    lock = _lock(baseline, update)
    codes = look_over(file, numbers, lines)
    blocks = lock.claims if lock else {}
    pairs = {one: block.pair for one in numbers if (block := blocks.get(file.claim[one].name)) and block.pair}
    cache = None if no_cache else Cache(lines.path.parent)
    rows, errors = _rows((file, lines, codes), pairs, cache, numbers, jobs, quiet, budget)
    unchecked = [Unchecked(file.claim[one].name, printable(str(error))) for one, error in errors.items()]
    compared = against(baseline, lock, file, rows) if baseline else None
    failing = compared.failing(file) if compared and lock and not update else []
    shown = [with_changes(rows[number], failing) for number in numbers if number in rows]
    if baseline and update and compared and not errors:
        write_lock(baseline, compared.now)
    if output is not None:
        save(output, shown, [one.name for one in file.claim], replace=True)
    if as_json:
        print(json_text(_document(shown, compared, unchecked)))
    else:
        _print_checked(shown, file, baseline, compared, update, len(unchecked))
    options.write(shown, unchecked)
    for one in unchecked:
        print(f"dpassay: {one.why}", file=sys.stderr)
    if errors:
        raise typer.Exit(CRASHED if any(isinstance(one, Broken) for one in errors.values()) else BAD_INPUT)
    raise typer.Exit(exit_code(shown, fail_on, bool(failing)))


def _check_files(options: Options, taken: Sequence[Path], output: Path | None) -> None:
    """Nothing is written over what is read."""
    if output is not None:
        require_writable(output, "--output")
        same = {os.path.realpath(path) for path in taken}
        require(os.path.realpath(output) not in same, "--output", str(output), "is used by the command as well")
    options.check(*taken, *([output] if output else []))


def _lock(path: Path | None, update: bool) -> Lock | None:
    if path is None:
        return None
    if update:
        require_writable(path, "--baseline")
    known = there(path, "--baseline")
    require(known or update, "--baseline", str(path), "there is no such file; --update writes a first one")
    return read_lock(path) if known else None


def _rows(
    checked: tuple[ClaimsFile, Lines, dict[int, str]],
    pairs: Mapping[int, dict[str, Any]],
    cache: Cache | None,
    numbers: list[int],
    jobs: int,
    quiet: bool,
    budget: float | None,
) -> tuple[dict[int, Row], dict[int, BadInput | Broken]]:
    """By position, and what other claims ended in; rows are kept at once, so that an interrupted check can go on.

    Args:
        checked: the file, the lines of its claims, and the hash of what each of them reaches.
        pairs: of the lock. Asked for again with the pair that it came to, a row would be the same.
    """
    (file, lines, codes), done = checked, dict[int, Row]()

    def key(number: int, pair: Mapping[str, Any]) -> str:
        return f"{codes[number]} {json_text(pair)}"

    try:
        with progress("checking", len(numbers), quiet=quiet, pace=0) as say, reporting(seconds=budget):

            def each(number: int, row: Row) -> None:
                done[number] = row
                for pair in (pairs.get(number, {}), row.pair):
                    if cache and not row.cached and not time_is_up():
                        cache.put(key(number, pair), row)
                spent = "from the cache" if row.cached else f"{row.seconds:.0f} s"
                say(f"{row.key}: {row.verdict} ({spent})")

            for number in numbers:
                kept = cache and cache.get(key(number, pairs.get(number, {})), file.claim[number])
                if kept:
                    each(number, kept)
            todo = [number for number in numbers if number not in done]
            with within(say, [file.claim[number].name for number in todo], jobs) as at_work:
                errors = run_claims(file, todo, lines, jobs, pairs, each, at_work)
    except KeyboardInterrupt:
        more = ", and are kept: the same command goes on from there" if cache else ""
        print(f"dpassay: interrupted; {len(done)} of {len(numbers)} claims were checked{more}", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    return done, errors


# -- the ending
def exit_code(rows: Iterable[Row], fail_on: FailOn, changes: bool = False) -> int:
    """1 if a claim that counts fails, or the baseline says so; else 3 if one that counts is inconclusive; else 0."""
    counted = [one.verdict for one in rows if one.severity != "warning" and fail_on.counts(one.verdict)]
    worse = FAILED if changes and fail_on is not FailOn.NEVER else FINE
    return joint_exit_code([*(Verdict(one).exit_code for one in counted), worse])


def closing_lines(rows: Sequence[Row], file: ClaimsFile, unchecked: int) -> list[str]:
    """The lines under the table; ``unchecked`` claims could not be run."""
    shared = f"the {len(file.claim)} claims of the file share that, and" if len(file.claim) > 1 else "so"
    found = [
        f"False alarms: with probability {file.false_alarms:.2g} at most is any claim that holds called violated; "
        f"{shared} each lower bound holds with {100 * file.confidence:.6g} % confidence. "
        "Search, replay and accounting raise none."
    ]
    kept, left = sum(row.cached for row in rows), len(file.claim) - len(rows) - unchecked
    found += [f"{kept} of {len(rows)} from the cache."] * (kept > 0) + [f"{left} of the file not checked."] * (left > 0)
    return found


def _document(rows: list[Row], compared: Compared | None, unchecked: list[Unchecked]) -> dict[str, object]:
    found = document(rows)
    if unchecked:
        found["unchecked"] = [{"claim": one.name, "why": one.why} for one in unchecked]
    if compared is not None:
        found["changes"] = [vars(one) for one in compared.changes]
    return found


def _print_checked(
    rows: Sequence[Row], file: ClaimsFile, path: Path | None, compared: Compared | None, updated: bool, unchecked: int
) -> None:
    """The table, the changes, the summary; ``unchecked`` claims could not be run."""
    console = wide_console(_PIPED)
    if rows:
        for line in table_lines(rows, console.width, strict=True):
            console.print(line, soft_wrap=True)
        console.print()
    if compared is not None and path is not None:
        _print_changes(console, path, compared, updated, unchecked)
    for text in closing_lines(rows, file, unchecked):
        _say(console, text)


def _print_changes(console: Console, path: Path, compared: Compared, updated: bool, unchecked: int) -> None:
    if updated and unchecked:
        _say(console, f"{path}: not written, since {unchecked} of the claims could not be checked.")
        return
    if updated:
        same = "unchanged" if not compared.diff else "written"
        _say(console, f"{path}: {same}, {len(compared.now.claims)} claim{'s' * (len(compared.now.claims) != 1)}.")
        return
    fails, count = sum(one.fails for one in compared.changes), len(compared.changes)
    _say(console, f"Against {path}: {f'{fails} of {count} differences fail' if count else NOTHING_WORSE}.")
    for one in compared.changes:
        _say(console, f"  {'CHANGED' if one.fails else 'noted'}: {one}", "bold red" if one.fails else "")
    if compared.changes and compared.diff:
        _say(console, f"If that is meant, --update writes it to {path}; this is what to commit:")
        for line in compared.diff:
            indent = line[: len(line) - len(line[1:].lstrip())] if line else ""
            console.print(Text(indent + printable(line[len(indent) :]), _COLOURS.get(line[:1], "")), soft_wrap=True)
    console.print()


def _say(console: Console, text: str, style: str = "") -> None:
    lead = text[: len(text) - len(text.lstrip())]
    width = min(console.width, _LONGEST)
    filled = textwrap.fill(printable(text), width, initial_indent=lead, subsequent_indent=f"{lead}    ")
    console.print(Text(filled, style), soft_wrap=True)
