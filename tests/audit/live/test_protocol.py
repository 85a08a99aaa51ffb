"""The page and the schema say what the code does; every law can be asked for, and is what it is in Python."""

import json
import re
import sys
from importlib import import_module
from inspect import isclass
from pathlib import Path
from typing import get_args

import jsonschema
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from dpassay.audit.live import messages
from dpassay.audit.live.messages import GREETING, LAW_ASKS, QUERY, Malformed, law_of, read_line
from dpassay.audit.live.program import LiveProgram, _drawer
from dpassay.audit.lockstep.run import lockstep
from dpassay.reference import BadInput, LiveTape, Pair, laws
from dpassay.reference.case import bind
from dpassay.reference.findings import Kind
from dpassay.reference.laws.law import Law
from tests.audit.live.speaker import laws as lines_of_laws

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "live.md").read_text(encoding="utf-8")
# of the page's conversations, in order: who speaks, and the line
CONVERSATIONS = [
    (line[0], line[2:]) for block in PAGE.split("```text\n")[1:] for line in block.partition("```")[0].splitlines()
]
HERE = np.array([[1.0], [0.25], [0.5]])
PAIR = Pair(HERE, np.array([[0.0], [0.25], [0.5]]), 0, "the first record moves by one")
NAMES = sorted(name for kind in LAW_ASKS for name in get_args(kind.model_fields["ask"].annotation))
ASKED = lines_of_laws(HERE.tolist())


def read(line):
    return read_line(json.dumps(line).encode())


# page and schema ------------------------------------------------------------------------------------------------------
def test_the_page_shows_lines_that_the_harness_reads_and_names_every_ask():
    said = [line for who, line in CONVERSATIONS if who == "<"]
    assert len(said) > 8
    for line in said:
        data = json.loads(line)
        what = GREETING if "dpassay" in data else QUERY if "query" in data and "ask" not in data else None
        read_line(line.encode(), what)
    kinds = {name for kind in messages.ASKS for name in get_args(kind.model_fields["ask"].annotation)} - {*NAMES}
    assert len(kinds) == 8 and all(f"| `{kind}` |" in PAGE for kind in kinds)
    assert all(f"`{name}`" in PAGE for name in NAMES) and f'"dpassay": {messages.VERSION}' in PAGE


def test_the_page_and_every_law_keep_to_the_schema():
    document, sides = json.loads((DOCS / "schemas" / "live.schema.json").read_text(encoding="utf-8")), {}
    for side in ("program", "harness"):  # the schema itself is looked at once a side, not once a line
        wanted = document | {"anyOf": [{"$ref": f"#/$defs/{side}"}]}
        checker = jsonschema.validators.validator_for(wanted)
        checker.check_schema(wanted)
        sides[side] = checker(wanted)
    for who, line in CONVERSATIONS:
        sides["program" if who == "<" else "harness"].validate(json.loads(line))
    wrong = [{"ask": "gaussian", "label": "g"}, {"ask": "batch", "label": "", "n": 1, "size": 1}, {"value": 1}]
    for name in NAMES:
        sides["program"].validate(ASKED[name])
        wrong += [{**ASKED[name], "shape": 3}, {**ASKED[name], "label": ""}]
    assert not any(map(sides["program"].is_valid, wrong))


# lines ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("3", "3.0"),
        ("[-308282211237660600000, 1]", "[-3.082822112376606e+20, 1.0]"),  # as JavaScript writes it
        ("[[1, 2.5]]", "[[1.0, 2.5]]"),
        ('[1, "infinity", "-infinity", "nan", null]', "[1.0, inf, -inf, nan, nan]"),
        *((wrong, "") for wrong in ('"1"', "true", "[true]", "[[1], [1, 2]]", '{"a": 1}', '[1, "many"]')),
    ],
)
def test_numbers(said, read):
    line = b'{"query": %s}' % said.encode()
    if read:
        assert str(read_line(line, QUERY).query.tolist()) == read
    else:
        with pytest.raises(Malformed, match=r": query: (lists of different lengths, or )?no number"):
            read_line(line, QUERY)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ("ask", "label", "query", "std", "scale", "sensitivity", "batches", "n", "size", "rate", "shape", "count")
OBJECT = st.dictionaries(st.sampled_from(FIELDS), JSON | st.sampled_from(["gaussian", "batch", "public", "normal"]))


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])  # of a busy machine
@given(st.binary(max_size=60) | OBJECT.map(lambda said: json.dumps(said).encode()))
def test_any_line_is_a_message_or_malformed(line):
    for what in (None, GREETING, QUERY):
        try:
            read_line(line, what)
        except Malformed as error:
            assert "\n" not in str(error)


def number_law(**fields):
    return {"label": "c", "sensitivity": 1.0, **fields}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (number_law(ask="geometric", query=[1.0], scale=1.0), "query"),
        (number_law(ask="discrete_gaussian", query=1, scale=1e5), "scale"),
        (number_law(ask="permute_and_flip", utilities=[0.0] * 501, rate=1), "utilities"),
        (number_law(ask="exponential", utilities=[], rate=1.0), "utilities"),
        (number_law(ask="folded_laplace", query=1, scale=1, lower="x"), "lower"),
        (number_law(ask="cauchy", query=1.0, scale=1.0), "asked for 'cauchy'"),
        (number_law(query=1.0), "which is neither an ask nor an output"),
        ({"ask": "noise", "label": "n", "std": 1.0, "\x1b[2J": 1}, r"\\x1b\[2J"),
        *((word, 'what is not finite must be "infinity"') for word in ("inf", "-inf", "nan", "-nan")),
    ],
)
def test_what_is_no_message_is_malformed(line, words):
    """Also a number as `printf` writes an overflow."""
    text = json.dumps(line) if isinstance(line, dict) else f'{{"ask": "gaussian", "label": "g", "query": [{line}]}}'
    with pytest.raises(Malformed, match=words) as error:
        read_line(text.encode())
    assert str(error.value).isprintable()


def test_what_a_program_has_drawn_is_of_the_law_that_it_names():
    """2,000 draws of each (seed 0): of a ball in three dimensions the cube of the length is uniform."""
    rng = np.random.default_rng(0)

    def drawn(kind, **more):
        draw = _drawer(read({"ask": "public", "label": "x", "draw": kind, **more}))
        return np.array([draw(rng) for _ in range(2000)])

    assert {*drawn("integers", below=3)} == {0, 1, 2}
    assert (np.sort(drawn("permutation", below=4)) == np.arange(4)).all()
    on, inside = (np.linalg.norm(drawn(kind, radius=2, shape=[3]), axis=1) for kind in ("sphere", "ball"))
    assert np.allclose(on, 2.0)
    for law, found in (("norm", drawn("normal")), ("uniform", drawn("uniform")), ("uniform", (inside / 2) ** 3)):
        assert kstest(found, law).pvalue > 1e-3


# laws -----------------------------------------------------------------------------------------------------------------
def test_every_law_of_the_reference_that_is_no_function_can_be_asked_for():
    """A new class under ``reference/laws`` needs an ask, or a place in this list with its reason."""
    modules = [import_module(f"{laws.__name__}.{path.stem}") for path in Path(laws.__file__).parent.glob("*.py")]
    kinds = {
        kind.__name__ for module in modules for kind in vars(module).values() if isclass(kind) and issubclass(kind, Law)
    }
    made_of = {"Law", "Number", "NumberBetween"}
    functions = {"ObjectivePerturbation"}  # of a gradient and a Hessian
    tilted = {kind for kind in kinds if kind.startswith("Tilted")}  # never released
    own = {"AboveThreshold"}  # a call of the tape
    words = {re.sub("(?<!^)(?=[A-Z])", "_", kind).lower() for kind in kinds - made_of - functions - tilted - own}
    assert words - {"selection"} <= set(NAMES)
    assert {"exponential", "permute_and_flip"} <= set(NAMES)


def speaker(law):
    return LiveProgram([sys.executable, "-S", str(Path(__file__).with_name("speaker.py"))], law)


def in_python(name):
    """The same release by a run on a tape in Python."""

    def run(rows, tape):
        said = read(lines_of_laws(rows.tolist())[name])
        return tape.release("released", law_of(said), sensitivity=said.sensitivity)

    return run


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
def test_numbers_that_make_no_law_are_refused(name):
    field = next(one for one in ("query", "utilities", "log_probabilities") if one in ASKED[name])
    wrong = json.loads(re.sub(r"-?\d[\d.e-]*", '"nan"', json.dumps(ASKED[name][field])))
    with pytest.raises(BadInput):
        law_of(read({**ASKED[name], field: wrong}))
    assert isinstance(law_of(read(ASKED[name])), Law)
