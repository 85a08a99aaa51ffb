"""The page and the schema say what the code does."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.audit.live import messages
from dpassay.audit.live.messages import GREETING, QUERY, Malformed, numbers, read_line

DOCS = Path(__file__).parents[3] / "docs"


def conversations():
    """The lines of the page: (who, line), in order."""
    blocks = (DOCS / "live.md").read_text().split("```text\n")[1:]
    lines = [line for block in blocks for line in block.partition("```")[0].splitlines()]
    return [(line[0], line[2:]) for line in lines]


def test_the_page_shows_lines_that_the_harness_reads():
    said = [line for who, line in conversations() if who == "<"]
    assert len(said) > 8
    for line in said:
        data = json.loads(line)
        what = GREETING if "dpassay" in data else QUERY if "query" in data and "ask" not in data else None
        read_line(line.encode(), what)


def test_the_page_keeps_to_the_schema():
    jsonschema = pytest.importorskip("jsonschema")
    document, sides = json.loads((DOCS / "schemas" / "live.schema.json").read_text()), {}
    for side in ("program", "harness"):  # the schema itself is looked at once a side, not once a line
        wanted = document | {"anyOf": [{"$ref": f"#/$defs/{side}"}]}
        checker = jsonschema.validators.validator_for(wanted)
        checker.check_schema(wanted)
        sides[side] = checker(wanted)
    for who, line in conversations():
        sides["program" if who == "<" else "harness"].validate(json.loads(line))
    for wrong in ({"ask": "gaussian", "label": "g"}, {"ask": "batch", "label": "", "n": 1, "size": 1}, {"value": 1}):
        with pytest.raises(jsonschema.ValidationError):
            sides["program"].validate(wrong)


def test_the_page_names_every_ask():
    text = (DOCS / "live.md").read_text()
    kinds = ["gaussian", "laplace", "above_threshold", "batch", "poisson", "fresh", "public", "secret", "noise"]
    assert all(f"| `{kind}` |" in text for kind in [*kinds, "reveal"])
    assert f'"dpassay": {messages.VERSION}' in text


def test_numbers():
    assert numbers(3, "q").tolist() == 3.0
    assert numbers([-308282211237660600000, 1], "q").tolist() == [-3.082822112376606e20, 1.0]  # as JavaScript writes it
    assert numbers([[1, 2.5]], "q").shape == (1, 2)
    assert str(numbers([1, "infinity", "-infinity", "nan", None], "q").tolist()) == "[1.0, inf, -inf, nan, nan]"
    for wrong in ("1", True, [True], [[1], [1, 2]], {"a": 1}, [1, "many"]):
        with pytest.raises(Malformed, match="q: "):
            numbers(wrong, "q")


@pytest.mark.parametrize("number", ["inf", "-inf", "nan", "-nan"])
def test_what_printf_makes_of_an_overflow_is_explained(number):
    line = f'{{"ask": "gaussian", "label": "g", "query": [1.0, {number}], "std": 1.0, "sensitivity": 1.0}}'
    with pytest.raises(Malformed, match='what is not finite must be "infinity"'):
        read_line(line.encode())


@settings(max_examples=40)
@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_line_is_a_message_or_malformed(line):
    for what in (None, GREETING, QUERY):
        try:
            read_line(line, what)
        except Malformed as error:
            assert "\n" not in str(error)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ("ask", "label", "query", "std", "scale", "sensitivity", "batches", "n", "size", "rate", "shape", "count")


@settings(max_examples=40)
@given(st.dictionaries(st.sampled_from(FIELDS), JSON | st.sampled_from(["gaussian", "batch", "public", "normal"])))
def test_any_object_is_a_message_or_malformed(fields):
    """Whatever the fields hold; numbers of a message that was read are an array, or refused."""
    try:
        said = read_line(json.dumps(fields).encode())
        if hasattr(said, "query"):
            numbers(said.query, "query")
    except Malformed as error:
        assert "\n" not in str(error)


def test_a_name_that_is_a_terminal_command_is_spelled_out():
    with pytest.raises(Malformed) as error:
        read_line(b'{"ask": "noise", "label": "n", "std": 1.0, "\\u001b[2J": 1}')
    assert str(error.value).isprintable() and "\\x1b[2J" in str(error.value)
