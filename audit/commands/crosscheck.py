"""``dpassay crosscheck``: hold another implementation to the reference."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dpassay.audit.crosscheck.vectors import RTOL, compare, make_vector, read_json, write_json
from dpassay.reference.catalogue import find
from dpassay.reference.errors import BadInput, require

app = typer.Typer(
    help="Hold another implementation (any language) to the reference: export a recorded run, compare the answers.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command(short_help="Write a test vector of one run.")
def export(
    algorithm: Annotated[str, typer.Argument(help="A key of `dpassay list`.")],
    output: Annotated[Path, typer.Argument(help="Where the vector goes (JSON).")],
    seed: Annotated[int, typer.Option(help="Seed of the recorded run.")] = 0,
) -> None:
    """Write a test vector: problem, schedule, and the tape of one run."""
    require(seed >= 0, "--seed", seed, "must not be negative")
    cases = find(algorithm)
    require(len(cases) == 1, "algorithm", algorithm, f"names {len(cases)} cases; give a key of `dpassay list`")
    vector = make_vector(cases[0], seed)
    write_json(output, vector)
    print(f"{output}: {len(vector['events'])} events of {cases[0].key}")


@app.command(name="compare", short_help="Hold another implementation's answers to a vector.")
def compare_(
    vector: Annotated[Path, typer.Argument(help="A file of `dpassay crosscheck export`.")],
    answers: Annotated[
        Path, typer.Argument(help='JSON: {"events": [{"event", "label", "query", "std"}, ...], "output"}')
    ],
    rtol: Annotated[float, typer.Option(help="Relative tolerance, of the largest entry.")] = RTOL,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare another implementation's queries, noise scales and output; exit 1 if they differ."""
    require(0 < rtol < float("inf"), "--rtol", rtol, "must be positive and finite")
    _report(compare(read_json(vector, "vector"), read_json(answers, "answers"), rtol), as_json)


@app.command(short_help="Run the reference again against a vector.")
def replay(
    vector: Annotated[Path, typer.Argument(help="A file of `dpassay crosscheck export`.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run the reference again and compare it with the vector; exit 1 if they differ."""
    expected = read_json(vector, "vector")
    key, seed = expected.get("case"), expected.get("seed")
    require(isinstance(key, str), f"{vector}: case", key, "must be a key of `dpassay list`")
    require(type(seed) is int and seed >= 0, f"{vector}: seed", seed, "must be a non-negative integer")
    cases = [case for case in find(str(key)) if case.key == key]
    if not cases:
        raise BadInput(f"{vector}: case", key, "is not in the catalogue")
    again = partial(make_vector, cases[0])(int(str(seed)))
    _report(compare(expected, again), as_json)


def _report(differences: list[str], as_json: bool) -> None:
    if as_json:
        print(json.dumps({"agree": not differences, "differences": differences}, indent=1))
    elif differences:
        print("\n".join(differences))
    else:
        print("agree")
    raise typer.Exit(1 if differences else 0)
