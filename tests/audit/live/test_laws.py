"""A program may ask for a release by every law: it is sampled, searched and accounted as the same law in Python is."""

import json
import re
import sys
from importlib import import_module
from inspect import isclass
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from dpassay.audit.live.messages import LAW_ASKS, Malformed, law_of, read_line
from dpassay.audit.live.program import LiveProgram
from dpassay.audit.lockstep.run import lockstep
from dpassay.reference import laws
from dpassay.reference.case import bind
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Kind
from dpassay.reference.laws.law import Law
from dpassay.reference.neighbours import Pair
from dpassay.reference.tape import LiveTape
from tests.audit.live.laws_speaker import asked

SPEAKER = Path(__file__).parent / "laws_speaker.py"
HERE = np.array([[1.0], [0.25], [0.5]])
PAIR = Pair(HERE, np.array([[0.0], [0.25], [0.5]]), 0, "the first record moves by one")
NAMES = sorted(name for kind in LAW_ASKS for name in get_args(kind.model_fields["ask"].annotation))
DOCS = Path(__file__).parents[3] / "docs" / "live.md"


def speaker(law):
    return LiveProgram([sys.executable, "-S", str(SPEAKER)], law)


def in_python(name):
    """The same release by a run on a tape in Python."""

    def run(rows, tape):
        said = read_line(json.dumps(asked(name, rows.tolist())).encode())
        return tape.release("released", law_of(said), sensitivity=said.sensitivity)

    return run


def test_every_law_of_the_reference_that_is_no_function_can_be_asked_for():
    """A new class under ``reference/laws`` needs an ask, or a place in this list with its reason."""
    modules = [import_module(f"{laws.__name__}.{path.stem}") for path in Path(laws.__file__).parent.glob("*.py")]
    kinds = {
        kind.__name__ for module in modules for kind in vars(module).values() if isclass(kind) and issubclass(kind, Law)
    }
    made_of = {"Law", "Number", "NumberBetween"}
    functions = {"ObjectivePerturbation"}  # of a gradient and a Hessian
    tilted = {kind for kind in kinds if kind.startswith("Tilted")}  # never released
    own = {"Gaussian", "Laplace", "AboveThreshold"}  # calls of the tape
    words = {re.sub("(?<!^)(?=[A-Z])", "_", kind).lower() for kind in kinds - made_of - functions - tilted - own}
    assert words - {"selection"} <= set(NAMES)
    assert {"exponential", "permute_and_flip"} <= set(NAMES)


def test_the_page_names_every_law():
    text = DOCS.read_text(encoding="utf-8")
    assert [name for name in NAMES if f"`{name}`" not in text] == []


def test_the_program_asks_as_the_schema_says():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((DOCS.parent / "schemas" / "live.schema.json").read_text(encoding="utf-8"))
    wanted = jsonschema.Draft202012Validator(schema | {"anyOf": [{"$ref": "#/$defs/program"}]})
    for name in NAMES:
        line = asked(name, HERE.tolist())
        wanted.validate(line)
        assert not wanted.is_valid({**line, "shape": 3}) and not wanted.is_valid({**line, "label": ""})


@pytest.mark.some(8)
@pytest.mark.parametrize("name", NAMES)
def test_the_release_is_that_of_the_law(name):
    """Value, exact loss, movement and findings are those of the same run in Python."""
    with speaker(name) as program:
        for seed in (0, 1):
            ours, theirs = LiveTape(seed), LiveTape(seed)
            assert np.array_equal(program(HERE, None, theirs), in_python(name)(HERE, ours))
        expected = lockstep(in_python(name), PAIR, [3])
        found = lockstep(bind(program, None), PAIR, [3])
    assert found.complete and not found.inexact and not found.findings
    assert found.loss == expected.loss and np.isfinite(found.loss)
    moved, other = (run.movements["released"] for run in (found, expected))
    assert (moved.share, moved.claimed) == (other.share, other.claimed)


@pytest.mark.parametrize("name", ["geometric", "folded_laplace", "exponential", "permute_and_flip", "intervals"])
def test_a_query_that_moves_farther_than_it_says_is_found(name):
    with speaker(f"{name} half") as program:
        found = lockstep(bind(program, None), PAIR, [3])
    assert Kind.SENSITIVITY_EXCEEDED in {one.kind for one in found.findings}


@pytest.mark.parametrize("name", NAMES)
def test_numbers_that_make_no_law_end_the_run_and_a_case_that_was_cut_off_is_answered(name):
    said = read_line(json.dumps(asked(name, HERE.tolist())).encode())
    field = next(field for field in ("query", "utilities", "log_probabilities") if hasattr(said, field))
    value = getattr(said, field)
    wrong = "nan" if isinstance(value, float) else [["nan"] * 2 if isinstance(one, list) else "nan" for one in value]
    with pytest.raises(BadInput):
        law_of(read_line(json.dumps({**asked(name, HERE.tolist()), field: wrong}).encode()))
    assert isinstance(law_of(said), Law)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"ask": "geometric", "label": "c", "query": [1.0], "scale": 1.0, "sensitivity": 1.0}, "query"),
        ({"ask": "discrete_gaussian", "label": "c", "query": 1, "scale": 1e5, "sensitivity": 1.0}, "scale"),
        ({"ask": "permute_and_flip", "label": "c", "utilities": [0.0] * 501, "rate": 1, "sensitivity": 1}, "utilities"),
        ({"ask": "exponential", "label": "c", "utilities": [], "rate": 1.0, "sensitivity": 1.0}, "utilities"),
        ({"ask": "folded_laplace", "label": "c", "query": 1, "scale": 1, "sensitivity": 1, "lower": "x"}, "lower"),
        ({"ask": "cauchy", "label": "c", "query": 1.0, "scale": 1.0, "sensitivity": None}, "asked for 'cauchy'"),
    ],
)
def test_what_is_no_law_is_malformed(line, words):
    with pytest.raises(Malformed, match=words) as caught:
        read_line(json.dumps(line).encode())
    assert "\n" not in str(caught.value)
