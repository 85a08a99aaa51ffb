"""``dpassay blackbox``: audit a callable, a program or stored outputs without looking inside."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from dpassay.audit.blackbox import sources
from dpassay.audit.blackbox.detect import epsilon_of_outputs, of_outputs, same_data
from dpassay.audit.blackbox.table import to_tables
from dpassay.audit.claims.claimed import read_claim
from dpassay.audit.claims.outputs import NOT_STATED, Question, answer
from dpassay.audit.inputs.stored import column_names, load
from dpassay.audit.report.verdicts import print_results
from dpassay.audit.results import Verdict
from dpassay.audit.terminal import options
from dpassay.audit.terminal.progress import Quiet, progress
from dpassay.reference.errors import require

STREAM = 61  # the audit's own: stored outputs may have been drawn from the plain seed


Outputs = Annotated[
    list[Path] | None, typer.Option("--outputs", help="Stored outputs instead (give twice: on D, on D').")
]
Power = Annotated[
    float | None, typer.Option(help="Say 'consistent' if K times the epsilon, and a rare branch, would have been seen.")
]
Floats = Annotated[
    bool, typer.Option("--floats", help="Also judge the floating-point numbers themselves, in a second verdict.")
]
Relation = Annotated[
    str | None, typer.Option(help="How D and D' differ, for the report: 'replace-one', 'add-remove', or your words.")
]


def blackbox(
    mechanism: sources.MechanismName = None,
    command: sources.CommandOption = None,
    dataset: sources.DatasetOption = None,
    neighbour: sources.NeighbourOption = None,
    outputs: Outputs = None,
    epsilon: options.Epsilon = None,
    delta: options.Delta = 0.0,
    mu: options.Mu = None,
    sampled: options.Sampled = None,
    pairs: options.PairsFile = None,
    samples: Annotated[int, typer.Option(help="Runs on each side.")] = 10_000,
    keep_alive: sources.KeepAliveOption = False,
    jobs: options.Jobs = 1,
    power: Power = None,
    floats: Floats = False,
    relation: Relation = None,
    fail_on: options.Mildest = options.FailOn.INCONCLUSIVE,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 0,
    as_json: options.AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Refute a claimed guarantee from outputs on two neighbouring datasets, or bound epsilon from below.

    Outputs may be numbers, arrays, strings or dicts: a callable's values, one JSON value per run of a program, or files
    (.jsonl with one output per line, .npy without pickles, .csv). The verdict is about the mechanism in real numbers;
    --floats adds a second one about the floating-point numbers, which naive samplers fail. Where nothing is refuted,
    violations are planted to see what would have been. Exit 1: a claim is refuted, 3: nothing was found, 0: consistent.
    """
    require(10 <= samples <= 10**8, "--samples", samples, "must lie in 10..1e8")
    require(power is None or 1 < power <= 1e6, "--power", power, "must lie in (1, 1e6]")
    claim, rng = read_claim(epsilon, delta, mu, sampled, pairs), np.random.default_rng([seed, STREAM])
    for name, wanted in (("--floats", floats), ("--power", power is not None)):
        require(claim is not None or not wanted, name, True, "is about a claim: give --epsilon or another")
    if outputs:
        p, q = _stored(outputs, (mechanism, command, dataset, neighbour), keep_alive)
        names, notes = column_names(outputs), []
    else:
        source = sources.read_source(mechanism, command, dataset, neighbour, keep_alive)
        p, q = _drawn(source, command is not None and not keep_alive, samples, seed, jobs, quiet)
        names, notes = None, same_data(source.datasets)
    relation = relation or ("add-remove" if sampled else NOT_STATED)
    if claim is None:
        bound = replace(epsilon_of_outputs(p, q, delta, rng, confidence), relation=relation)
        said = ["No claim was given, so nothing is decided.", *notes, *of_outputs(to_tables(p, q), p, q)]
        print_results([bound], None, as_json, "\n".join(said))
        return
    question = Question(claim, delta, confidence, seed, relation, power, floats, names)
    with progress("judging the outputs", 1, quiet=quiet):
        results, verdict, more = answer(p, q, question, rng)
    blind = bool(notes) and not verdict.failed  # what would have been seen on such data says nothing
    verdict, said = (Verdict.INCONCLUSIVE, notes) if blind else (verdict, [*notes, *more])
    print_results(results, verdict, as_json, "\n".join(said))
    raise typer.Exit(verdict.exit_code if fail_on.counts(verdict) else 0)


def _drawn(source: sources.Source, afresh: bool, samples: int, seed: int, jobs: int, quiet: bool) -> tuple[Any, Any]:
    """Outputs on both datasets; what a program costs that is started afresh for each of them is said."""
    with progress("running the mechanism", 2 * samples, quiet=quiet) as say:
        if afresh:
            say.told(f"the program is started {2 * samples:,} times; --keep-alive starts it once, for all answers")
        return sources.draw_both(source, samples, (seed, STREAM), jobs, lambda n: say(steps=n))


def _stored(outputs: list[Path], source: tuple[Any, ...], keep_alive: bool) -> tuple[Any, Any]:
    none = source == (None,) * 4
    require(none, "--outputs", outputs, "takes the place of a mechanism and its datasets")
    require(not keep_alive, "--keep-alive", True, "is about a program; these outputs are stored")
    require(len(outputs) == 2, "--outputs", outputs, "give two files: on D and on D'")
    return load(outputs[0]), load(outputs[1])
