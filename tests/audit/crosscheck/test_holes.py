"""What no vector may lose: every constant matters somewhere, and every line of an algorithm is run."""

import ast
import re
from collections import defaultdict
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import dpassay.reference
from dpassay.audit.crosscheck.differences import compare
from dpassay.audit.crosscheck.encode import encode
from dpassay.audit.crosscheck.making import run_again
from dpassay.audit.crosscheck.recording import Diverged, VectorTape, events_of
from dpassay.audit.crosscheck.reference_line import watched
from dpassay.audit.crosscheck.storage import load
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import BadInput

HOME = Path(dpassay.reference.__file__).resolve().parent
RUN = {case.key: case for case in CASES}


# constants ---------------------------------------------------------------------------------------------------------

FACTORS = (1.37, 0.73, 1e3, 1e-3)


def other(by, number):
    """A number times a factor; nothing becomes something, and a size the next or the last one."""
    if isinstance(number, int):
        return number + 1 if by > 1 else max(number - 1, 1)
    return number * by if number else 0.3 * by


CHANGES = [partial(other, by) for by in FACTORS]
UNUSED = {  # of "algorithm field"
    "facts of a function that its name says": r"loss\.link\.",
    "what bounds the records: it decides what is refused, and what is derived": r"(_bound|_radius)$",
    "how exact a solver must be, and its chance: the vectors' solver is exact": r"\.targets?(\.\d+)?$|eigen\.failure$",
    "sizes that the reference checks against the data": r"\.(n|d|d_y|plan\.count|plan\.length)$",
    "accuracies that the schedule was made with": r"(dp_gd|dp_tr|tr_b) .*accuracy\.(c|c1|c2)$",
    "of a value that is not released": r"(dp_gd|dp_tr|tr_b) .*sensitivity\.value$",
    "noise of releases that another baseline makes": (
        r"(dp_spider|private_diff|sto_spider) .*by_label\.[xy]$|dp_sgda .*by_label\.(refresh|difference)$"
    ),
    "noise that another replaces": r"algorithms4and5 .*_half\.noise\.by_label|two_opt_b .*base\.noise\.by_label",
    "of a public value, which is given": r"\.perturbation(_radius)?$",
    "of y, which these baselines do not move": r"(ada_dp_|/dp_|sto_)spider problem\.problem\.(concavity|radius)$",
    "constants of the wave, flat where these runs begin": (
        r"(dp_gd|dp_tr|tr_b) problem\.((curvature|slope)(_frequency)?|offset)$"
    ),
}


def numbers_in(told, path=()):
    """Paths of all numbers but those of records."""
    if isinstance(told, dict):
        for name, entry in told.items():
            if name not in ("derived", "formulas"):
                yield from numbers_in(entry, (*path, name))
    elif isinstance(told, int | float) and not isinstance(told, bool):
        yield path
    elif (
        isinstance(told, list)
        and len(told) <= 4
        and {"start", "start_x", "sensitivities", "targets", "regularisers"} & set(path[-2:])
    ):
        for place, one in enumerate(told):
            yield from numbers_in(one, (*path, place))


def changed(told, path, change):
    """The data with another number."""
    if not path:
        return change(told)
    first, *rest = path
    new = changed(told[first], rest, change)
    return (
        [new if n == first else one for n, one in enumerate(told)] if isinstance(told, list) else {**told, first: new}
    )


def shows(vector, told):
    """Does a program with these data fail the vector; None where the reference refuses them."""
    tape, output = VectorTape(vector["events"]), None
    try:
        with np.errstate(all="ignore"):
            output = encode(run_again(RUN[vector["case"]].build().run, told, tape))
    except BadInput:
        return None
    except (Diverged, ValueError, IndexError, ArithmeticError, np.linalg.LinAlgError):
        return True
    return bool(compare(vector, {"events": events_of(tape), "output": output, "claim": vector["claim"]}))


def unseen(vectors):
    """Numbers that may be others in every vector of an algorithm, and no vector is red."""
    waiting = {}
    for vector in sorted(vectors, key=lambda one: not {"unequal-constants", "rare-branch"} & set(one["flags"])):
        told = {name: vector[name] for name in ("problem", "schedule")}
        for path in numbers_in(told):
            if waiting.setdefault(path, True):
                waiting[path] = not any(shows(vector, changed(told, path, change)) for change in CHANGES)
    return {".".join(map(str, path)) for path, left in waiting.items() if left}


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", sorted({case.id for case in CASES}))
def test_every_constant_that_a_run_uses_is_seen_by_a_vector(algorithm):
    """A thousandth, a thousand times, and a little more or less: where that decides, some vector lies near."""
    left = unseen(vector for vector in load(algorithm) if vector["expect"] == "run")
    assert {one for one in left if not any(re.search(why, f"{algorithm} {one}") for why in UNUSED.values())} == set()


# lines -------------------------------------------------------------------------------------------------------------


def lines_of(tree):
    """The lines of the statements of every function of a file, but of checks of what is put in."""
    for node in tree.body:
        for function in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(function, ast.FunctionDef) and function.name != "__post_init__":
                inside = (one for one in ast.walk(function) if isinstance(one, ast.stmt) and one is not function)
                said = ast.get_docstring(function) and function.body[0]
                yield {one.lineno for one in inside if one is not said}


@pytest.mark.slow
def test_every_line_of_a_function_that_the_vectors_run_is_run_by_a_vector():
    """Of the files that hold the algorithms; a function that no vector enters makes schedules."""
    seen = defaultdict(set)
    for vector in load():
        if vector["expect"] == "run":
            for file, lines in watched(RUN[vector["case"]].build().run, vector).lines.items():
                seen[file] |= lines
    left = []
    for file in sorted({vector["source"].removeprefix("reference/") for vector in load()}):
        text = (HOME / file).read_text(encoding="utf-8")
        for lines in lines_of(ast.parse(text)):
            missed = lines - seen[file] if lines & seen[file] else set()
            left += [f"{file}: {text.splitlines()[line - 1].strip()}" for line in sorted(missed)]
    assert left == []
