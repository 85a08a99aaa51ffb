"""``dpassay sequential``: audits that may stop at any time, continue later, and join several machines."""

import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, cast

import typer

from dpassay.audit.blackbox import sources
from dpassay.audit.blackbox.detect import same_data
from dpassay.audit.claims.claimed import read_claim
from dpassay.audit.claims.outputs import NOT_STATED
from dpassay.audit.exit_codes import INTERRUPTED
from dpassay.audit.report.verdicts import print_results
from dpassay.audit.scores.files import new_marks, read_scores
from dpassay.audit.sequential.session import Kept, black_box, load, stored_scores, verdict
from dpassay.audit.terminal.options import SEED, AsJson, Confidence, Delta, Epsilon, Mu, PairsFile, Sampled, Seed
from dpassay.audit.terminal.progress import Quiet, session_progress
from dpassay.reference.errors import BadInput, require
from dpassay.reference.guarantee import Guarantee

app = typer.Typer(
    help="Audits that stop as soon as a claim is refuted, continue from a checkpoint, and join several machines.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Checkpoint = Annotated[Path, typer.Option("--checkpoint", help="Where the state is kept; continued if it exists.")]
OfMachine = Annotated[int, typer.Option("--seed", callback=SEED, help="Seed of this machine; each needs its own.")]


def _claim(epsilon: float | None, delta: float, mu: float | None, sampled: str | None, pairs: Path | None) -> Guarantee:
    claim = read_claim(epsilon, delta, mu, sampled, pairs)
    if claim is None:
        raise BadInput("claim", None, "give one of --epsilon, --gdp, --sampled-gaussian, --curve")
    return claim.guarantee


@app.command(short_help="Black box: learn on past outputs, bet on fresh ones.")
def blackbox(
    checkpoint: Checkpoint,
    mechanism: sources.MechanismName = None,
    command: sources.CommandOption = None,
    dataset: sources.DatasetOption = None,
    neighbour: sources.NeighbourOption = None,
    epsilon: Epsilon = None,
    delta: Delta = 0.0,
    mu: Mu = None,
    sampled: Sampled = None,
    pairs: PairsFile = None,
    keep_alive: sources.KeepAliveOption = False,
    limit: Annotated[int, typer.Option("--limit", help="Runs of this session (each side).")] = 100_000,
    confidence: Confidence = 0.95,
    seed: OfMachine = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Black box: learn on all outputs so far, bet on fresh ones, until the claim falls or the budget is spent.

    The first outputs teach each other. Then each round draws as many as seem to be needed, a quarter to the whole of
    what is known, and bets most by what has won before.
    """
    require(50 <= limit <= 10**9, "--limit", limit, "must lie in 50..1e9")
    claim = _claim(epsilon, delta, mu, sampled, pairs)
    source = sources.read_source(mechanism, command, dataset, neighbour, keep_alive)
    kept = Kept(checkpoint, source.name, claim.name, seed)
    try:
        with session_progress(limit, quiet) as each:
            result = black_box(kept, source, claim, limit, confidence, each)
    except KeyboardInterrupt:
        said = f"interrupted; {kept.session.runs} runs are kept in {checkpoint}; the same command goes on from there"
        print(f"dpassay: {said}", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    notes = [*same_data(source.datasets), *cast("list[str]", result.evidence["notes"])]
    more = "".join(f"\n{one}" for one in notes)
    _report([checkpoint], confidence, as_json, result.seconds, more, telling=result.evidence)


@app.command(short_help="Grey box: stored attack scores, a pair of files at a time.")
def scores(
    first: Annotated[Path, typer.Argument(help="Scores of further runs on D.")],
    second: Annotated[Path, typer.Argument(help="Scores of further runs on D' (with the record).")],
    checkpoint: Checkpoint,
    name: Annotated[str, typer.Option(help="What is scored: checkpoints join only under one name.")] = "stored scores",
    epsilon: Epsilon = None,
    delta: Delta = 0.0,
    mu: Mu = None,
    sampled: Sampled = None,
    pairs: PairsFile = None,
    confidence: Confidence = 0.95,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Grey box: bet on stored attack scores, one pair of files after the other, as they come in.

    Each file must hold runs that no earlier file held. A file that was judged before, also in another order or format
    or with more scores appended, is refused.
    """
    claim = _claim(epsilon, delta, mu, sampled, pairs)
    kept = Kept(checkpoint, name, claim.name, seed)
    sides = read_scores(first), read_scores(second)
    new, note = new_marks([(str(first), sides[0]), (str(second), sides[1])], kept.session.marks, checkpoint)
    start = time.perf_counter()
    kept.put(stored_scores(kept.session, *sides, claim, new))
    _report([checkpoint], confidence, as_json, time.perf_counter() - start, note)


@app.command(short_help="One verdict from several machines.")
def combine(
    checkpoints: Annotated[list[Path], typer.Argument(help="Checkpoints of machines with different seeds.")],
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
) -> None:
    """One verdict from several machines (or the state of one)."""
    _report(checkpoints, confidence, as_json, 0.0)


def _report(
    checkpoints: list[Path],
    confidence: float,
    as_json: bool,
    seconds: float,
    more: str = "",
    telling: Mapping[str, object] | None = None,
) -> None:
    """The joint verdict; `telling` is what gave the claim away in the session that has just ended."""
    result = replace(verdict([load(path) for path in checkpoints], confidence, seconds), relation=NOT_STATED)
    onward = "The claim is refuted: there is no need to go on"
    if not result.verdict.failed:
        onward = "Continue with the same --checkpoint: the confidence holds whenever you stop"
    note = f"Audited: {result.evidence['audited']}. {onward}.{more}"
    if result.verdict.failed and telling and "event" in telling:
        seen = {name: value for name, value in telling.items() if name not in ("log_wealth", "notes")}
        result = replace(result, evidence={**result.evidence, **seen})
        hits, of = cast("tuple[int, int]", seen["hits"]), cast("tuple[int, int]", seen["of"])
        counted = f"{hits[0]:,} of {of[0]:,} on D, {hits[1]:,} of {of[1]:,} on D'"
        note = f"Given away by: {seen['event']} (in the last round {counted}).\n{note}"
    print_results([result], result.verdict, as_json, note)
    raise typer.Exit(result.verdict.exit_code)
