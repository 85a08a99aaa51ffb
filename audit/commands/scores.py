"""``dpassay scores``: audits of stored attack scores, whoever made them."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, NoReturn

import numpy as np
import typer

from dpassay.audit.claims.claimed import Claim, read_claim
from dpassay.audit.claims.scores import STREAM, both_sides, hints, judge_scores, shown_by, with_power
from dpassay.audit.inputs.foreign import relation_named
from dpassay.audit.report.verdicts import print_results
from dpassay.audit.results import Sound, Verdict, decide
from dpassay.audit.scores.anytime_kept import grow
from dpassay.audit.scores.one_run import RELATION
from dpassay.audit.terminal.options import AsJson, Confidence, Delta, Epsilon, Mu, PairsFile, Sampled, Seed
from dpassay.reference.errors import require

OneRun = Annotated[bool, typer.Option("--one-run", help="One training run, each canary included by a coin.")]
OfRelation = Annotated[
    str | None, typer.Option(help="Of D and D': replace-one or add-remove. Default: the claim's, else replace-one.")
]
Anytime = Annotated[
    Path | None,
    typer.Option(help="Keep a bound that holds at all looks together in this file; give new scores alone each time."),
]


def scores(
    first: Annotated[Path, typer.Argument(help="Scores of runs on D; with --one-run: one line a canary, SCORE,COIN.")],
    second: Annotated[Path | None, typer.Argument(help="Scores of runs on D' (with the record).")] = None,
    epsilon: Epsilon = None,
    delta: Delta = 0.0,
    mu: Mu = None,
    sampled: Sampled = None,
    pairs: PairsFile = None,
    one_run: OneRun = False,
    relation: OfRelation = None,
    anytime: Anytime = None,
    confidence: Confidence = 0.95,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Lower bounds of epsilon from attack scores, and a test of the claimed guarantee.

    Files: .npy (no pickles), .csv or .jsonl, one score each; infinite scores are allowed. Of a .csv file with a header,
    or a .parquet file, the column "score" counts, and with --one-run "member" (0 or 1). Higher or lower scores may
    speak for the record, the audit finds out; but with --one-run higher ones must speak for included canaries (negate
    losses). With a claim, the level is halved between the bound of epsilon at --delta and the test of the whole claimed
    curve; without one, only bounds are printed. Where nothing is refuted, the power against mechanisms twice as bad is
    shown, for an ideal attack. Each file is for one look: bounds computed anew as scores are added hold one by one, not
    all together. With --anytime FILE they do: each pair of files with new scores is a bet, the bound may be read after
    each, and the audit may stop at any time (`dpassay sequential scores` tests claimed curves so). Exit 1: the
    claim is refuted.
    """
    claim, rng = read_claim(epsilon, delta, mu, sampled, pairs), np.random.default_rng([seed, STREAM])
    neighbours = _relation(relation, claim, one_run)
    if anytime is not None:
        one_bound = (mu, sampled, pairs) == (None, None, None) and not one_run
        require(one_bound, "--anytime", str(anytime), "bounds epsilon: of claims it takes --epsilon, of runs many")
        _anytime(anytime, (first, second), epsilon, (delta, confidence, seed), neighbours, as_json)
    p, q = both_sides(first, second, one_run)
    judge = judge_scores(claim, delta, confidence, one_run)
    deciding: list[Sound] = judge(p, q, rng)
    overall, note = None, "No claim was given, so nothing is decided; the bounds hold one by one, not jointly."
    if claim:
        overall, note = decide(deciding), ""
        if overall is Verdict.INCONCLUSIVE:
            deciding, note = with_power(deciding, claim, judge, (p.size, q.size), seed)
    found = hints(p, q, one_run)
    note = "\n".join([*shown_by(deciding[0]), note, *found]).strip()
    if found:
        deciding[0] = replace(deciding[0], evidence={**deciding[0].evidence, "hints": found})
    print_results([replace(one, relation=neighbours) for one in deciding], overall, as_json, note)
    raise typer.Exit(overall.exit_code if overall else 0)


def _relation(given: str | None, claim: Claim | None, one_run: bool) -> str:
    """What the bounds are about: the claim's relation, the one that is given, or the usual one."""
    found = RELATION if one_run else claim.guarantee.relation if claim else None
    relation_named(given)
    why = f"{'one run has canaries in or out' if one_run else 'the claim is about'}: {found}"
    require(found is None or given in (None, found), "--relation", given, why)
    return found or given or "replace-one"


def _anytime(
    path: Path,
    files: tuple[Path, Path | None],
    claimed: float | None,
    options: tuple[float, float, int],
    relation: str,
    as_json: bool,
) -> NoReturn:
    """One more bet, the bound so far, and what it says of the claim; `options`: delta, confidence, seed."""
    p, q = both_sides(*files, False)
    found, alike = grow(path, [(str(files[0]), p), (str(files[1]), q)], *options)
    bound = replace(found, claimed=claimed, relation=relation)
    note = f"Holds at all looks together, {found.evidence['blocks']} so far. Continue with the same --anytime.{alike}"
    overall = None if claimed is None else decide([bound])
    print_results([bound], overall, as_json, "\n".join([note, *hints(p, q, False)]))
    raise typer.Exit(overall.exit_code if overall else 0)
