"""Vectors and answers with one place changed to anything: they agree, differ, or are refused in one line."""

import copy
import json

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.audit.commands import crosscheck
from dpassay.audit.crosscheck import storage
from dpassay.audit.crosscheck.rounding import numbers
from dpassay.audit.crosscheck.storage import load
from dpassay.reference.errors import BadInput

VECTOR = next(one for one in load("baselines/dp_sgd") if one["id"] == "baselines/dp_sgd:fixed-size@baseline/smallest")
ANYTHING = (None, True, 0, -1, 10**400, 1e308, -1e308, "nan", "infinity", "x", "\x1b[2J", [], [1], [[1], [1, 2]], {},
            {"class": "os.system"}, {"class": "problems.domains.Ball"})  # fmt: skip


def places(document, place=()):
    """Every place, as keys and indices."""
    names = document if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else ()
    for name in names:
        yield (*place, name)
        yield from places(document[name], (*place, name))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With the vector as it is."""
    path = tmp_path_factory.mktemp("hostile")
    (path / "vector.json").write_text(json.dumps(VECTOR))
    return path


@settings(max_examples=60, deadline=None, derandomize=True)
@given(place=st.sampled_from(sorted(places(VECTOR), key=repr)), value=st.sampled_from(ANYTHING))
def test_a_changed_file_is_never_a_traceback(folder, place, value):
    changed = copy.deepcopy(VECTOR)
    inner = changed
    for part in place[:-1]:
        inner = inner[part]
    inner[place[-1]] = value
    (folder / "changed.json").write_text(json.dumps(changed))
    for command in (
        lambda: crosscheck.compare_(folder / "changed.json", folder / "vector.json", False, False, False),
        lambda: crosscheck.compare_(folder / "vector.json", folder / "changed.json", False, False, False),
    ):
        try:
            command()
        except BadInput as error:
            assert len(str(error).splitlines()) == 1 and "\x1b" not in str(error)
        except typer.Exit as stop:
            assert stop.exit_code in (0, 1)


def test_an_output_of_four_hundred_digits_differs(folder):
    """As the whole output, or in it: beyond what a float holds is infinite, on its own side."""
    assert numbers([10**400, {"x": -(10**400)}, 1]) == [float("inf"), -float("inf"), 1.0]
    (folder / "changed.json").write_text(json.dumps({**VECTOR, "output": -(10**400)}))
    with pytest.raises(typer.Exit) as stop:
        crosscheck.compare_(folder / "changed.json", folder / "vector.json", False, False, False)
    assert stop.value.exit_code == 1


@pytest.mark.parametrize("case", [["c"], {"c": 1}, 3, None, "other", "odd"])
def test_a_file_of_vectors_whose_cases_are_none(tmp_path, case):
    path = tmp_path / "vectors.json"
    path.write_text(json.dumps({"cases": {"c": {}, "odd": "text"}, "vectors": [{"case": case}]}))
    with pytest.raises(BadInput, match=r"vectors\[0\]\.case"):
        storage.read_vectors(path)
